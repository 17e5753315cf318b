/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Finds the weights of evidence (weights.h) on the candidates of calls that are to be explained.
 */
#ifndef RAVEL_WEIGH_H
#define RAVEL_WEIGH_H

#include "inference/inference.h"
#include "inference/model/joint.h"
#include "inference/model/weights.h"

/* Lists the candidates of the calls from first to end - 1 that are to be explained (OUT_EXPLAIN),
 * before evidence leaves any out. Returns CandidateWeights for weigh(); NULL: there are none. */
GArray *weigh_list(const Problem *p, guint32 first, guint32 end);

/* Weighs the evidence on the listed candidates by the assignment, and notes which of them evidence
 * has left out. Those are dropped from the list of which nothing can be said, as a parent has more
 * than MOST_CHILDREN calls. Learns nothing, and leaves the walks as they were. O(calls + listed
 * candidates * children squared). */
void weigh(Joint *j, GArray *listed);

#endif
