/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Comparisons for qsort(), bsearch() and GLib.
 */
#pragma once

#include <glib.h>

/* Below 0, 0 or above 0, as x is less than y, equal or greater. Evaluates both twice. */
#define COMPARE(x, y) (((x) > (y)) - ((x) < (y)))

/* The same for the numbers that a and b point to. */
int compare_int64s(gconstpointer a, gconstpointer b);
int compare_uint32s(gconstpointer a, gconstpointer b);
int compare_doubles(gconstpointer a, gconstpointer b);
