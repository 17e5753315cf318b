/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/source/pcapng.h"

#include "base/each.h"
#include "base/error.h"

enum {
        BLOCK_INTERFACE = 1,
        BLOCK_OLD_PACKET = 2,
        BLOCK_SIMPLE_PACKET = 3,
        BLOCK_STATISTICS = 5,
        BLOCK_ENHANCED_PACKET = 6,
        BLOCK_SECRETS = 10,
};

enum {
        OPTION_END = 0,
        OPTION_PACKET_DROPS = 4,
        OPTION_RESOLUTION = 9,
        OPTION_OFFSET = 14,
        OPTION_STATISTICS_INTERFACE_DROPS = 5,
        OPTION_STATISTICS_KERNEL_DROPS = 7,
};

enum {
        BLOCK_HEADER = 8, /* type and length; the length again at the end */
        BLOCK_FRAME = 12,
        MAX_BLOCK = 16 << 20, /* bytes of a block that has to be looked at */
        MAX_INTERFACES = 65536,
        SECTION_SIZE = 28, /* the least */
        NO_DROP_COUNT = 0xffff,
};

#define BYTE_ORDER_MAGIC         0x1a2b3c4d
#define BYTE_ORDER_MAGIC_SWAPPED 0x4d3c2b1a

typedef struct {
        gint64 offset; /* seconds to add to every stamp */
        guint64 kernel_drops, interface_drops, packet_drops;
        guint32 snapshot; /* bytes, 0 for no limit */
        guint16 link_type;
        guint8 resolution; /* as in if_tsresol: a power of 10, or with the high bit of 2 */
} Interface;

struct PcapngReader {
        gboolean little;
        gboolean in_section;
        GArray *interfaces;                    /* of the section */
        int link_type;                         /* of the last one */
        guint64 kernel_drops, interface_drops; /* of the sections before */
};

PcapngReader *pcapng_reader_new(void)
{
        PcapngReader *r = g_new0(PcapngReader, 1);
        r->interfaces = g_array_new(FALSE, TRUE, sizeof(Interface));
        return r;
}

void pcapng_reader_free(PcapngReader *r)
{
        if (!r)
                return;
        g_array_free(r->interfaces, TRUE);
        g_free(r);
}

