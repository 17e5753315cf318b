/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What was learned of a node, for its calls' parents to be found by (joint.c): the kinds of calls
 * that it gets and makes, the walks of calls into it, and the bounds between which these make
 * calls. It names nothing of the trace that it was learned from, so that it can outlive that.
 */
#ifndef RAVEL_NODE_MODEL_H
#define RAVEL_NODE_MODEL_H

#include "inference/duration-kinds.h"
#include "inference/parent-walk.h"
#include "inference/serving-order.h"

/* Numbers, from 0, of what a call is: the node at its other end, its label, and the context it is
 * made in, where at least one call of a hundred had these when that was first seen; all others of
 * that node, or of that node and label, are of one kind. */
typedef struct {
        GHashTable *seen; /* other ends, labels and contexts */
        guint64 n_calls;  /* seen so far */
        guint32 n;        /* kinds */
        guint32 *whole;   /* by kind, the one in whatever context */
} CallKinds;

void call_kinds_init(CallKinds *k);
void call_kinds_clear(CallKinds *k);

/* The kinds of n calls, which have other ends kind[i], now their kinds, labels label[i] and, unless
 * that is NULL, contexts context[i]; of these 0 is none. */
void call_kinds_find(CallKinds *k, guint32 *kind, const guint16 *label, const guint32 *context,
                     guint32 n);

typedef struct {
        CallKinds in, out;
        guint32 n_whole;   /* kinds of calls out of it that walks have room for; 0: none yet */
        guint32 n_known;   /* so many calls into it were there when learning began, */
        guint32 n_parents; /* so many were counted since; of older ones, half; */
        guint32 n_new;     /* of these, so many are not learned from yet */

        /* Calls out of it told apart by duration: of a whole kind its own number and as many from
         * first on as it has limits. limits and first are NULL where nothing is told apart. */
        guint32 n_callees;
        DurationLimits *limits; /* by whole callee */
        guint32 *first;
        guint32 *whole; /* by callee */

        /* By kind of calls into it, whether it is told apart from its whole one: where parents do
         * different things then. Later ones are not. */
        guint8 *told;
        guint32 n_told;

        ParentWalk walk;

        /* By callee: how long after a parent's enter it calls it, and how long before its
         * reply that returns. */
        DelayDensities bounds;
        guint32 *enter_row, *reply_row;

        ServingOrder order; /* without a class where there are more than MOST_ORDERED callees */
} NodeModel;

/* Whole callees, of a node whose order and durations are looked at. */
enum { MOST_ORDERED = 64 };

/* Knows nothing. */
void node_model_init(NodeModel *h);
void node_model_clear(NodeModel *h); /* frees what it holds */

/* Forgets what walks there are, and makes room for new ones: of the kinds that are known, and
 * of so many more callees. */
void node_model_start(NodeModel *h, guint32 more_callees);

/* Whether there is room for the kinds that are known; makes it for callers. */
gboolean node_model_fit(NodeModel *h);

/* What was counted of n parents more is kept, to be learned from with what comes; of what is
 * older than thousands of parents, half. learned: from all of it. */
void node_model_keep(NodeModel *h, guint32 n, gboolean learned);

/* Whether with n parents more there are enough new ones that learning is worth its while. */
gboolean node_model_are_stale(const NodeModel *h, guint32 n);

/* Parents that are enough to learn from. */
enum { LEARN_FROM = 8192 };

/* Tells callees apart by these limits, which it takes over. Walks begin anew. */
void node_model_tell_apart(NodeModel *h, DurationLimits *limits);

/* Tells kinds of calls into the node apart: told, by kind, which it takes over. Walks begin anew.
 */
void node_model_tell_kinds(NodeModel *h, guint8 *told);

/* The kind of a call into the node, as far as it is told apart. */
static inline guint32 node_model_kind(const NodeModel *h, guint32 kind)
{
        return kind < h->n_told && h->told[kind] ? kind : h->in.whole[kind];
}

/* The callee of a call to a whole one that lasted so long. */
static inline guint32 node_model_callee(const NodeModel *h, guint32 whole, gint64 duration)
{
        guint32 kind = h->limits ? duration_kind(&h->limits[whole], density_bin(duration)) : 0;

        return kind ? h->first[whole] + kind - 1 : whole;
}

#endif
