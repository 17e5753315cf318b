/* SPDX-License-Identifier: BSD-2-Clause */
#include "queues/work-in-lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/hash.h"
#include "base/time-search.h"

enum {
        KINDS = 32,      /* of calls that are told apart, and all others as one; */
        ASKED = 16,      /* and of what messages ask for */
        PLACES = 8,      /* in a part; from then on all are alike */
        NOT_YET = KINDS, /* before the first call of a part */
        END = KINDS,     /* after the last */

        STATES = 200,        /* that are followed at a time */
        STRETCH = 4096,      /* calls after which the best of them alone goes on */
        WAITING = 16,        /* messages that may begin after later ones did; */
        WAITING_MORE = 4,    /* at most so many more than there are processes */
        ROUNDS = 12,         /* of learning; */
        USE_ALL_ROUNDS = 10, /* in so many of them hardly a message may make no call */
        LEARNED = 8192,      /* calls that is learned from, but for the last */

        TIMES = 72,         /* half octaves that times are told apart by */
        DELAYS = TIMES / 2, /* of them, of times of either sign, from 2^LEAST_DELAY ns on */
        LEAST_DELAY = 10,
        LEAST_USED = 4,   /* nothing was found where not one message in so many makes calls */
        FIRST_WEIGHT = 5, /* how often the delays count that are known before any part */
        NEAR = 64,        /* messages before a call, and after, that it may be the first for */
        PAIR_WEIGHT = 20, /* calls that what is usual counts for */
};

/* Logarithms of how likely it is that a call is for no message, or overlaps another that its
 * process makes for an earlier message; and that a message makes none, where all are to be used. */
#define STRAY    -34.0
#define OVERLAP  -14.0
#define NO_CALLS -8.0
#define FAR      10.0 /* what is so much less likely than another is not followed */

#define ALIKE                                                                                      \
        20.0 /* calls that what follows at any place in a part counts for, at each, and what       \
                does in all parts, in those that ask for one thing */
#define DOUBTED 0.05 /* what a part counts for that may be two */

#define NOBODY G_MAXUINT32

/* How likely times are: the log density, per ns, of each half octave: of ns from 1 on, or, of
 * delays, of those before a moment, from the longest, and after. */
typedef struct {
        double count[TIMES], log[TIMES];
} Times;

/* How likely each kind of call is, or the end, after a call of a kind at a place in a part. */
typedef struct {
        double count[PLACES][KINDS + 1][KINDS + 1];
        double log[PLACES][KINDS + 1][KINDS + 1];
} Follows;

typedef struct {
        Follows all;
        Times first[KINDS]; /* from when a message was begun to its first call, by the kind of that:
                               delays */
        Times pause[KINDS][KINDS]; /* from one call to the next, by their kinds */
        Times idle;                /* from the last call of a process to what it takes next, */
        Times others;              /* and to what others take */
} Steps;

/* What a process is at. */
typedef struct {
        guint32 message; /* NOBODY: none yet */
        guint32 call;    /* its last */
        guint8 place, last;
} Lane;

static const Lane no_part = { NOBODY, NOBODY, 0, NOT_YET };

/* How far all have come; how likely. */
typedef struct {
        double log;
        guint64 like; /* equal where states are alike */
        guint32 from; /* how it came about: index of history */
        guint32 next; /* messages before have begun, or wait, or make no calls */
        guint32 n_waiting, waiting[WAITING];
        Lane lane[];
} State;

/* What the last call was to a state. */
typedef struct {
        guint32 from;
        guint32 message; /* NOBODY: it is for none */
} History;

typedef struct {
        LaneMessage *messages;
        const WorkerCall *calls;
        guint n_messages, n_calls, n_lanes;
        guint most_waiting;   /* messages, that may be begun but are not */
        gint64 *begun;        /* by message */
        double firsts[TIMES]; /* delays of first calls, before any part is known */
        guint8 *kind;         /* by call */
        guint8 *lane;         /* by call; NO_LANE: unknown */
        Steps *steps;
        guint n_asked;    /* things that messages ask for */
        Follows *follows; /* by each; NULL where it is one for all */
        guint8 *asked;    /* by message */
        gsize state_size;
        guint8 *now, *then; /* STATES; and those after a call, which are more: */
        guint n_now, n_then, room;
        double best;       /* of those after a call */
        State **by_log;    /* these, in order */
        GHashTable *alike; /* of them, by like: the index + 1 */
        GArray *history;
        guint32 *part; /* by call: its message, or NOBODY */
} Lanes;

