/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Joint inference finds the parents of all calls of a node together. A call's parent depends on the
 * parents that other calls leave. docs/model.md gives the model.
 *
 * The model is learned from beliefs, and beliefs follow from the model. So both are found in
 * rounds, by expectation maximisation (Dempster, Laird and Rubin, 1977). The first rounds learn
 * from calm parents, which lived at low concurrency, where errors are rare.
 *
 * A node is solved at once, or in parts (part-search.h) if it has very many parents or candidates.
 */
#pragma once

#include "inference/solve/nouns.h"

/* One node, before anything is found. */
typedef struct {
        Nouns n;
        Candidates open;
        gsize n_beliefs; /* of all calls */
        gboolean choice; /* a call has more than one candidate */
        gboolean ended;
} Whole;

/* Counts candidates, and prepares the model and an empty answer. */
void whole_begin(Whole *b, NodeProblem *problem, NodeModel *model, Learning learning,
                 NodeAnswer *answer);

/* Finds all parents at once. */
void whole_find_at_once(Whole *b, NodeAnswer *answer);

/* Completes the answer, which has its parents already. */
void whole_end(Whole *b, NodeAnswer *answer);

/* Frees what was begun, but for the model and the answer. */
void whole_abandon(Whole *b);

/* Solves a node from begin to end. learned: gets the model in bytes; NULL: not wanted. */
void whole_solve(NodeProblem *problem, NodeModel *model, Learning learning, GBytes **learned,
                 NodeAnswer *answer);

/* Whether any call has more than one candidate. */
gboolean whole_has_choice(const NodeProblem *node, const guint32 *n_candidates);

/* Writes to the answer everything but the parents, and frees the nouns. most_open: candidates of
 * one call, at most. */
void whole_conclude(Nouns *n, guint32 most_open, gboolean keep_log, NodeAnswer *answer);
