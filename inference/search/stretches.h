/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where a node has very many parents, its model is learned from stretches of them that are spread
 * over the trace (is_training_parent()). These are the calls that this takes: the stretches, and
 * margins with the parents before and after each, which lived with them. So learning takes time and
 * memory by what is learned from, not by what the node has.
 */
#ifndef RAVEL_STRETCHES_H
#define RAVEL_STRETCHES_H

#include "inference/model/kinds.h"
#include "inference/model/problem.h"

typedef struct {
        GArray *ranges;      /* of CallRange: each a stretch and its margins */
        NodeProblem node;    /* the calls of all ranges, one after the other */
        gboolean whole;      /* it has the arrays of the whole problem: one range has all calls */
        guint32 n_stretches; /* one stretch of its parents in so many trains the model, as before */
} Stretches;

/* Finds them. Margins are whole stretches, as many as it takes that hardly any training parent is
 * open for longer; where that leaves nothing out, all calls are taken. O(calls). Borrows the
 * arrays of the whole problem. */
void stretches_find(Stretches *s, const Problem *whole);
void stretches_clear(Stretches *s);

/* What is learned from them. It is known what is calm in the whole problem; what candidates there
 * are is not. */
Problem stretches_problem(Stretches *s, const Problem *whole);

#endif
