/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Writes the calls of many traces as messages in the order of time, with their true positions
 * (path=). Memory is bounded by an external sort. A tree of calls is a request; requests are
 * numbered in the order of their first messages.
 */
#pragma once

#include "import/span-calls.h"

typedef struct SpanMessages SpanMessages;

/* nodes has the nodes of the calls; borrowed. memory is the bytes for a run of the sort. */
SpanMessages *span_messages_new(const NodeTable *nodes, gsize memory);
void span_messages_free(SpanMessages *m); /* NULL is allowed */

/* Adds the calls of a trace, as span_calls_find() returns them. */
gboolean span_messages_add(SpanMessages *m, const SpanTrace *trace, const GArray *calls,
                           GError **error);

/* After the last trace: writes all messages. */
gboolean span_messages_write(SpanMessages *m, TraceWriter *writer, GError **error);
