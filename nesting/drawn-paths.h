/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The path instances of drawings (inference/solve/drawings.h). Calls and roots are those of the
 * answer; the parents are those of a drawing. If most instances of the answer are wrong, drawings
 * count patterns better (docs/paths.md).
 */
#pragma once

#include "calls/known-calls.h"
#include "inference/inference.h"
#include "nesting/find-call-paths.h"

/* By drawing and call: the parent; NO_PARENT: the parent of the answer. All arrays are NULL if no
 * node was in doubt. */
typedef struct {
        guint32 *parent[ANSWER_DRAWINGS]; /* in files (base/big-memory.h) */
        guint32 n_calls;
} DrawnParents;

void drawn_parents_clear(DrawnParents *drawn); /* frees what it holds */

/* Takes the drawings of one node's answer. n_calls: all calls of the trace. */
void drawn_parents_take(DrawnParents *drawn, const NodeAnswer *answer, guint32 n_calls);

/* Counts by the drawings the patterns of set, which has the instances of the answer. paths knows
 * the roots of these. O(calls). */
void drawn_paths_count(const DrawnParents *drawn, const CallPaths *paths, PathSet *set);
