/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/source/stamp-evidence.h"

#include "base/hash.h"
#include "capture/network/ip.h"
#include "capture/network/link-layer.h"
#include "capture/network/tcp.h"
#include "tracefmt/sorted-runs.h"

enum {
        MEMORY = 1 << 24,      /* bytes of a part */
        DIRECTIONS = 1 << 16,  /* of connections, at once; a power of 2 */
        MOST_BEHIND = 1 << 28, /* bytes that a connection may have sent since its SYN */
        FEW = 10,              /* one of this number of late segments must go back */
};

/* Bytes of a direction. */
typedef struct {
        guint64 direction; /* a hash of addresses and ports */
        guint32 end;       /* the sequence number after the last byte */
        guint32 opens;     /* a SYN */
} Sent;

/* The directions, and how many segments bring only bytes from before bytes that were seen. */
typedef struct {
        Sent latest[DIRECTIONS];
        guint64 back;
} SeenOrder;

struct StampEvidence {
        IpFragments *fragments;
        Account account;              /* of no interest */
        SeenOrder in_file, by_stamps; /* by_stamps: when they are weighed */
        SortedRuns *sent;             /* of Sent, each the attributes of a message */
        gint64 latest;                /* ns: the latest stamp */
        guint64 late;                 /* segments after one with a later stamp */
};

StampEvidence *stamp_evidence_new(void)
{
        StampEvidence *e = g_new0(StampEvidence, 1);
        e->fragments = ip_fragments_new();
        e->sent = sorted_runs_new(MEMORY);
        e->latest = G_MININT64;
        return e;
}

void stamp_evidence_free(StampEvidence *e)
{
        if (!e)
                return;
        ip_fragments_free(e->fragments);
        sorted_runs_free(e->sent);
        g_free(e);
}

static void seen_order_add(SeenOrder *order, const Sent *sent)
{
        Sent *latest = &order->latest[sent->direction & (DIRECTIONS - 1)];
        guint32 behind = latest->end - sent->end;
        gboolean other = latest->direction != sent->direction ||
                         (sent->opens && behind > MOST_BEHIND); /* the ports are used again */
        if (other || behind > G_MAXINT32)
                *latest = *sent;
        else
                order->back++;
}

static guint64 hash_direction(const IpPacket *ip, const TcpSegment *segment)
{
        const guint64 words[] = { ip->source.high, ip->source.low, ip->destination.high,
                                  ip->destination.low,
                                  (guint64)segment->source_port << 16 | segment->destination_port };
        guint64 hash = 0;
        for (guint i = 0; i < G_N_ELEMENTS(words); i++)
                hash = hash_word(hash, words[i]);
        return hash;
}

/* FALSE: the packet has no bytes of TCP. */
static gboolean stamp_evidence_decode(StampEvidence *e, const Packet *packet, Sent *sent)
{
        Cursor frame = cursor(packet->bytes, packet->captured);
        TcpSegment segment;
        IpPacket ip;
        guint32 unopened;
        if (link_layer_decode(packet->link_type, &frame, &unopened) != ACCOUNT_NONE ||
            ip_decode(e->fragments, frame.at, cursor_left(&frame),
                      cursor_left(&frame) + (packet->length - packet->captured), packet->time, &ip,
                      &e->account) != ACCOUNT_NONE ||
            ip.protocol != IP_TCP || !tcp_decode(ip.payload, ip.captured, ip.length, &segment) ||
            (segment.length == 0 && !(segment.flags & TCP_SYN)))
                return FALSE;
        *sent = (Sent){ hash_direction(&ip, &segment), segment.seq + (guint32)segment.length,
                        segment.flags & TCP_SYN };
        return TRUE;
}

gboolean stamp_evidence_add(StampEvidence *e, const Packet *packet, GError **error)
{
        Sent sent;
        if (!stamp_evidence_decode(e, packet, &sent))
                return TRUE;
        e->late += packet->time < e->latest;
        e->latest = MAX(e->latest, packet->time);
        seen_order_add(&e->in_file, &sent);
        Message m = { .time = packet->time,
                      .attrs = (const char *)&sent,
                      .attrs_length = sizeof sent };
        return sorted_runs_add(e->sent, &m, error);
}

gboolean stamp_evidence_weigh(StampEvidence *e, gboolean *set_back, GError **error)
{
        Message m;
        int status;
        if (!sorted_runs_finish(e->sent, error))
                return FALSE;
        while ((status = sorted_runs_next(e->sent, &m, error)) > 0) {
                Sent sent;
                memcpy(&sent, m.attrs, sizeof sent);
                seen_order_add(&e->by_stamps, &sent);
        }
        *set_back = e->by_stamps.back > e->in_file.back + e->late / FEW;
        return status == 0;
}
