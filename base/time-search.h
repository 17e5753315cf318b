/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Binary search in sorted times.
 */
#pragma once

#include <glib.h>

/* The index of the first of n sorted times that is not before time; n if there is none. */
static inline gsize time_search(const gint64 *times, gsize n, gint64 time)
{
        gsize low = 0, high = n;

        while (low < high) {
                gsize middle = low + (high - low) / 2;

                if (times[middle] < time)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}
