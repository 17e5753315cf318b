/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/quic/quic-bytes.h"

struct QuicPiece {
        QuicPiece *next;
        guint64 offset;
        gsize n, taken;
        Stamp stamp;
        guint8 bytes[];
};

static guint64 piece_end(const QuicPiece *p)
{
        return p->offset + p->n;
}

static void piece_insert(QuicPiece **place, guint64 offset, const guint8 *bytes, gsize n,
                         Stamp stamp, gsize *held)
{
        QuicPiece *p = g_malloc(sizeof *p + n);
        *p = (QuicPiece){ .next = *place, .offset = offset, .n = n, .stamp = stamp };
        memcpy(p->bytes, bytes, n);
        *place = p;
        *held += sizeof *p + n;
}

static void piece_remove(QuicPiece **place, gsize *held)
{
        QuicPiece *p = *place;
        *held -= sizeof *p + p->n;
        *place = p->next;
        g_free(p);
}

void quic_bytes_add(QuicBytes *b, guint64 offset, const guint8 *bytes, gsize n, Stamp stamp,
                    gsize *held)
{
        QuicPiece **place = &b->held;
        while (n > 0) {
                QuicPiece *p = *place;
                guint64 from = MAX(offset, p && p->offset <= offset ? piece_end(p) : b->next);
                gsize old = (gsize)MIN(from - offset, n);
                offset += old;
                bytes += old;
                n -= old;
                if (p && (p->offset <= offset || n == 0)) {
                        place = &p->next;
                        continue;
                }
                gsize room = p ? (gsize)MIN(p->offset - offset, n) : n;
                if (room > 0) {
                        piece_insert(place, offset, bytes, room, stamp, held);
                        place = &(*place)->next;
                }
                offset += room;
                bytes += room;
                n -= room;
        }
}

gboolean quic_bytes_next(const QuicBytes *b, QuicRun *run)
{
        const QuicPiece *p = b->held;
        if (!p || p->offset + p->taken != b->next)
                return FALSE;
        *run = (QuicRun){ p->bytes + p->taken, p->n - p->taken, p->stamp };
        return TRUE;
}

void quic_bytes_take(QuicBytes *b, gsize n, gsize *held)
{
        QuicPiece *p = b->held;
        b->next += n;
        p->taken += n;
        if (p->taken == p->n)
                piece_remove(&b->held, held);
}

guint64 quic_bytes_gap(const QuicBytes *b)
{
        return b->held ? b->held->offset + b->held->taken - b->next : 0;
}

gboolean quic_bytes_waits_since(const QuicBytes *b, gint64 *time)
{
        *time = G_MAXINT64;
        for (const QuicPiece *p = b->held; p; p = p->next)
                *time = MIN(*time, p->stamp.time);
        return b->held != NULL;
}

void quic_bytes_clear(QuicBytes *b, gsize *held)
{
        while (b->held)
                piece_remove(&b->held, held);
}
