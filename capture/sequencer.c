/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/sequencer.h"

enum { MAX_WAITING = 200000 };

typedef struct {
        gint64 time;
        guint64 packet;
        guint32 serial; /* equal stamps keep the order in which they came */
        guint32 slot;   /* into messages */
} Entry;

struct Sequencer {
        gint64 patience, disorder;
        OpenItem list; /* the ends of a ring in order of time */
        Entry *heap;   /* the earliest first */
        guint waiting, capacity;
        CapturedMessage *messages; /* by slot */
        guint32 *free_slots;
        guint n_free;
        guint32 serial;
};

Sequencer *sequencer_new(gint64 patience, gint64 disorder)
{
        Sequencer *s = g_new0(Sequencer, 1);
        s->patience = patience;
        s->disorder = disorder;
        s->list.earlier = s->list.later = &s->list;
        return s;
}

void sequencer_free(Sequencer *s)
{
        if (!s)
                return;
        for (guint i = 0; i < s->waiting; i++)
                g_free(s->messages[s->heap[i].slot].label);
        g_free(s->heap);
        g_free(s->messages);
        g_free(s->free_slots);
        g_free(s);
}

void sequencer_close(OpenItem *item)
{
        if (!item->earlier)
                return;
        item->earlier->later = item->later;
        item->later->earlier = item->earlier;
        item->earlier = item->later = NULL;
}

void sequencer_open(Sequencer *s, OpenItem *item, gint64 time)
{
        OpenItem *before;
        if (item->earlier && item->time == time)
                return;
        sequencer_close(item);
        for (before = s->list.earlier; before != &s->list && before->time > time;)
                before = before->earlier;
        item->time = time;
        item->earlier = before;
        item->later = before->later;
        before->later->earlier = item;
        before->later = item;
}

static gboolean entry_before(const Entry *a, const Entry *b)
{
        if (a->time != b->time)
                return a->time < b->time;
        if (a->packet != b->packet)
                return a->packet < b->packet;
        return (gint32)(a->serial - b->serial) < 0;
}

static void grow(Sequencer *s)
{
        guint capacity = MAX(64, 2 * s->capacity);
        s->heap = g_renew(Entry, s->heap, capacity);
        s->messages = g_renew(CapturedMessage, s->messages, capacity);
        s->free_slots = g_renew(guint32, s->free_slots, capacity);
        for (guint i = s->capacity; i < capacity; i++)
                s->free_slots[s->n_free++] = i;
        s->capacity = capacity;
}

void sequencer_add(Sequencer *s, const CapturedMessage *message)
{
        if (s->waiting == s->capacity)
                grow(s);
        Entry new = { message->stamp.time, message->stamp.packet, s->serial++,
                      s->free_slots[--s->n_free] };
        s->messages[new.slot] = *message;
        guint at = s->waiting++;
        while (at > 0 && entry_before(&new, &s->heap[(at - 1) / 2])) {
                s->heap[at] = s->heap[(at - 1) / 2];
                at = (at - 1) / 2;
        }
        s->heap[at] = new;
}

OpenItem *sequencer_overdue(Sequencer *s, gint64 now)
{
        OpenItem *first = s->list.later;
        if (first == &s->list)
                return NULL;
        if (s->waiting >= MAX_WAITING && first->time <= s->heap[0].time)
                return first;
        return first->time < now - s->patience ? first : NULL;
}

static void heap_remove_first(Sequencer *s)
{
        Entry last = s->heap[--s->waiting];
        guint at = 0;
        for (;;) {
                guint child = 2 * at + 1;
                if (child >= s->waiting)
                        break;
                if (child + 1 < s->waiting && entry_before(&s->heap[child + 1], &s->heap[child]))
                        child++;
                if (!entry_before(&s->heap[child], &last))
                        break;
                s->heap[at] = s->heap[child];
                at = child;
        }
        s->heap[at] = last;
}

gboolean sequencer_next(Sequencer *s, gint64 now, CapturedMessage *message)
{
        if (s->waiting == 0)
                return FALSE;
        gint64 first = s->heap[0].time;
        if (first > now - s->disorder ||
            (s->list.later != &s->list && s->list.later->time <= first))
                return FALSE;
        guint32 slot = s->heap[0].slot;
        *message = s->messages[slot];
        s->free_slots[s->n_free++] = slot;
        heap_remove_first(s);
        return TRUE;
}

guint sequencer_waiting(const Sequencer *s)
{
        return s->waiting;
}