/* --- what is likely ------------------------------------------------------------------ */

/* Half octaves: the whole part of twice the logarithm to base 2. */
static guint half_octaves(guint64 time)
{
        guint octave = g_bit_storage(time) - 1;

        return 2 * octave + ((double)time >= M_SQRT2 * (double)((guint64)1 << octave));
}

static guint time_bin(gint64 time)
{
        return MIN(half_octaves((guint64)MAX(time, 1)), TIMES - 1);
}

/* Of delays, how far a bin is from zero; and back. */
static guint delay_size(guint bin)
{
        return bin < DELAYS ? DELAYS - 1 - bin : bin - DELAYS;
}

static guint delay_bin(gint64 delay)
{
        guint64 far = MAX((guint64)ABS(delay), (guint64)1 << LEAST_DELAY);
        guint size = MIN(half_octaves(far) - 2 * LEAST_DELAY, DELAYS - 1);

        return delay < 0 ? DELAYS - 1 - size : DELAYS + size;
}

/* ns */
static double delay_edge(guint size)
{
        return exp2(LEAST_DELAY + size / 2.0);
}

static double delay_width(guint bin)
{
        guint size = delay_size(bin);

        return delay_edge(size + 1) - (size ? delay_edge(size) : 0);
}

static double time_width(guint bin)
{
        return exp2((bin + 1) / 2.0) - exp2(bin / 2.0);
}

/* all: what they are like where there are few; NULL: any bin is as likely. */
static void find_time_logs(Times *times, const Times *all, double (*width)(guint bin))
{
        enum { FEW = 4 };
        double sum = 0, n_all = 0;

        for (guint i = 0; i < TIMES; i++) {
                sum += times->count[i];
                n_all += all ? all->count[i] : 0;
        }
        for (guint i = 0; i < TIMES; i++) {
                double share = ((all ? all->count[i] : 0) + 0.1) / (n_all + 0.1 * TIMES);

                times->log[i] = log((times->count[i] + FEW * share) / (sum + FEW) / width(i));
        }
}

static void find_idle_logs(Steps *s)
{
        Times all;

        for (guint i = 0; i < TIMES; i++)
                all.count[i] = s->idle.count[i] + s->others.count[i];
        find_time_logs(&s->idle, &all, time_width);
        find_time_logs(&s->others, &all, time_width);
}

/* What follows a kind of call: at each place about what does at any. */
static void find_step_logs(Follows *s, guint last)
{
        enum { SMOOTH_BY = 20 }; /* so many parts of a count, to each */
        double all[KINDS + 1], n_all = 0;

        for (guint next = 0; next <= KINDS; next++) {
                all[next] = 1.0 / SMOOTH_BY;
                for (guint place = 0; place < PLACES; place++)
                        all[next] += s->count[place][last][next];
                n_all += all[next];
        }
        for (guint place = 0; place < PLACES; place++) {
                double sum = ALIKE;

                for (guint next = 0; next <= KINDS; next++)
                        sum += s->count[place][last][next];
                for (guint next = 0; next <= KINDS; next++)
                        s->log[place][last][next] = log(
                                (s->count[place][last][next] + ALIKE * all[next] / n_all) / sum);
        }
}

/* What follows in parts that ask for one thing: about what does in all. */
static void find_asked_logs(Follows *s, const Follows *all, guint place, guint last)
{
        double sum = ALIKE;

        for (guint next = 0; next <= KINDS; next++)
                sum += s->count[place][last][next];
        for (guint next = 0; next <= KINDS; next++)
                s->log[place][last][next] = log(
                        (s->count[place][last][next] + ALIKE * exp(all->log[place][last][next])) /
                        sum);
}

static void find_logs(Lanes *t)
{
        Steps *s = t->steps;

        for (guint last = 0; last <= KINDS; last++)
                find_step_logs(&s->all, last);
        for (guint i = 0; t->follows && i < t->n_asked; i++)
                for (guint place = 0; place < PLACES; place++)
                        for (guint last = 0; last <= KINDS; last++)
                                find_asked_logs(&t->follows[i], &s->all, place, last);
        for (guint kind = 0; kind < KINDS; kind++) {
                find_time_logs(&s->first[kind], NULL, delay_width);
                for (guint next = 0; next < KINDS; next++)
                        find_time_logs(&s->pause[kind][next], NULL, time_width);
        }
        find_idle_logs(s);
}

