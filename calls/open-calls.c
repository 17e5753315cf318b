/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/open-calls.h"

void open_calls_init(OpenCalls *o)
{
        *o = (OpenCalls){ .free = NO_CALL, .key = *hash_key(), .key_mask = 1023, .key_shift = 22 };
        o->keys = g_new0(KeySlot, o->key_mask + 1);
}

void open_calls_clear(OpenCalls *o)
{
        for (guint32 i = 0; i < o->n; i++)
                if (o->calls[i].in_use)
                        g_free(o->calls[i].long_id);
        g_free(o->calls);
        g_free(o->keys);
}

guint32 open_calls_slot(const OpenCalls *o, guint32 index)
{
        const OpenCall *c = &o->calls[index];
        Message message = { .id = c->long_id,
                            .id_length = c->id_length,
                            .id_words = { c->id_words[0], c->id_words[1] } };

        return open_calls_find(o, open_calls_tag(o, c->id_words, c->nodes), c->nodes, &message);
}

void open_calls_grow_keys(OpenCalls *o)
{
        KeySlot *old = o->keys;
        guint32 old_mask = o->key_mask;

        o->key_mask = old_mask * 2 + 1;
        o->key_shift--;
        o->keys = g_new0(KeySlot, o->key_mask + (gsize)1);
        for (guint32 i = 0; i <= old_mask; i++) {
                guint32 k = old[i].tag >> o->key_shift;

                if (!old[i].call)
                        continue;
                while (o->keys[k].call)
                        k = (k + 1) & o->key_mask;
                o->keys[k] = old[i];
        }
        g_free(old);
}

void open_calls_unlink(OpenCalls *o, guint32 slot, guint32 index)
{
        guint32 head = o->keys[slot].call - 1;
        OpenCall *c = &o->calls[index];

        if (index == head) {
                if (c->next == NO_CALL) {
                        open_calls_remove_key(o, slot);
                } else {
                        o->calls[c->next].tail = c->tail;
                        o->calls[c->next].chain = c->chain - 1;
                        o->keys[slot].call = c->next + 1;
                }
        } else {
                guint32 before = head;

                while (o->calls[before].next != index)
                        before = o->calls[before].next;
                o->calls[before].next = c->next;
                if (o->calls[head].tail == index)
                        o->calls[head].tail = before;
                o->calls[head].chain--;
        }
}
