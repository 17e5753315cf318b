/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Folding of clients: the users of a web site are one node, "client", else each
 * of them would make path patterns of his own.
 *
 * A node is a client if it only ever calls, is never called, and is one of more
 * than FOLD_ABOVE such nodes that call the same node.
 */
#ifndef RAVEL_FOLD_CLIENTS_H
#define RAVEL_FOLD_CLIENTS_H

#include "tracefmt/node-table.h"

enum { FOLD_ABOVE = 16 };

typedef struct {
        NodeId caller, callee;
} FoldEdge;

/* Returns, for each of the nodes, the node that stands for it: itself, or the
 * one that all clients became, which is added to nodes by the name of "client"
 * (or "clients", if another node is called that). edges: each pair once. *folded is the
 * number of nodes that were. The caller's to free; node_table_size(nodes) long. */
NodeId *fold_clients(NodeTable *nodes, const FoldEdge *edges, guint n_edges, guint *folded);

/* The same map with nothing folded. */
NodeId *fold_nothing(const NodeTable *nodes);

#endif