/* message: of the part; NOBODY: any. */
static double step(const Lanes *t, guint32 message, const Lane *l, guint next)
{
        const Follows *follows =
                t->follows && message != NOBODY ? &t->follows[t->asked[message]] : &t->steps->all;

        return follows->log[l->place][l->last][next];
}

static double time_log(const Times *times, gint64 time)
{
        return times->log[time_bin(time)];
}

/* --- before any part is known -------------------------------------------------------- */

static double rate_of_messages(const Lanes *t)
{
        return t->n_messages / (double)MAX(t->begun[t->n_messages - 1] - t->begun[0], 1);
}

/* Around messages there are more calls than at other times: the first ones. Bins by size, until
 * there is one for each message. Returns how many there are. */
static double find_firsts(Lanes *t)
{
        double around[TIMES] = { 0 }, left = t->n_messages;

        for (guint i = 0; i < t->n_calls; i++) {
                gint64 start = t->calls[i].start;
                gsize middle = time_search(t->begun, t->n_messages, start);
                gsize m = middle > NEAR ? middle - NEAR : 0;

                for (; m < MIN(middle + NEAR, t->n_messages); m++)
                        around[delay_bin(start - t->begun[m])]++;
        }
        for (guint k = 0; k < TIMES && left > 0; k++) {
                guint bin = k % 2 ? DELAYS - 1 - k / 2 : DELAYS + k / 2;
                double chance = delay_width(bin) * rate_of_messages(t) * t->n_calls;

                t->firsts[bin] = CLAMP(around[bin] - chance, 0, left);
                left -= t->firsts[bin];
        }
        return t->n_messages - left;
}

/* weight: how often each counts. */
static void count_firsts(Lanes *t, double weight)
{
        for (guint kind = 0; kind < KINDS; kind++)
                for (guint bin = 0; bin < TIMES; bin++)
                        t->steps->first[kind].count[bin] += weight * t->firsts[bin] / KINDS;
}

/* When a call may be the first for a message: so many ns from when that was begun on, and up to. */
static void find_window(const Lanes *t, double *from, double *to)
{
        *from = *to = 0;
        for (guint bin = 0; bin < TIMES; bin++) {
                double edge = delay_edge(delay_size(bin) + 1);

                if (t->firsts[bin] == 0)
                        continue;
                if (bin < DELAYS)
                        *from = MIN(*from, -edge);
                else
                        *to = MAX(*to, edge);
        }
}

/* Two kinds of calls that follow each other in a process. */
typedef struct {
        double n;     /* how often */
        double first; /* how often, and then the share of them, that the second one is for the next
                         message */
} Pair;

/* How many more messages are begun around the second one than at any time. */
static void count_pairs(const Lanes *t, const guint32 *before, Pair *pairs)
{
        double from, to, chance;

        find_window(t, &from, &to);
        chance = rate_of_messages(t) * (to - from);
        for (guint32 i = 0; i < t->n_calls; i++) {
                gint64 start = t->calls[i].start;
                Pair *p;

                if (before[i] == NOBODY)
                        continue;
                p = &pairs[t->kind[before[i]] * KINDS + t->kind[i]];
                p->n++;
                p->first += (double)(time_search(t->begun, t->n_messages, start - (gint64)from) -
                                     time_search(t->begun, t->n_messages, start - (gint64)to)) -
                            chance;
        }
}

