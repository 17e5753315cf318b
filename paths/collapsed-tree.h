/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A path pattern as people look at it: repeated calls collapsed into one. Siblings with the same
 * subtree and operations are one vertex, "postgres x2", with the delays of all. So are the calls
 * below them, each with its counterparts.
 */
#pragma once

#include "paths/path-set.h"

typedef struct {
        guint32 parent;  /* index into the tree's vertices; NO_PARENT for vertex 0 */
        guint32 first;   /* index into the tree's places: the first of this vertex */
        guint32 n;       /* number of places; a multiple of the parent's */
        PatternNode all; /* their histograms merged; parent, depth and node of the first */
} CollapsedCall;

typedef struct {
        guint32 n_vertices;      /* may be less than the pattern has: see hidden */
        CollapsedCall *vertices; /* pre-order, siblings in the order that they are called */
        guint32 *places;         /* nodes of the pattern, those of a vertex in a row */
        guint32 hidden;          /* places that are in no vertex, for there were too many */
} CollapsedTree;

/* At most max_vertices (1 or more) vertices: the first in a walk in the order of calls. pattern is
 * borrowed for the call alone. */
CollapsedTree *collapsed_tree_new(const PathPattern *pattern, guint32 max_vertices);
/* "", or " x17" where a vertex is 17 calls. */
char *collapsed_call_times(const CollapsedCall *call);

NodeId collapsed_call_caller(const CollapsedCall *call, const CollapsedTree *tree,
                             const PathPattern *pattern);

/* The mean of a histogram of all calls of a vertex, for a path, ns. */
gint64 collapsed_call_mean(const CollapsedCall *call, const PathPattern *pattern,
                           const Histogram *h);

/* The vertex whose calls have the most own time together; of several the first by place. */
guint32 collapsed_tree_slowest(const CollapsedTree *tree);
void collapsed_tree_free(CollapsedTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CollapsedTree, collapsed_tree_free)
