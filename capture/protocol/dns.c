/* SPDX-License-Identifier: BSD-2-Clause
 *
 * DNS (RFC 1035, 4.1), over UDP and TCP. A query is a call, a response its return, paired by
 * transaction id, and over UDP by question. Recognised by content: a header whose flags and counts
 * make sense, and sections that fill the datagram exactly, or what the capture has left. Bytes
 * after them are passed over if the question is for the name of a host. NetBIOS' name service
 * (RFC 1002) looks alike, but is another. Over TCP its length goes before each message, and the
 * response to a request for a zone is all messages up to the one that ends with the zone's SOA
 * (RFC 5936).
 */
#include "capture/protocol/protocol.h"

enum {
        HEADER = 12,
        FLAG_RESPONSE = 0x8000,
        FLAG_RESERVED = 0x0040,
        OPCODE = 0x7800,
        OPCODE_QUERY = 0x0000,
        OPCODE_NOTIFY = 0x2000,
        OPCODE_UPDATE = 0x2800,
        RCODE = 0x000f,
        TYPE_SOA = 6,
        TYPE_NETBIOS = 32,
        TYPE_NETBIOS_STATUS = 33, /* for DNS: SRV */
        TYPE_AXFR = 252,
        NETBIOS_NAME = 32, /* letters from A to P, each for half a byte */
        CALL_QUERY = 1,
        CALL_TRANSFER,
};

/* Labels that end with an empty one or a pointer. */
static gboolean dns_name_skip(Cursor *c)
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

static gboolean record_skip(Cursor *c, guint16 *type)
{
        guint16 length;
        return dns_name_skip(c) && cursor_u16(c, type) && cursor_skip(c, 6) &&
               cursor_u16(c, &length) && cursor_skip(c, length);
}

/* Class IN, CH, HS, NONE or ANY; the top bit is multicast DNS's. */
static gboolean question_skip(Cursor *c)
{
        guint16 type, class;
        if (!dns_name_skip(c) || !cursor_u16(c, &type) || !cursor_u16(c, &class))
                return FALSE;
        class &= 0x7fff;
        return type != 0 && (class == 1 || class == 3 || class == 4 || class >= 254);
}

/* The n bytes of a question that is whole. */
static gboolean question_is_netbios(const guint8 *bytes, gsize n)
{
        guint type = read_u16(bytes + n - 4);
        if (n < 1 + NETBIOS_NAME || bytes[0] != NETBIOS_NAME ||
            (type != TYPE_NETBIOS && type != TYPE_NETBIOS_STATUS))
                return FALSE;
        for (guint i = 1; i <= NETBIOS_NAME; i++)
                if (bytes[i] < 'A' || bytes[i] > 'P')
                        return FALSE;
        return TRUE;
}

/* The same: for the name of a host or service, in class IN. */
static gboolean question_is_of_host(const guint8 *bytes, gsize n)
{
        if (n < 7 || bytes[n - 5] != 0 || read_u16(bytes + n - 2) != 1)
                return FALSE;
        for (gsize i = 0; i < n - 5;) {
                gsize end = i + bytes[i] + 1u;
                if (bytes[i] > 63)
                        return FALSE;
                for (i++; i < end; i++)
                        if (!g_ascii_isalnum(bytes[i]) && bytes[i] != '-' && bytes[i] != '_')
                                return FALSE;
        }
        return TRUE;
}

/* The same: a number that two questions hardly share, never 0. */
static guint16 question_hash(const guint8 *bytes, gsize n)
{
        guint32 hash = 2166136261u; /* FNV-1a; servers may change the case of letters */
        for (gsize i = 0; i < n; i++)
                hash = (hash ^ (guint8)g_ascii_tolower((char)bytes[i])) * 16777619u;
        return (guint16)MAX((hash ^ hash >> 16) & 0xffff, 1);
}

