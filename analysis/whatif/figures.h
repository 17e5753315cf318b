/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Mean and quantiles of latency before and after a change. The error of the change is by the
 * jackknife over blocks of time: each figure is computed again without one block (Kuensch 1989).
 * The interval of then is of another measurement, which has its own error: of twice the variance.
 */
#pragma once

#include <glib.h>

enum { FIGURE_BLOCKS = 20 };

typedef enum { FIGURE_MEAN, FIGURE_P50, FIGURE_P90, FIGURE_P99, N_FIGURES } FigureKind;

extern const char *const figure_names[N_FIGURES];

/* Times are ns. Errors are half of a 95 % interval. */
typedef struct {
        double now, then;
        double low, high;  /* then, as a measurement of the same length would find it */
        double error;      /* of then - now */
        gboolean is_known; /* the change is greater than its error, or there is none at all */
} WhatIfFigure;

/* A figure of some latencies, ns: of all, without each block, and the ends of its own interval. */
typedef struct {
        double all, low, high, without[FIGURE_BLOCKS];
} FigureSample;

/* Fills samples, of N_FIGURES, of n > 0 latencies in the order of time. O(n log n). */
void figure_samples_find(const gint64 *times, guint n, FigureSample *samples);

/* Fills figures from samples, all of N_FIGURES. now: as observed; base: replayed without a change;
 * then: replayed with it. doubt: the share of parents that are wrong, 0 to 1. This share of the
 * change is added to its error, as is the difference of base from now. */
void whatif_figures_compare(const FigureSample *now, const FigureSample *base,
                            const FigureSample *then, double doubt, WhatIfFigure *figures);
