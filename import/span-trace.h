/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The spans of one trace and their tree: the parent of each span, and which spans are *stays*.
 *
 * A stay is the time that a request is at a node. It is a server's or consumer's span, a span
 * without a parent, or a span whose parent is of another node. Spans inside a stay are ignored, but
 * for *senders*: spans of clients and producers. They say when the node called and when it had the
 * return.
 */
#pragma once

#include "import/span.h"

#define NO_SPAN ((guint32)-1)

typedef struct {
        guint32 parent;   /* the parent span; NO_SPAN: none, or not in the trace */
        guint32 up;       /* the nearest stay above; NO_SPAN: none */
        guint32 via;      /* the nearest sender up to the stay `up`, which may be a sender itself;
                             NO_SPAN: none */
        guint32 served;   /* the number of stays whose via is this span */
        gboolean follows; /* nobody waits for the span, or for its sender: the parent of one of them
                             is its Span.other */
        gboolean stay;
        gboolean outer;       /* a sender with another sender of the same stay below it */
        gboolean to_consumer; /* a sender whose message a consumer received */
        gboolean told; /* a sender whose stay was written by ravel export, which knows the caller */
} SpanPlace;

typedef struct {
        GArray *spans;      /* of Span, each once */
        GArray *places;     /* of SpanPlace, by span */
        guint32 *order;     /* all spans, parents first */
        guint lost_parents; /* spans whose parent is missing */
        guint without;      /* spans without times */
        guint circles;      /* circles of parents that were cut */
        gboolean rootless;  /* every span names a parent */
} SpanTrace;

/* Takes over spans, of one trace in any order; their texts are borrowed. Counts and drops
 * duplicates. */
SpanTrace *span_trace_new(GArray *spans, SpanCounts *counts);
void span_trace_free(SpanTrace *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpanTrace, span_trace_free)

static inline const Span *span_trace_span(const SpanTrace *t, guint32 i)
{
        return &g_array_index(t->spans, Span, i);
}

static inline const SpanPlace *span_trace_place(const SpanTrace *t, guint32 i)
{
        return &g_array_index(t->places, SpanPlace, i);
}

static inline gboolean span_is_sender(const Span *s)
{
        return s->kind == SPAN_CLIENT || s->kind == SPAN_PRODUCER;
}

static inline gboolean span_has_times(const Span *s)
{
        return s->start != NO_TIME && s->end != NO_TIME;
}
