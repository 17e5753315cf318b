/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The output graph of Figure 6 as a tree: a vertex is a path prefix, the nodes from a root
 * to a message's receiver. A node may have many vertices.
 */
#pragma once

#include "tracefmt/node-table.h"

#define NO_PREFIX ((guint32)-1)

typedef struct {
        guint32 parent; /* NO_PREFIX for a root */
        guint32 next;   /* the next in the same slot of the table; NO_PREFIX: none */
        NodeId node;
        guint32 depth; /* 0 for a root */
        guint32 count; /* messages */
} Prefix;

typedef struct {
        GArray *prefixes; /* of Prefix; parents before their children */
        guint32 *table;   /* the first vertex of each slot */
        guint32 mask;
} PrefixTree;

PrefixTree *prefix_tree_new(void);
void prefix_tree_free(PrefixTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PrefixTree, prefix_tree_free)

/* The vertex of node below parent; adds a new one if needed. Constant time. */
guint32 prefix_tree_add(PrefixTree *tree, guint32 parent, NodeId node);

#define PREFIX(tree, i) (&g_array_index((tree)->prefixes, Prefix, i))
