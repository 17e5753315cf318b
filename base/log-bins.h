/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Parts of octaves: the bins that all distributions of delays are made of. Histograms have 64 to an
 * octave and those of inference 8; the scoreboard's, which the paper gives a factor of 1.05, are
 * found from 32.
 */
#ifndef RAVEL_LOG_BINS_H
#define RAVEL_LOG_BINS_H

#include <glib.h>
#include <string.h>

/* As doubles, delays below this are exact. */
#define LOG_BIN_EXACT ((gint64)1 << 53)

/* The part of an octave that a delay lies in, from 1 to LOG_BIN_EXACT, counted from the one that
 * begins at 1; 1 << bits to an octave. They are the exponent and the first bits of the mantissa of
 * a double, which is quicker than to look for the leading bit. */
static inline gint64 log_bin(gint64 delay, guint bits)
{
        double exact = (double)delay;
        gint64 word;

        memcpy(&word, &exact, sizeof word);
        return (word >> (52 - bits)) - ((gint64)1023 << bits);
}

#endif
