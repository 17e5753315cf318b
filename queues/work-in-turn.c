/* SPDX-License-Identifier: BSD-2-Clause */
#include "queues/work-in-turn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

enum {
        KINDS = 32,      /* of calls that are told apart, and all others as one */
        PLACES = 16,     /* in a part; from then on all are alike */
        STATES = 64,     /* that are followed at a time */
        STRETCH = 4096,  /* calls after which the best of them alone goes on */
        EMPTY = 8,       /* messages in succession that nothing is done for */
        ROUNDS = 6,      /* of learning */
        OVERLAPS = 100,  /* one call in so many may overlap another, by accident */
        NOT_YET = KINDS, /* before the first call of a part */
        END = KINDS,     /* after the last */
};
#define STRAY      -14.0 /* the log likelihood of a call that is for no message, */
#define PAUSE      -4.6 /* of a pause where there is something to do, for each of the longest usual */
#define MOST_PAUSE -11.5

/* How likely each kind of call is, or the end, after a call of a kind at a place in a part. */
typedef struct {
        double count[PLACES][KINDS + 1][KINDS + 1];
        double log[PLACES][KINDS + 1][KINDS + 1];
} Steps;

/* How far it has come: the message in hand (-1: none yet), the place in its part, the kind of its
 * last call; how likely, and from which state. */
typedef struct {
        gint32 message;
        guint8 place, last;
        gboolean stray;
        double log;
        guint32 from; /* index of all states of the stretch */
} State;

typedef struct {
        TurnMessage *messages;
        const WorkerCall *calls;
        guint n_messages, n_calls;
        gint64 pause;
        guint8 *kind; /* by call */
        Steps *steps;
        GArray *states;    /* all of them */
        GHashTable *ahead; /* those after a call: where, by what tells them apart */
        guint32 *part;     /* by call: its message; G_MAXUINT32: none */
} Turns;

/* --- before anything is learned ----------------------------------------------------- */

/* About as many calls to each message. */
static void suppose(Turns *t)
{
        guint usual = (t->n_calls + t->n_messages / 2) / t->n_messages;

        for (guint place = 0; place < PLACES; place++)
                for (guint last = 0; last <= KINDS; last++)
                        for (guint next = 0; next <= KINDS; next++)
                                t->steps->count[place][last][next] = next < END       ? 0.1 / KINDS
                                                                     : place >= usual ? 0.8
                                                                                      : 0.01;
}

/* n calls from one on are a part. */
static void add_part(Turns *t, guint first, guint n, double weight)
{
        guint last = NOT_YET;

        for (guint i = 0; i <= n; i++) {
                guint next = i < n ? t->kind[first + i] : END;

                t->steps->count[MIN(i, PLACES - 1)][last][next] += weight;
                last = next;
        }
}

/* Calls between two pauses, of some messages. The first of them begins a part, and the last ends
 * one; where the messages may have had equal parts, they are taken to have. */
static void add_busy(Turns *t, guint first, guint n, guint n_messages)
{
        if (n == 0 || n_messages == 0)
                return;
        t->steps->count[0][NOT_YET][t->kind[first]]++;
        for (guint place = 1; place < PLACES; place++)
                t->steps->count[place][t->kind[first + n - 1]][END]++;
        for (guint i = 0; n % n_messages == 0 && i < n_messages; i++)
                add_part(t, first + i * (n / n_messages), n / n_messages,
                         10.0 / n_messages / n_messages);
}

/* What pauses say, which are longer than any at work. */
static void begin(Turns *t)
{
        gint64 busy = G_MININT64;
        guint first = 0, call = 0, message = 0;

        suppose(t);
        for (guint m = 0; m < t->n_messages; m++) {
                for (; call < t->n_calls && t->calls[call].start < t->messages[m].enter; call++)
                        busy = MAX(busy, t->calls[call].end);
                if (m > 0)
                        busy = MAX(busy, t->messages[m - 1].enter);
                if (busy == G_MININT64 || t->messages[m].enter - busy <= t->pause)
                        continue;
                add_busy(t, first, call - first, m - message);
                first = call;
                message = m;
        }
        add_busy(t, first, t->n_calls - first, t->n_messages - message);
}

