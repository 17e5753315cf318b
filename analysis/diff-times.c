/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/diff-times.h"

#include <math.h>

#include "base/binomial.h"
#include "base/compare.h"

/* The probability that an interval lies too high, and that it lies too low. */
#define INTERVAL_TAIL 0.025

/* The share of false findings that limits below the median may have. Slower times are seen above it
 * first. */
#define LOWER_CHANCE 0.2

const double diff_quantiles[N_DIFF_QUANTILES] = { 0.5, 0.99 };
const char *const diff_quantile_names[N_DIFF_QUANTILES] = { "p50", "p99" };

static guint64 counts_both(const ComparedTimes *t)
{
        return t->times[DIFF_A].count + t->times[DIFF_B].count;
}

/* --- limits ---------------------------------------------------------------- */

static guint64 count_above(const Histogram *h, guint32 limit)
{
        guint32 first, n;
        g_autofree guint64 *counts = histogram_counts(h, &first, &n);
        guint64 above = 0;

        for (guint32 i = 0; counts && i < n; i++)
                above += first + i > limit ? counts[i] : 0;
        return above;
}

/* The quantile of both runs as a limit, if enough values lie below and above it. */
static void add_limit(ComparedTimes *t, const Histogram *both, double quantile)
{
        guint32 bin = histogram_bin(histogram_quantile(both, quantile));
        guint64 above = count_above(both, bin);

        /* The value itself is below the limit, unless it is the greatest. */
        if (above == 0 && bin > 0)
                above = count_above(both, --bin);
        if (MIN(above, both->count - above) >= DIFF_SMALLEST_TAIL)
                t->limits[t->n_limits++] = bin;
}

void compared_times_limit(ComparedTimes *t, const gboolean has_batches[N_SIDES])
{
        Histogram both = HISTOGRAM_INIT;
        guint distinct = 0;

        if (t->times[DIFF_A].count && t->times[DIFF_B].count)
                for (int side = 0; side < N_SIDES; side++)
                        histogram_merge(&both, &t->times[side]);
        for (double share = 0.5; share * (double)both.count >= DIFF_SMALLEST_TAIL &&
                                 t->n_limits + 2 + N_DIFF_QUANTILES <= DIFF_MAX_LIMITS;
             share /= 2) {
                add_limit(t, &both, share);
                add_limit(t, &both, 1 - share);
        }
        for (guint q = 0; both.count && q < N_DIFF_QUANTILES; q++)
                add_limit(t, &both, diff_quantiles[q]);
        histogram_clear(&both);
        qsort(t->limits, t->n_limits, sizeof *t->limits, compare_uint32s);
        for (guint i = 0; i < t->n_limits; i++)
                if (i == 0 || t->limits[i] != t->limits[distinct - 1])
                        t->limits[distinct++] = t->limits[i];
        t->n_limits = distinct;
        for (int side = 0; side < N_SIDES; side++) {
                for (guint i = 0; i < t->n_limits; i++)
                        t->above[side][i] = count_above(&t->times[side], t->limits[i]);
                t->has_batches[side] = has_batches[side];
                if (has_batches[side] && t->n_limits > 0)
                        t->batches[side] =
                                g_new0(guint32, (gsize)(t->n_limits + 1) * SHARE_BATCHES);
        }
}

void compared_times_count(ComparedTimes *t, int side, gint64 value, guint batch)
{
        guint32 bin = histogram_bin(value);
        guint above = 0;

        if (!t->batches[side])
                return;
        while (above < t->n_limits && bin > t->limits[above])
                above++;
        t->batches[side][above * SHARE_BATCHES + batch]++;
}

/* --- the test -------------------------------------------------------------- */

static ShareRun share_above(const ComparedTimes *t, int side, guint limit)
{
        const guint32 *batches = t->batches[side];

        return (ShareRun){ .n = (double)t->times[side].count,
                           .counted = (double)t->above[side][limit],
                           .all = batches,
                           .in = batches ? batches + (gsize)(limit + 1) * SHARE_BATCHES : NULL,
                           .least = batches ? 1 : DIFF_GUESSED_DEPENDENCE };
}

