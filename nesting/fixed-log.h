/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Natural logarithms as integers, in units of 1/LOG_UNIT: their sums do not depend
 * on the order of addition, nor they on the mathematics library.
 */
#ifndef RAVEL_FIXED_LOG_H
#define RAVEL_FIXED_LOG_H

#include <glib.h>
#include <string.h>

enum { LOG_UNIT = 256 };

/* ln x, to the nearest unit, for a normal x > 0. */
static inline gint32 fixed_log(double x)
{
        guint64 bits;
        gint32 exponent;
        double z, square, log;

        memcpy(&bits, &x, 8);
        /* x = m * 2^exponent with m from the square root of a half to that of 2. */
        exponent = (gint32)((bits + G_GUINT64_CONSTANT(0x00095f619980c433)) >> 52) - 1023;
        bits -= (guint64)exponent << 52;
        memcpy(&x, &bits, 8);
        /* ln m = 2 artanh z, a series that is right to 10^-8 after these terms. */
        z = (x - 1) / (x + 1);
        square = z * z;
        log = 2 * z *
              (1 + square * (1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7 + square / 9))));
        log = (log + exponent * 0.69314718055994531) * LOG_UNIT;
        return (gint32)(log < 0 ? log - 0.5 : log + 0.5);
}

#endif
