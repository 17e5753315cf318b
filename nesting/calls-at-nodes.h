/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The driver of joint inference. It makes a node problem (inference/inference.h) of the calls at
 * each node that is called and makes calls, has it solved, and takes the answer.
 */
#pragma once

#include "nesting/nodes-search.h"

/* The natural logarithms of the likelihoods of the answer and of the true parents, if these are
 * known. unknown: the number of nodes that the given model does not know. */
typedef struct {
        double found, truth;
        guint unknown;
} LogLikelihood;

/* Runs find_parents_jointly() for each node that is called and makes calls, and sets causes. The
 * answer does not depend on the number of threads. Adds to log. */
void find_parents_at_nodes(const NodesSearch *search, LogLikelihood *log);
