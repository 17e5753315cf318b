/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A scene: a capture under test, and what makes its packets. Each test is a conversation, and the
 * lines that it must give.
 */
#pragma once

#include <string.h>

#include "capture/capture.h"
#include "capture/network/link-layer.h"
#include "tests/unit/capture/hex.h"
#include "tests/unit/message-attribute.h"

enum { FIN = 1, SYN = 2, RST = 4, ACK = 16 };
enum { CLIENT, SERVER };

#define MS G_GINT64_CONSTANT(1000000)

/* A capture under test, and one connection from 10.0.0.1:4096 to 10.0.0.2:80. */
typedef struct {
        NodeTable *nodes;
        NodeNames *names;
        Capture *capture;
        const Protocol *ports[65536];
        gint64 time; /* ns */
        guint16 port[2];
        guint32 next[2];
        gsize snapshot;
        guint window;      /* that both sides give */
        gboolean openings; /* lines have syn= and its parts */
        gboolean sizes;    /* and bytes= */
        GString *lines;
} Scene;

/* What the captures of a test look for as identifiers; NULL: nothing. */
static Identifiers *scene_identifiers;

/* And as tags. */
static TagRules *scene_tags;

static inline Scene *scene_new_live(const char *nodes, const char *host, gboolean labels,
                                    gboolean live)
{
        Scene *s = g_new0(Scene, 1);
        CaptureOptions options = { .patience = CAPTURE_PATIENCE,
                                   .disorder = CAPTURE_DISORDER,
                                   .labels = labels ? LABELS_WHOLE : LABELS_NONE,
                                   .identifiers = scene_identifiers,
                                   .tags = scene_tags,
                                   .in_order = live,
                                   .host = host,
                                   .ports = s->ports };
        s->nodes = node_table_new();
        s->names = node_names_new(s->nodes);
        g_assert(node_names_parse(s->names, nodes, strlen(nodes), "test", NULL));
        s->capture = capture_new(&options, s->nodes, s->names);
        s->lines = g_string_new(NULL);
        s->port[CLIENT] = 4096;
        s->port[SERVER] = 80;
        s->next[CLIENT] = 0x100;
        s->next[SERVER] = 0x500;
        s->snapshot = 65536;
        s->window = 65535;
        return s;
}

static inline Scene *scene_new(const char *nodes, const char *host, gboolean labels)
{
        return scene_new_live(nodes, host, labels, FALSE);
}

/* Most tests are not about when a connection was opened. */
static inline void drop_opening(Message *m)
{
        gsize n;
        const char *value = message_attribute(m, "syn", &n); /* its parts follow */
        if (value) {
                m->attrs_length = (guint32)(value - m->attrs - strlen("syn="));
                if (m->attrs_length)
                        m->attrs_length--;
        }
}

/* Nor about sizes. */
static inline void drop_size(Message *m, GString *attrs)
{
        gsize n;
        const char *value = message_attribute(m, "bytes", &n);
        gsize from, end;
        if (!value)
                return;
        from = (gsize)(value - m->attrs) - strlen("bytes=");
        end = from + strlen("bytes=") + n;
        g_string_truncate(attrs, 0);
        g_string_append_len(attrs, m->attrs, (gssize)m->attrs_length);
        g_string_erase(attrs, (gssize)(from ? from - 1 : 0),
                       (gssize)(MIN(end + !from, attrs->len) - (from ? from - 1 : 0)));
        m->attrs = attrs->str;
        m->attrs_length = (guint32)attrs->len;
}

static inline void take_lines(Scene *s)
{
        g_autoptr(GString) attrs = g_string_new(NULL);
        Message m;
        while (capture_next(s->capture, &m)) {
                if (!s->openings)
                        drop_opening(&m);
                if (!s->sizes)
                        drop_size(&m, attrs);
                g_string_append_printf(
                        s->lines, "%" G_GINT64_FORMAT " %s %s>%s %.*s%s%.*s\n", m.time / MS,
                        message_op_name(m.op), node_table_name(s->nodes, m.sender),
                        node_table_name(s->nodes, m.receiver), m.id_length ? (int)m.id_length : 1,
                        m.id_length ? m.id : "-", m.attrs_length ? " " : "", (int)m.attrs_length,
                        m.attrs ? m.attrs : "");
        }
}

static inline void put_u16(GByteArray *out, guint value)
{
        guint8 bytes[2] = { (guint8)(value >> 8), (guint8)value };
        g_byte_array_append(out, bytes, 2);
}

static inline void put_u32(GByteArray *out, guint32 value)
{
        put_u16(out, value >> 16);
        put_u16(out, value & 0xffff);
}

