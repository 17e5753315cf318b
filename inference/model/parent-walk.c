/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/model/parent-walk.h"

#include "base/hash.h"
#include "inference/model/tuning.h"

enum {
        ANY = 0xff,      /* in a key, instead of counts: a general state */
        NOTHING = 0xffff /* in a key, instead of a caller: the most general state */
};

/* Keys of states: two bytes of caller, two bytes of latest event, and one byte for each callee. Its
 * low half counts returned calls, its high half open ones. */
enum { KEY_CALLER = 0, KEY_LATEST = 2, KEY_COUNTS = 4 };

/* Events are a call to each callee, the return of each, and the reply. A state may also have the
 * start as its latest event, or that the parent waits. */
static inline guint32 event_reply(const ParentWalk *w)
{
        return 2 * w->n_callees;
}

static inline guint32 event_start(const ParentWalk *w)
{
        return 2 * w->n_callees + 1;
}

static inline guint32 event_wait(const ParentWalk *w)
{
        return 2 * w->n_callees + 2;
}

/* Events by which a state goes on. Of these the start is none: only waiting ends by it. */
static inline guint32 n_events(const ParentWalk *w)
{
        return 2 * w->n_callees + 1;
}

static inline guint32 key_caller(const guint8 *key)
{
        return key[KEY_CALLER] | key[KEY_CALLER + 1] << 8;
}

static inline void set_key_caller(guint8 *key, guint32 caller)
{
        key[KEY_CALLER] = caller & 0xff;
        key[KEY_CALLER + 1] = caller >> 8;
}

/* --- states ---------------------------------------------------------------- */

static guint32 add_state(ParentWalk *w, const guint8 *key, guint32 general)
{
        if (w->n_states == w->states_room) {
                w->states_room = MAX(64, 2 * w->states_room);
                w->states = g_renew(WalkState, w->states, w->states_room);
        }
        if (w->keys_length + w->key_length > w->keys_room) {
                w->keys_room = MAX(2 * w->keys_room, 64 * w->key_length);
                w->keys = g_realloc(w->keys, w->keys_room);
        }
        memcpy(w->keys + w->keys_length, key, w->key_length);
        w->states[w->n_states] = (WalkState){ .key = w->keys_length, .general = general };
        w->keys_length += w->key_length;
        return w->n_states++;
}

static guint32 *find_state(const ParentWalk *w, const guint8 *key)
{
        guint64 h = hash_bytes((const char *)key, w->key_length);

        for (;; h++) {
                guint32 *at = &w->state_at[h & w->state_mask];

                if (*at == 0 || !memcmp(w->keys + w->states[*at - 1].key, key, w->key_length))
                        return at;
        }
}

static void grow_state_table(ParentWalk *w)
{
        w->state_mask = 2 * w->state_mask + 1;
        g_free(w->state_at);
        w->state_at = g_new0(guint32, (gsize)w->state_mask + 1);
        for (guint32 i = 0; i < w->n_states; i++)
                *find_state(w, w->keys + w->states[i].key) = i + 1;
}

/* Finds or adds the state of a key. A general state stands in for it if there are too many. */
static guint32 intern(ParentWalk *w, const guint8 *key)
{
        guint32 state = *find_state(w, key), general;
        gboolean particular = key[KEY_COUNTS] != ANY;

        if (state)
                return state - 1;
        if (key_caller(key) == NOTHING) {
                general = w->n_states;
        } else {
                g_autofree guint8 *more = g_memdup2(key, w->key_length);
                guint32 from = particular ? KEY_COUNTS : 0;

                memset(more + from, ANY, w->key_length - from);
                general = intern(w, more);
                if (particular && w->n_states >= WALK_MAX_STATES)
                        return general;
        }
        state = add_state(w, key, general);
        if (2 * w->n_states > w->state_mask)
                grow_state_table(w);
        else
                *find_state(w, key) = state + 1;
        return state;
}

