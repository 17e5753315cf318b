/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The directed graph that convolution finds (paper, Figures 6 and 9): a tree for each
 * root. A vertex is not a node: a node may appear many times. It stands for the path of
 * nodes from the root to it, and for the edge into it, the messages that end that path.
 *
 * The edge's delays are the times that the node before it spends before it sends the
 * message, those by which most messages go first.
 */
#pragma once

#include "tracefmt/node-table.h"

#define NO_VERTEX ((guint32)-1)

/* Why the search for what follows ended. */
typedef enum {
        PATH_GOES_ON,
        PATH_END_ROOT,        /* the node is a root: what it sends is its own doing */
        PATH_END_SILENT,      /* the node sends nothing */
        PATH_END_UNEXPLAINED, /* nothing that it sends follows these messages */
        PATH_END_FEW,         /* too few messages go on */
        PATH_END_DEPTH,       /* the path is as long as it may be */
        PATH_END_LIMIT,       /* the graph has as many vertices as it may have */
        N_PATH_ENDS,
} PathEnd;

const char *path_end_name(PathEnd end); /* "root", "silent" and so on */

typedef struct {
        gint64 delay;  /* ns; negative where clocks disagree */
        guint64 count; /* messages */
} PathDelay;

typedef struct {
        NodeId node;
        guint32 parent;     /* index of a vertex, less than its own; NO_VERTEX for a root */
        guint32 depth;      /* 0 for a root */
        guint64 count;      /* messages on the edge into it; of a root: that it sends */
        double probability; /* that the edge is no accident; 1 for a root and what it sends */
        GArray *delays;     /* of PathDelay; none for a root and what it sends */
        guint32 n_children;
        PathEnd end; /* PATH_GOES_ON where it has children */
} PathVertex;

typedef struct PathGraph PathGraph;

PathGraph *path_graph_new(void);
void path_graph_free(PathGraph *graph);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PathGraph, path_graph_free)

/* The vertex of node under parent (NO_VERTEX: a root), made where there is none yet.
 * Counts messages messages on the edge into it; probability is that of the edge, the
 * greatest stays. */
guint32 path_graph_add(PathGraph *graph, guint32 parent, NodeId node, guint64 messages,
                       double probability);

/* Counts messages on the edge into vertex with this delay. */
void path_graph_add_delay(PathGraph *graph, guint32 vertex, gint64 delay, guint64 messages);

/* Says why nothing follows vertex; of no effect where something does. */
void path_graph_end(PathGraph *graph, guint32 vertex, PathEnd end);

guint32 path_graph_size(const PathGraph *graph);

/* Borrowed, until something is added. Delays are in order of declining count, equal ones
 * the shorter first. */
const PathVertex *path_graph_vertex(const PathGraph *graph, guint32 vertex);

/* The indices of all vertices, each after its parent, with everything below one before the
 * next beside it; the more messages, the earlier, and then by name. The caller's to free. */
guint32 *path_graph_order(const PathGraph *graph, const NodeTable *nodes);

/* The vertex of node under parent, or NO_VERTEX. */
guint32 path_graph_lookup(const PathGraph *graph, guint32 parent, NodeId node);
