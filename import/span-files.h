/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Readers of the objects in files of spans. Only its keys tell the format of an object, and they
 * come in any order. So each reader looks at each key: begin(), then value() for each key with an
 * object or array, text() for any other, and end(). An error in the JSON ends the reading and is in
 * the JsonReader.
 */
#pragma once

#include "base/json-reader.h"
#include "import/span.h"

typedef struct {
        gpointer (*new)(JsonReader *r, const SpanContext *context);
        void (*free)(gpointer reader);
        void (*begin)(gpointer reader);
        /* The current key's pending value, which stays pending if it is not one of the format.
         * FALSE with error set: a span in it could not be given. */
        gboolean (*value)(gpointer reader, GError **error);
        /* The current key and the scalar that was read as its value. */
        void (*text)(gpointer reader);
        /* Whether the object was one of the format, by its keys. */
        gboolean (*is_own)(gconstpointer reader);
        /* The end of an object that is_own: its spans are given. FALSE: error set. */
        gboolean (*end)(gpointer reader, GError **error);
} SpanReader;

/* A trace, {"traceID", "spans", "processes"}, which is held until its end. Or a span, also of
 * Elasticsearch. */
extern const SpanReader read_jaeger;

/* The spans of a resource, {"resource", "scopeSpans"}: those behind their resource are given at
 * once, others are held. Or a span. */
extern const SpanReader read_otlp;

/* A span of version 2 or 1. */
extern const SpanReader read_zipkin;

/* Spans that wait for a later part of the file: the process or resource that they belong to. Each
 * has a word, which names that process. */
typedef struct SpanHold SpanHold;

SpanHold *span_hold_new(void);
void span_hold_free(SpanHold *hold);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpanHold, span_hold_free)

/* Copies the span and the word. */
void span_hold_add(SpanHold *hold, const Span *span, const char *word, gsize n);

/* The held spans, in order. Texts are valid until the next add or clear. */
guint span_hold_size(const SpanHold *hold);
void span_hold_get(const SpanHold *hold, guint i, Span *span, const char **word, gsize *n);
void span_hold_clear(SpanHold *hold);
