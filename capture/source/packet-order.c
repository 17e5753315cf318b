/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/source/packet-order.h"

#include "capture/source/stamp-evidence.h"
#include "tracefmt/sorted-runs.h"

enum {
        MEMORY = 1 << 25,          /* bytes of a part that is sorted */
        BUFFERED = 60 << 10,       /* packets, */
        BUFFERED_BYTES = 60 << 20, /* and their bytes, that a Reorder surely takes */
        LOOK = 256,                /* packets of a pipe between two looks at the clock */
        PAUSE = 1000000,           /* us without a packet, after which none waits any more */
        SPEED = 2,                 /* a recording comes this many times faster than it happened */
};

/* Younger packets (ns) are of now. */
#define PRESENT G_GINT64_CONSTANT(10000000000)

/* By less (ns) no clock is set back: cards and interfaces do that. */
#define LEAST_CLOCK_STEP G_GINT64_CONSTANT(10000000)

/* A pipe whose packets wait. */
typedef struct {
        gint64 began, read;             /* us, monotonic: the first look, and the last one */
        gint64 first, newest, released; /* ns: stamps */
        guint64 packets, too_late;
        gboolean live; /* none has to wait */
} Pipe;

struct PacketOrder {
        const StampOrder *stamps; /* the source's */
        guint n_ranges;           /* of the stamps: that were begun, */
        guint64 done;             /* and the packets up to their end */
        guint64 pass, sort;       /* packets of the source that pass, and then are sorted */
        Reorder *buffer;          /* NULL: sorted */
        SortedRuns *sorted;       /* NULL: buffer */
        gboolean at_end;          /* of the source */
        GError *broken;           /* how it ended */
        Pipe *pipe;               /* NULL: a file */
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

PacketOrder *packet_order_new_pipe(void)
{
        PacketOrder *o = g_new0(PacketOrder, 1);
        o->buffer = reorder_new();
        o->pipe = g_new0(Pipe, 1);
        o->pipe->released = -1;
        return o;
}

void packet_order_free(PacketOrder *o)
{
        if (!o)
                return;
        g_free(o->pipe);
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
                if (o->pass > 0) {
                        o->pass--;
                        return packet_order_read(o, source, packet);
                }
        }
        return 1;
}

/* --- pipes -------------------------------------------------------------------- */

/* Whether packets come as they happen. */
static gboolean pipe_is_live(const Pipe *p, gint64 now)
{
        gint64 wait = now - p->began, recorded = (p->newest - p->first) / 1000;
        return g_get_real_time() * 1000 - p->newest < PRESENT ||
               (wait > PAUSE && recorded < SPEED * wait);
}

static void pipe_see(Pipe *p, const Packet *packet)
{
        p->newest = p->packets ? MAX(p->newest, packet->time) : packet->time;
        if (p->packets++ % LOOK != 0)
                return;
        p->read = g_get_monotonic_time();
        if (p->packets == 1) {
                p->began = p->read;
                p->first = packet->time;
        }
        p->live = pipe_is_live(p, p->read);
}

/* The earliest packet that waits. */
static gboolean pipe_take(PacketOrder *o, Packet *packet)
{
        Message m;
        if (!reorder_take(o->buffer, &m))
                return FALSE;
        message_to_packet(&m, packet);
        o->pipe->too_late += m.time >= 0 && m.time < o->pipe->released;
        o->pipe->released = MAX(o->pipe->released, m.time);
        return TRUE;
}

static int pipe_next(PacketOrder *o, PcapSource *source, Packet *packet)
{
        while (!o->pipe->live && !reorder_is_full(o->buffer) &&
               packet_order_read(o, source, packet)) {
                if (packet->time < 0)
                        return 1; /* it has no place in the order */
                Message m = packet_to_message(packet);
                reorder_put(o->buffer, &m);
                pipe_see(o->pipe, packet);
        }
        if (pipe_take(o, packet))
                return 1;
        if (o->at_end)
                return 0;
        o->pass = G_MAXUINT64;
        return packet_order_read(o, source, packet);
}

gboolean packet_order_next_waiting(PacketOrder *o, Packet *packet)
{
        if (!o->pipe || o->pipe->packets == 0)
                return FALSE;
        gint64 now = g_get_monotonic_time();
        return (now - o->pipe->read > PAUSE || pipe_is_live(o->pipe, now)) && pipe_take(o, packet);
}

/* --- all ---------------------------------------------------------------------- */

void packet_order_count(const PacketOrder *o, PcapCounts *counts)
{
        gint64 most = 0;
        guint64 late = o->pipe ? reorder_late(o->buffer, &most) : o->stamps->late;
        guint64 too_late = o->pipe ? o->pipe->too_late : 0;
        counts->late += late;
        counts->sorted += late - MIN(late, too_late);
        counts->too_late += too_late;
        counts->most_late = MAX(counts->most_late, o->pipe ? most : o->stamps->most_late);
}

/* Apart, so that what passes is not slowed. */
__attribute__((noinline)) static int sort_next(PacketOrder *o, PcapSource *source, Packet *packet,
                                               GError **error)
{
        int status = o->pipe     ? pipe_next(o, source, packet)
                     : o->buffer ? ranges_next(o, source, packet)
                                 : sorted_next(o, source, packet, error);
        if (status >= 0 && !o->pipe && pcap_source_is_stopped(source))
                return 0;
        if (status != 0 || !o->broken)
                return status;
        g_propagate_error(error, g_steal_pointer(&o->broken));
        return -1;
}

int packet_order_next(PacketOrder *o, PcapSource *source, Packet *packet, GError **error)
{
        if (o->pass == 0)
                return sort_next(o, source, packet, error);
        o->pass--;
        return pcap_source_next(source, packet, error);
}
