/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What correlation costs, by how many messages there are in a quantum and how often a
 * signal is used. For each a line, tab separated, CPU time in ns:
 *
 *     messages slots lags uses pairs_of_slots pairs fft auto
 *
 * The times are the least of several runs; "auto" has what it takes to choose in it.
 *
 * bench-correlation whole: one number, the time of auto as a share of the time of transforms of the
 * whole signals. The trace has 200,000 messages in 500 s, the quantum is 1 ms, lags are 500 ms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "convolution/correlation.h"

static guint64 state = 88172645463325252u;

static guint64 random_below(guint64 n)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (state >> 11) % n;
}

static double cpu_time(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare_times(const void *va, const void *vb)
{
        gint64 a = *(const gint64 *)va, b = *(const gint64 *)vb;

        return (a > b) - (a < b);
}

static EdgeSignal *random_signal(guint n, gint64 n_slots, guint uses)
{
        const Quanta quanta = { .origin = 0, .quantum = 1 };
        g_autofree gint64 *times = g_new(gint64, n);
        EdgeSignal *signal;

        for (guint i = 0; i < n; i++)
                times[i] = (gint64)random_below((guint64)n_slots);
        qsort(times, n, sizeof *times, compare_times);
        signal = edge_signal_new(times, n, &quanta, SIGNAL_ROOT);
        signal->uses = uses;
        return signal;
}

enum { MOST_USES = 10 };

/* Each cause with each effect, per pair of signals. */
static double measure(EdgeSignal **causes, EdgeSignal **effects, guint uses, const Lags *lags,
                      CorrelateBy by)
{
        g_autofree float *c = g_new(float, lags->n);
        double least = G_MAXDOUBLE;

        for (guint run = 0; run < 3; run++) {
                g_autoptr(Correlator) correlator = correlator_new(lags, by, 256 << 20);
                double start;

                /* Making plans is done once a run of the program. */
                correlator_run(correlator, causes[MOST_USES], effects[MOST_USES], c);
                start = cpu_time();
                for (guint i = 0; i < uses; i++)
                        for (guint k = 0; k < uses; k++)
                                correlator_run(correlator, causes[i], effects[k], c);
                least = MIN(least, (cpu_time() - start) / (uses * uses));
        }
        return least;
}

static double count_pairs(const EdgeSignal *x, const EdgeSignal *y, const Lags *lags)
{
        gsize from = 0, to = 0;
        double n = 0;

        for (gsize i = 0; i < x->n; i++) {
                while (from < y->n && y->slot[from] < x->slot[i])
                        from++;
                while (to < y->n && y->slot[to] < x->slot[i] + (gint64)lags->n)
                        to++;
                n += (double)(to - from);
        }
        return n;
}

static void bench(guint n, gint64 n_slots, gsize n_lags, guint uses)
{
        const Lags lags = { 0, n_lags };
        EdgeSignal *causes[MOST_USES + 1], *effects[MOST_USES + 1];

        for (guint i = 0; i < uses; i++) {
                causes[i] = random_signal(n, n_slots, uses);
                effects[i] = random_signal(n, n_slots, uses);
        }
        causes[MOST_USES] = random_signal(1, 1, 1);
        effects[MOST_USES] = random_signal(1, 1, 1);
        printf("%u\t%" G_GINT64_FORMAT "\t%" G_GSIZE_FORMAT "\t%u\t%.0f", n, n_slots, n_lags, uses,
               count_pairs(causes[0], effects[0], &lags));
        for (guint i = 0; i < 3; i++) {
                static const CorrelateBy ways[] = { CORRELATE_PAIRS, CORRELATE_FFT,
                                                    CORRELATE_AUTO };

                printf("\t%.0f", measure(causes, effects, uses, &lags, ways[i]));
        }
        putchar('\n');
        fflush(stdout);
        for (guint i = 0; i <= MOST_USES; i++)
                if (i < uses || i == MOST_USES) {
                        edge_signal_free(causes[i]);
                        edge_signal_free(effects[i]);
                }
}

static void bench_whole(void)
{
        enum { MESSAGES = 200000 / 12, SLOTS = 500000, EDGES = 4 };
        const Lags lags = { 0, 500 };
        EdgeSignal *causes[MOST_USES + 1], *effects[MOST_USES + 1];
        double whole, fast;

        for (guint i = 0; i <= MOST_USES; i++) {
                causes[i] = random_signal(MESSAGES, SLOTS, EDGES);
                effects[i] = random_signal(MESSAGES, SLOTS, EDGES);
        }
        whole = measure(causes, effects, EDGES, &lags, CORRELATE_WHOLE);
        fast = measure(causes, effects, EDGES, &lags, CORRELATE_AUTO);
        printf("%.4f\n", fast / whole);
        for (guint i = 0; i <= MOST_USES; i++) {
                edge_signal_free(causes[i]);
                edge_signal_free(effects[i]);
        }
}

int main(int argc, char **argv)
{
        static const gsize lags[] = { 100, 1000, 10000 };
        static const guint uses[] = { 1, 3, MOST_USES };

        if (argc > 1 && !strcmp(argv[1], "whole")) {
                bench_whole();
                return 0;
        }
        puts("messages\tslots\tlags\tuses\tpairs_of_slots\tpairs\tfft\tauto");
        for (gsize l = 0; l < G_N_ELEMENTS(lags); l++)
                for (guint u = 0; u < G_N_ELEMENTS(uses); u++)
                        for (guint n = 1000; n <= 100000; n *= 3)
                                bench(n, 1000000, lags[l], uses[u]);
        return 0;
}
