/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/tcp.h"

#include <string.h>

enum {
        MAX_HELD = 1024,          /* segments that wait, a direction */
        MAX_HELD_BYTES = 2 << 20, /* and their bytes */
        LATE_SEGMENTS = 64,       /* a segment that is later than this is lost, */
        LATE_SYN = 65536,         /* bytes after which a SYN is no longer the same start */
        FIXED_SEEN = 14,          /* bytes of a header that is cut: as far as the flags */
        RESET_WINDOW = 1 << 20,   /* how far from the next byte a reset is believed */
};
#define LEAST_STALL G_GINT64_CONSTANT(1000000) /* ns; less is the order of capture, or a copy */

/* ns by which receivers delay an acknowledgement (RFC 1122, 4.2.3.2; Linux 40 ms, others to 200).
 * A sender with Nagle's algorithm goes on as soon as it comes (RFC 896). */
#define LEAST_ACK_DELAY (20 * G_GINT64_CONSTANT(1000000))
#define MOST_ACK_DELAY  (250 * G_GINT64_CONSTANT(1000000))
#define MOST_AFTER_ACK  G_GINT64_CONSTANT(1000000)

/* Less ns between bytes is no pause of their sender. */
#define LEAST_PAUSE G_GINT64_CONSTANT(100000)

enum { OPTION_END = 0, OPTION_NOTHING = 1, OPTION_SACK = 5, OPTION_TIMESTAMPS = 8 };

#define LATE_TIME (50 * G_GINT64_CONSTANT(1000000)) /* or than this, in ns */

struct TcpHeld {
        TcpHeld *next;
        Stamp stamp;
        guint32 seq, ack;
        guint32 captured, length;
        guint8 has_ack, pushed;
        guint8 payload[];
};

static gint32 seq_diff(guint32 a, guint32 b)
{
        return (gint32)(a - b);
}

gboolean tcp_decode(const guint8 *bytes, gsize n, gsize length, TcpSegment *segment)
{
        if (n < FIXED_SEEN)
                return FALSE;
        gsize header = (bytes[12] >> 4) * 4u;
        if (header < 20 || header > length)
                return FALSE;
        segment->source_port = read_u16(bytes);
        segment->destination_port = read_u16(bytes + 2);
        segment->seq = read_u32(bytes + 4);
        segment->ack = read_u32(bytes + 8);
        segment->flags = bytes[13];
        segment->shut = n >= FIXED_SEEN + 2 && read_u16(bytes + FIXED_SEEN) == 0;
        segment->payload = bytes + MIN(header, n);
        segment->captured = n - MIN(header, n);
        segment->length = length - header;
        segment->options = cursor(bytes + MIN(20, n), MIN(header, n) - MIN(20, n));
        return TRUE;
}

/* The content of the first option of a kind, of 8 bytes at least; NULL: there is none. */
static const guint8 *option_find(const TcpSegment *segment, guint8 wanted)
{
        Cursor c = segment->options;
        guint8 kind, length;
        while (cursor_u8(&c, &kind) && kind != OPTION_END) {
                if (kind == OPTION_NOTHING)
                        continue;
                const guint8 *p = NULL;
                if (!cursor_u8(&c, &length) || length < 2 || !(p = cursor_take(&c, length - 2u)))
                        return NULL;
                if (kind == wanted && length >= 10)
                        return p;
        }
        return NULL;
}

gboolean tcp_timestamps(const TcpSegment *segment, guint64 *stamps)
{
        const guint8 *p = option_find(segment, OPTION_TIMESTAMPS);
        if (p)
                *stamps = read_u64(p);
        return p != NULL;
}

/* Whether the segment says that bytes came twice (RFC 2883): the first block of SACK is of bytes
 * that it acknowledges. */
static gboolean tells_of_copy(const TcpSegment *segment)
{
        const guint8 *p = option_find(segment, OPTION_SACK);
        return p && seq_diff(read_u32(p + 4), segment->ack) <= 0;
}

gboolean tcp_is_new(const TcpConnection *c, guint side, const TcpSegment *segment)
{
        const TcpHalf *h = &c->half[side];
        if (!(segment->flags & TCP_SYN) || !h->known)
                return FALSE;
        if (h->start_seen)
                return h->isn != segment->seq;
        /* Captured after what follows it: its number is just before that. */
        return h->next - (segment->seq + 1) > LATE_SYN;
}

