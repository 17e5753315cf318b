/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Finds the weights of evidence (weights.h) on the candidates of calls that are to be explained.
 */
#pragma once

#include "inference/inference.h"
#include "inference/model/joint.h"
#include "inference/model/weights.h"

/* Lists the candidates of the calls to be explained (OUT_EXPLAIN), from first to end - 1. Call it
 * before evidence leaves any out. Returns CandidateWeights for weigh(); NULL: there are none. */
GArray *weigh_list(const Problem *p, guint32 first, guint32 end);

/* Weighs the evidence on the listed candidates by the assignment, and notes which ones evidence has
 * left out. Drops candidates from the list that cannot be weighed, as a parent has more than
 * MOST_CHILDREN calls. Learns nothing, and leaves the walks unchanged. Cost: O(calls + listed
 * candidates * children squared). */
void weigh(Joint *j, GArray *listed);
