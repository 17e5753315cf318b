/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the capture's start and end cut path instances.
 *
 * An instance is cut where its root may be the child of a call that the capture has only one end
 * of: its caller sent a return after the root's end, whose call lies before the capture's start; or
 * was called before the root's start, and its return lies after the capture's end. A lone message
 * lies across the start or the end if it is no further from it than the longest call on its edge
 * lasts; elsewhere in the trace it is a loss.
 */
#ifndef RAVEL_CUTS_H
#define RAVEL_CUTS_H

#include "calls/find-call-pairs.h"

/* The calls of a node that may be children of such calls: those that end until the one or start
 * after the other. */
typedef struct {
        gint64 returned; /* the latest return of a call from before the start */
        gint64 called;   /* the earliest call that outlasts the end */
} Cut;

/* As far as lone messages are known; by NodeId, n_nodes of them. The caller's to free. */
Cut *cuts_find(CallMatcher *matcher, guint n_nodes);

static inline gboolean cut_is_in(const Cut *cut, gint64 start, gint64 end)
{
        return end <= cut->returned || start > cut->called;
}

#endif
