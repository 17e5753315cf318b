/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/histogram.h"

#include <math.h>
#include <string.h>

#include "base/log-bins.h"

#define OCTAVE_BITS 6 /* 64 bins to an octave */

/* Longer lists would take the room of the bins that they save. */
#define MAX_FEW 256

__extension__ typedef unsigned __int128 uint128;

static inline guint32 bin_of(gint64 delay)
{
        if (G_UNLIKELY(delay < 0))
                return 0;
        if (delay < 1 << OCTAVE_BITS)
                return 1 + (guint32)delay;
        if (G_LIKELY(delay < LOG_BIN_EXACT))
                return 1 + (guint32)log_bin(delay, OCTAVE_BITS) -
                       ((OCTAVE_BITS - 1) << OCTAVE_BITS);
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
        g_free(h->bins); /* or few */
        g_free(h->high);
        *h = (Histogram)HISTOGRAM_INIT;
}

static guint64 value_of(const Histogram *h, guint32 i)
{
        return (h->high ? (guint64)h->high[i] << 32 : 0) | h->bins[i];
}

G_NO_INLINE static void carry(Histogram *h, guint32 i, guint32 high)
{
        if (!h->high)
                h->high = g_new0(guint32, h->n_bins);
        h->high[i] += high;
}

static inline void add_to(Histogram *h, guint32 i, guint64 count)
{
        guint64 low = h->bins[i] + (count & G_MAXUINT32), high = (low >> 32) + (count >> 32);

        h->bins[i] = (guint32)low;
        if (G_UNLIKELY(high))
                carry(h, i, (guint32)high);
}

static inline void add_one_to(Histogram *h, guint32 i)
{
        if (G_UNLIKELY(++h->bins[i] == 0))
                carry(h, i, 1);
}

/* Widens the window of bins so that bin is in it. It grows by a part of itself, on
 * the side where values now come from, so that n values cost O(n). */
static void histogram_widen(Histogram *h, guint32 bin)
{
        guint32 end = h->first + h->n_bins; /* past the last */
        guint32 first = MIN(h->first, bin);
        guint32 n = MAX(end, bin + 1) - first;
        Histogram old = *h;

        n = MAX(n, h->n_bins + h->n_bins / 4 + 8);
        n = MIN(n, HISTOGRAM_BINS);
        if (bin < h->first)
                first = end > n ? end - n : 0;
        first = MIN(first, HISTOGRAM_BINS - n);

        h->bins = g_new0(guint32, n);
        h->first = first;
        h->n_bins = n;
        if (old.bins)
                memcpy(h->bins + (old.first - first), old.bins, old.n_bins * sizeof *h->bins);
        else
                add_to(h, old.first - first, old.count);
        if (old.high) {
                h->high = g_new0(guint32, n);
                memcpy(h->high + (old.first - first), old.high, old.n_bins * sizeof *h->high);
        }
        g_free(old.bins);
        g_free(old.high);
}

/* Makes bins out of a list; the list stays. */
static void histogram_spread(Histogram *h, const guint16 *few)
{
        guint32 low = few[0], high = few[0];

        for (guint64 i = 1; i < h->count; i++) {
                low = MIN(low, few[i]);
                high = MAX(high, few[i]);
        }
        h->first = low;
        h->n_bins = high - low + 1;
        h->bins = g_new0(guint32, h->n_bins);
        for (guint64 i = 0; i < h->count; i++)
                h->bins[few[i] - low]++;
}

/* Makes room in a list for n values. */
static void lengthen(Histogram *h, guint64 n)
{
        if (n <= h->room)
                return;
        h->room = (guint32)MIN(MAX(n, 2 * (guint64)h->room), MAX_FEW);
        h->few = g_renew(guint16, h->few, h->room);
}

/* Makes a list of what is there, with room for n values more; FALSE where there are bins
 * already, or it would be too long. */
static gboolean make_list(Histogram *h, guint64 n)
{
        if ((h->n_bins > 0 && h->bins) || n > MAX_FEW || h->count > MAX_FEW - n)
                return FALSE;
        lengthen(h, h->count + n);
        for (guint64 i = 0; h->n_bins == 1 && i < h->count; i++)
                h->few[i] = (guint16)h->first;
        h->n_bins = 0;
        return TRUE;
}