static void half_end(TcpConnection *c, guint side, Stamp stamp, const TcpSink *sink)
{
        TcpHalf *h = &c->half[side];
        if (h->ended)
                return;
        h->ended = TRUE;
        sink->end(sink->user, side, stamp);
        if (c->half[!side].ended)
                c->closed = TRUE;
}

static void half_end_if_reached(TcpConnection *c, guint side, Stamp stamp, const TcpSink *sink)
{
        const TcpHalf *h = &c->half[side];
        if (h->fin_seen && seq_diff(h->next, h->fin) >= 0)
                half_end(c, side, stamp, sink);
}

/* Whether new bytes of h, which come at time, have waited for a delayed acknowledgement. */
static gboolean is_ack_delay(const TcpHalf *h, gint64 time)
{
        gint64 gap = time - h->latest;
        return gap >= LEAST_ACK_DELAY && gap <= MOST_ACK_DELAY &&
               h->pure_ack - h->latest >= LEAST_ACK_DELAY && h->pure_ack <= time &&
               time - h->pure_ack <= MOST_AFTER_ACK;
}

/* Whether nothing but their sender kept n new bytes of h, which come at time. The bytes before
 * ended a write. No segment of the other end can have released these: it would be too long ago. A
 * slow link before the tap would have brought them sooner. */
static gboolean is_pause(const TcpHalf *h, const TcpHalf *other, gsize n, gint64 time)
{
        return h->pushed && !h->is_shut && h->reach &&
               time - other->spoke > 2 * h->reach + LEAST_PAUSE &&
               (!h->step_length ||
                (double)(time - h->latest) * h->step_length >= 2. * (double)h->step * (double)n);
}

/* New bytes of side come at time, a while after those before. Why? */
static void see_gap(const TcpConnection *c, guint side, gsize n, gint64 time, const TcpSink *sink)
{
        const TcpHalf *h = &c->half[side];
        if (is_ack_delay(h, time))
                sink->stall(sink->user, side, TCP_ACK_DELAYED, time - h->latest);
        else if (is_pause(h, &c->half[!side], n, time))
                sink->stall(sink->user, side, TCP_PAUSED, time - MAX(h->latest, h->shut));
}

/* Bytes that are next, or partly before. pushed: they end a write. */
static void deliver(TcpConnection *c, guint side, guint32 seq, const guint8 *payload,
                    gsize captured, gsize length, gboolean pushed, Stamp stamp, const TcpSink *sink)
{
        TcpHalf *h = &c->half[side];
        gsize old = (gsize)seq_diff(h->next, seq);
        if (h->ended || old >= length)
                return;
        payload += MIN(old, captured);
        captured -= MIN(old, captured);
        length -= old;
        seq = h->next;
        /* If others after them have waited, these were sent before. */
        gint64 sent = h->held ? MIN(h->held->stamp.time, stamp.time) : stamp.time;
        if (h->unfinished && sent - h->latest >= LEAST_PAUSE)
                see_gap(c, side, length, sent, sink);
        if (h->begun && !h->pushed) {
                h->step = sent - h->latest;
                h->step_length = (guint32)length;
        }
        h->pushed = (guint8)pushed;
        h->next += (guint32)length;
        h->begun = TRUE;
        h->resent = 0;
        h->latest = MAX(h->latest, stamp.time);
        h->unfinished =
                (guint8)sink->bytes(sink->user, side, seq, payload, captured, length, stamp);
        half_end_if_reached(c, side, stamp, sink);
}

/* Whether everything that the segment acknowledges was delivered. One byte more
 * is the other end's FIN, which need not have been captured. */
static gboolean ack_is_reached(const TcpConnection *c, guint side, gboolean has_ack, guint32 ack)
{
        const TcpHalf *other = &c->half[!side];
        return !has_ack || !other->known || seq_diff(ack, other->next) <= 1;
}

static gboolean head_is_ready(const TcpConnection *c, guint side)
{
        const TcpHeld *s = c->half[side].held;
        return s && seq_diff(s->seq, c->half[side].next) <= 0 &&
               ack_is_reached(c, side, s->has_ack, s->ack);
}

/* Unlinks the first segment that waits; the caller frees it. */
static TcpHeld *held_take(TcpHalf *h, TcpTotals *totals)
{
        TcpHeld *s = h->held;
        h->held = s->next;
        if (!h->held)
                h->last_held = NULL;
        h->n_held--;
        h->held_bytes -= s->captured;
        totals->bytes -= sizeof *s + s->captured;
        return s;
}

