/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The sum over all families of one parent, a call into the node: over every set of children that it
 * may have made. Each family is as likely as its walk (parent-walk.h), times the probability that
 * the other parents make the other children.
 *
 * There are too many families to go through one by one. Families that lead to the same state, with
 * the same calls open, are one vertex of a trellis from there on, and the next calls are its edges.
 * A pass forward and one back give the share of each edge (Baum and others, 1970).
 */
#ifndef RAVEL_TRELLIS_H
#define RAVEL_TRELLIS_H

#include "inference/model/node-model.h"

/* A call offered to the parent: one that it may have made. */
typedef struct {
        WalkCall call;
        guint32 output; /* its number among the outputs */
        guint32 belief; /* set and read by the user of the trellis */
        double total;   /* the sum of all candidates' messages, per ns, divided by the ratio of
                           other evidence for this parent */
        double taken;   /* the share of this parent's message in the sum; 1: it made the call */
        double share;   /* out: the share of the parent's families that contain the call */
} TrellisCall;

typedef struct TrellisOffer TrellisOffer;
typedef struct TrellisRatios TrellisRatios;
typedef struct TrellisVertex TrellisVertex;
typedef struct TrellisVertices TrellisVertices;
typedef struct TrellisEdge TrellisEdge;
typedef struct TrellisReturn TrellisReturn;
typedef struct TrellisStep TrellisStep;

/* The parent: a call into the node. */
typedef struct {
        guint32 number, kind;
        gint64 enter, reply;
        gint64 start;   /* later than its entry if it waited for a worker */
        guint32 output; /* number of the reply among the outputs */
} TrellisParent;

/* Working space, used again for each parent. */
typedef struct Trellis {
        ServingOrder *order; /* borrowed; NULL: none */
        gboolean ordered;    /* it counts in this run */
        gboolean notes;      /* it notes outputs in this run */
        double least; /* vertices and edges with less than this share of the weight are left out */
        TrellisOffer *offers; /* by call */
        double *left;         /* by call: the probability that another parent makes it */
        double *skip; /* by call: the probability that others make all calls since a vertex */
        TrellisRatios *ratios; /* by call, if order counts */
        guint32 reach;         /* calls from here on are too improbable to be next */
        TrellisVertex *vertices;
        TrellisEdge *edges;
        TrellisReturn *returns; /* return steps; each vertex has a range of them */
        guint32 *open;          /* open calls, by end; each vertex has a range of them */
        TrellisVertices *at;    /* by call: its vertices */
        guint32 n_vertices, vertices_room, n_edges, edges_room, n_returns, returns_room, n_open,
                open_room, at_room, offers_room;
        TrellisStep *steps; /* by callee: the step from the present state */
        TrellisCall *room;  /* for the calls offered to one parent */
        guint32 room_calls;
        guint32 mark; /* tells the steps of the present state from stale ones */
        gint64 log;   /* log of the sum over families, with totals of 1 per ns, in 1/LOG_UNIT */
} Trellis;

void trellis_init(Trellis *l, guint32 n_callees);
void trellis_clear(Trellis *l);

/* An empty trellis, for the kinds of callees and the order of a model. Begin again when these
 * change. */
void trellis_begin(Trellis *l, NodeModel *model);

/* Room for n calls to offer to one parent. */
TrellisCall *trellis_room(Trellis *l, guint32 n);

/* The class of an output: the kind of its trigger and its own kind. The reply has a callee number
 * of n_callees or more. */
static inline guint32 trellis_class(const ParentWalk *w, guint32 event, guint32 callee)
{
        guint32 n = w->n_callees;

        return MIN(event, 2 * n) * (n + 1) + MIN(callee, n);
}

/* Finds the shares of n calls, ordered by start. count: the model counts each step with its share.
 * FALSE if no family is possible; then each share is as taken. */
gboolean trellis_find_shares(Trellis *l, ParentWalk *w, const TrellisParent *parent,
                             TrellisCall *calls, guint32 n, gboolean count);

/* The same; finds the log too. */
gboolean trellis_run(Trellis *l, ParentWalk *w, const TrellisParent *parent, TrellisCall *calls,
                     guint32 n, gboolean count);

#endif
