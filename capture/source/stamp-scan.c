/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/source/stamp-scan.h"

#include "capture/source/pcapng.h"

enum {
        BUFFER = 1 << 17, /* bytes, at first */
        BLOCK = 256,      /* packets that are one in blocks */
        FILE_HEADER = 24,
        MAGIC_MICROSECONDS = (int)0xa1b2c3d4,
        MAGIC_NANOSECONDS = (int)0xa1b23c4d,
        MAGIC_MODIFIED = (int)0xa1b2cd34, /* of Kuznetzov: longer records */
        RECORD_HEADER = 16,
        RECORD_HEADER_MODIFIED = 24,
        MAX_CAPTURED = 1 << 28, /* bytes; more are a broken file */
};

typedef enum { SCAN_BEGINS, SCAN_PCAP, SCAN_PCAPNG, SCAN_OVER } ScanState;

/* Packets from the file's beginning to the end of a block. */
typedef struct {
        gint64 latest; /* ns: their latest stamp */
        guint64 bytes; /* captured */
} StampBlock;

struct StampScan {
        ScanState state;
        gboolean little;     /* pcap: byte order, */
        gint64 unit;         /* ns in a unit of a stamp's fraction, */
        gsize record_header; /* and bytes before each packet */
        PcapngReader *pcapng;
        GArray *blocks; /* of StampBlock */
        guint64 packets;
        StampBlock all; /* packets so far */
        StampOrder order;
};

StampScan *stamp_scan_new(void)
{
        StampScan *s = g_new0(StampScan, 1);
        s->blocks = g_array_new(FALSE, FALSE, sizeof(StampBlock));
        s->order.ranges = g_array_new(FALSE, FALSE, sizeof(DisorderedRange));
        s->all.latest = -1;
        return s;
}

void stamp_scan_free(StampScan *s)
{
        if (!s)
                return;
        pcapng_reader_free(s->pcapng);
        g_array_unref(s->blocks);
        g_array_unref(s->order.ranges);
        g_free(s);
}

/* --- stamps ------------------------------------------------------------------- */

/* The number of the first block with a stamp later than time. */
static guint stamp_scan_lookup(const StampScan *s, gint64 time)
{
        guint low = 0, high = s->blocks->len;
        while (low < high) {
                guint middle = low + (high - low) / 2;
                if (g_array_index(s->blocks, StampBlock, middle).latest > time)
                        high = middle;
                else
                        low = middle + 1;
        }
        return low;
}

static void stamp_scan_add_range(StampScan *s, guint64 first)
{
        GArray *ranges = s->order.ranges;
        while (ranges->len &&
               g_array_index(ranges, DisorderedRange, ranges->len - 1).last >= first) {
                const DisorderedRange *last =
                        &g_array_index(ranges, DisorderedRange, ranges->len - 1);
                first = MIN(first, last->first);
                g_array_set_size(ranges, ranges->len - 1);
        }
        DisorderedRange range = { first, s->packets };
        g_array_append_val(ranges, range);
}

static void see_late(StampScan *s, gint64 time)
{
        guint block = stamp_scan_lookup(s, time);
        guint64 first = (guint64)block * BLOCK;
        guint64 bytes = block ? g_array_index(s->blocks, StampBlock, block - 1).bytes : 0;
        s->order.late++;
        s->order.most_late = MAX(s->order.most_late, s->all.latest - time);
        s->order.behind_packets = MAX(s->order.behind_packets, s->packets - first);
        s->order.behind_bytes = MAX(s->order.behind_bytes, s->all.bytes - bytes);
        stamp_scan_add_range(s, first);
}

/* A packet. time: -1 for none. */
static inline void stamp_scan_see(StampScan *s, gint64 time, gsize captured)
{
        if (time >= s->all.latest)
                s->all.latest = time;
        else if (time >= 0)
                see_late(s, time);
        s->all.bytes += captured;
        if (++s->packets % BLOCK == 0)
                g_array_append_val(s->blocks, s->all);
}

/* --- records ------------------------------------------------------------------ */

static inline guint32 get_u32(gboolean little, const guint8 *p)
{
        return little ? GUINT32_SWAP_LE_BE(read_u32(p)) : read_u32(p);
}