static void find_logs(Steps *s)
{
        enum { SMOOTH_BY = 20 }; /* so many parts of a count, to each */

        for (guint place = 0; place < PLACES; place++)
                for (guint last = 0; last <= KINDS; last++) {
                        double sum = (KINDS + 1.0) / SMOOTH_BY;

                        for (guint next = 0; next <= KINDS; next++)
                                sum += s->count[place][last][next];
                        for (guint next = 0; next <= KINDS; next++)
                                s->log[place][last][next] =
                                        log((s->count[place][last][next] + 1.0 / SMOOTH_BY) / sum);
                }
}

static double step(const Turns *t, const State *s, guint next)
{
        return t->steps->log[s->place][s->last][next];
}

/* --- the best cuts ------------------------------------------------------------------ */

static const State *state_at(const Turns *t, guint32 i)
{
        return &g_array_index(t->states, State, i);
}

/* Follows a state, where it is the best of its like. first: of those after this call. */
static void follow(Turns *t, State s)
{
        guint64 like = (guint64)(guint32)s.message << 16 | (guint64)s.place << 8 | s.last;
        gpointer found = g_hash_table_lookup(t->ahead, GSIZE_TO_POINTER(like + 1));

        if (found) {
                State *other = &g_array_index(t->states, State, GPOINTER_TO_UINT(found) - 1);

                if (s.log > other->log)
                        *other = s;
                return;
        }
        g_array_append_val(t->states, s);
        g_hash_table_insert(t->ahead, GSIZE_TO_POINTER(like + 1), GUINT_TO_POINTER(t->states->len));
}

/* How likely it is that the worker paused before a call, while it had this to do since then. */
static double pause_before(const Turns *t, guint call, gint64 since)
{
        gint64 busy = call > 0 ? t->calls[call - 1].end : since;
        gint64 pause = t->calls[call].start - MAX(since, busy);

        if (pause <= t->pause)
                return 0;
        return PAUSE * (1 + log2((double)pause / (double)MAX(t->pause, 1)));
}

static gboolean may_be_for(const Turns *t, guint call, gint32 message)
{
        const TurnMessage *m = &t->messages[message];

        return m->enter <= t->calls[call].start && t->calls[call].end <= m->most;
}

/* What a call may be to a state: of its part, the first of a later one, or of none. */
static void go_on(Turns *t, guint32 from, guint call)
{
        State s = *state_at(t, from), next = s;
        guint kind = t->kind[call];
        gint32 most = (gint32)MIN(t->n_messages, (guint)(s.message + 2 + EMPTY));
        double end = s.message < 0 ? 0 : step(t, &s, END);
        State none = { .message = 0, .place = 0, .last = NOT_YET };

        next.from = from;
        next.stray = TRUE;
        next.log = s.log + STRAY;
        follow(t, next);
        next.stray = FALSE;
        next.last = (guint8)kind;
        if (s.message >= 0 && may_be_for(t, call, s.message)) {
                next.place = (guint8)MIN(s.place + 1, PLACES - 1);
                next.log = s.log + step(t, &s, kind) +
                           pause_before(t, call, t->messages[s.message].enter);
                follow(t, next);
        }
        next.place = 1;
        for (gint32 m = s.message + 1; m < most && t->messages[m].enter <= t->calls[call].start;
             m++) {
                next.message = m;
                next.log = s.log + end + step(t, &none, kind) +
                           pause_before(t, call, t->messages[m].enter);
                if (may_be_for(t, call, m))
                        follow(t, next);
                end += step(t, &none, END);
        }
}

static int compare_states(const void *a, const void *b)
{
        const State *x = a, *y = b;

        return COMPARE(y->log, x->log);
}

/* The best of the states after a call, from first on. */
static void prune(Turns *t, guint first)
{
        guint n = t->states->len - first;

        if (n <= STATES)
                return;
        qsort(&g_array_index(t->states, State, first), n, sizeof(State), compare_states);
        g_array_set_size(t->states, first + STATES);
}

/* How likely a state is after so many calls: after all of them, nothing is done for the messages
 * that are left. */
