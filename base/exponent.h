/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The binary exponent of a double, for products that would leave its range.
 */
#pragma once

#include <glib.h>
#include <string.h>

/* 2^exponent, from 2^-1000 to 2^1000. */
static inline double power_of_two(gint32 exponent)
{
        guint64 bits = (guint64)(1023 + CLAMP(exponent, -1000, 1000)) << 52;
        double x;

        memcpy(&x, &bits, 8);
        return x;
}

/* x times 2^exponent. The exponent mostly is 0. */
static inline double times_power(double x, gint32 exponent)
{
        return exponent == 0 ? x : x * power_of_two(exponent);
}

/* The exponent of a normal x > 0: 2^exponent <= x. */
static inline gint32 exponent_of(double x)
{
        guint64 bits;

        memcpy(&bits, &x, 8);
        return (gint32)(bits >> 52 & 0x7ff) - 1023;
}
