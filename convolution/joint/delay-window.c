/* SPDX-License-Identifier: BSD-2-Clause */
#include "convolution/joint/delay-window.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/exact-log.h"

enum {
        BLOCKS = 96,       /* blocks of lags that the background is found in */
        NEIGHBOURS = 24,   /* the background is the median of this many blocks on either side */
        MOST_WINDOWS = 12, /* windows of one correlation */
};

/* A window grows as long as the lags beside it have GROW_SHARE of its height, and GROW_DEVIATIONS
 * standard deviations. */
static const double GROW_SHARE = 0.05, GROW_DEVIATIONS = 2;

/* The median of values, which it sorts. */
static double median_of_doubles(double *values, gsize n)
{
        qsort(values, n, sizeof *values, compare_doubles);
        return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* Blocks of lags: block k lies from at[k] to at[k + 1] - 1, and level[k] is its mean number of
 * pairs a lag. */
typedef struct {
        gsize n, at[BLOCKS + 1];
        double level[BLOCKS], smooth[BLOCKS];
} Blocks;

static void level_blocks(Blocks *b, const float *c, gsize n)
{
        double sorted[BLOCKS], sum = 0;
        gsize low;

        b->n = MIN(n, BLOCKS);
        for (gsize k = 0; k <= b->n; k++)
                b->at[k] = k * n / b->n;
        for (gsize k = 0; k < b->n; k++) {
                b->level[k] = 0;
                for (gsize i = b->at[k]; i < b->at[k + 1]; i++)
                        b->level[k] += MAX(c[i], 0);
                sorted[k] = b->level[k] /= (double)(b->at[k + 1] - b->at[k]);
        }
        /* Where most blocks are empty the median is 0. Then the background is at least half of the
         * mean of all but the highest blocks. */
        qsort(sorted, b->n, sizeof *sorted, compare_doubles);
        low = MAX(b->n * 9 / 10, 1);
        for (gsize k = 0; k < low; k++)
                sum += sorted[k];
        sum = MAX(sum / (double)low, 1e-6);
        for (gsize k = 0; k < b->n; k++) {
                gsize first = k > NEIGHBOURS ? k - NEIGHBOURS : 0;
                gsize last = MIN(k + NEIGHBOURS, b->n - 1);

                for (gsize i = first; i <= last; i++)
                        sorted[i - first] = b->level[i];
                b->smooth[k] = MAX(median_of_doubles(sorted, last - first + 1), sum / 2);
        }
}

/* The dispersion: how much more the number of accidental pairs varies than a Poisson number. Found
 * from the blocks below lag index end, most of whose pairs are accidents. At least 1. */
static double block_dispersion(const Blocks *b, gsize end)
{
        double off[BLOCKS], spread;
        gsize n = 0;

        for (gsize k = 0; k < b->n && b->at[k + 1] <= end; k++)
                /* standard deviations of a Poisson number */
                off[n++] = fabs(b->level[k] - b->smooth[k]) *
                           sqrt((double)(b->at[k + 1] - b->at[k]) / b->smooth[k]);
        if (n < 8)
                return 1;
        spread = 1.4826 * median_of_doubles(off, n); /* for a normal distribution */
        return MAX(spread * spread, 1);
}

/* The deviation of a Poisson number from its mean: the square root of the deviance. */
static double poisson_deviation(double number, double mean)
{
        return sqrt(2 * MAX(number * exact_log(number / mean) - (number - mean), 0));
}

typedef struct {
        const Lags *lags;
        gsize begin, end;          /* where windows may be */
        double *pairs, *accidents; /* prefix sums */
        double dispersion;
        const DelayWindowOptions *options;
} Search;

static double range_excess(const Search *s, gsize from, gsize to)
{
        return s->pairs[to] - s->pairs[from] - (s->accidents[to] - s->accidents[from]);
}

/* The deviation of a range; 0 if it has too few pairs for a window. */
static double range_deviation(const Search *s, gsize from, gsize to)
{
        double number = s->pairs[to] - s->pairs[from];
        double mean = s->accidents[to] - s->accidents[from];
        double needed = s->options->deviations * s->options->deviations * s->dispersion * mean;

        /* The deviance is never greater than the square of the difference by the mean. */
        if (number - mean < s->options->least || (number - mean) * (number - mean) < needed)
                return 0;
        return poisson_deviation(number, mean) / sqrt(s->dispersion);
}

static DelayWindow best_window(const Search *s)
{
        DelayWindow best = { 0 };

        for (gsize width = 1; width <= MAX((s->end - s->begin) / 8, 1); width *= 2)
                for (gsize from = s->begin; from + width <= s->end; from += MAX(width / 4, 1)) {
                        double d = range_deviation(s, from, from + width);

                        if (d > best.deviation)
                                best = (DelayWindow){ from, from + width, 0, d };
                }
        return best;
}

/* Whether lags from..to beside a window of this height belong to it. */
static gboolean belongs_to_window(const Search *s, gsize from, gsize to, double height)
{
        double mean = s->accidents[to] - s->accidents[from], more = range_excess(s, from, to);

        return more > GROW_DEVIATIONS * sqrt(s->dispersion * MAX(mean, 1e-3)) &&
               more > GROW_SHARE * height * (double)(to - from) && more >= 1;
}

static void grow_window(const Search *s, DelayWindow *w)
{
        gsize step = MAX((w->to - w->from) / 4, 1);
        double height;

        height = range_excess(s, w->from, w->to) / (double)(w->to - w->from);
        while (w->from >= s->begin + step && belongs_to_window(s, w->from - step, w->from, height))
                w->from -= step;
        while (w->to + step <= s->end && belongs_to_window(s, w->to, w->to + step, height))
                w->to += step;
        w->excess = range_excess(s, w->from, w->to);
}

/* Levels a window: leaves only accidents in it. */
static void level_window(Search *s, const DelayWindow *w)
{
        double base = s->pairs[w->from] - s->accidents[w->from];
        double removed = s->pairs[w->to] - s->accidents[w->to] - base;

        for (gsize i = w->from; i < w->to; i++)
                s->pairs[i] = base + s->accidents[i];
        for (gsize i = w->to; i <= s->lags->n; i++)
                s->pairs[i] -= removed;
}

COMPARISON(compare_windows, DelayWindow, COMPARE(a->from, b->from))

GArray *delay_windows_find(const float *c, const Lags *lags, gsize search,
                           const DelayWindowOptions *options, float *background)
{
        GArray *windows = g_array_new(FALSE, FALSE, sizeof(DelayWindow));
        Search s = { .lags = lags, .options = options };
        Blocks blocks;

        s.begin = lags->first < 0 ? MIN((gsize)-lags->first, lags->n) : 0;
        s.end = MIN(s.begin + search, lags->n);
        level_blocks(&blocks, c, lags->n);
        s.dispersion = block_dispersion(&blocks, s.begin);
        s.pairs = g_new(double, lags->n + 1);
        s.accidents = g_new(double, lags->n + 1);
        s.pairs[0] = s.accidents[0] = 0;
        for (gsize k = 0; k < blocks.n; k++)
                for (gsize i = blocks.at[k]; i < blocks.at[k + 1]; i++) {
                        background[i] = (float)blocks.smooth[k];
                        s.pairs[i + 1] = s.pairs[i] + MAX(c[i], 0);
                        s.accidents[i + 1] = s.accidents[i] + background[i];
                }
        while (windows->len < MOST_WINDOWS) {
                DelayWindow w = best_window(&s);

                if (w.deviation < options->deviations)
                        break;
                grow_window(&s, &w);
                level_window(&s, &w);
                g_array_append_val(windows, w);
        }
        g_array_sort(windows, compare_windows);
        g_free(s.pairs);
        g_free(s.accidents);
        return windows;
}
