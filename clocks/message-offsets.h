/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Clocks that disagree, as delays between messages show it (paper, section 5.2.3: negative apparent
 * delays). If a message is stamped at one end, a delay at a node lies between two clocks. A node
 * whose clock is early seems to send before it is asked. If its clock is late, the nodes that it
 * asks seem to answer early.
 *
 * A node may also send a message that the sender of the next one has waited for. So evidence is
 * taken from messages of callers, or of nodes that spoke first: the highest spike of delays to
 * messages sent to others, before or after. A clock is off if all evidence that would show it
 * begins before its cause. Nothing is known of the clock of a node that only answers.
 *
 * Delays below 0 bound the offset from below. Delays that shrink by the correction bound it from
 * above. Between the bounds no delay is below 0, and the middle is taken: the shortest delays at
 * the node and at its partners are then equal. If there is nothing between the bounds, something
 * else made the delays below 0, often overlapping requests.
 *
 * Where many routes share relays, there are spikes before their cause although all clocks are
 * right. Delays then bound the offset from one side only, or from far away. So an offset is proven
 * if both bounds exist and lie close together.
 */
#pragma once

#include "tracefmt/clock-offset.h"

/* The messages from one node to another. */
typedef struct {
        NodeId from, to;
        guint32 n;
        gboolean opens;                    /* from calls to, or spoke first */
        NodeId sent_clock, received_clock; /* whose clocks stamped them; NO_NODE: several nodes' */
} MessageEdge;

/* The highest spike of the delays from the messages of an edge to those of another. */
typedef struct {
        double height;     /* 0: there is none */
        gint64 from, peak; /* ns: where the spike begins, and where it is highest */
} DelaySpike;

/* What an offset is found from; all borrowed. */
typedef struct {
        const MessageEdge *edges; /* edges that leave a node lie side by side: of node */
        guint n_edges;            /* edges[first_out[node]] to edges[first_out[node + 1] - 1] */
        const guint *first_out;
        guint n_nodes;
        gint64 quantum; /* ns: delays are exact to this */
        DelaySpike (*find_spike)(gpointer data, guint cause, guint effect); /* of two edges */
        gpointer data;                                                      /* for it */
} MessageDelays;

/* Finds the clock that explains most delays below 0; FALSE: there is none. Stamps of both ends
 * never lead to one. After its correction there may be another. prove: nothing says that the trace
 * has several clocks, so a clock without a proof is doubtful, and found only if there is no other.
 */
gboolean message_offset_find(const MessageDelays *delays, gboolean prove, ClockOffset *found);
