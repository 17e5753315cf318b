/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Logarithmic bins: equal parts of an octave, the bins of all distributions of delays. Histograms
 * have 64 bins an octave, inference has 8. The scoreboard's bins, a factor of 1.05 wide in the
 * paper, are found from 32 an octave.
 */
#pragma once

#include <glib.h>
#include <string.h>

/* Delays below this are exact as doubles. */
#define LOG_BIN_EXACT ((gint64)1 << 53)

/* The bin of a delay from 1 to LOG_BIN_EXACT, with 1 << bits bins an octave; bin 0 begins at 1. It
 * is the exponent and the first bits of the mantissa of a double. That is faster than a search for
 * the leading bit. */
static inline gint64 log_bin(gint64 delay, guint bits)
{
        double exact = (double)delay;
        gint64 word;

        memcpy(&word, &exact, sizeof word);
        return (word >> (52 - bits)) - ((gint64)1023 << bits);
}