/* The state after an event. */
static guint32 next_state(ParentWalk *w, guint32 state, guint32 event)
{
        g_autofree guint8 *key = g_memdup2(w->keys + w->states[state].key, w->key_length);

        if (key_caller(key) == NOTHING)
                return state;
        key[KEY_LATEST] = event & 0xff;
        key[KEY_LATEST + 1] = event >> 8;
        if (key[KEY_COUNTS] != ANY && event < event_reply(w)) {
                guint8 *count = &key[KEY_COUNTS + event % w->n_callees];

                if (event < w->n_callees) {
                        *count += (*count >> 4 < tuning.walk_count) << 4;
                } else {
                        *count -= (*count >> 4 > 0) << 4;
                        *count += (*count & 0xf) < tuning.walk_count;
                }
        }
        return intern(w, key);
}

/* --- steps ----------------------------------------------------------------- */

/* Copies a step to its entry. */
static void update_entry(ParentWalk *w, guint32 i)
{
        const WalkStep *s = &w->steps[i];

        w->step_at[s->at] = (WalkEntry){ .key = parent_walk_key(s->state, s->event),
                                         .number = i + 1,
                                         .next = s->next,
                                         .row = s->row,
                                         .log = NO_STEP_LOG,
                                         .probability = s->probability };
}

static void put_step(ParentWalk *w, guint32 i)
{
        WalkStep *s = &w->steps[i];

        s->at = parent_walk_find(w, s->state, s->event) - w->step_at;
        update_entry(w, i);
}

static void grow_step_table(ParentWalk *w)
{
        w->step_mask = 2 * w->step_mask + 1;
        g_free(w->step_at);
        w->step_at = g_new0(WalkEntry, (gsize)w->step_mask + 1);
        for (guint32 i = 0; i < w->n_steps; i++)
                put_step(w, i);
}

/* Whether a parent that goes on so from a state makes more or fewer calls than its kind does. */
static gboolean step_breaks(const ParentWalk *w, guint32 state, guint32 event)
{
        const guint8 *key = w->keys + w->states[state].key;
        guint32 made[NUMBERS_KINDS];

        if (!w->numbers || w->numbers->n_sets == 0 || key_caller(key) == NOTHING ||
            key[KEY_COUNTS] == ANY || (event >= w->n_callees && event != event_reply(w)))
                return FALSE;
        memset(made, 0, w->numbers->n_callees * sizeof *made);
        for (guint32 i = 0; i < w->n_callees; i++)
                if (i < w->numbers->n_callees)
                        made[i] = (key[KEY_COUNTS + i] & 0xf) + (key[KEY_COUNTS + i] >> 4);
        if (event == event_reply(w))
                return call_numbers_break_by_reply(w->numbers, key_caller(key), made);
        return call_numbers_break_by_call(w->numbers, key_caller(key), made, event);
}

/* Learns the probability of a step and its row of densities. A full state takes one event, and a
 * fiftieth of all its events, off the count. A step that is seen so rarely is often an error of the
 * assignment. It would reinforce itself. */
static void learn_step(const ParentWalk *w, WalkStep *s)
{
        double seen = (double)s->count / DENSITY_COUNT;
        double all = (double)w->states[s->state].count / DENSITY_COUNT,
               weight = tuning.general_weight;
        const WalkStep *backoff = &w->steps[s->backoff];
        double general = backoff->probability;

        if (backoff == s) {
                weight = 1;
                general = 1.0 / n_events(w);
        } else if (backoff->backoff != s->backoff) {
                weight = tuning.backoff_weight;
                seen = MAX(0, seen - tuning.rare_events - tuning.rare_events_share * all);
        }
        s->probability = (seen + weight * general) / (all + weight);
        if (s->breaks && !w->unheld)
                s->probability *= tuning.numbers_broken;
        s->row = s->own_row && seen > 0 ? s->own_row : backoff->row;
}

