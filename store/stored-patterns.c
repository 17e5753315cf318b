/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/stored-patterns.h"

static void stored_pattern_clear(gpointer data)
{
        g_free((char *)((StoredPattern *)data)->signature);
}

GArray *stored_patterns_load(StoreReader *reader, GError **error)
{
        g_autoptr(GArray) patterns = g_array_new(FALSE, FALSE, sizeof(StoredPattern));
        StoredPattern p;
        int status;

        g_array_set_clear_func(patterns, stored_pattern_clear);
        while ((status = store_reader_next_pattern(reader, &p, error)) > 0) {
                p.signature = g_strdup(p.signature);
                p.label = g_intern_string(p.label);
                g_array_append_val(patterns, p);
        }
        return status == 0 ? g_steal_pointer(&patterns) : NULL;
}

char *stored_pattern_key(const StoredPattern *p, gboolean labels)
{
        return labels && p->label ? g_strconcat(p->label, " ", p->signature, NULL)
                                  : g_strdup(p->signature);
}