static void stall_add(guint side, TcpStall stall, gint64 ns, const TcpSink *sink)
{
        if (ns >= LEAST_STALL)
                sink->stall(sink->user, side, stall, ns);
}

static void deliver_head(TcpConnection *c, guint side, const TcpSink *sink, TcpTotals *totals)
{
        const TcpHalf *h = &c->half[side];
        TcpHeld *s = held_take(&c->half[side], totals);
        deliver(c, side, s->seq, s->payload, s->captured, s->length, s->pushed, s->stamp, sink);
        stall_add(side, TCP_KEPT, h->filled - s->stamp.time, sink);
        g_free(s);
}

/* Delivers what need not wait any longer, in the order of capture where both
 * directions may go on. */
static void drain(TcpConnection *c, const TcpSink *sink, TcpTotals *totals)
{
        for (;;) {
                gboolean ready[2] = { head_is_ready(c, 0), head_is_ready(c, 1) };
                if (!ready[0] && !ready[1])
                        return;
                guint side = !ready[0] || (ready[1] && stamp_before(c->half[1].held->stamp,
                                                                    c->half[0].held->stamp));
                deliver_head(c, side, sink, totals);
        }
}

static void tcp_hold(TcpHalf *h, const TcpSegment *segment, guint32 seq, Stamp stamp,
                     TcpTotals *totals)
{
        TcpHeld *s = g_malloc(sizeof *s + segment->captured);
        TcpHeld **place = &h->held;
        s->stamp = stamp;
        s->seq = seq;
        s->ack = segment->ack;
        s->has_ack = (segment->flags & TCP_ACK) != 0;
        s->pushed = (segment->flags & TCP_PUSH) != 0;
        s->captured = (guint32)segment->captured;
        s->length = (guint32)segment->length;
        if (segment->captured)
                memcpy(s->payload, segment->payload, segment->captured);
        if (h->last_held && seq_diff(h->last_held->seq, seq) <= 0)
                place = &h->last_held->next;
        else
                while (*place && seq_diff((*place)->seq, seq) <= 0)
                        place = &(*place)->next;
        s->next = *place;
        *place = s;
        if (!s->next)
                h->last_held = s;
        h->n_held++;
        h->held_bytes += s->captured;
        totals->bytes += sizeof *s + s->captured;
}

static void skip_to(TcpConnection *c, guint side, guint32 seq, const TcpSink *sink,
                    TcpTotals *totals)
{
        TcpHalf *h = &c->half[side];
        gint32 n = seq_diff(seq, h->next);
        if (n <= 0)
                return;
        guint32 from = h->next;
        h->next = seq;
        if (h->sends && !h->begun && !h->start_seen)
                return; /* before the first byte that was seen */
        totals->holes++;
        totals->hole_bytes += (guint64)n;
        if (!h->ended)
                sink->missing(sink->user, side, from, (gsize)n);
}

/* Where the first segment of side that waits waits for: the side of the hole,
 * and where it ends. FALSE: both directions wait for each other. */
static gboolean hole_find(const TcpConnection *c, guint side, guint *hole_side, guint32 *end)
{
        const TcpHeld *s = c->half[side].held, *other = c->half[!side].held;
        if (seq_diff(s->seq, c->half[side].next) > 0) {
                *hole_side = side;
                *end = s->seq;
                return TRUE;
        }
        *hole_side = !side;
        *end = s->ack;
        if (other && seq_diff(other->seq, s->ack) < 0)
                *end = other->seq;
        return seq_diff(*end, c->half[!side].next) > 0;
}

/* Lets the first segment of side that waits go on, whatever it waits for. */
static void unblock(TcpConnection *c, guint side, const TcpSink *sink, TcpTotals *totals)
{
        guint hole_side;
        guint32 end;
        if (hole_find(c, side, &hole_side, &end))
                skip_to(c, hole_side, end, sink, totals);
        else
                deliver_head(c, side, sink, totals);
        drain(c, sink, totals);
}

