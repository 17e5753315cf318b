/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ScoreNestings (paper, Figure 4, lines 13 to 16): records how often each delay between a candidate
 * parent's call and the child's was seen.
 */
#ifndef RAVEL_SCORE_NESTINGS_H
#define RAVEL_SCORE_NESTINGS_H

#include "calls/known-calls.h"
#include "nesting/scoreboard.h"

/* Goes through order. smooth: see scoreboard_show(). cycles: a call may be a candidate of itself,
 * and is left out. */
void score_nestings(KnownCalls *calls, CallOrder *order, Scoreboard *board, double smooth,
                    gboolean cycles);

#endif