static guint32 get_step(ParentWalk *w, guint32 state, guint32 event);

static guint32 add_step(ParentWalk *w, guint32 state, guint32 event)
{
        guint32 general = w->states[state].general, next = next_state(w, state, event);
        guint32 backoff = general == state ? w->n_steps : get_step(w, general, event), i;

        if (w->n_steps == w->steps_room) {
                w->steps_room = MAX(256, 2 * w->steps_room);
                w->steps = g_renew(WalkStep, w->steps, w->steps_room);
        }
        if (general == state)
                backoff = w->n_steps;
        i = w->n_steps++;
        w->steps[i] =
                (WalkStep){ .state = state, .event = event, .next = next, .backoff = backoff };
        w->steps[i].breaks = step_breaks(w, state, event);
        learn_step(w, &w->steps[i]);
        if (2 * w->n_steps > w->step_mask)
                grow_step_table(w);
        else
                put_step(w, i);
        return i;
}

static inline guint32 get_step(ParentWalk *w, guint32 state, guint32 event)
{
        guint32 number = parent_walk_find(w, state, event)->number;

        return G_LIKELY(number) ? number - 1 : add_step(w, state, event);
}

/* --- walks ----------------------------------------------------------------- */

void parent_walk_init(ParentWalk *w, guint32 n_callers, guint32 n_callees)
{
        memset(w, 0, sizeof *w);
        w->n_callees = MIN(n_callees, WALK_MAX_CALLEES);
        w->key_length = KEY_COUNTS + w->n_callees;
        w->state_mask = 63;
        w->state_at = g_new0(guint32, w->state_mask + 1);
        w->step_mask = 255;
        w->step_at = g_new0(WalkEntry, w->step_mask + 1);
        delay_densities_init(&w->delays);
        parent_walk_add_callers(w, n_callers);
}

void parent_walk_add_callers(ParentWalk *w, guint32 n_callers)
{
        g_autofree guint8 *key = g_malloc0(w->key_length);

        w->first = g_renew(guint32, w->first, MAX(n_callers, w->n_callers));
        w->waiting = g_renew(guint32, w->waiting, MAX(n_callers, w->n_callers));
        key[KEY_LATEST] = event_start(w) & 0xff;
        key[KEY_LATEST + 1] = event_start(w) >> 8;
        for (; w->n_callers < n_callers; w->n_callers++) {
                set_key_caller(key, MIN(w->n_callers, NOTHING - 1));
                w->first[w->n_callers] = intern(w, key);
                w->waiting[w->n_callers] = 0;
        }
}

void parent_walk_set_numbers(ParentWalk *w, const CallNumbers *numbers)
{
        w->numbers = numbers;
        for (guint32 i = 0; i < w->n_steps; i++)
                w->steps[i].breaks = step_breaks(w, w->steps[i].state, w->steps[i].event);
}

void parent_walk_hold(ParentWalk *w, gboolean hold)
{
        w->unheld = !hold;
}

void parent_walk_copy(ParentWalk *to, const ParentWalk *w)
{
        *to = *w;
        to->first = g_memdup2(w->first, w->n_callers * sizeof *w->first);
        to->waiting = g_memdup2(w->waiting, w->n_callers * sizeof *w->waiting);
        to->states = g_memdup2(w->states, w->n_states * sizeof *w->states);
        to->states_room = w->n_states;
        to->keys = g_memdup2(w->keys, w->keys_length);
        to->keys_room = w->keys_length;
        to->steps = g_memdup2(w->steps, w->n_steps * sizeof *w->steps);
        to->steps_room = w->n_steps;
        to->state_at = g_memdup2(w->state_at, ((gsize)w->state_mask + 1) * sizeof *w->state_at);
        to->step_at = g_memdup2(w->step_at, ((gsize)w->step_mask + 1) * sizeof *w->step_at);
        to->survival = NULL;
        to->longer = NULL;
        to->survival_room = 0;
        to->survival_known = FALSE;
        delay_densities_copy(&to->delays, &w->delays);
}

