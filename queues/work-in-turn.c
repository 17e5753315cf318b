/* SPDX-License-Identifier: BSD-2-Clause */
#include "queues/work-in-turn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

enum {
        KINDS = 32,      /* kinds of calls; all later ones count as the last */
        PLACES = 16,     /* places in a job; all later ones count as the last */
        STATES = 64,     /* states that go on after a call */
        STRETCH = 4096,  /* calls after which only the best state goes on */
        EMPTY = 8,       /* most jobs in succession that have no calls */
        ROUNDS = 6,      /* of learning */
        OVERLAPS = 100,  /* of this many calls one may overlap another, by accident */
        NOT_YET = KINDS, /* the kind before the first call of a job */
        END = KINDS,     /* the kind after its last call */
};
#define STRAY      -14.0 /* log likelihood of a call that is for no job */
#define PAUSE      -4.6  /* and of a pause as long as the longest usual one, while there is a job */
#define MOST_PAUSE -11.5 /* at least that, however long */

/* How likely each kind of call follows, or the end, by place in a job and by the kind of the call
 * before. */
typedef struct {
        double count[PLACES][KINDS + 1][KINDS + 1];
        double log[PLACES][KINDS + 1][KINDS + 1];
} Steps;

typedef struct {
        gint32 job;         /* that the worker is at; -1: none yet */
        guint8 place, last; /* of its next call; the kind of the last one */
        gboolean stray;     /* the call before was for no job */
        double log;         /* log likelihood of the best path to it */
        guint32 from;       /* the state before on that path: an index of states */
} State;

typedef struct {
        TurnJob *jobs;
        const WorkerCall *calls;
        guint n_jobs, n_calls;
        gint64 pause; /* the longest usual one, ns */
        guint8 *kind; /* by call */
        Steps *steps;
        GArray *states;    /* of State: all of the stretch */
        GHashTable *ahead; /* job, place and last + 1 to the index + 1 of a state after this call */
        guint32 *job_of;   /* by call; G_MAXUINT32: none */
} Turns;

/* --- before there is a cut ----------------------------------------------------- */

/* A job has about as many calls as there are calls for each job. */
static void suppose_usual(Turns *t)
{
        guint usual = (t->n_calls + t->n_jobs / 2) / t->n_jobs;

        for (guint place = 0; place < PLACES; place++)
                for (guint last = 0; last <= KINDS; last++)
                        for (guint next = 0; next <= KINDS; next++)
                                t->steps->count[place][last][next] = next < END       ? 0.1 / KINDS
                                                                     : place >= usual ? 0.8
                                                                                      : 0.01;
}

/* Counts n calls from the first on as one job. */
static void add_job(Turns *t, guint first, guint n, double weight)
{
        guint last = NOT_YET;

        for (guint i = 0; i <= n; i++) {
                guint next = i < n ? t->kind[first + i] : END;

                t->steps->count[MIN(i, PLACES - 1)][last][next] += weight;
                last = next;
        }
}

/* Counts n calls between two pauses, of n_jobs jobs. The first call begins a job, and the last ends
 * one. If n is a multiple of n_jobs, all may have the same number of calls. */
static void add_busy(Turns *t, guint first, guint n, guint n_jobs)
{
        if (n == 0 || n_jobs == 0)
                return;
        t->steps->count[0][NOT_YET][t->kind[first]]++;
        for (guint place = 1; place < PLACES; place++)
                t->steps->count[place][t->kind[first + n - 1]][END]++;
        for (guint i = 0; n % n_jobs == 0 && i < n_jobs; i++)
                add_job(t, first + i * (n / n_jobs), n / n_jobs, 10.0 / n_jobs / n_jobs);
}

/* The first model. A pause longer than any at work separates jobs. */
static void suppose_steps(Turns *t)
{
        gint64 busy = G_MININT64;
        guint first = 0, call = 0, job = 0;

        suppose_usual(t);
        for (guint m = 0; m < t->n_jobs; m++) {
                for (; call < t->n_calls && t->calls[call].start < t->jobs[m].earliest; call++)
                        busy = MAX(busy, t->calls[call].end);
                if (m > 0)
                        busy = MAX(busy, t->jobs[m - 1].earliest);
                if (busy == G_MININT64 || t->jobs[m].earliest - busy <= t->pause)
                        continue;
                add_busy(t, first, call - first, m - job);
                first = call;
                job = m;
        }
        add_busy(t, first, t->n_calls - first, t->n_jobs - job);
}

