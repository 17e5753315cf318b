/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Divides the latency of a path instance among its calls and the network.
 */
#pragma once

#include "paths/path-call.h"

/* Fills in own, network, cause, queued, own_queued and connecting of the n calls of one instance.
 * Times must be within PATH_TIME_LIMIT. O(n log n) at worst.
 *
 * The root's latency is walked back from its end along the child that ended last. Each moment
 * belongs to exactly one call's own time or network, so these add up to the latency exactly. A root
 * that ends before it starts has none. A child counts as far as it lies within its parent; children
 * after the reply add nothing. A late or unanswered child counts until its caller goes on
 * (path_call_missed_until()). Work that goes on after the root's end is walked back in the same
 * way from its last end. So own, network and queued add up to the completion time.
 *
 * own_queued is the part of own in the callee's time before enter + wait.
 *
 * Network is what belongs to the way between caller and callee, and cause divides it. It includes
 * the callee's time while it has no child under way and the call is received or its return is sent.
 * It includes the caller's time while a connection was opened for the call, or its return was sent
 * again. While a call comes from a caller that is receiving itself, the time is the outermost's. */
void path_own_times(PathCall *calls, guint32 n);

/* The sum of own, network and queued: how long an instance takes until all work is done. */
gint64 path_completion(const PathCall *calls, guint32 n);
