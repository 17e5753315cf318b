/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/fold-clients.h"

#include <string.h>

NodeId *fold_nothing(const NodeTable *nodes)
{
        guint n = node_table_size(nodes);
        NodeId *fold = g_new(NodeId, n);

        for (guint i = 0; i < n; i++)
                fold[i] = i;
        return fold;
}

/* A name for all clients that no node has which is not one of them. */
static NodeId client_node(NodeTable *nodes, const gboolean *is_client, guint n)
{
        static const char *const names[] = { "client", "clients", "client*" };
        NodeId node = NO_NODE;

        for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
                node = node_table_lookup(nodes, names[i], strlen(names[i]));
                if (node == NO_NODE || node >= n || is_client[node])
                        return node_table_add(nodes, names[i], strlen(names[i]));
        }
        return node;
}

NodeId *fold_clients(NodeTable *nodes, const FoldEdge *edges, guint n_edges, guint *folded)
{
        guint n = node_table_size(nodes);
        g_autofree gboolean *called = g_new0(gboolean, n), *is_client = g_new0(gboolean, n);
        g_autofree guint *callers = g_new0(guint, n);
        NodeId *fold, client;

        *folded = 0;
        for (guint i = 0; i < n_edges; i++)
                called[edges[i].callee] = TRUE;
        for (guint i = 0; i < n_edges; i++)
                callers[edges[i].callee] += !called[edges[i].caller];
        for (guint i = 0; i < n_edges; i++) {
                NodeId caller = edges[i].caller;

                if (called[caller] || is_client[caller] || callers[edges[i].callee] <= FOLD_ABOVE)
                        continue;
                is_client[caller] = TRUE;
                ++*folded;
        }
        if (!*folded)
                return fold_nothing(nodes);
        client = client_node(nodes, is_client, n);
        fold = fold_nothing(nodes);
        for (guint i = 0; i < n; i++)
                if (is_client[i])
                        fold[i] = client;
        return fold;
}
