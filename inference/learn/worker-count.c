/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/learn/worker-count.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/exact-log.h"
#include "base/fill.h"
#include "inference/model/problem.h"
#include "inference/model/tuning.h"
#include "inference/model/workers.h"

/* Bins of a density: quarters of an octave from 1 us. Times below 1 us share the first bin. */
enum { BINS = 4 * 40, BIN_SHIFT = 50, FIRST_BIN = (1023 + 10) << 2 };

/* The number of the kind that is all calls, and of all counts. */
enum { ALL_KINDS = WORKER_KINDS, COUNTS = 2 * (ALL_KINDS + 1) * (BINS + 1) };

typedef struct {
        gint64 reply;
        guint32 call; /* index into the sample */
} Reply;

typedef struct {
        guint32 key, n;
} KindCount;

/* How long a call was served, or the processor time that it got. */
typedef struct {
        double time; /* ns; 0: it replied before its start */
        double rate; /* the share of a processor that it had when it replied */
} Served;

/* The calls that are looked at: in[first] to in[first + n - 1]. Arrays are by call. */
typedef struct {
        const CallIn *in;      /* all calls into the node */
        const gint64 *replies; /* all of them, in order of time */
        guint32 first, n;
        Reply *reply; /* by time */
        guint8 *kind;
        gint64 *start;
        Served *served;
        double *log;   /* log likelihoods without a queue */
        double *count; /* see counts_of() */
} Sample;

/* --- the sample ------------------------------------------------------------------ */

/* The stretch with the most time at the node. */
static void find_busiest(Sample *s, guint32 n_in)
{
        double most = -G_MAXDOUBLE;

        for (guint32 from = 0; from == 0 || from + WORKER_CALLS <= n_in; from += WORKER_CALLS) {
                guint32 n = MIN(n_in - from, WORKER_CALLS);
                double sum = 0;

                for (guint32 i = from; i < from + n; i++)
                        sum += (double)(s->in[i].reply - s->in[i].enter);
                if (sum > most) {
                        most = sum;
                        s->first = from;
                        s->n = n;
                }
        }
}

COMPARISON(compare_replies, Reply, COMPARE(a->reply, b->reply) ?: COMPARE(a->call, b->call))

/* What calls of one kind have in common. */
static inline guint32 kind_key(const CallIn *in)
{
        return (guint32)in->label << 16 | (guint32)in->size[0] << 8 | in->size[1];
}

COMPARISON(compare_kinds, KindCount, COMPARE(b->n, a->n) ?: COMPARE(a->key, b->key))

/* The most frequent operations and sizes have a kind each; all others share the last. */
static void find_kinds(Sample *s)
{
        g_autofree guint32 *key = g_new(guint32, s->n);
        g_autofree KindCount *kinds = g_new(KindCount, s->n);
        guint n = 0;

        for (guint32 i = 0; i < s->n; i++)
                key[i] = kind_key(&s->in[s->first + i]);
        qsort(key, s->n, sizeof *key, compare_uint32s);
        for (guint32 i = 0; i < s->n; i++) {
                if (n == 0 || kinds[n - 1].key != key[i])
                        kinds[n++] = (KindCount){ key[i], 0 };
                kinds[n - 1].n++;
        }
        qsort(kinds, n, sizeof *kinds, compare_kinds);
        for (guint32 i = 0; i < s->n; i++) {
                s->kind[i] = 0;
                while (s->kind[i] + 1 < WORKER_KINDS && s->kind[i] + 1u < n &&
                       kinds[s->kind[i]].key != kind_key(&s->in[s->first + i]))
                        s->kind[i]++;
        }
}

static void sample_init(Sample *s, const CallIn *in, guint32 n, const gint64 *replies)
{
        *s = (Sample){ .in = in, .replies = replies };
        find_busiest(s, n);
        s->reply = g_new(Reply, s->n);
        for (guint32 i = 0; i < s->n; i++)
                s->reply[i] = (Reply){ in[s->first + i].reply, i };
        qsort(s->reply, s->n, sizeof *s->reply, compare_replies);
        s->kind = g_new(guint8, s->n);
        find_kinds(s);
        s->start = g_new(gint64, s->n);
        s->served = g_new(Served, s->n);
        s->log = g_new0(double, s->n);
        s->count = g_new(double, COUNTS);
}

