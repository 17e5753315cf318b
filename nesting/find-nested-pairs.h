/* SPDX-License-Identifier: BSD-2-Clause
 *
 * FindNestedPairs (paper, Figure 4, lines 17 to 26, and section 5.1.1.3): gives each child the
 * candidate parent whose delay scores best, after the penalties for the children that a parent was
 * given already.
 *
 * Children are visited in call order. Where a score is tied the earliest parent has it. A penalty
 * whose count is 0 is a factor of 1, as is count 1: c^-x. A parent's probability is its share of
 * the scores of all candidates.
 */
#ifndef RAVEL_FIND_NESTED_PAIRS_H
#define RAVEL_FIND_NESTED_PAIRS_H

#include "calls/call-tree.h"
#include "calls/known-calls.h"
#include "nesting/nesting-options.h"
#include "nesting/scoreboard.h"

/* What pairs are found from; all borrowed. */
typedef struct {
        const NestingOptions *options;
        KnownCalls *calls;
        CallOrder *order;
        Scoreboard *board;    /* shown */
        GArray *explanations; /* of Explanation */
        gboolean cycles;      /* clocks may disagree, so that a call may lie within itself */
        gboolean faded;       /* scores may have been halved to nothing */
} PairSearch;

/* Goes through the order and puts trees together. FALSE with error set if one that is complete
 * could not be taken. */
gboolean find_nested_pairs(const PairSearch *search, CallTrees *trees, GError **error);

#endif
