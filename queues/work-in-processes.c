/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which call is for which job, by a trellis over the calls of a worker in order of start.
 *
 * A state says what each process is at, and which jobs wait. A path through the trellis gives each
 * call a job, or none. Here two processes do three jobs in five calls. (: no change.)
 *
 *                  call 1      call 2      call 3      call 4   call 5
 *     process A    job 1, 1st  job 1, 2nd  :           :        job 2, 1st
 *     process B    :           :           job 3, 1st  :        :
 *     waiting                              job 2       job 2
 *
 * At call 3 process B begins job 3 before job 2, so job 2 waits. Call 4 is for no job.
 *
 * Each call extends each state in every possible way. The log likelihood of a path is this sum,
 * with the probabilities of job-model.h:
 *
 *     a call for no job         STRAY
 *     a later call of a job     log P(kind | place, last kind) + log p(pause | last kind, kind)
 *     the first call of a job   log P(kind | first place) + log p(delay since it was begun | kind)
 *                               + log P(how many jobs overtook it), after ANY_ORDER
 *     after another job         log P(END | place, last kind) of that job
 *                               + log p(idle | it took the job) - log p(idle | others took it)
 *     a job without a call      log P(END | first place)
 *     a call for this job       DIFFERS, if it has identifiers of jobs near, but none of this one
 *
 * A job is what a worker takes from its queue; when it was begun is known roughly, from the
 * acknowledgement. Idle is the time from the end of the process's last call to then. If it is
 * negative, OVERLAP stands for the two terms. In the end, END is added for the job of each process.
 * The result is Job.end. Before the search, limit_early() may set Job.earliest later.
 *
 * Paths merge if their states have equal keys; then the best STATES states go on (beam search).
 * Keys ignore which call of a process was the last. Equal states with other keys only take room.
 *
 * The model is learned by hard expectation maximisation: find the best path, count along it, and
 * again, ROUNDS times. It starts without any path: around the times when jobs are begun there are
 * more calls than at other times, and the excess are first calls (suppose_model()).
 */
#include "queues/work-in-processes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/hash.h"
#include "base/time-search.h"
#include "calls/call-identifiers.h"
#include "queues/job-model.h"

enum {
        STATES = 200,        /* states that go on after a call */
        STRETCH = 4096,      /* calls after which only the best state goes on, to bound memory */
        WAITING = 16,        /* most jobs that wait while later ones were begun */
        WAITING_MORE = 4,    /* also, no more of them than processes plus this */
        ROUNDS = 12,         /* of learning */
        USE_ALL_ROUNDS = 10, /* of them, rounds in which hardly a job may have no call, */
        ANY_ORDER = 6,       /* and rounds in which jobs may begin in any order */
        LEARNED = 8192,      /* calls that are learned from; the last round decides on all */
        LEAST_USED = 4,      /* the result is discarded if less than one job in 4 has calls */
        FIRST_WEIGHT = 5,    /* weight of the first delays known before any path */
        NEAR = 64,           /* jobs before a call, and after, that it may be the first call of */
        PAIR_WEIGHT = 20,    /* calls that the prior of a pair of kinds weighs */
};

/* Log likelihoods. */
#define STRAY    -34.0 /* of a call that is for no job: 24 less than FAR loses */
#define OVERLAP  -14.0 /* of a job that its process begins before its last call is over */
#define NO_CALLS -8.0  /* at most, of a job without a call in the first USE_ALL_ROUNDS rounds */
#define DIFFERS                                                                                    \
        -6.0     /* of a call, for a job that has none of the identifiers by which it fits others */
#define FAR 10.0 /* states less likely than the best by this much are dropped */

#define DOUBTED 0.05 /* weight, in learning, of a job that may be two */

#define NOBODY G_MAXUINT32

/* What a process is at. */
typedef struct {
        guint32 job;        /* NOBODY: none yet */
        guint32 call;       /* the last */
        guint8 place, last; /* of the next call; the kind of the last one */
} ProcessState;

static const ProcessState no_job = { NOBODY, NOBODY, 0, NOT_YET };

typedef struct {
        double log;   /* log likelihood of the best path to it */
        guint64 key;  /* states with the same key merge */
        guint32 from; /* the last step of that path: an index of history */
        guint32 next; /* jobs before this one have been begun, wait, or have no calls */
        guint32 n_waiting, waiting[WAITING]; /* ascending */
        ProcessState process[];
} State;

