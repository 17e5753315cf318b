/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The calls and messages between nodes, from the spans of one trace. Each stay (span-trace.h) is a
 * call by the stay above it. A client's span without a stay below it is a call to its peer, which
 * has no spans. A client's span has the stamps at the caller: call sent, return received. A stay
 * has the stamps at the callee: call received, return sent.
 *
 * A producer's message goes to the queue or broker that the spans name, and from there to the
 * consumer. A consumer's span has a beginning and an end. So it is a call by the queue, which the
 * consumer answers when it is done: like a broker's delivery that is acknowledged. Message and call
 * have the same link, since one continues the other. Without a name for the queue the message goes
 * from producer to consumer directly.
 */
#pragma once

#include "import/span-trace.h"
#include "tracefmt/message.h"

typedef struct {
        guint32 span;   /* the stay, or the sender if it has none */
        guint32 parent; /* the call during which it is made, with a lower index; NO_SPAN: none */
        guint32 link;   /* the call whose id is its link=; NO_SPAN: none. A message without another
                           link has its own id */
        guint32 root;   /* the call at the top of the tree */
        NodeId caller, callee;
        gint64 stamp[N_MESSAGE_OPS]; /* ns; NO_TIME: not seen */
        gboolean waits;              /* its caller waits for the return */
        gboolean elsewhere;          /* its link is Span.other, a span of another trace */
        guint depth;                 /* calls above it */
} SpanCall;

/* Counts of traces and calls, for reports. Calls of traces left out are not counted. */
typedef struct {
        guint64 traces, incomplete, rootless,
                edge;     /* edge: incomplete traces at the ends of the file */
        guint64 left_out; /* incomplete traces left out, with --whole */
        guint64 lost_parents, lost_servers, circles, deep;
        guint64 calls, both_ends, peers, messages;
        guint64 unnamed;     /* senders that do not name whom they called */
        guint64 inside;      /* spans inside a stay */
        guint64 skewed;      /* stays not within their client's span */
        guint64 early, late; /* calls that begin before, or end after, the call during which they
                                are made */
        guint64 clocks;      /* skewed and early calls that only clocks explain */
        guint64 ties;        /* calls that begin at the same time as that call */
        guint64 retried;     /* clients' spans with several stays */
        guint64 follows;     /* spans that nobody waits for */
        guint64 elsewhere;   /* spans linked to another trace without a queue */
        guint64 mixed_ids;   /* traces with ids of 64 bits and of 128 */
} TraceCounts;

/* Nodes that no span names. */
typedef struct {
        NodeId client;              /* the caller of a root that names none */
        const GByteArray *reported; /* by NodeId: 1 if the node has a span */
} SpanNames;
/* The calls of a trace, parents first. Sets incomplete if a part of the trace is missing. Adds to
 * counts. */
GArray *span_calls_find(SpanTrace *trace, const SpanNames *names, TraceCounts *counts,
                        gboolean *incomplete); /* of SpanCall */

/* When the call was sent, or, if not seen, when it was received. */
gint64 span_call_start(const SpanCall *call);