void compared_times_scatter(ComparedTimes *t, GArray *scatters)
{
        for (int side = 0; side < N_SIDES; side++) {
                for (guint i = t->n_limits * SHARE_BATCHES; t->batches[side] && i > 0; i--)
                        t->batches[side][i - 1] += t->batches[side][i - 1 + SHARE_BATCHES];
                for (guint i = 0; i < t->n_limits; i++) {
                        ShareRun run = share_above(t, side, i);
                        ShareScatter scatter = share_scatter(&run);

                        if (scatter.variance.freedom > 0)
                                g_array_append_val(scatters, scatter);
                }
        }
}

/* Whether more than half of the values lie above the limit. */
static gboolean is_lower(const ComparedTimes *t, guint limit)
{
        return t->above[DIFF_A][limit] + t->above[DIFF_B][limit] > counts_both(t) / 2;
}

double compared_times_test(ComparedTimes *t, ShareScatter prior)
{
        double least = 1;
        guint n_lower = 0;

        for (guint i = 0; i < t->n_limits; i++)
                n_lower += is_lower(t, i);
        for (guint i = 0; i < t->n_limits; i++) {
                ShareRun runs[N_SIDES] = { share_above(t, DIFF_A, i), share_above(t, DIFF_B, i) };

                t->p[i] = share_test(runs, prior) *
                          (is_lower(t, i) ? n_lower / LOWER_CHANCE
                                          : (t->n_limits - n_lower) / (1 - LOWER_CHANCE));
                least = MIN(least, t->p[i]);
        }
        return least;
}

/* --- the result ------------------------------------------------------------ */

/* The range of values that the value of rank (1 to count) may be anywhere in. */
static void rank_range(const Histogram *h, guint64 rank, gint64 *low, gint64 *high)
{
        guint32 first, n, bin = 0;
        g_autofree guint64 *counts = histogram_counts(h, &first, &n);

        for (guint64 below = counts[0]; below < rank && bin + 1 < n; below += counts[bin])
                bin++;
        histogram_bin_range(first + bin, low, high);
        *low = MAX(*low, h->min);
        *high = MIN(*high, h->max);
}

/* Between which values the quantile lies, if n of the values are independent. FALSE where n are
 * too few. */
static gboolean quantile_interval(const Histogram *h, double q, double n, gint64 *low, gint64 *high)
{
        gint64 unused;
        double from, to;

        /* The greatest rank whose value is probably at most the quantile ... */
        for (from = 0, to = floor(n) + 1; to - from > 1;) {
                double k = floor((from + to) / 2);
                *(binomial_tail(n, k, q) >= 1 - INTERVAL_TAIL ? &from : &to) = k;
        }
        if (from < 1)
                return FALSE;
        guint64 rank = (guint64)(from / n * (double)h->count);
        rank_range(h, CLAMP(rank, 1, h->count), low, &unused);
        /* ... and the least rank whose value is likewise at least the quantile. */
        for (from = 0, to = floor(n) + 1; to - from > 1;) {
                double k = floor((from + to) / 2);
                *(binomial_tail(n, k, q) > INTERVAL_TAIL ? &from : &to) = k;
        }
        if (to > n)
                return FALSE;
        rank = (guint64)ceil(to / n * (double)h->count);
        rank_range(h, CLAMP(rank, 1, h->count), &unused, high);
        return TRUE;
}

