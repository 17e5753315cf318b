/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The output graph of Figure 6 as a tree: a vertex is a path prefix, the nodes from a root
 * to a message's receiver. A node may have many vertices.
 */
#ifndef RAVEL_PATH_TREE_H
#define RAVEL_PATH_TREE_H

#include "tracefmt/node-table.h"

#define NO_VERTEX ((guint32)-1)

typedef struct {
        guint32 parent; /* NO_VERTEX for a root */
        guint32 next;   /* in the same slot of the table; NO_VERTEX ends it */
        NodeId node;
        guint32 depth; /* 0 for a root */
        guint32 count; /* messages */
} PathVertex;

typedef struct {
        GArray *vertices; /* of PathVertex; parents before their children */
        guint32 *table;   /* the first vertex of each slot */
        guint32 mask;
} PathTree;

PathTree *path_tree_new(void);
void path_tree_free(PathTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PathTree, path_tree_free)

/* The vertex of node below parent, added where it is new. Constant time. */
guint32 path_tree_add(PathTree *tree, guint32 parent, NodeId node);

#define PATH_VERTEX(tree, i) (&g_array_index((tree)->vertices, PathVertex, i))

#endif