/* found: how many messages have a first call in the window. */
static void suppose_steps(Lanes *t, const guint32 *before, double found)
{
        g_autofree Pair *pairs = g_new0(Pair, KINDS * KINDS);
        double usual = MIN((double)t->n_messages / t->n_calls, 1), n_pairs = 0, firsts = 0, missing;
        Steps *s = t->steps;

        count_pairs(t, before, pairs);
        for (guint i = 0; i < KINDS * KINDS; i++) {
                Pair *p = &pairs[i];

                p->first = (p->first * t->n_messages / MAX(found, 1) + PAIR_WEIGHT * usual) /
                           (p->n + PAIR_WEIGHT);
                p->first = CLAMP(p->first, 0.001, 0.999);
                n_pairs += p->n;
                firsts += p->n * p->first;
        }
        /* Processes that are always busy begin messages in turns, so that few are begun near each
         * other: what is missing is shared by all pairs. */
        missing = CLAMP((usual * n_pairs - firsts) / MAX(n_pairs - firsts, 1), 0, 1);
        for (guint i = 0; i < KINDS * KINDS; i++) {
                guint last = i / KINDS, next = i % KINDS;
                Pair *p = &pairs[i];

                p->first += missing * (1 - p->first);
                for (guint place = 1; place < PLACES; place++) {
                        s->all.count[place][last][next] += p->n * (1 - p->first);
                        s->all.count[place][last][END] += p->n * p->first;
                }
                s->all.count[0][NOT_YET][next] += p->n * p->first;
        }
        for (guint32 i = 0; i < t->n_calls; i++)
                if (before[i] != NOBODY) {
                        guint last = t->kind[before[i]], next = t->kind[i];
                        gint64 pause = t->calls[i].start - t->calls[before[i]].end;

                        s->pause[last][next].count[time_bin(pause)] +=
                                1 - pairs[last * KINDS + next].first;
                }
}

static void suppose(Lanes *t)
{
        g_autofree guint32 *before = g_new(guint32, t->n_calls);
        guint32 last[MOST_LANES];
        double found = find_firsts(t);

        count_firsts(t, 1);
        for (guint i = 0; i < t->n_lanes; i++)
                last[i] = NOBODY;
        for (guint32 i = 0; i < t->n_calls; i++) {
                guint lane = t->lane[i];

                before[i] = lane == NO_LANE ? NOBODY : last[lane];
                if (lane != NO_LANE)
                        last[lane] = i;
        }
        suppose_steps(t, before, found);
}

/* --- the best cuts ------------------------------------------------------------------- */

static State *state_now(const Lanes *t, guint i)
{
        return (State *)(t->now + i * t->state_size);
}

static State *state_then(const Lanes *t, guint i)
{
        return (State *)(t->then + i * t->state_size);
}

/* Of messages that ask for the same, whichever is begun makes no difference to what may follow. */
static guint64 lane_hash(const Lanes *t, guint lane, const Lane *l)
{
        guint64 asked = l->message == NOBODY ? ASKED : t->asked[l->message];

        return hash_word(hash_word(HASH_SEED, (guint64)lane << 32 | asked),
                         (guint64)l->place << 8 | l->last);
}

static guint64 waiting_hash(guint32 message)
{
        return hash_word(HASH_SEED, ~(guint64)message);
}

/* The state that is like this one after a call, or a new one; NULL where that one is likelier, or
 * another by far, or there is no room. */
static State *find_alike(Lanes *t, guint64 like, double log)
{
        gpointer found;
        State *to;

        if (log < t->best - FAR)
                return NULL;
        t->best = MAX(t->best, log);
        found = g_hash_table_lookup(t->alike, &like);
        if (found) {
                to = state_then(t, GPOINTER_TO_UINT(found) - 1);
                return log > to->log ? to : NULL;
        }
        if (t->n_then == t->room)
                return NULL;
        to = state_then(t, t->n_then++);
        to->like = like;
        g_hash_table_insert(t->alike, &to->like, GUINT_TO_POINTER(t->n_then));
        return to;
}

static void note_history(Lanes *t, State *to, guint32 from, guint32 message)
{
        History h = { from, message };

        to->from = t->history->len;
        g_array_append_val(t->history, h);
}

/* A message is begun; those before it that are not may be later. */
static void take_message(State *s, guint32 message)
{
        guint k = 0;

        if (message >= s->next) {
                while (s->next < message)
                        s->waiting[s->n_waiting++] = s->next++;
                s->next++;
                return;
        }
        for (guint i = 0; i < s->n_waiting; i++)
                if (s->waiting[i] != message)
                        s->waiting[k++] = s->waiting[i];
        s->n_waiting = k;
}

static guint64 like_with(const State *s, guint32 message)
{
        guint64 like = s->like;

        if (message < s->next)
                return like ^ waiting_hash(message);
        for (guint32 m = s->next; m < message; m++)
                like ^= waiting_hash(m);
        return like + (message + 1 - s->next) * HASH_SEED;
}

