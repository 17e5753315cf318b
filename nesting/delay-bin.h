/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The bins of the scoreboard's delays: floor(ln delay / ln 1.05), delay in ns (paper, section
 * 5.1.1.2, which starts at a millisecond; calls have become shorter). Bin 0 also takes every delay
 * below 1 ns. A delay is compared with integer edges, so it falls into the same bin on every
 * machine.
 */
#pragma once

#include <glib.h>

#include "base/log-bins.h"

enum {
        N_DELAY_BINS = 896, /* 1.05^896 ns is over 300 years */
        DELAY_OCTAVE_BITS = 5,
        DELAY_OCTAVE = 1 << DELAY_OCTAVE_BITS, /* parts of an octave; none is wider than a bin */
};

typedef struct {
        gint64 edge[N_DELAY_BINS + 1];    /* the least delay of each bin */
        guint16 guess[54 * DELAY_OCTAVE]; /* by part of an octave: the bin, or the one below */
} DelayBins;

void delay_bins_init(DelayBins *bins);

/* The bin of any delay, by a binary search. */
guint delay_bin_slowly(const DelayBins *bins, gint64 delay);

/* The bin of a delay of at least 1. */
static inline gsize delay_bin_positive(const DelayBins *bins, gint64 delay)
{
        gsize guess;

        if (G_UNLIKELY(delay > LOG_BIN_EXACT))
                return delay_bin_slowly(bins, delay);
        guess = bins->guess[log_bin(delay, DELAY_OCTAVE_BITS)];
        return guess + (delay >= bins->edge[guess + 1]);
}

static inline guint delay_bin(const DelayBins *bins, gint64 delay)
{
        return delay_bin_positive(bins, MAX(delay, 1));
}