void parent_walk_clear(ParentWalk *w)
{
        g_free(w->first);
        g_free(w->waiting);
        g_free(w->states);
        g_free(w->keys);
        g_free(w->steps);
        g_free(w->state_at);
        g_free(w->step_at);
        g_free(w->survival);
        g_free(w->longer);
        delay_densities_clear(&w->delays);
}

/* --- steps, seen from outside ------------------------------------------------ */

WalkEntry parent_walk_add(ParentWalk *w, guint32 state, guint32 event)
{
        get_step(w, state, event);
        return *parent_walk_find(w, state, event);
}

WalkEntry parent_walk_foresee(ParentWalk *w, guint32 state, guint32 event)
{
        double all = (double)w->states[state].count / DENSITY_COUNT;
        WalkEntry entry = parent_walk_get(w, w->states[state].general, event);

        entry.probability =
                tuning.backoff_weight * entry.probability / (all + tuning.backoff_weight);
        if (!w->unheld && step_breaks(w, state, event))
                entry.probability *= tuning.numbers_broken;
        entry.number = 0;
        return entry;
}

/* --- places ---------------------------------------------------------------- */

WalkPlace parent_walk_start(const ParentWalk *w, guint32 caller, gint64 time)
{
        return (WalkPlace){ w->first[caller], time };
}

WalkPlace parent_walk_wait(ParentWalk *w, guint32 caller, gint64 enter)
{
        if (!w->waiting[caller]) {
                const guint8 *first = w->keys + w->states[w->first[caller]].key;
                g_autofree guint8 *key = g_memdup2(first, w->key_length);

                key[KEY_LATEST] = event_wait(w) & 0xff;
                key[KEY_LATEST + 1] = event_wait(w) >> 8;
                w->waiting[caller] = intern(w, key) + 1;
        }
        return (WalkPlace){ w->waiting[caller] - 1, enter };
}

WalkPlace parent_walk_take(ParentWalk *w, WalkPlace at, gint64 time)
{
        guint32 step = get_step(w, at.state, event_start(w));

        return (WalkPlace){ w->steps[step].next, time };
}

WalkPlace parent_walk_call(ParentWalk *w, WalkPlace at, guint32 callee, gint64 time)
{
        guint32 step = get_step(w, at.state, MIN(callee, w->n_callees - 1));

        return (WalkPlace){ w->steps[step].next, time };
}

WalkPlace parent_walk_return(ParentWalk *w, WalkPlace at, guint32 callee, gint64 time)
{
        guint32 step = get_step(w, at.state, w->n_callees + MIN(callee, w->n_callees - 1));

        return (WalkPlace){ w->steps[step].next, time };
}

static gint32 log_of_survival(ParentWalk *w, guint32 row, guint bin)
{
        gint16 *log = &w->survival[row][bin];

        if (*log == NO_LOG)
                *log = fixed_log(MAX(w->longer[row][bin], 1e-6));
        return *log;
}

gint32 parent_walk_hazard(ParentWalk *w, WalkPlace at, guint32 callee, gint64 time)
{
        const WalkEntry *step = parent_walk_log(w, at.state, MIN(callee, w->n_callees - 1));
        guint bin = density_bin(time - at.latest);
        gint32 broken = w->steps[step->number - 1].breaks ? fixed_log(tuning.numbers_broken) : 0;
        guint32 state = at.state;

        while (!w->states[state].survival && w->states[state].general != state)
                state = w->states[state].general;
        return step->log - broken + delay_densities_log(&w->delays, step->row, bin) -
               log_of_survival(w, w->states[state].survival, bin);
}

/* --- learning -------------------------------------------------------------- */

