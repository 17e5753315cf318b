/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/histogram.h"

#include <math.h>
#include <string.h>

#define OCTAVE_BITS 6 /* 64 bins to an octave */

__extension__ typedef unsigned __int128 uint128;

static inline guint32 bin_of(gint64 delay)
{
        if (G_UNLIKELY(delay < 0))
                return 0;
        if (delay < 1 << OCTAVE_BITS)
                return 1 + (guint32)delay;
        /* The octave, then the OCTAVE_BITS bits after the leading one. */
        guint32 shift = (guint32)(63 - OCTAVE_BITS) - (guint32)__builtin_clzll((guint64)delay);
        return 1 + (shift << OCTAVE_BITS) + (guint32)((guint64)delay >> shift);
}

guint32 histogram_bin(gint64 delay)
{
        return bin_of(delay);
}

void histogram_bin_range(guint32 bin, gint64 *low, gint64 *high)
{
        g_assert(bin < HISTOGRAM_BINS);
        if (bin == 0) {
                *low = G_MININT64;
                *high = 0;
                return;
        }
        guint32 at = bin - 1;
        if (at < 2 << OCTAVE_BITS) {
                *low = at;
                *high = (gint64)at + 1;
                return;
        }
        guint32 shift = (at >> OCTAVE_BITS) - 1;
        guint64 mantissa = (at & ((1 << OCTAVE_BITS) - 1)) | 1 << OCTAVE_BITS;
        *low = (gint64)(mantissa << shift);
        guint64 end = (mantissa + 1) << shift;
        *high = end > G_MAXINT64 ? G_MAXINT64 : (gint64)end;
}

void histogram_clear(Histogram *h)
{
        g_free(h->bins);
        *h = (Histogram)HISTOGRAM_INIT;
}

/* Widens the window of bins so that bin is in it. It at least doubles, on the
 * side where values now come from, so that n values cost O(n). */
static void make_room(Histogram *h, guint32 bin)
{
        if (h->n_bins == 0) {
                h->first = bin;
                h->n_bins = 1;
                return;
        }
        guint32 end = h->first + h->n_bins; /* past the last */
        guint32 first = MIN(h->first, bin);
        guint32 n = MAX(end, bin + 1) - first;
        n = MAX(n, MAX(2 * h->n_bins, 8));
        n = MIN(n, HISTOGRAM_BINS);
        if (bin < h->first)
                first = end > n ? end - n : 0;
        first = MIN(first, HISTOGRAM_BINS - n);

        guint64 *bins = g_new0(guint64, n);
        if (h->bins)
                memcpy(bins + (h->first - first), h->bins, h->n_bins * sizeof *bins);
        else
                bins[h->first - first] = h->count;
        g_free(h->bins);
        h->bins = bins;
        h->first = first;
        h->n_bins = n;
}

static void count_in_bin(Histogram *h, guint32 bin, guint64 count)
{
        if (bin - h->first >= h->n_bins)
                make_room(h, bin);
        if (h->bins)
                h->bins[bin - h->first] += count;
        h->count += count;
}

/* Delays of years, which only broken clocks make, could exceed 128 bits. */
static inline gint128 add_squares(gint128 a, gint128 b)
{
        gint128 sum;

        if (G_UNLIKELY(__builtin_add_overflow(a, b, &sum)))
                return (gint128)(~(uint128)0 >> 1);
        return sum;
}

void histogram_add(Histogram *h, gint64 delay)
{
        guint32 bin = bin_of(delay);

        if (G_UNLIKELY(bin - h->first >= h->n_bins)) {
                if (h->count == 0)
                        h->min = h->max = delay;
                make_room(h, bin);
        }
        if (h->bins)
                h->bins[bin - h->first]++;
        h->count++;
        h->min = MIN(h->min, delay);
        h->max = MAX(h->max, delay);
        h->sum += delay;
        h->square = add_squares(h->square, (gint128)delay * delay);
}

void histogram_merge(Histogram *into, const Histogram *from)
{
        if (from->count == 0)
                return;
        gboolean was_empty = into->count == 0;
        if (!from->bins)
                count_in_bin(into, from->first, from->count);
        else
                for (guint32 i = 0; i < from->n_bins; i++)
                        if (from->bins[i])
                                count_in_bin(into, from->first + i, from->bins[i]);
        into->min = was_empty ? from->min : MIN(into->min, from->min);
        into->max = was_empty ? from->max : MAX(into->max, from->max);
        into->sum += from->sum;
        into->square = add_squares(into->square, from->square);
}

