/* SPDX-License-Identifier: BSD-2-Clause
 *
 * DNS over UDP (RFC 1035, 4.1). A query is a call, a response its return, paired
 * by transaction id. Recognised by content: a header whose flags and counts make
 * sense, and sections that fill the datagram exactly, or what there is of it
 * where the capture cut it.
 */
#include "capture/protocol.h"

enum {
        HEADER = 12,
        FLAG_RESPONSE = 0x8000,
        FLAG_RESERVED = 0x0040,
        OPCODE = 0x7800,
        OPCODE_QUERY = 0x0000,
        OPCODE_NOTIFY = 0x2000,
        OPCODE_UPDATE = 0x2800,
        CALL_QUERY = 1,
};

/* Labels that end with an empty one or a pointer. */
static gboolean name_skip(Cursor *c)
{
        guint8 length;
        for (gsize total = 0; cursor_u8(c, &length); total += length + 1u) {
                if (length >= 0xc0)
                        return cursor_skip(c, 1);
                if (length > 63 || total > 255)
                        return FALSE;
                if (length == 0)
                        return TRUE;
                if (!cursor_skip(c, length))
                        return FALSE;
        }
        return FALSE;
}

static gboolean record_skip(Cursor *c)
{
        guint16 length;
        return name_skip(c) && cursor_skip(c, 8) && cursor_u16(c, &length) &&
               cursor_skip(c, length);
}

/* Class IN, CH, HS, NONE or ANY; the top bit is multicast DNS's. */
static gboolean question_skip(Cursor *c)
{
        guint16 type, class;
        if (!name_skip(c) || !cursor_u16(c, &type) || !cursor_u16(c, &class))
                return FALSE;
        class &= 0x7fff;
        return type != 0 && (class == 1 || class == 3 || class == 4 || class >= 254);
}

static void type_name_append(GString *label, guint type)
{
        static const struct {
                guint type;
                const char *name;
        } names[] = {
                { 1, "A" },    { 2, "NS" },     { 5, "CNAME" },  { 6, "SOA" },
                { 12, "PTR" }, { 15, "MX" },    { 16, "TXT" },   { 28, "AAAA" },
                { 33, "SRV" }, { 65, "HTTPS" }, { 252, "AXFR" }, { 255, "ANY" },
        };
        for (guint i = 0; i < G_N_ELEMENTS(names); i++)
                if (names[i].type == type) {
                        g_string_append(label, names[i].name);
                        return;
                }
        g_string_append_printf(label, "TYPE%u", type);
}

static ParseStatus dns_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                             gboolean eof, GString *label, Parsed *parsed)
{
        (void)state, (void)call;
        Cursor c = cursor(bytes, n);
        if (!cursor_skip(&c, HEADER))
                return PARSE_NOT_MINE;
        guint flags = read_u16(bytes + 2), questions = read_u16(bytes + 4);
        guint records = read_u16(bytes + 6) + read_u16(bytes + 8) + read_u16(bytes + 10);
        guint opcode = flags & OPCODE;
        gboolean response = (flags & FLAG_RESPONSE) != 0;
        if ((flags & FLAG_RESERVED) ||
            (opcode != OPCODE_QUERY && opcode != OPCODE_NOTIFY && opcode != OPCODE_UPDATE) ||
            questions > 1 || (!response && questions == 0) || (!response && (flags & 0xf) != 0) ||
            (!response && opcode == OPCODE_QUERY && records > 8))
                return PARSE_NOT_MINE;
        if (questions && !question_skip(&c))
                return PARSE_NOT_MINE;
        gsize question_end = (gsize)(c.at - bytes);
        while (records > 0 && record_skip(&c))
                records--;
        if ((eof && records > 0) || cursor_left(&c) > 0 ||
            (response && questions == 0 && n > HEADER))
                return PARSE_NOT_MINE;
        if (label && !response) {
                g_string_append(label, "DNS ");
                type_name_append(label, read_u16(bytes + question_end - 4));
        }
        parsed->length = n;
        parsed->kind = response ? KIND_RETURN : KIND_CALL;
        parsed->keyed = TRUE;
        parsed->key = read_u16(bytes);
        parsed->call = CALL_QUERY;
        return PARSE_MESSAGE;
}

const Protocol protocol_dns = { .name = "dns", .datagrams = TRUE, .parse = dns_parse };