/* A step of a path. */
typedef struct {
        guint32 from; /* the step before */
        guint32 job;  /* of the call; NOBODY: it is for none */
} History;

/* The jobs near a call that have an identifier of the call: bits, from the job first on. */
typedef struct {
        guint32 first;
        guint64 bits[2 * NEAR / 64];
} SharedJobs;

typedef struct {
        Job *jobs;
        const WorkerCall *calls;
        guint n_jobs, n_calls, n_processes;
        guint most_waiting;         /* jobs that may wait */
        gint64 *begun;              /* by job, ns */
        double first_delays[TIMES]; /* first calls by delay, known before any path */
        guint8 *kind;               /* by call */
        guint8 *process;            /* by call; NO_PROCESS: unknown */
        guint8 *job_kind;           /* by job */
        SharedJobs *shared;         /* by call; NULL: no call shares any */
        JobModel *model;
        gsize state_size;          /* bytes */
        guint8 *now, *then;        /* the states before a call, and after it */
        guint n_now, n_then, room; /* room for states after a call */
        double best;               /* the log likelihood of the best state after a call */
        State **by_log;            /* room to sort the states after a call */
        GHashTable *by_key;        /* State.key to the index + 1 of a state after a call */
        GArray *history;
        guint32 *job_of; /* by call, once a path is found; NOBODY: none */
} Trellis;

/* job: NOBODY: of any kind. */
static double follow_log(const Trellis *t, guint32 job, const ProcessState *p, guint next)
{
        const JobModel *m = t->model;
        const Follows *follows =
                m->by_kind && job != NOBODY ? &m->by_kind[t->job_kind[job]] : &m->all;

        return follows->log[p->place][p->last][next];
}

/* --- before there is a path ----------------------------------------------------------- */

static double rate_of_jobs(const Trellis *t)
{
        return t->n_jobs / (double)MAX(t->begun[t->n_jobs - 1] - t->begun[0], 1);
}

/* There are more calls around the times when jobs are begun than at other times. The excess is
 * taken for first calls, from the shortest delays on, until there is one for each job. Returns how
 * many first calls were found. */
static double find_first_delays(Trellis *t)
{
        double around[TIMES] = { 0 }, left = t->n_jobs;

        for (guint i = 0; i < t->n_calls; i++) {
                gint64 start = t->calls[i].start;
                gsize middle = time_search(t->begun, t->n_jobs, start);
                gsize m = middle > NEAR ? middle - NEAR : 0;

                for (; m < MIN(middle + NEAR, t->n_jobs); m++)
                        around[delay_bin(start - t->begun[m])]++;
        }
        for (guint k = 0; k < TIMES && left > 0; k++) {
                guint bin = k % 2 ? DELAYS - 1 - k / 2 : DELAYS + k / 2;
                double chance = delay_bin_width(bin) * rate_of_jobs(t) * t->n_calls;

                t->first_delays[bin] = CLAMP(around[bin] - chance, 0, left);
                left -= t->first_delays[bin];
        }
        return t->n_jobs - left;
}

/* weight: of each first delay. */
static void count_first_delays(Trellis *t, double weight)
{
        for (guint kind = 0; kind < KINDS; kind++)
                for (guint bin = 0; bin < TIMES; bin++)
                        t->model->first[kind].count[bin] += weight * t->first_delays[bin] / KINDS;
}

/* The delays, ns, that a first call may have. */
static void find_window(const Trellis *t, double *from, double *to)
{
        *from = *to = 0;
        for (guint bin = 0; bin < TIMES; bin++) {
                double edge = delay_bin_edge(delay_bin_size(bin) + 1);

                if (t->first_delays[bin] == 0)
                        continue;
                if (bin < DELAYS)
                        *from = MIN(*from, -edge);
                else
                        *to = MAX(*to, edge);
        }
}

/* Two kinds of calls of which the second follows the first in a process. */
typedef struct {
        double n;     /* how often it does */
        double first; /* how often the second begins a job; then the share of n */
} Pair;

/* A second call begins a job where more jobs are begun around it than by chance. before: the call
 * before each in its process. */