static PcapngResult pcapng_broken(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static PcapngResult pcapng_broken(GError **error, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        g_autofree char *text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        g_set_error_literal(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, text);
        return PCAPNG_BROKEN;
}

/* --- numbers in the section's byte order ------------------------------------ */

static guint16 get_u16(const PcapngReader *r, const guint8 *p)
{
        return r->little ? (guint16)(p[0] | p[1] << 8) : read_u16(p);
}

static guint32 get_u32(const PcapngReader *r, const guint8 *p)
{
        return r->little ? GUINT32_SWAP_LE_BE(read_u32(p)) : read_u32(p);
}

static guint64 get_u64(const PcapngReader *r, const guint8 *p)
{
        return r->little ? GUINT64_SWAP_LE_BE(read_u64(p)) : read_u64(p);
}

/* Two halves, the high one first in either order. */
static guint64 pcapng_get_stamp(const PcapngReader *r, const guint8 *p)
{
        return (guint64)get_u32(r, p) << 32 | get_u32(r, p + 4);
}

/* The next option: its value and length, padding left out. FALSE at the end, also
 * where the last one is cut. */
static gboolean next_option(const PcapngReader *r, Cursor *c, guint16 *code, const guint8 **value,
                            guint16 *length)
{
        const guint8 *p = cursor_take(c, 4);
        if (!p)
                return FALSE;
        *code = get_u16(r, p);
        *length = get_u16(r, p + 2);
        *value = cursor_take(c, *length);
        cursor_skip(c, MIN(cursor_left(c), -(gsize)*length & 3));
        return *code != OPTION_END && *value;
}

/* --- time ------------------------------------------------------------------- */

static guint64 power_of_ten(guint n)
{
        guint64 value = 1;
        while (n-- > 0)
                value *= 10;
        return value;
}

/* Units of the resolution: whole seconds, and ns besides. */
static void split_units(guint64 units, guint8 resolution, guint64 *seconds, guint64 *ns)
{
        guint power = resolution & 0x7f;
        if (!(resolution & 0x80)) {
                guint64 second = power < 20 ? power_of_ten(power) : 0;
                *seconds = second ? units / second : 0;
                units -= *seconds * second;
                *ns = power <= 9        ? units * power_of_ten(9 - power)
                      : power - 9 < 20u ? units / power_of_ten(power - 9)
                                        : 0;
                return;
        }
        *seconds = power < 64 ? units >> power : 0;
        units = power < 64 ? units & ((G_GUINT64_CONSTANT(1) << power) - 1) : units;
        /* 34 bits are finer than a nanosecond, and with it fill 64. */
        if (power > 34) {
                units = power - 34 < 64 ? units >> (power - 34) : 0;
                power = 34;
        }
        *ns = units * NS_PER_S >> power;
}

static gint64 pcapng_time_of(const Interface *interface, guint64 units)
{
        guint64 seconds, ns;
        gint64 sum;
        split_units(units, interface->resolution, &seconds, &ns);
        if (seconds > G_MAXINT64 ||
            __builtin_add_overflow((gint64)seconds, interface->offset, &sum) || sum < 0 ||
            sum >= G_MAXINT64 / NS_PER_S)
                return -1;
        return sum * NS_PER_S + (gint64)ns;
}

/* --- blocks ----------------------------------------------------------------- */

static void close_section(PcapngReader *r)
{
        pcapng_drops(r, &r->kernel_drops, &r->interface_drops);
        g_array_set_size(r->interfaces, 0);
}

/* The only block whose byte order is not known beforehand. */
static PcapngResult begin_section(PcapngReader *r, const guint8 *bytes, gsize n, gsize *size,
                                  GError **error)
{
        if (n < SECTION_SIZE) {
                *size = SECTION_SIZE;
                return PCAPNG_MORE;
        }
        guint32 magic = read_u32(bytes + 8);
        if (magic != BYTE_ORDER_MAGIC && magic != BYTE_ORDER_MAGIC_SWAPPED)
                return pcapng_broken(error,
                                     "a section with byte-order magic 0x%08x, expected 0x%08x",
                                     magic, BYTE_ORDER_MAGIC);
        close_section(r);
        r->little = magic == BYTE_ORDER_MAGIC_SWAPPED;
        r->in_section = TRUE;
        guint32 length = get_u32(r, bytes + 4);
        guint16 major = get_u16(r, bytes + 12);
        if (length < SECTION_SIZE)
                return pcapng_broken(error, "a section header of %u bytes, expected %u at least",
                                     length, SECTION_SIZE);
        if (major != 1)
                return pcapng_broken(error, "a section in version %u.%u, expected 1.0", major,
                                     get_u16(r, bytes + 14));
        *size = ((gsize)length + 3) & ~(gsize)3;
        return PCAPNG_SKIP;
}

static PcapngResult add_interface(PcapngReader *r, Cursor body, GError **error)
{
        Interface interface = { .resolution = 6 };
        const guint8 *p = cursor_take(&body, 8), *value;
        guint16 code, length;
        if (!p)
                return pcapng_broken(error,
                                     "an interface description of %zu bytes, expected 8 at least",
                                     cursor_left(&body));
        if (r->interfaces->len >= MAX_INTERFACES)
                return pcapng_broken(error, "more than %u interfaces in a section", MAX_INTERFACES);
        interface.link_type = get_u16(r, p);
        interface.snapshot = get_u32(r, p + 4);
        while (next_option(r, &body, &code, &value, &length)) {
                if (code == OPTION_RESOLUTION && length == 1)
                        interface.resolution = *value;
                else if (code == OPTION_OFFSET && length == 8)
                        interface.offset = (gint64)get_u64(r, value);
        }
        g_array_append_val(r->interfaces, interface);
        r->link_type = interface.link_type;
        return PCAPNG_INTERFACE;
}

static Interface *find_interface(const PcapngReader *r, guint32 number, GError **error)
{
        if (number < r->interfaces->len)
                return &g_array_index(r->interfaces, Interface, number);
        pcapng_broken(error, "a block of interface %u, but %u were described", number,
                      r->interfaces->len);
        return NULL;
}

static PcapngResult pcapng_packet_fill(PcapngReader *r, const Interface *interface, Cursor *body,
                                       guint32 captured, guint32 length, Packet *packet,
                                       GError **error)
{
        packet->bytes = cursor_take(body, captured);
        if (!packet->bytes)
                return pcapng_broken(error, "a packet of %u bytes in a block that has %zu for it",
                                     captured, cursor_left(body));
        cursor_skip(body, MIN(cursor_left(body), -(gsize)captured & 3));
        packet->captured = captured;
        packet->length = MAX(length, captured);
        packet->link_type = r->link_type = interface->link_type;
        return PCAPNG_PACKET;
}

/* Enhanced, and the older form, which has the drops where the other has the high
 * half of the interface's number. */
static PcapngResult add_packet(PcapngReader *r, Cursor body, gboolean old, Packet *packet,
                               GError **error)
{
        const guint8 *p = cursor_take(&body, 20), *value;
        guint16 code, length;
        if (!p)
                return pcapng_broken(error, "a packet block with %zu bytes, expected 20 at least",
                                     cursor_left(&body));
        Interface *interface = find_interface(r, old ? get_u16(r, p) : get_u32(r, p), error);
        if (!interface)
                return PCAPNG_BROKEN;
        PcapngResult result = pcapng_packet_fill(r, interface, &body, get_u32(r, p + 12),
                                                 get_u32(r, p + 16), packet, error);
        if (result != PCAPNG_PACKET)
                return result;
        packet->time = pcapng_time_of(interface, pcapng_get_stamp(r, p + 4));
        if (old && get_u16(r, p + 2) != NO_DROP_COUNT)
                interface->packet_drops += get_u16(r, p + 2);
        while (!old && next_option(r, &body, &code, &value, &length))
                if (code == OPTION_PACKET_DROPS && length == 8)
                        interface->packet_drops += get_u64(r, value);
        return PCAPNG_PACKET;
}

static PcapngResult add_simple_packet(PcapngReader *r, Cursor body, Packet *packet, GError **error)
{
        const guint8 *p = cursor_take(&body, 4);
        const Interface *interface = find_interface(r, 0, error);
        if (!interface)
                return PCAPNG_BROKEN;
        if (!p)
                return pcapng_broken(error, "a packet block with %zu bytes, expected 4 at least",
                                     cursor_left(&body));
        guint32 length = get_u32(r, p), captured = length;
        if (interface->snapshot)
                captured = MIN(captured, interface->snapshot);
        packet->time = -1;
        return pcapng_packet_fill(r, interface, &body, captured, length, packet, error);
}

/* Counts since the capture began: the last ones are the sum. */
static PcapngResult add_statistics(PcapngReader *r, Cursor body, GError **error)
{
        const guint8 *p = cursor_take(&body, 12), *value;
        guint16 code, length;
        if (!p)
                return pcapng_broken(error,
                                     "interface statistics of %zu bytes, expected 12 at least",
                                     cursor_left(&body));
        Interface *interface = find_interface(r, get_u32(r, p), error);
        if (!interface)
                return PCAPNG_BROKEN;
        while (next_option(r, &body, &code, &value, &length)) {
                if (length != 8)
                        continue;
                if (code == OPTION_STATISTICS_INTERFACE_DROPS)
                        interface->interface_drops = get_u64(r, value);
                else if (code == OPTION_STATISTICS_KERNEL_DROPS)
                        interface->kernel_drops = get_u64(r, value);
        }
        return PCAPNG_SKIP;
}

/* Secrets with which packets can be opened; those of TLS are a key log. */
static PcapngResult add_secrets(PcapngReader *r, Cursor body, Packet *packet, GError **error)
{
        enum { TLS_KEY_LOG = 0x544c534b };
        const guint8 *p = cursor_take(&body, 8);
        if (!p)
                return pcapng_broken(error, "secrets of %zu bytes, expected 8 at least",
                                     cursor_left(&body));
        guint32 type = get_u32(r, p), length = get_u32(r, p + 4);
        packet->bytes = cursor_take(&body, length);
        if (!packet->bytes)
                return pcapng_broken(error, "secrets of %u bytes in a block that has %zu for them",
                                     length, cursor_left(&body));
        packet->captured = length;
        return type == TLS_KEY_LOG ? PCAPNG_SECRETS : PCAPNG_SKIP;
}

static gboolean is_used(guint32 type)
{
        return (type >= BLOCK_INTERFACE && type <= BLOCK_SIMPLE_PACKET) ||
               type == BLOCK_STATISTICS || type == BLOCK_ENHANCED_PACKET || type == BLOCK_SECRETS;
}

PcapngResult pcapng_parse(PcapngReader *r, const guint8 *bytes, gsize n, gsize *size,
                          Packet *packet, GError **error)
{
        *size = BLOCK_FRAME;
        if (n < BLOCK_FRAME)
                return PCAPNG_MORE;
        if (read_u32(bytes) == PCAPNG_MAGIC)
                return begin_section(r, bytes, n, size, error);
        if (!r->in_section)
                return pcapng_broken(error, "no section header");
        guint32 type = get_u32(r, bytes), length = get_u32(r, bytes + 4);
        if (length < BLOCK_FRAME)
                return pcapng_broken(error, "a block of %u bytes, expected %u at least", length,
                                     BLOCK_FRAME);
        *size = ((gsize)length + 3) & ~(gsize)3;
        if (!is_used(type) || (type == BLOCK_SECRETS && length > MAX_BLOCK))
                return PCAPNG_SKIP;
        if (length > MAX_BLOCK)
                return pcapng_broken(error, "a block of type %u with %u bytes, expected %u at most",
                                     type, length, MAX_BLOCK);
        if (n < *size)
                return PCAPNG_MORE;
        guint32 again = get_u32(r, bytes + *size - 4);
        if (again != length)
                return pcapng_broken(error, "a block of %u bytes that ends as one of %u", length,
                                     again);
        Cursor body = cursor(bytes + BLOCK_HEADER, *size - BLOCK_FRAME);
        switch (type) {
        case BLOCK_INTERFACE:
                return add_interface(r, body, error);
        case BLOCK_STATISTICS:
                return add_statistics(r, body, error);
        case BLOCK_SECRETS:
                return add_secrets(r, body, packet, error);
        case BLOCK_SIMPLE_PACKET:
                return add_simple_packet(r, body, packet, error);
        default:
                return add_packet(r, body, type == BLOCK_OLD_PACKET, packet, error);
        }
}

int pcapng_link_type(const PcapngReader *r)
{
        return r->link_type;
}

void pcapng_drops(const PcapngReader *r, guint64 *kernel, guint64 *interface)
{
        guint64 k = r->kernel_drops, i = r->interface_drops;
        EACH (const Interface, of, r->interfaces) {
                k += MAX(of->kernel_drops, of->packet_drops);
                i += of->interface_drops;
        }
        *kernel = k;
        *interface = i;
}