/* Makes bins of what is there, from low to high at least. */
static void make_bins(Histogram *h, guint32 low, guint32 high)
{
        if (h->count == 0) {
                h->first = low;
                h->n_bins = high - low + 1;
                h->bins = g_new0(guint32, h->n_bins);
        } else if (h->n_bins == 0) {
                g_autofree guint16 *few = h->few;
                histogram_spread(h, few);
                h->room = 0;
        }
        if (low - h->first >= h->n_bins)
                histogram_widen(h, low);
        if (high - h->first >= h->n_bins || !h->bins)
                histogram_widen(h, high);
}

/* Counts values of a bin that is not in the window, or where there is none. */
static void count_elsewhere(Histogram *h, guint32 bin, guint64 count)
{
        if (h->count == 0) {
                h->first = bin;
                h->n_bins = 1;
                return;
        }
        if (make_list(h, count)) {
                for (guint64 i = 0; i < count; i++)
                        h->few[h->count + i] = (guint16)bin;
                return;
        }
        make_bins(h, bin, bin);
        add_to(h, bin - h->first, count);
}

static inline void count_in_bin(Histogram *h, guint32 bin, guint64 count)
{
        if (bin - h->first >= h->n_bins)
                count_elsewhere(h, bin, count);
        else if (h->bins)
                add_to(h, bin - h->first, count);
        h->count += count;
}

/* A histogram with the same bins, but not as a list. What is in temporary is to
 * be freed. */
static const Histogram *without_list(const Histogram *h, Histogram *temporary)
{
        *temporary = (Histogram)HISTOGRAM_INIT;
        if (h->n_bins > 0 || h->count == 0)
                return h;
        temporary->count = h->count;
        histogram_spread(temporary, h->few);
        return temporary;
}

/* Delays of years, which only broken clocks make, could exceed 128 bits. */
static inline gint128 add_squares(gint128 a, gint128 b)
{
        gint128 sum;

        if (G_UNLIKELY(__builtin_add_overflow(a, b, &sum)))
                return (gint128)(~(uint128)0 >> 1);
        return sum;
}

void histogram_add_all(Histogram *h, const gint64 *delays, gsize n, gsize stride)
{
        gint64 min = G_MAXINT64, max = G_MININT64;
        gint128 sum = 0, square = 0;

        if (n == 0)
                return;
        for (gsize i = 0; i < n; i++) {
                gint64 delay = delays[i * stride];

                min = MIN(min, delay);
                max = MAX(max, delay);
                sum += delay;
                square = add_squares(square, (gint128)delay * delay);
        }
        h->min = h->count ? MIN(h->min, min) : min;
        h->max = h->count ? MAX(h->max, max) : max;
        guint32 low = bin_of(min), high = bin_of(max);
        if (low == high) {
                count_in_bin(h, low, n);
        } else if (h->count + n <= 2 * (high - low + 1) && make_list(h, n)) {
                for (gsize i = 0; i < n; i++)
                        h->few[h->count++] = (guint16)bin_of(delays[i * stride]);
        } else {
                make_bins(h, low, high);
                for (gsize i = 0; i < n; i++)
                        add_one_to(h, bin_of(delays[i * stride]) - h->first);
                h->count += n;
        }
        h->sum += sum;
        h->square = add_squares(h->square, square);
}

void histogram_add(Histogram *h, gint64 delay)
{
        histogram_add_all(h, &delay, 1, 0);
}

void histogram_add_zeros(Histogram *h, guint64 n)
{
        if (n == 0)
                return;
        h->min = h->count ? MIN(h->min, 0) : 0;
        h->max = h->count ? MAX(h->max, 0) : 0;
        count_in_bin(h, bin_of(0), n);
}

/* Counts what is in the bins of another. */
static void add_bins(Histogram *into, const Histogram *from)
{
        guint32 low = 0, high = from->n_bins - 1;

        while (!value_of(from, low))
                low++;
        while (!value_of(from, high))
                high--;
        make_bins(into, from->first + low, from->first + high);
        for (guint32 i = low; i <= high; i++)
                add_to(into, from->first + i - into->first, value_of(from, i));
        into->count += from->count;
}

void histogram_merge(Histogram *into, const Histogram *from)
{
        if (from->count == 0)
                return;
        gboolean was_empty = into->count == 0;
        if (from->n_bins == 0)
                for (guint64 i = 0; i < from->count; i++)
                        count_in_bin(into, from->few[i], 1);
        else if (!from->bins)
                count_in_bin(into, from->first, from->count);
        else
                add_bins(into, from);
        into->min = was_empty ? from->min : MIN(into->min, from->min);
        into->max = was_empty ? from->max : MAX(into->max, from->max);
        into->sum += from->sum;
        into->square = add_squares(into->square, from->square);
}

