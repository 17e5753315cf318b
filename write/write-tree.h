/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where to draw the vertices and edges of a tree (the paper's Figures 8 and 9), as
 * Graphviz's dot lays it out: for pages that draw it themselves.
 */
#pragma once

#include "paths/collapsed-tree.h"
#include "write/drawer.h"
#include "write/json.h"

/* In pixels, y downwards. */
typedef struct {
        int x, y, width, height; /* the middle of a vertex, and its size */
        char *edge;              /* to it from its caller, "M..C...": an SVG path */
} TreeBox;

typedef struct {
        int width, height;
        guint32 n;
        TreeBox *boxes;
} TreeLayout;

/* Of n vertices (1 or more): parents[i] is less than i, NO_PARENT for vertex 0 alone. NULL and
 * error set where drawer cannot. Each vertex has room for name, two times and this many more lines.
 * A layout of the same tree is the same with the same version of Graphviz. */
TreeLayout *tree_layout_new(Drawer *drawer, const guint32 *parents, const char *const *names,
                            guint32 n, int lines, GError **error);

/* The same for the client, and the vertices of a call tree below. If there are operations, or calls
 * that wait for workers, each has a line. */
TreeLayout *tree_layout_new_calls(Drawer *drawer, const CollapsedTree *tree, const NodeTable *nodes,
                                  NodeId client, GError **error);
/* Puts width, height and, vertex by vertex, x and y of the middle, width, height and edge. */
void tree_layout_put(const TreeLayout *layout, Json *json);
void tree_layout_free(TreeLayout *layout);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TreeLayout, tree_layout_free)
