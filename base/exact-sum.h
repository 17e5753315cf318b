/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sums of probabilities that do not depend on the order of addition, as those of doubles do: in
 * fixed point, with room for every bit that a double of at most 1 may have (Kulisch, 1971). Sums of
 * parts merge into exactly what one over everything is.
 */
#ifndef RAVEL_EXACT_SUM_H
#define RAVEL_EXACT_SUM_H

#include <glib.h>

enum { EXACT_SUM_WORDS = 18, EXACT_SUM_ONES = EXACT_SUM_WORDS - 1 };

/* The number of ones and, from there down, 64 bits of the fraction a word. All zeros is a sum of
 * nothing. Of the same numbers all words are the same. */
typedef struct {
        guint64 word[EXACT_SUM_WORDS];
} ExactSum;

/* Adds x, 0 <= x <= 1. */
static inline void exact_sum_add(ExactSum *sum, double x);

/* Adds x n times. All n of a sum together are less than 2^64. */
void exact_sum_add_times(ExactSum *sum, double x, guint64 n);

/* The nearest double, of two as near the one whose last bit is 0. */
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

#endif
