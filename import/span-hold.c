/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/span-files.h"

typedef struct {
        gsize span, word, end; /* offsets in bytes */
} Held;

struct SpanHold {
        GByteArray *bytes;
        GArray *held; /* of Held */
};

SpanHold *span_hold_new(void)
{
        SpanHold *h = g_new0(SpanHold, 1);

        h->bytes = g_byte_array_new();
        h->held = g_array_new(FALSE, FALSE, sizeof(Held));
        return h;
}

void span_hold_free(SpanHold *h)
{
        g_byte_array_unref(h->bytes);
        g_array_unref(h->held);
        g_free(h);
}

void span_hold_add(SpanHold *h, const Span *span, const char *word, gsize n)
{
        Held held = { .span = h->bytes->len };

        span_pack(span, h->bytes);
        held.word = h->bytes->len;
        g_byte_array_append(h->bytes, (const guint8 *)word, (guint)n);
        held.end = h->bytes->len;
        g_array_append_val(h->held, held);
}

guint span_hold_size(const SpanHold *h)
{
        return h->held->len;
}

void span_hold_get(const SpanHold *h, guint i, Span *span, const char **word, gsize *n)
{
        const Held *held = &g_array_index(h->held, Held, i);
        gboolean whole = span_unpack(span, h->bytes->data + held->span, held->word - held->span);

        g_assert(whole);
        *word = (const char *)h->bytes->data + held->word;
        *n = held->end - held->word;
}

void span_hold_clear(SpanHold *h)
{
        g_byte_array_set_size(h->bytes, 0);
        g_array_set_size(h->held, 0);
}
