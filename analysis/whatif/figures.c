/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/whatif/figures.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"

/* Student's t for 95 % and FIGURE_BLOCKS - 1 degrees of freedom. */
#define STUDENT 2.093

const char *const figure_names[N_FIGURES] = { "mean", "p50", "p90", "p99" };

static const double figure_quantile[N_FIGURES] = { 0, 0.5, 0.9, 0.99 };

typedef struct {
        gint64 time;
        guint block;
} Timed;

COMPARISON(compare_timed, Timed, COMPARE(a->time, b->time))

static guint block_of(guint i, guint n)
{
        return (guint)((guint64)i * FIGURE_BLOCKS / n);
}

static void find_means(const gint64 *times, guint n, FigureSample *mean)
{
        double sums[FIGURE_BLOCKS] = { 0 }, sum = 0;
        guint counts[FIGURE_BLOCKS] = { 0 };

        for (guint i = 0; i < n; i++) {
                sums[block_of(i, n)] += (double)times[i];
                counts[block_of(i, n)]++;
                sum += (double)times[i];
        }
        mean->all = sum / n;
        for (guint b = 0; b < FIGURE_BLOCKS; b++)
                mean->without[b] = n > counts[b] ? (sum - sums[b]) / (n - counts[b]) : mean->all;
}

static guint rank_of(double quantile, guint n)
{
        return (guint)CLAMP(ceil(quantile * n), 1, MAX(n, 1)) - 1;
}

/* Goes through the sorted times; the rank of a time without a block is less by those of the block
 * that are before it. */
static void find_quantiles(const Timed *sorted, guint n, double quantile, FigureSample *figure)
{
        guint counts[FIGURE_BLOCKS] = { 0 }, before[FIGURE_BLOCKS] = { 0 };
        guint rank[FIGURE_BLOCKS], from = rank_of(quantile, n), at;

        for (guint i = 0; i < n; i++)
                counts[sorted[i].block]++;
        figure->all = (double)sorted[from].time;
        for (guint b = 0; b < FIGURE_BLOCKS; b++)
                rank[b] = rank_of(quantile, n - counts[b]);
        /* Without a block of m times the quantile moves by at most m places. */
        at = from;
        for (guint b = 0; b < FIGURE_BLOCKS; b++)
                at = MIN(at, rank[b]);
        for (guint i = 0; i < at; i++)
                before[sorted[i].block]++;
        for (guint b = 0; b < FIGURE_BLOCKS; b++) {
                guint left = rank[b] - (at - before[b]), i = at;

                for (; i < n - 1 && (sorted[i].block == b || left > 0); i++)
                        left -= sorted[i].block != b;
                figure->without[b] = (double)sorted[i].time;
        }
}

/* Of the mean of a value by block. Neighbours that go together have less to say (Bartlett). */
static double block_error(const double *value)
{
        double mean = 0, squares = 0, products = 0;

        for (guint b = 0; b < FIGURE_BLOCKS; b++)
                mean += value[b] / FIGURE_BLOCKS;
        for (guint b = 0; b < FIGURE_BLOCKS; b++) {
                squares += (value[b] - mean) * (value[b] - mean);
                if (b > 0)
                        products += (value[b] - mean) * (value[b - 1] - mean);
        }
        double together = squares > 0 ? MAX(0, products / squares) : 0;
        return STUDENT * sqrt(squares * (1 + 2 * together) / FIGURE_BLOCKS / (FIGURE_BLOCKS - 1));
}

static void set_mean_ends(FigureSample *mean)
{
        double values[FIGURE_BLOCKS];

        for (guint b = 0; b < FIGURE_BLOCKS; b++) /* pseudo-values */
                values[b] = FIGURE_BLOCKS * mean->all - (FIGURE_BLOCKS - 1) * mean->without[b];
        double error = M_SQRT2 * block_error(values);
        mean->low = mean->all - error;
        mean->high = mean->all + error;
}

/* Woodruff: the quantiles at both ends of the interval of the share below. The jackknife of a
 * quantile itself would be too narrow. */
static void set_quantile_ends(const Timed *sorted, guint n, double quantile, FigureSample *figure)
{
        double shares[FIGURE_BLOCKS] = { 0 };
        guint counts[FIGURE_BLOCKS] = { 0 };

        for (guint i = 0; i < n; i++) {
                counts[sorted[i].block]++;
                shares[sorted[i].block] += (double)sorted[i].time <= figure->all;
        }
        for (guint b = 0; b < FIGURE_BLOCKS; b++)
                shares[b] /= MAX(counts[b], 1);
        double error = M_SQRT2 * block_error(shares);
        figure->low = (double)sorted[rank_of(MAX(quantile - error, 0), n)].time;
        figure->high = (double)sorted[rank_of(MIN(quantile + error, 1), n)].time;
}

void figure_samples_find(const gint64 *times, guint n, FigureSample *samples)
{
        g_autofree Timed *sorted = g_new(Timed, n);

        for (guint i = 0; i < n; i++)
                sorted[i] = (Timed){ times[i], block_of(i, n) };
        qsort(sorted, n, sizeof *sorted, compare_timed);
        find_means(times, n, &samples[FIGURE_MEAN]);
        set_mean_ends(&samples[FIGURE_MEAN]);
        for (guint k = FIGURE_P50; k < N_FIGURES; k++) {
                find_quantiles(sorted, n, figure_quantile[k], &samples[k]);
                set_quantile_ends(sorted, n, figure_quantile[k], &samples[k]);
        }
}

/* Of x - y. */
static double jackknife_variance(const FigureSample *x, const FigureSample *y)
{
        double d[FIGURE_BLOCKS], mean = 0, squares = 0;

        for (guint b = 0; b < FIGURE_BLOCKS; b++) {
                d[b] = x->without[b] - y->without[b];
                mean += d[b] / FIGURE_BLOCKS;
        }
        for (guint b = 0; b < FIGURE_BLOCKS; b++)
                squares += (d[b] - mean) * (d[b] - mean);
        return squares * (FIGURE_BLOCKS - 1) / FIGURE_BLOCKS;
}

void whatif_figures_compare(const FigureSample *now, const FigureSample *base,
                            const FigureSample *then, double doubt, WhatIfFigure *figures)
{
        for (guint k = 0; k < N_FIGURES; k++) {
                WhatIfFigure *f = &figures[k];
                double bias = base[k].all - now[k].all;
                double change = then[k].all - base[k].all;
                double other = bias * bias + doubt * doubt * change * change;

                f->now = now[k].all;
                f->then = then[k].all;
                f->error = sqrt(STUDENT * STUDENT * jackknife_variance(&then[k], &base[k]) + other);
                double below = then[k].all - then[k].low;
                double above = then[k].high - then[k].all;
                f->low = MAX(0, f->then - sqrt(below * below + other));
                f->high = f->then + sqrt(above * above + other);
                f->is_known = fabs(f->then - f->now) > f->error || change == 0;
        }
}
