/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Natural logarithms as integers, in units of 1/LOG_UNIT. So their sums depend neither on the order
 * of addition nor on the mathematics library.
 */
#pragma once

#include "base/exact-log.h"

enum { LOG_UNIT = 256 };

/* ln x, to the nearest unit, for a normal x > 0. */
static inline gint32 fixed_log(double x)
{
        double log = exact_log(x) * LOG_UNIT;

        return (gint32)(log < 0 ? log - 0.5 : log + 0.5);
}
