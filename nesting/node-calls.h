/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The calls at one node: into a node problem (inference/inference.h), and back what was found of
 * them.
 */
#ifndef RAVEL_NODE_CALLS_H
#define RAVEL_NODE_CALLS_H

#include "nesting/nodes-search.h"

/* The indices of all calls, those into a node together and in order; and those
 * out of it. first_in[node] to first_in[node + 1] are the node's. */
typedef struct {
        guint32 *in, *out;
        guint32 *first_in, *first_out;
} CallsByNode;

/* clear frees what it holds. */
void node_calls_index(const NodesSearch *n, CallsByNode *by, guint n_nodes);
void node_calls_clear(const NodesSearch *n, CallsByNode *by);

/* Fills the problem of one node, which has room for its calls. */
void node_calls_make_problem(const NodesSearch *n, const CallsByNode *by, NodeId id,
                             NodeProblem *problem);

/* Takes what was found of one node, but for waits and causes. */
void node_calls_take_answer(const NodesSearch *n, const NodeProblem *problem, NodeAnswer *answer);

/* How long calls into the node waited, where that is known. Not on two threads at a time. */
void node_calls_note_waits(const NodesSearch *n, const NodeProblem *node, NodeAnswer *answer);

/* Each call's parent: the candidate with the best score, of equal ones the earliest. Clears found.
 */
void node_calls_set_causes(const NodesSearch *n, NodeAnswer *found);

#endif