double compared_times_dependence(const ComparedTimes *t, int side, double quantile,
                                 ShareScatter prior)
{
        double best = 2, dependence = t->has_batches[side] ? 1 : DIFF_GUESSED_DEPENDENCE;

        for (guint i = 0; i < t->n_limits; i++) {
                ShareRun runs[N_SIDES] = { share_above(t, DIFF_A, i), share_above(t, DIFF_B, i) };
                double below = 1 - (runs[DIFF_A].counted + runs[DIFF_B].counted) /
                                           (runs[DIFF_A].n + runs[DIFF_B].n);
                double freedom;

                if (fabs(below - quantile) >= best)
                        continue;
                best = fabs(below - quantile);
                dependence = share_dependence(&runs[side], prior, &freedom);
        }
        return dependence;
}

/* It changed if the shares above a limit between both values of the quantile did. */
static gboolean quantile_changed(const ComparedTimes *t, const DiffDelay *d, double level)
{
        guint32 from = histogram_bin(MIN(d->value[DIFF_A], d->value[DIFF_B])),
                to = histogram_bin(MAX(d->value[DIFF_A], d->value[DIFF_B]));

        for (guint i = 0; i < t->n_limits; i++)
                if (t->limits[i] >= from && t->limits[i] < to && t->p[i] <= level)
                        return TRUE;
        return FALSE;
}

static DiffDelay compare_quantile(const ComparedTimes *t, double q, ShareScatter prior,
                                  double level)
{
        DiffDelay d = { .bounded = counts_both(t) > 0 };
        gint64 low[N_SIDES] = { 0 }, high[N_SIDES] = { 0 };

        for (int side = 0; side < N_SIDES; side++) {
                const Histogram *h = &t->times[side];
                double dependence = compared_times_dependence(t, side, q, prior);
                double needed = ceil(log(INTERVAL_TAIL) / log(q) * dependence);

                d.value[side] = histogram_quantile(h, q);
                d.needed = MAX(d.needed, (guint64)needed);
                d.bounded = d.bounded && h->count > 0 &&
                            quantile_interval(h, q, (double)h->count / dependence, &low[side],
                                              &high[side]);
        }
        d.beyond = quantile_changed(t, &d, level);
        if (!d.bounded)
                return d;
        /* Newcombe 1998: the errors of independent runs add up as squares. */
        double a = (double)d.value[DIFF_A], b = (double)d.value[DIFF_B];
        d.low = (gint64)(b - a - hypot(b - (double)low[DIFF_B], (double)high[DIFF_A] - a));
        d.high = (gint64)(b - a + hypot((double)high[DIFF_B] - b, a - (double)low[DIFF_A]));
        return d;
}

/* The limit with the least p. */
static DiffTail compare_tail(const ComparedTimes *t, ShareScatter prior, double level)
{
        DiffTail tail = { 0 };
        guint best = 0;
        gint64 low;

        for (guint i = 1; i < t->n_limits; i++)
                best = t->p[i] < t->p[best] ? i : best;
        if (t->n_limits == 0)
                return tail;
        ShareRun runs[N_SIDES] = { share_above(t, DIFF_A, best), share_above(t, DIFF_B, best) };
        for (int side = 0; side < N_SIDES; side++)
                tail.share[side] = runs[side].counted / runs[side].n;
        share_change(runs, prior, &tail.low, &tail.high);
        histogram_bin_range(t->limits[best], &low, &tail.limit);
        tail.beyond = t->p[best] <= level;
        return tail;
}

void compared_times_result(const ComparedTimes *t, ShareScatter prior, double level,
                           DiffTimes *result)
{
        for (int side = 0; side < N_SIDES; side++) {
                result->count[side] = t->times[side].count;
                result->mean[side] = histogram_mean(&t->times[side]);
        }
        for (guint q = 0; q < N_DIFF_QUANTILES; q++)
                result->quantiles[q] = compare_quantile(t, diff_quantiles[q], prior, level);
        result->tail = compare_tail(t, prior, level);
}

void compared_times_free(ComparedTimes *t)
{
        for (int side = 0; side < N_SIDES; side++) {
                histogram_clear(&t->times[side]);
                g_free(t->batches[side]);
        }
        g_free(t);
}
