/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The files that spans come in. Each reader finds the value of its part of the file pending, and
 * gives the spans in it; FALSE with error set where one could not be given. What is no JSON is said
 * by the JsonReader, and ends the reading.
 */
#ifndef RAVEL_SPAN_FILES_H
#define RAVEL_SPAN_FILES_H

#include "base/json-reader.h"
#include "import/span.h"

/* Jaeger's answers, {"data": [trace, ...]}: the value of "data". A trace is held until its end. */
gboolean read_jaeger(JsonReader *r, const SpanContext *context, GError **error);

/* OTLP's JSON, {"resourceSpans": [...]}: the value of "resourceSpans". Spans are given as they
 * come, where their resource stands before them. */
gboolean read_otlp(JsonReader *r, const SpanContext *context, GError **error);

/* Zipkin v2: an array of spans, or of such arrays. */
gboolean read_zipkin(JsonReader *r, const SpanContext *context, GError **error);

#endif
