/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The natural logarithm, by the four operations alone, which IEEE 754 defines to the last bit.
 * Mathematics libraries differ in the last bit, and so would results.
 */
#pragma once

#include <glib.h>
#include <string.h>

/* ln x for a normal x > 0, right to 1e-14. */
static inline double exact_log(double x)
{
        static const double part[] = { 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9,
                                       1.0 / 7,  1.0 / 5,  1.0 / 3,  1 };
        guint64 bits;
        gint32 exponent;
        double z, square, sum = 0;

        memcpy(&bits, &x, 8);
        /* x = m * 2^exponent, sqrt(1/2) <= m < sqrt(2) */
        exponent = (gint32)((bits + G_GUINT64_CONSTANT(0x00095f619980c433)) >> 52) - 1023;
        bits -= (guint64)exponent << 52;
        memcpy(&x, &bits, 8);
        /* ln m = 2 artanh z */
        z = (x - 1) / (x + 1);
        square = z * z;
        for (guint i = 0; i < G_N_ELEMENTS(part); i++)
                sum = sum * square + part[i];
        return 2 * z * sum + exponent * 0.69314718055994531;
}
