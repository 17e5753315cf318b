/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How the nesting algorithm cheats (paper, section 7.5.1) to give guaranteed paths. Each message
 * has the true position of its call (calls/known-calls.h). The parent is the call whose position is
 * one part shorter.
 */
#pragma once

#include "calls/known-calls.h"

/* Counted over the undecided calls that start before a moment. */
typedef struct {
        guint32 without;  /* call pairs without path=; they are roots */
        guint32 lost;     /* calls that became roots because the parent by path= is missing */
        guint32 repeated; /* calls whose path= an earlier call has */
} TruthCounts;

/* By call: the parent that its path= names, or NO_PARENT. The caller frees the array. Calls that
 * start before the given moment (ns) are added to counts. */
guint32 *find_true_parents(const KnownCalls *calls, gint64 before, TruthCounts *counts);

void take_true_parents(KnownCalls *calls, TruthCounts *counts);
