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
#ifndef RAVEL_CALL_OFFSETS_H
#define RAVEL_CALL_OFFSETS_H

#include "tracefmt/clock-offset.h"
#include "tracefmt/span.h"

/* What calls from one node to another there are. */
typedef struct {
        NodeId caller, callee;
        guint64 pairs; /* whole calls */
        guint64 lone;  /* calls and returns without their other half */
} CallEdge;

/* The calls of a trace, a column for each thing that is needed of them; all borrowed. */
typedef struct {
        guint32 n;
        const Span *at_caller, *at_callee; /* each in view of the clocks of its end */
        const guint32 *edge;               /* index into edges, plus one */
        const guint8 *stamps;              /* 1 << MessageOp of those that it has */
        const CallEdge *edges;
        guint n_edges;
        const Span *whole; /* by NodeId: its calls that end after the one moment and start until the
                              other may not be the children of calls that are not there */
        guint n_nodes;
} CallSpans;

/* Finds the offsets of at most limit, ns: of ClockOffset, by node; the caller's to free. Empty
 * where clocks agree. prove: those that are not proven are doubtful. Looks at some thousands of
 * calls all over the trace. */
GArray *call_offsets_find(const CallSpans *calls, gint64 limit, gboolean prove);

#endif