/* Whether a question that is not whole is sound as far as it is there. */
static gboolean question_is_cut(Cursor c)
{
        guint8 length;
        while (cursor_u8(&c, &length)) {
                if (length == 0)
                        return cursor_left(&c) < 4;
                if (length >= 0xc0)
                        return cursor_left(&c) < 5;
                if (length > 63)
                        return FALSE;
                if (!cursor_skip(&c, length))
                        return TRUE;
        }
        return TRUE;
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

/* Of HEADER bytes. */
static gboolean dns_header_is_plausible(const guint8 *bytes)
{
        guint flags = read_u16(bytes + 2), questions = read_u16(bytes + 4);
        guint records = read_u16(bytes + 6) + read_u16(bytes + 8) + read_u16(bytes + 10);
        guint opcode = flags & OPCODE;
        if ((flags & FLAG_RESERVED) ||
            (opcode != OPCODE_QUERY && opcode != OPCODE_NOTIFY && opcode != OPCODE_UPDATE) ||
            questions > 1)
                return FALSE;
        return (flags & FLAG_RESPONSE) ||
               (questions > 0 && (flags & RCODE) == 0 && (opcode != OPCODE_QUERY || records <= 8));
}

/* datagram: also one with bytes after the message. */
static ParseStatus dns_message_parse(guint8 call, const guint8 *bytes, gsize n, gboolean eof,
                                     gboolean datagram, GString *label, Parsed *parsed)
{
        Cursor c = cursor(bytes, n);
        if (!cursor_skip(&c, HEADER) || !dns_header_is_plausible(bytes))
                return PARSE_NOT_MINE;
        guint questions = read_u16(bytes + 4);
        guint records = read_u16(bytes + 6) + read_u16(bytes + 8) + read_u16(bytes + 10);
        gboolean response = (read_u16(bytes + 2) & FLAG_RESPONSE) != 0;
        guint16 type;
        parsed->kind = response ? KIND_RETURN : KIND_CALL;
        if (response)
                parsed->outcome = outcome_dns(read_u16(bytes + 2) & RCODE);
        parsed->keyed = TRUE;
        parsed->key = read_u16(bytes);
        parsed->call = CALL_QUERY;
        parsed->length = n;
        if (questions && !question_skip(&c))
                return !eof && question_is_cut(cursor(bytes + HEADER, n - HEADER)) ? PARSE_MESSAGE
                                                                                   : PARSE_NOT_MINE;
        gsize question_end = (gsize)(c.at - bytes), question = question_end - HEADER;
        if (questions && question_is_netbios(bytes + HEADER, question))
                return PARSE_NOT_MINE;
        while (records > 0 && record_skip(&c, &type))
                records--;
        gboolean more = cursor_left(&c) > 0 &&
                        !(datagram && questions && question_is_of_host(bytes + HEADER, question));
        if ((records > 0 ? eof : more) ||
            (response && questions == 0 && n > HEADER && call != CALL_TRANSFER))
                return PARSE_NOT_MINE;
        if (label && !response) {
                g_string_append(label, "DNS ");
                type_name_append(label, read_u16(bytes + question_end - 4));
        }
        if (questions && read_u16(bytes + question_end - 4) == TYPE_AXFR)
                parsed->call = CALL_TRANSFER;
        if (datagram && questions)
                parsed->topic = question_hash(bytes + HEADER, question);
        return PARSE_MESSAGE;
}

static ParseStatus dns_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                             gboolean eof, GString *label, Parsed *parsed)
{
        (void)state;
        return dns_message_parse(call, bytes, n, eof, TRUE, label, parsed);
}

/* --- over TCP -------------------------------------------------------------- */

typedef struct {
        guint8 transfer; /* a response to a request for a zone goes on */
} DnsState;

/* first: it is the first message of the response. The message was parsed. */
static gboolean transfer_ends(const guint8 *bytes, gsize n, gboolean first)
{
        Cursor c = cursor(bytes + HEADER, n - HEADER);
        guint answers = read_u16(bytes + 6);
        guint16 type = TYPE_SOA;
        if (answers == 0 || (read_u16(bytes + 2) & RCODE))
                return TRUE;
        if (read_u16(bytes + 4) && !question_skip(&c))
                return TRUE;
        for (guint i = 0; i < answers; i++)
                if (!record_skip(&c, &type))
                        return TRUE;
        return type == TYPE_SOA && !(first && answers == 1);
}

static ParseStatus dns_stream_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                                    gboolean eof, GString *label, Parsed *parsed)
{
        DnsState *s = state;
        if (eof)
                return PARSE_NOT_MINE;
        for (gsize at = 0; n - at >= 2;) {
                gsize length = read_u16(bytes + at);
                const guint8 *message = bytes + at + 2;
                if (length < HEADER || (n - at - 2 >= HEADER && !dns_header_is_plausible(message)))
                        return PARSE_NOT_MINE;
                if (n - at - 2 < length)
                        break;
                if (dns_message_parse(call, message, length, TRUE, FALSE, label, parsed) !=
                    PARSE_MESSAGE)
                        return PARSE_NOT_MINE;
                if (s->transfer && parsed->kind != KIND_RETURN)
                        return PARSE_NOT_MINE;
                at += 2 + length;
                parsed->length = at;
                if (call != CALL_TRANSFER || parsed->kind != KIND_RETURN ||
                    transfer_ends(message, length, !s->transfer)) {
                        s->transfer = FALSE;
                        return PARSE_MESSAGE;
                }
                s->transfer = TRUE;
        }
        if (s->transfer)
                parsed->kind = KIND_RETURN;
        return PARSE_MORE;
}

static gsize dns_find_boundary(const guint8 *bytes, gsize n)
{
        for (gsize at = 0; at + 2 < n; at++) {
                Parsed parsed = { 0 };
                gsize length = read_u16(bytes + at);
                if (length <= n - at - 2 &&
                    dns_message_parse(CALL_NONE, bytes + at + 2, length, TRUE, FALSE, NULL,
                                      &parsed) == PARSE_MESSAGE)
                        return at;
        }
        return n;
}

const Protocol protocol_dns = { .name = "dns", .datagrams = TRUE, .parse = dns_parse };

const Protocol protocol_dns_stream = {
        .name = "dns",
        .keyed = TRUE,
        .parse = dns_stream_parse,
        .find_boundary = dns_find_boundary,
};
