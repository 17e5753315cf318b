/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Folding of clients: the users of a web site are one node, "client", else each
 * of them would make path patterns of his own.
 *
 * A node is a client if it only ever calls, is never called, and is one of more
 * than FOLD_ABOVE such nodes that call the same node.
 */
#pragma once

#include "tracefmt/node-table.h"

enum { FOLD_ABOVE = 16 };

typedef struct {
        NodeId caller, callee;
} FoldEdge;

/* Returns the node that stands for each node: itself, or one node for all clients. That node is
 * added by the name of "client", or "clients" if another node has this name. edges: each pair once.
 * *folded: the number of folded nodes. The caller frees the array of node_table_size(nodes). */
NodeId *fold_clients(NodeTable *nodes, const FoldEdge *edges, guint n_edges, guint *folded);

/* The same map with nothing folded. */
NodeId *fold_nothing(const NodeTable *nodes);
