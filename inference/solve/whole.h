/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Joint inference: finds the parents of all calls that a node makes together. A call's parent
 * depends on what is left for the other calls. docs/model.md gives the model.
 *
 * The model is learned from beliefs, and beliefs follow from the model, so both are found in
 * rounds, by expectation maximisation (Dempster, Laird and Rubin, 1977). The first rounds learn
 * from calm parents, which lived while the concurrency was low and little could be mistaken.
 *
 * A node is solved at once; or in parts where there are very many parents or candidates
 * (part-search.h).
 */
#ifndef RAVEL_WHOLE_H
#define RAVEL_WHOLE_H

#include "inference/solve/nouns.h"

/* One node, before anything is found. */
typedef struct {
        Nouns n;
        Candidates open;
        gsize n_beliefs; /* of all calls */
        gboolean choice; /* a call has more than one */
        gboolean ended;
} Whole;

/* Finds candidates and prepares the model; answer: of which nothing is found. */
void whole_begin(Whole *b, NodeProblem *problem, NodeModel *model, Learning learning,
                 NodeAnswer *answer);

/* Finds all parents at once. */
void whole_find_at_once(Whole *b, NodeAnswer *answer);

/* Where what was learned is rejected, begins again, to learn with more workers than were supposed,
 * if there may be more, or else without a queue, and returns TRUE. */
gboolean whole_begins_again(Whole *b, NodeAnswer *answer);

/* The answer is complete, but for the parents in it. */
void whole_end(Whole *b, NodeAnswer *answer);

/* Frees what was begun, but for the model and the answer. */
void whole_abandon(Whole *b);

/* All of it. learned: gets the model in bytes; NULL: not wanted. */
void whole_solve(NodeProblem *problem, NodeModel *model, Learning learning, GBytes **learned,
                 NodeAnswer *answer);

/* Whether any call has more than one candidate. */
gboolean whole_has_choice(const NodeProblem *node, const guint32 *n_candidates);

/* Ends with the answer, but for the parents. */
void whole_conclude(Nouns *n, gboolean keep_log, NodeAnswer *answer);

#endif
