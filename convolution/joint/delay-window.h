/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Windows of delay: the ranges of lags in which a correlation has more event pairs than accident
 * explains. They replace Figure 6's spikes in the joint method.
 *
 * The paper's test is N standard deviations above the mean. It fails if a spike is wide, if
 * messages are few, and if accidents are more frequent at some lags than at others. Here the number
 * of pairs in a range of lags, from one quantum wide up, is tested as a Poisson number. Its mean is
 * the *background*, estimated from the lags around. The best range is widened while the lags beside
 * it stand out too. Then it is levelled to the background, and the search goes on.
 */
#pragma once

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

/* An array of DelayWindow, in order and without overlap, the caller's to free. c[lags->n] are
 * counts of event pairs (SIGNAL_COUNT). Windows lie at lags from 0 to search - 1. The other lags
 * serve the background, and lags below 0 measure how bursty accidents are. Sets background, as long
 * as c. O(n log n). */
GArray *delay_windows_find(const float *c, const Lags *lags, gsize search,
                           const DelayWindowOptions *options, float *background);
