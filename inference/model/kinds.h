/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Kinds: the classes of calls that the model learns separately. Calls into the node differ by
 * caller, label and sizes. Calls out of the node differ by callee, label and sizes.
 */
#pragma once

#include "inference/model/node-model.h"
#include "inference/model/problem.h"

typedef struct Kinds {
        WalkCall *calls; /* by call out of the node */
        guint32 *kind;   /* by call into it: by caller and label */
        guint32 *callee; /* by call out of the node, until there are calls; then NULL */
} Kinds;

/* Ranges of consecutive calls: calls into the node from first_in to end_in - 1, and calls out of
 * the node from first_out to end_out - 1. */
typedef struct {
        guint32 first_in, end_in, first_out, end_out;
} CallRange;

/* Finds only the kinds of the calls of a problem. The model numbers new ones. */
void kinds_number(Kinds *k, const Problem *p, NodeModel *model);
/* The same, by the kinds that a model knows. Other calls into the node get its last kind. */
void kinds_look_up(Kinds *k, const Problem *p, const NodeModel *model);

/* Takes the kinds and calls of a problem from numbered kinds: the calls of n ranges, one range
 * after the other. */
void kinds_take(Kinds *k, const Kinds *numbered, const CallRange *ranges, guint n,
                const Problem *p);

/* Makes the calls of a problem whose kinds are numbered. */
void kinds_make_calls(Kinds *k, const Problem *p);

/* Calls kinds_number(), then kinds_make_calls(). */
void kinds_find(Kinds *k, const Problem *p, NodeModel *model);

void kinds_clear(Kinds *k);

/* Whether two calls go to the same node with the same label, whatever their sizes. */
static inline gboolean kinds_same_callee(const Kinds *k, const NodeModel *model,
                                         const NodeProblem *node, guint32 call, guint32 other)
{
        const CallOut *x = &node->out[call], *y = &node->out[other];

        return k->calls[call].callee == k->calls[other].callee ||
               (model->sizes && x->callee == y->callee && x->label == y->label);
}