static void count_pairs(const Trellis *t, const guint32 *before, Pair *pairs)
{
        double from, to, chance;

        find_window(t, &from, &to);
        chance = rate_of_jobs(t) * (to - from);
        for (guint32 i = 0; i < t->n_calls; i++) {
                gint64 start = t->calls[i].start;
                Pair *p;

                if (before[i] == NOBODY)
                        continue;
                p = &pairs[t->kind[before[i]] * KINDS + t->kind[i]];
                p->n++;
                p->first += (double)(time_search(t->begun, t->n_jobs, start - (gint64)from) -
                                     time_search(t->begun, t->n_jobs, start - (gint64)to)) -
                            chance;
        }
}

/* Fills the model from pairs of calls. found: how many first calls were found. */
static void suppose_follows(Trellis *t, const guint32 *before, double found)
{
        g_autofree Pair *pairs = g_new0(Pair, KINDS * KINDS);
        double usual = MIN((double)t->n_jobs / t->n_calls, 1), n_pairs = 0, first_delays = 0,
               missing;
        JobModel *m = t->model;

        count_pairs(t, before, pairs);
        for (guint i = 0; i < KINDS * KINDS; i++) {
                Pair *p = &pairs[i];

                p->first = (p->first * t->n_jobs / MAX(found, 1) + PAIR_WEIGHT * usual) /
                           (p->n + PAIR_WEIGHT);
                p->first = CLAMP(p->first, 0.001, 0.999);
                n_pairs += p->n;
                first_delays += p->n * p->first;
        }
        /* Processes that are always busy begin jobs in turns, so that few are begun near each
         * other. All pairs share the missing first calls. */
        missing = CLAMP((usual * n_pairs - first_delays) / MAX(n_pairs - first_delays, 1), 0, 1);
        for (guint i = 0; i < KINDS * KINDS; i++) {
                guint last = i / KINDS, next = i % KINDS;
                Pair *p = &pairs[i];

                p->first += missing * (1 - p->first);
                for (guint place = 1; place < PLACES; place++) {
                        m->all.count[place][last][next] += p->n * (1 - p->first);
                        m->all.count[place][last][END] += p->n * p->first;
                }
                m->all.count[0][NOT_YET][next] += p->n * p->first;
        }
        for (guint32 i = 0; i < t->n_calls; i++)
                if (before[i] != NOBODY) {
                        guint last = t->kind[before[i]], next = t->kind[i];
                        gint64 pause = t->calls[i].start - t->calls[before[i]].end;

                        m->pause[last][next].count[time_bin(pause)] +=
                                1 - pairs[last * KINDS + next].first;
                }
}

/* The first model, before there is a path. */
static void suppose_model(Trellis *t)
{
        g_autofree guint32 *before = g_new(guint32, t->n_calls);
        guint32 last[MOST_PROCESSES];
        double found = find_first_delays(t);

        count_first_delays(t, 1);
        for (guint i = 0; i < t->n_processes; i++)
                last[i] = NOBODY;
        for (guint32 i = 0; i < t->n_calls; i++) {
                guint process = t->process[i];

                before[i] = process == NO_PROCESS ? NOBODY : last[process];
                if (process != NO_PROCESS)
                        last[process] = i;
        }
        suppose_follows(t, before, found);
}

/* --- the trellis ----------------------------------------------------------------------- */

static State *state_now(const Trellis *t, guint i)
{
        return (State *)(t->now + i * t->state_size);
}

static State *state_then(const Trellis *t, guint i)
{
        return (State *)(t->then + i * t->state_size);
}

/* States are equal whichever job of a kind the process is at: what may follow is the same. With
 * identifiers it is not. */
static guint64 process_hash(const Trellis *t, guint process, const ProcessState *p)
{
        guint64 job_kind = p->job == NOBODY ? JOB_KINDS
                           : t->shared      ? JOB_KINDS + 1 + (guint64)p->job
                                            : t->job_kind[p->job];

        return hash_word(hash_word(hash_word(HASH_SEED, process), job_kind),
                         (guint64)p->place << 8 | p->last);
}

static guint64 waiting_hash(guint32 job)
{
        return hash_word(HASH_SEED, ~(guint64)job);
}

/* The place for a state after a call: the one with this key, or a new one. NULL if that has a
 * better path already, if this path is too unlikely, or if there is no room. */
