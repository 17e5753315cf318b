/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The distribution of a delay: the paper's "full distribution for each latency"
 * (section 5.4).
 *
 * Count, sum, sum of squares, minimum and maximum are exact; the shape is kept in
 * bins that grow with the delay: 64 to an octave, so a bin is at most 1.6 % wide,
 * and exact below 64 ns. Negative delays (clocks that disagree) share one bin.
 * Two histograms merge into exactly what one over all the values would be.
 */
#ifndef RAVEL_HISTOGRAM_H
#define RAVEL_HISTOGRAM_H

#include <glib.h>

__extension__ typedef __int128 gint128;

typedef struct {
        guint64 count;
        gint64 min, max; /* ns; meaningless where count is 0 */
        gint128 sum;     /* ns */
        gint128 square;  /* sum of the squares, ns^2 */
        guint32 first;   /* the bin that bins[0] is */
        guint32 n_bins;
        guint64 *bins; /* owned; NULL where empty */
} Histogram;

#define HISTOGRAM_INIT                                                                             \
        {                                                                                          \
                0                                                                                  \
        }

void histogram_clear(Histogram *h); /* frees the bins, leaves it empty */
void histogram_add(Histogram *h, gint64 delay);
void histogram_merge(Histogram *into, const Histogram *from);

/* All 0 for an empty histogram. Mean rounds half away from zero. */
gint64 histogram_mean(const Histogram *h);
gint64 histogram_deviation(const Histogram *h); /* of the population */

/* The delay below which a share q (0 to 1) of the values lie: the middle of the
 * bin that the value of rank ceil(q * count) is in, never outside min to max. */
gint64 histogram_quantile(const Histogram *h, double q);

/* The half-open range of delays that a bin holds. */
void histogram_bin_range(guint32 bin, gint64 *low, gint64 *high);

/* A compact portable form for the store, and back: little-endian varints, count
 * of pairs, then (bin, count) pairs. FALSE where the bytes are not that. Count, sum, square,
 * min and max are not in it. */
GBytes *histogram_bins_pack(const Histogram *h);
gboolean histogram_bins_unpack(Histogram *h, const guint8 *data, gsize n);

#endif
