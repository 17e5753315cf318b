/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The distribution of a delay: the paper's "full distribution for each latency"
 * (section 5.4).
 *
 * Count, sum, sum of squares, minimum and maximum are exact. The shape is kept in bins that grow
 * with the delay, 64 to an octave. A bin is at most 1.6 % wide, and exact below 64 ns. Negative
 * delays (clocks that disagree) share one bin. Two histograms merge into exactly what one over all
 * the values would be.
 */
#pragma once

#include <glib.h>

#include "base/int128.h"

/* Most patterns are rare, so there are three forms of the shape: the number of the only bin, a list
 * with the bin of each value, or a count for each bin from the first to the last. Only the
 * functions below need to know. */
typedef struct {
        guint64 count;
        gint64 min, max; /* ns; meaningless where count is 0 */
        guint32 room;    /* how many values few has room for */
        guint32 first;   /* the bin that bins[0] is, or where all values are */
        gint128 sum;     /* ns */
        gint128 square;  /* sum of the squares, ns^2 */
        guint32 n_bins;  /* how many bins there is room for, from first on; 0: few is used */
        union {
                guint32 *bins; /* owned; NULL while all values are in one bin */
                guint16 *few;  /* owned; of count values */
        };
        guint32 *high; /* owned; the upper halves of bins; NULL while all are 0 */
} Histogram;

#define HISTOGRAM_INIT                                                                             \
        {                                                                                          \
                0                                                                                  \
        }

void histogram_clear(Histogram *h); /* frees the bins, leaves it empty */
void histogram_add(Histogram *h, gint64 delay);
void histogram_add_zeros(Histogram *h, guint64 n); /* n delays of 0 */
/* Adds n delays, the first at delays, each stride further on: many at once cost a
 * third of what they cost one by one. */
void histogram_add_all(Histogram *h, const gint64 *delays, gsize n, gsize stride);
void histogram_merge(Histogram *into, const Histogram *from);
/* The same shape, mean and extremes, of n values. into is empty, and becomes from as if each value
 * came up n / count times. */
void histogram_scale(Histogram *into, const Histogram *from, guint64 n);

/* All 0 for an empty histogram. Mean rounds half away from zero. */
gint64 histogram_mean(const Histogram *h);
gint64 histogram_deviation(const Histogram *h); /* of the population */

/* The delay below which a share q (0 to 1) of the values lie. It is the middle of the bin with the
 * value of rank ceil(q * count), as far as that bin lies within min to max. The first and the last
 * value are exact. */
gint64 histogram_quantile(const Histogram *h, double q);

/* Bins are numbered 0 to HISTOGRAM_BINS - 1, whatever the histogram. */
#define HISTOGRAM_BINS (1 + 64 + 57 * 64)

/* The bin of a delay, and the half-open range of delays that a bin holds (the
 * last one's high is G_MAXINT64, which it holds too). */
guint32 histogram_bin(gint64 delay);
void histogram_bin_range(guint32 bin, gint64 *low, gint64 *high);

guint64 histogram_bin_count(const Histogram *h, guint32 bin);

/* How many values are in each bin from *first on, *n of them, of which the first
 * and the last hold some; the caller's to free. NULL for an empty histogram. */
guint64 *histogram_counts(const Histogram *h, guint32 *first, guint32 *n);

/* A compact portable form for the store, and back. Numbers have 7 bits a byte, low bits first, the
 * top bit set on all bytes but the last; signed numbers are zigzagged (0, -1, 1, -2 are 0, 1, 2,
 * 3). First come min, max - min, sum, square; then the number of bins that hold values. Then
 * follows each bin in rising order: its distance from the bin before (the first: its number) and
 * its count. An empty histogram is no bytes at all. Unpacking is into an empty one; FALSE, and h
 * still empty, where the bytes are not that. */
GBytes *histogram_pack(const Histogram *h);
gboolean histogram_unpack(Histogram *h, const guint8 *data, gsize n);
