/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/model/delay-density.h"
#include "inference/model/tuning.h"

/* Finds what is found of exact densities. */
static void round_row(DelayDensities *d, guint32 row)
{
        float most = 0;

        for (guint bin = DENSITY_BINS; bin-- > 0;) {
                float density = (float)d->exact[row][bin];

                d->density[row][bin] = density;
                most = MAX(most, density);
                d->rest[row][bin] = most;
                d->log[row][bin] = NO_LOG;
        }
}

gint16 delay_densities_find_log(DelayDensities *d, guint32 row, guint bin)
{
        if (!d->made[row])
                delay_densities_make(d, row);
        if (d->log[row][bin] == NO_LOG)
                d->log[row][bin] = CLAMP(fixed_log(d->exact[row][bin]), G_MININT16 + 1, G_MAXINT16);
        return d->log[row][bin];
}

/* The bins from first to end - 1. */
typedef struct {
        gint first, end;
} Bins;

/* Spreads the mass of each bin over the resolution, half to either side. The part below 0 is
 * dropped, not moved, so that densities just above 0 are not doubled. Bins wider than the
 * resolution stay. mass is 0 outside `bins`. Returns the range outside which it is 0 afterwards. */
static Bins spread(double *mass, Bins bins, gint64 resolution)
{
        double out[DENSITY_BINS] = { 0 };
        Bins wide = bins;

        for (gint bin = bins.first; bin < bins.end; bin++) {
                gint64 middle = density_bin_start(bin) + (bin ? density_bin_width(bin) / 2 : 0);
                gint64 from = MAX(middle - resolution / 2, 0), to = middle + resolution / 2;

                if (mass[bin] == 0 || density_bin_width(bin) >= resolution) {
                        out[bin] += mass[bin];
                        continue;
                }
                for (guint b = density_bin(from); b < DENSITY_BINS; b++) {
                        gint64 start = MAX(density_bin_start(b), from),
                               end = MIN(density_bin_start(b) + density_bin_width(b), to);

                        if (start >= to)
                                break;
                        out[b] += mass[bin] * (double)(end - start) / (double)resolution;
                        wide = (Bins){ MIN(wide.first, (gint)b), MAX(wide.end, (gint)b + 1) };
                }
        }
        memcpy(mass, out, sizeof out);
        return wide;
}

void delay_densities_set_resolution(DelayDensities *d, gint64 resolution)
{
        double mass[DENSITY_BINS];

        if (d->resolution == resolution)
                return;
        d->resolution = resolution;
        for (guint bin = 0; bin < DENSITY_BINS; bin++)
                mass[bin] = 1.0 / DENSITY_BINS;
        if (resolution > 0)
                spread(mass, (Bins){ 0, DENSITY_BINS }, resolution);
        for (guint bin = 0; bin < DENSITY_BINS; bin++)
                d->exact[0][bin] = mass[bin] / density_bin_width(bin);
        round_row(d, 0);
}

guint32 delay_densities_add_row(DelayDensities *d, guint32 backoff)
{
        if (d->n == DENSITY_MAX_ROWS)
                return backoff;
        if (d->n == d->room) {
                d->room = MAX(16, 2 * d->room);
                d->backoff = g_renew(guint32, d->backoff, d->room);
                d->count = g_realloc_n(d->count, d->room, sizeof *d->count);
                d->learned = g_realloc_n(d->learned, d->room, sizeof *d->learned);
                d->made = g_renew(guint8, d->made, d->room);
                d->density = g_realloc_n(d->density, d->room, sizeof *d->density);
                d->exact = g_realloc_n(d->exact, d->room, sizeof *d->exact);
                d->rest = g_realloc_n(d->rest, d->room, sizeof *d->rest);
                d->log = g_realloc_n(d->log, d->room, sizeof *d->log);
                if (d->kept)
                        d->kept = g_realloc_n(d->kept, d->room, sizeof *d->kept);
        }
        d->backoff[d->n] = backoff;
        memset(d->count[d->n], 0, sizeof *d->count);
        d->made[d->n] = TRUE;
        memset(d->density[d->n], 0, sizeof *d->density);
        memset(d->exact[d->n], 0, sizeof *d->exact);
        memset(d->rest[d->n], 0, sizeof *d->rest);
        memset(d->log[d->n], 0, sizeof *d->log);
        if (d->kept)
                memset(d->kept[d->n], 0, sizeof *d->kept);
        return d->n++;
}

void delay_densities_init(DelayDensities *d)
{
        memset(d, 0, sizeof *d);
        delay_densities_add_row(d, 0);
        for (guint bin = 0; bin < DENSITY_BINS; bin++)
                d->exact[0][bin] = 1.0 / DENSITY_BINS / density_bin_width(bin);
        round_row(d, 0);
}

static gpointer copy_of(gconstpointer rows, const DelayDensities *d, gsize size)
{
        gpointer copy = g_malloc_n(d->room, size);

        memcpy(copy, rows, d->n * size);
        return copy;
}