/* x * n / d, to the nearest; as with add_squares(), at most what 128 bits hold. */
static gint128 scale_sum(gint128 x, guint64 n, guint64 d)
{
        gint128 whole, rest = x % d * n;

        rest = (rest + (rest < 0 ? -(gint128)(d / 2) : (gint128)(d / 2))) / d;
        if (G_UNLIKELY(__builtin_mul_overflow(x / d, (gint128)n, &whole) ||
                       __builtin_add_overflow(whole, rest, &whole)))
                return (gint128)(~(uint128)0 >> 1);
        return whole;
}

void histogram_scale(Histogram *into, const Histogram *from, guint64 n)
{
        guint64 seen = 0, done = 0;
        Histogram temporary;
        const Histogram *in;

        g_assert(into->count == 0);
        if (from->count == 0 || n == 0)
                return;
        in = without_list(from, &temporary);
        /* What is counted up to a bin is rounded, not the bin, or the sum would not be n. */
        for (guint32 i = 0; i < in->n_bins; i++) {
                guint64 count;

                seen += in->bins ? in->bins[i] : in->count;
                count = (guint64)scale_sum(seen, n, in->count) - done;
                if (count > 0)
                        count_in_bin(into, in->first + i, count);
                done += count;
        }
        g_free(temporary.bins);
        into->min = from->min;
        into->max = from->max;
        into->sum = scale_sum(from->sum, n, from->count);
        into->square = scale_sum(from->square, n, from->count);
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
        double deviation = sqrt((double)squares / (double)h->count) + 0.5;
        return deviation < (double)G_MAXINT64 ? (gint64)deviation : G_MAXINT64;
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

        Histogram temporary;
        const Histogram *in = without_list(h, &temporary);
        guint32 bin = in->first;
        if (in->bins)
                for (guint64 below = value_of(in, 0); below < rank;
                     below += value_of(in, bin - in->first))
                        bin++;
        g_free(temporary.bins);
        gint64 low, high;
        histogram_bin_range(bin, &low, &high);
        low = MAX(low, h->min);
        high = high > h->max ? h->max : high - 1;
        return low + (gint64)(((guint64)high - (guint64)low) / 2);
}

guint64 histogram_bin_count(const Histogram *h, guint32 bin)
{
        if (h->n_bins == 0) {
                guint64 n = 0;
                for (guint64 i = 0; i < h->count; i++)
                        n += h->few[i] == bin;
                return n;
        }
        if (bin - h->first >= h->n_bins)
                return 0;
        return h->bins ? value_of(h, bin - h->first) : h->count;
}

guint64 *histogram_counts(const Histogram *h, guint32 *first, guint32 *n)
{
        Histogram temporary;
        const Histogram *in = without_list(h, &temporary);
        guint64 *counts;

        *first = *n = 0;
        if (h->count == 0)
                return NULL;
        *first = bin_of(h->min);
        *n = bin_of(h->max) - *first + 1;
        counts = g_new(guint64, *n);
        for (guint32 i = 0; i < *n; i++)
                counts[i] = histogram_bin_count(in, *first + i);
        g_free(temporary.bins);
        return counts;
}

static inline guint8 *histogram_write_number(guint8 *to, uint128 value)
{
        for (; value >= 0x80; value >>= 7)
                *to++ = (guint8)(value | 0x80);
        *to++ = (guint8)value;
        return to;
}

static void put_number(GByteArray *out, uint128 value)
{
        guint8 bytes[19];

        g_byte_array_append(out, bytes, (guint)(histogram_write_number(bytes, value) - bytes));
}

static void put_signed(GByteArray *out, gint128 value)
{
        put_number(out, value < 0 ? ~((uint128)value << 1) : (uint128)value << 1);
}

/* The next number, of at most the given bits. */
static gboolean get_number(const guint8 **data, const guint8 *end, guint bits, uint128 *value)
{
        *value = 0;
        for (guint shift = 0; *data < end && shift < bits; shift += 7) {
                guint8 byte = *(*data)++;
                if (shift + 7 > bits && (byte & 0x7f) >> (bits - shift))
                        return FALSE;
                *value |= (uint128)(byte & 0x7f) << shift;
                if (!(byte & 0x80))
                        return TRUE;
        }
        return FALSE;
}

