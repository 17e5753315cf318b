/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parents of one node, found by several processes that all have its calls. One process learns,
 * each finds some of the parts, and one joins the parts. The answer is that of
 * find_parents_jointly() in one process, to the last bit.
 *
 * Parts and processes have the same numbers everywhere. Bytes come from the same program.
 */
#pragma once

#include "inference/inference.h"

typedef struct SharedNode SharedNode;

/* problem: borrowed. It has no truth to learn from, and what was learned is not wanted. */
SharedNode *shared_node_new(NodeProblem *problem);
void shared_node_free(SharedNode *node);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SharedNode, shared_node_free)

/* For one process. Returns what the others go on from; NULL: the node has few calls, and all
 * parents were found. */
GBytes *shared_node_learn(SharedNode *node);

/* For the others. */
void shared_node_take(SharedNode *node, GBytes *learned);

/* For all: divides the parts among n processes, of which this is `mine`. load: what each process
 * has to do, the same array everywhere. A part goes to the process with the least load, and is
 * added. */
void shared_node_assign(SharedNode *node, guint mine, double *load, guint n);

/* Finds the parts of this process, with the threads of the problem's crew. Returns them as bytes
 * for the process that joins them. keep: this is that process. It keeps its parts and returns
 * nothing. */
GBytes *shared_node_find(SharedNode *node, gboolean keep);

/* For the process that learned: the cost of learning, as a load. */
double shared_node_learning(const SharedNode *node);

/* For the process that joins the parts, or that learned if there are no parts. Adds the share of
 * another process. When all shares are there, shared_node_end() gives the answer. */
void shared_node_add(SharedNode *node, GBytes *share);
void shared_node_end(SharedNode *node, NodeAnswer *answer);
