/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/pattern-order.h"

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