static State *find_state(Trellis *t, guint64 key, double log)
{
        gpointer found;
        State *to;

        if (log < t->best - FAR)
                return NULL;
        t->best = MAX(t->best, log);
        found = g_hash_table_lookup(t->by_key, &key);
        if (found) {
                to = state_then(t, GPOINTER_TO_UINT(found) - 1);
                return log > to->log ? to : NULL;
        }
        if (t->n_then == t->room)
                return NULL;
        to = state_then(t, t->n_then++);
        to->key = key;
        g_hash_table_insert(t->by_key, &to->key, GUINT_TO_POINTER(t->n_then));
        return to;
}

static void note_history(Trellis *t, State *to, guint32 from, guint32 job)
{
        History h = { from, job };

        to->from = t->history->len;
        g_array_append_val(t->history, h);
}

/* A job is begun. Jobs before it that have not been begun wait. */
static void state_begin_job(State *s, guint32 job)
{
        guint k = 0;

        if (job >= s->next) {
                while (s->next < job)
                        s->waiting[s->n_waiting++] = s->next++;
                s->next++;
                return;
        }
        for (guint i = 0; i < s->n_waiting; i++)
                if (s->waiting[i] != job)
                        s->waiting[k++] = s->waiting[i];
        s->n_waiting = k;
}

/* The key of a state once it has begun a job. */
static guint64 key_with_job(const State *s, guint32 job)
{
        guint64 key = s->key;

        if (job < s->next)
                return key ^ waiting_hash(job);
        for (guint32 m = s->next; m < job; m++)
                key ^= waiting_hash(m);
        return key + (job + 1 - s->next) * HASH_SEED;
}

/* What identifiers say of this call for this job. */
static double shared_log(const Trellis *t, guint32 call, guint32 job)
{
        const SharedJobs *s = t->shared ? &t->shared[call] : NULL;
        guint32 at;

        if (!s || !(s->bits[0] | s->bits[1]))
                return 0;
        at = job - s->first;
        return at < 2 * NEAR && (s->bits[at / 64] >> at % 64 & 1) ? 0 : DIFFERS;
}

/* After a call, the process is at p. begins: the call is the first of its job. */
static void add_state(Trellis *t, const State *s, guint process, ProcessState p, gboolean begins,
                      double log)
{
        guint64 key = begins ? key_with_job(s, p.job) : s->key;
        guint32 from = s->from;
        State *to;

        log += shared_log(t, p.call, p.job);
        key ^= process_hash(t, process, &s->process[process]) ^ process_hash(t, process, &p);
        to = find_state(t, key, log);
        if (!to)
                return;
        memcpy(to, s, t->state_size);
        to->log = log;
        to->key = key;
        to->process[process] = p;
        if (begins)
                state_begin_job(to, p.job);
        note_history(t, to, from, p.job);
}

static void add_stray(Trellis *t, const State *s)
{
        State *to = find_state(t, s->key, s->log + STRAY);

        if (!to)
                return;
        memcpy(to, s, t->state_size);
        to->log = s->log + STRAY;
        note_history(t, to, s->from, NOBODY);
}

/* Log likelihood ratio that this process takes a job, given how long it has been idle. */
static double idle_log(const Trellis *t, const ProcessState *p, guint32 job)
{
        gint64 idle = t->jobs[job].begun - t->calls[p->call].end;

        if (idle < 0)
                return OVERLAP;
        return times_log(&t->model->idle, idle) - times_log(&t->model->others, idle);
}

/* How many jobs overtook a job that begins: jobs after it have begun, up to next - 1. */
static guint count_overtaking(guint32 next, guint32 job)
{
        return job < next ? MIN(next - 1 - job, OVERTAKEN - 1) : 0;
}

/* The call is the first of a job, so its process has ended the job before. */
static void begin_job(Trellis *t, const State *s, guint32 call, guint process, guint32 job)
{
        const ProcessState *p = &s->process[process];
        gint64 delay = t->calls[call].start - t->jobs[job].begun;
        guint8 kind = t->kind[call];
        ProcessState next = { job, call, 1, kind };
        double log = s->log + follow_log(t, job, &no_job, kind) +
                     t->model->first[kind].log[delay_bin(delay)] +
                     t->model->overtaken_log[count_overtaking(s->next, job)];

        if (p->job != NOBODY)
                log += follow_log(t, p->job, p, END) + idle_log(t, p, job);
        add_state(t, s, process, next, TRUE, log);
}

