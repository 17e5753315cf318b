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
 * call of a hundred has it there; all others of that node are of one kind. */
typedef struct {
        GHashTable *numbers; /* node << 32 | label to its kind */
} CallKinds;

void call_kinds_init(CallKinds *k);
void call_kinds_clear(CallKinds *k);

/* The kinds of n calls, which have other ends kind[i], now their kinds, and labels label[i]. */
void call_kinds_find(CallKinds *k, guint32 *kind, const guint16 *label, guint32 n);

static inline guint32 call_kinds_n(const CallKinds *k)
{
        return g_hash_table_size(k->numbers);
}

typedef struct {
        CallKinds in, out;
        guint32 n_callees; /* kinds of calls out of it, at most WALK_MAX_CALLEES; 0: no walks yet */
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

/* Makes room for the walks, when kinds are known. */
void node_habits_start(NodeHabits *h);

#endif