static gboolean get_signed(const guint8 **data, const guint8 *end, guint bits, gint128 *value)
{
        uint128 zigzag;

        if (!get_number(data, end, bits, &zigzag))
                return FALSE;
        *value = (gint128)(zigzag >> 1);
        if (zigzag & 1)
                *value = ~*value;
        return TRUE;
}

/* How many values are in the i-th bin of one that is no list. */
static inline guint64 count_at(const Histogram *h, guint32 i)
{
        return h->bins ? value_of(h, i) : h->count;
}

static void put_bins(GByteArray *out, const Histogram *h)
{
        enum { STEP_SIZE = 2, COUNT_SIZE = 10 }; /* bytes, at most */
        guint32 used = 0, last = 0;
        gsize length;
        guint8 *to;
        Histogram temporary;

        h = without_list(h, &temporary);
        for (guint32 i = 0; i < h->n_bins; i++)
                used += count_at(h, i) > 0;
        put_number(out, used);
        length = out->len;
        g_byte_array_set_size(out, (guint)(length + used * (gsize)(STEP_SIZE + COUNT_SIZE)));
        to = out->data + length;
        for (guint32 i = 0; i < h->n_bins; i++) {
                guint64 count = count_at(h, i);

                if (!count)
                        continue;
                to = histogram_write_number(to, h->first + i - last);
                to = histogram_write_number(to, count);
                last = h->first + i;
        }
        g_byte_array_set_size(out, (guint)(to - out->data));
        g_free(temporary.bins);
}

/* Most are of one byte. */
static inline gboolean get_word(const guint8 **data, const guint8 *end, guint64 *value)
{
        uint128 number;

        if (G_LIKELY(*data < end && **data < 0x80)) {
                *value = *(*data)++;
                return TRUE;
        }
        if (!get_number(data, end, 64, &number))
                return FALSE;
        *value = (guint64)number;
        return TRUE;
}

/* ends: the first and the last bin that hold values. If MANY are used, all bins between are made at
 * once. */
static gboolean get_bins(Histogram *h, const guint8 *data, const guint8 *end, const guint32 *ends)
{
        enum { MANY = 64 };
        guint64 used, step, count, bin = 0;

        if (!get_word(&data, end, &used))
                return FALSE;
        if (used >= MANY)
                make_bins(h, ends[0], ends[1]);
        for (guint64 i = 0; i < used; i++) {
                if (!get_word(&data, end, &step) || !get_word(&data, end, &count) ||
                    step >= HISTOGRAM_BINS - bin || (i > 0 && step == 0) || count == 0 ||
                    count > G_MAXUINT64 - h->count)
                        return FALSE;
                bin += step;
                if (i == 0 ? bin != ends[0] : bin > ends[1])
                        return FALSE;
                count_in_bin(h, (guint32)bin, count);
        }
        return data == end && bin == ends[1];
}

GBytes *histogram_pack(const Histogram *h)
{
        GByteArray *out = g_byte_array_new();

        if (h->count > 0) {
                put_signed(out, h->min);
                put_number(out, (guint64)h->max - (guint64)h->min);
                put_signed(out, h->sum);
                put_number(out, (uint128)h->square);
                put_bins(out, h);
        }
        return g_byte_array_free_to_bytes(out);
}

gboolean histogram_unpack(Histogram *h, const guint8 *data, gsize n)
{
        const guint8 *end;
        gint128 min, sum;
        uint128 width, square;
        guint32 ends[2];

        g_assert(h->count == 0);
        if (n == 0) /* then data may be NULL */
                return TRUE;
        end = data + n;
        if (!get_signed(&data, end, 64, &min) || !get_number(&data, end, 64, &width) ||
            !get_signed(&data, end, 128, &sum) || !get_number(&data, end, 127, &square) ||
            min + (gint128)width > G_MAXINT64)
                return FALSE;
        ends[0] = bin_of((gint64)min);
        ends[1] = bin_of((gint64)(min + (gint128)width));
        if (!get_bins(h, data, end, ends) || h->count == 0) {
                histogram_clear(h);
                return FALSE;
        }
        h->min = (gint64)min;
        h->max = (gint64)(min + (gint128)width);
        h->sum = sum;
        h->square = (gint128)square;
        return TRUE;
}
