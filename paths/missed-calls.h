/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Missed calls of a path: late ones, and those without an answer. Their caller waited for them
 * until it went on without their return.
 */
#pragma once

#include "paths/path-call.h"

/* By call, when its caller asked for its next call of the same operation, ns; G_MAXINT64: never.
 * Calls that follow each other within LEAST_SPAN are made together, and are no next call. A call
 * asks since its connection was opened. NULL, if no call is missed. The caller's to free.
 *
 * O(n log n). */
gint64 *path_find_next_asked(const PathCall *calls, guint32 n);

/* When the caller of a missed call went on without its return, ns: at its reply, when the call
 * ended, or when it asked next; whichever is first. */
gint64 path_call_missed_until(const PathCall *calls, const gint64 *next_asked, guint32 call);
