/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The table of open calls, by caller, callee and id: the key. Calls of one key form a chain, in
 * order, and its first call stands in the hash table of keys. find-call-pairs.h fills it.
 *
 * Every message looks a key up, so what that needs is inline.
 */
#pragma once

#include <string.h>

#include "base/hash.h"
#include "tracefmt/message.h"

typedef struct {
        guint64 id_words[SHORT_ID / 8];
        guint64 nodes;   /* caller << 32 | callee */
        gint64 stamp[4]; /* by MessageOp */
        guint64 number;
        char *long_id; /* NULL: id_words is the whole id */
        guint32 id_length;
        guint32 edge;
        guint32 next;        /* of the calls of the same key, in order */
        guint32 tail, chain; /* in the first of them: the last, and how many they are */
        guint8 stamps;
        gboolean in_use;   /* not done or lost yet */
        gboolean settling; /* in the queue */
        gboolean one_way;  /* a message: its return is itself */
        gboolean early;    /* a return that waits for its call until the end */
} OpenCall;

#define NO_CALL G_MAXUINT32

typedef struct {
        guint32 tag;  /* half of the hash */
        guint32 call; /* index of an open call, plus one; 0: free */
} KeySlot;

typedef struct {
        OpenCall *calls;
        guint32 n, size, free; /* free: head of the list of unused ones */
        KeySlot *keys;
        HashKey key; /* of tags */
        guint32 key_mask, keys_used;
        guint key_shift; /* from a tag to its slot */
        guint64 next_number;
} OpenCalls;

void open_calls_init(OpenCalls *open);
void open_calls_clear(OpenCalls *open);

static inline gboolean open_call_has_id(const OpenCall *c, const Message *m)
{
        return c->id_words[0] == m->id_words[0] && c->id_words[1] == m->id_words[1] &&
               c->id_length == m->id_length &&
               (G_LIKELY(!c->long_id) || !memcmp(c->long_id, m->id, c->id_length));
}

static inline guint32 open_calls_tag(const OpenCalls *o, const guint64 *id_words, guint64 nodes)
{
        guint64 h = hash_keyed_word(&o->key, o->key.start, id_words[0]);

        h = hash_keyed_word(&o->key, h, id_words[1]);
        return (guint32)hash_keyed_word(&o->key, h, nodes);
}

/* The slot of the key, or the free slot where it would be. */
static inline guint32 open_calls_find(const OpenCalls *o, guint32 tag, guint64 nodes,
                                      const Message *message)
{
        guint32 i = tag >> o->key_shift;

        while (o->keys[i].call) {
                const OpenCall *c = &o->calls[o->keys[i].call - 1];

                if (o->keys[i].tag == tag && c->nodes == nodes && open_call_has_id(c, message))
                        break;
                i = (i + 1) & o->key_mask;
        }
        return i;
}

/* The slot of the key of a call. */
guint32 open_calls_slot(const OpenCalls *open, guint32 index);

/* Makes room for more keys: slots are others then. */
void open_calls_grow_keys(OpenCalls *open);

/* Frees slot i and closes the gap, so that no search stops short. */
static inline void open_calls_remove_key(OpenCalls *o, guint32 i)
{
        for (guint32 k = i;;) {
                guint32 home;

                k = (k + 1) & o->key_mask;
                if (!o->keys[k].call)
                        break;
                home = o->keys[k].tag >> o->key_shift;
                if (((k - home) & o->key_mask) >= ((k - i) & o->key_mask)) {
                        o->keys[i] = o->keys[k];
                        i = k;
                }
        }
        o->keys[i].call = 0;
        o->keys_used--;
}

/* A call without stamps, which is in no chain yet. */
static inline guint32 open_calls_new(OpenCalls *o, guint64 nodes, guint32 edge,
                                     const Message *message)
{
        guint32 index = o->free;
        OpenCall *c;

        if (index != NO_CALL) {
                o->free = o->calls[index].next;
        } else {
                if (o->n == o->size) {
                        o->size = o->size ? o->size * 2 : 256;
                        o->calls = g_renew(OpenCall, o->calls, o->size);
                }
                index = o->n++;
        }
        c = &o->calls[index];
        c->id_words[0] = message->id_words[0];
        c->id_words[1] = message->id_words[1];
        c->nodes = nodes;
        c->number = o->next_number++;
        c->long_id = NULL;
        c->id_length = message->id_length;
        c->edge = edge;
        c->next = NO_CALL;
        c->tail = index;
        c->chain = 1;
        c->stamps = 0;
        c->in_use = TRUE;
        c->settling = FALSE;
        c->one_way = FALSE;
        c->early = FALSE;
        if (G_UNLIKELY(c->id_length > SHORT_ID))
                c->long_id = g_memdup2(message->id, c->id_length);
        return index;
}

/* Opens a call at the end of the chain of its key, whose slot is given. Without a chain, keys may
 * grow. */
G_ALWAYS_INLINE static inline guint32 open_calls_append(OpenCalls *o, guint32 slot, guint32 tag,
                                                        guint64 nodes, guint32 edge,
                                                        const Message *message)
{
        guint32 index = open_calls_new(o, nodes, edge, message);
        OpenCall *first;

        if (G_LIKELY(!o->keys[slot].call)) {
                o->keys[slot] = (KeySlot){ tag, index + 1 };
                if (G_UNLIKELY(++o->keys_used > o->key_mask / 4))
                        open_calls_grow_keys(o);
                return index;
        }
        first = &o->calls[o->keys[slot].call - 1];
        o->calls[first->tail].next = index;
        first->tail = index;
        first->chain++;
        return index;
}

/* Takes a call out of its key's chain (slot: the key's). */
void open_calls_unlink(OpenCalls *open, guint32 slot, guint32 index);

/* The place of a call may be taken again. It stays as it is until then. */
static inline void open_calls_free(OpenCalls *o, guint32 index)
{
        o->calls[index].in_use = FALSE;
        o->calls[index].next = o->free;
        o->free = index;
}

/* The open calls that wait for more stamps, in the order of time: a ring. */
typedef struct {
        guint64 number; /* of the call */
        gint64 time;    /* since when it waits, ns */
        guint32 call;   /* its index */
} Settling;

typedef struct {
        Settling *ring;
        guint32 start, length, mask; /* mask: the room less one; zeros: empty, without room */
} SettleQueue;

static inline void settle_queue_add(SettleQueue *q, Settling settling)
{
        if (q->length > q->mask || !q->ring) {
                guint32 size = q->ring ? q->mask + 1 : 0, room = size ? 2 * size : 256;

                q->ring = g_renew(Settling, q->ring, room);
                if (q->start > 0)
                        memcpy(q->ring + size, q->ring, q->start * sizeof *q->ring);
                q->mask = room - 1;
        }
        q->ring[(q->start + q->length++) & q->mask] = settling;
}

/* Takes the first one if it has waited since before a moment. */
static inline gboolean settle_queue_take(SettleQueue *q, gint64 before, Settling *settling)
{
        if (q->length == 0 || q->ring[q->start].time >= before)
                return FALSE;
        *settling = q->ring[q->start];
        q->start = (q->start + 1) & q->mask;
        q->length--;
        return TRUE;
}
