/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One TCP connection, seen from outside: puts the bytes of its two directions in
 * order (RFC 9293).
 *
 * Within a direction the order is that of sequence numbers. Between them it is
 * that of acknowledgements: what a segment acknowledges was there before it. The
 * order in which segments were captured decides nothing else; taps and queues
 * change it. A segment that is not next waits, in bounded memory. What was
 * captured twice is used once, the first time.
 *
 * Bytes that nobody captured are a hole. A hole is skipped when the other end has acknowledged
 * past it, and the segment cannot just be late: no retransmission can be expected. It is also
 * skipped when a bound is reached, or when no more can come. A capture may begin in the middle:
 * the first segment seen in a direction, or acknowledged to it, says where.
 */
#pragma once

#include "capture/packet/packet.h"

enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_PUSH = 8, TCP_ACK = 16 };

typedef struct {
        guint16 source_port, destination_port;
        guint32 seq, ack;
        guint8 flags;
        guint8 shut; /* the sender takes no more bytes: a window of 0 */
        const guint8 *payload;
        gsize captured, length; /* of the payload: at hand, on the wire */
        Cursor options;         /* as far as captured */
} TcpSegment;

/* FALSE where the n bytes at bytes, of length on the wire, are not a segment. */
gboolean tcp_decode(const guint8 *bytes, gsize n, gsize length, TcpSegment *segment);

/* The timestamps option (RFC 7323): value and echo in one number. FALSE where there is none. */
gboolean tcp_timestamps(const TcpSegment *segment, guint64 *stamps);

typedef struct TcpHeld TcpHeld;

/* One direction. */
typedef struct {
        TcpHeld *held, *last_held; /* segments that wait, by sequence number */
        guint32 next;              /* sequence number of the next byte */
        guint32 isn;               /* where start_seen */
        guint32 acked;             /* what the other end has acknowledged */
        gint64 latest;             /* when its SYN or the last bytes were seen, or seen again */
        gint64 spoke;              /* when its last segment was seen */
        gint64 reach;  /* least ns in which it has acknowledged what passed the tap; 0: not known */
        gint64 step;   /* ns before the last bytes that others, not pushed, were sent before */
        gint64 filled; /* when a hole was filled last */
        gint64 resent; /* ns of TCP_RESENT since the last new bytes */
        gint64 pure_ack; /* when the other end has acknowledged all, without bytes */
        gint64 shut;     /* since when the other end takes none, where is_shut, or some again */
        Stamp fin_stamp; /* when its FIN was seen, */
        guint32 fin;     /* sequence number after the last byte, where fin_seen */
        guint32 resent_end,
                resent_value; /* after the bytes sent last again; their timestamp, or 0 */
        guint32 n_held, held_bytes;
        guint32 step_length; /* of the bytes after step */
        guint8 known;        /* next is valid */
        guint8 start_seen;   /* by a SYN */
        guint8 sends;        /* a segment of this direction was captured */
        guint8 begun;        /* a byte was delivered */
        guint8 pushed;       /* the last bytes were the end of a write */
        guint8 unfinished;   /* what they are of goes on */
        guint8 acked_known, fin_seen, ended, is_shut;
} TcpHalf;

typedef struct {
        TcpHalf half[2]; /* by the side that sends */
        guint8 closed;   /* reset, or both sides have ended */
} TcpConnection;

/* Memory that held segments take, over all connections. */
typedef struct {
        gsize bytes;
        gsize most;       /* bytes that may wait; 0: there is no bound */
        guint64 repeated; /* segments that brought nothing new */
        guint64 holes, hole_bytes;
} TcpTotals;

/* What held bytes up. */
typedef enum {
        TCP_HOLE,   /* the bytes that come now were missing, while others after them were seen */
        TCP_RESENT, /* the bytes that came last were sent again, before they were acknowledged */
        TCP_WINDOW, /* the other end took none */
        TCP_ACK_DELAYED, /* the bytes that come now waited for the acknowledgement of others */
        TCP_PAUSED,      /* it was not: side had nothing to send */
        TCP_KEPT, /* the bytes that came last could not be read until those before were sent again
                   */
} TcpStall;

/* Where the bytes go. Offsets are sequence numbers. */
typedef struct {
        /* length > 0 bytes, of which the first n are at hand, borrowed; the others were cut
         * off by the snapshot length. FALSE: what they are of ends with them, so nobody asks why
         * the next bytes of side come late. */
        gboolean (*bytes)(gpointer user, guint side, guint32 seq, const guint8 *bytes, gsize n,
                          gsize length, Stamp stamp);
        /* n > 0 bytes that were not captured. */
        void (*missing)(gpointer user, guint side, guint32 seq, gsize n);
        /* Side will send no more. Once a side. */
        void (*end)(gpointer user, guint side, Stamp stamp);
        /* What side sends was held up for ns, which is over now. Below 0: it had arrived before it
         * was sent again, so that much is taken back. */
        void (*stall)(gpointer user, guint side, TcpStall stall, gint64 ns);
        gpointer user;
} TcpSink;

/* Whether segment, from side, opens a new connection between the same ports. */
gboolean tcp_is_new(const TcpConnection *c, guint side, const TcpSegment *segment);

void tcp_add(TcpConnection *c, guint side, const TcpSegment *segment, Stamp stamp,
             const TcpSink *sink, TcpTotals *totals);

/* The earliest stamp of a segment that waits, be it a FIN; FALSE where none
 * does. */
gboolean tcp_waits_since(const TcpConnection *c, gint64 *time);

/* Whether all that side sent was seen, as far as the other end has acknowledged it. */
static inline gboolean tcp_is_whole(const TcpConnection *c, guint side)
{
        const TcpHalf *h = &c->half[side];

        /* A FIN counts as a byte. */
        return h->sends && (!h->acked_known || (gint32)(h->acked - h->next) <= h->fin_seen);
}

/* FALSE: surely none does. */
static inline gboolean tcp_may_wait(const TcpConnection *c)
{
        return c->half[0].held || c->half[1].held || c->half[0].fin_seen || c->half[1].fin_seen;
}

/* Skips what holes keep segments waiting, up to and including time. */
void tcp_settle(TcpConnection *c, gint64 time, const TcpSink *sink, TcpTotals *totals);

/* Frees what waits. */
void tcp_clear(TcpConnection *c, TcpTotals *totals);
