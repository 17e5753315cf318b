/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Spans that wait for what the file says of them further on: whose they are. Each has a word, which
 * names that.
 */
#ifndef RAVEL_SPAN_HOLD_H
#define RAVEL_SPAN_HOLD_H

#include "import/span.h"

typedef struct SpanHold SpanHold;

SpanHold *span_hold_new(void);
void span_hold_free(SpanHold *hold);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpanHold, span_hold_free)

/* Copies both. */
void span_hold_add(SpanHold *hold, const Span *span, const char *word, gsize n);

/* Those held, in their order. The texts are there until more is added, or all are forgotten. */
guint span_hold_size(const SpanHold *hold);
void span_hold_get(const SpanHold *hold, guint i, Span *span, const char **word, gsize *n);
void span_hold_clear(SpanHold *hold);

#endif
