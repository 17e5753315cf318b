/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The model of a node: what joint inference learned about the node. It holds the kinds of calls
 * into and out of the node, and the walks of its parents. It also holds the bounds (delays from a
 * parent's entry and to its reply) and other evidence. It can outlive the trace.
 */
#pragma once

#include "inference/inference.h"
#include "inference/model/call-numbers.h"
#include "inference/model/evidence.h"
#include "inference/model/parent-walk.h"

/* Numbers the kinds of calls from 0. A kind is the node at the other end of a call, its label, its
 * sizes. A label or sizes that fewer than one call in a hundred had when first seen get no kind of
 * their own. */
typedef struct {
        GHashTable *seen; /* OtherEnd by itself */
        guint64 n_calls;  /* seen so far */
        guint32 n;        /* kinds */
} CallKinds;

void call_kinds_init(CallKinds *k);
void call_kinds_clear(CallKinds *k);

/* Finds the kinds of n calls. kind[i] is the node at the other end, and becomes the kind. A label
 * or sizes of 0 are none; sizes may be NULL. */
void call_kinds_find(CallKinds *k, guint32 *kind, const guint16 *label, const guint16 *sizes,
                     guint32 n);

/* Which sizes distinguish kinds, and whether labels do not: a set of flags. */
enum { BY_CALL_SIZE = 1, BY_RETURN_SIZE = 2, NOT_BY_LABEL = 4 };

/* The known kind of a call. If it is not known, the kind without its sizes; then the kind without
 * its label, too. If there is none either, and most is set or the call has sizes: the most frequent
 * kind of the node, or of all. Otherwise NO_KIND. */
guint32 call_kinds_look_up(const CallKinds *k, guint32 node, guint16 label, guint16 sizes,
                           gboolean most);

#define NO_KIND G_MAXUINT32

struct NodeModel {
        CallKinds in, out;
        guint8 sizes;      /* which of them distinguish kinds; or NOT_BY_LABEL */
        guint32 n_callees; /* kinds of callees that the walks have room for; 0: none yet */
        guint32 n_known;   /* calls into the node when learning began */
        guint32 n_parents; /* parents counted since; old ones count half */
        guint32 n_new;     /* counted parents not learned from yet */

        /* For find_parents_by_model(): the mean lifetime of calls into the node, and the length of
         * parts, a power of two, ns; 0: the model cannot decide. root: the callees whose calls have
         * no parent (roots.h), ascending. */
        gint64 life, part;
        guint32 *root;
        guint32 n_roots;

        gint64 resolution;   /* of the stamps that were learned from, ns; 0: they are exact */
        CallNumbers numbers; /* of calls that parents make */
        ParentWalk walk;

        /* By callee: rows of the delay from the parent's entry to the call, and of the delay from
         * the call's return to the parent's reply. */
        DelayDensities bounds;
        guint32 *enter_row, *reply_row;

        EvidenceSet evidence; /* other evidence; see evidence.h */
};

/* Writes to bytes, or reads from bytes into an empty model. */
void node_model_bytes(NodeModel *h, const EvidenceKind *const *table, Bytes *b);

/* Makes an empty model. */
void node_model_init(NodeModel *h);
void node_model_clear(NodeModel *h); /* frees all that it holds */

/* Clears `to` and moves `from` there. Frees `from`. */
void node_model_move(NodeModel *to, NodeModel *from);

/* Forgets the walks and makes room for new ones, of the known kinds and of more_callees more
 * callees. Makes the evidence of a table, which knows nothing yet. */
void node_model_start(NodeModel *h, guint32 more_callees, const EvidenceKind *const *table);

/* Sets the resolution of delays, ns; 0: exact. Called for each problem before learning from it. */
void node_model_set_resolution(NodeModel *h, gint64 resolution);

/* Makes empty walks. The caller keeps the present ones. */
void node_model_renew_walks(NodeModel *h);

/* Whether the walks have room for the known kinds. Makes room for new callers. */
gboolean node_model_fit(NodeModel *h);

/* Makes the last kind of calls into the node, for all calls that are of no other kind. */
void node_model_add_other(NodeModel *h);

/* Keeps the counts of n more parents, for later steps to learn from. Counts are halved after every
 * few thousand parents. learned: the model has learned from all of these parents. */
void node_model_keep(NodeModel *h, guint32 n, gboolean learned);

/* Whether n parents more make enough new ones to learn again. */
gboolean node_model_are_stale(const NodeModel *h, guint32 n);

/* Takes over these numbers of calls, which parents are held to from now on. Resets the walks. */
void node_model_tell_numbers(NodeModel *h, CallNumbers *numbers);
