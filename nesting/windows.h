/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Windows of time (paper, section 8). The paths that begin in a window are ranked by themselves,
 * and calls are kept only as long as they are needed.
 *
 * Now and then all calls are taken a step further, up to the start of the first call that is still
 * open. All earlier calls are known. Up to this moment nestings are scored, parents are found and
 * paths are put together, as in a whole trace. Everything after it is carried over unchanged:
 * calls, open candidates, and trees that may get more children. So the end of a window makes no
 * difference to parents, except by what the scoreboard has learned so far.
 *
 * Joint inference finds the parents of calls before a moment with later calls in view. The models
 * of nodes are carried over, too.
 *
 * A window is closed when all paths that began in it are complete. Each closed window halves the
 * weight of what was learned before.
 */
#pragma once

#include "calls/known-calls.h"
#include "nesting/find-true-parents.h"
#include "nesting/nesting-options.h"
#include "paths/path-set.h"

typedef struct Windows Windows;

/* Takes a window of time. set has all instances whose roots start between the first and the last
 * time of its summary. Their calls' places, if kept, number from first_instance on. Returns the
 * path set of the next window, borrowed until then; NULL with error set stops. */
typedef PathSet *(*WindowDone)(gpointer data, PathSet *set, guint64 first_instance, GError **error);

/* options: span is the length of a window. Parents are not read from the trace, and no call is
 * explained. first: the path set of the first window. */
Windows *windows_new(NodeTable *nodes, const NestingOptions *options, PathSet *first,
                     WindowDone done, gpointer data);
void windows_free(Windows *windows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Windows, windows_free)

/* As nesting_set_ids(). */
void windows_set_ids(Windows *windows, gboolean by_port);

/* Messages come in time order. FALSE with error set if more than 2^32 - 2 calls are kept at once,
 * or if done fails. */
gboolean windows_add(Windows *windows, const Message *message, GError **error);

/* After the last message: hands on the last windows. */
gboolean windows_finish(Windows *windows, GError **error);

/* The calls that are still kept; and the counts of missing and repeated path=. */
const KnownCalls *windows_calls(const Windows *windows);
const TruthCounts *windows_truth(const Windows *windows);

/* The number of path instances in all sets so far, without cut ones. */
guint64 windows_instances(const Windows *windows);

/* Fills the summary of a set with the numbers of the whole trace. */
void windows_summarise(const Windows *windows, PathSet *set);
