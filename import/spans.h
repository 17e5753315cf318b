/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Spans of instrumented programs as a trace: Jaeger's JSON, OTLP's JSON and Zipkin's, any files of
 * these together. Of a span it does not matter which file it is in, nor where: all are sorted by
 * their traces first, by parts on disk, so that memory grows with the largest trace and not with
 * the files.
 */
#ifndef RAVEL_SPANS_H
#define RAVEL_SPANS_H

#include "import/import.h"

typedef struct {
        const NodeTable *nodes;     /* borrowed, as long as the import: of all nodes named */
        const char *node_attribute; /* that names a node instead of the service; NULL: none */
        gboolean whole;             /* leave out traces that lack a part */
        gboolean one_clock;         /* of all spans, whatever they look like */
} SpanOptions;

/* After import_spans.begin(), before the first file. */
void import_spans_set(gpointer import, const SpanOptions *options);

#endif
