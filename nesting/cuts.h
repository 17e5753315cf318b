/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The path instances that the start and the end of the capture cut.
 *
 * An instance is cut if its root may be the child of a call with one end outside the capture.
 * Either the root's caller sent a return after the root's end, and the call of this return lies
 * before the capture's start. Or the root's caller was called before the root's start, and the
 * return of this call lies after the capture's end.
 *
 * A lone message is near the capture's start or end if the longest call on its edge lasts at least
 * as long as the time between. Its other end lies outside the capture then. Otherwise the other end
 * was lost.
 */
#pragma once

#include "calls/find-call-pairs.h"

/* Calls from a node that may be children of a call with one end outside: they end up to `returned`
 * or start after `called`. */
typedef struct {
        gint64 returned; /* the latest return of a call from before the start */
        gint64 called;   /* the earliest call that outlasts the end */
} Cut;

/* By NodeId, for n_nodes nodes, from the lone messages so far. The caller frees the array. */
Cut *cuts_find(CallMatcher *matcher, guint n_nodes);

static inline gboolean cut_is_in(const Cut *cut, gint64 start, gint64 end)
{
        return end <= cut->returned || start > cut->called;
}