static void extend_process(Trellis *t, const State *s, guint32 call, guint process)
{
        const ProcessState *p = &s->process[process];
        guint8 kind = t->kind[call];

        if (p->job != NOBODY) {
                gint64 pause = t->calls[call].start - t->calls[p->call].end;
                ProcessState next = { p->job, call, (guint8)MIN(p->place + 1, PLACES - 1), kind };

                add_state(t, s, process, next, FALSE,
                          s->log + follow_log(t, p->job, p, kind) +
                                  times_log(&t->model->pause[p->last][kind], pause));
        }
        for (guint i = 0; i < s->n_waiting; i++)
                begin_job(t, s, call, process, s->waiting[i]);
        for (guint32 m = s->next; m < t->n_jobs && t->jobs[m].earliest <= t->calls[call].start &&
                                  s->n_waiting + (m - s->next) < t->most_waiting;
             m++)
                begin_job(t, s, call, process, m);
}

static gboolean is_idle(const Trellis *t, const ProcessState *p, guint32 call)
{
        return p->job == NOBODY || t->calls[p->call].end <= t->calls[call].start;
}

static void extend_state(Trellis *t, const State *s, guint32 call)
{
        guint of = t->process[call];

        add_stray(t, s);
        if (of != NO_PROCESS)
                extend_process(t, s, call, of);
        for (guint process = 0; of == NO_PROCESS && process < t->n_processes; process++)
                if (is_idle(t, &s->process[process], call))
                        extend_process(t, s, call, process);
}

COMPARISON_OF_POINTERS(compare_states, State, COMPARE(b->log, a->log))

/* The oldest n jobs that might have been begun have no calls: too many wait. */
static void state_give_up(Trellis *t, State *s, guint32 n)
{
        guint n_old = MIN(n, s->n_waiting);

        s->log += n * follow_log(t, NOBODY, &no_job, END);
        for (guint i = 0; i < n_old; i++)
                s->key ^= waiting_hash(s->waiting[i]);
        s->n_waiting -= n_old;
        memmove(s->waiting, s->waiting + n_old, s->n_waiting * sizeof *s->waiting);
        s->next += n - n_old;
        s->key += (n - n_old) * HASH_SEED;
}

/* entered: how many jobs may have been begun. */
static void state_give_up_waiting(Trellis *t, State *s, guint32 entered)
{
        guint waiting = s->n_waiting + (entered > s->next ? entered - s->next : 0);

        if (waiting > t->most_waiting)
                state_give_up(t, s, waiting - t->most_waiting);
}

/* The best states after a call are those before the next. */
static void keep_best_states(Trellis *t)
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
        g_hash_table_remove_all(t->by_key);
}

/* The log likelihood of a state if no call follows it. */
static double log_at_end(const Trellis *t, const State *s)
{
        guint32 unused = t->n_jobs - s->next + s->n_waiting;
        double log = s->log + unused * follow_log(t, NOBODY, &no_job, END);

        for (guint i = 0; i < t->n_processes; i++)
                if (s->process[i].job != NOBODY)
                        log += follow_log(t, s->process[i].job, &s->process[i], END);
        return log;
}

/* Finds the best state, and fills job_of along its path, back to call from. */
static State *trace_back(Trellis *t, guint from, guint to, gboolean is_end)
{
        State *best = state_now(t, 0);
        guint32 h;

        for (guint i = 1; is_end && i < t->n_now; i++)
                if (log_at_end(t, state_now(t, i)) > log_at_end(t, best))
                        best = state_now(t, i);
        h = best->from;
        for (guint call = to; call-- > from;) {
                t->job_of[call] = g_array_index(t->history, History, h).job;
                h = g_array_index(t->history, History, h).from;
        }
        return best;
}

