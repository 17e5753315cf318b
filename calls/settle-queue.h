/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The open calls that wait for more stamps, in the order of time: a ring.
 */
#pragma once

#include <glib.h>
#include <string.h>

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
