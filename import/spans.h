/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Spans of instrumented programs as a trace, from any files of Jaeger's, OTLP's and Zipkin's JSON
 * together. The place of a span in the files does not matter: an external sort brings the spans of
 * a trace together. So memory grows with the largest trace, not with the files.
 */
#pragma once

#include "import/import.h"

typedef struct {
        const NodeTable *nodes;     /* all nodes named; borrowed as long as the import */
        const char *node_attribute; /* the attribute that names a node instead of the service; NULL:
                                       none */
        gboolean whole;             /* leave out traces that lack a part */
        gboolean one_clock;         /* all spans count as stamped by one clock */
} SpanOptions;

/* After import_spans.begin(), before the first file. */
void import_spans_set(gpointer import, const SpanOptions *options);
