/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Per-edge traces (paper, section 5.2): the messages of a trace, split by who sent
 * them to whom. This is what the convolution algorithm works on. It looks at calls,
 * returns and one-way messages alike: only the stamps, the sender and the receiver count.
 *
 * A message has up to two stamps, and at a node its own clock counts: it leaves its
 * sender at _SENT, else _RECV, and enters its receiver at _RECV, else _SENT. So a message
 * that both ends stamped is one message, with a stamp for each. The two are of one
 * message where operation and id are the same; of several such the first goes with the
 * first. Without ids they go together in order if both ends have as many of them; else
 * the end that has more stands for both.
 *
 * Clients are folded into one node first (paths/fold-clients.h). Of one-way messages
 * between two nodes the one that sent the first is taken for the caller.
 */
#ifndef RAVEL_EDGE_TRACE_H
#define RAVEL_EDGE_TRACE_H

#include "tracefmt/message.h"

/* The messages from one node to another. */
typedef struct {
        NodeId from, to;
        guint32 n;
        /* ns, both of n and in order of time. The same array where no message has two stamps. */
        gint64 *sent;     /* when each left from, on from's clock as far as there is one */
        gint64 *received; /* when each entered to, likewise */
        /* By index in sent: where the same message is in received. NULL where that is the
         * same index for all. */
        guint32 *arrival;
        NodeId sent_clock, received_clock; /* whose clocks these are; NO_NODE: of several nodes */
        guint64 both;                      /* how many of the messages both ends stamped */
        gboolean opens; /* from calls to, or sent the first one-way message between the two */
} EdgeTrace;

typedef struct EdgeTraceLoader EdgeTraceLoader;

/* All edges of a trace, those that leave a node side by side: of node they are
 * edges[first_out[node]] to edges[first_out[node + 1] - 1], in order of to; those that
 * enter it edges[in[first_in[node]]] and so on, in order of from. */
typedef struct {
        NodeTable *nodes; /* borrowed; "client" may have been added */
        guint n_nodes;
        EdgeTrace *edges;
        guint n_edges;
        guint *first_out;    /* n_nodes + 1 of them */
        guint *in;           /* n_edges of them */
        guint *first_in;     /* n_nodes + 1 of them */
        gboolean *called;    /* by node: some message is a call to it or a return from it */
        gboolean *calls;     /* by node: some message is a call from it or a return to it */
        gboolean *spoken_to; /* by node: some other node sent it the first of the one-way
                                messages between them */
        gint64 first, last;  /* the first and the last stamp; NO_TIME where there is no message */
        guint64 messages;    /* on all edges */
        guint64 unmatched;   /* observations left out because the other end, which has
                                others or more of them, stands for the message */
        guint folded;        /* how many clients are one node */
} EdgeTraces;

/* The number of edges that enter, or leave, a node. */
static inline guint edge_traces_n_in(const EdgeTraces *traces, NodeId node)
{
        return traces->first_in[node + 1] - traces->first_in[node];
}

static inline guint edge_traces_n_out(const EdgeTraces *traces, NodeId node)
{
        return traces->first_out[node + 1] - traces->first_out[node];
}

/* nodes is borrowed and must outlive what comes of it. */
EdgeTraceLoader *edge_trace_loader_new(NodeTable *nodes);
void edge_trace_loader_free(EdgeTraceLoader *loader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EdgeTraceLoader, edge_trace_loader_free)

/* Adds one observation; any order will do, though order of time is fastest. Constant
 * time, 16 bytes. FALSE with error set past 2^32 - 2 messages on an edge. */
gboolean edge_trace_loader_add(EdgeTraceLoader *loader, const Message *message, GError **error);

/* After the last one: what was loaded, 8 bytes a message, or 20 where both ends stamped
 * it. Frees the loader. The caller's to free. */
EdgeTraces *edge_trace_loader_finish(EdgeTraceLoader *loader, gboolean fold);

void edge_traces_free(EdgeTraces *traces);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EdgeTraces, edge_traces_free)

/* The edge between two nodes, or NULL. Logarithmic. */
const EdgeTrace *edge_traces_lookup(const EdgeTraces *traces, NodeId from, NodeId to);

/* Puts all stamps of a node's clock later by so many ns, or earlier where by is below 0. Those
 * on an edge of which only some messages have both stamps count as the end's that has each. */
void edge_traces_shift(EdgeTraces *traces, NodeId node, gint64 by);

/* Where in received the message is that has this index in sent. */
static inline guint32 edge_trace_arrival(const EdgeTrace *edge, guint32 i)
{
        return edge->arrival ? edge->arrival[i] : i;
}

#endif
