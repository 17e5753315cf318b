/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A span: a piece of work, as an instrumented program reports it, in the terms that Jaeger, OTLP
 * and Zipkin share. A reader of one of their formats fills in a draft, attribute by attribute, and
 * gives the span to a collector.
 */
#pragma once

#include "base/outcome.h"
#include "import/import.h"

typedef enum { SPAN_INTERNAL, SPAN_SERVER, SPAN_CLIENT, SPAN_PRODUCER, SPAN_CONSUMER } SpanKind;

enum {
        SPAN_SHARED = 1 << 0,   /* a server's span with the id of its client's (Zipkin) */
        SPAN_FOLLOWS = 1 << 1,  /* the span follows from Span.other, which does not wait for it */
        SPAN_INFERRED = 1 << 2, /* a call written by ravel export, with the times at its caller */
};

/* The halves of an id; high is 0 for an id of 64 bits. Both 0: none. */
typedef struct {
        guint64 high, low;
} TraceId;

/* Whether these are one trace, of which one id may lack its high half. */
static inline gboolean trace_id_is_same(TraceId a, TraceId b)
{
        return a.low == b.low && (a.high == b.high || a.high == 0 || b.high == 0);
}

typedef struct {
        TraceId trace;
        guint64 id, parent;  /* 0: none */
        TraceId other_trace; /* the trace of other */
        guint64 other;       /* the span that it follows or is linked to; 0: none */
        gint64 start, end;   /* ns; NO_TIME: not given */
        gint64 enter, reply; /* of a SPAN_INFERRED: times at the callee; NO_TIME: not seen */
        NodeId node;         /* the node that did the work */
        NodeId peer;   /* the other side of a call, or the queue of a message; NO_NODE: not given */
        NodeId client; /* the caller of a span without a parent; NO_NODE: not given */
        Outcome outcome; /* of the call; OUTCOME_OK: none was given */
        guint8 kind;     /* SpanKind */
        guint8 flags;
        guint32 name_length, text_length;
        const char *name; /* name of the operation; not NUL-terminated */
        const char *text; /* the id of a SPAN_INFERRED in its trace; length 0: none */
} Span;

/* Counts of spans, for reports. */
typedef struct {
        guint64 spans, duplicates, clashes;
        guint64 no_ids, no_times,
                reversed;        /* spans without ids or times, or with an end before the start */
        guint64 base64, odd_ids; /* ids that were not in hexadecimal */
        guint64 adjusted;        /* spans whose clock Jaeger had adjusted */
        guint64 no_node;         /* spans without the name of a service */
        guint64 links;           /* links beyond the first, which are not used */
} SpanCounts;

/* A span while it is read. */
typedef struct SpanDraft SpanDraft;

typedef struct {
        ImportName name; /* the node of a name */
        gpointer user;
        const char *node_attribute; /* the attribute that names a node instead of the service; NULL:
                                       none */
        SpanCounts *counts;
        /* Takes a span, whose texts are valid during the call. */
        gboolean (*take)(gpointer taker, const Span *span, GError **error);
        gpointer taker;
} SpanContext;

NodeId span_context_node(const SpanContext *c, const char *name, gsize n);

SpanDraft *span_draft_new(const SpanContext *context);
void span_draft_free(SpanDraft *draft);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpanDraft, span_draft_free)

void span_draft_clear(SpanDraft *draft);

/* The span of a draft. The reader fills in the fields that the functions below do not set. */
Span *span_draft_span(SpanDraft *draft);

void span_draft_set_name(SpanDraft *draft, const char *name, gsize n);

/* Adds an attribute, tag or annotation, by the names of OpenTelemetry, OpenTracing and Zipkin.
 * Unknown names are ignored. */
void span_draft_attribute(SpanDraft *draft, const char *key, gsize n_key, const char *value,
                          gsize n_value);

/* The span is marked as failed; its attributes may say how. */
void span_draft_set_error(SpanDraft *draft);

/* The finished span. Its texts are the draft's and valid until the draft is cleared. */
Span *span_draft_finish(SpanDraft *draft);

/* Gives a span to context->take, or counts why it is left out. */
gboolean span_give(const SpanContext *context, Span *span, GError **error);

/* Whether an attribute's key is the one that names nodes. */
gboolean span_context_names_node(const SpanContext *c, const char *key, gsize n);

/* Parse the text of an id: hexadecimal, or base64 as in protobuf's JSON. Any other text is
 * hashed. */
TraceId span_parse_trace_id(const char *text, gsize n, SpanCounts *counts);
guint64 span_parse_id(const char *text, gsize n, SpanCounts *counts);

/* Parses "server", "SPAN_KIND_SERVER", "2" and the like. Anything else is SPAN_INTERNAL. */
SpanKind span_parse_kind(const char *text, gsize n);

/* Parses a time in units of 10^places ns. NO_TIME if the text is no number, or the time is before
 * 1970 or after 2116. */
gint64 span_parse_time(const char *text, gsize n, guint places);

/* Serialize a span to bytes, and back. An unpacked span's texts point into bytes. FALSE if n is too
 * short. */
void span_pack(const Span *span, GByteArray *bytes);
gboolean span_unpack(Span *span, const guint8 *bytes, gsize n);