static double log_at_end(const Turns *t, guint32 i, guint calls)
{
        State none = { .message = 0, .place = 0, .last = NOT_YET };
        const State *s = state_at(t, i);

        if (calls < t->n_calls)
                return s->log;
        return s->log + (t->n_messages - 1 - s->message) * step(t, &none, END);
}

/* The likeliest way through some calls, from a state; and where it comes to. */
static State cut_stretch(Turns *t, State start, guint from, guint to)
{
        guint first = 0, end;
        guint32 best;

        g_array_set_size(t->states, 0);
        g_array_append_val(t->states, start);
        for (guint call = from; call < to; call++) {
                end = t->states->len;
                g_hash_table_remove_all(t->ahead);
                for (guint32 i = first; i < end; i++)
                        go_on(t, i, call);
                prune(t, end);
                first = end;
        }
        best = first;
        for (guint32 i = first; i < t->states->len; i++)
                if (log_at_end(t, i, to) > log_at_end(t, best, to))
                        best = i;
        start = *state_at(t, best);
        for (guint call = to; call-- > from; best = state_at(t, best)->from)
                t->part[call] = state_at(t, best)->stray ? G_MAXUINT32
                                                         : (guint32)state_at(t, best)->message;
        return start;
}

static void cut(Turns *t)
{
        State state = { .message = -1, .place = 0, .last = NOT_YET };

        for (guint call = 0; call < t->n_calls; call += STRETCH)
                state = cut_stretch(t, state, call, MIN(call + STRETCH, t->n_calls));
}

/* --- learning ----------------------------------------------------------------------- */

static void learn(Turns *t)
{
        guint call = 0;

        memset(t->steps->count, 0, sizeof t->steps->count);
        for (guint32 m = 0; m < t->n_messages; m++) {
                guint place = 0, last = NOT_YET;

                for (; call < t->n_calls && (t->part[call] == G_MAXUINT32 || t->part[call] <= m);
                     call++) {
                        if (t->part[call] != m)
                                continue;
                        t->steps->count[place][last][t->kind[call]]++;
                        place = MIN(place + 1, PLACES - 1);
                        last = t->kind[call];
                }
                t->steps->count[place][last][END]++;
        }
}

static void set_ends(Turns *t)
{
        gint64 before = G_MININT64;
        guint call = 0;

        for (guint32 m = 0; m < t->n_messages; m++) {
                TurnMessage *message = &t->messages[m];

                message->until = MAX(message->enter, MIN(before, message->most));
                for (; call < t->n_calls && (t->part[call] == G_MAXUINT32 || t->part[call] <= m);
                     call++)
                        if (t->part[call] == m)
                                message->until = MAX(message->until, t->calls[call].end);
                before = message->until;
        }
}

static gboolean is_one_at_a_time(const WorkerCall *calls, guint n)
{
        gint64 busy = G_MININT64;
        guint overlaps = 0;

        for (guint i = 0; i < n; i++) {
                overlaps += calls[i].start < busy;
                busy = MAX(busy, calls[i].end);
        }
        return n > 0 && overlaps <= n / OVERLAPS;
}

gboolean work_in_turn_find(TurnMessage *messages, guint n_messages, const WorkerCall *calls,
                           guint n_calls, gint64 pause)
{
        g_autofree guint8 *kind = g_new(guint8, n_calls + 1);
        g_autofree guint32 *part = g_new(guint32, n_calls + 1);
        g_autofree Steps *steps = g_new0(Steps, 1);
        Turns t = { .messages = messages,
                    .calls = calls,
                    .n_messages = n_messages,
                    .n_calls = n_calls,
                    .pause = pause,
                    .kind = kind,
                    .steps = steps,
                    .part = part };

        if (n_messages == 0 || !is_one_at_a_time(calls, n_calls))
                return FALSE;
        t.states = g_array_new(FALSE, FALSE, sizeof(State));
        t.ahead = g_hash_table_new(NULL, NULL);
        number_kinds(&calls->kind, sizeof *calls, n_calls, KINDS, kind);
        begin(&t);
        for (guint round = 0; round < ROUNDS; round++) {
                find_logs(steps);
                cut(&t);
                learn(&t);
        }
        set_ends(&t);
        g_array_free(t.states, TRUE);
        g_hash_table_destroy(t.ahead);
        return TRUE;
}
