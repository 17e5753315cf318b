/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/source/pcapng-writer.h"

#include "capture/network/link-layer.h"
#include "capture/source/pcapng.h"

enum { SECTION = PCAPNG_MAGIC, INTERFACE = 1, PACKET = 6 }; /* types of blocks */
enum { BYTE_ORDER_MAGIC = 0x1a2b3c4d, IF_TSRESOL = 9, NANOSECONDS = 9 };

struct PcapngWriter {
        OutputFile *out;
        GArray *links;     /* of int: the link type of each interface */
        GByteArray *block; /* of which the first 8 bytes are filled last */
};

/* Numbers are in this machine's byte order, which the section's magic tells. */
static void put_u32(GByteArray *block, guint32 value)
{
        g_byte_array_append(block, (const guint8 *)&value, sizeof value);
}

static void put_u16(GByteArray *block, guint16 value)
{
        g_byte_array_append(block, (const guint8 *)&value, sizeof value);
}

static void block_begin(PcapngWriter *w, guint32 type)
{
        g_byte_array_set_size(w->block, 0);
        put_u32(w->block, type);
        put_u32(w->block, 0);
}

/* With the length at both ends. */
static gboolean block_end(PcapngWriter *w, GError **error)
{
        guint32 length = w->block->len + 4;
        memcpy(w->block->data + 4, &length, sizeof length);
        put_u32(w->block, length);
        return output_file_write(w->out, w->block->data, w->block->len, error);
}

static gboolean put_section(PcapngWriter *w, GError **error)
{
        block_begin(w, SECTION);
        put_u32(w->block, BYTE_ORDER_MAGIC);
        put_u16(w->block, 1); /* version 1.0 */
        put_u16(w->block, 0);
        put_u32(w->block, G_MAXUINT32); /* length: not said */
        put_u32(w->block, G_MAXUINT32);
        return block_end(w, error);
}

static gboolean put_interface(PcapngWriter *w, int link_type, GError **error)
{
        g_array_append_val(w->links, link_type);
        block_begin(w, INTERFACE);
        put_u16(w->block, link_type == LINK_RAW || link_type == LINK_RAW_BSD
                                  ? LINK_RAW_OTHER /* which files have for both */
                                  : (guint16)link_type);
        put_u16(w->block, 0);
        put_u32(w->block, 0); /* no snapshot length */
        put_u16(w->block, IF_TSRESOL);
        put_u16(w->block, 1);
        put_u32(w->block, GUINT32_TO_LE(NANOSECONDS)); /* one byte, and padding */
        put_u32(w->block, 0);                          /* no more options */
        return block_end(w, error);
}

PcapngWriter *pcapng_writer_new(const char *path, GError **error)
{
        g_autoptr(PcapngWriter) w = g_new0(PcapngWriter, 1);
        w->links = g_array_new(FALSE, FALSE, sizeof(int));
        w->block = g_byte_array_new();
        w->out = output_file_new(path, FALSE, error);
        return w->out && put_section(w, error) ? g_steal_pointer(&w) : NULL;
}

gboolean pcapng_writer_add(PcapngWriter *w, const Packet *packet, GError **error)
{
        guint interface = 0;
        while (interface < w->links->len &&
               g_array_index(w->links, int, interface) != packet->link_type)
                interface++;
        if (interface == w->links->len && !put_interface(w, packet->link_type, error))
                return FALSE;
        block_begin(w, PACKET);
        put_u32(w->block, interface);
        put_u32(w->block, (guint32)((guint64)packet->time >> 32));
        put_u32(w->block, (guint32)packet->time);
        put_u32(w->block, (guint32)packet->captured);
        put_u32(w->block, (guint32)packet->length);
        g_byte_array_append(w->block, packet->bytes, (guint)packet->captured);
        while (w->block->len % 4 > 0)
                g_byte_array_append(w->block, (const guint8 *)"", 1);
        return block_end(w, error);
}

gboolean pcapng_writer_close(PcapngWriter *w, GError **error)
{
        gboolean ok = output_file_close(g_steal_pointer(&w->out), error);
        pcapng_writer_free(w);
        return ok;
}

void pcapng_writer_free(PcapngWriter *w)
{
        if (!w)
                return;
        output_file_free(w->out);
        g_array_unref(w->links);
        g_byte_array_unref(w->block);
        g_free(w);
}
