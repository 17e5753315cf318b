/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Kinds: what the model learns apart. Calls into the node differ by caller, label and sizes;
 * calls out of it by callee, label and sizes.
 */
#ifndef RAVEL_KINDS_H
#define RAVEL_KINDS_H

#include "inference/model/node-model.h"
#include "inference/model/problem.h"

typedef struct Kinds {
        WalkCall *calls; /* by call out of the node */
        guint32 *kind;   /* by call into it: by caller and label */
        guint32 *callee; /* by call out of the node, until there are calls; then NULL */
} Kinds;

/* Calls that follow each other: those into the node from first_in to end_in - 1, and out of it. */
typedef struct {
        guint32 first_in, end_in, first_out, end_out;
} CallRange;

/* Finds the kinds of the calls of a problem, and nothing else. The model numbers new ones. */
void kinds_number(Kinds *k, const Problem *p, NodeModel *model);
/* The same by the kinds that a model knows; its last kind of calls into the node is for all others.
 */
void kinds_look_up(Kinds *k, const Problem *p, const NodeModel *model);

/* Kinds and calls of a problem: the calls of n ranges of those that are numbered, one range after
 * the other. */
void kinds_take(Kinds *k, const Kinds *numbered, const CallRange *ranges, guint n,
                const Problem *p);

/* The calls of a problem that has numbers. */
void kinds_tell(Kinds *k, const Problem *p);

/* kinds_number(), then kinds_tell(). */
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

#endif
