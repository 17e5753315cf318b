/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Per-edge traces (paper, section 5.2): the messages of a trace by sender and receiver, the input
 * of the convolution algorithm. Calls, returns and one-way messages are alike: only stamps, sender
 * and receiver count.
 *
 * A message has up to two stamps, and at each node that node's clock counts. It leaves its sender
 * at _SENT, else _RECV, and enters its receiver at _RECV, else _SENT. The stamps of both ends are
 * joined to one message by operation and id, equal ones in order. Without ids they are joined in
 * order if both ends have equally many. Else the end with more messages stands for both.
 *
 * Clients are folded into one node first (tracefmt/fold-clients.h). Of two nodes with one-way
 * messages, the sender of the first counts as the caller.
 */
#pragma once

#include "tracefmt/message.h"

/* The messages from one node to another. */
typedef struct {
        NodeId from, to;
        guint32 n;
        /* n times each, in ns and in order. The same array if no message has two stamps. */
        gint64 *sent;     /* when each left `from`, by its clock if it stamped the message */
        gint64 *received; /* when each entered `to`, likewise */
        /* By index in sent: the index of the same message in received. NULL if these are the
         * same. */
        guint32 *arrival;
        NodeId sent_clock, received_clock; /* the nodes with these clocks; NO_NODE: several */
        guint64 both;                      /* messages that both ends stamped */
        gboolean opens; /* `from` calls `to`, or sent the first one-way message between the two */
} EdgeTrace;

typedef struct EdgeTraceLoader EdgeTraceLoader;

/* All edges of a trace. The edges out of a node are edges[first_out[node]] to edges[first_out[node
 * + 1] - 1], in order of `to`. The edges into it are edges[in[first_in[node]]] to
 * edges[in[first_in[node + 1] - 1]], in order of `from`. */
typedef struct {
        NodeTable *nodes; /* borrowed; "client" may have been added */
        guint n_nodes;
        EdgeTrace *edges;
        guint n_edges;
        guint *first_out;    /* n_nodes + 1 entries */
        guint *in;           /* n_edges entries */
        guint *first_in;     /* n_nodes + 1 entries */
        gboolean *called;    /* by node: some message is a call to it or a return from it */
        gboolean *calls;     /* by node: some message is a call from it or a return to it */
        gboolean *spoken_to; /* by node: another node sent it the first one-way message between the
                                two */
        gint64 first, last;  /* the first and the last stamp; NO_TIME without messages */
        guint64 messages;    /* on all edges */
        guint64 unmatched;   /* observations left out, since the other end has more and stands for
                                both */
        guint folded;        /* clients folded into one node */
} EdgeTraces;

static inline guint edge_traces_n_in(const EdgeTraces *traces, NodeId node)
{
        return traces->first_in[node + 1] - traces->first_in[node];
}

static inline guint edge_traces_n_out(const EdgeTraces *traces, NodeId node)
{
        return traces->first_out[node + 1] - traces->first_out[node];
}

/* nodes is borrowed and must outlive the loader and its traces. */
EdgeTraceLoader *edge_trace_loader_new(NodeTable *nodes);
void edge_trace_loader_free(EdgeTraceLoader *loader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EdgeTraceLoader, edge_trace_loader_free)

/* Adds one observation, in any order; order of time is fastest. Constant time, 16 bytes. FALSE with
 * error set past 2^32 - 2 messages on an edge. */
gboolean edge_trace_loader_add(EdgeTraceLoader *loader, const Message *message, GError **error);

/* After the last observation: the edges, with 8 bytes a message, or 20 if both ends stamped it.
 * Frees the loader. The caller's to free. */
EdgeTraces *edge_trace_loader_finish(EdgeTraceLoader *loader, gboolean fold);

void edge_traces_free(EdgeTraces *traces);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EdgeTraces, edge_traces_free)

/* The edge between two nodes, or NULL. Logarithmic. */
const EdgeTrace *edge_traces_lookup(const EdgeTraces *traces, NodeId from, NodeId to);

/* Moves all stamps of a node's clock by `by` ns. On an edge where only some messages have both
 * stamps, a single stamp counts as the clock of the end whose column it is in. */
void edge_traces_shift(EdgeTraces *traces, NodeId node, gint64 by);

/* The index in received of the message with index i in sent. */
static inline guint32 edge_trace_arrival(const EdgeTrace *edge, guint32 i)
{
        return edge->arrival ? edge->arrival[i] : i;
}
