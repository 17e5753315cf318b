/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Clocks that disagree, as delays between messages show it (paper, section 5.2.3: negative apparent
 * delays). Where a message is stamped at one end, a delay at a node is between two clocks: a node
 * that stamps what it sends, and whose clock is early, sends before it is asked; of one whose clock
 * is late, those that it asks do.
 *
 * What a node sends before a message comes in may also be what the sender has waited for. So
 * evidence is what messages of those that call, or spoke first, are followed by: of what is
 * sent to others the highest spike, before or after. A clock is off if all of this that would show
 * it begins before its cause. Of a node that only answers nothing can be said.
 *
 * By how much, delays below 0 bound from below; and those that shrink when the clock is put
 * right bound it from above. Between the two no delay is below 0, and the middle is taken:
 * the shortest delay at the node is then as long as that at those that it talks with, as
 * where clocks are compared by a question and its answer. Where nothing lies between,
 * something else made the delays below 0, as it often does where requests overlap.
 *
 * Where many routes share relays, spikes before the cause are found without any clock that is
 * off. Then delays bound the offset from one side only, or from far away; so an offset is proven
 * where both bounds are there and lie close together.
 */
#ifndef RAVEL_MESSAGE_OFFSETS_H
#define RAVEL_MESSAGE_OFFSETS_H

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
        const MessageEdge *edges; /* those that leave a node side by side: of node they are */
        guint n_edges;            /* edges[first_out[node]] to edges[first_out[node + 1] - 1] */
        const guint *first_out;
        guint n_nodes;
        gint64 quantum; /* ns: a delay is as exact as that */
        DelaySpike (*find_spike)(gpointer data, guint cause, guint effect); /* of two edges */
        gpointer data;                                                      /* for it */
} MessageDelays;

/* The clock that explains most delays below 0; FALSE where none does. Stamps of both ends never
 * make one. Once it is put right, there may be another. prove: nothing says that the trace has
 * several clocks, so one that is not proven is doubtful; it is found only where no other is. */
gboolean message_offset_find(const MessageDelays *delays, gboolean prove, ClockOffset *found);

#endif
