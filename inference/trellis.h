/* SPDX-License-Identifier: BSD-2-Clause
 *
 * All that one call into a node may have done: every set of the node's calls that it may
 * have made, each as likely as its walk is (parent-walk.h) and as the other calls into the
 * node leave it these. It sums over them without going through each: sets that a walk has come to
 * the same place with are one vertex of a trellis, steps are its edges, and a pass forward and one
 * back give the share of each edge (Baum and others, 1970).
 */
#ifndef RAVEL_TRELLIS_H
#define RAVEL_TRELLIS_H

#include "inference/parent-walk.h"
#include "inference/serving-order.h"

/* A call that the parent may have made. */
typedef struct {
        WalkCall call;
        guint32 output; /* its number among the node's outputs */
        guint32 belief; /* the caller's; of no matter here */
        double total;   /* how likely it is, per ns, that one of the parents makes it */
        double taken;   /* how likely it is that this one did, as was believed; 1: it did */
        double share;   /* out: the same, by the trellis */
} TrellisCall;

typedef struct TrellisOffer TrellisOffer;
typedef struct TrellisVertex TrellisVertex;
typedef struct TrellisVertices TrellisVertices;
typedef struct TrellisEdge TrellisEdge;
typedef struct TrellisReturn TrellisReturn;
typedef struct TrellisStep TrellisStep;

/* The call into the node. */
typedef struct {
        guint32 number, kind;
        gint64 enter, reply;
        guint32 output; /* the reply's number among the node's outputs */
} TrellisParent;

/* Room to work in, used again for each parent. */
typedef struct {
        ServingOrder *order; /* of the node: what is found of the parent's outputs goes there */
        double least; /* what is less likely than that, next to the rest so far, is left out */
        TrellisOffer *offers; /* by call, */
        double *left;         /* how likely others than the parent make it */
        double *skip;  /* and all since a vertex do, each in turn; at the end, up to the reply */
        guint32 reach; /* where that ends */
        TrellisVertex *vertices;
        TrellisEdge *edges;
        TrellisReturn *returns; /* steps of returns, those of a vertex together */
        guint32 *open;       /* calls that have not returned, by end, those of a vertex together */
        TrellisVertices *at; /* by call */
        guint32 n_vertices, vertices_room, n_edges, edges_room, n_returns, returns_room, n_open,
                open_room, at_room, offers_room;
        TrellisStep *steps;   /* by callee, those that leave a state */
        const guint32 *whole; /* by callee: what order takes it for */
        guint32 n_whole;
        guint32 mark; /* of the state */
        gint64 log;   /* the logarithm of how likely all sets are together, total being one
                       * per ns */
} Trellis;

/* Calls to callees that are one whole are of one class for the order. Borrows whole. */
void trellis_init(Trellis *l, guint32 n_callees, const guint32 *whole, guint32 n_whole);
void trellis_clear(Trellis *l);

/* The class, for the order, of what comes after an event: a call, or the reply, which is any
 * callee that there is not. */
static inline guint32 trellis_class(const Trellis *l, const ParentWalk *w, guint32 event,
                                    guint32 callee)
{
        guint32 n = w->n_callees;

        callee = callee < n ? l->whole[callee] : l->n_whole;
        if (event < n)
                event = l->whole[event];
        else
                event = l->n_whole + (event < 2 * n ? l->whole[event - n] : l->n_whole);
        return event * (l->n_whole + 1) + callee;
}

/* Finds the shares of calls, in order of start. Counts what the parent does for learning, each
 * step as its share, if count is not 0. FALSE where no set is likely at all: shares are as
 * taken then. */
gboolean trellis_find_shares(Trellis *l, ParentWalk *w, const TrellisParent *parent,
                             TrellisCall *calls, guint32 n, gboolean count);

/* The same, and finds the logarithm. */
gboolean trellis_run(Trellis *l, ParentWalk *w, const TrellisParent *parent, TrellisCall *calls,
                     guint32 n, gboolean count);

#endif
