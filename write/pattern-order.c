/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/pattern-order.h"

#include <stdlib.h>

gint128 path_pattern_network(const PathPattern *pattern)
{
        gint128 sum = 0;

        for (guint32 i = 0; i < pattern->n_nodes; i++)
                sum += pattern->nodes[i].network.sum;
        return sum;
}

gint128 path_pattern_queued(const PathPattern *pattern)
{
        gint128 sum = 0;

        for (guint32 i = 0; i < pattern->n_nodes; i++)
                sum += pattern->nodes[i].queued.sum;
        return sum;
}

gint128 path_pattern_own_queued(const PathPattern *pattern)
{
        gint128 sum = 0;

        for (guint32 i = 0; i < pattern->n_nodes; i++)
                sum += pattern->nodes[i].own_queued.sum;
        return sum;
}

gint128 path_pattern_connecting(const PathPattern *pattern)
{
        gint128 sum = 0;

        for (guint32 i = 0; i < pattern->n_nodes; i++)
                sum += pattern->nodes[i].connecting.sum;
        return sum;
}

gint128 path_pattern_total(const PathPattern *pattern)
{
        gint128 sum = path_pattern_network(pattern) + path_pattern_queued(pattern);

        for (guint32 i = 0; i < pattern->n_nodes; i++)
                sum += pattern->nodes[i].own.sum;
        return sum;
}

typedef struct {
        guint32 node, parent;
        gint64 delay;
} Sibling;

/* Groups of siblings; of these the one called last first, as a stack wants it. */
static int compare_siblings(const void *va, const void *vb)
{
        const Sibling *a = va, *b = vb;

        if (a->parent != b->parent)
                return a->parent < b->parent ? -1 : 1;
        if (a->delay != b->delay)
                return a->delay > b->delay ? -1 : 1;
        return a->node > b->node ? -1 : a->node < b->node;
}

guint32 *path_pattern_call_order(const PathPattern *pattern)
{
        guint32 n = pattern->n_nodes, n_stack = 0, n_order = 0;
        guint32 *order = g_new(guint32, n);
        g_autofree guint32 *stack = g_new(guint32, n);
        g_autofree guint32 *first_child = g_new(guint32, n); /* into siblings */
        g_autofree Sibling *siblings = g_new(Sibling, n);

        for (guint32 i = 0; i < n; i++) {
                const PatternNode *node = &pattern->nodes[i];
                siblings[i] = (Sibling){ i, node->parent, histogram_mean(&node->call_delay) };
                first_child[i] = n;
        }
        qsort(siblings, n, sizeof *siblings, compare_siblings);
        /* The root comes last: no index is as great as NO_PARENT. */
        for (guint32 i = n - 1; i-- > 0;)
                first_child[siblings[i].parent] = i;
        stack[n_stack++] = 0;
        while (n_stack > 0) {
                guint32 node = stack[--n_stack];
                order[n_order++] = node;
                for (guint32 i = first_child[node]; i < n && siblings[i].parent == node; i++)
                        stack[n_stack++] = siblings[i].node;
        }
        return order;
}
