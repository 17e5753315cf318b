/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/source/packet-merge.h"

#include <signal.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/error.h"
#include "capture/source/packet-order.h"

typedef struct {
        const char *path;   /* NULL for interfaces */
        PcapSource *source; /* NULL before it is opened, and when it is over */
        PacketOrder *order; /* NULL: packets need not be sorted, or that is not known yet */
        Packet packet;      /* the next one, where the source is open */
        gint64 time;        /* the packet's, or what stands for it */
        char *link_type;    /* when it was last looked at, */
        guint interfaces;   /* and then */
        gboolean order_known, over;
} Input;

struct PacketMerge {
        PcapOptions options;
        Input *inputs;
        Input **order; /* by the time of the first packet */
        guint n;
        guint first, opened; /* in order: before first all are over, from opened on none is open */
        Input *current;      /* whose packet was handed out last */
        gint64 limit;        /* until then no other one is due */
        GError *broken;      /* the first file that broke off */
        PcapSource *volatile reading; /* what a signal is to stop */
        volatile sig_atomic_t stopped;
        PcapCounts counts; /* of inputs that are over */
};

/* --- an input --------------------------------------------------------------- */

static void input_look(Input *in)
{
        in->interfaces = pcap_source_interfaces(in->source);
        if (g_strcmp0(in->link_type, pcap_source_link_type(in->source)) == 0)
                return;
        g_free(in->link_type);
        in->link_type = g_strdup(pcap_source_link_type(in->source));
}

static void input_count(const Input *in, PcapCounts *counts)
{
        pcap_source_count(in->source, counts);
        const StampOrder *stamps = pcap_source_order(in->source);
        if (in->order) {
                packet_order_count(in->order, counts);
        } else if (stamps) {
                counts->late += stamps->late;
                counts->most_late = MAX(counts->most_late, stamps->most_late);
        }
}

static void input_close(PacketMerge *m, Input *in)
{
        input_count(in, &m->counts);
        input_look(in);
        g_clear_pointer(&in->order, packet_order_free);
        g_clear_pointer(&in->source, pcap_source_free);
        in->over = TRUE;
}

/* scan: its stamps are looked at, since it is read now. */
static gboolean input_open(PacketMerge *m, Input *in, gboolean scan, GError **error)
{
        PcapOptions options = m->options;
        options.scan = scan;
        in->source = pcap_source_open(in->path, &options, error);
        if (in->source)
                input_look(in);
        return in->source != NULL;
}

/* As pcap_source_next(), in the order of stamps. */
static inline int input_next(const PacketMerge *m, Input *in, Packet *packet, GError **error)
{
        if (!in->order_known) {
                in->order_known = TRUE;
                if (m->n == 1 && in->path && pcap_source_path_is_live(in->path))
                        in->order = packet_order_new_pipe();
                else if (!packet_order_find(in->path, in->source, m->options.filter != NULL,
                                            &in->order, error))
                        return -1;
        }
        return in->order ? packet_order_next(in->order, in->source, packet, error)
                         : pcap_source_next(in->source, packet, error);
}

/* Reads the next packet; at the end, or where the file breaks off, closes it. FALSE:
 * error set, and nothing can go on. */
static gboolean input_advance(PacketMerge *m, Input *in, GError **error)
{
        GError *why = NULL;
        m->reading = in->source;
        if (m->stopped)
                pcap_source_stop(in->source);
        int result = input_next(m, in, &in->packet, &why);
        m->reading = NULL;
        if (result == 1) {
                if (in->packet.time >= 0)
                        in->time = in->packet.time;
                return TRUE;
        }
        input_close(m, in);
        if (g_error_matches(why, RAVEL_ERROR, RAVEL_ERROR_USAGE) ||
            g_error_matches(why, RAVEL_ERROR, RAVEL_ERROR_OUTPUT)) {
                g_propagate_error(error, why);
                return FALSE;
        }
        if (why && !m->broken)
                m->broken = why;
        else
                g_clear_error(&why);
        return TRUE;
}

/* When the input begins. A pipe cannot be read twice and stays open; of a file that
 * breaks off at once the error comes when it is its turn. */
static gboolean input_probe(PacketMerge *m, Input *in, GError **error)
{
        if (!input_open(m, in, FALSE, error))
                return FALSE;
        if (pcap_source_path_is_live(in->path))
                return input_advance(m, in, error);
        if (pcap_source_next(in->source, &in->packet, NULL) == 1 && in->packet.time >= 0)
                in->time = in->packet.time;
        g_clear_pointer(&in->source, pcap_source_free);
        return TRUE;
}

/* --- all of them ------------------------------------------------------------ */

static PacketMerge *packet_merge_alloc(guint n, const PcapOptions *options)
{
        PacketMerge *m = g_new0(PacketMerge, 1);
        m->options = *options;
        m->n = n;
        m->inputs = g_new0(Input, n);
        m->order = g_new(Input *, n);
        m->limit = G_MININT64;
        for (guint i = 0; i < n; i++) {
                m->order[i] = &m->inputs[i];
                m->inputs[i].time = G_MININT64;
        }
        return m;
}