static gboolean begin_pcap(StampScan *s, guint32 magic)
{
        if (magic != (guint32)MAGIC_MICROSECONDS && magic != (guint32)MAGIC_NANOSECONDS &&
            magic != (guint32)MAGIC_MODIFIED)
                return FALSE;
        s->state = SCAN_PCAP;
        s->unit = magic == (guint32)MAGIC_NANOSECONDS ? 1 : 1000;
        s->record_header =
                magic == (guint32)MAGIC_MODIFIED ? RECORD_HEADER_MODIFIED : RECORD_HEADER;
        return TRUE;
}

/* The first bytes. Returns how many are used. */
static gsize scan_beginning(StampScan *s, const guint8 *bytes, gsize n)
{
        if (n < 4)
                return 0;
        guint32 magic = read_u32(bytes);
        if (magic == PCAPNG_MAGIC) {
                s->state = SCAN_PCAPNG;
                s->pcapng = pcapng_reader_new();
                return 0;
        }
        if (begin_pcap(s, magic))
                return FILE_HEADER;
        s->little = TRUE;
        if (begin_pcap(s, GUINT32_SWAP_LE_BE(magic)))
                return FILE_HEADER;
        s->state = SCAN_OVER;
        return n;
}

/* little: a constant, for speed. */
static inline gsize scan_records(StampScan *s, const guint8 *bytes, gsize n, gboolean little)
{
        const gint64 unit = s->unit;
        const gsize header = s->record_header;
        gsize at = 0;
        while (at < n && n - at >= header) {
                const guint8 *p = bytes + at;
                guint32 captured = get_u32(little, p + 8);
                gint64 ns = get_u32(little, p + 4) * unit;
                if (captured > MAX_CAPTURED) {
                        s->state = SCAN_OVER;
                        return n;
                }
                stamp_scan_see(s, ns < NS_PER_S ? get_u32(little, p) * NS_PER_S + ns : -1,
                               captured);
                at += header + captured;
        }
        return at;
}

static gsize scan_pcap(StampScan *s, const guint8 *bytes, gsize n)
{
        return s->little ? scan_records(s, bytes, n, TRUE) : scan_records(s, bytes, n, FALSE);
}

static gsize scan_pcapng(StampScan *s, const guint8 *bytes, gsize n)
{
        PcapngResult result;
        gsize at = 0, size;
        Packet packet;
        while (at < n && (result = pcapng_parse(s->pcapng, bytes + at, n - at, &size, &packet,
                                                NULL)) != PCAPNG_MORE) {
                if (result == PCAPNG_BROKEN) {
                        s->state = SCAN_OVER;
                        return n;
                }
                if (result == PCAPNG_PACKET)
                        stamp_scan_see(s, packet.time, packet.captured);
                at += size;
        }
        return at;
}

gsize stamp_scan_add(StampScan *s, const guint8 *bytes, gsize n)
{
        gsize at = s->state == SCAN_BEGINS ? scan_beginning(s, bytes, n) : 0;
        if (at >= n)
                return at;
        switch (s->state) {
        case SCAN_PCAP:
                return at + scan_pcap(s, bytes + at, n - at);
        case SCAN_PCAPNG:
                return at + scan_pcapng(s, bytes + at, n - at);
        default:
                return s->state == SCAN_OVER ? n : at;
        }
}

void stamp_scan_read(StampScan *s, ByteSource *bytes, gboolean (*go_on)(gpointer user),
                     gpointer user)
{
        gsize size = BUFFER, have = 0, skip = 0;
        g_autofree guint8 *buffer = g_malloc(size);
        gssize k;
        while (s->state != SCAN_OVER && go_on(user) &&
               (k = byte_source_read(bytes, buffer + have, size - have, NULL)) > 0) {
                have += (gsize)k;
                gsize used = MIN(skip, have);
                skip -= used;
                if (skip == 0)
                        used += stamp_scan_add(s, buffer + used, have - used);
                skip += used - MIN(used, have);
                have -= MIN(used, have);
                memmove(buffer, buffer + used, have);
                if (have == size) /* a block of pcapng */
                        buffer = g_realloc(buffer, size *= 2);
        }
}

const StampOrder *stamp_scan_order(const StampScan *s)
{
        return &s->order;
}
