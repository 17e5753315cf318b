/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/source/packet-queue.h"

#include <string.h>

enum { CHUNK = 1 << 20 }; /* bytes, or as many as one packet takes */

typedef struct Chunk Chunk;
struct Chunk {
        Chunk *next;
        gsize size, used;
        guint8 bytes[]; /* a Packet, its bytes, and so on */
};

struct PacketQueue {
        Chunk *first, *last; /* never none: the last one is kept */
        gsize at;            /* of what is next, in the first */
        gsize size, taken;   /* in bytes: at most, and of all chunks */
};

static Chunk *chunk_new(PacketQueue *q, gsize size)
{
        Chunk *chunk = g_malloc(sizeof *chunk + size);
        chunk->next = NULL;
        chunk->size = size;
        chunk->used = 0;
        q->taken += size;
        return chunk;
}

PacketQueue *packet_queue_new(gsize size)
{
        PacketQueue *q = g_new0(PacketQueue, 1);
        q->size = size;
        q->first = q->last = chunk_new(q, CHUNK);
        return q;
}

void packet_queue_free(PacketQueue *q)
{
        if (!q)
                return;
        for (Chunk *chunk = q->first, *next; chunk; chunk = next) {
                next = chunk->next;
                g_free(chunk);
        }
        g_free(q);
}

gboolean packet_queue_is_empty(const PacketQueue *q)
{
        return q->at == q->first->used && !q->first->next;
}

gboolean packet_queue_is_full(const PacketQueue *q)
{
        return q->taken > q->size;
}

/* What a packet takes; the next one is aligned. */
static gsize room_for(gsize captured)
{
        return sizeof(Packet) + (captured + 7) / 8 * 8;
}

void packet_queue_add(PacketQueue *q, const Packet *packet)
{
        gsize n = room_for(packet->captured);
        if (q->last->size - q->last->used < n) {
                q->last->next = chunk_new(q, MAX(n, CHUNK));
                q->last = q->last->next;
        }
        guint8 *at = q->last->bytes + q->last->used;
        memcpy(at, packet, sizeof *packet);
        if (packet->captured > 0)
                memcpy(at + sizeof *packet, packet->bytes, packet->captured);
        q->last->used += n;
}

gboolean packet_queue_next(PacketQueue *q, Packet *packet)
{
        if (q->at == q->first->used && q->first->next) {
                Chunk *done = q->first;
                q->first = done->next;
                q->at = 0;
                q->taken -= done->size;
                g_free(done);
        }
        if (q->at == q->first->used) {
                q->at = q->first->used = 0;
                return FALSE;
        }
        const guint8 *at = q->first->bytes + q->at;
        memcpy(packet, at, sizeof *packet);
        packet->bytes = at + sizeof *packet;
        q->at += room_for(packet->captured);
        return TRUE;
}
