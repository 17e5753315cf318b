/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Windows of time (paper, section 8): the paths that begin in each are ranked by
 * themselves, and calls are kept no longer than they are needed.
 *
 * Now and then, what has come so far is taken a step further. All calls that are over are
 * known up to a moment, which is the first one of a call that is still open; up to it
 * nestings are scored, parents are found and paths put together, as in a trace that is
 * whole. What goes beyond it is carried over as it is: calls that were not gone through,
 * candidates that are open, trees that may get more children. So where a window ends makes
 * no difference to parents, but for what the scoreboard has learned by then.
 *
 * Where parents are found jointly, parents of the calls before a moment are found with the calls of
 * some time after it in view, and what nodes have learned is carried over as well.
 *
 * A window is closed when all paths that began in it are complete. What was learned counts
 * half from then on, and half of that after the next one.
 */
#ifndef RAVEL_WINDOWS_H
#define RAVEL_WINDOWS_H

#include "calls/known-calls.h"
#include "nesting/find-true-parents.h"
#include "nesting/nesting-options.h"
#include "paths/path-set.h"

typedef struct Windows Windows;

/* Takes a window of time: set has all instances whose roots start in it, which is from the
 * first of its summary on and before the last; places of these calls, if kept, number from
 * first_instance on. Returns the path set for those of the next window, borrowed until then;
 * NULL with error set to stop. */
typedef PathSet *(*WindowDone)(gpointer data, PathSet *set, guint64 first_instance, GError **error);

/* options: span is the length of a window; parents are not read from the trace, and no call is
 * explained. first: the path set of the first window. */
Windows *windows_new(NodeTable *nodes, const NestingOptions *options, PathSet *first,
                     WindowDone done, gpointer data);
void windows_free(Windows *windows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Windows, windows_free)

/* As nesting_set_ids(). */
void windows_set_ids(Windows *windows, gboolean by_port);

/* Messages in time order. FALSE with error set past 2^32 - 2 calls at a time, or where done fails.
 */
gboolean windows_add(Windows *windows, const Message *message, GError **error);

/* After the last message: the last windows. */
gboolean windows_finish(Windows *windows, GError **error);

/* The calls that are still there, and what parents that were read from the trace lacked. */
const KnownCalls *windows_calls(const Windows *windows);
const TruthCounts *windows_truth(const Windows *windows);

/* Path instances that went to sets so far, without those that are cut. */
guint64 windows_instances(const Windows *windows);

/* What is known of the whole trace, into the summary of a set. */
void windows_summarise(const Windows *windows, PathSet *set);

#endif
