/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Clocks that disagree, as calls show it. (The paper has a window for them, section 7.5.6.)
 *
 * If each host stamps its own messages, a node whose clock is off seems to call before it was
 * called, or to reply before its own calls return. Such calls are misfits: they have no candidate
 * parent at a node that is called (equal stamps are in order), or they return before they are made.
 *
 * A node's offset is taken off the stamps of its clock so that its misfits go. It is as much as
 * they need, and up to half as much again. The rest of an offset cannot be told from a delay, and
 * does no harm. So clocks that agree, or nearly, stay as they are.
 *
 * Nodes are moved alone, or together with all nodes that only they call. The move that mends most
 * misfits by the shortest way comes first. Moving ends when it is no longer worth it, or when the
 * misfits left can come from the messages that the trace has lost.
 *
 * Misfits also come from work after the reply, such as mail that is passed on. A call out of a
 * relay belongs to no call into it, but a large offset makes it fit into the next one. So an offset
 * has to be proven if nothing says that a trace has several clocks. A clock that is off mends
 * nearly all misfits around it by offsets between two close bounds, since calls limit it from one
 * side and returns from the other. Work after the reply is mended by any large offset, or by none.
 */
#pragma once

#include "tracefmt/clock-offset.h"
#include "tracefmt/span.h"

/* What calls from one node to another there are. */
typedef struct {
        NodeId caller, callee;
        guint64 pairs; /* whole calls */
        guint64 lone;  /* calls and returns without their other half */
} CallEdge;

/* The calls of a trace in columns; all borrowed. */
typedef struct {
        guint32 n;
        const Span *at_caller, *at_callee; /* each on the clock of its end */
        const guint32 *edge;               /* index into edges, plus one */
        const guint8 *stamps;              /* 1 << MessageOp of each stamp of the call */
        const CallEdge *edges;
        guint n_edges;
        const Span *whole; /* by NodeId: calls of the node that end after its begin and start before
                              its end surely have their parents in the trace */
        guint n_nodes;
} CallSpans;

/* Finds offsets of at most limit, ns: of ClockOffset, by node; the caller's to free. Empty if
 * clocks agree. prove: offsets without a proof are doubtful. Looks at some thousands of calls all
 * over the trace. */
GArray *call_offsets_find(const CallSpans *calls, gint64 limit, gboolean prove);