/* Whether what the first segment of side waits for will not come any more. */
static gboolean is_lost(const TcpConnection *c, guint side, Stamp now)
{
        const TcpHalf *h = &c->half[side], *hole;
        guint hole_side;
        guint32 end;
        if (h->n_held > MAX_HELD || h->held_bytes > MAX_HELD_BYTES ||
            !hole_find(c, side, &hole_side, &end))
                return TRUE;
        hole = &c->half[hole_side];
        if (!hole->sends)
                return TRUE; /* this direction is not captured at all */
        if (c->half[!hole_side].sends && !(hole->acked_known && seq_diff(hole->acked, end) >= 0))
                return FALSE; /* it may be sent again */
        return h->n_held >= LATE_SEGMENTS || now.time - h->held->stamp.time >= LATE_TIME;
}

static void skip_lost(TcpConnection *c, Stamp now, const TcpSink *sink, TcpTotals *totals)
{
        for (guint side = 0; side < 2;) {
                if (c->half[side].held &&
                    ((totals->most && totals->bytes > totals->most) || is_lost(c, side, now))) {
                        unblock(c, side, sink, totals);
                        side = 0;
                } else {
                        side++;
                }
        }
}

static void see_ack(TcpHalf *sender, TcpHalf *receiver, const TcpSegment *segment, gint64 time)
{
        if (!sender->known) {
                sender->known = TRUE;
                sender->next = segment->ack;
                if (segment->flags & TCP_SYN) {
                        sender->start_seen = TRUE;
                        sender->isn = segment->ack - 1;
                }
        }
        if (!sender->acked_known || seq_diff(segment->ack, sender->acked) > 0) {
                sender->acked = segment->ack;
                if (segment->ack == sender->next) {
                        gint64 reach = MAX(time - sender->latest, 1);
                        if (!receiver->reach || reach < receiver->reach)
                                receiver->reach = reach;
                        if (segment->length == 0)
                                sender->pure_ack = time;
                }
        }
        sender->acked_known = TRUE;
}

static void see_seq(TcpHalf *h, const TcpSegment *segment, guint32 seq, Stamp stamp)
{
        h->sends = TRUE;
        if (!h->known) {
                h->known = TRUE;
                h->next = seq;
        }
        if (segment->flags & TCP_SYN) {
                h->isn = segment->seq;
                h->start_seen = TRUE;
                h->latest = stamp.time;
        } else if (!h->begun && !h->start_seen && segment->length > 0 && !h->held &&
                   seq_diff(seq, h->next) > 0) {
                h->next = seq; /* nothing of what came before was seen */
        }
        if ((segment->flags & TCP_FIN) && !h->fin_seen) {
                h->fin = seq + (guint32)segment->length;
                h->fin_seen = TRUE;
                h->fin_stamp = stamp;
        }
}

static void reset(TcpConnection *c, guint side, guint32 seq, Stamp stamp, const TcpSink *sink,
                  TcpTotals *totals)
{
        gint32 distance = seq_diff(seq, c->half[side].next);
        if (distance < -RESET_WINDOW || distance > RESET_WINDOW)
                return;
        tcp_settle(c, G_MAXINT64, sink, totals);
        half_end(c, side, stamp, sink);
        half_end(c, !side, stamp, sink);
}

/* --- what holds bytes up ----------------------------------------------------- */

/* The window that a segment gives to what the other side sends. */
static void see_window(TcpConnection *c, guint side, const TcpSegment *segment, Stamp stamp,
                       const TcpSink *sink)
{
        TcpHalf *other = &c->half[!side];
        if (other->is_shut == segment->shut)
                return;
        other->is_shut = segment->shut;
        if (!other->is_shut)
                stall_add(!side, TCP_WINDOW, stamp.time - other->shut, sink);
        other->shut = stamp.time;
}

/* The bytes of side were seen before. Whoever repeats what was acknowledged keeps the connection
 * open, or asks for a window. */
static void see_repeated(TcpHalf *h, guint side, const TcpSegment *segment, guint32 end,
                         Stamp stamp, const TcpSink *sink)
{
        guint64 stamps = 0;
        if (!h->begun || !h->acked_known || seq_diff(end, h->acked) <= 0 ||
            stamp.time - h->latest < LEAST_STALL)
                return;
        stall_add(side, TCP_RESENT, stamp.time - h->latest, sink);
        h->resent += stamp.time - h->latest;
        h->resent_end = end;
        tcp_timestamps(segment, &stamps);
        h->resent_value = (guint32)(stamps >> 32);
        h->latest = stamp.time;
}

/* Whether the segment acknowledges the first copy of the bytes that came again: it echoes an older
 * timestamp (RFC 3522). */