/* A call in a lane, which is at this then. begins: its message is begun with it. */
static void follow(Lanes *t, const State *s, guint lane, Lane l, gboolean begins, double log)
{
        guint64 like = begins ? like_with(s, l.message) : s->like;
        guint32 from = s->from;
        State *to;

        like ^= lane_hash(t, lane, &s->lane[lane]) ^ lane_hash(t, lane, &l);
        to = find_alike(t, like, log);
        if (!to)
                return;
        memcpy(to, s, t->state_size);
        to->log = log;
        to->like = like;
        to->lane[lane] = l;
        if (begins)
                take_message(to, l.message);
        note_history(t, to, from, l.message);
}

static void follow_stray(Lanes *t, const State *s)
{
        State *to = find_alike(t, s->like, s->log + STRAY);

        if (!to)
                return;
        memcpy(to, s, t->state_size);
        to->log = s->log + STRAY;
        note_history(t, to, s->from, NOBODY);
}

/* How likely it is that a process takes a message, by how long it has had nothing to do. */
static double idle_log(const Lanes *t, const Lane *l, guint32 message)
{
        gint64 idle = t->messages[message].begun - t->calls[l->call].end;

        if (idle < 0)
                return OVERLAP;
        return time_log(&t->steps->idle, idle) - time_log(&t->steps->others, idle);
}

/* The first call of a part: its process ends the one before. */
static void begin_part(Lanes *t, const State *s, guint32 call, guint lane, guint32 message)
{
        const Lane *l = &s->lane[lane];
        gint64 delay = t->calls[call].start - t->messages[message].begun;
        guint8 kind = t->kind[call];
        Lane next = { message, call, 1, kind };
        double log = s->log + step(t, message, &no_part, kind) +
                     t->steps->first[kind].log[delay_bin(delay)];

        if (l->message != NOBODY)
                log += step(t, l->message, l, END) + idle_log(t, l, message);
        follow(t, s, lane, next, TRUE, log);
}

static void go_on_in(Lanes *t, const State *s, guint32 call, guint lane)
{
        const Lane *l = &s->lane[lane];
        guint8 kind = t->kind[call];

        if (l->message != NOBODY) {
                gint64 pause = t->calls[call].start - t->calls[l->call].end;
                Lane next = { l->message, call, (guint8)MIN(l->place + 1, PLACES - 1), kind };

                follow(t, s, lane, next, FALSE,
                       s->log + step(t, l->message, l, kind) +
                               time_log(&t->steps->pause[l->last][kind], pause));
        }
        for (guint i = 0; i < s->n_waiting; i++)
                begin_part(t, s, call, lane, s->waiting[i]);
        for (guint32 m = s->next;
             m < t->n_messages && t->messages[m].enter <= t->calls[call].start &&
             s->n_waiting + (m - s->next) < t->most_waiting;
             m++)
                begin_part(t, s, call, lane, m);
}

static gboolean is_idle(const Lanes *t, const Lane *l, guint32 call)
{
        return l->message == NOBODY || t->calls[l->call].end <= t->calls[call].start;
}

static void go_on(Lanes *t, const State *s, guint32 call)
{
        guint of = t->lane[call];

        follow_stray(t, s);
        if (of != NO_LANE)
                go_on_in(t, s, call, of);
        for (guint lane = 0; of == NO_LANE && lane < t->n_lanes; lane++)
                if (is_idle(t, &s->lane[lane], call))
                        go_on_in(t, s, call, lane);
}

static int compare_states(const void *a, const void *b)
{
        const State *x = *(State *const *)a, *y = *(State *const *)b;

        return COMPARE(y->log, x->log);
}

/* Of the messages that may have been begun so many, the oldest, make no calls: too many wait. */
static void give_up(Lanes *t, State *s, guint32 n)
{
        guint n_old = MIN(n, s->n_waiting);

        s->log += n * step(t, NOBODY, &no_part, END);
        for (guint i = 0; i < n_old; i++)
                s->like ^= waiting_hash(s->waiting[i]);
        s->n_waiting -= n_old;
        memmove(s->waiting, s->waiting + n_old, s->n_waiting * sizeof *s->waiting);
        s->next += n - n_old;
        s->like += (n - n_old) * HASH_SEED;
}

