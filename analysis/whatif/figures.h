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

/* now: as observed; base: replayed without a change; then: replayed with it. n requests in the
 * order of time. doubt: the share of parents that are wrong, 0 to 1; so much of the change is added
 * to its error, as is the difference of base from now. O(n log n). */
void whatif_figures_find(const gint64 *now, const gint64 *base, const gint64 *then, guint n,
                         double doubt, WhatIfFigure *figures);