COMPARISON_OF_POINTERS(packet_merge_compare_inputs, Input,
                       COMPARE(a->time, b->time) ?: COMPARE(a, b))

PacketMerge *packet_merge_new(const char *const *paths, guint n, const PcapOptions *options,
                              GError **error)
{
        g_autoptr(PacketMerge) m = packet_merge_alloc(n, options);
        for (guint i = 0; i < n; i++)
                m->inputs[i].path = paths[i];
        if (n == 1) { /* nothing to be merged with: it need not have a packet yet */
                if (!input_open(m, &m->inputs[0], TRUE, error))
                        return NULL;
                m->reading = m->inputs[0].source;
                return g_steal_pointer(&m);
        }
        for (guint i = 0; i < n; i++)
                if (!input_probe(m, &m->inputs[i], error))
                        return NULL;
        qsort(m->order, n, sizeof *m->order, packet_merge_compare_inputs);
        return g_steal_pointer(&m);
}

PacketMerge *packet_merge_new_live(const char *const *interfaces, guint n,
                                   const PcapOptions *options, GError **error)
{
        g_autoptr(PacketMerge) m = packet_merge_alloc(1, options);
        m->inputs[0].source = pcap_source_open_live(interfaces, n, options, error);
        if (!m->inputs[0].source)
                return NULL;
        input_look(&m->inputs[0]);
        m->reading = m->inputs[0].source;
        return g_steal_pointer(&m);
}

void packet_merge_free(PacketMerge *m)
{
        if (!m)
                return;
        for (guint i = 0; i < m->n; i++) {
                packet_order_free(m->inputs[i].order);
                pcap_source_free(m->inputs[i].source);
                g_free(m->inputs[i].link_type);
        }
        g_clear_error(&m->broken);
        g_free(m->inputs);
        g_free(m->order);
        g_free(m);
}

/* Opens the next in order. */
static gboolean open_next(PacketMerge *m, GError **error)
{
        Input *in = m->order[m->opened];
        if (in->over || in->source) { /* a pipe */
                m->opened++;
                return TRUE;
        }
        if (!input_open(m, in, TRUE, error))
                return FALSE;
        m->opened++;
        return input_advance(m, in, error);
}

/* Finds whose packet is next, and until when it is that one's turn. */
static gboolean packet_merge_choose(PacketMerge *m, GError **error)
{
        for (;;) {
                m->current = NULL;
                m->limit = G_MAXINT64;
                while (m->first < m->opened && m->order[m->first]->over)
                        m->first++;
                for (guint i = m->first; i < m->opened; i++) {
                        Input *in = m->order[i];
                        if (in->over)
                                continue;
                        if (!m->current || in->time < m->current->time) {
                                m->limit = m->current ? m->current->time : G_MAXINT64;
                                m->current = in;
                        } else {
                                m->limit = MIN(m->limit, in->time);
                        }
                }
                if (m->opened == m->n)
                        return TRUE;
                if (m->current && m->current->time < m->order[m->opened]->time) {
                        m->limit = MIN(m->limit, m->order[m->opened]->time);
                        return TRUE;
                }
                if (!open_next(m, error))
                        return FALSE;
        }
}

int packet_merge_next(PacketMerge *m, Packet *packet, GError **error)
{
        if (m->n == 1)
                return input_next(m, &m->inputs[0], packet, error);
        if (m->current && !input_advance(m, m->current, error))
                return -1;
        if (m->stopped)
                return 0;
        if ((!m->current || m->current->over || m->current->time >= m->limit) &&
            !packet_merge_choose(m, error))
                return -1;
        if (m->current) {
                *packet = m->current->packet;
                return 1;
        }
        if (!m->broken)
                return 0;
        g_propagate_error(error, g_steal_pointer(&m->broken));
        return -1;
}

gboolean packet_merge_next_waiting(PacketMerge *m, Packet *packet)
{
        return m->n == 1 && m->inputs[0].order &&
               packet_order_next_waiting(m->inputs[0].order, packet);
}

void packet_merge_stop(PacketMerge *m)
{
        PcapSource *source = m->reading;
        m->stopped = TRUE;
        if (source)
                pcap_source_stop(source);
}

const char *packet_merge_link_type(const PacketMerge *m, guint i)
{
        g_assert(i < m->n);
        return m->inputs[i].source ? pcap_source_link_type(m->inputs[i].source)
                                   : m->inputs[i].link_type;
}

guint packet_merge_interfaces(const PacketMerge *m)
{
        guint n = 0;
        for (guint i = 0; i < m->n; i++)
                n += m->inputs[i].source ? pcap_source_interfaces(m->inputs[i].source)
                                         : m->inputs[i].interfaces;
        return n;
}

PcapCounts packet_merge_counts(const PacketMerge *m)
{
        PcapCounts counts = m->counts;
        for (guint i = 0; i < m->n; i++)
                if (m->inputs[i].source)
                        input_count(&m->inputs[i], &counts);
        return counts;
}
