/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The nesting algorithm (paper, section 5.1): messages to call pairs, to the parent of each, to
 * causal paths. Figure 4's procedures are a file each, and this is the order they run in:
 *
 *     FindCallPairs    calls/find-call-pairs.c, fed by nesting_add()
 *     ScoreNestings    score-nestings.c, by nesting_find_parents()
 *     FindNestedPairs  find-nested-pairs.c \ call by call, by
 *     FindCallPaths    find-call-paths.c   / nesting_find_paths()
 *
 * Instead of the middle two, nesting_find_parents() finds all parents where they are found
 * jointly (calls-at-nodes.c), or are read from the trace (find-true-parents.c). Windows of time
 * have a door of their own, windows.h.
 */
#ifndef RAVEL_NESTING_H
#define RAVEL_NESTING_H

#include "calls/known-calls.h"
#include "nesting/explanation.h"
#include "nesting/find-true-parents.h"
#include "nesting/nesting-options.h"
#include "paths/path-set.h"
#include "tracefmt/clock-offset.h"
#include "tracefmt/trace-clocks.h"

typedef struct Nesting Nesting;

Nesting *nesting_new(NodeTable *nodes, const NestingOptions *options);
void nesting_free(Nesting *nesting);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Nesting, nesting_free)

/* What the facts of the trace say so far: before the first message, and again after the last. */
void nesting_set_clocks(Nesting *nesting, TraceClocks clocks);

/* Before the first message: its ids begin with the client's port. */
void nesting_set_ids(Nesting *nesting, gboolean by_port);

/* Line 2 of Figure 4: for each trace entry. Messages in time order. FALSE with
 * error set past 2^32 - 2 calls. */
gboolean nesting_add(Nesting *nesting, const Message *message, GError **error);

/* After the last message: from now on the calls are those that have a return, with their
 * edges. nesting_find_parents() does it where it was not done. */
void nesting_end_calls(Nesting *nesting);

/* Between these two: call shall be explained. It is in nesting_explanations() at once, and has its
 * candidates after nesting_find_paths(). Finding parents then takes time in proportion to how many
 * are. Not where parents are read from the trace. */
void nesting_explain(Nesting *nesting, guint32 call);

/* After the last message: learns what parents are found by, or finds them. */
void nesting_find_parents(Nesting *nesting);

/* Adds each path instance to set, in order of start; those that the capture's
 * start or end has cut are counted apart. After it, causes and places of calls are set, if
 * they are kept. Once only. FALSE with error set if set's sink fails. */
gboolean nesting_find_paths(Nesting *nesting, PathSet *set, GError **error);

/* --- what was found; borrowed ---------------------------------------------- */

const KnownCalls *nesting_calls(const Nesting *nesting);
const GArray *nesting_explanations(const Nesting *nesting); /* of Explanation */

/* Of ClockOffset: the clocks that are off, put right or in doubt; NULL where not looked for. */
const GArray *nesting_clocks(const Nesting *nesting);

/* Of the nodes that call and are called, how many options.model does not know. */
guint nesting_unknown_nodes(const Nesting *nesting);

/* What parents that were read from the trace lacked. */
const TruthCounts *nesting_truth(const Nesting *nesting);

/* The natural logarithm of how likely the answer is, or, with METHOD_ORACLE, the true parents are;
 * if options.keep. */
double nesting_log_likelihood(const Nesting *nesting, gboolean of_truth);

#endif
