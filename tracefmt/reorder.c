/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/sorted-runs.h"

#include <string.h>

enum {
        MOST = 1 << 16,       /* messages; some seconds of a busy network */
        MOST_BYTES = 1 << 26, /* of their texts */
        KEPT = 1 << 10,       /* bytes of text that a slot keeps for its next message */
};

typedef struct {
        Message message;
        guint64 number; /* counts messages as they come */
        char *text;
        gsize size; /* of text */
} Slot;

struct Reorder {
        Slot *slots;     /* MOST + 1: one is with the caller */
        guint32 *unused; /* a stack of slots */
        guint n_unused;
        guint32 *queue; /* a ring: messages that came in order */
        guint first, n_queue;
        GArray *late; /* of slots: a binary heap, the earliest on top */
        guint32 current;
        gboolean has_current;
        guint64 n_put, n_late;
        gint64 newest, most_late;
        gsize bytes;
};

Reorder *reorder_new(void)
{
        Reorder *r = g_new0(Reorder, 1);

        r->slots = g_new0(Slot, MOST + 1);
        r->unused = g_new(guint32, MOST + 1);
        for (guint i = 0; i <= MOST; i++)
                r->unused[r->n_unused++] = MOST - i;
        r->queue = g_new(guint32, MOST);
        r->late = g_array_new(FALSE, FALSE, sizeof(guint32));
        r->newest = G_MININT64;
        return r;
}

void reorder_free(Reorder *r)
{
        if (!r)
                return;
        for (guint i = 0; i <= MOST; i++)
                g_free(r->slots[i].text);
        g_free(r->slots);
        g_free(r->unused);
        g_free(r->queue);
        g_array_unref(r->late);
        g_free(r);
}

gboolean reorder_is_full(const Reorder *r)
{
        return r->n_queue + r->late->len >= MOST || r->bytes >= MOST_BYTES;
}

/* --- late ones ------------------------------------------------------------- */

static gboolean slot_is_before(const Reorder *r, guint32 a, guint32 b)
{
        const Slot *x = &r->slots[a], *y = &r->slots[b];

        return x->message.time != y->message.time ? x->message.time < y->message.time
                                                  : x->number < y->number;
}

static void put_late(Reorder *r, guint32 slot)
{
        guint32 *heap;
        guint i = r->late->len;

        g_array_append_val(r->late, slot);
        heap = (guint32 *)(void *)r->late->data;
        for (guint parent; i > 0 && slot_is_before(r, slot, heap[parent = (i - 1) / 2]); i = parent)
                heap[i] = heap[parent];
        heap[i] = slot;
}

static guint32 take_late_slot(Reorder *r)
{
        guint32 *heap = (guint32 *)(void *)r->late->data;
        guint n = r->late->len - 1, i = 0, child;
        guint32 top = heap[0], last = heap[n];

        while ((child = 2 * i + 1) < n) {
                if (child + 1 < n && slot_is_before(r, heap[child + 1], heap[child]))
                        child++;
                if (!slot_is_before(r, heap[child], last))
                        break;
                heap[i] = heap[child];
                i = child;
        }
        heap[i] = last;
        g_array_set_size(r->late, n);
        return top;
}

/* --- all ------------------------------------------------------------------- */

static void slot_copy(Slot *s, const Message *m)
{
        gsize size = (gsize)m->id_length + m->attrs_length;

        if (!s->text || size > s->size) {
                g_free(s->text);
                s->text = g_malloc(s->size = MAX(size, 1));
        }
        s->message = *m;
        s->message.id = s->text;
        s->message.attrs = size ? s->text + m->id_length : NULL;
        if (m->id_length)
                memcpy(s->text, m->id, m->id_length);
        if (m->attrs_length)
                memcpy(s->text + m->id_length, m->attrs, m->attrs_length);
}

static void release_current(Reorder *r)
{
        Slot *s = &r->slots[r->current];

        if (!r->has_current)
                return;
        r->has_current = FALSE;
        if (s->size > KEPT) {
                g_clear_pointer(&s->text, g_free);
                s->size = 0;
        }
        r->unused[r->n_unused++] = r->current;
}

void reorder_put(Reorder *r, const Message *m)
{
        guint32 slot;

        g_assert(!reorder_is_full(r));
        release_current(r);
        slot = r->unused[--r->n_unused];
        slot_copy(&r->slots[slot], m);
        r->slots[slot].number = r->n_put++;
        r->bytes += (gsize)m->id_length + m->attrs_length;
        if (m->time >= r->newest) {
                r->newest = m->time;
                r->queue[(r->first + r->n_queue++) % MOST] = slot;
        } else {
                r->n_late++;
                r->most_late = MAX(r->most_late, r->newest - m->time);
                put_late(r, slot);
        }
}

gboolean reorder_take(Reorder *r, Message *m)
{
        guint32 slot;

        release_current(r);
        if (r->late->len && (!r->n_queue || slot_is_before(r, g_array_index(r->late, guint32, 0),
                                                           r->queue[r->first]))) {
                slot = take_late_slot(r);
        } else if (r->n_queue) {
                slot = r->queue[r->first];
                r->first = (r->first + 1) % MOST;
                r->n_queue--;
        } else {
                return FALSE;
        }
        *m = r->slots[slot].message;
        r->bytes -= (gsize)m->id_length + m->attrs_length;
        r->current = slot;
        r->has_current = TRUE;
        return TRUE;
}

guint64 reorder_late(const Reorder *r, gint64 *most)
{
        *most = r->most_late;
        return r->n_late;
}
