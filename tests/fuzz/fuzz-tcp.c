/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The segments of a connection, whatever their order. The input: records of eight
 * bytes, flags and side, sequence number, acknowledgement, length, what is cut off, and
 * time since the last one. Each byte of payload follows from its sequence number, so
 * that it is seen whether each is delivered where it belongs, and once.
 */
#include <string.h>

#include "capture/network/tcp.h"

static void take_stall(gpointer user, guint side, TcpStall stall, gint64 ns)
{
        (void)user;
        g_assert(side < 2 && stall <= TCP_KEPT && (stall == TCP_RESENT ? ns != 0 : ns > 0));
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

enum { RECORD = 8, SIDE = 0x20, SETTLE = 0x40, FAR = 0x80 };

typedef struct {
        guint32 next[2]; /* sequence number after what was delivered, where begun */
        gboolean begun[2], ended[2];
} Delivered;

static guint8 byte_at(guint side, guint32 seq)
{
        return (guint8)(seq * 31 + (seq >> 8) + side);
}

static void follow(Delivered *d, guint side, guint32 seq, gsize n)
{
        g_assert(n > 0 && !d->ended[side]);
        g_assert(!d->begun[side] || d->next[side] == seq);
        d->next[side] = seq + (guint32)n;
}

static gboolean take_bytes(gpointer user, guint side, guint32 seq, const guint8 *bytes, gsize n,
                           gsize length, Stamp stamp)
{
        Delivered *d = user;
        (void)stamp;
        g_assert(n <= length);
        follow(d, side, seq, length);
        d->begun[side] = TRUE;
        for (gsize i = 0; i < n; i++)
                g_assert(bytes[i] == byte_at(side, seq + (guint32)i));
        return TRUE;
}

static void take_missing(gpointer user, guint side, guint32 seq, gsize n)
{
        follow(user, side, seq, n);
}

static void take_end(gpointer user, guint side, Stamp stamp)
{
        Delivered *d = user;
        (void)stamp;
        g_assert(!d->ended[side]);
        d->ended[side] = TRUE;
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        Delivered delivered = { 0 };
        TcpConnection c = { 0 };
        TcpTotals totals = { 0 };
        const TcpSink sink = { take_bytes, take_missing, take_end, take_stall, &delivered };
        Stamp stamp = { 1000000000, 0 };
        gint64 since;
        for (; n >= RECORD; data += RECORD, n -= RECORD) {
                guint side = (data[0] & SIDE) != 0;
                guint32 far = data[0] & FAR ? 0x7ffffff0 : 0xfffffff0; /* or about to wrap */
                TcpSegment segment = { .flags = data[0] & (TCP_FIN | TCP_SYN | TCP_RST | TCP_ACK),
                                       .seq = far + read_u16(data + 1),
                                       .ack = far + read_u16(data + 3),
                                       .shut = data[6] > 250,
                                       .length = data[5] * (data[5] & 1 ? 1 : 8u) };
                segment.captured = segment.length - MIN(segment.length, data[6]);
                /* Of just its size, so that reading past it is seen. */
                g_autofree guint8 *payload = g_malloc(MAX(segment.captured, 1));
                guint32 first = segment.seq + ((segment.flags & TCP_SYN) != 0);
                segment.payload = payload;
                for (gsize i = 0; i < segment.captured; i++)
                        payload[i] = byte_at(side, first + (guint32)i);
                stamp.time += (gint64)data[7] << data[7] % 24;
                stamp.packet++;
                if (tcp_is_new(&c, side, &segment)) {
                        tcp_settle(&c, G_MAXINT64, &sink, &totals);
                        g_assert(totals.bytes == 0);
                        memset(&c, 0, sizeof c);
                        memset(&delivered, 0, sizeof delivered);
                }
                tcp_add(&c, side, &segment, stamp, &sink, &totals);
                g_assert(!c.closed || (delivered.ended[0] && delivered.ended[1]));
                if (data[0] & SETTLE)
                        tcp_settle(&c, stamp.time - 1000000, &sink, &totals);
                g_assert(tcp_waits_since(&c, &since) ? since <= stamp.time : totals.bytes == 0);
        }
        if (n & 1)
                tcp_settle(&c, G_MAXINT64, &sink, &totals);
        g_assert(!(n & 1) || !tcp_waits_since(&c, &since));
        tcp_clear(&c, &totals);
        g_assert(totals.bytes == 0);
        return 0;
}
