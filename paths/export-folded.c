/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Folded stacks, for flame graphs: a line for each stack of nodes, then the own time
 * of the last, summed up over all requests, in us; so that the width of a frame is the
 * time that a node and what it calls have cost, and never how often it was called. The
 * network's part of a call is a frame of its own on the stack of its caller. It needs
 * no requests, only the patterns' distributions.
 */
#include "paths/export.h"

#include <string.h>

#define NETWORK "(network)" /* no written name has parentheses */

/* ';' ends a frame, and a written name may have it. */
static char *frame_name(const NodeTable *nodes, NodeId node)
{
        g_auto(GStrv) parts = g_strsplit(node_table_written(nodes, node), ";", -1);

        return g_strjoinv("%3B", parts);
}

/* The sum of one distribution. */
static gboolean get_sum(StoreReader *reader, const StoredHistogram *stored, gint128 *sum,
                        GError **error)
{
        Histogram h = HISTOGRAM_INIT;

        if (!store_reader_histogram(reader, stored, &h, error))
                return FALSE;
        *sum = h.sum;
        histogram_clear(&h);
        return TRUE;
}

static void add_time(GHashTable *stacks, char *stack, gint128 ns)
{
        gint128 *sum = g_hash_table_lookup(stacks, stack);

        if (sum) {
                *sum += ns;
                g_free(stack);
        } else {
                g_hash_table_insert(stacks, stack, g_memdup2(&ns, sizeof ns));
        }
}

/* The stack of each place of the pattern in hand; callers come before their callees. */
static gboolean add_node(StoreReader *reader, const NodeTable *nodes, const StoredPatternNode *node,
                         const char *client, GPtrArray *places, GHashTable *stacks, GError **error)
{
        const char *caller = node->parent == NO_PARENT ? client : places->pdata[node->parent];
        g_autofree char *name = frame_name(nodes, node->node);
        gint128 own, network;

        if (!get_sum(reader, &node->own, &own, error) ||
            !get_sum(reader, &node->network, &network, error))
                return FALSE;
        g_ptr_array_add(places, g_strdup_printf("%s;%s", caller, name));
        add_time(stacks, g_strdup(places->pdata[node->place]), own);
        add_time(stacks, g_strdup_printf("%s;" NETWORK, caller), network);
        return TRUE;
}

static gboolean read_stacks(StoreReader *reader, const NodeTable *nodes, GHashTable *stacks,
                            GError **error)
{
        g_autoptr(GPtrArray) clients = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GPtrArray) places = g_ptr_array_new_with_free_func(g_free);
        StoredPattern pattern;
        StoredPatternNode node;
        int status;

        while ((status = store_reader_next_pattern(reader, &pattern, error)) > 0)
                g_ptr_array_add(clients, frame_name(nodes, pattern.client));
        if (status < 0)
                return FALSE;
        while ((status = store_reader_next_pattern_node(reader, &node, error)) > 0) {
                if (node.place == 0)
                        g_ptr_array_set_size(places, 0);
                if (!add_node(reader, nodes, &node, clients->pdata[node.pattern], places, stacks,
                              error))
                        return FALSE;
        }
        return status == 0;
}

static int compare_stacks(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

gboolean export_folded(StoreReader *reader, const NodeTable *nodes, OutputFile *out, GError **error)
{
        g_autoptr(GHashTable) stacks =
                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree char **names = NULL;
        guint n;

        if (!read_stacks(reader, nodes, stacks, error))
                return FALSE;
        names = (char **)g_hash_table_get_keys_as_array(stacks, &n);
        qsort(names, n, sizeof *names, compare_stacks);
        for (guint i = 0; i < n; i++) {
                gint128 ns = *(const gint128 *)g_hash_table_lookup(stacks, names[i]);
                gint64 us = (gint64)((ns + 500) / 1000);

                if (us <= 0)
                        continue;
                g_string_append_printf(text, "%s %" G_GINT64_FORMAT "\n", names[i], us);
                if (!export_flush(text, FALSE, out, error))
                        return FALSE;
        }
        return export_flush(text, TRUE, out, error);
}
