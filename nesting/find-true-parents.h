/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How the nesting algorithm cheats (paper, section 7.5.1) to give guaranteed paths: each message
 * has the true position of its call (calls/true-path.h), and the parent is the call with the
 * position one part shorter.
 */
#ifndef RAVEL_FIND_TRUE_PARENTS_H
#define RAVEL_FIND_TRUE_PARENTS_H

#include "calls/known-calls.h"

/* Of the calls that were not decided on, and start before a moment. */
typedef struct {
        guint32 without;  /* call pairs without path=; they are roots */
        guint32 lost;     /* roots for want of the call that path= puts above them */
        guint32 repeated; /* calls whose path= an earlier call has too */
} TruthCounts;

/* By call, the parent that its path names, if that is there, or NO_PARENT; to be freed. Adds to
 * counts those that start before the moment given, ns. */
guint32 *find_true_parents(const KnownCalls *calls, gint64 before, TruthCounts *counts);

/* Gives each call that parent. */
void take_true_parents(KnownCalls *calls, TruthCounts *counts);

#endif
