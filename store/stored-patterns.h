/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The patterns of a store, all of them in memory: what everything that is asked of a store
 * begins with.
 */
#pragma once

#include "store/store-reader.h"

/* Reads them to the last: an array of StoredPattern, by number, which owns the signatures; labels
 * are interned. NULL with error set where the store is corrupt. */
GArray *stored_patterns_load(StoreReader *reader, GError **error);

static inline const StoredPattern *stored_pattern_at(const GArray *patterns, guint32 i)
{
        return &g_array_index(patterns, StoredPattern, i);
}

/* What patterns of two stores are compared by: signature, and the operation of the root where both
 * stores have them (labels). Newly allocated. */
char *stored_pattern_key(const StoredPattern *pattern, gboolean labels);
