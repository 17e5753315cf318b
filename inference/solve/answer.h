/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The answer, filled part by part.
 */
#pragma once

#include "inference/inference.h"
#include "inference/model/joint.h"

/* Prepares an answer to a problem, in which nothing is found yet. */
void answer_init(NodeAnswer *answer, const NodeProblem *problem);

/* Writes the calls from first to end - 1 to the answer, as its calls from `at` on. Names the
 * candidates that are worth it, or all if OUT_EXPLAIN asks for them. */
void answer_hand_out(const Joint *j, guint32 first, guint32 end, NodeAnswer *answer, guint32 at);

/* Adds the answer of a part, whose calls come next: from `at` on. Clears the part. */
void answer_add_part(NodeAnswer *answer, guint32 at, NodeAnswer *part);

/* Makes room for the parents of drawings, where there is none yet. All are as found. */
void answer_make_room_for_drawings(NodeAnswer *answer);

/* Writes the number of workers that serve the node's queue. Also writes how long each call into the
 * node waited, unless many calls were made before their parents' starts. */
void answer_waits(const Joint *j, NodeAnswer *answer);