static void sample_clear(Sample *s)
{
        g_free(s->reply);
        g_free(s->kind);
        g_free(s->start);
        g_free(s->served);
        g_free(s->log);
        g_free(s->count);
}

/* The most calls that are open at a time. */
static guint32 find_most_open(const Sample *s)
{
        guint32 most = 0;

        for (guint32 i = 0, gone = 0; i < s->n; i++) {
                while (gone < i && s->reply[gone].reply <= s->in[s->first + i].enter)
                        gone++;
                most = MAX(most, i + 1 - gone);
        }
        return most;
}

/* --- times and densities ----------------------------------------------------------- */

/* Whether a call replied before a worker took it. With coarse stamps, serving may take no time. */
static gboolean is_early(const Sample *s, guint32 call)
{
        const CallIn *in = &s->in[s->first + call];

        return in->reply < s->start[call] ||
               (in->reply == s->start[call] && s->start[call] > in->enter);
}

typedef struct {
        guint32 n, n_early; /* calls that wait; of these, calls that reply before their start */
} Waits;

/* Finds starts by k workers; 0: no bound. */
static Waits find_starts(Sample *s, guint32 k)
{
        Waits waiting = { 0 };

        for (guint32 i = 0; i < s->n; i++) {
                guint32 at = s->first + i;

                s->start[i] = workers_start(s->in, s->replies, at, k);
                if (s->start[i] > s->in[at].enter) {
                        waiting.n++;
                        waiting.n_early += is_early(s, i);
                }
        }
        return waiting;
}

/* The share of a processor that each of n calls has. c: processors; 0: one for each call. */
static inline double share_of(guint32 n, guint32 c)
{
        return c > 0 && n > c ? (double)c / n : 1;
}

/* How long each call is served from its start, if c processors are shared; 0: nothing is. Starts
 * are in order of calls. */
static void find_served(Sample *s, guint32 c)
{
        double clock = 0; /* processor time of a call that is served all the time */
        gint64 now = s->start[0];
        guint32 next = 0, n_served = 0;

        for (guint32 r = 0; r < s->n; r++) {
                const Reply *reply = &s->reply[r];
                Served *served = &s->served[reply->call];

                if (is_early(s, reply->call)) {
                        *served = (Served){ 0, 1 };
                        continue;
                }
                for (; next < s->n && s->start[next] <= reply->reply; next++) {
                        if (is_early(s, next))
                                continue;
                        clock += share_of(n_served, c) * (double)(s->start[next] - now);
                        now = s->start[next];
                        s->served[next].time = clock;
                        n_served++;
                }
                served->rate = share_of(n_served, c);
                clock += served->rate * (double)(reply->reply - now);
                now = reply->reply;
                served->time = MAX(clock - served->time, 1);
                n_served--;
        }
}

static inline guint bin_of(double time)
{
        guint64 bits;
        gint64 bin;

        memcpy(&bits, &time, 8);
        bin = (gint64)(bits >> BIN_SHIFT) - FIRST_BIN;
        return (guint)CLAMP(bin, 1, BINS - 2);
}

/* ns */
static inline double width_of(guint bin)
{
        return bin == 1 ? 1536 : (double)((guint64)256 << bin / 4);
}

/* The counts of a kind, or of ALL_KINDS, in one half of the calls. The last is of all bins. */
static inline double *counts_of(const Sample *s, guint half, guint kind)
{
        return s->count + (gsize)(half * (ALL_KINDS + 1) + kind) * (BINS + 1);
}

static inline guint half_of(guint32 call)
{
        return call / WORKER_BLOCK % 2;
}

static inline void count_time(double *count, guint bin)
{
        count[bin - 1] += 0.25;
        count[bin] += 0.5;
        count[bin + 1] += 0.25;
        count[BINS]++;
}

static void count_served(Sample *s)
{
        fill(s->count, 0, COUNTS * sizeof *s->count);
        for (guint32 i = 0; i < s->n; i++) {
                guint bin = bin_of(s->served[i].time);

                if (s->served[i].time == 0)
                        continue;
                count_time(counts_of(s, half_of(i), s->kind[i]), bin);
                count_time(counts_of(s, half_of(i), ALL_KINDS), bin);
        }
}

