/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/node-order.h"

#include <string.h>

#define NO_RANK G_MAXUINT32

static void sort_links(NodeOrder *o, const NodeLink *links, guint32 n_links)
{
        o->first = g_new0(guint32, o->n + 2);
        o->callee = g_new(guint32, n_links);
        for (guint32 i = 0; i < n_links; i++)
                o->first[links[i].caller + 2]++;
        for (guint32 i = 0; i < o->n; i++)
                o->first[i + 2] += o->first[i + 1];
        /* While they are filled, [node + 1] is where the next one goes. */
        for (guint32 i = 0; i < n_links; i++)
                o->callee[o->first[links[i].caller + 1]++] = links[i].callee;
}

/* The node without a rank that waits for the fewest. */
static guint32 find_least(const NodeOrder *o, const guint32 *waits)
{
        guint32 best = NO_RANK;

        for (guint32 i = 0; i < o->n; i++)
                if (o->rank[i] == NO_RANK && (best == NO_RANK || waits[i] < waits[best]))
                        best = i;
        return best;
}

void node_order_init(NodeOrder *o, guint32 n, const NodeLink *links, guint32 n_links)
{
        g_autofree guint32 *waits = g_new0(guint32, n), *ready = g_new(guint32, n);
        guint32 n_ready = 0, next = 0;

        *o = (NodeOrder){ .n = n, .rank = g_new(guint32, n), .n_before = g_new0(guint32, n) };
        sort_links(o, links, n_links);
        for (guint32 i = 0; i < n_links; i++)
                waits[links[i].callee]++;
        for (guint32 i = 0; i < n; i++) {
                o->rank[i] = NO_RANK;
                if (waits[i] == 0)
                        ready[n_ready++] = i;
        }
        for (guint32 rank = 0; rank < n; rank++) {
                guint32 node = next < n_ready ? ready[next++] : find_least(o, waits);

                o->rank[node] = rank;
                for (guint32 k = o->first[node]; k < o->first[node + 1]; k++) {
                        guint32 callee = o->callee[k];

                        if (o->rank[callee] != NO_RANK)
                                continue;
                        o->n_before[callee]++;
                        if (--waits[callee] == 0)
                                ready[n_ready++] = callee;
                }
        }
}

void node_order_clear(NodeOrder *o)
{
        g_free(o->rank);
        g_free(o->first);
        g_free(o->callee);
        g_free(o->n_before);
        memset(o, 0, sizeof *o);
}
