/* SPDX-License-Identifier: BSD-2-Clause
 *
 * FindNestedPairs (paper, Figure 4, lines 17 to 26, and section 5.1.1.3). Each child gets the
 * candidate parent whose delay scores best, after the penalties for the parent's earlier children.
 *
 * Children are visited in call order. If scores are equal, the earliest parent wins. A penalty is
 * c^-x for a count c; it is 1 for the counts 0 and 1. A parent's probability is its share of the
 * scores of all candidates.
 */
#pragma once

#include "calls/call-tree.h"
#include "calls/known-calls.h"
#include "nesting/nesting-options.h"
#include "nesting/scoreboard.h"

/* What pairs are found from; all borrowed. */
typedef struct {
        const NestingOptions *options;
        KnownCalls *calls;
        CallOrder *order;
        Scoreboard *board;    /* scoreboard_show() was called */
        GArray *explanations; /* of Explanation */
        gboolean cycles;      /* clocks may disagree, so that a call may lie within itself */
        gboolean faded;       /* scores may have been halved down to 0 */
} PairSearch;

/* Visits calls in order and builds trees. FALSE with error set if a complete tree could not be
 * taken. */
gboolean find_nested_pairs(const PairSearch *search, CallTrees *trees, GError **error);