/* Finds the best path through the first n calls: job_of. */
static void find_best_path(Trellis *t, guint n_calls)
{
        State *s = state_now(t, 0);
        guint32 entered = 0;

        memset(s, 0, t->state_size);
        t->best = -G_MAXDOUBLE;
        for (guint i = 0; i < t->n_processes; i++)
                s->process[i] = no_job;
        for (guint from = 0; from < n_calls; from += STRETCH) {
                guint to = MIN(from + STRETCH, n_calls);

                g_array_set_size(t->history, 1);
                s->from = 0;
                t->n_now = 1;
                for (guint call = from; call < to; call++) {
                        while (entered < t->n_jobs &&
                               t->jobs[entered].earliest <= t->calls[call].start)
                                entered++;
                        for (guint i = 0; i < t->n_now; i++) {
                                state_give_up_waiting(t, state_now(t, i), entered);
                                extend_state(t, state_now(t, i), call);
                        }
                        keep_best_states(t);
                }
                memmove(s, trace_back(t, from, to, to == n_calls), t->state_size);
        }
}

/* --- learning ------------------------------------------------------------------------ */

/* How far the calls of a job have been counted. */
typedef struct {
        guint32 call;       /* the last; NOBODY: none yet */
        guint8 place, last; /* as in ProcessState */
} JobProgress;

/* By job: whether one of the first n calls is for it. */
static gboolean *find_used(const Trellis *t, guint n_calls)
{
        gboolean *used = g_new0(gboolean, t->n_jobs);

        for (guint i = 0; i < n_calls; i++)
                if (t->job_of[i] != NOBODY)
                        used[t->job_of[i]] = TRUE;
        return used;
}

/* When the jobs without a call were begun, in order. Jobs after the last call are left out. */
static GArray *find_unused(const Trellis *t, guint n_calls)
{
        g_autofree gboolean *used = find_used(t, n_calls);
        GArray *unused = g_array_new(FALSE, FALSE, sizeof(gint64));

        for (guint m = 0; m < t->n_jobs && t->jobs[m].earliest <= t->calls[n_calls - 1].start; m++)
                if (!used[m])
                        g_array_append_val(unused, t->jobs[m].begun);
        return unused;
}

/* The weight of each job in learning. If a job without a call was begun during this one, its calls
 * may be those of two jobs. */
static double *weigh_jobs(const Trellis *t, guint n_calls)
{
        double *weight = g_new(double, t->n_jobs);
        g_autoptr(GArray) unused = find_unused(t, n_calls);
        const gint64 *times = (const gint64 *)unused->data;
        g_autofree gint64 *last = g_new(gint64, t->n_jobs);

        for (guint m = 0; m < t->n_jobs; m++)
                last[m] = t->jobs[m].begun;
        for (guint i = 0; i < n_calls; i++)
                if (t->job_of[i] != NOBODY)
                        last[t->job_of[i]] = MAX(last[t->job_of[i]], t->calls[i].end);
        for (guint m = 0; m < t->n_jobs; m++) {
                gsize next = time_search(times, unused->len, t->jobs[m].begun + 1);

                weight[m] = next < unused->len && times[next] <= last[m] ? DOUBTED : 1;
        }
        return weight;
}

/* Counts how long each process has been idle when one of them begins a job. */
static void count_idle(Trellis *t, const gint64 *busy, guint32 call, double weight)
{
        gint64 begun = t->jobs[t->job_of[call]].begun;

        for (guint l = 0; l < t->n_processes; l++) {
                Times *times = l == t->process[call] ? &t->model->idle : &t->model->others;

                if (begun >= busy[l])
                        times->count[time_bin(begun - busy[l])] += weight;
        }
}

static void count_step(Trellis *t, guint32 job, const JobProgress *p, guint next, double weight)
{
        JobModel *m = t->model;

        m->all.count[p->place][p->last][next] += weight;
        if (m->by_kind)
                m->by_kind[t->job_kind[job]].count[p->place][p->last][next] += weight;
}

static void count_call(Trellis *t, guint32 call, JobProgress *p, double weight)
{
        JobModel *m = t->model;
        guint8 kind = t->kind[call];
        gint64 start = t->calls[call].start;

        if (p->call == NOBODY)
                m->first[kind].count[delay_bin(start - t->jobs[t->job_of[call]].begun)] += weight;
        else
                m->pause[p->last][kind].count[time_bin(start - t->calls[p->call].end)] += weight;
        count_step(t, t->job_of[call], p, kind, weight);
        *p = (JobProgress){ call, (guint8)MIN(p->place + 1, PLACES - 1), kind };
}

