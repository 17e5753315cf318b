/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/exact-sum.h"

#include <math.h>
#include <string.h>

#include "base/int128.h"

enum {
        WORD = 64,
        FRACTION = WORD * EXACT_SUM_ONES, /* bits of it */
        MANTISSA = 52,                    /* bits of a double after the first */
        LEAST = 1074,                     /* 2^-LEAST is the least double */
};

/* A double of 0 to 1 as a whole number, times 2 to the power of *place less FRACTION. */
static inline guint64 take_apart(double x, guint *place)
{
        const guint64 one = (guint64)1 << MANTISSA;
        guint64 bits;
        guint exponent;

        memcpy(&bits, &x, sizeof bits);
        exponent = (guint)(bits >> MANTISSA);
        *place = FRACTION - LEAST + (exponent ? exponent - 1 : 0);
        return (bits & (one - 1)) | (exponent ? one : 0);
}

static void add_at(ExactSum *sum, guint word, guint128 x)
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
        shifted = (guint128)take_apart(x, &place);
        shifted <<= place % WORD; /* of 53 bits: they fit */
        word = place / WORD;
        lower = (guint128)sum->word[word] + (guint64)shifted;
        upper = (lower >> WORD) + (shifted >> WORD) + sum->word[word + 1];
        sum->word[word] = (guint64)lower;
        sum->word[word + 1] = (guint64)upper;
        if (G_UNLIKELY(upper >> WORD))
                add_at(sum, word + 2, 1);
}

void exact_sum_add_times(ExactSum *sum, double x, guint64 n)
{
        guint place, shift;
        guint128 product;

        g_assert(x >= 0 && x <= 1);
        product = (guint128)take_apart(x, &place) * n;
        shift = place % WORD;
        add_at(sum, place / WORD, (guint128)((guint64)product << shift));
        /* What is left of the lower word, and the upper one: less than 2^(53 + 64). */
        add_at(sum, place / WORD + 1, product >> 1 >> (WORD - 1 - shift));
}

/* A double is made of two words, of which the last bit stands for all that is below. */
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
