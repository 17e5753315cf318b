/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Spikes of a correlation (paper, section 5.2; Figure 6, line 20): the delays by which
 * effects follow their causes. A point is a spike if it is a local maximum more than N
 * standard deviations above the mean; between two spikes there is a point less than S
 * deviations above it, and of several candidates without one the largest is taken, of
 * equal ones the first. Mean and deviation are those of all points.
 */
#ifndef RAVEL_SPIKE_H
#define RAVEL_SPIKE_H

#include <glib.h>

typedef struct {
        gsize at;        /* the largest point */
        gsize from, end; /* around it, the points of S deviations or more: from to end - 1 */
        double height;   /* in deviations above the mean */
} Spike;

typedef struct {
        double mean, deviation;
} Moments;

/* Finds the spikes of n points, in order: an array of Spike, the caller's to free. There is
 * none where all points are equal. */
GArray *spikes_find(const float *c, gsize n, double spike, double between, Moments *moments);

/* The least number of points in which a spike as wide can be more than so many deviations
 * above the mean: width points of one height among zeros are sqrt((n - width) / width). */
gsize spike_least_points(gsize width, double spike);

#endif
