/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The calls at one node: makes a node problem (inference/inference.h) of them, and takes the
 * answer.
 */
#pragma once

#include "inference/inference.h"
#include "nesting/nodes-search.h"

/* The indices of all calls: the calls into a node together and in order, and the calls from it. The
 * calls of a node are first_in[node] to first_in[node + 1] - 1. */
typedef struct {
        guint32 *in, *out;
        guint32 *first_in, *first_out;
} CallsByNode;

/* node_calls_clear() frees the arrays. */
void node_calls_index(const NodesSearch *n, CallsByNode *by, guint n_nodes);
void node_calls_clear(const NodesSearch *n, CallsByNode *by);

/* Fills the problem of one node. Its arrays have room for the node's calls. */
void node_calls_make_problem(const NodesSearch *n, const CallsByNode *by, NodeId id,
                             NodeProblem *problem);

/* Takes the answer for one node, except waits and causes. */
void node_calls_take_answer(const NodesSearch *n, const NodeProblem *problem, NodeAnswer *answer);

/* Notes how long calls into the node waited, if known. Not on two threads at once. */
void node_calls_note_waits(const NodesSearch *n, const NodeProblem *node, NodeAnswer *answer);

/* Sets each call's parent: the earliest candidate with the best score. Clears the answer. */
void node_calls_set_causes(const NodesSearch *n, NodeAnswer *found);

/* Late calls: a call begins while its parent is open, and outlasts it. The parent did not wait for
 * the return: a hedged request, or a time-out. Such a call lies within no candidate.
 *
 * A root may look the same by accident. Roots begin at any time, some while the node is idle. Their
 * number then tells how many roots look late. Late calls are admitted if there are twice as many.
 */

/* Makes late calls that are admitted end as they start. So calls that are open at their start are
 * their candidates. Stamps are on the node's clock. O(calls). */
void late_calls_admit(NodeProblem *problem);