static void learn_model(Trellis *t, guint n_calls)
{
        g_autofree JobProgress *at = g_new(JobProgress, t->n_jobs);
        g_autofree double *weight = weigh_jobs(t, n_calls);
        gint64 end = t->calls[n_calls - 1].start, busy[MOST_PROCESSES];
        guint32 next = 0; /* in order of jobs */

        job_model_clear_counts(t->model);
        count_first_delays(t, FIRST_WEIGHT);
        for (guint i = 0; i < t->n_processes; i++)
                busy[i] = G_MAXINT64;
        for (guint32 m = 0; m < t->n_jobs; m++)
                at[m] = (JobProgress){ NOBODY, 0, NOT_YET };
        for (guint32 i = 0; i < n_calls; i++) {
                guint32 m = t->job_of[i];

                if (m == NOBODY)
                        continue;
                if (at[m].call == NOBODY) {
                        t->model->overtaken[count_overtaking(next, m)] += weight[m];
                        next = MAX(next, m + 1);
                }
                if (at[m].call == NOBODY && t->process[i] != NO_PROCESS)
                        count_idle(t, busy, i, weight[m]);
                count_call(t, i, &at[m], weight[m]);
                if (t->process[i] != NO_PROCESS)
                        busy[t->process[i]] = t->calls[i].end;
        }
        for (guint32 m = 0; m < t->n_jobs && t->jobs[m].earliest <= end; m++)
                count_step(t, m, &at[m], END, weight[m]);
}

/* --- the ends of jobs ------------------------------------------------------------------ */

/* ns */
typedef struct {
        gint64 first; /* start of its first call; G_MAXINT64: it has none */
        gint64 last;  /* end of its last call */
        gint64 idle;  /* its process was idle since then, before the first call */
} JobSpan;

static JobSpan *list_job_spans(const Trellis *t)
{
        JobSpan *spans = g_new(JobSpan, t->n_jobs);
        gint64 busy[MOST_PROCESSES];

        for (guint i = 0; i < t->n_processes; i++)
                busy[i] = G_MININT64;
        for (guint m = 0; m < t->n_jobs; m++)
                spans[m] = (JobSpan){ G_MAXINT64, t->jobs[m].earliest, G_MININT64 };
        for (guint i = 0; i < t->n_calls; i++) {
                JobSpan *p = t->job_of[i] == NOBODY ? NULL : &spans[t->job_of[i]];
                gint64 *process = t->process[i] == NO_PROCESS ? NULL : &busy[t->process[i]];

                if (!p)
                        continue;
                if (p->first == G_MAXINT64) {
                        p->first = t->calls[i].start;
                        p->idle = process ? *process : G_MININT64;
                }
                p->last = MAX(p->last, t->calls[i].end);
                if (process)
                        *process = t->calls[i].end;
        }
        return spans;
}

/* A job ends with its last call. If two jobs could have been exchanged, both end with the later. */
static void set_job_ends(Trellis *t)
{
        g_autofree JobSpan *spans = list_job_spans(t);

        for (guint m = 0; m < t->n_jobs; m++) {
                Job *x = &t->jobs[m];

                x->end = spans[m].last;
                for (guint o = m;
                     spans[m].first != G_MAXINT64 && o-- > 0 && m - o < 2 * t->n_processes;) {
                        Job *y = &t->jobs[o];

                        if (spans[o].first == G_MAXINT64 || x->earliest > spans[o].first ||
                            y->begun < spans[m].idle)
                                continue;
                        x->end = MAX(x->end, spans[o].last);
                        y->end = MAX(y->end, spans[m].last);
                }
        }
}

/* A job may have been begun earlier than noted, by the time in which half as many jobs are begun as
 * there are processes. It has no call before then, nor before the earliest time of the job before
 * it. */
static void limit_early(Trellis *t)
{
        gint64 span = t->begun[t->n_jobs - 1] - t->begun[0];
        gint64 early = span / t->n_jobs * t->n_processes / 2, before = G_MININT64;

        for (guint m = 0; m < t->n_jobs; m++) {
                Job *x = &t->jobs[m];

                before = x->earliest = MAX(MAX(x->earliest, x->begun - early), before);
        }
}

