/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The roles of nodes and edges in nesting: which nodes are called and call, which caller an edge
 * counts as after clients are folded, and which calls are open at each node.
 */
#pragma once

#include "calls/candidates.h"
#include "calls/find-call-pairs.h"
#include "tracefmt/node-table.h"

/* A node that is called and calls, and the calls into it that are open. */
typedef struct {
        Candidates scoring, open; /* for ScoreNestings and for FindNestedPairs */
        guint32 n_callers;        /* folded */
} CallingNode;

/* What an edge is at its two ends. */
typedef struct {
        NodeId caller, callee;
        NodeId shown;                       /* the caller, folded */
        guint32 number;                     /* of that among the callee's callers */
        CallingNode *at_caller, *at_callee; /* NULL where that is not called, or calls nothing */
} EdgeRole;

typedef struct {
        EdgeRole *edge; /* by edge of the matcher */
        guint n_edges;
        CallingNode **calling; /* by NodeId; NULL for others */
        guint n_calling;       /* length of that */
        GHashTable *numbers;   /* callee << 32 | caller, folded, to the caller's number */
        NodeId *fold;          /* by NodeId: the node that stands for it */
        guint folded;          /* number of nodes that were folded into one */
        gboolean folds;        /* clients are folded */
        gint64 window;         /* the skew window, ns */
} EdgeRoles;

void edge_roles_init(EdgeRoles *roles, gboolean fold, gint64 window);
void edge_roles_clear(EdgeRoles *roles); /* frees what it holds */

/* Brings the roles up to the edges that were seen. all: any node that is called may yet call.
 * Returns how long after its parent's call a child can start, ns, without the skew window. */
gint64 edge_roles_find(EdgeRoles *roles, NodeTable *nodes, const Edge *edges, guint n_edges,
                       gboolean all);

void edge_roles_drop_calls(EdgeRoles *roles, guint32 n);