/* entered: messages that may have been begun. */
static void give_up_waiting(Lanes *t, State *s, guint32 entered)
{
        guint waiting = s->n_waiting + (entered > s->next ? entered - s->next : 0);

        if (waiting > t->most_waiting)
                give_up(t, s, waiting - t->most_waiting);
}

/* The best of the states after a call. */
static void prune(Lanes *t)
{
        guint n = 0;

        for (guint i = 0; i < t->n_then; i++)
                if (state_then(t, i)->log >= t->best - FAR)
                        t->by_log[n++] = state_then(t, i);
        qsort(t->by_log, n, sizeof *t->by_log, compare_states);
        t->n_now = MIN(n, STATES);
        for (guint i = 0; i < t->n_now; i++)
                memcpy(state_now(t, i), t->by_log[i], t->state_size);
        t->n_then = 0;
        t->best = -G_MAXDOUBLE;
        g_hash_table_remove_all(t->alike);
}

static double log_at_end(const Lanes *t, const State *s)
{
        guint32 unused = t->n_messages - s->next + s->n_waiting;
        double log = s->log + unused * step(t, NOBODY, &no_part, END);

        for (guint i = 0; i < t->n_lanes; i++)
                if (s->lane[i].message != NOBODY)
                        log += step(t, s->lane[i].message, &s->lane[i], END);
        return log;
}

/* The best state, and so what each call since from is. */
static State *settle(Lanes *t, guint from, guint to, gboolean is_end)
{
        State *best = state_now(t, 0);
        guint32 h;

        for (guint i = 1; is_end && i < t->n_now; i++)
                if (log_at_end(t, state_now(t, i)) > log_at_end(t, best))
                        best = state_now(t, i);
        h = best->from;
        for (guint call = to; call-- > from;) {
                t->part[call] = g_array_index(t->history, History, h).message;
                h = g_array_index(t->history, History, h).from;
        }
        return best;
}

/* The likeliest way through the first n calls. */
static void cut(Lanes *t, guint n_calls)
{
        State *s = state_now(t, 0);
        guint32 entered = 0;

        memset(s, 0, t->state_size);
        t->best = -G_MAXDOUBLE;
        for (guint i = 0; i < t->n_lanes; i++)
                s->lane[i] = no_part;
        for (guint from = 0; from < n_calls; from += STRETCH) {
                guint to = MIN(from + STRETCH, n_calls);

                g_array_set_size(t->history, 1);
                s->from = 0;
                t->n_now = 1;
                for (guint call = from; call < to; call++) {
                        while (entered < t->n_messages &&
                               t->messages[entered].enter <= t->calls[call].start)
                                entered++;
                        for (guint i = 0; i < t->n_now; i++) {
                                give_up_waiting(t, state_now(t, i), entered);
                                go_on(t, state_now(t, i), call);
                        }
                        prune(t);
                }
                memmove(s, settle(t, from, to, to == n_calls), t->state_size);
        }
}

/* --- learning ------------------------------------------------------------------------ */

typedef struct {
        guint32 call;
        guint8 place, last;
} Progress;

/* When the messages that have no part were begun, in order; by the calls before one. */
static GArray *find_unused(const Lanes *t, guint n_calls)
{
        g_autofree gboolean *used = g_new0(gboolean, t->n_messages);
        GArray *unused = g_array_new(FALSE, FALSE, sizeof(gint64));

        for (guint i = 0; i < n_calls; i++)
                if (t->part[i] != NOBODY)
                        used[t->part[i]] = TRUE;
        for (guint m = 0; m < t->n_messages && t->messages[m].enter <= t->calls[n_calls - 1].start;
             m++)
                if (!used[m])
                        g_array_append_val(unused, t->messages[m].begun);
        return unused;
}

/* How much each part counts: hardly, where a message without a part was begun in it, since it may
 * be two. */
static double *weigh_parts(const Lanes *t, guint n_calls)
{
        double *weight = g_new(double, t->n_messages);
        g_autoptr(GArray) unused = find_unused(t, n_calls);
        const gint64 *times = (const gint64 *)unused->data;
        g_autofree gint64 *last = g_new(gint64, t->n_messages);

        for (guint m = 0; m < t->n_messages; m++)
                last[m] = t->messages[m].begun;
        for (guint i = 0; i < n_calls; i++)
                if (t->part[i] != NOBODY)
                        last[t->part[i]] = MAX(last[t->part[i]], t->calls[i].end);
        for (guint m = 0; m < t->n_messages; m++) {
                gsize next = time_search(times, unused->len, t->messages[m].begun + 1);

                weight[m] = next < unused->len && times[next] <= last[m] ? DOUBTED : 1;
        }
        return weight;
}

