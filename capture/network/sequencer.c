/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/sequencer.h"

#include "base/grow.h"

/* Where a message stands among the others. */
typedef struct {
        guint32 epoch;  /* how often the clock had been set back */
        guint32 serial; /* equal stamps keep the order in which they came */
        gint64 time;
        guint64 packet;
} Place;

typedef struct {
        Place place;
        guint32 slot; /* into late */
} Entry;

typedef struct {
        Place place;
        CapturedMessage message;
} Punctual;

/* Most messages are known in the order of their stamps and wait in a ring; the
 * late ones wait in a heap. */
struct Sequencer {
        gint64 patience, disorder;
        guint most;       /* messages that may wait */
        OpenItem **items; /* that are open */
        guint n_items, items_size;
        Punctual *ring; /* in order; size is a power of two */
        guint first, n_ring, ring_size;
        guint64 passed; /* messages that have left the ring */
        Entry *heap;    /* the earliest first */
        guint n_heap, heap_size;
        CapturedMessage *late; /* by slot */
        guint32 *free_slots;
        guint n_free;
        guint32 serial, epoch;
};

Sequencer *sequencer_new(gint64 patience, gint64 disorder)
{
        Sequencer *s = g_new0(Sequencer, 1);
        s->patience = patience;
        s->disorder = disorder;
        s->most = G_MAXUINT;
        return s;
}

void sequencer_bound(Sequencer *s, guint most)
{
        s->most = most;
}

void captured_message_clear(CapturedMessage *m)
{
        g_free(m->label);
        g_free(m->identifiers);
        g_free(m->tags);
        g_free(m->delays);
}

void sequencer_free(Sequencer *s)
{
        if (!s)
                return;
        for (guint i = 0; i < s->n_ring; i++)
                captured_message_clear(&s->ring[(s->first + i) & (s->ring_size - 1)].message);
        for (guint i = 0; i < s->n_heap; i++)
                captured_message_clear(&s->late[s->heap[i].slot]);
        g_free(s->items);
        g_free(s->ring);
        g_free(s->heap);
        g_free(s->late);
        g_free(s->free_slots);
        g_free(s);
}

/* --- open items: a heap, the earliest first ---------------------------------- */

static void item_put(Sequencer *s, guint place, OpenItem *item)
{
        s->items[place] = item;
        item->place = place;
}

/* Puts item, for which the place is free, where it belongs. */
static void item_sift(Sequencer *s, guint place, OpenItem *item)
{
        for (; place > 0 && item->time < s->items[(place - 1) / 2]->time; place = (place - 1) / 2)
                item_put(s, place, s->items[(place - 1) / 2]);
        for (;;) {
                guint child = 2 * place + 1;
                if (child + 1 < s->n_items && s->items[child + 1]->time < s->items[child]->time)
                        child++;
                if (child >= s->n_items || item->time <= s->items[child]->time)
                        break;
                item_put(s, place, s->items[child]);
                place = child;
        }
        item_put(s, place, item);
}

void sequencer_remove(OpenItem *item)
{
        Sequencer *s = item->in;
        item->in = NULL;
        OpenItem *last = s->items[--s->n_items];
        if (last != item)
                item_sift(s, item->place, last);
}

void sequencer_open(Sequencer *s, OpenItem *item, gint64 time)
{
        if (item->in && item->time == time)
                return;
        if (!item->in) {
                if (s->n_items == s->items_size)
                        GROW(s->items, s->items_size, 64);
                guint place = s->n_items++;
                item->in = s;
                item->time = time;
                if (place == 0 || s->items[(place - 1) / 2]->time <= time)
                        item_put(s, place, item);
                else
                        item_sift(s, place, item);
                return;
        }
        item->time = time;
        item_sift(s, item->place, item);
}

/* --- messages --------------------------------------------------------------- */

static gboolean place_before(const Place *a, const Place *b)
{
        if (a->epoch != b->epoch)
                return a->epoch < b->epoch;
        if (a->time != b->time)
                return a->time < b->time;
        if (a->packet != b->packet)
                return a->packet < b->packet;
        return (gint32)(a->serial - b->serial) < 0;
}

static void ring_grow(Sequencer *s)
{
        guint size = MAX(64, 2 * s->ring_size);
        Punctual *ring = g_new(Punctual, size);
        for (guint i = 0; i < s->n_ring; i++)
                ring[i] = s->ring[(s->first + i) & (s->ring_size - 1)];
        g_free(s->ring);
        s->ring = ring;
        s->ring_size = size;
        s->first = 0;
}

