/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Comparisons for qsort(), bsearch() and GLib.
 */
#pragma once

#include <glib.h>

/* Below 0, 0 or above 0, as x is less than y, equal or greater. Evaluates both twice. */
#define COMPARE(x, y) (((x) > (y)) - ((x) < (y)))

/* Defines a static function that compares records, by an expression of `a` and `b` that point to
 * them. The second compares the records that pointers point to, such as those of a GPtrArray. */
#define COMPARISON(name, Record, order)                                                            \
        static int name(gconstpointer va, gconstpointer vb)                                        \
        {                                                                                          \
                const Record *a = va, *b = vb;                                                     \
                return order;                                                                      \
        }
#define COMPARISON_OF_POINTERS(name, Record, order)                                                \
        static int name(gconstpointer va, gconstpointer vb)                                        \
        {                                                                                          \
                const Record *a = *(Record *const *)va, *b = *(Record *const *)vb;                 \
                return order;                                                                      \
        }

/* The same for the numbers that a and b point to. */
int compare_int64s(gconstpointer a, gconstpointer b);
int compare_uint32s(gconstpointer a, gconstpointer b);
int compare_doubles(gconstpointer a, gconstpointer b);

/* And for the texts of an array of pointers, byte by byte. */
int compare_strings(gconstpointer a, gconstpointer b);
