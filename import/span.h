/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A span: a piece of work, as a program that was instrumented reports it, in the words that Jaeger,
 * OTLP and Zipkin share. A reader of one of their formats fills in a draft, attribute by attribute,
 * and gives its span to whoever collects them.
 */
#ifndef RAVEL_SPAN_H
#define RAVEL_SPAN_H

#include "import/import.h"

typedef enum { SPAN_INTERNAL, SPAN_SERVER, SPAN_CLIENT, SPAN_PRODUCER, SPAN_CONSUMER } SpanKind;

enum {
        SPAN_SHARED = 1 << 0,   /* a server's, with the id of its client's span (Zipkin) */
        SPAN_FOLLOWS = 1 << 1,  /* what it has in other, it follows: nobody waits for it */
        SPAN_INFERRED = 1 << 2, /* of ravel export: a call, with the times that its caller saw */
};

/* High and low half; the high one of an id of 64 bits is 0. Both 0: none. */
typedef struct {
        guint64 high, low;
} TraceId;

typedef struct {
        TraceId trace;
        guint64 id, parent;  /* 0: none */
        TraceId other_trace; /* of what it follows or is linked to; */
        guint64 other;       /* 0: nothing */
        gint64 start, end;   /* ns; NO_TIME: not given */
        gint64 enter, reply; /* of a SPAN_INFERRED: at the callee; NO_TIME: not seen */
        NodeId node;         /* whose work it is */
        NodeId peer;         /* with whom, which for a message is the queue; NO_NODE: not given */
        NodeId client;       /* who calls, where nothing above it does; NO_NODE: not given */
        guint8 kind;         /* SpanKind */
        guint8 flags;
        guint32 name_length, text_length;
        const char *name; /* of the operation; not NUL-terminated */
        const char *text; /* the id that a SPAN_INFERRED had in its trace; length 0: none */
} Span;

/* What there was to say of spans and traces. */
typedef struct {
        guint64 spans, duplicates, clashes;
        guint64 no_ids, no_times, reversed; /* left out, for want of ids and times, and so on */
        guint64 base64, odd_ids;            /* ids that were not in hexadecimal */
        guint64 adjusted;                   /* whose clock Jaeger had moved */
        guint64 no_node;                    /* without the name of a service */
        guint64 links;                      /* further ones, which are not used */
} SpanCounts;

/* What a file says of a span while it is read. */
typedef struct SpanDraft SpanDraft;

typedef struct {
        ImportName name; /* gives names their nodes */
        gpointer user;
        const char *node_attribute; /* that names a node instead of the service; NULL: none does */
        SpanCounts *counts;
        /* Takes the span; its texts are gone after the call. */
        gboolean (*take)(gpointer taker, const Span *span, GError **error);
        gpointer taker;
} SpanContext;

NodeId span_context_node(const SpanContext *c, const char *name, gsize n);

SpanDraft *span_draft_new(const SpanContext *context);
void span_draft_free(SpanDraft *draft);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpanDraft, span_draft_free)

/* Begins another. */
void span_draft_clear(SpanDraft *draft);

/* The span, to be filled in but for what the functions below fill in. */
Span *span_draft_span(SpanDraft *draft);

void span_draft_set_name(SpanDraft *draft, const char *name, gsize n);

/* An attribute, tag or annotation, by the names of OpenTelemetry, OpenTracing and Zipkin. What is
 * unknown is passed over. */
void span_draft_attribute(SpanDraft *draft, const char *key, gsize n_key, const char *value,
                          gsize n_value);

/* The span as it was filled in, whose texts are the draft's; valid until the draft is cleared. */
Span *span_draft_finish(SpanDraft *draft);

/* Gives a span to whoever takes it, or counts why not. */
gboolean span_give(const SpanContext *context, Span *span, GError **error);

/* Whether an attribute's key is the one that names nodes. */
gboolean span_context_names_node(const SpanContext *c, const char *key, gsize n);

/* The texts of ids: in hexadecimal, in base64 as the JSON form of protobuf has bytes, or any
 * others, of which a hash is taken. */
TraceId span_parse_trace_id(const char *text, gsize n, SpanCounts *counts);
guint64 span_parse_id(const char *text, gsize n, SpanCounts *counts);

/* "server", "SPAN_KIND_SERVER", "2" and the like; SPAN_INTERNAL where it is none of these. */
SpanKind span_parse_kind(const char *text, gsize n);

/* A number of units, as text or number, that are 10^places ns each; NO_TIME where it is none, or
 * lies before 1970 or after 2116. */
gint64 span_parse_time(const char *text, gsize n, guint places);

/* As bytes behind each other, to be kept elsewhere, and back: the texts then lie in bytes. FALSE
 * where n is too short. */
void span_pack(const Span *span, GByteArray *bytes);
gboolean span_unpack(Span *span, const guint8 *bytes, gsize n);

#endif
