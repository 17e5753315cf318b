/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls that a node makes of its own accord. A mail relay that has queued a mail makes such calls.
 * Most calls of such an edge have no candidate parent. Some start and end by accident while another
 * request is open, as often as the node is busy. Where accident explains most calls that have
 * candidates, these are roots like the others.
 */
#pragma once

#include "inference/inference.h"

/* Sets OUT_ROOT for the calls of such edges. n_candidates: by call out of the node. Returns whether
 * there are any. O(calls in * callees + calls out). */
gboolean roots_find(NodeProblem *problem, const guint32 *n_candidates);
