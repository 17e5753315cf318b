/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls that a node makes of its own accord, as a mail relay does that has queued a mail: most
 * calls of such an edge have no candidate parent. Some start and end while another request is open
 * by accident, as often as the node is busy. Where accident explains most calls of the edge that
 * have candidates, they are roots like the others.
 */
#ifndef RAVEL_ROOTS_H
#define RAVEL_ROOTS_H

#include "inference/inference.h"

/* Sets OUT_ROOT of the calls of such edges. n_candidates: by call out of the node. Returns whether
 * there are any. O(calls into the node * callees + calls out of it). */
gboolean roots_find(NodeProblem *problem, const guint32 *n_candidates);

#endif