static void heap_grow(Sequencer *s)
{
        guint size = MAX(64, 2 * s->heap_size);
        s->heap = g_renew(Entry, s->heap, size);
        s->late = g_renew(CapturedMessage, s->late, size);
        s->free_slots = g_renew(guint32, s->free_slots, size);
        for (guint i = s->heap_size; i < size; i++)
                s->free_slots[s->n_free++] = i;
        s->heap_size = size;
}

/* Returns its slot. */
static guint32 sequencer_heap_add(Sequencer *s, const Place *place, const CapturedMessage *message)
{
        if (s->n_heap == s->heap_size)
                heap_grow(s);
        Entry new = { *place, s->free_slots[--s->n_free] };
        s->late[new.slot] = *message;
        guint at = s->n_heap++;
        while (at > 0 && place_before(&new.place, &s->heap[(at - 1) / 2].place)) {
                s->heap[at] = s->heap[(at - 1) / 2];
                at = (at - 1) / 2;
        }
        s->heap[at] = new;
        return new.slot;
}

static void heap_remove_first(Sequencer *s)
{
        Entry last = s->heap[--s->n_heap];
        guint at = 0;
        for (;;) {
                guint child = 2 * at + 1;
                if (child >= s->n_heap)
                        break;
                if (child + 1 < s->n_heap &&
                    place_before(&s->heap[child + 1].place, &s->heap[child].place))
                        child++;
                if (!place_before(&s->heap[child].place, &last.place))
                        break;
                s->heap[at] = s->heap[child];
                at = child;
        }
        s->heap[at] = last;
}

/* Of the number of a message: it is in the heap, and the rest is its slot. */
#define IN_HEAP ((guint64)1 << 63)

guint64 sequencer_add(Sequencer *s, const CapturedMessage *message)
{
        Place place = { s->epoch, s->serial++, message->stamp.time, message->stamp.packet };
        if (s->n_ring > 0 &&
            place_before(&place, &s->ring[(s->first + s->n_ring - 1) & (s->ring_size - 1)].place)) {
                return IN_HEAP | sequencer_heap_add(s, &place, message);
        }
        if (s->n_ring == s->ring_size)
                ring_grow(s);
        Punctual *end = &s->ring[(s->first + s->n_ring++) & (s->ring_size - 1)];
        end->place = place;
        end->message = *message;
        return s->passed + s->n_ring - 1;
}

NetworkDelays *sequencer_delays(Sequencer *s, guint64 number)
{
        CapturedMessage *m =
                number & IN_HEAP
                        ? &s->late[number & ~IN_HEAP]
                        : &s->ring[(s->first + (number - s->passed)) & (s->ring_size - 1)].message;

        if (!m->delays)
                m->delays = g_new0(NetworkDelays, 1);
        return m->delays;
}

/* The place of the earliest message, and whether it is in the heap. NULL where
 * none waits. */
static inline const Place *sequencer_earliest(const Sequencer *s, gboolean *in_heap)
{
        const Place *ring = s->n_ring ? &s->ring[s->first].place : NULL;
        const Place *heap = s->n_heap ? &s->heap[0].place : NULL;
        *in_heap = heap && (!ring || place_before(heap, ring));
        return *in_heap ? heap : ring;
}

OpenItem *sequencer_overdue(Sequencer *s, gint64 now)
{
        if (s->n_items == 0)
                return NULL;
        OpenItem *first = s->items[0];
        if (s->n_ring + s->n_heap >= s->most) {
                gboolean in_heap;
                if (first->time <= sequencer_earliest(s, &in_heap)->time)
                        return first;
        }
        return first->time < now - s->patience ? first : NULL;
}

gboolean sequencer_next(Sequencer *s, gint64 now, CapturedMessage *message)
{
        gboolean in_heap;
        if (s->n_ring + s->n_heap == 0)
                return FALSE;
        const Place *first = sequencer_earliest(s, &in_heap);
        gboolean item_before = s->n_items > 0 && s->items[0]->time <= first->time;
        gboolean early = first->time > now - s->disorder && s->n_ring + s->n_heap < s->most;
        if (first->epoch == s->epoch && (early || item_before))
                return FALSE;
        if (in_heap) {
                guint32 slot = s->heap[0].slot;
                *message = s->late[slot];
                s->free_slots[s->n_free++] = slot;
                heap_remove_first(s);
        } else {
                *message = s->ring[s->first].message;
                s->first = (s->first + 1) & (s->ring_size - 1);
                s->n_ring--;
                s->passed++;
        }
        return TRUE;
}

void sequencer_start_anew(Sequencer *s)
{
        g_assert(s->n_items == 0);
        s->epoch++;
}
