/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Why a path failed, by the outcomes of its calls (base/outcome.h), and what was tried again.
 *
 * A *retry* is a call with the caller, parent, operation and size of an earlier one that ended in
 * error before it began; without an operation it has the same callee, too. A call is *mended* if
 * its retry succeeded, or was mended.
 *
 * The *culprit* of a failed path is found from its root down. A call in error may have made calls
 * in error that are not mended: the one that ended last leads on. The last call so found is the
 * culprit. A call whose outcome nobody could see (no label, no st=) may lead on, but is no culprit.
 * Errors of work that nobody waits for, or that a successful caller swallowed, do not count.
 *
 * A late call is a *time-out* if it was its caller's last, and its caller failed at least
 * LEAST_SPAN later. If nobody waited for the caller either, most of the caller's time must be the
 * call's. It leads on if no call in error does.
 */
#pragma once

#include "paths/path-call.h"

gboolean path_has_errors(const PathCall *calls, guint32 n);

/* The culprit; NO_PARENT: the path did not fail, by its root's outcome. */
guint32 path_culprit(const PathCall *calls, guint32 n);

/* Its outcome as its caller saw it: NO_ANSWER if it was late. */
Outcome path_outcome_of_culprit(const PathCall *culprit);

/* By call, the call that it tries again; NO_PARENT: none. The caller's to free. O(n log n). */
guint32 *path_find_retried(const PathCall *calls, guint32 n);

/* A call and its retries. */
typedef struct {
        guint32 first, last;    /* calls */
        guint attempts, errors; /* these two, and those between; how many of them are in error */
        Outcome outcome;        /* of the last in error */
        gint64 lost;            /* from the start of the first to the start of the last, ns */
} PathRetry;

/* Whether the last attempt was in error, too. */
static inline gboolean path_retry_failed(const PathRetry *retry)
{
        return retry->errors == retry->attempts;
}

/* Those of a path, of PathRetry, by their last call. The caller's to free. */
GArray *path_retries(const PathCall *calls, guint32 n);