void parent_walk_fade(ParentWalk *w)
{
        for (guint32 i = 0; i < w->n_states; i++)
                w->states[i].count = 0;
        for (guint32 i = 0; i < w->n_steps; i++) {
                w->steps[i].count /= 2;
                w->states[w->steps[i].state].count += w->steps[i].count;
        }
        delay_densities_fade(&w->delays);
}

/* The row of a step. Makes rows for it and for the steps that it backs off to. */
static guint32 own_row(ParentWalk *w, guint32 step)
{
        const WalkStep *s = &w->steps[step];
        guint32 backoff, row;

        if (s->own_row)
                return s->own_row;
        backoff = s->backoff == step ? 0 : own_row(w, s->backoff);
        row = delay_densities_add_row(&w->delays, backoff);
        w->steps[step].own_row = row;
        return row;
}

void parent_walk_forget(ParentWalk *w)
{
        for (guint32 i = 0; i < w->n_states; i++)
                w->states[i].count = 0;
        for (guint32 i = 0; i < w->n_steps; i++) {
                w->steps[i].count = w->steps[i].kept;
                w->states[w->steps[i].state].count += w->steps[i].kept;
        }
        delay_densities_forget(&w->delays);
}

void parent_walk_keep(ParentWalk *w, gboolean half)
{
        for (guint32 i = 0; i < w->n_steps; i++)
                w->steps[i].kept = w->steps[i].count >> half;
        delay_densities_keep(&w->delays, half);
}

void parent_walk_count(ParentWalk *w, guint32 step, guint bin, double share)
{
        guint32 count = share * DENSITY_COUNT + 0.5;

        if (count == 0)
                return;
        if (bin != NO_DELAY)
                delay_densities_count(&w->delays, own_row(w, step), bin, count);
        for (;; step = w->steps[step].backoff) {
                w->steps[step].count += count;
                w->states[w->steps[step].state].count += count;
                if (w->steps[step].backoff == step)
                        break;
        }
}

void parent_walk_learn(ParentWalk *w)
{
        w->survival_known = FALSE;
        delay_densities_learn(&w->delays);
        /* A step comes after its backoff, which is learned already. */
        for (guint32 i = 0; i < w->n_steps; i++) {
                learn_step(w, &w->steps[i]);
                update_entry(w, i);
        }
}

/* The probabilities of a row that a delay is longer than one of each bin. Half of the delays in the
 * same bin count as longer. */
static double *find_rest(ParentWalk *w, guint32 row)
{
        const float *density = delay_densities_row(&w->delays, row);
        double *longer = g_new(double, DENSITY_BINS), rest = 0;

        for (guint bin = DENSITY_BINS; bin-- > 0;) {
                double mass = density[bin] * density_bin_width(bin);

                longer[bin] = rest + mass / 2;
                rest += mass;
        }
        return longer;
}

/* Adds that a state survives delays if it ends by this step. rest is by row, found on demand. */
static void add_survival(ParentWalk *w, const WalkStep *s, double *longer, double **rest)
{
        gboolean timeless = s->event >= w->n_callees && s->event != event_reply(w);
        const double *by_delay;

        if (timeless) {
                for (guint bin = 0; bin < DENSITY_BINS; bin++)
                        longer[bin] += s->probability;
                return;
        }
        if (!rest[s->row])
                rest[s->row] = find_rest(w, s->row);
        by_delay = rest[s->row];
        for (guint bin = 0; bin < DENSITY_BINS; bin++)
                longer[bin] += s->probability * by_delay[bin];
}

/* Gives each state that was seen a row of survival, while there are rows. Returns their number. */
static guint32 number_survivals(ParentWalk *w)
{
        guint32 n = 1;

        for (guint32 i = 0; i < w->n_states; i++)
                w->states[i].survival = w->states[i].count > 0 && n < DENSITY_MAX_ROWS ? n++ : 0;
        if (n > w->survival_room) {
                w->survival_room = 2 * n;
                w->survival = g_realloc_n(w->survival, w->survival_room, sizeof *w->survival);
                w->longer = g_realloc_n(w->longer, w->survival_room, sizeof *w->longer);
        }
        memset(w->longer, 0, n * sizeof *w->longer);
        return n;
}

