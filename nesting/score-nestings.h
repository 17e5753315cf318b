/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ScoreNestings (paper, Figure 4, lines 13 to 16). Counts the delays between a candidate parent's
 * call and the child's.
 */
#pragma once

#include "calls/known-calls.h"
#include "nesting/scoreboard.h"

/* Visits calls in order. smooth: see scoreboard_show(). cycles: a call may be its own candidate,
 * and is left out then. */
void score_nestings(KnownCalls *calls, CallOrder *order, Scoreboard *board, double smooth,
                    gboolean cycles);