static gboolean answers_first_copy(const TcpHalf *h, const TcpSegment *segment)
{
        guint64 stamps;
        return h->resent_value && seq_diff(segment->ack, h->resent_end) >= 0 &&
               tcp_timestamps(segment, &stamps) && seq_diff((guint32)stamps, h->resent_value) < 0;
}

/* Whoever has sent bytes again learns whether they had arrived before: then nothing was late. */
static void see_needless(TcpHalf *h, guint side, const TcpSegment *segment, const TcpSink *sink)
{
        if (!tells_of_copy(segment) && !answers_first_copy(h, segment))
                return;
        sink->stall(sink->user, side, TCP_RESENT, -h->resent);
        h->latest -= h->resent;
        h->resent = 0;
}

/* The segment is next, and others after it have waited for it: since new bytes came last, as a slow
 * link is busy as long as they do. */
static void see_late(TcpHalf *h, guint side, guint32 seq, Stamp stamp, const TcpSink *sink)
{
        if (!h->held || seq_diff(seq, h->next) > 0 || seq_diff(h->held->seq, h->next) <= 0)
                return;
        h->filled = stamp.time;
        stall_add(side, TCP_HOLE, stamp.time - MAX(h->latest, h->last_held->stamp.time), sink);
}

void tcp_add(TcpConnection *c, guint side, const TcpSegment *segment, Stamp stamp,
             const TcpSink *sink, TcpTotals *totals)
{
        TcpHalf *h = &c->half[side];
        guint32 seq = segment->seq + ((segment->flags & TCP_SYN) != 0);
        if (c->closed)
                return;
        see_seq(h, segment, seq, stamp);
        if (segment->flags & TCP_ACK)
                see_ack(&c->half[!side], h, segment, stamp.time);
        if (segment->flags & TCP_RST) {
                reset(c, side, seq, stamp, sink, totals);
                return;
        }
        if (!(segment->flags & TCP_SYN))
                see_window(c, side, segment, stamp, sink);
        if (G_UNLIKELY(c->half[!side].resent))
                see_needless(&c->half[!side], !side, segment, sink);
        h->spoke = stamp.time;
        if (segment->length > 0) {
                guint32 end = seq + (guint32)segment->length;
                if (seq_diff(end, h->next) <= 0 || h->ended) {
                        see_repeated(h, side, segment, end, stamp, sink);
                        totals->repeated++;
                } else if (!h->held && seq_diff(seq, h->next) <= 0 &&
                           ack_is_reached(c, side, (segment->flags & TCP_ACK) != 0, segment->ack)) {
                        deliver(c, side, seq, segment->payload, segment->captured, segment->length,
                                (segment->flags & TCP_PUSH) != 0, stamp, sink);
                } else {
                        see_late(h, side, seq, stamp, sink);
                        tcp_hold(h, segment, seq, stamp, totals);
                }
        }
        if (h->held || c->half[!side].held) {
                drain(c, sink, totals);
                skip_lost(c, stamp, sink, totals);
        }
        half_end_if_reached(c, side, stamp, sink);
}

gboolean tcp_waits_since(const TcpConnection *c, gint64 *time)
{
        *time = G_MAXINT64;
        for (guint side = 0; side < 2; side++) {
                const TcpHalf *h = &c->half[side];
                for (const TcpHeld *s = h->held; s; s = s->next)
                        *time = MIN(*time, s->stamp.time);
                if (h->fin_seen && !h->ended)
                        *time = MIN(*time, h->fin_stamp.time);
        }
        return *time != G_MAXINT64;
}

void tcp_settle(TcpConnection *c, gint64 time, const TcpSink *sink, TcpTotals *totals)
{
        gint64 first;
        while (tcp_waits_since(c, &first) && first <= time) {
                if (c->half[0].held || c->half[1].held) {
                        unblock(c, c->half[0].held == NULL, sink, totals);
                        continue;
                }
                for (guint side = 0; side < 2; side++) {
                        TcpHalf *h = &c->half[side];
                        if (h->fin_seen && !h->ended) {
                                skip_to(c, side, h->fin, sink, totals);
                                half_end(c, side, h->fin_stamp, sink);
                        }
                }
        }
}

void tcp_clear(TcpConnection *c, TcpTotals *totals)
{
        for (guint side = 0; side < 2; side++)
                while (c->half[side].held)
                        g_free(held_take(&c->half[side], totals));
}