static inline void put_ip(GByteArray *out, guint side, guint8 protocol, gsize payload)
{
        put_u16(out, 0x4500);
        put_u16(out, (guint)(20 + payload));
        put_u32(out, 0);
        put_u16(out, (guint)(64 << 8 | protocol));
        put_u16(out, 0);
        put_u32(out, side == CLIENT ? 0x0a000001 : 0x0a000002);
        put_u32(out, side == CLIENT ? 0x0a000002 : 0x0a000001);
}

static inline void put_packet(Scene *s, GByteArray *bytes)
{
        Packet packet = { .bytes = bytes->data,
                          .captured = MIN(bytes->len, s->snapshot),
                          .length = bytes->len,
                          .link_type = LINK_RAW,
                          .time = s->time };
        capture_add(s->capture, &packet);
        take_lines(s);
        g_byte_array_free(bytes, TRUE);
}

/* A segment at the given sequence number, acknowledging all that was said. */
static inline void segment(Scene *s, guint side, guint8 flags, guint32 seq, const char *text,
                           gsize n)
{
        GByteArray *out = g_byte_array_new();
        put_ip(out, side, 6, 20 + n);
        put_u16(out, s->port[side]);
        put_u16(out, s->port[!side]);
        put_u32(out, seq);
        put_u32(out, flags & ACK ? s->next[!side] : 0);
        put_u16(out, 0x5000 | flags);
        put_u16(out, s->window);
        put_u32(out, 0);
        g_byte_array_append(out, (const guint8 *)text, (guint)n);
        put_packet(s, out);
}

/* Side says text, at time ms. */
static inline void say(Scene *s, guint side, gint64 ms, const char *text)
{
        gsize n = strlen(text);
        s->time = ms * MS;
        segment(s, side, ACK, s->next[side], text, n);
        s->next[side] += (guint32)n;
}

/* The same for bytes as hex.h has them. */
static inline void say_hex(Scene *s, guint side, gint64 ms, const char *hex)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        s->time = ms * MS;
        segment(s, side, ACK, s->next[side], (const char *)bytes->data, bytes->len);
        s->next[side] += bytes->len;
}

/* The same, but nobody captures it. */
static inline void lose(Scene *s, guint side, gsize n)
{
        s->next[side] += (guint32)n;
}

static inline void handshake(Scene *s)
{
        segment(s, CLIENT, SYN, s->next[CLIENT]++, "", 0);
        segment(s, SERVER, SYN | ACK, s->next[SERVER]++, "", 0);
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
}

static inline void hang_up(Scene *s, guint side, gint64 ms)
{
        s->time = ms * MS;
        segment(s, side, FIN | ACK, s->next[side]++, "", 0);
}

static inline void datagram(Scene *s, guint side, gint64 ms, const char *text, gsize n)
{
        GByteArray *out = g_byte_array_new();
        s->time = ms * MS;
        put_ip(out, side, 17, 8 + n);
        put_u16(out, s->port[side]);
        put_u16(out, s->port[!side]);
        put_u16(out, (guint)(8 + n));
        put_u16(out, 0);
        g_byte_array_append(out, (const guint8 *)text, (guint)n);
        put_packet(s, out);
}

/* A segment between any two ends; an end is its last byte of the address, and its port. */
static inline void between(Scene *s, const guint from[2], const guint to[2], guint8 flags,
                           guint32 seq, guint32 ack, guint32 stamp, const char *text)
{
        GByteArray *out = g_byte_array_new();
        put_ip(out, CLIENT, 6, (stamp ? 32 : 20) + strlen(text));
        out->data[15] = (guint8)from[0];
        out->data[19] = (guint8)to[0];
        put_u16(out, from[1]);
        put_u16(out, to[1]);
        put_u32(out, seq);
        put_u32(out, ack);
        put_u16(out, (stamp ? 0x8000 : 0x5000) | flags);
        put_u16(out, 65535);
        put_u32(out, 0);
        if (stamp) {
                put_u32(out, 0x0101080a);
                put_u32(out, stamp);
                put_u32(out, 0);
        }
        g_byte_array_append(out, (const guint8 *)text, (guint)strlen(text));
        s->time += MS / 100;
        put_packet(s, out);
}

static inline void scene_free(Scene *s)
{
        capture_free(s->capture);
        node_names_free(s->names);
        node_table_free(s->nodes);
        g_string_free(s->lines, TRUE);
        g_free(s);
}

static inline void scene_end(Scene *s, const char *expected)
{
        capture_finish(s->capture);
        take_lines(s);
        g_assert_cmpstr(s->lines->str, ==, expected);
        scene_free(s);
}

static inline void check_count(const Scene *s, AccountEntry entry, guint64 expected)
{
        g_assert_cmpuint(capture_account(s->capture)->count[entry], ==, expected);
}

static const char two_nodes[] = "10.0.0.1 a\n10.0.0.2 b\n";

static inline Scene *scene_with_sizes(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->sizes = TRUE;
        handshake(s);
        return s;
}
