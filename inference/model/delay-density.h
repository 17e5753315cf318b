/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Densities of delays, per ns, learned from counts: one row for each kind of delay. A row with few
 * delays backs off to a more general row. All rows back off to row 0 in the end. Row 0 knows
 * nothing: all octaves are equally probable.
 *
 * Learning only copies the counts. A row is made from the copy when it is first used, and a
 * logarithm when it is first used. Most rows have next to no counts and are never used.
 *
 * Bins are eighths of an octave, from 512 ns to 2^44 ns (five hours). Shorter delays are in bin 0,
 * longer ones in the last bin.
 */
#pragma once

#include "base/bytes.h"
#include "base/fixed-log.h"
#include "base/log-bins.h"

enum {
        DENSITY_FIRST_OCTAVE = 9, /* bin 1 begins at 2^9 ns */
        DENSITY_BINS = 1 + 8 * (44 - DENSITY_FIRST_OCTAVE),
        /* The count of one delay. Fading halves it, so it needs room for fractions. */
        DENSITY_COUNT = 256,
        DENSITY_MAX_ROWS = 4096,
};

typedef struct {
        gint64 resolution; /* all delays are its multiples, ns; 0: they are exact */
        guint32 n, room;   /* rows */
        guint32 *backoff;
        guint32 (*count)[DENSITY_BINS]; /* with the counts of rows that back off to it */
        guint32 (*kept)[DENSITY_BINS]; /* counts of earlier steps of --window; NULL: none */
        guint32 (*learned)[DENSITY_BINS]; /* the counts at the latest learning */
        guint8 *made;                     /* by row: whether what follows is of these */
        float (*density)[DENSITY_BINS];   /* per ns */
        double (*exact)[DENSITY_BINS];    /* the same before it was rounded */
        float (*rest)[DENSITY_BINS];      /* the greatest density in this bin or a later one */
        gint16 (*log)[DENSITY_BINS];      /* of the density, in 1/LOG_UNIT; or NO_LOG yet */
} DelayDensities;

#define NO_LOG G_MININT16

static inline guint density_bin(gint64 delay)
{
        /* Counted from the first bin. */
        gint64 bin = log_bin(delay, 3) - DENSITY_FIRST_OCTAVE * 8 + 1;

        return CLAMP(bin, 0, DENSITY_BINS - 1);
}

/* The shortest delay of a bin, and the width of the bin, in ns. */
static inline gint64 density_bin_start(guint bin)
{
        return bin == 0 ? 0
                        : (gint64)(8 + (bin - 1) % 8) << (DENSITY_FIRST_OCTAVE - 3 + (bin - 1) / 8);
}

static inline gint64 density_bin_width(guint bin)
{
        return bin == 0 ? (gint64)1 << DENSITY_FIRST_OCTAVE
                        : (gint64)1 << (DENSITY_FIRST_OCTAVE - 3 + (bin - 1) / 8);
}

void delay_densities_init(DelayDensities *d); /* row 0 alone */
void delay_densities_copy(DelayDensities *to, const DelayDensities *d);
void delay_densities_clear(DelayDensities *d);

/* Sets the resolution of delays, ns: all are its multiples, as the stamps are; 0: they are exact. A
 * counted delay may have been any delay that is rounded to it. So rows are made from counts that
 * are spread over the resolution. Bin 0 alone would be too narrow for a delay of 0. To be called
 * before the first learning. */
void delay_densities_set_resolution(DelayDensities *d, gint64 resolution);

/* Adds an empty row. Returns its number, or backoff if there are DENSITY_MAX_ROWS rows. It can be
 * used after the next learning. */
guint32 delay_densities_add_row(DelayDensities *d, guint32 backoff);

/* Halves all counts. Or drops all counts but the kept ones. */
void delay_densities_fade(DelayDensities *d);
void delay_densities_forget(DelayDensities *d);

/* Keeps all counts so far for later learning; half: half of them. */
void delay_densities_keep(DelayDensities *d, gboolean half);

/* Counts a delay (DENSITY_COUNT for one) in a row and the rows that it backs off to. */
void delay_densities_count(DelayDensities *d, guint32 row, guint bin, guint32 count);

/* Learns from the counts. Rows are made of them later. */
void delay_densities_learn(DelayDensities *d);

/* Makes a row, and the rows that it backs off to. */
void delay_densities_make(DelayDensities *d, guint32 row);

/* The densities of a row, by bin; and the logarithm of one density, in 1/LOG_UNIT. */
static inline const float *delay_densities_row(DelayDensities *d, guint32 row)
{
        if (G_UNLIKELY(!d->made[row]))
                delay_densities_make(d, row);
        return d->density[row];
}

gint16 delay_densities_find_log(DelayDensities *d, guint32 row, guint bin);

static inline gint32 delay_densities_log(DelayDensities *d, guint32 row, guint bin)
{
        gint16 log = d->log[row][bin];

        return G_LIKELY(d->made[row] && log != NO_LOG) ? log
                                                       : delay_densities_find_log(d, row, bin);
}

/* Writes to bytes, or reads from bytes into densities that are not initialised yet. */
void delay_densities_bytes(DelayDensities *d, Bytes *b);
