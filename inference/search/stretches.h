/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where a node has very many parents, its model is learned from stretches of parents, spread over
 * the trace (is_training_parent()). This file gathers the calls that learning needs. They are the
 * stretches, and margins with the parents before and after each stretch, which were open at the
 * same time. So the time and memory of learning depend on the calls learned from, not on the size
 * of the node.
 */
#pragma once

#include "inference/model/kinds.h"
#include "inference/model/problem.h"

typedef struct {
        GArray *ranges;      /* of CallRange: each a stretch and its margins */
        NodeProblem node;    /* the calls of all ranges, one after the other */
        gboolean whole;      /* it has the arrays of the whole problem: one range has all calls */
        guint32 n_stretches; /* one stretch in n_stretches trains the model; see Problem */
} Stretches;

/* Finds the stretches. Margins are whole stretches. They are wide enough that hardly any training
 * parent is open beyond them. If that leaves nothing out, all calls are taken. O(calls). Borrows
 * the arrays of the whole problem. */
void stretches_find(Stretches *s, const Problem *whole);
void stretches_clear(Stretches *s);

/* The problem to learn from, with the calm of the whole. Candidates are still to be found. */
Problem stretches_problem(Stretches *s, const Problem *whole);
