/* SPDX-License-Identifier: BSD-2-Clause
 *
 * repeat-packets TIMES: copies a capture from standard input to standard output, TIMES times, as
 * one long capture of the same connections. Each copy begins half a second after the last packet.
 * The sequence numbers of each TCP connection go on where they were. Ethernet and IPv4; checksums
 * are left as they were.
 */
#include <glib.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

enum { ETHERNET = 14, IPV4 = 20, TCP = 20, PROTOCOL_TCP = 6, FLAGS_TAKING_NUMBERS = 0x03 };
#define PAUSE 500000000 /* ns */

/* One direction of a connection. */
typedef struct {
        guint8 key[12];   /* addresses and ports as they stand in the packet */
        guint32 first;    /* sequence number of its first packet */
        gint32 low, high; /* lowest number and end of the highest, from first */
} Flow;

typedef struct {
        struct pcap_pkthdr header;
        gint64 time;
        guint8 *bytes;
        guint8 *tcp;       /* in bytes; NULL where it is something else */
        Flow *flow, *back; /* back: of the other direction, NULL where there is none */
} Packet;

static guint32 get32(const guint8 *at)
{
        guint32 value;

        memcpy(&value, at, sizeof value);
        return GUINT32_FROM_BE(value);
}

static void add32(guint8 *at, guint32 n)
{
        guint32 value = GUINT32_TO_BE(get32(at) + n);

        memcpy(at, &value, sizeof value);
}

static guint flow_hash(gconstpointer key)
{
        const guint8 *p = key;

        return get32(p) * 31 ^ get32(p + 4) * 17 ^ get32(p + 8);
}

static gboolean flow_equal(gconstpointer a, gconstpointer b)
{
        return memcmp(a, b, 12) == 0;
}

/* Finds TCP in the packet, and notes its numbers with its flow. */
static void packet_note(Packet *p, GHashTable *flows)
{
        const guint8 *ip = p->bytes + ETHERNET;
        gsize ip_length, length;
        guint8 key[12];
        gint32 begin;

        if (p->header.caplen < ETHERNET + IPV4 + TCP || p->bytes[12] != 8 || p->bytes[13] != 0 ||
            ip[9] != PROTOCOL_TCP)
                return;
        ip_length = (ip[0] & 15) * 4;
        length = (gsize)ip[2] << 8 | ip[3];
        if (p->header.caplen < ETHERNET + ip_length + TCP)
                return;
        p->tcp = p->bytes + ETHERNET + ip_length;
        memcpy(key, ip + 12, 8);
        memcpy(key + 8, p->tcp, 4);
        if (!(p->flow = g_hash_table_lookup(flows, key))) {
                p->flow = g_new0(Flow, 1);
                memcpy(p->flow->key, key, sizeof key);
                p->flow->first = get32(p->tcp + 4);
                g_hash_table_add(flows, p->flow);
        }
        begin = (gint32)(get32(p->tcp + 4) - p->flow->first);
        length -= ip_length + (p->tcp[12] >> 4) * 4;
        length += (p->tcp[13] & FLAGS_TAKING_NUMBERS) != 0;
        p->flow->low = MIN(p->flow->low, begin);
        p->flow->high = MAX(p->flow->high, begin + (gint32)length);
}

static Flow *flow_back(GHashTable *flows, const Flow *flow)
{
        guint8 key[12];

        memcpy(key, flow->key + 4, 4);
        memcpy(key + 4, flow->key, 4);
        memcpy(key + 8, flow->key + 10, 2);
        memcpy(key + 10, flow->key + 8, 2);
        return g_hash_table_lookup(flows, key);
}

static void packet_write(Packet *p, gint64 shift, pcap_dumper_t *out)
{
        p->header.ts.tv_sec = (p->time + shift) / 1000000000;
        p->header.ts.tv_usec = (p->time + shift) % 1000000000;
        pcap_dump((u_char *)out, &p->header, p->bytes);
        if (!p->tcp)
                return;
        add32(p->tcp + 4, (guint32)(p->flow->high - p->flow->low)); /* for the next time */
        if (p->back)
                add32(p->tcp + 8, (guint32)(p->back->high - p->back->low));
}

int main(int argc, char **argv)
{
        guint64 times = argc == 2 ? g_ascii_strtoull(argv[1], NULL, 10) : 0;
        GArray *packets = g_array_new(FALSE, FALSE, sizeof(Packet));
        GHashTable *flows = g_hash_table_new(flow_hash, flow_equal);
        char text[PCAP_ERRBUF_SIZE];
        struct pcap_pkthdr *header;
        const u_char *bytes;
        pcap_dumper_t *out;
        gint64 span = 0;
        pcap_t *pcap;

        if (times == 0)
                return 2;
        pcap = pcap_open_offline_with_tstamp_precision("-", PCAP_TSTAMP_PRECISION_NANO, text);
        if (!pcap) {
                fprintf(stderr, "%s\n", text);
                return 3;
        }
        while (pcap_next_ex(pcap, &header, &bytes) == 1) {
                Packet p = { .header = *header,
                             .time = header->ts.tv_sec * (gint64)1000000000 + header->ts.tv_usec,
                             .bytes = g_memdup2(bytes, header->caplen) };

                packet_note(&p, flows);
                g_array_append_val(packets, p);
                span = p.time - g_array_index(packets, Packet, 0).time + PAUSE;
        }
        for (guint i = 0; i < packets->len; i++) {
                Packet *p = &g_array_index(packets, Packet, i);

                if (p->flow)
                        p->back = flow_back(flows, p->flow);
        }
        if (!(out = pcap_dump_fopen(pcap, stdout))) {
                fprintf(stderr, "%s\n", pcap_geterr(pcap));
                return 4;
        }
        for (guint64 n = 0; n < times; n++)
                for (guint i = 0; i < packets->len; i++)
                        packet_write(&g_array_index(packets, Packet, i), (gint64)n * span, out);
        if (pcap_dump_flush(out) < 0 || ferror(pcap_dump_file(out))) {
                perror("standard output");
                return 4;
        }
        return 0;
}