/* A state survives a delay if the step that ends it has none, as a return, or has a longer one. */
void parent_walk_learn_survival(ParentWalk *w)
{
        g_autofree double **rest = NULL;
        guint32 n;

        if (w->survival_known)
                return;
        w->survival_known = TRUE;
        n = number_survivals(w);
        rest = g_new0(double *, w->delays.n);
        for (guint32 i = 0; i < w->n_steps; i++) {
                const WalkStep *s = &w->steps[i];
                guint32 row = w->states[s->state].survival;

                if (row)
                        add_survival(w, s, w->longer[row], rest);
        }
        for (guint32 row = 0; row < w->delays.n; row++)
                g_free(rest[row]);
        for (guint32 row = 0; row < n; row++)
                for (guint bin = 0; bin < DENSITY_BINS; bin++)
                        w->survival[row][bin] = row ? NO_LOG : 0;
}

void parent_walk_forget_survival(ParentWalk *w)
{
        w->survival_known = FALSE;
        for (guint32 i = 0; i < w->n_states; i++)
                w->states[i].survival = 0;
}

/* --- bytes ---------------------------------------------------------------------- */

static gboolean is_key(const ParentWalk *w, const guint8 *key)
{
        guint32 latest = key[KEY_LATEST] | key[KEY_LATEST + 1] << 8;
        gboolean general = key[KEY_COUNTS] == ANY;

        if (key_caller(key) == NOTHING)
                return general;
        for (guint32 i = 0; i < w->n_callees; i++)
                if (general ? key[KEY_COUNTS + i] != ANY
                            : key[KEY_COUNTS + i] >> 4 > tuning.walk_count ||
                                      (key[KEY_COUNTS + i] & 0xf) > tuning.walk_count)
                        return FALSE;
        return key_caller(key) < w->n_callers && latest <= event_wait(w);
}

static void state_bytes(ParentWalk *w, guint32 i, Bytes *b)
{
        WalkState *s = &w->states[i];

        for (guint32 k = 0; k < w->key_length; k++)
                bytes_u8(b, &w->keys[s->key + k]);
        bytes_expect(b, is_key(w, w->keys + s->key), "the key of a state");
        bytes_u32(b, &s->general);
        bytes_expect(b, s->general <= i, "a state before this one");
        bytes_u32(b, &s->count);
        bytes_u32(b, &s->survival);
        if (!bytes_expect(b, s->survival < DENSITY_MAX_ROWS, "a row of survival"))
                s->survival = 0;
}

static void step_bytes(ParentWalk *w, guint32 i, Bytes *b)
{
        WalkStep *s = &w->steps[i];

        bytes_u32(b, &s->state);
        bytes_u32(b, &s->event);
        bytes_u32(b, &s->next);
        bytes_u32(b, &s->backoff);
        bytes_u32(b, &s->own_row);
        bytes_u32(b, &s->row);
        bytes_u32(b, &s->count);
        bytes_u32(b, &s->kept);
        bytes_float(b, &s->probability);
        bytes_expect(b,
                     s->state < w->n_states && s->event <= event_start(w) &&
                             s->next < w->n_states && s->backoff <= i && s->own_row < w->delays.n &&
                             s->row < w->delays.n && s->probability > 0 && s->probability <= 1,
                     "a step");
}

