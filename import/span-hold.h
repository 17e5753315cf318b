/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Spans that wait for a later part of the file: the process or resource that they belong to. Each
 * has a word, which names that process.
 */
#pragma once

#include "import/span.h"

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