void delay_densities_copy(DelayDensities *to, const DelayDensities *d)
{
        *to = *d;
        to->backoff = copy_of(d->backoff, d, sizeof *d->backoff);
        to->count = copy_of(d->count, d, sizeof *d->count);
        to->kept = d->kept ? copy_of(d->kept, d, sizeof *d->kept) : NULL;
        to->learned = copy_of(d->learned, d, sizeof *d->learned);
        to->made = copy_of(d->made, d, sizeof *d->made);
        to->density = copy_of(d->density, d, sizeof *d->density);
        to->exact = copy_of(d->exact, d, sizeof *d->exact);
        to->rest = copy_of(d->rest, d, sizeof *d->rest);
        to->log = copy_of(d->log, d, sizeof *d->log);
}

void delay_densities_clear(DelayDensities *d)
{
        g_free(d->backoff);
        g_free(d->count);
        g_free(d->kept);
        g_free(d->learned);
        g_free(d->made);
        g_free(d->density);
        g_free(d->exact);
        g_free(d->rest);
        g_free(d->log);
}

void delay_densities_fade(DelayDensities *d)
{
        for (guint32 row = 1; row < d->n; row++)
                for (guint bin = 0; bin < DENSITY_BINS; bin++)
                        d->count[row][bin] /= 2;
}

void delay_densities_forget(DelayDensities *d)
{
        if (d->kept)
                memcpy(d->count, d->kept, d->n * sizeof *d->count);
        else
                memset(d->count, 0, d->n * sizeof *d->count);
}

void delay_densities_keep(DelayDensities *d, gboolean half)
{
        if (!d->kept)
                d->kept = g_malloc_n(d->room, sizeof *d->kept);
        for (guint32 row = 0; row < d->n; row++)
                for (guint bin = 0; bin < DENSITY_BINS; bin++)
                        d->kept[row][bin] = d->count[row][bin] >> half;
}

void delay_densities_count(DelayDensities *d, guint32 row, guint bin, guint32 count)
{
        for (; row != 0; row = d->backoff[row])
                d->count[row][bin] += count;
}

/* Widens a range by reach bins to either side, as far as there are bins. */
static Bins widen(Bins bins, gint reach)
{
        return (Bins){ MAX(bins.first - reach, 0), MIN(bins.end + reach, DENSITY_BINS) };
}

/* Running mean over each bin and reach bins to either side; at the ends, over the bins there are.
 * in is 0 outside of bins. Sets out for bins widened by reach, and returns that range. */
static Bins running_mean(const double *in, double *out, gint reach, Bins bins)
{
        Bins wide = widen(bins, reach);
        double sum = 0;

        for (gint bin = bins.first - reach; bin < wide.end; bin++) {
                gint enters = bin + reach, leaves = bin - reach - 1;

                if (enters < bins.end)
                        sum += in[enters];
                if (leaves >= bins.first)
                        sum -= in[leaves];
                if (bin >= wide.first)
                        out[bin] = MAX(sum, 0) / (MIN(enters, DENSITY_BINS - 1) - MAX(leaves, -1));
        }
        return wide;
}

/* The width of a bin on a logarithmic scale, about: its width by its middle. */
static inline double log_width(guint bin)
{
        return bin == 0 ? 1.0 / 8 : 1 / (8.5 + (bin - 1) % 8);
}

/* How far n counts are smoothed: 1.5 bins where a thousand delays were seen, 8 for a single one. */
static gint find_reach(double n)
{
        gint reach = 1;

        while (reach < tuning.smooth_most && (n + 1) * reach * reach * reach < tuning.smooth_delays)
                reach++;
        return reach;
}

/* Makes the bins below half of the resolution equally dense, as they stand for one delay, 0.
 * Returns the range of bins where mass is not 0. */
static Bins level(double *mass, Bins bins, gint64 resolution)
{
        gint end = density_bin(resolution / 2);
        double sum = 0;

        if (bins.first >= end)
                return bins;
        for (gint bin = 0; bin < end; bin++)
                sum += mass[bin];
        for (gint bin = 0; bin < end; bin++)
                mass[bin] = sum * (double)density_bin_width(bin) / (double)density_bin_start(end);
        return (Bins){ 0, MAX(bins.end, end) };
}

/* Smooths counts by three running means, which come close to a Gaussian with a deviation of half
 * a bin more than their reach. They are smoothed by the width that bins have in logarithms, or they
 * would bulge and sink where widths double. row is 0 outside of bins; returns the range where it
 * then is not. */
static Bins smooth(const DelayDensities *d, double *row, gint reach, Bins bins)
{
        double once[DENSITY_BINS], twice[DENSITY_BINS], before = 0, after = 0;

        for (gint bin = bins.first; bin < bins.end; bin++) {
                before += row[bin];
                row[bin] /= log_width(bin);
        }
        bins = running_mean(row, once, reach, bins);
        bins = running_mean(once, twice, reach, bins);
        bins = running_mean(twice, row, reach, bins);
        for (gint bin = bins.first; bin < bins.end; bin++)
                after += row[bin] *= log_width(bin);
        for (gint bin = bins.first; bin < bins.end && after > 0; bin++)
                row[bin] *= before / after;
        return d->resolution > 0 ? level(row, bins, d->resolution) : bins;
}

