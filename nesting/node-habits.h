/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What was learned of a node, for its calls' parents to be found by (joint.c): the kinds of calls
 * that it gets and makes, the walks of calls into it, and the bounds between which these make
 * calls. It names nothing of the trace that it was learned from, so that it can outlive that.
 */
#ifndef RAVEL_NODE_HABITS_H
#define RAVEL_NODE_HABITS_H

#include "nesting/parent-walk.h"
#include "nesting/serving-order.h"

/* Numbers, from 0, of what a call is: the node at its other end, and its label where at least one
 * call of a hundred had it there when it was first seen; all others of that node are of one kind.
 */
typedef struct {
        GHashTable *seen; /* other ends and labels */
        guint64 n_calls;  /* seen so far */
        guint32 n;        /* kinds */
} CallKinds;

void call_kinds_init(CallKinds *k);
void call_kinds_clear(CallKinds *k);

/* The kinds of n calls, which have other ends kind[i], now their kinds, and labels label[i]. */
void call_kinds_find(CallKinds *k, guint32 *kind, const guint16 *label, guint32 n);

typedef struct {
        CallKinds in, out;
        guint32 n_callees; /* kinds of calls out of it that there is room for; 0: no walks yet */
        guint32 n_known;   /* so many calls into it were there when learning began, */
        guint32 n_parents; /* so many were counted since; of older ones, half; */
        guint32 n_new;     /* of these, so many are not learned from yet */
        ParentWalk walk;

        /* By callee: how long after a parent's enter it calls it, and how long before its
         * reply that returns. */
        DelayDensities bounds;
        guint32 *enter_row, *reply_row;

        ServingOrder order; /* without a class where there are more than MOST_ORDERED callees */
} NodeHabits;

enum { MOST_ORDERED = 64 };

/* Knows nothing. */
void node_habits_init(NodeHabits *h);
void node_habits_clear(NodeHabits *h); /* frees what it holds */

/* Forgets what walks there are, and makes room for new ones: of the kinds that are known, and
 * of so many more callees. */
void node_habits_start(NodeHabits *h, guint32 more_callees);

/* Whether there is room for the kinds that are known; makes it for callers. */
gboolean node_habits_fit(NodeHabits *h);

/* What was counted of n parents more is kept, to be learned from with what comes; of what is
 * older than thousands of parents, half. learned: from all of it. */
void node_habits_keep(NodeHabits *h, guint32 n, gboolean learned);

/* Whether with n parents more there are enough new ones that learning is worth its while. */
gboolean node_habits_are_stale(const NodeHabits *h, guint32 n);

/* Parents that are enough to learn from. */
enum { LEARN_FROM = 8192 };

#endif
