/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Loops over the records of an array, which must not grow or shrink meanwhile.
 */
#pragma once

#include <glib.h>

/* Declares x, a pointer to each Record of a GArray in order. */
#define EACH(Record, x, array)                                                                     \
        for (Record *x = (gpointer)(array)->data, *x##_end = x ? x + (array)->len : x;             \
             x < x##_end; x++)

/* The same for the records that a GPtrArray points to. */
#define EACH_OF(Record, x, array)                                                                  \
        for (Record **x##_at = (gpointer)(array)->pdata,                                           \
                    **x##_end = x##_at ? x##_at + (array)->len : x##_at, *x;                       \
             x##_at < x##_end && (x = *x##_at, TRUE); x##_at++)
