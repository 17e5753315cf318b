/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Windows of delay: the ranges of lags in which a correlation has more event pairs than
 * accident explains. This takes the place of Figure 6's spikes in the joint method.
 *
 * The paper's test, N standard deviations above the mean, fails where a spike is as wide as
 * a part of the lags, where messages are few, and where accidents are more frequent at some
 * lags than at others. Here the number of pairs in a range of lags is compared with what its
 * surroundings lead to expect, the *background*, as a Poisson number, over ranges from one
 * quantum wide up. A range found is widened as long as what is beside it stands out too,
 * then levelled, and the search goes on.
 */
#ifndef RAVEL_DELAY_WINDOW_H
#define RAVEL_DELAY_WINDOW_H

#include "convolution/correlation.h"

typedef struct {
        gsize from, to;   /* indices of lags; to is excluded */
        double excess;    /* event pairs beyond the background */
        double deviation; /* excess in standard deviations of accident */
} DelayWindow;

typedef struct {
        double deviations; /* the least deviation of a window */
        double least;      /* the least excess of a window */
} DelayWindowOptions;

/* GArray of DelayWindow, in order of from; none overlap. c[lags->n] are counts of event
 * pairs (SIGNAL_COUNT). Windows lie at lags from 0 to below search; the others serve the
 * background, and those below 0 tell how bursty accidents are. Fills in background, as long
 * as c. O(n log n). The caller's to free. */
GArray *delay_windows_find(const float *c, const Lags *lags, gsize search,
                           const DelayWindowOptions *options, float *background);

#endif
