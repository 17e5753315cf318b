/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Numbers keys from 0, in the order in which they first appear.
 */
#pragma once

#include <glib.h>

/* The number of a key. numbers is a table of direct keys, empty at first, which only this function
 * fills. */
static inline guint32 number_of(GHashTable *numbers, guint32 key)
{
        gpointer next = g_hash_table_lookup(numbers, GUINT_TO_POINTER(key));

        if (!next) {
                next = GUINT_TO_POINTER(g_hash_table_size(numbers) + 1);
                g_hash_table_insert(numbers, GUINT_TO_POINTER(key), next);
        }
        return GPOINTER_TO_UINT(next) - 1;
}
