/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One node's parents, found by several processes that all have its calls: one of them learns, each
 * finds some of the parts, and one puts them together. The answer is that of find_parents_jointly()
 * in one process, to the last bit.
 *
 * All numbers of parts and of processes are the same everywhere. Bytes are those of processes of
 * one program.
 */
#ifndef RAVEL_SHARED_NODE_H
#define RAVEL_SHARED_NODE_H

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

/* For all: divides the parts among n processes, of which this is `mine`. load: the same everywhere,
 * by process: what each has to do; a part goes to the one with the least, and is added. */
void shared_node_assign(SharedNode *node, guint mine, double *load, guint n);

/* Finds the parts of this process, by the threads of the problem's crew. Returns them, for the one
 * that puts them together, which itself keeps them and returns nothing. */
GBytes *shared_node_find(SharedNode *node, gboolean keep);

/* For the one that learned: what that took, as a load. */
double shared_node_learning(const SharedNode *node);

/* For the one that puts them together, or the one that learned where there are no parts: the share
 * of another, and, when all are there, the answer. */
void shared_node_add(SharedNode *node, GBytes *share);
void shared_node_end(SharedNode *node, NodeAnswer *answer);

#endif
