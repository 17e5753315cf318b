/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/exact-sum.h"

#include <math.h>
#include <string.h>

#include "base/int128.h"

enum {
        WORD = 64,
        FRACTION = WORD * EXACT_SUM_ONES, /* bits after the point */
        MANTISSA = 52,                    /* stored bits of a double's mantissa */
        LEAST = 1074,                     /* 2^-LEAST is the least double above 0 */
};

/* Splits x, from 0 to 1, into a whole number m and a place: x = m * 2^(place - FRACTION). Returns
 * m. */
static inline guint64 split_double(double x, guint *place)
{
        const guint64 one = (guint64)1 << MANTISSA;
        guint64 bits;
        guint exponent;

        memcpy(&bits, &x, sizeof bits);
        exponent = (guint)(bits >> MANTISSA);
        *place = FRACTION - LEAST + (exponent ? exponent - 1 : 0);
        return (bits & (one - 1)) | (exponent ? one : 0);
}

static void add_to_word(ExactSum *sum, guint word, guint128 x)
{
        for (; x; word++) {
                g_assert(word < EXACT_SUM_WORDS);
                x += sum->word[word];
                sum->word[word] = (guint64)x;
                x >>= WORD;
        }
}

void exact_sum_add_fraction(ExactSum *sum, double x)
{
        guint place, word;
        guint128 shifted, lower, upper;

        g_assert(x >= 0 && x <= 1);
        shifted = (guint128)split_double(x, &place);
        shifted <<= place % WORD; /* 53 bits and 63 fit 128 */
        word = place / WORD;
        lower = (guint128)sum->word[word] + (guint64)shifted;
        upper = (lower >> WORD) + (shifted >> WORD) + sum->word[word + 1];
        sum->word[word] = (guint64)lower;
        sum->word[word + 1] = (guint64)upper;
        if (G_UNLIKELY(upper >> WORD))
                add_to_word(sum, word + 2, 1);
}

void exact_sum_add_times(ExactSum *sum, double x, guint64 n)
{
        guint place, shift;
        guint128 product;

        g_assert(x >= 0 && x <= 1);
        product = (guint128)split_double(x, &place) * n;
        shift = place % WORD;
        add_to_word(sum, place / WORD, (guint128)((guint64)product << shift));
        /* The other bits of the product, which is less than 2^(53 + 64). */
        add_to_word(sum, place / WORD + 1, product >> 1 >> (WORD - 1 - shift));
}

/* Rounds the two highest words that are not 0. Their last bit is set if any lower word is not 0 (a
 * sticky bit). */
double exact_sum_value(const ExactSum *sum)
{
        guint top = EXACT_SUM_ONES;
        guint128 value;
        gboolean below = FALSE;

        while (top > 1 && sum->word[top] == 0)
                top--;
        value = (guint128)sum->word[top] << WORD | sum->word[top - 1];
        for (guint i = 0; i + 1 < top; i++)
                below |= sum->word[i] != 0;
        return ldexp((double)(value | below), (gint)(WORD * (top - 1)) - FRACTION);
}
