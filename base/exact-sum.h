/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Exact sums of probabilities, which do not depend on the order of addition, as sums of doubles do.
 * A sum is in fixed point, with room for every bit of a double up to 1 (Kulisch, 1971).
 */
#pragma once

#include <glib.h>

enum { EXACT_SUM_WORDS = 18, EXACT_SUM_ONES = EXACT_SUM_WORDS - 1 };

/* The whole part in the last word, and 64 bits of the fraction in each word below. All zeros is the
 * empty sum. Sums of the same numbers are the same in all words. */
typedef struct {
        guint64 word[EXACT_SUM_WORDS];
} ExactSum;

/* Adds x, 0 <= x <= 1. */
static inline void exact_sum_add(ExactSum *sum, double x);

/* Adds x n times. A sum of fewer than 2^64 numbers does not overflow. */
void exact_sum_add_times(ExactSum *sum, double x, guint64 n);

/* The nearest double; of two equally near ones, the one whose last bit is 0. */
double exact_sum_value(const ExactSum *sum);

/* --- inline ----------------------------------------------------------------- */

void exact_sum_add_fraction(ExactSum *sum, double x);

static inline void exact_sum_add(ExactSum *sum, double x)
{
        if (G_LIKELY(x == 1))
                sum->word[EXACT_SUM_ONES]++;
        else
                exact_sum_add_fraction(sum, x);
}