/* How long each process has had nothing to do when one of them begins a message. */
static void learn_idle(Lanes *t, const gint64 *busy, guint32 call, double weight)
{
        gint64 begun = t->messages[t->part[call]].begun;

        for (guint l = 0; l < t->n_lanes; l++) {
                Times *times = l == t->lane[call] ? &t->steps->idle : &t->steps->others;

                if (begun >= busy[l])
                        times->count[time_bin(begun - busy[l])] += weight;
        }
}

static void learn_step(Lanes *t, guint32 message, const Progress *p, guint next, double weight)
{
        t->steps->all.count[p->place][p->last][next] += weight;
        if (t->follows)
                t->follows[t->asked[message]].count[p->place][p->last][next] += weight;
}

/* The next call of a part. */
static void learn_call(Lanes *t, guint32 call, Progress *p, double weight)
{
        Steps *s = t->steps;
        guint8 kind = t->kind[call];
        gint64 start = t->calls[call].start;

        if (p->call == NOBODY)
                s->first[kind].count[delay_bin(start - t->messages[t->part[call]].begun)] += weight;
        else
                s->pause[p->last][kind].count[time_bin(start - t->calls[p->call].end)] += weight;
        learn_step(t, t->part[call], p, kind, weight);
        *p = (Progress){ call, (guint8)MIN(p->place + 1, PLACES - 1), kind };
}

static void learn(Lanes *t, guint n_calls)
{
        g_autofree Progress *at = g_new(Progress, t->n_messages);
        g_autofree double *weight = weigh_parts(t, n_calls);
        gint64 until = t->calls[n_calls - 1].start, busy[MOST_LANES];

        memset(t->steps, 0, sizeof *t->steps);
        if (t->follows)
                memset(t->follows, 0, t->n_asked * sizeof *t->follows);
        count_firsts(t, FIRST_WEIGHT);
        for (guint i = 0; i < t->n_lanes; i++)
                busy[i] = G_MAXINT64;
        for (guint32 m = 0; m < t->n_messages; m++)
                at[m] = (Progress){ NOBODY, 0, NOT_YET };
        for (guint32 i = 0; i < n_calls; i++) {
                guint32 m = t->part[i];

                if (m == NOBODY)
                        continue;
                if (at[m].call == NOBODY && t->lane[i] != NO_LANE)
                        learn_idle(t, busy, i, weight[m]);
                learn_call(t, i, &at[m], weight[m]);
                if (t->lane[i] != NO_LANE)
                        busy[t->lane[i]] = t->calls[i].end;
        }
        for (guint32 m = 0; m < t->n_messages && t->messages[m].enter <= until; m++)
                learn_step(t, m, &at[m], END, weight[m]);
}

/* --- what is found ------------------------------------------------------------------- */

/* A message's part of calls: when the first begins, and the last of them is over; and since when
 * its process had nothing to do. */
typedef struct {
        gint64 first, last, idle;
} Part;

static Part *list_parts(const Lanes *t)
{
        Part *parts = g_new(Part, t->n_messages);
        gint64 busy[MOST_LANES];

        for (guint i = 0; i < t->n_lanes; i++)
                busy[i] = G_MININT64;
        for (guint m = 0; m < t->n_messages; m++)
                parts[m] = (Part){ G_MAXINT64, t->messages[m].enter, G_MININT64 };
        for (guint i = 0; i < t->n_calls; i++) {
                Part *p = t->part[i] == NOBODY ? NULL : &parts[t->part[i]];
                gint64 *lane = t->lane[i] == NO_LANE ? NULL : &busy[t->lane[i]];

                if (!p)
                        continue;
                if (p->first == G_MAXINT64) {
                        p->first = t->calls[i].start;
                        p->idle = lane ? *lane : G_MININT64;
                }
                p->last = MAX(p->last, t->calls[i].end);
                if (lane)
                        *lane = t->calls[i].end;
        }
        return parts;
}

