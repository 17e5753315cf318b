/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/drawing.h"

#include <string.h>

static void append_step(Drawing *d, DrawingStep step)
{
        guint8 byte = step;

        g_byte_array_append(d->steps, &byte, 1);
}

static void drawing_append_number(Drawing *d, guint32 number)
{
        g_byte_array_append(d->steps, (const guint8 *)&number, sizeof number);
}

static void append_text(Drawing *d, const char *text)
{
        gsize n = strlen(text);

        g_assert(n < G_MAXINT32);
        drawing_append_number(d, (guint32)n);
        g_byte_array_append(d->steps, (const guint8 *)text, (guint)n + 1);
}

Drawing *drawing_new(const char *name)
{
        Drawing *d = g_new0(Drawing, 1);

        d->steps = g_byte_array_new();
        d->n_items = 1;
        append_step(d, STEP_NAME);
        append_text(d, name);
        return d;
}

void drawing_free(Drawing *d)
{
        if (!d)
                return;
        g_byte_array_unref(d->steps);
        g_free(d);
}

void drawing_default(Drawing *d, DrawingStep step, const char *name, const char *value)
{
        append_step(d, step);
        append_text(d, name);
        append_text(d, value);
}

DrawingItem drawing_add_vertex(Drawing *d, const char *name)
{
        append_step(d, STEP_VERTEX);
        append_text(d, name);
        return d->n_items++;
}

DrawingItem drawing_add_edge(Drawing *d, DrawingItem from, DrawingItem to)
{
        append_step(d, STEP_EDGE);
        drawing_append_number(d, from);
        drawing_append_number(d, to);
        return d->n_items++;
}

void drawing_set(Drawing *d, DrawingItem item, const char *name, const char *value)
{
        append_step(d, STEP_SET);
        drawing_append_number(d, item);
        append_text(d, name);
        append_text(d, value);
}

const guint8 *draw_bytes_take(DrawBytes *bytes, gsize n, gpointer to)
{
        const guint8 *taken = bytes->data;

        if (bytes->n < n)
                return NULL;
        if (to && n > 0)
                memcpy(to, taken, n);
        bytes->data += n;
        bytes->n -= n;
        return taken;
}

const char *draw_bytes_take_text(DrawBytes *bytes)
{
        const guint8 *text;
        guint32 n;

        if (!draw_bytes_take(bytes, sizeof n, &n) ||
            !(text = draw_bytes_take(bytes, (gsize)n + 1, NULL)) ||
            memchr(text, '\0', (gsize)n + 1) != text + n)
                return NULL;
        return (const char *)text;
}
