/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Clocks that disagree, as the calls show it (the paper, section 7.5.6, has a window for them).
 *
 * Where each host stamps what it sends, a node whose clock is off seems to call before it was
 * called, or to reply before its own calls return. So there are misfits: calls without a
 * candidate parent at a node that is called (equal stamps are in order), or that return before
 * they are made. A node's offset is what has to be taken off the stamps of its clock so that these
 * go: as much as they need and up to half as much again. There is nothing to tell the rest of an
 * offset from a delay, and it does no harm; so clocks that agree, or nearly, stay as they are.
 *
 * Nodes are moved alone or with all that only they call, always those with which most misfits go by
 * the shortest way, until it is no longer worth it, where there are more misfits than the messages
 * that the trace has lost can make.
 *
 * Misfits also come from work that goes on after the reply, such as mail that is passed on: a call
 * out of a relay belongs to no call into it, and moving a clock far enough makes it fit into the
 * next one. So where nothing says that a trace has several clocks, an offset has to be proven. A
 * clock that is off mends nearly all misfits around it by offsets between two bounds that lie close
 * together, because calls limit it from one side and returns from the other, and by no other
 * offset. Work that goes on is mended by any offset that is large enough, or by none.
 */
#ifndef RAVEL_CLOCK_OFFSETS_H
#define RAVEL_CLOCK_OFFSETS_H

#include "calls/call-pair.h"
#include "calls/find-call-pairs.h"
#include "nesting/cuts.h"

/* A node whose clock seems to be off. */
typedef struct {
        NodeId node;
        gboolean doubtful;  /* it is not proven, so the clock is taken as it is */
        gint64 offset;      /* its stamps are taken to be so much too late, ns; below 0: early */
        gint64 least, most; /* offsets between these are as good, ns; G_MININT64 and G_MAXINT64
                               where nothing says */
        guint32 before;     /* misfits around it without that offset, */
        guint32 after;      /* and with it, */
        guint32 n_calls;    /* of so many calls that were looked at */
} ClockOffset;

/* Finds the offsets of at most limit, ns: of ClockOffset, by node; the caller's to free. Empty
 * where clocks agree. All calls have an edge; edges, and cuts by NodeId (n_nodes of them), are
 * those of the trace. prove: those that are not proven are doubtful. Looks at some thousands of
 * calls all over the trace. */
GArray *clock_offsets_find(const CallPairs *calls, const Edge *edges, guint n_edges,
                           const Cut *cuts, guint n_nodes, gint64 limit, gboolean prove);

#endif
