/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/exchange-state.h"

#include <string.h>

enum {
        MAX_BUFFER = 262144, /* bytes that a parser may leave unsettled */
        MAX_ALL_BUFFERS = 64 << 20,
        IDLE_BUFFER = 4096, /* bytes that a side keeps while its buffer is empty */
};

void side_drop_buffer(ExchangeSide *s, const CaptureContext *context)
{
        context->memory->buffers -= s->capacity;
        g_clear_pointer(&s->buffer, g_free);
        s->buffered = s->capacity = 0;
}

static void side_resize(ExchangeSide *s, gsize capacity, const CaptureContext *context)
{
        context->memory->buffers += capacity - s->capacity;
        s->buffer = g_realloc(s->buffer, capacity);
        s->capacity = (guint32)capacity;
}

gboolean side_has_room(const ExchangeSide *s, gsize n, const CaptureContext *context)
{
        return n <= MAX_BUFFER &&
               (n <= s->capacity || context->memory->buffers + n - s->capacity <=
                                            capture_memory_share(context->memory, MAX_ALL_BUFFERS));
}

void side_keep(ExchangeSide *s, const guint8 *bytes, gsize n, const CaptureContext *context)
{
        if (n > s->capacity) { /* then they are not in the buffer */
                side_drop_buffer(s, context);
                side_resize(s, MAX(n, 512), context);
        }
        if (n > 0 && bytes != s->buffer)
                memmove(s->buffer, bytes, n);
        s->buffered = (guint32)n;
}

void side_append(ExchangeSide *s, const guint8 *bytes, gsize n, const CaptureContext *context)
{
        if (s->buffered + n > s->capacity)
                side_resize(s, MAX(s->buffered + n, 2 * (gsize)s->capacity), context);
        memcpy(s->buffer + s->buffered, bytes, n);
        s->buffered += (guint32)n;
}

void side_trim_buffer(ExchangeSide *s, const CaptureContext *context)
{
        if (s->buffered == 0 &&
            (s->capacity > IDLE_BUFFER ||
             context->memory->buffers > capture_memory_share(context->memory, MAX_ALL_BUFFERS) / 2))
                side_drop_buffer(s, context);
}
