/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The nesting algorithm (paper, section 5.1): messages to call pairs, to the parent of each, to
 * causal paths. The procedures of Figure 4 are a file each and run in this order:
 *
 *     FindCallPairs    calls/find-call-pairs.c, fed by nesting_add()
 *     ScoreNestings    score-nestings.c, by nesting_find_parents()
 *     FindNestedPairs  find-nested-pairs.c \ call by call, by
 *     FindCallPaths    find-call-paths.c   / nesting_find_paths()
 *
 * Two methods replace the middle two: joint inference (calls-at-nodes.c), and parents read from the
 * trace (find-true-parents.c). In both, nesting_find_parents() finds all parents. Windows of time
 * have another header, windows.h.
 */
#pragma once

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

/* The clocks by the facts of the trace so far. Call it before the first message, and again after
 * the last. */
void nesting_set_clocks(Nesting *nesting, TraceClocks clocks);

/* Clocks that were put right before messages came, of ClockOffset. nesting_clocks() has them first.
 */
void nesting_set_moved(Nesting *nesting, const GArray *clocks);
/* After the last message. whole: the capture lacks no packet. So a call without a return got
 * none. */
void nesting_set_whole(Nesting *nesting, gboolean whole);

/* Before the first message: by_port says that ids begin with the client's port. */
void nesting_set_ids(Nesting *nesting, gboolean by_port);

/* Line 2 of Figure 4, for each trace entry. Messages come in time order. FALSE with error set if
 * there are more than 2^32 - 2 calls. */
gboolean nesting_add(Nesting *nesting, const Message *message, GError **error);

/* After the last message: drops the calls without a return, and indexes the others by edge.
 * nesting_find_parents() calls it if nobody did. */
void nesting_end_calls(Nesting *nesting);

/* Between nesting_end_calls() and nesting_find_parents(): the call shall be explained.
 * nesting_explanations() has it at once, and its candidates after nesting_find_paths(). Each
 * explained call costs time. Not if parents are read from the trace. */
void nesting_explain(Nesting *nesting, guint32 call);

/* After the last message: finds parents, or (paper) scores delays to find parents by. */
void nesting_find_parents(Nesting *nesting);

/* Adds each path instance to set, in order of start, and counts the cut ones apart
 * (find-call-paths.h). Afterwards the causes and places of calls are set, if they are kept. Call it
 * once. FALSE with error set if the set's sink fails. */
gboolean nesting_find_paths(Nesting *nesting, PathSet *set, GError **error);

/* --- what was found; borrowed ---------------------------------------------- */

const KnownCalls *nesting_calls(const Nesting *nesting);
const GArray *nesting_explanations(const Nesting *nesting); /* of Explanation */

/* Of ClockOffset: the clocks that are off, corrected or doubtful; NULL: not looked for. */
const GArray *nesting_clocks(const Nesting *nesting);

/* The number of path instances in all sets so far, without cut ones. */
guint64 nesting_instances(const Nesting *nesting);

/* Fills the summary of a set with the numbers of the whole trace. */
void nesting_summarise(const Nesting *nesting, PathSet *set);

/* The number of nodes that are called, make calls and are unknown to options.model. */
guint nesting_unknown_nodes(const Nesting *nesting);

/* Counts of missing and repeated path=. */
const TruthCounts *nesting_truth(const Nesting *nesting);

/* The natural logarithm of the likelihood of the answer, or, with METHOD_ORACLE, of the true
 * parents. Needs options.keep. */
double nesting_log_likelihood(const Nesting *nesting, gboolean of_truth);