/* Gets the counts that a row was learned from, and their sum n. Returns the range of bins where
 * they are not 0. */
static Bins get_counts(const DelayDensities *d, guint32 row, double *counts, double *n)
{
        const guint32 *learned = d->learned[row];
        Bins bins = { 0, DENSITY_BINS };
        guint64 sum = 0;

        while (bins.first < bins.end && learned[bins.first] == 0)
                bins.first++;
        while (bins.first < bins.end && learned[bins.end - 1] == 0)
                bins.end--;
        memset(counts, 0, DENSITY_BINS * sizeof *counts);
        for (gint bin = bins.first; bin < bins.end; bin++) {
                sum += learned[bin];
                counts[bin] = (double)learned[bin] / DENSITY_COUNT;
        }
        *n = (double)sum / DENSITY_COUNT;
        return d->resolution > 0 ? spread(counts, bins, d->resolution) : bins;
}

/* The weight of the backoff of a row that saw n delays, in delays. */
static double backoff_weight(double n)
{
        return tuning.density_weight + n / tuning.density_weight_part;
}

/* A row that saw nothing is as its backoff. */
static void copy_row(DelayDensities *d, guint32 row, guint32 from)
{
        memcpy(d->density[row], d->density[from], sizeof *d->density);
        memcpy(d->exact[row], d->exact[from], sizeof *d->exact);
        memcpy(d->rest[row], d->rest[from], sizeof *d->rest);
        memcpy(d->log[row], d->log[from], sizeof *d->log);
}

static void learn_row(DelayDensities *d, guint32 row, double *counts, double n, Bins bins)
{
        const float *backoff = d->density[d->backoff[row]];
        double weight = backoff_weight(n), *exact = d->exact[row];

        bins = smooth(d, counts, find_reach(n), bins);
        for (gint bin = bins.first; bin < bins.end; bin++)
                counts[bin] /= density_bin_width(bin);
        for (guint bin = 0; bin < DENSITY_BINS; bin++)
                exact[bin] = (counts[bin] + weight * backoff[bin]) / (n + weight);
        round_row(d, row);
}

void delay_densities_learn(DelayDensities *d)
{
        memcpy(d->learned, d->count, d->n * sizeof *d->count);
        memset(d->made + 1, FALSE, d->n - 1);
}

void delay_densities_make(DelayDensities *d, guint32 row)
{
        double counts[DENSITY_BINS], n;
        Bins bins = get_counts(d, row, counts, &n);

        d->made[row] = TRUE;
        if (!d->made[d->backoff[row]])
                delay_densities_make(d, d->backoff[row]);
        if (n == 0) {
                copy_row(d, row, d->backoff[row]);
                return;
        }
        learn_row(d, row, counts, n, bins);
}

/* --- bytes ---------------------------------------------------------------------- */

/* One row. What is not in the bytes follows from them. */
static void row_bytes(DelayDensities *d, guint32 row, gboolean kept, Bytes *b)
{
        gint16 logs[DENSITY_BINS] = { 0 };

        bytes_u32(b, &d->backoff[row]);
        bytes_expect(b, d->backoff[row] < MAX(row, 1), "a row before this one");
        for (guint bin = 0; bin < DENSITY_BINS && bytes_good(b); bin++) {
                float density = delay_densities_row(d, row)[bin];
                guint16 log = bytes_reads(b) ? 0 : (guint16)delay_densities_log(d, row, bin);

                bytes_u32(b, &d->count[row][bin]);
                if (kept)
                        bytes_u32(b, &d->kept[row][bin]);
                bytes_float(b, &density);
                bytes_expect(b, density >= 0, "a density");
                bytes_u16(b, &log);
                if (bytes_reads(b))
                        d->exact[row][bin] = density;
                logs[bin] = (gint16)log;
        }
        if (bytes_reads(b)) {
                round_row(d, row);
                memcpy(d->log[row], logs, sizeof logs);
        }
}

void delay_densities_bytes(DelayDensities *d, Bytes *b)
{
        gboolean kept = d->kept != NULL;
        guint32 n = d->n;

        bytes_bool(b, &kept);
        bytes_count(b, &n, DENSITY_BINS * 10);
        bytes_expect(b, n >= 1 && n <= DENSITY_MAX_ROWS, "1 to DENSITY_MAX_ROWS rows");
        if (!bytes_reads(b)) {
                for (guint32 row = 0; row < n; row++)
                        row_bytes(d, row, kept, b);
                return;
        }
        delay_densities_init(d);
        if (kept)
                d->kept = g_malloc0_n(d->room, sizeof *d->kept);
        for (guint32 row = 0; row < n && bytes_good(b); row++) {
                if (row > 0)
                        delay_densities_add_row(d, 0);
                row_bytes(d, row, kept, b);
        }
}
