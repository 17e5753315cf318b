/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Readers of the file formats of spans. A reader is called with the value of its part of the file
 * pending, and gives each span in it to the context. FALSE with error set if a span could not be
 * given. An error in the JSON ends the reading and is in the JsonReader.
 */
#pragma once

#include "base/json-reader.h"
#include "import/span.h"

/* Jaeger's answers, {"data": [trace, ...]}: reads the value of "data". A trace is held until its
 * end. */
gboolean read_jaeger(JsonReader *r, const SpanContext *context, GError **error);

/* OTLP's JSON, {"resourceSpans": [...]}: reads the value of "resourceSpans". Spans behind their
 * resource are given at once, others are held. */
gboolean read_otlp(JsonReader *r, const SpanContext *context, GError **error);

/* Zipkin v2: reads an array of spans, or an array of arrays of spans. */
gboolean read_zipkin(JsonReader *r, const SpanContext *context, GError **error);
