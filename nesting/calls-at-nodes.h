/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The driver of joint inference: makes a node problem (inference/inference.h) of the calls into
 * each node that is called and calls, and out of it, has it solved, and takes the answer.
 */
#ifndef RAVEL_CALLS_AT_NODES_H
#define RAVEL_CALLS_AT_NODES_H

#include "nesting/nodes-search.h"

/* The natural logarithm of how likely the answer is, and, with true parents, of how likely those
 * are; and how many nodes the model that was given does not know. */
typedef struct {
        double found, truth;
        guint unknown;
} LogLikelihood;

/* Runs find_parents_jointly() for each node that is called and calls, and sets causes. What is
 * found does not depend on the number of threads. Adds to log. */
void find_parents_at_nodes(const NodesSearch *search, LogLikelihood *log);

#endif