/* Which jobs have identifiers of which calls. */
static void find_shared(Trellis *t)
{
        SharedJobs *shared = g_new0(SharedJobs, t->n_calls);
        gboolean any = FALSE;

        for (guint i = 0; i < t->n_calls; i++) {
                const guint32 *list = t->calls[i].identifiers;
                gsize middle = time_search(t->begun, t->n_jobs, t->calls[i].start);
                SharedJobs *s = &shared[i];

                s->first = middle > NEAR ? (guint32)middle - NEAR : 0;
                for (guint k = 0; list && k < 2 * NEAR && s->first + k < t->n_jobs; k++) {
                        const guint32 *other = t->jobs[s->first + k].identifiers;

                        if (other && call_identifiers_shared(list, other))
                                s->bits[k / 64] |= (guint64)1 << k % 64;
                }
                any |= (s->bits[0] | s->bits[1]) != 0;
        }
        if (any)
                t->shared = shared;
        else
                g_free(shared);
}

/* Learns the model, and finds the best path by it. */
static void find_jobs(Trellis *t)
{
        suppose_model(t);
        for (guint round = 1; round <= ROUNDS; round++) {
                guint n = round < ROUNDS ? MIN(t->n_calls, LEARNED) : t->n_calls;
                double *no_calls = &t->model->all.log[0][NOT_YET][END];

                job_model_find_logs(t->model);
                if (round <= USE_ALL_ROUNDS)
                        *no_calls = MIN(*no_calls, NO_CALLS);
                if (round <= ANY_ORDER)
                        memset(t->model->overtaken_log, 0, sizeof t->model->overtaken_log);
                find_best_path(t, n);
                if (round < ROUNDS)
                        learn_model(t, n);
        }
}

static guint count_used(const Trellis *t)
{
        g_autofree gboolean *used = find_used(t, t->n_calls);
        guint n = 0;

        for (guint m = 0; m < t->n_jobs; m++)
                n += used[m] != FALSE;
        return n;
}

/* The room for states, by the number of processes. */
static void trellis_open(Trellis *t)
{
        gsize size = sizeof(State) + t->n_processes * sizeof(ProcessState);

        t->most_waiting = MIN(WAITING, t->n_processes + WAITING_MORE);
        t->state_size = (size + sizeof(double) - 1) / sizeof(double) * sizeof(double);
        t->room = STATES * (1 + (1 + WAITING) * t->n_processes);
        t->now = g_malloc(STATES * t->state_size);
        t->then = g_malloc(t->room * t->state_size);
        t->by_log = g_new(State *, t->room);
        t->by_key = g_hash_table_new(hash_int64, g_int64_equal);
        t->history = g_array_new(FALSE, TRUE, sizeof(History));
}

static void trellis_close(Trellis *t)
{
        g_free(t->now);
        g_free(t->then);
        g_free(t->by_log);
        g_hash_table_destroy(t->by_key);
        g_array_free(t->history, TRUE);
        g_free(t->shared);
}

gboolean work_in_processes_find(Job *jobs, guint n_jobs, const WorkerCall *calls, guint n_calls)
{
        g_autofree guint8 *kind = g_new(guint8, n_calls + 1), *process = g_new(guint8, n_calls + 1);
        g_autofree guint8 *job_kind = g_new(guint8, n_jobs + 1);
        g_autofree guint32 *job_of = g_new(guint32, n_calls + 1);
        g_autofree gint64 *begun = g_new(gint64, n_jobs + 1);
        g_autoptr(JobModel) model = NULL;
        Trellis t = { .jobs = jobs,
                      .calls = calls,
                      .n_jobs = n_jobs,
                      .n_calls = n_calls,
                      .begun = begun,
                      .kind = kind,
                      .process = process,
                      .job_kind = job_kind,
                      .job_of = job_of };

        if (n_jobs == 0 || n_calls == 0)
                return FALSE;
        t.n_processes = worker_processes_find(calls, n_calls, process);
        if (t.n_processes < 2)
                return FALSE;
        for (guint i = 0; i < n_jobs; i++)
                begun[i] = jobs[i].begun;
        number_kinds(&calls->kind, sizeof *calls, n_calls, KINDS, kind);
        t.model = model =
                job_model_new(number_kinds(&jobs->kind, sizeof *jobs, n_jobs, JOB_KINDS, job_kind));
        limit_early(&t);
        find_shared(&t);
        trellis_open(&t);
        find_jobs(&t);
        trellis_close(&t);
        if (count_used(&t) * LEAST_USED < n_jobs)
                return FALSE;
        set_job_ends(&t);
        return TRUE;
}
