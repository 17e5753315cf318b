/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How likely each delay is, as learned from those that were seen: rows of densities
 * per ns, as logarithms. A row leans on a more general one, its backoff, the more the
 * less it has seen; row 0, which all lean on in the end, knows nothing: as likely
 * in each octave.
 *
 * Bins are eighths of an octave from 512 ns to 2^44 ns (five hours); what is shorter
 * is in bin 0, what is longer in the last.
 */
#ifndef RAVEL_DELAY_DENSITY_H
#define RAVEL_DELAY_DENSITY_H

#include <string.h>

#include "base/fixed-log.h"

enum {
        DENSITY_FIRST_OCTAVE = 9,
        DENSITY_BINS = 1 + 8 * (44 - DENSITY_FIRST_OCTAVE),
        /* What one delay counts at first. Counts are halved with each round. */
        DENSITY_COUNT = 256,
        DENSITY_MAX_ROWS = 4096,
};

typedef struct {
        guint32 n, room; /* rows */
        guint8 *part;    /* whether a row is a part of its backoff */
        guint32 *backoff;
        guint32 (*count)[DENSITY_BINS]; /* with those of the rows that lean on it */
        guint32 (*kept)[DENSITY_BINS];  /* of which those of before; NULL: none */
        float (*density)[DENSITY_BINS]; /* per ns */
        float (*rest)[DENSITY_BINS];    /* the greatest of these in a bin or a later one */
        gint16 (*log)[DENSITY_BINS];    /* of that, in 1/LOG_UNIT */
} DelayDensities;

static inline guint density_bin(gint64 delay)
{
        double d = delay;
        gint64 bits, bin;

        /* The exponent and the first three bits of the mantissa, next to those of the first bin's.
         */
        memcpy(&bits, &d, 8);
        bin = (bits >> 49) - (1023 + DENSITY_FIRST_OCTAVE) * 8 + 1;
        return CLAMP(bin, 0, DENSITY_BINS - 1);
}

/* The least of a bin's delays, and their length, in ns. */
gint64 density_bin_start(guint bin);
gint64 density_bin_width(guint bin);

void delay_densities_init(DelayDensities *d); /* row 0 alone */
void delay_densities_clear(DelayDensities *d);

/* A row that has seen nothing; returns its number, that of backoff where there are
 * DENSITY_MAX_ROWS. It can be used after the next learning. */
guint32 delay_densities_add_row(DelayDensities *d, guint32 backoff);

/* The same, for some of the delays that another row has: it is that one's density, but for what is
 * seen to be more or less frequent. */
guint32 delay_densities_add_part(DelayDensities *d, guint32 whole);

/* Halves what was seen so far, or forgets it, but for what was kept. */
void delay_densities_fade(DelayDensities *d);
void delay_densities_forget(DelayDensities *d);

/* From now on what was seen so far is kept; half: half of it. */
void delay_densities_keep(DelayDensities *d, gboolean half);

/* A delay was seen, DENSITY_COUNT for one, which counts for a row and those that it leans on. */
void delay_densities_count(DelayDensities *d, guint32 row, guint bin, guint32 count);

/* Makes densities of the counts. */
void delay_densities_learn(DelayDensities *d);

#endif
