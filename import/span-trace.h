/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The spans of one trace, and how they belong together: what is above a span, and which of them
 * are stays.
 *
 * A stay is the time that a request is at a node: a span of a server or consumer, one that has
 * nothing above it, or one whose parent is of another node. The spans inside a stay are passed
 * over, but for those of clients and producers, which say when the node called and had the return.
 */
#ifndef RAVEL_SPAN_TRACE_H
#define RAVEL_SPAN_TRACE_H

#include "import/span.h"

#define NO_SPAN ((guint32)-1)

typedef struct {
        guint32 parent;   /* NO_SPAN: none, or not among these */
        guint32 up;       /* the nearest stay above; NO_SPAN: none */
        guint32 via;      /* the nearest span of a client or producer in between, or up itself
                           * where it is one; NO_SPAN: none */
        guint32 served;   /* stays whose via this is */
        gboolean follows; /* nobody waits for it, or for what sent it: the parent of the one or the
                           * other is what it has in Span.other */
        gboolean stay;
        gboolean outer;       /* a client's, with another client's span of the same stay in it */
        gboolean to_consumer; /* a client's or producer's, of which a consumer got something */
        gboolean told;        /* a client's or producer's, whose stay ravel export tells of: who
                               * called it, it knows */
} SpanPlace;

typedef struct {
        GArray *spans;      /* of Span; those of the trace alone, each once */
        GArray *places;     /* of SpanPlace, by span */
        guint32 *order;     /* all spans, parents first */
        guint lost_parents; /* spans whose parent is not here */
        guint without;      /* spans that are not there for all they should say: no times */
        guint circles;      /* spans that were above themselves */
        gboolean rootless;  /* there is no span without a parent */
} SpanTrace;

/* Spans of one trace, in any order; spans is taken over, and their texts are borrowed. Counts and
 * leaves out those that are there twice. */
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

#endif