/* The density of a time, 1/ns, by the other half of the calls. Kinds back off to all calls. */
static double density_of(const Sample *s, guint32 call)
{
        const double *count = counts_of(s, 1 - half_of(call), s->kind[call]);
        const double *all = counts_of(s, 1 - half_of(call), ALL_KINDS);
        guint bin = bin_of(s->served[call].time);
        double of_all = (all[bin] + 1.0 / BINS) / (all[BINS] + 1);

        return (count[bin] + of_all) / (count[BINS] + 1) / width_of(bin);
}

/* The log likelihood of the replies by starts and c processors. A call that replied before its
 * start was none of the queue's. base: the likelihoods are those without a queue, to keep. */
static double judge(Sample *s, guint32 c, gboolean base)
{
        double log = 0;

        find_served(s, c);
        count_served(s);
        for (guint32 i = 0; i < s->n; i++) {
                double of_call = s->served[i].time > 0
                                         ? exact_log(density_of(s, i) * s->served[i].rate)
                                         : s->log[i] + exact_log(tuning.out_of_queue);

                if (base)
                        s->log[i] = of_call;
                log += of_call;
        }
        return log;
}

/* --- how many -------------------------------------------------------------------- */

typedef struct {
        guint32 k;  /* workers, or processors; 0: no bound */
        double log; /* log likelihood, nats, less the gain that workers need */
} Guess;

static inline guint32 next_number(guint32 k)
{
        return k + (k < WORKERS_EACH ? 1 : k / 8);
}

/* The likeliest number of processors that all calls share, without a queue. */
static Guess find_processors(Sample *s, guint32 most)
{
        Guess best = { 0 }, none = { 0 };

        find_starts(s, 0);
        none.log = best.log = judge(s, 0, TRUE);
        for (guint32 c = 1; c < most; c = next_number(c)) {
                double log = judge(s, c, FALSE);

                if (log > best.log)
                        best = (Guess){ c, log };
        }
        return best.log - none.log < tuning.least_queue_gain ? none : best;
}

/* Tries k workers. none: the best without a queue. */
static void try_workers(Sample *s, guint32 k, const Guess *none, Guess *best)
{
        double log;

        if (find_starts(s, k).n == 0)
                return;
        log = judge(s, 0, FALSE);
        if (none->k > 0 && none->k < k)
                log = MAX(log, judge(s, none->k, FALSE));
        log -= tuning.least_queue_gain;
        if (log > best->log)
                *best = (Guess){ k, log };
}

static guint32 find_workers(Sample *s)
{
        Waits waiting;
        guint32 most = find_most_open(s);
        Guess none = find_processors(s, most), best = { .log = none.log };

        for (guint32 k = 1; k < most; k = next_number(k))
                try_workers(s, k, &none, &best);
        for (guint32 step = best.k > WORKERS_EACH ? best.k / 16 : 0; step > 0; step /= 2) {
                guint32 k = best.k;

                try_workers(s, k - step, &none, &best);
                try_workers(s, k + step, &none, &best);
        }
        waiting = find_starts(s, best.k);
        if (waiting.n < tuning.least_waits * s->n ||
            waiting.n_early > tuning.most_out_of_queue * waiting.n)
                return 0;
        return best.k;
}

guint32 workers_count(const CallIn *in, guint32 n)
{
        g_autofree gint64 *replies = NULL;
        guint32 k;
        Sample s;

        if (n < 4 * WORKER_BLOCK)
                return 0; /* too few for densities */
        replies = workers_sort_replies(in, n);
        sample_init(&s, in, n, replies);
        k = find_workers(&s);
        sample_clear(&s);
        return k;
}

/* --- whether they fit --------------------------------------------------------------- */

gboolean workers_fit(const NodeProblem *node, const guint32 *parent, const gint64 *start)
{
        g_autofree gboolean *early = g_new0(gboolean, node->n_in);
        guint32 n_waited = 0, n_early = 0, n_replied = 0;

        for (guint32 i = 0; i < node->n_out; i++)
                if (parent[i] != NO_PARENT && node->out[i].start < start[parent[i]])
                        early[parent[i]] = TRUE;
        for (guint32 p = 0; p < node->n_in; p++) {
                gboolean waited = start[p] > node->in[p].enter;

                n_waited += waited;
                n_early += waited && (early[p] || node->in[p].reply < start[p]);
                n_replied += node->in[p].reply < start[p];
        }
        return n_early <= tuning.most_early * n_waited &&
               n_replied <= tuning.out_of_queue * n_waited;
}
