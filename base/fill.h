/* SPDX-License-Identifier: BSD-2-Clause
 *
 * memset() of an array that may be empty. An empty array may be NULL, which memset() does not
 * allow.
 */
#pragma once

#include <glib.h>
#include <string.h>

static inline void fill(void *array, int byte, gsize size)
{
        if (size > 0)
                memset(array, byte, size);
}