gint64 histogram_mean(const Histogram *h)
{
        if (h->count == 0)
                return 0;
        gint128 half = h->count / 2;
        if (h->sum < 0)
                return -(gint64)((-h->sum + half) / h->count);
        return (gint64)((h->sum + half) / h->count);
}

gint64 histogram_deviation(const Histogram *h)
{
        if (h->count == 0)
                return 0;
        /* The sum of (x - mean)^2. Its terms may wrap around; it does not. */
        uint128 mean = (uint128)(gint128)histogram_mean(h);
        uint128 squares = (uint128)h->square - 2 * mean * (uint128)h->sum + h->count * mean * mean;
        return (gint64)(sqrt((double)squares / (double)h->count) + 0.5);
}

gint64 histogram_quantile(const Histogram *h, double q)
{
        if (h->count == 0)
                return 0;
        double exact = ceil(q * (double)h->count);
        guint64 rank = exact < 1 ? 1 : exact >= (double)h->count ? h->count : (guint64)exact;
        if (rank == 1)
                return h->min;
        if (rank == h->count)
                return h->max;

        guint32 bin = h->first;
        if (h->bins)
                for (guint64 below = h->bins[0]; below < rank; below += h->bins[bin - h->first])
                        bin++;
        gint64 low, high;
        histogram_bin_range(bin, &low, &high);
        low = MAX(low, h->min);
        high = high > h->max ? h->max : high - 1;
        return low + (gint64)(((guint64)high - (guint64)low) / 2);
}

guint64 histogram_bin_count(const Histogram *h, guint32 bin)
{
        if (bin - h->first >= h->n_bins)
                return 0;
        return h->bins ? h->bins[bin - h->first] : h->count;
}

static void put_varint(GByteArray *out, guint64 value)
{
        guint8 bytes[10];
        guint n = 0;

        for (; value >= 0x80; value >>= 7)
                bytes[n++] = (guint8)(value | 0x80);
        bytes[n++] = (guint8)value;
        g_byte_array_append(out, bytes, n);
}

static gboolean get_varint(const guint8 **data, const guint8 *end, guint64 *value)
{
        *value = 0;
        for (guint shift = 0; *data < end && shift < 64; shift += 7) {
                guint8 byte = *(*data)++;
                if (shift == 63 && byte > 1)
                        return FALSE;
                *value |= (guint64)(byte & 0x7f) << shift;
                if (!(byte & 0x80))
                        return TRUE;
        }
        return FALSE;
}

GBytes *histogram_bins_pack(const Histogram *h)
{
        GByteArray *out = g_byte_array_new();
        guint64 used = 0;

        for (guint32 i = 0; i < h->n_bins; i++)
                used += histogram_bin_count(h, h->first + i) != 0;
        put_varint(out, used);
        guint32 last = 0;
        for (guint32 i = 0; i < h->n_bins; i++) {
                guint64 count = histogram_bin_count(h, h->first + i);
                if (!count)
                        continue;
                put_varint(out, h->first + i - last);
                put_varint(out, count);
                last = h->first + i;
        }
        return g_byte_array_free_to_bytes(out);
}

gboolean histogram_bins_unpack(Histogram *h, const guint8 *data, gsize n)
{
        const guint8 *end = data + n;
        guint64 used, step, count, bin = 0;

        g_assert(h->count == 0);
        if (!get_varint(&data, end, &used))
                return FALSE;
        for (guint64 i = 0; i < used; i++) {
                if (!get_varint(&data, end, &step) || !get_varint(&data, end, &count) ||
                    step >= HISTOGRAM_BINS - bin || (i > 0 && step == 0) || count == 0 ||
                    count > G_MAXUINT64 - h->count) {
                        histogram_clear(h);
                        return FALSE;
                }
                bin += step;
                count_in_bin(h, (guint32)bin, count);
        }
        if (data == end)
                return TRUE;
        histogram_clear(h);
        return FALSE;
}
