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

#include "nesting/nesting.h"

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

/* Messages come in time order. FALSE with error set if more than 2^32 - 2 calls are kept at once,
 * or if done fails. */
gboolean windows_add(Windows *windows, const Message *message, GError **error);

/* After the last message: hands on the last windows. */
gboolean windows_finish(Windows *windows, GError **error);

/* Time has passed without a message: it is now at least `time` (ns). Hands on the windows that are
 * complete. */
gboolean windows_idle(Windows *windows, gint64 time, GError **error);

/* Later windows have this length (ns) and begin at its multiples. */
void windows_set_length(Windows *windows, gint64 span);

/* Before the first message: no window lies on both sides of this moment (ns). */
void windows_part_at(Windows *windows, gint64 time);

/* What was learned so far, in bytes, to go on with it in another process. Only of joint inference.
 * windows_take_learned() comes before the first message, with no node in the table yet. FALSE with
 * error set (G_FILE_ERROR) if the bytes are wrong. */
GBytes *windows_learned(const Windows *windows);
gboolean windows_take_learned(Windows *windows, const guint8 *data, gsize n, GError **error);

/* The run of nesting that the windows are of, borrowed: it takes nesting_set_ids(), has the calls
 * that are still kept, and counts over the whole trace. */
Nesting *windows_run(Windows *windows);
