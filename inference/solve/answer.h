/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The answer, filled part by part.
 */
#ifndef RAVEL_ANSWER_H
#define RAVEL_ANSWER_H

#include "inference/inference.h"
#include "inference/model/joint.h"

/* An answer to a problem, of which nothing is found. */
void answer_init(NodeAnswer *answer, const NodeProblem *problem);

/* Writes the calls from first to end - 1 to the answer, as its calls from `at` on. Names the
 * candidates that are worth it; all if OUT_EXPLAIN asks for them. */
void answer_hand_out(const Joint *j, guint32 first, guint32 end, NodeAnswer *answer, guint32 at);

/* Adds what was handed out of a part, whose calls come next: from `at` on. Clears that. */
void answer_add_part(NodeAnswer *answer, guint32 at, NodeAnswer *part);

/* Makes room for the parents of drawings, all as found, where there is none yet. */
void answer_make_room_for_drawings(NodeAnswer *answer);

/* Writes how many workers serve the node's queue and, unless that is rejected, here or by the
 * assignment, how long each call into it waited. */
void answer_waits(const Joint *j, gboolean rejected, NodeAnswer *answer);

#endif