/* Where two messages could have begun each other's part, either lasts as long as the other. */
static void set_ends(Lanes *t)
{
        g_autofree Part *parts = list_parts(t);

        for (guint m = 0; m < t->n_messages; m++) {
                LaneMessage *x = &t->messages[m];

                x->until = parts[m].last;
                for (guint o = m;
                     parts[m].first != G_MAXINT64 && o-- > 0 && m - o < 2 * t->n_lanes;) {
                        LaneMessage *y = &t->messages[o];

                        if (parts[o].first == G_MAXINT64 || x->enter > parts[o].first ||
                            y->begun < parts[m].idle)
                                continue;
                        x->until = MAX(x->until, parts[o].last);
                        y->until = MAX(y->until, parts[m].last);
                }
        }
}

/* When a message was begun is known but for about half as many others as there are processes. */
static void limit_early(Lanes *t)
{
        gint64 span = t->begun[t->n_messages - 1] - t->begun[0];
        gint64 early = span / t->n_messages * t->n_lanes / 2, before = G_MININT64;

        for (guint m = 0; m < t->n_messages; m++) {
                LaneMessage *x = &t->messages[m];

                before = x->enter = MAX(MAX(x->enter, x->begun - early), before);
        }
}

static void find_parts(Lanes *t)
{
        suppose(t);
        for (guint round = 1; round <= ROUNDS; round++) {
                guint n = round < ROUNDS ? MIN(t->n_calls, LEARNED) : t->n_calls;
                double *no_calls = &t->steps->all.log[0][NOT_YET][END];

                find_logs(t);
                if (round <= USE_ALL_ROUNDS)
                        *no_calls = MIN(*no_calls, NO_CALLS);
                cut(t, n);
                if (round < ROUNDS)
                        learn(t, n);
        }
}

static guint count_used(const Lanes *t)
{
        g_autoptr(GArray) unused = find_unused(t, t->n_calls);

        return t->n_messages - unused->len;
}

gboolean work_in_lanes_find(LaneMessage *messages, guint n_messages, const WorkerCall *calls,
                            guint n_calls)
{
        g_autofree guint8 *kind = g_new(guint8, n_calls + 1), *lane = g_new(guint8, n_calls + 1);
        g_autofree guint32 *part = g_new(guint32, n_calls + 1);
        g_autofree gint64 *begun = g_new(gint64, n_messages + 1);
        g_autofree Steps *steps = g_new0(Steps, 1);
        g_autofree guint8 *now = NULL, *then = NULL, *asked = g_new(guint8, n_messages + 1);
        g_autofree Follows *follows = NULL;
        g_autofree State **by_log = NULL;
        g_autoptr(GArray) history = g_array_new(FALSE, TRUE, sizeof(History));
        g_autoptr(GHashTable) alike = g_hash_table_new(hash_int64, g_int64_equal);
        Lanes t = { .messages = messages,
                    .calls = calls,
                    .n_messages = n_messages,
                    .n_calls = n_calls,
                    .begun = begun,
                    .kind = kind,
                    .lane = lane,
                    .steps = steps,
                    .asked = asked,
                    .history = history,
                    .alike = alike,
                    .part = part };

        if (n_messages == 0 || n_calls == 0)
                return FALSE;
        t.n_lanes = find_lanes(calls, n_calls, lane);
        if (t.n_lanes < 2)
                return FALSE;
        for (guint m = 0; m < n_messages; m++)
                begun[m] = messages[m].begun;
        t.most_waiting = MIN(WAITING, t.n_lanes + WAITING_MORE);
        t.state_size = (sizeof(State) + t.n_lanes * sizeof(Lane) + sizeof(double) - 1) /
                       sizeof(double) * sizeof(double);
        t.room = STATES * (1 + (1 + WAITING) * t.n_lanes);
        t.now = now = g_malloc(STATES * t.state_size);
        t.then = then = g_malloc(t.room * t.state_size);
        t.by_log = by_log = g_new(State *, t.room);
        number_kinds(&calls->kind, sizeof *calls, n_calls, KINDS, kind);
        t.n_asked = number_kinds(&messages->kind, sizeof *messages, n_messages, ASKED, asked);
        if (t.n_asked > 1)
                t.follows = follows = g_new0(Follows, t.n_asked);
        limit_early(&t);
        find_parts(&t);
        if (count_used(&t) * LEAST_USED < n_messages)
                return FALSE;
        set_ends(&t);
        return TRUE;
}
