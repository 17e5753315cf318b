/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The path instances of drawings (inference/solve/drawings.h): the same calls and the same roots as those
 * that were found, put together by the parents of each drawing. Where most instances are wrong,
 * these count patterns better (docs/paths.md).
 */
#ifndef RAVEL_DRAWN_PATHS_H
#define RAVEL_DRAWN_PATHS_H

#include "calls/known-calls.h"
#include "inference/inference.h"
#include "paths/path-set.h"

/* By drawing and call: its parent; NO_PARENT: as found. All NULL where no node was in doubt. */
typedef struct {
        guint32 *parent[ANSWER_DRAWINGS]; /* in files (base/big-memory.h) */
        guint32 n_calls;
} DrawnParents;

void drawn_parents_clear(DrawnParents *drawn); /* frees what it holds */

/* Takes those of an answer; n_calls: of the trace. */
void drawn_parents_take(DrawnParents *drawn, const NodeAnswer *answer, guint32 n_calls);

/* Counts the patterns of set, which has the instances that were found, by the drawings. roots: of
 * guint32, the calls that these begin with. O(calls). */
void drawn_paths_count(const DrawnParents *drawn, const KnownCalls *calls, const GArray *roots,
                       PathSet *set);

#endif
