/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The trellis of one parent, a call into the node. Which of the calls offered to the parent did it
 * make? A family is one answer, a set of children. The trellis sums over all families by the
 * forward-backward algorithm (Baum and others, 1970).
 *
 * Input: the parent's entry and reply (ns); n offered calls, in order of start; and the worth of
 * each call to other parents. Offers may lie outside the parent if clocks differ. Each candidate
 * parent sends a call one message (beliefs.h): the rate, per ns, at which it would make the call.
 * `total` is the sum of these, and `taken` the share of this parent. The model, a ParentWalk, has
 * states of a parent, probabilities of steps between them, and densities (ns) of their delays.
 *
 * Output: for each call its `share`, the probability that the parent made it. If asked for, the
 * model also counts the steps, to learn from. trellis_run() also finds the log of the sum.
 *
 * A family with children c1 < c2 < ... is as likely as the product, over its events, of
 *
 *      probability of the step * density of its delay / total of the call,
 *
 * and of 1 - taken for each call that the family leaves to others. Returns are events, too, but
 * have no delay: the parent does not choose their time.
 *
 * Two families whose latest child is the same call may be in the same state then, with the same
 * calls open. They have the same future, so they share a vertex. An edge leads to the next child.
 * On its way it passes over returns, and skips the offers that are not made. Three offers a, b and
 * c:
 *
 *      START --a--> [a] --b--> [b after a] --c--> [c after a and b] --+
 *        |           |                                               |
 *        |           +----c; b is another's----> [c after a] --------+--reply--> END
 *        |                                                           |
 *        +--b--> [b] ----c----> [c after b] -------------------------+
 *
 * Each vertex also has an edge to END: the parent makes no more calls.
 *
 * Forward weights F sum over all ways from START to a vertex. Backward weights R sum over all ways
 * from a vertex to END. W is the weight of an edge:
 *
 *      F(START) = 1        F(v) = sum over edges u -> v of F(u) W(u -> v)
 *      R(END) = 1          R(u) = sum over edges u -> v of W(u -> v) R(v)
 *      share(c) = sum over vertices v of call c of F(v) R(v) / F(END)
 *
 * The forward pass makes vertices and edges call by call. It drops an edge whose weight is below
 * `least` times the weight of leaving the call to others. It does not go on from a vertex whose
 * share of the weight is below `least`. Neither test counts inversions or skipped offers, nor is an
 * edge to END ever dropped. The backward pass goes over the rest in reverse. Where the node serves
 * in order, an edge is also multiplied by the factor of its inversions (model/serving-order.h).
 *
 * Cost: O(vertices * offers in reach), within a budget that its user sets. A call has at most
 * MAX_AT_CALL vertices (model/limits.h). Edges that need one more are dropped. A vertex has at most
 * MAX_OPEN open calls, its own included. Of more, the other that returns last is forgotten.
 */
#pragma once

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
        guint32 mark;   /* marks the steps of the present state; others are stale */
        gint64 log;     /* log of the sum over families, with totals of 1 per ns, in 1/LOG_UNIT */
        guint64 looked; /* offers that vertices looked at in this run */
        guint64 budget; /* offers that trellis_find_shares() may still look at; none at first */
        gboolean hasty; /* the budget was spent */
} Trellis;

void trellis_init(Trellis *l, guint32 n_callees);
void trellis_clear(Trellis *l);

/* Empties a trellis that is initialised, or all zero, for the kinds of callees and the order of a
 * model. Begin again when these change. */
void trellis_begin(Trellis *l, NodeModel *model);

/* Room for n calls to offer to one parent. */
TrellisCall *trellis_room(Trellis *l, guint32 n);

/* The class of an output: the kind of its trigger and its own kind. As callee, n_callees or more is
 * the reply. As event, 2 * n_callees or more is the parent's entry, or its start if it waited. */
static inline guint32 trellis_class(const ParentWalk *w, guint32 event, guint32 callee)
{
        guint32 n = w->n_callees;

        return MIN(event, 2 * n) * (n + 1) + MIN(callee, n);
}

/* Finds the shares of n calls, ordered by start. count: the model counts each step with its share.
 * FALSE if no family is possible, or their sum is out of range (1e-290 to 1e290, scaled). FALSE,
 * too, if it would look at more offers than the budget or MOST_LOOKED_AT allow. Each share is then
 * as taken. */
gboolean trellis_find_shares(Trellis *l, ParentWalk *w, const TrellisParent *parent,
                             TrellisCall *calls, guint32 n, gboolean count);

/* The same without a budget, and finds the log, too; if FALSE, the log is an earlier run's. It is
 * the log of a family's likelihood only if each total is 1, but for other evidence (family.c). */
gboolean trellis_run(Trellis *l, ParentWalk *w, const TrellisParent *parent, TrellisCall *calls,
                     guint32 n, gboolean count);