static void survival_bytes(ParentWalk *w, Bytes *b)
{
        guint32 n = 0;

        bytes_bool(b, &w->survival_known);
        for (guint32 i = 0; i < w->n_states; i++)
                n = MAX(n, w->states[i].survival + 1);
        if (!w->survival_known)
                return;
        if (bytes_reads(b)) {
                if (!bytes_room(b, &w->survival, n, sizeof *w->survival, 2 * DENSITY_BINS))
                        return;
                w->survival_room = n;
                w->longer = g_malloc0_n(n, sizeof *w->longer);
        }
        for (guint32 row = 0; row < n; row++)
                for (guint bin = 0; bin < DENSITY_BINS; bin++) {
                        guint16 log = bytes_reads(b) ? 0 : (guint16)log_of_survival(w, row, bin);

                        bytes_u16(b, &log);
                        w->survival[row][bin] = (gint16)log;
                }
}

/* Rebuilds the tables that find states and steps. */
static void index_states(ParentWalk *w)
{
        while (2 * w->n_states > w->state_mask)
                w->state_mask = 2 * w->state_mask + 1;
        w->state_mask /= 2;
        grow_state_table(w);
        while (2 * w->n_steps > w->step_mask)
                w->step_mask = 2 * w->step_mask + 1;
        w->step_mask /= 2;
        grow_step_table(w);
}

void parent_walk_take_back(ParentWalk *w, WalkSize size)
{
        if (w->n_states > size.n_states) {
                w->n_states = size.n_states;
                w->keys_length = (gsize)size.n_states * w->key_length;
                memset(w->state_at, 0, ((gsize)w->state_mask + 1) * sizeof *w->state_at);
                for (guint32 i = 0; i < w->n_states; i++)
                        *find_state(w, w->keys + w->states[i].key) = i + 1;
                for (guint32 i = 0; i < w->n_callers; i++)
                        if (w->waiting[i] > size.n_states)
                                w->waiting[i] = 0;
        }
        if (w->n_steps > size.n_steps) {
                w->n_steps = size.n_steps;
                memset(w->step_at, 0, ((gsize)w->step_mask + 1) * sizeof *w->step_at);
                for (guint32 i = 0; i < w->n_steps; i++)
                        put_step(w, i);
        }
}

void parent_walk_bytes(ParentWalk *w, Bytes *b)
{
        gboolean reads = bytes_reads(b);

        if (reads)
                *w = (ParentWalk){ .state_mask = 63, .step_mask = 255 };
        bytes_u32(b, &w->n_callees);
        bytes_expect(b, w->n_callees >= 1 && w->n_callees <= WALK_MAX_CALLEES, "callees");
        bytes_count(b, &w->n_callers, 4);
        bytes_count(b, &w->n_states, 4);
        bytes_count(b, &w->n_steps, 36);
        delay_densities_bytes(&w->delays, b);
        w->key_length = KEY_COUNTS + w->n_callees;
        bytes_u32s(b, &w->first, w->n_callers);
        if (reads && bytes_good(b))
                w->waiting = g_new0(guint32, w->n_callers);
        for (guint32 i = 0; i < w->n_callers && bytes_good(b); i++)
                bytes_expect(b, w->first[i] < w->n_states, "the state of a caller");
        if (reads) {
                w->n_states = bytes_room(b, &w->states, w->n_states, sizeof *w->states,
                                         w->key_length + 12);
                w->states_room = w->n_states;
                w->keys_length = w->keys_room = (gsize)w->n_states * w->key_length;
                w->keys = g_malloc0(MAX(w->keys_length, 1));
        }
        for (guint32 i = 0; i < w->n_states && bytes_good(b); i++) {
                if (reads)
                        w->states[i].key = (gsize)i * w->key_length;
                state_bytes(w, i, b);
        }
        if (reads) {
                w->n_steps = bytes_room(b, &w->steps, w->n_steps, sizeof *w->steps, 36);
                w->steps_room = w->n_steps;
        }
        for (guint32 i = 0; i < w->n_steps && bytes_good(b); i++)
                step_bytes(w, i, b);
        if (bytes_good(b))
                survival_bytes(w, b);
        if (reads && bytes_good(b))
                index_states(w);
}
