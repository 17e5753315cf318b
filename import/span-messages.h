/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The calls of any number of traces as messages in the order of time, with their true positions
 * (path=): in bounded memory, since they are sorted by parts on disk. A tree of calls is a request;
 * requests are numbered in the order of their first messages.
 */
#ifndef RAVEL_SPAN_MESSAGES_H
#define RAVEL_SPAN_MESSAGES_H

#include "import/span-calls.h"

typedef struct SpanMessages SpanMessages;

/* nodes are those of the calls, borrowed. memory: bytes for a part. */
SpanMessages *span_messages_new(const NodeTable *nodes, gsize memory);
void span_messages_free(SpanMessages *m); /* NULL is allowed */

/* The calls of a trace, as span_calls_find() gives them. */
gboolean span_messages_add(SpanMessages *m, const SpanTrace *trace, const GArray *calls,
                           GError **error);

/* After the last: all messages. */
gboolean span_messages_write(SpanMessages *m, TraceWriter *writer, GError **error);

#endif
