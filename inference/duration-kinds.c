/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/exact-log.h"
#include "inference/duration-kinds.h"
#include "inference/tuning.h"

/* Calls to one callee: by context and bin, how many are shorter than the bin. */
typedef struct {
        guint32 count[DURATION_CONTEXTS][DENSITY_BINS + 1];
} Durations;

static int compare_samples(const void *a, const void *b)
{
        const DurationSample *x = a, *y = b;

        return (x->callee > y->callee) - (x->callee < y->callee);
}

static double x_log_x(double x)
{
        return x > 0 ? x * exact_log(x) : 0;
}

/* How much a limit tells about the contexts of calls in bins from low to high: by how much it
 * raises their log likelihood. */
static double told_by(const Durations *d, guint low, guint limit, guint high)
{
        double told = 0, below = 0, above = 0;

        for (guint c = 0; c < DURATION_CONTEXTS; c++) {
                double b = d->count[c][limit] - d->count[c][low];
                double a = d->count[c][high] - d->count[c][limit];

                told += x_log_x(b) + x_log_x(a) - x_log_x(a + b);
                below += b;
                above += a;
        }
        return told + x_log_x(below + above) - x_log_x(below) - x_log_x(above);
}

/* The number of calls that lasted about as long as a bin. */
static double calls_about(const Durations *d, guint bin)
{
        guint from = MAX(bin, 2) - 2, to = MIN(bin + 2, DENSITY_BINS);
        double n = 0;

        for (guint c = 0; c < DURATION_CONTEXTS; c++)
                n += d->count[c][to] - d->count[c][from];
        return n;
}

/* Whether durations at a limit are rarer than on either side of it. */
static gboolean is_valley(const double *about, guint low, guint limit, guint high)
{
        double below = 0, above = 0;

        for (guint bin = low; bin < limit; bin++)
                below = MAX(below, about[bin]);
        for (guint bin = limit; bin < high; bin++)
                above = MAX(above, about[bin]);
        return about[limit] < VALLEY * MIN(below, above);
}

/* Finds the limit between low and high that tells most, then limits on either side of it. */
static void find_limits(const Durations *d, guint low, guint high, guint depth,
                        DurationLimits *limits)
{
        double about[DENSITY_BINS], most = 0, n = 0;
        guint best = low, n_contexts = 0;

        for (guint bin = 0; bin < DENSITY_BINS; bin++)
                about[bin] = calls_about(d, bin);
        for (guint c = 0; c < DURATION_CONTEXTS; c++) {
                guint32 here = d->count[c][high] - d->count[c][low];

                n += here;
                n_contexts += here > 0;
        }
        if (n_contexts < 2)
                return;
        for (guint limit = low + 1; limit < high; limit++) {
                double told;

                if (!is_valley(about, low, limit, high))
                        continue;
                told = told_by(d, low, limit, high);
                if (told > most) {
                        most = told;
                        best = limit;
                }
        }
        if (most < LEAST_TOLD * n + 0.5 * n_contexts * exact_log(n))
                return;
        if (depth > 0)
                find_limits(d, low, best, depth - 1, limits);
        limits->limit[limits->n++] = best;
        if (depth > 0)
                find_limits(d, best, high, depth - 1, limits);
}

/* Counts n calls to a callee. */
static void count_durations(Durations *d, const DurationSample *samples, guint32 n)
{
        memset(d, 0, sizeof *d);
        for (guint32 i = 0; i < n; i++)
                d->count[samples[i].context][samples[i].bin + 1]++;
        for (guint c = 0; c < DURATION_CONTEXTS; c++)
                for (guint bin = 0; bin < DENSITY_BINS; bin++)
                        d->count[c][bin + 1] += d->count[c][bin];
}

guint32 duration_limits_find(DurationLimits *limits, guint32 n_callees, DurationSample *samples,
                             guint32 n)
{
        g_autofree Durations *d = g_new(Durations, 1);
        guint32 n_limits = 0, first = 0, end;

        qsort(samples, n, sizeof *samples, compare_samples);
        for (guint32 callee = 0; callee < n_callees; callee++, first = end) {
                for (end = first; end < n && samples[end].callee == callee;)
                        end++;
                limits[callee].n = 0;
                if (end - first < SPLIT_CALLS)
                        continue;
                count_durations(d, samples + first, end - first);
                find_limits(d, 0, DENSITY_BINS, DURATION_DEPTH, &limits[callee]);
                n_limits += limits[callee].n;
        }
        return n_limits;
}
