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

/* The time, ns, in which a call of this duration may begin and have a candidate. A candidate is open
 * then, and replies no earlier than the call ends. Only the time between `from` and `to` counts.
 * O(calls in). */
gint64 roots_covered_time(const NodeProblem *problem, gint64 duration, gint64 from, gint64 to);
