/* SPDX-License-Identifier: BSD-2-Clause */
#include "queues/worker-calls.h"

#include "base/hash.h"

guint number_kinds(const guint64 *kind, gsize stride, guint n, guint8 most, guint8 *number)
{
        g_autoptr(GHashTable) numbers = g_hash_table_new(hash_int64, g_int64_equal);

        for (guint i = 0; i < n; i++) {
                gpointer key = (guint8 *)kind + i * stride;
                gpointer found = g_hash_table_lookup(numbers, key);
                guint known = g_hash_table_size(numbers);

                if (!found) {
                        found = GUINT_TO_POINTER(MIN(known, most - 1u) + 1);
                        g_hash_table_insert(numbers, key, found);
                }
                number[i] = (guint8)(GPOINTER_TO_UINT(found) - 1);
        }
        return MIN(g_hash_table_size(numbers), most);
}