static void steps_find_logs(Steps *s)
{
        enum { SMOOTH_BY = 20 }; /* a kind that never followed counts as 1/20 */

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

static double step_log(const Turns *t, const State *s, guint next)
{
        return t->steps->log[s->place][s->last][next];
}

/* --- the best cuts ------------------------------------------------------------------ */

static const State *state_at(const Turns *t, guint32 i)
{
        return &g_array_index(t->states, State, i);
}

/* Adds a state after this call, or replaces a less likely one that is equal to it. */
static void add_state(Turns *t, State s)
{
        guint64 like = (guint64)(guint32)s.job << 16 | (guint64)s.place << 8 | s.last;
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

/* Log likelihood of the pause before a call, if the worker had its job since then. */
static double pause_before(const Turns *t, guint call, gint64 since)
{
        gint64 busy = call > 0 ? t->calls[call - 1].end : since;
        gint64 pause = t->calls[call].start - MAX(since, busy);

        if (pause <= t->pause)
                return 0;
        return PAUSE * (1 + log2((double)pause / (double)MAX(t->pause, 1)));
}

static gboolean may_be_for(const Turns *t, guint call, gint32 job)
{
        const TurnJob *m = &t->jobs[job];

        return m->earliest <= t->calls[call].start && t->calls[call].end <= m->latest;
}

/* A call may be for no job, for the job of the state, or the first of a later job. */
static void extend_state(Turns *t, guint32 from, guint call)
{
        State s = *state_at(t, from), next = s;
        guint kind = t->kind[call];
        gint32 most = (gint32)MIN(t->n_jobs, (guint)(s.job + 2 + EMPTY));
        double end = s.job < 0 ? 0 : step_log(t, &s, END);
        State none = { .job = 0, .place = 0, .last = NOT_YET };

        next.from = from;
        next.stray = TRUE;
        next.log = s.log + STRAY;
        add_state(t, next);
        next.stray = FALSE;
        next.last = (guint8)kind;
        if (s.job >= 0 && may_be_for(t, call, s.job)) {
                next.place = (guint8)MIN(s.place + 1, PLACES - 1);
                next.log = s.log + step_log(t, &s, kind) +
                           pause_before(t, call, t->jobs[s.job].earliest);
                add_state(t, next);
        }
        next.place = 1;
        for (gint32 m = s.job + 1; m < most && t->jobs[m].earliest <= t->calls[call].start; m++) {
                next.job = m;
                next.log = s.log + end + step_log(t, &none, kind) +
                           pause_before(t, call, t->jobs[m].earliest);
                if (may_be_for(t, call, m))
                        add_state(t, next);
                end += step_log(t, &none, END);
        }
}

COMPARISON(compare_states, State, COMPARE(b->log, a->log))

/* Drops all but the best states after a call: those from first on. */
static void keep_best_states(Turns *t, guint first)
{
        guint n = t->states->len - first;

        if (n <= STATES)
                return;
        qsort(&g_array_index(t->states, State, first), n, sizeof(State), compare_states);
        g_array_set_size(t->states, first + STATES);
}

/* Log likelihood of a state after the first n calls. After the last, the jobs left have none. */
static double log_at_end(const Turns *t, guint32 i, guint n)
{
        State none = { .job = 0, .place = 0, .last = NOT_YET };
        const State *s = state_at(t, i);

        if (n < t->n_calls)
                return s->log;
        return s->log + (t->n_jobs - 1 - s->job) * step_log(t, &none, END);
}

/* Finds the best path from a state through some calls: job_of. Returns the last state. */
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
                        extend_state(t, i, call);
                keep_best_states(t, end);
                first = end;
        }
        best = first;
        for (guint32 i = first; i < t->states->len; i++)
                if (log_at_end(t, i, to) > log_at_end(t, best, to))
                        best = i;
        start = *state_at(t, best);
        for (guint call = to; call-- > from; best = state_at(t, best)->from)
                t->job_of[call] =
                        state_at(t, best)->stray ? G_MAXUINT32 : (guint32)state_at(t, best)->job;
        return start;
}

static void find_best_cut(Turns *t)
{
        State state = { .job = -1, .place = 0, .last = NOT_YET };

        for (guint call = 0; call < t->n_calls; call += STRETCH)
                state = cut_stretch(t, state, call, MIN(call + STRETCH, t->n_calls));
}

/* --- learning ----------------------------------------------------------------------- */

/* Counts what follows what in the jobs that were found. */
static void learn_steps(Turns *t)
{
        guint call = 0;

        memset(t->steps->count, 0, sizeof t->steps->count);
        for (guint32 m = 0; m < t->n_jobs; m++) {
                guint place = 0, last = NOT_YET;

                for (;
                     call < t->n_calls && (t->job_of[call] == G_MAXUINT32 || t->job_of[call] <= m);
                     call++) {
                        if (t->job_of[call] != m)
                                continue;
                        t->steps->count[place][last][t->kind[call]]++;
                        place = MIN(place + 1, PLACES - 1);
                        last = t->kind[call];
                }
                t->steps->count[place][last][END]++;
        }
}

static void set_job_ends(Turns *t)
{
        gint64 before = G_MININT64;
        guint call = 0;

        for (guint32 m = 0; m < t->n_jobs; m++) {
                TurnJob *job = &t->jobs[m];

                job->end = MAX(job->earliest, MIN(before, job->latest));
                for (;
                     call < t->n_calls && (t->job_of[call] == G_MAXUINT32 || t->job_of[call] <= m);
                     call++)
                        if (t->job_of[call] == m)
                                job->end = MAX(job->end, t->calls[call].end);
                before = job->end;
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

gboolean work_in_turn_find(TurnJob *jobs, guint n_jobs, const WorkerCall *calls, guint n_calls,
                           gint64 pause)
{
        g_autofree guint8 *kind = g_new(guint8, n_calls + 1);
        g_autofree guint32 *job_of = g_new(guint32, n_calls + 1);
        g_autofree Steps *steps = g_new0(Steps, 1);
        Turns t = { .jobs = jobs,
                    .calls = calls,
                    .n_jobs = n_jobs,
                    .n_calls = n_calls,
                    .pause = pause,
                    .kind = kind,
                    .steps = steps,
                    .job_of = job_of };

        if (n_jobs == 0 || !is_one_at_a_time(calls, n_calls))
                return FALSE;
        t.states = g_array_new(FALSE, FALSE, sizeof(State));
        t.ahead = g_hash_table_new(NULL, NULL);
        number_kinds(&calls->kind, sizeof *calls, n_calls, KINDS, kind);
        suppose_steps(&t);
        for (guint round = 0; round < ROUNDS; round++) {
                steps_find_logs(steps);
                find_best_cut(&t);
                learn_steps(&t);
        }
        set_job_ends(&t);
        g_array_free(t.states, TRUE);
        g_hash_table_destroy(t.ahead);
        return TRUE;
}
