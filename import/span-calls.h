/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The calls and messages between nodes that the spans of one trace tell of: each stay was called
 * by the stay above it, and what a client's span called that has no stay in the file is its peer.
 * Times are of whoever saw them: a client's span stamps the call as it was sent and the return as
 * it came, a stay the call as it came and the return as it was sent.
 *
 * A producer's message goes to the queue or broker that the spans name, and from there to the
 * consumer. What a consumer does with it has a beginning and an end, and so is like a call of the
 * queue's that the consumer answers when it is done: as a broker's delivery that is acknowledged.
 * The link of both says that one continues the other. Without a name for the queue the message goes
 * from the one to the other.
 */
#ifndef RAVEL_SPAN_CALLS_H
#define RAVEL_SPAN_CALLS_H

#include "import/span-trace.h"
#include "tracefmt/message.h"

typedef struct {
        guint32 span;
        guint32 parent; /* the call that it is made in, an index less than its own; NO_SPAN */
        guint32 link;   /* the call whose id is its link; NO_SPAN: it has none. Messages
                         * have their own, where they have no other */
        guint32 root;   /* the call at the top */
        NodeId caller, callee;
        gint64 stamp[N_MESSAGE_OPS]; /* ns; NO_TIME: not seen */
        gboolean waits;              /* its caller waits for it */
        gboolean elsewhere;          /* its link is a span of another trace, in Span.other */
        guint depth;                 /* calls above it */
} SpanCall;

/* What there was to say of traces. Calls are counted but of those left out. */
typedef struct {
        guint64 traces, incomplete, rootless,
                edge;     /* edge: of the incomplete, at the file's ends */
        guint64 left_out; /* incomplete ones, where only whole ones count */
        guint64 lost_parents, lost_servers, circles, deep;
        guint64 calls, both_ends, peers, messages;
        guint64 unnamed;     /* clients' and producers' spans without a name of whom they called */
        guint64 inside;      /* spans inside a stay */
        guint64 skewed;      /* stays that do not lie within their client's span */
        guint64 early, late; /* calls that begin before, or outlast, what they were made in */
        guint64 clocks;      /* skewed and early ones, which clocks alone explain */
        guint64 ties;        /* that begin with it */
        guint64 retried;     /* clients' spans with several stays */
        guint64 follows;     /* spans that nobody waits for */
        guint64 elsewhere;   /* spans linked to another trace, without a queue that says by whom */
        guint64 mixed_ids;   /* traces with ids of 64 bits and of 128 */
} TraceCounts;

/* The calls of a trace, parents first; the names that stand in for what no span says. */
typedef struct {
        NodeId client;              /* who calls where nothing is above */
        const GByteArray *reported; /* by NodeId: not 0 where some span is its */
} SpanNames;
/* incomplete is set where a part of the trace is not there. Adds to counts. */
GArray *span_calls_find(SpanTrace *trace, const SpanNames *names, TraceCounts *counts,
                        gboolean *incomplete); /* of SpanCall */

/* When its caller sent it; if that was not seen, when it came. */
gint64 span_call_start(const SpanCall *call);

/* Nobody answers it. */
gboolean span_call_is_message(const SpanCall *call);

#endif
