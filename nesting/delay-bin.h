/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The bins of the scoreboard's delays: floor(ln delay / ln 1.05), delay in ns
 * (paper, section 5.1.1.2, which starts at a millisecond; calls have become
 * shorter). Bin 0 also takes everything below 1 ns. Found by comparing with
 * integer edges, so that a delay falls into the same bin on every machine.
 */
#ifndef RAVEL_DELAY_BIN_H
#define RAVEL_DELAY_BIN_H

#include <glib.h>

enum { N_DELAY_BINS = 896 }; /* 1.05^896 ns is over 300 years */

typedef struct {
        gint64 edge[N_DELAY_BINS + 1]; /* the least delay of each bin */
        guint16 guess[64 * 32];        /* by exponent and 5 bits: the bin, or the one below */
} DelayBins;

void delay_bins_init(DelayBins *bins);

static inline guint delay_bin(const DelayBins *bins, gint64 delay)
{
        guint64 d = delay < 1 ? 1 : delay;
        guint exponent = 63 - __builtin_clzll(d);
        /* The five bits below the leading one; a bin is never narrower. */
        guint guess = bins->guess[exponent << 5 | ((d << (63 - exponent)) >> 58 & 31)];

        return guess + (delay >= bins->edge[guess + 1]);
}

#endif
