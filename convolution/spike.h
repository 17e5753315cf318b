/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Spikes of a correlation (paper, section 5.2; Figure 6, line 20): the delays by which effects
 * follow their causes. A run of points of at least S standard deviations above the mean is one
 * candidate. It is a spike if its highest point, of equal ones the first, is more than N deviations
 * above the mean. Mean and deviation are of all points.
 */
#pragma once

#include <glib.h>

typedef struct {
        gsize at;        /* the largest point */
        gsize from, end; /* the run of points around it: from to end - 1 */
        double height;   /* in deviations above the mean */
} Spike;

typedef struct {
        double mean, deviation;
} Moments;

/* Finds the spikes of n points: an array of Spike in order, the caller's to free. spike is N,
 * between is S. There is no spike if all points are equal. */
GArray *spikes_find(const float *c, gsize n, double spike, double between, Moments *moments);

/* The least number of points in which a spike of this width can exceed `spike` deviations. Of n
 * points, `width` of one height and the others 0, the height is sqrt((n - width) / width)
 * deviations. */
gsize spike_least_points(gsize width, double spike);
