/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/source/packet-order.h"

#include "capture/source/stamp-evidence.h"
#include "tracefmt/reorder.h"
#include "tracefmt/sorted-runs.h"

enum {
        MEMORY = 1 << 25,          /* bytes of a part that is sorted */
        BUFFERED = 60 << 10,       /* packets, */
        BUFFERED_BYTES = 60 << 20, /* and their bytes, that a Reorder surely takes */
};

/* By less (ns) no clock is set back: cards and interfaces do that. */
#define LEAST_CLOCK_STEP G_GINT64_CONSTANT(10000000)

struct PacketOrder {
        const StampOrder *stamps; /* the source's */
        guint n_ranges;           /* of the stamps: that were begun, */
        guint64 done;             /* and the packets up to their end */
        guint64 pass, sort;       /* packets of the source that pass, and then are sorted */
        Reorder *buffer;          /* NULL: sorted */
        SortedRuns *sorted;       /* NULL: buffer */
        gboolean at_end;          /* of the source */
        GError *broken;           /* how it ended */
};

static gboolean was_set_back(const char *path, const PcapSource *source, gboolean *set_back,
                             GError **error)
{
        PcapOptions plain = { .filter = NULL };
        g_autoptr(StampEvidence) evidence = stamp_evidence_new();
        g_autoptr(PcapSource) again = pcap_source_open(pcap_source_path_again(path), &plain, NULL);
        Packet packet;
        while (again && !pcap_source_is_stopped(source) &&
               pcap_source_next(again, &packet, NULL) == 1)
                if (!stamp_evidence_add(evidence, &packet, error))
                        return FALSE;
        return stamp_evidence_weigh(evidence, set_back, error);
}

gboolean packet_order_find(const char *path, PcapSource *source, gboolean filtered,
                           PacketOrder **order, GError **error)
{
        const StampOrder *stamps = pcap_source_order(source);
        gboolean set_back = FALSE;
        *order = NULL;
        if (!stamps || stamps->late == 0)
                return TRUE;
        if (stamps->most_late > LEAST_CLOCK_STEP && !was_set_back(path, source, &set_back, error))
                return FALSE;
        if (set_back)
                return TRUE;
        PacketOrder *o = *order = g_new0(PacketOrder, 1);
        o->stamps = stamps;
        o->sort = filtered ? G_MAXUINT64 : 0; /* the numbers of packets are not known */
        if (stamps->behind_packets <= BUFFERED && stamps->behind_bytes <= BUFFERED_BYTES)
                o->buffer = reorder_new();
        else
                o->sorted = sorted_runs_new(MEMORY);
        return TRUE;
}

void packet_order_free(PacketOrder *o)
{
        if (!o)
                return;
        reorder_free(o->buffer);
        sorted_runs_free(o->sorted);
        g_clear_error(&o->broken);
        g_free(o);
}

/* A packet waits as a message, its bytes as the attributes. */
static Message packet_to_message(const Packet *packet)
{
        return (Message){ .time = packet->time,
                          .sender = (NodeId)packet->link_type,
                          .receiver = (NodeId)packet->length,
                          .attrs = (const char *)packet->bytes,
                          .attrs_length = (guint32)packet->captured };
}

static void message_to_packet(const Message *m, Packet *packet)
{
        *packet = (Packet){ .bytes = (const guint8 *)m->attrs,
                            .captured = m->attrs_length,
                            .length = m->receiver,
                            .link_type = (int)m->sender,
                            .time = m->time };
}

static gboolean packet_order_read(PacketOrder *o, PcapSource *source, Packet *packet)
{
        if (!o->at_end)
                o->at_end = pcap_source_next(source, packet, &o->broken) != 1;
        return !o->at_end;
}

/* The packets that come next: some that pass, and a range that is sorted. */
static void packet_order_step(PacketOrder *o)
{
        o->pass = G_MAXUINT64;
        if (o->n_ranges == o->stamps->ranges->len)
                return;
        const DisorderedRange *range =
                &g_array_index(o->stamps->ranges, DisorderedRange, o->n_ranges++);
        o->pass = range->first - o->done;
        o->sort = range->last - range->first + 1;
        o->done = range->last + 1;
}

/* Sorts the packets of the range. 0: it is over. */
static int buffer_next(PacketOrder *o, PcapSource *source, Packet *packet)
{
        Message m;
        while (o->sort > 0 && !reorder_is_full(o->buffer) && packet_order_read(o, source, packet)) {
                m = packet_to_message(packet);
                reorder_put(o->buffer, &m);
                o->sort--;
        }
        if (!reorder_take(o->buffer, &m))
                return 0;
        message_to_packet(&m, packet);
        return 1;
}

/* As sorted_runs_next(). */
static int sorted_next(PacketOrder *o, PcapSource *source, Packet *packet, GError **error)
{
        Message m;
        if (!o->at_end) {
                while (packet_order_read(o, source, packet)) {
                        m = packet_to_message(packet);
                        if (!sorted_runs_add(o->sorted, &m, error))
                                return -1;
                }
                if (!sorted_runs_finish(o->sorted, error))
                        return -1;
        }
        int status = sorted_runs_next(o->sorted, &m, error);
        if (status > 0)
                message_to_packet(&m, packet);
        return status;
}

/* Packets that pass, and ranges that are sorted. */
static int ranges_next(PacketOrder *o, PcapSource *source, Packet *packet)
{
        while (!buffer_next(o, source, packet)) {
                if (o->at_end)
                        return 0;
                packet_order_step(o);
                if (o->pass-- > 0)
                        return packet_order_read(o, source, packet);
                o->pass = 0;
        }
        return 1;
}

int packet_order_next(PacketOrder *o, PcapSource *source, Packet *packet, GError **error)
{
        if (o->pass > 0) {
                o->pass--;
                return pcap_source_next(source, packet, error);
        }
        int status =
                o->buffer ? ranges_next(o, source, packet) : sorted_next(o, source, packet, error);
        if (status >= 0 && pcap_source_is_stopped(source))
                return 0;
        if (status != 0 || !o->broken)
                return status;
        g_propagate_error(error, g_steal_pointer(&o->broken));
        return -1;
}
