/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Packets in, trace lines out. Packets are made here; each test is a
 * conversation and the lines that it must give.
 */
#include <string.h>

#include "base/size-class.h"
#include "capture/capture.h"
#include "capture/network/link-layer.h"
#include "capture/settling.h"
#include "tests/unit/capture/hex.h"

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
        gboolean openings; /* lines have syn= */
        gboolean sizes;    /* and bytes= */
        GString *lines;
} Scene;

static Scene *scene_new_live(const char *nodes, const char *host, gboolean labels, gboolean live)
{
        Scene *s = g_new0(Scene, 1);
        CaptureOptions options = { .patience = CAPTURE_PATIENCE,
                                   .disorder = CAPTURE_DISORDER,
                                   .labels = labels ? LABELS_WHOLE : LABELS_NONE,
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

static Scene *scene_new(const char *nodes, const char *host, gboolean labels)
{
        return scene_new_live(nodes, host, labels, FALSE);
}

/* Most tests are not about when a connection was opened. */
static void drop_opening(Message *m)
{
        gsize n;
        const char *value = message_attribute(m, "syn", &n);
        if (value) {
                g_assert_true(value + n == m->attrs + m->attrs_length);
                m->attrs_length = (guint32)(value - m->attrs - strlen("syn="));
                if (m->attrs_length)
                        m->attrs_length--;
        }
}

/* Nor about sizes. */
static void drop_size(Message *m, GString *attrs)
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

static void take_lines(Scene *s)
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

static void put_u16(GByteArray *out, guint value)
{
        guint8 bytes[2] = { (guint8)(value >> 8), (guint8)value };
        g_byte_array_append(out, bytes, 2);
}

static void put_u32(GByteArray *out, guint32 value)
{
        put_u16(out, value >> 16);
        put_u16(out, value & 0xffff);
}

static void put_ip(GByteArray *out, guint side, guint8 protocol, gsize payload)
{
        put_u16(out, 0x4500);
        put_u16(out, (guint)(20 + payload));
        put_u32(out, 0);
        put_u16(out, (guint)(64 << 8 | protocol));
        put_u16(out, 0);
        put_u32(out, side == CLIENT ? 0x0a000001 : 0x0a000002);
        put_u32(out, side == CLIENT ? 0x0a000002 : 0x0a000001);
}

static void put_packet(Scene *s, GByteArray *bytes)
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
static void segment(Scene *s, guint side, guint8 flags, guint32 seq, const char *text, gsize n)
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
static void say(Scene *s, guint side, gint64 ms, const char *text)
{
        gsize n = strlen(text);
        s->time = ms * MS;
        segment(s, side, ACK, s->next[side], text, n);
        s->next[side] += (guint32)n;
}

/* The same for bytes as hex.h has them. */
static void say_hex(Scene *s, guint side, gint64 ms, const char *hex)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        s->time = ms * MS;
        segment(s, side, ACK, s->next[side], (const char *)bytes->data, bytes->len);
        s->next[side] += bytes->len;
}

/* The same, but nobody captures it. */
static void lose(Scene *s, guint side, gsize n)
{
        s->next[side] += (guint32)n;
}

static void handshake(Scene *s)
{
        segment(s, CLIENT, SYN, s->next[CLIENT]++, "", 0);
        segment(s, SERVER, SYN | ACK, s->next[SERVER]++, "", 0);
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
}

static void hang_up(Scene *s, guint side, gint64 ms)
{
        s->time = ms * MS;
        segment(s, side, FIN | ACK, s->next[side]++, "", 0);
}

static void datagram(Scene *s, guint side, gint64 ms, const char *text, gsize n)
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
static void between(Scene *s, const guint from[2], const guint to[2], guint8 flags, guint32 seq,
                    guint32 ack, guint32 stamp, const char *text)
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

static void scene_free(Scene *s)
{
        capture_free(s->capture);
        node_names_free(s->names);
        node_table_free(s->nodes);
        g_string_free(s->lines, TRUE);
        g_free(s);
}

static void scene_end(Scene *s, const char *expected)
{
        capture_finish(s->capture);
        take_lines(s);
        g_assert_cmpstr(s->lines->str, ==, expected);
        scene_free(s);
}

static void check_count(const Scene *s, AccountEntry entry, guint64 expected)
{
        g_assert_cmpuint(capture_account(s->capture)->count[entry], ==, expected);
}

static const char two_nodes[] = "10.0.0.1 a\n10.0.0.2 b\n";

/* --- HTTP ------------------------------------------------------------------ */

static void test_one_call(void)
{
        Scene *s = scene_new("", NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\nHost: x\r\n");
        say(s, CLIENT, 6, "\r\n");
        say(s, SERVER, 8, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab");
        say(s, SERVER, 10, "cd");
        scene_end(s, "5 CALL_SENT 10.0.0.1>10.0.0.2 1000.101 dur=1000000\n"
                     "10 RET_SENT 10.0.0.2>10.0.0.1 1000.101 dur=2000000\n");
}

/* --- HTTP ------------------------------------------------------------------ */

static void test_keep_alive_and_labels(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say(s, CLIENT, 5, "GET /a?b=c HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 304 n\r\n\r\n");
        say(s, CLIENT, 7, "HEAD /b/17 HTTP/1.1\r\n\r\n");
        say(s, SERVER, 8, "HTTP/1.1 200 n\r\nContent-Length: 1000\r\n\r\n");
        say(s, CLIENT, 9, "GET /c HTTP/1.1\r\n\r\n");
        say(s, SERVER, 10, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101 label=GET%20/a\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "7 CALL_SENT a>b 1000.118 label=HEAD%20/b/{id}\n"
                     "8 RET_SENT b>a 1000.118\n"
                     "9 CALL_SENT a>b 1000.12f label=GET%20/c\n"
                     "10 RET_SENT b>a 1000.12f\n");
}

/* A connection that is not HTTP, beside one that is. */
static void test_no_label_of_others(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        s->port[CLIENT] = 4097;
        handshake(s);
        say(s, CLIENT, 5, "\1ask");
        say(s, SERVER, 6, "\1answer");
        s->port[CLIENT] = 4096;
        s->next[CLIENT] = 0x101;
        s->next[SERVER] = 0x501;
        say(s, CLIENT, 7, "GET /a HTTP/1.1\r\n\r\n");
        s->port[CLIENT] = 4097;
        s->next[CLIENT] = 0x106;
        s->next[SERVER] = 0x509;
        say(s, CLIENT, 8, "\1ask");
        say(s, SERVER, 9, "\1answer");
        scene_end(s, "5 CALL_SENT a>b 1001.102\n"
                     "6 RET_SENT b>a 1001.102\n"
                     "7 CALL_SENT a>b 1000.101 label=GET%20/a\n"
                     "8 CALL_SENT a>b 1001.106\n"
                     "9 RET_SENT b>a 1001.106\n");
}

static void test_pipelined(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nx");
        say(s, CLIENT, 6, "yGET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 8, "HTTP/1.1 204 n\r\n\r\nHTTP/1.1 200 n\r\nContent-Length: 1\r\n\r\n");
        say(s, SERVER, 9, "zHTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "5 CALL_SENT a>b 1000.113 dur=1000000\n"
                     "6 CALL_SENT a>b 1000.13b\n"
                     "8 RET_SENT b>a 1000.101\n"
                     "9 RET_SENT b>a 1000.113 dur=1000000\n"
                     "9 RET_SENT b>a 1000.13b\n");
}

static void test_interim(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 100 Continue\r\n\r\n");
        say(s, CLIENT, 7, "abc");
        say(s, SERVER, 8, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
        check_count(s, ACCOUNT_INTERIM, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.101 dur=2000000\n"
                     "8 RET_SENT b>a 1000.101\n");
}

static void test_until_close(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.0\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.0 200 OK\r\n\r\nsome");
        say(s, SERVER, 8, "thing");
        hang_up(s, SERVER, 9);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "8 RET_SENT b>a 1000.101 dur=2000000\n");
}

static void test_upgrade(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET /chat HTTP/1.1\r\nUpgrade: x\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n\1\2");
        say(s, CLIENT, 7, "\3\4");
        say(s, SERVER, 8, "\5");
        say(s, CLIENT, 9, "\6");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "6 MSG_SENT b>a 50.527\n"
                     "7 CALL_SENT a>b 1000.123\n"
                     "8 RET_SENT b>a 1000.123\n"
                     "9 CALL_SENT a>b 1000.125\n");
}

static void test_aborted(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nab");
        s->time = 7 * MS;
        segment(s, CLIENT, RST, s->next[CLIENT], "", 0);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 RET_SENT b>a 1000.101 dur=1000000\n");
}

/* --- HTTP/2 ---------------------------------------------------------------- */

#define PREFACE  "'PRI * HTTP/2.0' 0d0a0d0a 'SM' 0d0a0d0a 000000 04 00 00000000 "
#define SETTINGS "000006 04 00 00000000 0003 00000064 "

static void test_streams(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, SERVER, 4, SETTINGS);
        say_hex(s, CLIENT, 5, PREFACE "000001 01 05 00000001 82 000001 01 04 00000003 83");
        say_hex(s, SERVER, 6, "000001 01 04 00000003 88 000004 00 00 00000003 'ab'");
        say_hex(s, SERVER, 7, "'cd' 000005 01 04 00000001 48 03 '103'");
        say_hex(s, CLIENT, 8, "000001 01 05 00000005 82");
        say_hex(s, SERVER, 9, "000001 01 05 00000005 88 000001 01 04 00000001 88");
        say_hex(s, CLIENT, 10, "000001 00 01 00000003 'x'");
        say_hex(s, SERVER, 11, "000001 00 01 00000001 'y' 000001 01 05 00000003 be");
        check_count(s, ACCOUNT_INTERIM, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.1\n"
                     "5 CALL_SENT a>b 1000.3 dur=5000000\n"
                     "8 CALL_SENT a>b 1000.5\n"
                     "9 RET_SENT b>a 1000.5\n"
                     "11 RET_SENT b>a 1000.1 dur=2000000\n"
                     "11 RET_SENT b>a 1000.3 dur=5000000\n");
}

/* Names from header blocks, in frames of every form; the table that they build. */
static void test_stream_labels(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE "00000a 01 05 00000001 82 86 44 06 '/a?b=c'");
        say_hex(s, SERVER, 6, "000001 01 05 00000001 88");
        /* with padding and priority */
        say_hex(s, CLIENT, 7, "000014 01 2d 00000003 02 00000000 10 82 86 44 08 '/a/17/bc' 0000");
        say_hex(s, SERVER, 8, "000001 01 05 00000003 88");
        /* gRPC, over three frames and two segments */
        say_hex(s, CLIENT, 9, "000004 01 00 00000005 83 86 44 0e 000018 09");
        say_hex(s, CLIENT, 10,
                "00 00000005 '/shop.Cart/Add' 5f 16 'applicat' 00000e 09 04 00000005"
                "'ion/grpc+proto' 000001 00 01 00000005 'x'");
        say_hex(s, SERVER, 11, "000001 01 05 00000005 88");
        /* the oldest but one of the table */
        say_hex(s, CLIENT, 12, "000003 01 05 00000007 82 86 c0");
        say_hex(s, SERVER, 13, "000001 01 05 00000007 88");
        /* a hole may have changed it */
        lose(s, CLIENT, 20);
        say_hex(s, CLIENT, 14, "000003 01 05 00000009 82 86 c0");
        say_hex(s, SERVER, 15, "000001 01 05 00000009 88");
        scene_end(s, "5 CALL_SENT a>b 1000.1 label=GET%20/a\n"
                     "6 RET_SENT b>a 1000.1\n"
                     "7 CALL_SENT a>b 1000.3 label=GET%20/a/{id}/bc\n"
                     "8 RET_SENT b>a 1000.3\n"
                     "9 CALL_SENT a>b 1000.5 dur=1000000 label=shop.Cart/Add\n"
                     "11 RET_SENT b>a 1000.5\n"
                     "12 CALL_SENT a>b 1000.7 label=GET%20/a/{id}/bc\n"
                     "13 RET_SENT b>a 1000.7\n"
                     "14 CALL_SENT a>b 1000.9\n"
                     "15 RET_SENT b>a 1000.9\n");
}

/* No label where the table cannot be known, nor after a block that is broken. */
static void test_streams_without_labels(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        say_hex(s, CLIENT, 5, "000003 01 05 00000001 82 86 84");
        say_hex(s, SERVER, 6, "000001 01 05 00000001 88");
        s->port[CLIENT] = 4097;
        handshake(s);
        say_hex(s, CLIENT, 7, PREFACE "000003 01 05 00000002 82 86 84 000000 00 01 00000007");
        say_hex(s, CLIENT, 7, "000003 01 05 00000001 82 86 84");
        say_hex(s, SERVER, 8, "000001 01 05 00000001 88");
        say_hex(s, CLIENT, 9, "000003 01 05 00000003 82 86 fe");
        say_hex(s, SERVER, 10, "000001 01 05 00000003 88");
        say_hex(s, CLIENT, 11, "000003 01 05 00000005 82 86 84");
        say_hex(s, SERVER, 12, "000001 01 05 00000005 88");
        scene_end(s, "5 CALL_SENT a>b 1000.1\n"
                     "6 RET_SENT b>a 1000.1\n"
                     "7 MSG_SENT a>b 1001.2\n"
                     "7 CALL_SENT a>b 1001.1 label=GET%20/\n"
                     "8 RET_SENT b>a 1001.1\n"
                     "9 CALL_SENT a>b 1001.3\n"
                     "10 RET_SENT b>a 1001.3\n"
                     "11 CALL_SENT a>b 1001.5\n"
                     "12 RET_SENT b>a 1001.5\n");
}

/* The server answers before it has all of the call; either gives up. */
static void test_streams_cut_short(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5,
                PREFACE "000001 01 04 00000001 83 000001 01 05 00000003 82"
                        "000001 01 05 00000005 82 000001 01 05 00000007 82");
        say_hex(s, SERVER, 6,
                SETTINGS "000001 01 05 00000001 88 000004 03 00 00000001 00000000"
                         "000001 01 04 00000003 88 000004 03 00 00000007 00000002");
        say_hex(s, CLIENT, 7, "000001 00 01 00000001 'x' 000004 03 00 00000003 00000008");
        say_hex(s, CLIENT, 8, "000004 03 00 00000005 00000008");
        check_count(s, ACCOUNT_UNANSWERED, 1);
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 0);
        scene_end(s, "5 CALL_SENT a>b 1000.3\n"
                     "5 CALL_SENT a>b 1000.5\n"
                     "5 CALL_SENT a>b 1000.7\n"
                     "5 CALL_SENT a>b 1000.1\n"
                     "6 RET_SENT b>a 1000.1\n"
                     "6 RET_SENT b>a 1000.7\n"
                     "7 RET_SENT b>a 1000.3 dur=1000000\n");
}

static void test_streams_begun_before(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say_hex(s, SERVER, 4, "'the rest of a frame'");
        say_hex(s, CLIENT, 5, "000001 01 05 00000009 82");
        say_hex(s, SERVER, 6, "000001 01 05 00000007 88 000001 01 05 00000009 88");
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.9\n"
                     "6 RET_SENT b>a 1000.9\n");
}

static void test_streams_over_hole(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE "000001 01 05 00000001 82 000001 01 05 00000003 82");
        say_hex(s, SERVER, 6, SETTINGS "000001 01 04 00000001 88 000001 01 04 00000003 88");
        lose(s, SERVER, 40);
        say_hex(s, SERVER, 8, "'ab' 000004 08 00 00000000 00000001 000001 01 05 00000003 88");
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        s->time = 100 * MS;
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        say_hex(s, CLIENT, 105, "000001 01 05 00000005 82");
        say_hex(s, SERVER, 106, "000001 01 05 00000005 88");
        hang_up(s, SERVER, 107);
        capture_finish(s->capture);
        check_count(s, ACCOUNT_HOLES, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.1\n"
                     "5 CALL_SENT a>b 1000.3\n"
                     "8 RET_SENT b>a 1000.3 dur=2000000\n"
                     "105 CALL_SENT a>b 1000.5\n"
                     "106 RET_SENT b>a 1000.5\n"
                     "107 RET_SENT b>a 1000.1 dur=101000000\n");
}

/* The request was made in HTTP/1.1, and is answered in HTTP/2. */
static void test_upgrade_to_http2(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\nUpgrade: h2c\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n");
        say_hex(s, SERVER, 7, SETTINGS "000001 01 04 00000001 88");
        say_hex(s, CLIENT, 8, PREFACE "000001 01 05 00000003 82");
        say_hex(s, SERVER, 9, "000001 01 05 00000003 88 000001 00 01 00000001 'x'");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "8 CALL_SENT a>b 1000.3\n"
                     "9 RET_SENT b>a 1000.3\n"
                     "9 RET_SENT b>a 1000.101\n");
}

/* More calls than are held at a time: the oldest is forgotten. */
static void test_too_many_streams(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE);
        for (guint i = 0; i < 16385; i++) {
                g_autofree char *frame = g_strdup_printf("000001 01 05 %08x 82", 2 * i + 1);
                say_hex(s, CLIENT, 5, frame);
        }
        check_count(s, ACCOUNT_UNANSWERED, 1);
        say_hex(s, SERVER, 6, SETTINGS "000001 01 05 00000001 88 000001 01 05 00000003 88");
        check_count(s, ACCOUNT_RETURNS, 1);
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        capture_finish(s->capture);
        check_count(s, ACCOUNT_CALLS, 16385);
        scene_free(s);
}

/* A call that streams for longer than the patience is written with what there is. */
static void test_stream_settled(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE "000001 01 04 00000001 83");
        say_hex(s, CLIENT, 2005, "000001 00 00 00000001 'a'");
        say_hex(s, CLIENT, 12005, "000008 06 00 00000000 0000000000000000");
        say_hex(s, CLIENT, 20005, "000001 00 00 00000001 'b'");
        say_hex(s, SERVER, 20006, SETTINGS "000001 01 05 00000001 88");
        scene_end(s, "5 CALL_SENT a>b 1000.1 dur=2000000000\n"
                     "20005 MSG_SENT a>b 1000.147\n"
                     "20006 RET_SENT b>a 1000.1\n");
}

/* A return that goes on for longer than that: its frames are messages; not those of one that ends.
 */
static void test_stream_endless(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE "000001 01 05 00000001 83 000001 01 05 00000003 83");
        say_hex(s, SERVER, 6, SETTINGS "000001 01 04 00000001 88 000001 01 04 00000003 88");
        say_hex(s, SERVER, 7, "000001 00 00 00000001 'a' 000001 00 00 00000003 'a'");
        say_hex(s, SERVER, 5000, "000001 00 00 00000001 'b' 000001 00 01 00000003 'b'");
        say_hex(s, SERVER, 10000, "000002 00 00 00000001 'b'");
        say_hex(s, SERVER, 11000, "'b'");
        say_hex(s, SERVER, 20000, "000001 00 00 00000001 'c'");
        say_hex(s, SERVER, 21000, "000001 01 05 00000001 88");
        scene_end(s, "5 CALL_SENT a>b 1000.1\n"
                     "5 CALL_SENT a>b 1000.3\n"
                     "7 MSG_SENT b>a 50.524\n"
                     "5000 RET_SENT b>a 1000.3 dur=4994000000\n"
                     "5000 MSG_SENT b>a 50.538\n"
                     "10000 MSG_SENT b>a 50.54c dur=1000000000\n"
                     "20000 MSG_SENT b>a 50.557\n"
                     "21000 RET_SENT b>a 1000.1 dur=20994000000\n");
        s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE "000001 01 05 00000001 83");
        say_hex(s, SERVER, 6, SETTINGS "000001 01 04 00000001 88 000001 00 00 00000001 'a'");
        scene_end(s, "5 CALL_SENT a>b 1000.1\n"
                     "6 MSG_SENT b>a 50.51a\n");
}

/* --- TLS ------------------------------------------------------------------- */

#define CLIENT_HELLO    "16 0301 0008 01000004 0303 0000 "
#define SERVER_HELLO    "16 0303 0008 02000004 0303 0000 "
#define APPLICATION     "17 0303 0012 000000000000000000000000000000000000 "
#define ENCRYPTED_ALERT "17 0303 0013 00000000000000000000000000000000000000 "
#define FINISHED                                                                                   \
        "17 0303 0035 0000000000000000000000000000000000000000000000000000000000000000000000"      \
        "000000000000000000000000000000000000 "

static void test_tls(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 1, CLIENT_HELLO);
        say_hex(s, SERVER, 2, SERVER_HELLO APPLICATION APPLICATION);
        say_hex(s, CLIENT, 3, FINISHED);
        say_hex(s, SERVER, 4, APPLICATION); /* a session ticket */
        say_hex(s, CLIENT, 5, APPLICATION);
        say_hex(s, CLIENT, 6, APPLICATION);
        say_hex(s, SERVER, 7, APPLICATION "17 0303 0012 00");
        say_hex(s, SERVER, 8, "0000000000000000000000000000000000");
        say_hex(s, CLIENT, 9, APPLICATION);
        say_hex(s, SERVER, 10, APPLICATION);
        say_hex(s, SERVER, 11, ENCRYPTED_ALERT);
        say_hex(s, CLIENT, 12, ENCRYPTED_ALERT);
        scene_end(s, "5 CALL_SENT a>b 1000.148 dur=1000000\n"
                     "8 RET_SENT b>a 1000.148 dur=1000000\n"
                     "9 CALL_SENT a>b 1000.176\n"
                     "10 RET_SENT b>a 1000.176\n");
}

/* A hole in a run does not end it. */
static void test_tls_hole(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, APPLICATION);
        say_hex(s, SERVER, 6, APPLICATION);
        lose(s, SERVER, 100);
        say_hex(s, SERVER, 8, "'rest'" APPLICATION);
        s->time = 100 * MS;
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        say_hex(s, CLIENT, 105, APPLICATION);
        say_hex(s, SERVER, 106, APPLICATION);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "8 RET_SENT b>a 1000.101 dur=2000000\n"
                     "105 CALL_SENT a>b 1000.118\n"
                     "106 RET_SENT b>a 1000.118\n");
}

/* --- sizes ----------------------------------------------------------------- */

static Scene *scene_with_sizes(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->sizes = TRUE;
        handshake(s);
        return s;
}

static void test_size_classes(void)
{
        static const guint64 some[][2] = { { 0, 0 },     { 7, 7 },     { 8, 8 },      { 9, 10 },
                                           { 11, 12 },   { 15, 16 },   { 17, 16 },    { 100, 96 },
                                           { 119, 112 }, { 120, 128 }, { 1460, 1536 } };
        guint last = 0;
        for (guint i = 0; i < G_N_ELEMENTS(some); i++)
                g_assert_cmpuint(size_round(some[i][0]), ==, some[i][1]);
        for (guint64 n = 0; n < 100000; n++) {
                guint64 round = size_round(n);
                g_assert_cmpuint(size_round(round), ==, round);
                g_assert_cmpuint(MAX(n, round) - MIN(n, round), <=, n / 8);
                g_assert_cmpuint(size_class(n), ==, size_class(round));
                g_assert_true(size_class(n) == last || size_class(n) == last + 1);
                last = size_class(n);
        }
        g_assert_cmpuint(size_class(G_MAXUINT64), <, 256);
}

/* A message has the bytes of all its segments; and those that follow in the same one are the
 * next one's. */
static void test_size_of_calls(void)
{
        Scene *s = scene_with_sizes();
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\nHost: x\r\n"); /* 25 */
        say(s, CLIENT, 6, "\r\n");
        say(s, SERVER, 8, "HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\nab"); /* 41 */
        say(s, SERVER, 10, "0123456789012345678901234567890123456789012345678901234567");
        say(s, CLIENT, 11, "GET /1 HTTP/1.1\r\n\r\nGET /a/long/one HTTP/1.1\r\n\r\n");
        say(s, SERVER, 12,
            "HTTP/1.1 204 No\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
        scene_end(s, "5 CALL_SENT a>b 1000.101 dur=1000000 bytes=28\n"
                     "10 RET_SENT b>a 1000.101 dur=2000000 bytes=96\n"
                     "11 CALL_SENT a>b 1000.11c bytes=20\n"
                     "11 CALL_SENT a>b 1000.12f bytes=28\n"
                     "12 RET_SENT b>a 1000.11c bytes=20\n"
                     "12 RET_SENT b>a 1000.12f bytes=40\n");
}

/* Runs, of which some bytes were captured by nobody, and records of TLS without their headers. */
static void test_size_of_runs(void)
{
        Scene *s = scene_with_sizes();
        say(s, CLIENT, 5, "0123456789");
        say(s, CLIENT, 6, "0123456789");
        say(s, SERVER, 7, "x");
        say(s, CLIENT, 8, "0123456789");
        lose(s, CLIENT, 10);
        say(s, CLIENT, 9, "0123456789012345678901234567890123456789");
        say(s, SERVER, 10, "xyz");
        scene_end(s, "5 CALL_SENT a>b 1000.101 dur=1000000 bytes=20\n"
                     "7 RET_SENT b>a 1000.101 bytes=1\n"
                     "8 CALL_SENT a>b 1000.115 dur=1000000 bytes=64\n"
                     "10 RET_SENT b>a 1000.115 bytes=3\n");
}

static void test_size_of_records(void)
{
        Scene *s = scene_with_sizes();
        say_hex(s, CLIENT, 1, CLIENT_HELLO);
        say_hex(s, SERVER, 2, SERVER_HELLO APPLICATION APPLICATION);
        say_hex(s, CLIENT, 3, FINISHED);
        say_hex(s, CLIENT, 5, APPLICATION);
        say_hex(s, CLIENT, 6, APPLICATION);
        say_hex(s, SERVER, 7, "17 0303 0012 00");
        say_hex(s, SERVER, 8, "0000000000000000000000000000000000");
        scene_end(s, "5 CALL_SENT a>b 1000.148 dur=1000000 bytes=40\n"
                     "8 RET_SENT b>a 1000.148 dur=1000000 bytes=20\n");
}

static void test_size_of_streams(void)
{
        Scene *s = scene_with_sizes();
        say_hex(s, CLIENT, 5,
                PREFACE "000001 01 04 00000001 82 000014 00 01 00000001"
                        "'01234567890123456789'");
        say_hex(s, SERVER, 6, SETTINGS "000001 01 04 00000001 88");
        say_hex(s, SERVER, 7, "000004 00 00 00000001 'abcd' 000002 00 01 00000001 'ef'");
        scene_end(s, "5 CALL_SENT a>b 1000.1 bytes=40\n"
                     "7 RET_SENT b>a 1000.1 dur=1000000 bytes=32\n");
}

/* --- other ----------------------------------------------------------------- */

/* Each run might be the beginning of a record; none is. */
static void test_never_decided(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        for (gint64 ms = 5; ms < 8; ms += 2) {
                say_hex(s, CLIENT, ms, "17");
                say_hex(s, SERVER, ms + 1, "17");
        }
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "7 CALL_SENT a>b 1000.102\n"
                     "8 RET_SENT b>a 1000.102\n");
}

/* --- RPC ------------------------------------------------------------------- */

#define RPC_CALL  "00000000 00000002 000186a3 00000003 00000001 00000000 00000000 00000000 00000000 "
#define RPC_REPLY "00000001 00000000 00000000 00000000 00000000 "

static void test_rpc(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say_hex(s, CLIENT, 5, "80000028 00000007" RPC_CALL "80000028 00000008" RPC_CALL);
        say_hex(s, CLIENT, 6, "80000028 00000007" RPC_CALL);
        say_hex(s, SERVER, 7, "80000018 00000008" RPC_REPLY "80000028 00000007" RPC_CALL);
        say_hex(s, CLIENT, 8, "80000018 00000007" RPC_REPLY);
        say_hex(s, SERVER, 9, "80000018 00000007" RPC_REPLY);
        check_count(s, ACCOUNT_REPEATED_CALLS, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.7 label=RPC%20100003.3.1\n"
                     "5 CALL_SENT a>b 1000.8 label=RPC%20100003.3.1\n"
                     "7 RET_SENT b>a 1000.8\n"
                     "7 CALL_SENT b>a 50.7 label=RPC%20100003.3.1\n"
                     "8 RET_SENT a>b 50.7\n"
                     "9 RET_SENT b>a 1000.7\n");
}

static void test_rpc_datagrams(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        g_autoptr(GByteArray) call = hex_bytes("0000abcd" RPC_CALL);
        g_autoptr(GByteArray) reply = hex_bytes("0000abcd" RPC_REPLY);
        datagram(s, CLIENT, 1, (const char *)call->data, call->len);
        datagram(s, CLIENT, 2, (const char *)call->data, call->len);
        datagram(s, SERVER, 3, (const char *)reply->data, reply->len);
        check_count(s, ACCOUNT_REPEATED_CALLS, 1);
        scene_end(s, "1 CALL_SENT a>b 1000.abcd\n"
                     "3 RET_SENT b>a 1000.abcd\n");
}

/* --- Redis ----------------------------------------------------------------- */

#define REDIS_GET  "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"
#define REDIS_PUSH "*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$2\r\nhi\r\n"

static void test_redis(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say(s, CLIENT, 5, REDIS_GET REDIS_GET "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nx\r\n");
        say(s, SERVER, 6, "$2\r\nab\r\n$-1");
        say(s, SERVER, 7, "\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n" REDIS_PUSH);
        say(s, SERVER, 8, REDIS_PUSH);
        say(s, CLIENT, 9, "*1\r\n$4\r\nPING\r\n");
        say(s, SERVER, 10, REDIS_PUSH "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101 label=GET\n"
                     "5 CALL_SENT a>b 1000.115 label=GET\n"
                     "5 CALL_SENT a>b 1000.129 label=SUBSCRIBE\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "7 RET_SENT b>a 1000.115 dur=1000000\n"
                     "7 RET_SENT b>a 1000.129\n"
                     "7 MSG_SENT b>a 50.52c\n"
                     "8 MSG_SENT b>a 50.54c\n"
                     "9 CALL_SENT a>b 1000.143 label=PING\n"
                     "10 MSG_SENT b>a 50.56c\n"
                     "10 RET_SENT b>a 1000.143\n");
}

/* What a worker takes from a list is a message of its own, linked to what was put in: by another,
 * where the worker does not wait for it. */
static void test_redis_lists(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say(s, CLIENT, 5, "*4\r\n$5\r\nRPUSH\r\n$1\r\nq\r\n$2\r\nj1\r\n$2\r\nj2\r\n");
        say(s, SERVER, 6, ":2\r\n");
        say(s, CLIENT, 7, "*3\r\n$5\r\nBLPOP\r\n$1\r\nq\r\n$1\r\n0\r\n");
        say(s, SERVER, 8, "*2\r\n$1\r\nq\r\n$2\r\nj2");
        say(s, SERVER, 9, "\r\n");
        say(s, CLIENT, 10, "*2\r\n$4\r\nLPOP\r\n$1\r\nq\r\n");
        say(s, SERVER, 11, "$2\r\nj1\r\n"); /* its own */
        say(s, CLIENT, 12, "*3\r\n$5\r\nBLPOP\r\n$1\r\nq\r\n$1\r\n0\r\n");
        say(s, SERVER, 13, "*2\r\n$1\r\nq\r\n$2\r\nj3\r\n"); /* put in by nobody that was seen */
        scene_end(s, "5 CALL_SENT a>b 1000.100 link=1000.100\n"
                     "6 RET_SENT b>a 1000.100\n"
                     "7 CALL_SENT a>b 1000.126 fetch=wait\n"
                     "9 MSG_SENT b>a 1000.126 link=1000.100\n"
                     "9 RET_SENT b>a 1000.126 dur=1000000\n"
                     "10 CALL_SENT a>b 1000.143 fetch=now\n"
                     "11 RET_SENT b>a 1000.143\n"
                     "12 CALL_SENT a>b 1000.158 fetch=wait\n"
                     "13 MSG_SENT b>a 1000.158 link=1000.158\n"
                     "13 RET_SENT b>a 1000.158\n");
}

/* An array of strings, up to NULL. */
G_GNUC_NULL_TERMINATED static void say_words(Scene *s, guint side, gint64 ms, const char *word, ...)
{
        g_autoptr(GString) words = g_string_new(NULL), said = g_string_new(NULL);
        guint n = 0;
        va_list list;
        va_start(list, word);
        for (; word; word = va_arg(list, const char *), n++)
                g_string_append_printf(words, "$%zu\r\n%s\r\n", strlen(word), word);
        va_end(list);
        g_string_printf(said, "*%u\r\n%s", n, words->str);
        say(s, side, ms, said->str);
}

/* A job with a tag returns when the worker takes the tag off; what only names the tag is marked,
 * and so is what takes it off. A tag is settled once, and by who has taken it. */
static void test_redis_settles(void)
{
        static const char job[] = "{\"headers\":{\"task\":\"shop.pay\"},"
                                  "\"properties\":{\"delivery_tag\":\"t1\"}}";
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        say_words(s, CLIENT, 5, "BRPOP", "q", "0", NULL);
        say_words(s, SERVER, 6, "q", job, NULL);
        say_words(s, CLIENT, 7, "HSET", "unacked", "t1", job, NULL);
        say(s, SERVER, 8, ":1\r\n");
        say_words(s, CLIENT, 9, "HDEL", "unacked", "t2", NULL);
        say(s, SERVER, 10, ":0\r\n");
        say_words(s, CLIENT, 11, "HDEL", "unacked", "t1", NULL);
        say(s, SERVER, 12, ":1\r\n");
        say_words(s, CLIENT, 13, "HDEL", "unacked", "t1", NULL);
        say(s, SERVER, 14, ":0\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.100 label=BRPOP fetch=wait\n"
                     "6 CALL_SENT b>a 1000.100 label=deliver%20shop.pay link=1000.100\n"
                     "6 RET_SENT b>a 1000.100\n"
                     "7 CALL_SENT a>b 1000.11d label=HSET fetch=settle\n"
                     "8 RET_SENT b>a 1000.11d\n"
                     "9 CALL_SENT a>b 1000.189 label=HDEL\n"
                     "10 RET_SENT b>a 1000.189\n"
                     "11 RET_SENT a>b 1000.100\n"
                     "11 CALL_SENT a>b 1000.1ac label=HDEL fetch=settle\n"
                     "12 RET_SENT b>a 1000.1ac\n"
                     "13 CALL_SENT a>b 1000.1cf label=HDEL\n"
                     "14 RET_SENT b>a 1000.1cf\n");
}

/* Of a stream a group's readers settle entries by their ids, several at a time, and others none. */
static void test_redis_groups(void)
{
        static const char entries[] = "*1\r\n*2\r\n$1\r\ns\r\n*2\r\n"
                                      "*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\nk\r\n$1\r\nv\r\n"
                                      "*2\r\n$3\r\n1-2\r\n*2\r\n$1\r\nk\r\n$1\r\nw\r\n";
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say_words(s, CLIENT, 5, "XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">", NULL);
        say(s, SERVER, 6, entries);
        say_words(s, CLIENT, 7, "XACK", "s", "g", "1-1", "1-2", "1-3", NULL);
        say(s, SERVER, 8, ":2\r\n");
        say_words(s, CLIENT, 9, "XACK", "t", "g", "1-1", NULL);
        say(s, SERVER, 10, ":0\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.100 fetch=wait\n"
                     "6 CALL_SENT b>a 1000.100 link=1000.100\n"
                     "6 CALL_SENT b>a 1000.101 link=1000.101\n"
                     "6 RET_SENT b>a 1000.100\n"
                     "7 RET_SENT a>b 1000.100\n"
                     "7 RET_SENT a>b 1000.101\n"
                     "7 CALL_SENT a>b 1000.149 fetch=settle\n"
                     "8 RET_SENT b>a 1000.149\n"
                     "9 CALL_SENT a>b 1000.180\n"
                     "10 RET_SENT b>a 1000.180\n");
}

/* After 1,024 of which none was settled what is taken is one-way. */
static void test_redis_unsettled(void)
{
        Settling *s = settling_new();
        Link link;
        for (guint i = 0; i < 1024; i++)
                g_assert_true(settling_take(s, 1, 2, 100 + i, 7, i));
        g_assert_false(settling_take(s, 1, 2, 99, 7, 1024));
        g_assert_true(settling_take(s, 1, 3, 99, 7, 1025)); /* another consumer */
        g_assert_false(settling_has(s, 1, 2, 99));
        g_assert_false(settling_settle(s, 1, 2, 99).some);
        link = settling_settle(s, 1, 2, 100);
        g_assert_true(link.some && link.number == 0 && link.port == 7);
        g_assert_false(settling_has(s, 1, 2, 100));
        g_assert_true(settling_take(s, 1, 2, 99, 7, 1026));
        settling_free(s);
}

/* A reply that names a command does not make a client of the server. */
static void test_redis_mid_stream(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say(s, SERVER, 4, "*2\r\n$4\r\ntype\r\n$1\r\nx\r\n");
        say(s, CLIENT, 5, REDIS_GET);
        say(s, SERVER, 6, "*1\r\n$3\r\nGET\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.100\n"
                     "6 RET_SENT b>a 1000.100\n");
}

/* --- PostgreSQL ------------------------------------------------------------ */

/* A login is no call, and its answer no return; nor is an error that ends it. */
static void test_login(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, "00000013 00030000 'user' 00 'shop' 0000");
        say_hex(s, SERVER, 6, "'R' 00000008 00000003");
        say_hex(s, CLIENT, 7, "'p' 00000006 'x' 00");
        say_hex(s, SERVER, 8, "'R' 00000008 00000000 'Z' 00000005 'I'");
        say_hex(s, CLIENT, 9, "'Q' 0000000d 'SELECT 1' 00");
        say_hex(s, SERVER, 10, "'C' 0000000d 'SELECT 1' 00 'Z' 00000005 'I'");
        say_hex(s, CLIENT, 11, "'X' 00000004");
        check_count(s, ACCOUNT_SESSION, 3);
        s->port[CLIENT] = 4097;
        handshake(s);
        say_hex(s, CLIENT, 12, "00000013 00030000 'user' 00 'shop' 0000");
        say_hex(s, SERVER, 13, "'E' 0000000b 'SFATAL' 00");
        hang_up(s, SERVER, 14);
        check_count(s, ACCOUNT_SESSION, 5);
        scene_end(s, "9 CALL_SENT a>b 1000.11b\n"
                     "10 RET_SENT b>a 1000.11b\n");
}

/* --- LDAP ------------------------------------------------------------------ */

#define LDAP_SEARCH(id)                                                                            \
        "30 20 02 01 " id " 63 1b 04 04 'dc=t' 0a 01 02 0a 01 00 02 01 00 02 01 00 01 01 00"       \
        " 87 02 'cn' 30 00 "
#define LDAP_ENTRY(id)      "30 0f 02 01 " id " 64 0a 04 06 'cn=a,b' 30 00 "
#define LDAP_RESULT(id, op) "30 0c 02 01 " id " " op " 07 0a 01 00 04 00 04 00 "
#define LDAP_START_TLS(id)  "30 1d 02 01 " id " 77 18 80 16 '1.3.6.1.4.1.1466.20037' "

/* Searches whose entries come in between each other, one of which is abandoned. */
static void test_ldap(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say_hex(s, CLIENT, 5, "30 0c 02 01 01 60 07 02 01 03 04 00 80 00");
        say_hex(s, SERVER, 6, LDAP_RESULT("01", "61"));
        say_hex(s, CLIENT, 7, LDAP_SEARCH("02") LDAP_SEARCH("03"));
        say_hex(s, CLIENT, 8, LDAP_SEARCH("04"));
        say_hex(s, CLIENT, 9, "30 09 02 01 05 4a 04 'cn=a'");
        say_hex(s, SERVER, 10, LDAP_ENTRY("03") LDAP_ENTRY("02"));
        say_hex(s, SERVER, 11, LDAP_RESULT("03", "65"));
        say_hex(s, CLIENT, 12, "30 06 02 01 06 50 01 04");
        say_hex(s, SERVER, 13, LDAP_ENTRY("02") LDAP_RESULT("05", "6b"));
        say_hex(s, SERVER, 14, LDAP_RESULT("02", "65"));
        say_hex(s, CLIENT, 15, "30 05 02 01 07 42 00");
        capture_finish(s->capture);
        check_count(s, ACCOUNT_SESSION, 3);
        check_count(s, ACCOUNT_UNANSWERED, 1);
        scene_end(s, "7 CALL_SENT a>b 1000.2 label=search\n"
                     "7 CALL_SENT a>b 1000.3 label=search\n"
                     "8 CALL_SENT a>b 1000.4 label=search\n"
                     "9 CALL_SENT a>b 1000.5 label=delete\n"
                     "11 RET_SENT b>a 1000.3 dur=1000000\n"
                     "13 RET_SENT b>a 1000.5\n"
                     "14 RET_SENT b>a 1000.2 dur=4000000\n");
}

/* Refused at first; then it is encrypted. */
static void test_ldap_tls(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, LDAP_START_TLS("01"));
        say_hex(s, SERVER, 6, "30 0c 02 01 01 78 07 0a 01 34 04 00 04 00");
        say_hex(s, CLIENT, 7, LDAP_SEARCH("02"));
        say_hex(s, SERVER, 8, LDAP_RESULT("02", "65"));
        say_hex(s, CLIENT, 9, LDAP_START_TLS("03"));
        say_hex(s, SERVER, 10, LDAP_RESULT("03", "78"));
        say_hex(s, CLIENT, 11, "16 0301 0008 01000004 0303 0000");
        say_hex(s, SERVER, 12,
                "16 0303 0008 02000004 0303 0000 14 0303 0001 01 16 0303 0004 00000000");
        say_hex(s, CLIENT, 13, "14 0303 0001 01 16 0303 0004 00000000");
        say_hex(s, CLIENT, 14, "17 0303 0020 'in the middle of a connection, !'");
        say_hex(s, SERVER, 15, "17 0303 0020 'in the middle of a connection, !'");
        check_count(s, ACCOUNT_SESSION, 4);
        scene_end(s, "7 CALL_SENT a>b 1000.2\n"
                     "8 RET_SENT b>a 1000.2\n"
                     "14 CALL_SENT a>b 1000.17d\n"
                     "15 RET_SENT b>a 1000.17d\n");
}

/* After a hole the next message is found; what is in buffers follows the rule of runs. */
static void test_ldap_lost(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[CLIENT] = 40000;
        say_hex(s, SERVER, 4, "'the rest of an entry'" LDAP_RESULT("01", "65"));
        say_hex(s, CLIENT, 5, LDAP_SEARCH("02"));
        say_hex(s, SERVER, 6, LDAP_ENTRY("02"));
        lose(s, SERVER, 100);
        say_hex(s, SERVER, 7, "'0 of an entry'" LDAP_RESULT("02", "65"));
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        s->time = 100 * MS;
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        say_hex(s, CLIENT, 101, "30 16 02 01 03 60 11 02 01 03 04 00 a3 0a 04 08 'EXTERNAL'");
        say_hex(s, SERVER, 102, LDAP_RESULT("03", "61"));
        say_hex(s, CLIENT, 103, "00000006 'sealed' 00000001 ff");
        say_hex(s, SERVER, 104, "00000004 'seal'");
        say_hex(s, SERVER, 105, "00000004 'seal'");
        capture_finish(s->capture);
        check_count(s, ACCOUNT_HOLES, 1);
        scene_end(s, "5 CALL_SENT a>b 9c40.2\n"
                     "7 RET_SENT b>a 9c40.2 dur=1000000\n"
                     "103 CALL_SENT a>b 9c40.13a\n"
                     "105 RET_SENT b>a 9c40.13a dur=1000000\n");
}

/* --- AMQP ------------------------------------------------------------------ */

#define AMQP_CONTENT(text)                                                                         \
        "02 0001 0000000e 003c 0000 0000000000000001 0000 ce "                                     \
        "03 0001 00000001 '" text "' ce "
#define AMQP_PUBLISH      "01 0001 0000000a 003c 0028 0000 00 01 'q' 00 ce "
#define AMQP_DELIVER(tag) "01 0001 00000012 003c 003c 01 't' 00000000000000" tag " 00 00 01 'q' ce "
#define AMQP_REPLY                                                                                 \
        "01 0001 00000028 003c 003c 01 't' 0000000000000001 00 00 17 'amq.rabbitmq.reply-to.x' "   \
        "ce "
#define AMQP_ACK(tag, multiple) "01 0001 0000000d 003c 0050 00000000000000" tag " " multiple " ce "
#define AMQP_SELECT             "01 0001 00000005 0055 000a 00 ce "
#define AMQP_HEARTBEAT          "08 0000 00000000 ce "

/* What one publishes and its confirmation; deliveries, acknowledged in another order, several at a
 * time, or never; a content in two segments; one that is delivered again. Both sides' keys are the
 * same. */
static void test_amqp(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say_hex(s, CLIENT, 5, "'AMQP' 00 00 09 01");
        say_hex(s, CLIENT, 6, AMQP_PUBLISH AMQP_CONTENT("x") AMQP_SELECT);
        say_hex(s, CLIENT, 7, AMQP_PUBLISH);
        say_hex(s, SERVER, 8, AMQP_DELIVER("01") AMQP_CONTENT("x") AMQP_HEARTBEAT);
        say_hex(s, CLIENT, 9, AMQP_CONTENT("y"));
        say_hex(s, SERVER, 10, AMQP_DELIVER("02") AMQP_CONTENT("y"));
        say_hex(s, SERVER, 11, AMQP_DELIVER("03") AMQP_CONTENT("x"));
        say_hex(s, SERVER, 12, AMQP_DELIVER("04") AMQP_CONTENT("y") AMQP_ACK("01", "00"));
        say_hex(s, CLIENT, 13, AMQP_ACK("02", "00"));
        say_hex(s, CLIENT, 14, AMQP_HEARTBEAT AMQP_ACK("03", "01"));
        say_hex(s, CLIENT, 15, AMQP_ACK("03", "01"));
        capture_finish(s->capture);
        check_count(s, ACCOUNT_SESSION, 2);
        check_count(s, ACCOUNT_UNANSWERED, 1);
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        scene_end(s, "6 MSG_SENT a>b 1000.109 label=publish%20q link=1000.109\n"
                     "7 CALL_SENT a>b 1000.147 dur=2000000 label=publish%20q link=1000.147\n"
                     "8 CALL_SENT b>a 50.501 label=deliver%20q link=1000.109\n"
                     "10 CALL_SENT b>a 50.542 label=deliver%20q link=1000.147\n"
                     "11 CALL_SENT b>a 50.57b label=deliver%20q link=1000.109\n"
                     "12 CALL_SENT b>a 50.5b4 label=deliver%20q link=1000.147\n"
                     "12 RET_SENT b>a 1000.147\n"
                     "13 RET_SENT a>b 50.542\n"
                     "14 RET_SENT a>b 50.501\n"
                     "14 RET_SENT a>b 50.57b\n");
}

/* In the middle of a connection it is the messages that say who is the broker; after a hole the
 * next frame is found. */
static void test_amqp_lost(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[CLIENT] = 40000;
        s->port[SERVER] = 41000;
        say_hex(s, SERVER, 4, AMQP_DELIVER("05"));
        lose(s, SERVER, 100);
        say_hex(s, SERVER, 7, "'ody' ce" AMQP_DELIVER("06") AMQP_CONTENT("x"));
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        s->time = 100 * MS;
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        say_hex(s, CLIENT, 101, AMQP_ACK("05", "01"));
        say_hex(s, CLIENT, 102, AMQP_ACK("06", "00"));
        say_hex(s, CLIENT, 103, AMQP_PUBLISH AMQP_CONTENT("x"));
        capture_finish(s->capture);
        scene_end(s, "4 CALL_SENT b>a a028.500\n"
                     "7 CALL_SENT b>a a028.582 link=a028.582\n"
                     "101 RET_SENT a>b a028.500\n"
                     "102 RET_SENT a>b a028.582\n"
                     "103 MSG_SENT a>b 9c40.12a link=a028.582\n");
}

/* A delivery whose tag is that of one which waits is counted; replies that nobody acknowledges all
 * have the same. */
static void test_amqp_repeated(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say_hex(s, SERVER, 4, AMQP_DELIVER("01") AMQP_CONTENT("x"));
        say_hex(s, SERVER, 5, AMQP_DELIVER("01") AMQP_CONTENT("y"));
        say_hex(s, SERVER, 6, AMQP_REPLY AMQP_CONTENT("x"));
        say_hex(s, SERVER, 7, AMQP_REPLY AMQP_CONTENT("y"));
        say_hex(s, CLIENT, 8, AMQP_ACK("01", "00"));
        capture_finish(s->capture);
        check_count(s, ACCOUNT_REPEATED_CALLS, 1);
        scene_end(s, "4 CALL_SENT b>a 50.500 link=50.500\n"
                     "6 MSG_SENT b>a 50.572 link=50.572\n"
                     "7 MSG_SENT b>a 50.5c1 link=50.5c1\n"
                     "8 RET_SENT a>b 50.500\n");
}

/* --- NATS ------------------------------------------------------------------ */

/* Requests of which the second is answered first, and how they are delivered: what they carry is
 * alike, yet each has its own link, as has one that names a reply subject again; what is published
 * to all. */
static void test_nats(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say(s, SERVER, 5, "INFO {\"server_id\":\"N\",\"tls_available\":true} \r\n");
        say(s, CLIENT, 6, "CONNECT {\"verbose\":false}\r\nPING\r\n");
        say(s, SERVER, 7, "PONG\r\n");
        say(s, CLIENT, 8, "SUB _INBOX.x.* 1\r\nPUB a.b _INBOX.x.1 1\r\nq\r\n");
        say(s, CLIENT, 9, "PUB a.b _INBOX.x.2 1\r\n");
        say(s, CLIENT, 10, "q\r\nPUB ev 3\r\nabc\r\n");
        say(s, SERVER, 11, "MSG _INBOX.x.2 1 2\r\nok\r\nMSG ev 2 3\r\n");
        say(s, SERVER, 12, "abc\r\n");
        say(s, SERVER, 13, "MSG a.b 3 _INBOX.x.2 1\r\nq\r\nMSG a.b 3 _INBOX.x.1 1\r\nq\r\n");
        say(s, CLIENT, 14, "PUB _INBOX.x.1 2\r\nok\r\n");
        say(s, SERVER, 15, "MSG _INBOX.x.1 1 2\r\nok\r\n");
        say(s, CLIENT, 16, "PUB a.b _INBOX.x.1 1\r\nq\r\n");
        say(s, SERVER, 17, "MSG a.b 3 _INBOX.x.1 1\r\nq\r\nMSG _INBOX.x.1 1 2\r\nok\r\n");
        capture_finish(s->capture);
        check_count(s, ACCOUNT_SESSION, 3);
        check_count(s, ACCOUNT_UNANSWERED, 2);
        scene_end(s, "8 CALL_SENT a>b 1000.134 label=publish%20a.b link=1000.134\n"
                     "9 CALL_SENT a>b 1000.14d dur=1000000 label=publish%20a.b link=1000.14d\n"
                     "10 MSG_SENT a>b 1000.166 label=publish%20ev link=1000.166\n"
                     "11 RET_SENT b>a 1000.14d\n"
                     "11 MSG_SENT b>a 50.54d dur=1000000 label=deliver%20ev link=1000.166\n"
                     "13 CALL_SENT b>a 50.55e label=deliver%20a.b link=1000.14d\n"
                     "13 CALL_SENT b>a 50.579 label=deliver%20a.b link=1000.134\n"
                     "14 RET_SENT a>b 50.579\n"
                     "15 RET_SENT b>a 1000.134\n"
                     "16 CALL_SENT a>b 1000.18b label=publish%20a.b link=1000.18b\n"
                     "17 CALL_SENT b>a 50.5ac label=deliver%20a.b link=1000.18b\n"
                     "17 RET_SENT b>a 1000.18b\n");
}

/* Pings on a connection that was open before, and what is stored by JetStream; after a hole the
 * next line is found. */
static void test_nats_lost(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[CLIENT] = 40000;
        s->port[SERVER] = 41000;
        say(s, SERVER, 4, "PING\r\n");
        say(s, CLIENT, 5, "PONG\r\n");
        say(s, CLIENT, 6, "PUB jobs _INBOX.x.1 1\r\nq\r\n");
        say(s, SERVER, 7,
            "MSG _INBOX.x.1 1 2\r\n{}\r\nMSG jobs 3 $JS.ACK.s.c.1.1.1.1.0 1\r\nq\r\n");
        say(s, CLIENT, 8, "PUB $JS.ACK.s.c.1.1.1.1.0 4\r\n+ACK\r\nPUB jobs 100\r\n");
        lose(s, CLIENT, 100);
        say(s, CLIENT, 9, "xyz\r\nPUB jobs 1\r\nz\r\n");
        capture_finish(s->capture);
        scene_end(s, "6 CALL_SENT a>b 9c40.106 link=9c40.106\n"
                     "7 RET_SENT b>a 9c40.106\n"
                     "7 CALL_SENT b>a a028.51e link=9c40.106\n"
                     "8 RET_SENT a>b a028.51e\n"
                     "9 MSG_SENT a>b 9c40.1ba link=9c40.1ba\n");
}

/* --- responses without end -------------------------------------------------- */

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

/* Events are one-way messages as they come. */
static void test_events(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET /events HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            "Transfer-Encoding: chunked\r\n\r\n");
        say(s, SERVER, 7, "8\r\ndata: a\n\r\n8\r\ndata: b\n\r\n");
        say(s, SERVER, 20, "8\r\ndata");
        say(s, SERVER, 21, ": c\n\r\n");
        say(s, SERVER, 3000, "1\r\n\n\r\n");
        take_lines(s);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 MSG_SENT b>a 50.551\n"
                     "7 MSG_SENT b>a 50.55e\n"
                     "20 MSG_SENT b>a 50.56b dur=1000000\n"
                     "3000 MSG_SENT b>a 50.578\n");
}

/* Of a response that goes on for longer than the trace may wait chunks are messages, from the first
 * one on; when it ends it is one all the same. */
static void test_endless_chunks(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, CHUNKED "1\r\na\r\n");
        say(s, SERVER, 100, "1\r\nb\r\n");
        say(s, SERVER, 101, "0\r\n\r\n");
        say(s, CLIENT, 105, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 106, CHUNKED "1\r\na\r\n");
        say(s, SERVER, 5000, "1\r\nb\r\n");
        say(s, SERVER, 12000, "3\r\nabc");
        say(s, SERVER, 13000, "\r\n1\r\nc\r\n");
        say(s, SERVER, 14000, "0\r\n\r\n");
        take_lines(s);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "101 RET_SENT b>a 1000.101 dur=95000000\n"
                     "105 CALL_SENT a>b 1000.113\n"
                     "106 MSG_SENT b>a 50.570\n"
                     "5000 MSG_SENT b>a 50.576\n"
                     "12000 MSG_SENT b>a 50.57c\n"
                     "13000 MSG_SENT b>a 50.584\n"
                     "14000 RET_SENT b>a 1000.113 dur=13894000000\n");
}

/* The capture ends before it is known; so does a body without a length. Chunks of a response whose
 * beginning was not seen. */
static void test_endless_cut(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, CHUNKED "1\r\na\r\n");
        say(s, SERVER, 100, "1\r\nb\r\n2\r\nc");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "6 MSG_SENT b>a 50.530\n"
                     "100 MSG_SENT b>a 50.536\n"
                     "100 MSG_SENT b>a 50.53c\n");
        s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.0\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        say(s, SERVER, 7, "data: a\n\n");
        say(s, SERVER, 100, "data: b\n\n");
        hang_up(s, SERVER, 101);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 MSG_SENT b>a 50.535\n"
                     "100 MSG_SENT b>a 50.53e\n"
                     "101 RET_SENT b>a 1000.101 dur=95000000\n");
        s = scene_new(two_nodes, NULL, FALSE);
        s->port[CLIENT] = 40000;
        say(s, SERVER, 6, "3\r\nabc\r\n");
        say(s, SERVER, 7, "3\r\na");
        say(s, SERVER, 8, "bc\r\n3\r\nabc\r\n");
        say(s, SERVER, 9, "0\r\n\r\n");
        say(s, CLIENT, 10, "GET / HTTP/1.1\r\n\r\n");
        scene_end(s, "6 MSG_SENT b>a 50.500\n"
                     "7 MSG_SENT b>a 50.508 dur=1000000\n"
                     "8 MSG_SENT b>a 50.510\n"
                     "10 CALL_SENT a>b 9c40.100\n");
}

/* What one server of etcd sends another: of a chunk with two messages of raft, two. */
static void test_raft(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET /raft/stream/message/8e HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, CHUNKED);
        say_hex(s, SERVER, 7, "'14' 0d0a 0000000000000002 0804 0000000000000002 0809 0d0a");
        say_hex(s, SERVER, 8, "'1' 0d0a 00 0d0a 'a' 0d0a 02 0000000000000001 08 0d0a");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 MSG_SENT b>a 50.534\n"
                     "7 MSG_SENT b>a 50.53e\n"
                     "8 MSG_SENT b>a 50.54d\n"
                     "8 MSG_SENT b>a 50.553\n");
        s = scene_new(two_nodes, NULL, FALSE);
        s->port[CLIENT] = 40000;
        say_hex(s, SERVER, 7, "'b' 0d0a 00 02 0000000000000001 08 0d0a");
        say_hex(s, SERVER, 8, "'15' 0d0a 00 02 0000000000000001 08 02 00000000000000");
        say_hex(s, SERVER, 9, "01 09 0d0a 'c' 0d0a 00 02 0000000000000001 08 03 0d0a");
        scene_end(s, "7 MSG_SENT b>a 50.500\n"
                     "7 MSG_SENT b>a 50.504\n"
                     "8 MSG_SENT b>a 50.510 dur=1000000\n"
                     "8 MSG_SENT b>a 50.515 dur=1000000\n"
                     "8 MSG_SENT b>a 50.51f dur=1000000\n"
                     "9 MSG_SENT b>a 50.52b\n");
}

/* Both sides publish, with the same ids. What was published at one quality of service is delivered
 * at another. */
static void test_mqtt(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, "10 0d 0004 'MQTT' 04 02 003c 0001 'c'");
        say_hex(s, SERVER, 6, "20 02 00 00");
        say_hex(s, CLIENT, 7, "82 08 0001 0003 'a/b' 02");
        say_hex(s, SERVER, 8, "90 03 0001 02");
        say_hex(s, CLIENT, 9, "34 08 0003 'a/b' 0001 'x'");
        say_hex(s, SERVER, 10, "50 02 0001 32 08 0003 'a/b' 0001 'x'");
        say_hex(s, CLIENT, 11, "62 02 0001");
        say_hex(s, SERVER, 12, "70 02 0001 c0");
        say_hex(s, CLIENT, 13, "40 02 0001 30 06 0003 'a/b' 'y' e0 00");
        capture_finish(s->capture);
        check_count(s, ACCOUNT_SESSION, 3);
        scene_end(s, "7 CALL_SENT a>b 1000.110\n"
                     "8 RET_SENT b>a 1000.110\n"
                     "9 CALL_SENT a>b 1000.11a link=1000.11a\n"
                     "10 CALL_SENT b>a 50.50e link=1000.11a\n"
                     "12 RET_SENT b>a 1000.11a\n"
                     "13 RET_SENT a>b 50.50e\n"
                     "13 MSG_SENT a>b 1000.12c link=1000.12c\n");
}

/* --- FastCGI, WebSocket, ZooKeeper ------------------------------------------ */

#define FCGI_BEGIN(id)  "01 01 " id " 0008 00 00 0001 01 0000000000 "
#define FCGI_PARAMS(id) "01 04 " id " 0022 00 00 0e 03 'REQUEST_METHODGET' 0b 02 'REQUEST_URI/a' "
#define FCGI_STDIN(id)  "01 05 " id " 0000 00 00 "
#define FCGI_STDOUT(id) "01 06 " id " 0003 01 00 'abc' 00 "
#define FCGI_END(id)    "01 03 " id " 0008 00 00 00000000 00 000000 "

/* Two requests at a time; an id is used again. */
static void test_fastcgi(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say_hex(s, CLIENT, 5, FCGI_BEGIN("0001") FCGI_BEGIN("0002") FCGI_PARAMS("0001"));
        say_hex(s, CLIENT, 6, FCGI_STDIN("0002") FCGI_STDIN("0001"));
        say_hex(s, SERVER, 7, FCGI_STDOUT("0002") FCGI_STDOUT("0001"));
        say_hex(s, SERVER, 8, FCGI_END("0001"));
        say_hex(s, CLIENT, 9, FCGI_BEGIN("0001") FCGI_STDIN("0001"));
        say_hex(s, SERVER, 10, FCGI_END("0001") FCGI_STDOUT("0002") FCGI_END("0002"));
        scene_end(s, "5 CALL_SENT a>b 1000.111 dur=1000000\n"
                     "5 CALL_SENT a>b 1000.101 dur=1000000 label=GET%20/a\n"
                     "8 RET_SENT b>a 1000.101 dur=1000000\n"
                     "9 CALL_SENT a>b 1000.15b\n"
                     "10 RET_SENT b>a 1000.15b\n"
                     "10 RET_SENT b>a 1000.111 dur=3000000\n");
}

/* What follows the upgrade in the same segment is of the new protocol. */
static void test_websocket(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        g_autoptr(GByteArray) bytes =
                hex_bytes("'HTTP/1.1 101 S' 0d0a 'Upgrade: WebSocket' 0d0a 0d0a 81 03 'abc' 89 00");
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n");
        s->time = 6 * MS;
        segment(s, SERVER, ACK, s->next[SERVER], (const char *)bytes->data, bytes->len);
        s->next[SERVER] += bytes->len;
        say_hex(s, CLIENT, 7, "8a 80 01020304 01 82 01020304 'ab'");
        say_hex(s, CLIENT, 8, "80 82 01020304 'c'");
        say_hex(s, CLIENT, 9, "'d' 88 80 01020304");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "6 MSG_SENT b>a 50.527\n"
                     "7 MSG_SENT a>b 1000.12d dur=2000000\n");
}

/* Responses in another order than requests, and an event. */
static void test_zookeeper(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say_hex(s, CLIENT, 5,
                "0000002c 00000000 0000000000000000 00007530 0000000000000000 00000010 "
                "00000000000000000000000000000000");
        say_hex(s, SERVER, 6,
                "00000024 00000000 00007530 0100000000000001 00000010 "
                "00000000000000000000000000000000");
        say_hex(s, CLIENT, 7,
                "0000000f 00000001 00000004 00000002 '/a' 01 "
                "0000000f 00000002 00000003 00000002 '/a' 01");
        say_hex(s, SERVER, 8, "00000010 00000001 0000000300000004 00000000");
        say_hex(s, SERVER, 9,
                "0000001e ffffffff ffffffffffffffff 00000000 00000001 00000003 "
                "00000002 '/a' 00000010 00000002 0000000300000004 ffffff9b");
        say_hex(s, CLIENT, 10, "00000008 00000003 fffffff5");
        say_hex(s, SERVER, 11, "00000010 00000003 0000000300000004 00000000");
        check_count(s, ACCOUNT_SESSION, 4);
        scene_end(s, "7 CALL_SENT a>b 1000.1 label=getData%20/a\n"
                     "7 CALL_SENT a>b 1000.2 label=exists%20/a\n"
                     "8 RET_SENT b>a 1000.1\n"
                     "9 MSG_SENT b>a 50.53d\n"
                     "9 RET_SENT b>a 1000.2\n");
}

/* --- goodbyes -------------------------------------------------------------- */

/* What ends a session is no message, nor where nothing else of it was captured; nor is what a
 * server says before it is asked. */
static void test_goodbyes(void)
{
        static const struct {
                guint side;
                const char *hex;
        } said[] = {
                { CLIENT, "'X' 00000004" },                            /* PostgreSQL */
                { CLIENT, "30 05 02 01 09 42 00" },                    /* LDAP */
                { CLIENT, "01000000 01" },                             /* MySQL */
                { CLIENT, "'quit' 0d0a" },                             /* memcached */
                { CLIENT, "000008 07 00 00000000 00000001 00000000" }, /* HTTP/2 */
                { CLIENT, "15 0303 001a 0000000000000000000000000000000000000000000000000000" },
                { SERVER, "000000 04 00 00000000" },
        };
        for (guint i = 0; i < G_N_ELEMENTS(said); i++) {
                Scene *s = scene_new(two_nodes, NULL, FALSE);
                s->port[CLIENT] = 40000;
                say_hex(s, said[i].side, 5, said[i].hex);
                hang_up(s, CLIENT, 6);
                hang_up(s, SERVER, 7);
                scene_end(s, "");
        }
}

/* --- SMTP ------------------------------------------------------------------ */

/* Two mails and one that is refused, and then it is encrypted. */
static void test_smtp(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, SERVER, 4, "220 b ESMTP\r\n");
        say(s, CLIENT, 5, "EHLO a\r\n");
        say(s, SERVER, 6, "250-b\r\n250 PIPELINING\r\n");
        say(s, CLIENT, 7, "MAIL FROM:<x>\r\nRCPT TO:<y>\r\nDATA\r\n");
        say(s, SERVER, 8, "250 ok\r\n250 ok\r\n354 go on\r\n");
        say(s, CLIENT, 9, "one\r\n");
        say(s, CLIENT, 10, "two\r\n.\r\nMAIL FROM:<z>\r\n");
        say(s, SERVER, 15, "250-queued\r\n");
        say(s, SERVER, 16, "250 as 1\r\n550 no\r\n");
        say(s, CLIENT, 17, "MAIL FROM:<x>\r\n");
        say(s, SERVER, 18, "250 ok\r\n");
        say(s, CLIENT, 19, "RCPT TO:<y>\r\nBDAT 1 LAST\r\n.");
        say(s, SERVER, 20, "250 ok\r\n250 queued\r\n");
        say(s, CLIENT, 21, "STARTTLS\r\n");
        say(s, SERVER, 22, "220 go on\r\n");
        say_hex(s, CLIENT, 23, "17 0303 0020 'in the middle of a connection, !'");
        say_hex(s, SERVER, 24, "17 0303 0020 'in the middle of a connection, !'");
        check_count(s, ACCOUNT_SESSION, 10);
        scene_end(s, "7 CALL_SENT a>b 1000.109 dur=3000000\n"
                     "10 CALL_SENT a>b 1000.138\n"
                     "16 RET_SENT b>a 1000.109 dur=1000000\n"
                     "16 RET_SENT b>a 1000.138\n"
                     "17 CALL_SENT a>b 1000.147 dur=2000000\n"
                     "20 RET_SENT b>a 1000.147\n"
                     "23 CALL_SENT a>b 1000.17b\n"
                     "24 RET_SENT b>a 1000.17b\n");
}

/* Closed within a mail; and one of which only the end was captured. */
static void test_smtp_cut_short(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say(s, SERVER, 4, "354 go on\r\n");
        say(s, CLIENT, 5, "one\r\n.\r\n");
        say(s, SERVER, 6, "250 queued\r\n");
        say(s, CLIENT, 7, "MAIL FROM:<x>\r\n");
        say(s, SERVER, 8, "250 ok\r\n");
        hang_up(s, CLIENT, 9);
        hang_up(s, SERVER, 10);
        capture_finish(s->capture);
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        check_count(s, ACCOUNT_UNANSWERED, 1);
        scene_end(s, "7 CALL_SENT a>b 1000.108\n");
}

/* LMTP, whose greeting says nothing of it: a mail ends with the word on the last of those who get
 * it, and the next one is not taken for that. */
static void test_lmtp(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, SERVER, 4, "220 b ready\r\n");
        say(s, CLIENT, 5, "LHLO a\r\n");
        say(s, SERVER, 6, "250-b\r\n250 PIPELINING\r\n");
        for (guint i = 0; i < 2; i++) {
                say(s, CLIENT, 10 * i + 7,
                    "MAIL FROM:<x>\r\nRCPT TO:<y>\r\nRCPT TO:<z>\r\nDATA\r\n");
                say(s, SERVER, 10 * i + 8, "250 ok\r\n250 ok\r\n250 ok\r\n354 go on\r\n");
                say(s, CLIENT, 10 * i + 9, "one\r\n.\r\n");
                say(s, SERVER, 10 * i + 10, "250 <y>\r\n");
                say(s, SERVER, 10 * i + 12, "250 <z>\r\n");
        }
        /* The last word on one of them is not said. */
        say(s, CLIENT, 27, "MAIL FROM:<x>\r\nRCPT TO:<y>\r\nRCPT TO:<z>\r\nDATA\r\n");
        say(s, SERVER, 28, "250 ok\r\n250 ok\r\n250 ok\r\n354 go on\r\n");
        say(s, CLIENT, 29, ".\r\n");
        say(s, SERVER, 30, "250 <y>\r\n");
        hang_up(s, SERVER, 31);
        check_count(s, ACCOUNT_SESSION, 15);
        scene_end(s, "7 CALL_SENT a>b 1000.109 dur=2000000\n"
                     "12 RET_SENT b>a 1000.109 dur=2000000\n"
                     "17 CALL_SENT a>b 1000.140 dur=2000000\n"
                     "22 RET_SENT b>a 1000.140 dur=2000000\n"
                     "27 CALL_SENT a>b 1000.177 dur=2000000\n"
                     "31 RET_SENT b>a 1000.177 dur=1000000\n");
}

/* A greeting that only the client's first command makes known is no payload in no message. */
static void test_greeting_seen(void)
{
        g_autoptr(GArray) doubts = g_array_new(FALSE, FALSE, sizeof(Doubt));
        g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(EdgeCalls));
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        for (gint64 ms = 0; ms < 400; ms += 10) {
                s->port[CLIENT]++;
                handshake(s);
                say(s, SERVER, ms + 4, "220 b ready\r\n");
                say(s, CLIENT, ms + 5, "LHLO a\r\n");
                say(s, SERVER, ms + 6, "250 b\r\n");
                hang_up(s, CLIENT, ms + 7);
                hang_up(s, SERVER, ms + 8);
        }
        capture_finish(s->capture);
        capture_weigh(s->capture, doubts, edges);
        g_assert_cmpuint(doubts->len, ==, 0);
        scene_end(s, "");
}

/* What might yet have been a protocol, and was none, is a conversation too: the
 * pings before the first query, which nothing recognises, have their returns. */
static void test_before_recognised(void)
{
        static const char ping[] = "\1\0\0\0\x0e", ok[] = "\1\0\0\1\0",
                          query[] = "\x09\0\0\0\3SELECT 1";
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[CLIENT] = 40000;
        for (guint i = 1; i <= 3; i++) {
                const char *text = i == 3 ? query : ping;
                gsize n = i == 3 ? sizeof query - 1 : sizeof ping - 1;
                s->time = 2 * i * MS;
                segment(s, CLIENT, ACK, s->next[CLIENT], text, n);
                s->next[CLIENT] += (guint32)n;
                s->time = (2 * i + 1) * MS;
                segment(s, SERVER, ACK, s->next[SERVER], ok, sizeof ok - 1);
                s->next[SERVER] += (guint32)sizeof ok - 1;
        }
        scene_end(s, "2 CALL_SENT a>b 9c40.100\n"
                     "3 RET_SENT b>a 9c40.100\n"
                     "4 CALL_SENT a>b 9c40.105\n"
                     "5 RET_SENT b>a 9c40.105\n"
                     "6 CALL_SENT a>b 9c40.10a\n"
                     "7 RET_SENT b>a 9c40.10a\n");
}

/* --- what was not captured ------------------------------------------------- */

static void test_mid_stream(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say(s, SERVER, 4, "the rest of a body");
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 204 n\r\n\r\n");
        check_count(s, ACCOUNT_BEFORE_BOUNDARY, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.100\n"
                     "6 RET_SENT b>a 1000.100\n");
}

/* The end of a body is no call, even where it is known who calls. */
static void test_mid_request(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[CLIENT] = 40000;
        say(s, CLIENT, 4, "the rest of a body");
        say(s, SERVER, 5, "HTTP/1.1 204 n\r\n\r\n");
        say(s, CLIENT, 6, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 7, "HTTP/1.1 204 n\r\n\r\n");
        check_count(s, ACCOUNT_BEFORE_BOUNDARY, 1);
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        check_count(s, ACCOUNT_UNANSWERED, 0);
        scene_end(s, "6 CALL_SENT a>b 9c40.112\n"
                     "7 RET_SENT b>a 9c40.112\n");
}

static void test_hole_in_body(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        lose(s, SERVER, 999);
        say(s, SERVER, 8, "z");
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        s->time = 100 * MS;
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        say(s, CLIENT, 105, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 106, "HTTP/1.1 204 n\r\n\r\n");
        capture_finish(s->capture);
        check_count(s, ACCOUNT_HOLES, 1);
        check_count(s, ACCOUNT_HOLE_BYTES, 999);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "8 RET_SENT b>a 1000.101 dur=2000000\n"
                     "105 CALL_SENT a>b 1000.113\n"
                     "106 RET_SENT b>a 1000.113\n");
}

/* A call and its return were lost together; the ones after them pair right. */
static void test_hole_over_messages(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        lose(s, SERVER, 30);
        lose(s, CLIENT, 40);
        lose(s, SERVER, 50);
        say(s, CLIENT, 205, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 206, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "205 CALL_SENT a>b 1000.13b\n"
                     "206 RET_SENT b>a 1000.13b\n");
}

/* A protocol that is said holds, though the capture begins within messages of both sides. */
static void test_said_mid_message(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->ports[80] = &protocol_http;
        say(s, SERVER, 5, "the rest of an answer, ");
        say(s, CLIENT, 6, "of a form\r\nGET /a HTTP/1.1\r\n\r\n");
        say(s, SERVER, 7, "and more\r\nHTTP/1.1 204 n\r\n\r\n");
        say(s, CLIENT, 8, "GET /b HTTP/1.1\r\n\r\n");
        say(s, SERVER, 9, "HTTP/1.1 204 n\r\n\r\n");
        check_count(s, ACCOUNT_UNPARSED, 0);
        check_count(s, ACCOUNT_BEFORE_BOUNDARY, 2);
        scene_end(s, "6 CALL_SENT a>b 1000.10b\n"
                     "7 RET_SENT b>a 1000.10b\n"
                     "8 CALL_SENT a>b 1000.11e\n"
                     "9 RET_SENT b>a 1000.11e\n");
}

#define GET "GET / HTTP/1.1\r\n\r\n"
#define OK  "HTTP/1.1 204 n\r\n\r\n"

/* Three calls at a time, and all their returns: no return of a batch that a hole is in
 * is taken for another's, and the next batch is right. */
static void test_hole_in_batch(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, GET GET GET);
        say(s, SERVER, 6, OK);
        lose(s, SERVER, strlen(OK));
        say(s, CLIENT, 7, "");
        say(s, SERVER, 8, OK);
        say(s, CLIENT, 9, GET GET GET);
        say(s, SERVER, 10, OK OK OK);
        say(s, CLIENT, 11, GET);
        lose(s, CLIENT, strlen(GET));
        say(s, CLIENT, 12, GET);
        say(s, SERVER, 13, OK OK);
        say(s, SERVER, 14, OK);
        say(s, CLIENT, 15, GET GET);
        say(s, SERVER, 16, OK OK);
        capture_finish(s->capture);
        check_count(s, ACCOUNT_ORDER_LOST, 3);
        check_count(s, ACCOUNT_UNANSWERED, 3);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "5 CALL_SENT a>b 1000.113\n"
                     "5 CALL_SENT a>b 1000.125\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "9 CALL_SENT a>b 1000.137\n"
                     "9 CALL_SENT a>b 1000.149\n"
                     "9 CALL_SENT a>b 1000.15b\n"
                     "10 RET_SENT b>a 1000.137\n"
                     "10 RET_SENT b>a 1000.149\n"
                     "10 RET_SENT b>a 1000.15b\n"
                     "11 CALL_SENT a>b 1000.16d\n"
                     "12 CALL_SENT a>b 1000.191\n"
                     "13 RET_SENT b>a 1000.16d\n"
                     "15 CALL_SENT a>b 1000.1a3\n"
                     "15 CALL_SENT a>b 1000.1b5\n"
                     "16 RET_SENT b>a 1000.1a3\n"
                     "16 RET_SENT b>a 1000.1b5\n");
}

/* Calls that are made while others still wait: the order is known again after a silence. */
static void test_hole_in_overlap(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, GET GET);
        say(s, SERVER, 6, OK);
        say(s, CLIENT, 7, GET);
        say(s, SERVER, 9, OK);
        lose(s, SERVER, strlen(OK));
        say(s, CLIENT, 10, GET);
        say(s, SERVER, 11, OK);
        say(s, CLIENT, 12, GET);
        say(s, SERVER, 13, OK);
        say(s, CLIENT, 22, GET);
        say(s, SERVER, 23, OK);
        capture_finish(s->capture);
        check_count(s, ACCOUNT_ORDER_LOST, 2);
        check_count(s, ACCOUNT_UNANSWERED, 3);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "5 CALL_SENT a>b 1000.113\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "7 CALL_SENT a>b 1000.125\n"
                     "9 RET_SENT b>a 1000.113\n"
                     "10 CALL_SENT a>b 1000.137\n"
                     "12 CALL_SENT a>b 1000.149\n"
                     "22 CALL_SENT a>b 1000.15b\n"
                     "23 RET_SENT b>a 1000.15b\n");
}

/* More calls at a time than are kept: the others get no return, but no call gets another's. */
static void test_too_many_calls(void)
{
        enum { KEPT = 16384, MORE = 100 };
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        for (guint i = 0; i < KEPT + MORE; i++)
                say(s, CLIENT, 5, GET);
        for (guint i = 0; i < KEPT + MORE; i++)
                say(s, SERVER, 6, OK);
        check_count(s, ACCOUNT_RETURNS, KEPT);
        check_count(s, ACCOUNT_ORDER_LOST, MORE);
        check_count(s, ACCOUNT_UNANSWERED, MORE);
        g_string_truncate(s->lines, 0);
        say(s, CLIENT, 7, GET);
        say(s, SERVER, 8, OK);
        check_count(s, ACCOUNT_RETURNS, KEPT + 1);
        scene_free(s);
}

static void test_lost_call(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        lose(s, CLIENT, 40);
        say(s, SERVER, 6, "HTTP/1.1 204 n\r\n\r\n");
        say(s, CLIENT, 105, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 106, "HTTP/1.1 204 n\r\n\r\n");
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        scene_end(s, "105 CALL_SENT a>b 1000.129\n"
                     "106 RET_SENT b>a 1000.129\n");
}

/* Headers are cut off; lengths still tell the messages apart. */
static void test_snapshot(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->snapshot = 60;
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789");
        say(s, SERVER, 7, "and more");
        say(s, CLIENT, 8, "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
        say(s, SERVER, 9, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 RET_SENT b>a 1000.101 dur=1000000\n"
                     "8 CALL_SENT a>b 1000.126\n"
                     "9 RET_SENT b>a 1000.126\n");
}

static void test_one_sided(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        segment(s, CLIENT, SYN, s->next[CLIENT]++, "", 0);
        s->next[SERVER]++;
        say(s, CLIENT, 5, "\1call");
        lose(s, SERVER, 100);
        say(s, CLIENT, 7, "\1call");
        lose(s, SERVER, 100);
        say(s, CLIENT, 9, "\1call");
        check_count(s, ACCOUNT_CALLS, 2);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 CALL_SENT a>b 1000.106\n"
                     "9 CALL_SENT a>b 1000.10b\n");
}

/* The return was captured before the call, and the call's second half before its
 * first: sequence numbers and acknowledgements say how it was. */
static void test_disorder(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        s->next[CLIENT] += 18;
        say(s, SERVER, 5, "HTTP/1.1 204 n\r\n\r\n");
        segment(s, CLIENT, ACK, s->next[CLIENT] - 10, "TP/1.1\r\n\r\n", 10);
        segment(s, CLIENT, ACK, s->next[CLIENT] - 18, "GET / HT", 8);
        say(s, CLIENT, 6, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 7, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 RET_SENT b>a 1000.101\n"
                     "5 CALL_SENT a>b 1000.101\n"
                     "6 CALL_SENT a>b 1000.113\n"
                     "7 RET_SENT b>a 1000.113\n");
}

static void test_port_reuse(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        s->next[CLIENT] = 0x90000000;
        s->next[SERVER] = 0xfffffffe; /* and the numbers wrap */
        handshake(s);
        say(s, CLIENT, 7, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 8, "HTTP/1.1 204 n\r\n\r\n");
        check_count(s, ACCOUNT_CONNECTIONS, 2);
        check_count(s, ACCOUNT_UNANSWERED, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 CALL_SENT a>b 1000.90000001\n"
                     "8 RET_SENT b>a 1000.90000001\n");
}

/* The first call of a connection says how long before it the connection was opened, be there a
 * login in between. */
static void test_opening(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->openings = TRUE;
        s->time = 2 * MS;
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 204 n\r\n\r\n");
        say(s, CLIENT, 7, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 8, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101 syn=3000000\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "7 CALL_SENT a>b 1000.113\n"
                     "8 RET_SENT b>a 1000.113\n");
}

/* A segment with the last bytes that side said, again. */
static void say_again(Scene *s, guint side, gint64 ms, const char *text)
{
        s->time = ms * MS;
        segment(s, side, ACK, s->next[side] - (guint32)strlen(text), text, strlen(text));
}

/* How long the network held a message up. */
static void test_stalls(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n"); /* lost after it was captured */
        say_again(s, CLIENT, 205, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 210, "HTTP/1.1 200 n\r\nContent-Length: 8\r\n\r\n");
        lose(s, SERVER, 4); /* and before */
        say(s, SERVER, 211, "5678");
        s->next[SERVER] -= 4;
        say_again(s, SERVER, 411, "1234");
        s->next[SERVER] += 4;
        say(s, CLIENT, 420, "POST / HTTP/1.1\r\nContent-Length: 8\r\n\r\n");
        s->window = 0;
        s->time = 430 * MS;
        segment(s, SERVER, ACK, s->next[SERVER], "", 0);
        s->window = 1000;
        s->time = 480 * MS;
        segment(s, SERVER, ACK, s->next[SERVER], "", 0);
        say(s, CLIENT, 481, "12345678");
        say(s, SERVER, 490, "HTTP/1.1 204 n\r\n\r\n");
        say(s, CLIENT, 495, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 496, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "411 RET_SENT b>a 1000.101 dur=201000000 stall=200000000 resent=200000000\n"
                     "420 CALL_SENT a>b 1000.113 dur=61000000 stall=50000000\n"
                     "490 RET_SENT b>a 1000.113\n"
                     "495 CALL_SENT a>b 1000.141\n"
                     "496 RET_SENT b>a 1000.141\n");
}

/* Of connections that caller, callee and port do not tell apart, all but the first have a
 * number. */
static void test_numbers(void)
{
        static const guint client[3][2] = { { 1, 4096 }, { 3, 4096 }, { 3, 4097 } },
                           server[2] = { 2, 80 };
        Scene *s = scene_new("10.0.0.1 a\n10.0.0.3 a\n10.0.0.2 b\n", NULL, FALSE);
        s->time = 5 * MS;
        for (guint i = 0; i < 3; i++) {
                between(s, client[i], server, SYN, 0x100, 0, 0, "");
                between(s, server, client[i], SYN | ACK, 0x500, 0x101, 0, "");
                between(s, client[i], server, ACK, 0x101, 0x501, 0, "call");
                between(s, server, client[i], ACK, 0x501, 0x105, 0, "return");
        }
        for (guint i = 0; i < 3; i++)
                between(s, client[i], server, ACK, 0x105, 0x507, 0, "call");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n5 RET_SENT b>a 1000.101\n"
                     "5 CALL_SENT a>b 1000.101 conn=1\n5 RET_SENT b>a 1000.101\n"
                     "5 CALL_SENT a>b 1001.101\n5 RET_SENT b>a 1001.101\n"
                     "5 CALL_SENT a>b 1000.105\n"
                     "5 CALL_SENT a>b 1000.105 conn=1\n"
                     "5 CALL_SENT a>b 1001.105\n");
}

/* --- the generic rule ------------------------------------------------------ */

static void test_generic(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, SERVER, 4, "\1greeting");
        say(s, CLIENT, 5, "\1ask");
        say(s, CLIENT, 6, "more");
        say(s, SERVER, 7, "\1answer");
        say(s, SERVER, 9, "more");
        say(s, CLIENT, 10, "\1ask");
        say(s, SERVER, 11, "\1answer");
        scene_end(s, "4 MSG_SENT b>a 50.501\n"
                     "5 CALL_SENT a>b 1000.101 dur=1000000\n"
                     "9 RET_SENT b>a 1000.101 dur=2000000\n"
                     "10 CALL_SENT a>b 1000.109\n"
                     "11 RET_SENT b>a 1000.109\n");
}

static void test_generic_mid_stream(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say(s, CLIENT, 5, "\1ask");
        say(s, SERVER, 7, "\1answer");
        check_count(s, ACCOUNT_CALLS, 0);
        scene_end(s, "5 MSG_SENT a>b 1000.100\n"
                     "7 MSG_SENT b>a 50.500\n");

        s = scene_new(two_nodes, NULL, FALSE);
        s->ports[80] = &protocol_generic;
        say(s, CLIENT, 5, "\1ask");
        say(s, SERVER, 7, "\1answer");
        scene_end(s, "5 CALL_SENT a>b 1000.100\n"
                     "7 RET_SENT b>a 1000.100\n");

        /* What answers a call from before the capture is no message of its own. */
        s = scene_new(two_nodes, NULL, FALSE);
        s->ports[80] = &protocol_generic;
        say(s, SERVER, 4, "\1answer");
        say(s, CLIENT, 5, "\1ask");
        say(s, SERVER, 7, "\1answer");
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.100\n"
                     "7 RET_SENT b>a 1000.100\n");
}

/* A server that has accepted one connection is known for the next. */
static void test_known_server(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        s->port[CLIENT]++;
        say(s, CLIENT, 5, "\1ask");
        say(s, SERVER, 7, "\1answer");
        scene_end(s, "5 CALL_SENT a>b 1001.101\n"
                     "7 RET_SENT b>a 1001.101\n");
}

static void test_known_servers(void)
{
        enum { SERVERS = 2000 };
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        for (guint i = 0; i < SERVERS; i++) {
                s->port[SERVER] = (guint16)(5000 + i);
                handshake(s);
        }
        s->port[CLIENT]++;
        for (guint i = 0; i < SERVERS; i++) {
                s->port[SERVER] = (guint16)(5000 + i);
                say(s, CLIENT, 5, "\1ask");
                say(s, SERVER, 7, "\1answer");
        }
        capture_finish(s->capture);
        check_count(s, ACCOUNT_ROLE_BY_ACCEPT, SERVERS);
        check_count(s, ACCOUNT_CALLS, SERVERS);
        scene_free(s);
}

/* One that accepts a connection later is known from then on. */
static void test_known_server_late(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say(s, CLIENT, 1, "\1ask");
        say(s, SERVER, 2, "\1answer");
        s->port[CLIENT]++;
        handshake(s);
        s->port[CLIENT]--;
        s->next[CLIENT]--;
        s->next[SERVER]--;
        say(s, CLIENT, 5, "\1ask");
        say(s, SERVER, 7, "\1answer");
        scene_end(s, "1 MSG_SENT a>b 1000.100\n"
                     "2 MSG_SENT b>a 50.500\n"
                     "5 CALL_SENT a>b 1000.104\n"
                     "7 RET_SENT b>a 1000.104\n");
}

/* Of a connection that was open before the capture, by ports and names: which end
 * serves, and what the account says of it. */
static void test_known_by_ports(void)
{
        static const struct {
                const char *nodes;
                guint16 client, server;
                gboolean known;
                AccountEntry entry;
        } cases[] = {
                { "", 40000, 5432, TRUE, ACCOUNT_ROLE_BY_PORTS },
                { "", 32768, 32767, TRUE, ACCOUNT_ROLE_BY_PORTS },
                { "", 32767, 5432, FALSE, ACCOUNT_ROLE_BY_PORTS },  /* behind address translation */
                { "", 40000, 50051, FALSE, ACCOUNT_ROLE_BY_PORTS }, /* serves on a high port */
                { "10.0.0.2:50051 b\n", 40000, 50051, TRUE, ACCOUNT_ROLE_BY_NAME },
                { "10.0.0.2:50051 b\n", 4096, 50051, TRUE, ACCOUNT_ROLE_BY_NAME },
                { "10.0.0.2 b\n", 40000, 50051, FALSE, ACCOUNT_ROLE_BY_NAME },
        };

        for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
                Scene *s = scene_new(cases[i].nodes, NULL, FALSE);
                s->port[CLIENT] = cases[i].client;
                s->port[SERVER] = cases[i].server;
                say(s, CLIENT, 1, "\1ask");
                say(s, SERVER, 2, "\1answer");
                capture_finish(s->capture);
                check_count(s, ACCOUNT_CALLS, cases[i].known);
                check_count(s, ACCOUNT_RETURNS, cases[i].known);
                check_count(s, cases[i].entry, cases[i].known);
                check_count(s, ACCOUNT_ROLE_DOUBTED, 0);
                take_lines(s);
                g_assert_true(g_str_has_prefix(s->lines->str, cases[i].known
                                                                      ? "1 CALL_SENT 10.0.0.1>"
                                                                      : "1 MSG_SENT 10.0.0.1>"));
                scene_free(s);
        }
}

/* The ports spoke for the wrong end: that is said. */
static void test_wrong_by_ports(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[SERVER] = 50051; /* and the client's is a low one */
        say(s, CLIENT, 1, "\1ask");
        say(s, SERVER, 2, "\1answer");
        s->port[CLIENT]++;
        handshake(s);
        capture_finish(s->capture);
        check_count(s, ACCOUNT_ROLE_BY_PORTS, 1);
        check_count(s, ACCOUNT_ROLE_DOUBTED, 1);
        g_auto(GStrv) lines = account_judge(capture_account(s->capture));
        g_assert_nonnull(strstr(lines[1], "--proto"));
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        scene_end(s, "2 CALL_SENT b>a c383.500\n");
}

static void test_silence(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "\1ask");
        say(s, SERVER, 7, "\1answer");
        s->time = 20000 * MS;
        datagram(s, CLIENT, 20000, "x", 1);
        g_assert_cmpstr(s->lines->str, ==,
                        "5 CALL_SENT a>b 1000.101\n"
                        "7 RET_SENT b>a 1000.101\n");
        say(s, SERVER, 20005, "\1news");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 RET_SENT b>a 1000.101\n"
                     "20000 MSG_SENT a>b -\n"
                     "20005 MSG_SENT b>a 50.508\n");
}

/* --- datagrams ------------------------------------------------------------- */

static const char query[] = "\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1";
static const char answer[] = "\x12\x34\x81\x80\0\1\0\1\0\0\0\0\1a\0\0\1\0\1"
                             "\xc0\x0c\0\1\0\1\0\0\0\1\0\4\1\2\3\4";

static void test_dns(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        s->port[SERVER] = 53;
        datagram(s, CLIENT, 5, query, sizeof query - 1);
        datagram(s, CLIENT, 6, query, sizeof query - 1);
        datagram(s, SERVER, 8, answer, sizeof answer - 1);
        datagram(s, SERVER, 9, answer, sizeof answer - 1);
        datagram(s, CLIENT, 10, "not dns", 7);
        check_count(s, ACCOUNT_REPEATED_CALLS, 1);
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.1234 label=DNS%20A\n"
                     "8 RET_SENT b>a 1000.1234\n"
                     "10 MSG_SENT a>b -\n");
}

/* --- names, hosts ---------------------------------------------------------- */

/* A switch that mirrors at entry and exit, and their fellow in between: once each. What
 * comes again later was sent again. */
static void test_copies(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        for (guint i = 0; i < 3; i++) {
                datagram(s, CLIENT, 5, "one", 3);
                datagram(s, CLIENT, 5, "two", 3);
                datagram(s, SERVER, 5, "one", 3);
        }
        datagram(s, CLIENT, 6, "one", 3);
        check_count(s, ACCOUNT_COPIES, 6);
        handshake(s);
        for (guint i = 0; i < 3; i++)
                segment(s, CLIENT, ACK, s->next[CLIENT], "call", 4);
        s->next[CLIENT] += 4;
        for (guint i = 0; i < 3; i++)
                segment(s, SERVER, ACK, s->next[SERVER], "return", 6);
        s->next[SERVER] += 6;
        scene_end(s, "5 MSG_SENT a>b -\n"
                     "5 MSG_SENT a>b -\n"
                     "5 MSG_SENT b>a -\n"
                     "6 MSG_SENT a>b -\n"
                     "6 CALL_SENT a>b 1000.101\n"
                     "6 RET_SENT b>a 1000.101\n");
}

/* A translator of both addresses and ports between client and server, both sides of it
 * captured: the call is the client's, and the server's. */
static void test_translation(void)
{
        static const guint client[2] = { 1, 4096 }, service[2] = { 9, 80 }, inside[2] = { 8, 5000 },
                           server[2] = { 2, 8080 };
        static const char twice[] =
                "%d CALL_SENT a>10.0.0.9 1000.101\n%d CALL_SENT 10.0.0.8>b 1388.101\n"
                "%d RET_SENT b>10.0.0.8 1388.101\n%d RET_SENT 10.0.0.9>a 1000.101\n";
        static const struct {
                guint32 isn, stamp; /* of the server, as the client sees them */
                gint64 pause;       /* ms between the answers before and after */
                gboolean same;
        } rows[] = { { 0x500, 77, 0, TRUE },
                     { 0x600, 77, 0, FALSE },
                     { 0x500, 78, 0, FALSE },
                     { 0x500, 0, 0, FALSE },
                     { 0x500, 77, 2000, FALSE } };
        for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
                Scene *s = scene_new(two_nodes, NULL, FALSE);
                guint32 isn = rows[i].isn;
                int ms = 5 + (int)rows[i].pause;
                g_autofree char *apart = g_strdup_printf(twice, ms, ms, ms, ms);
                s->time = 5 * MS;
                between(s, client, service, SYN, 0x100, 0, 66, "");
                between(s, inside, server, SYN, 0x100, 0, 66, "");
                between(s, server, inside, SYN | ACK, 0x500, 0x101, rows[i].stamp ? 77 : 0, "");
                s->time += rows[i].pause * MS;
                between(s, service, client, SYN | ACK, isn, 0x101, rows[i].stamp, "");
                between(s, client, service, ACK, 0x101, isn + 1, 0, "call");
                between(s, inside, server, ACK, 0x101, 0x501, 0, "call");
                between(s, server, inside, ACK, 0x501, 0x105, 0, "return");
                between(s, service, client, ACK, isn + 1, 0x105, 0, "return");
                between(s, client, service, FIN | ACK, 0x105, isn + 7, 0, "");
                between(s, inside, server, FIN | ACK, 0x105, 0x507, 0, "");
                check_count(s, ACCOUNT_TRANSLATED, rows[i].same);
                check_count(s, ACCOUNT_TRANSLATED_SEGMENTS, rows[i].same ? 4 : 0);
                check_count(s, ACCOUNT_CONNECTIONS, rows[i].same ? 1 : 2);
                scene_end(s, rows[i].same ? "5 CALL_SENT a>b 1000.101\n5 RET_SENT b>a 1000.101\n"
                                          : apart);
        }
}

static void test_host(void)
{
        Scene *s = scene_new(two_nodes, "b", FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_RECV a>b 1000.101\n"
                     "6 RET_SENT b>a 1000.101\n");
}

static void test_names_by_port(void)
{
        Scene *s = scene_new("10.0.0.2:80 web\n10.0.0.0/8 net\n", NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_SENT net>web 1000.101\n"
                     "6 RET_SENT web>net 1000.101\n");
}

/* --- time ------------------------------------------------------------------ */

/* Whatever order calls are done in, lines come in order of time. */
static void test_order(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n");
        s->port[SERVER] = 53;
        datagram(s, CLIENT, 6, query, sizeof query - 1);
        datagram(s, SERVER, 7, answer, sizeof answer - 1);
        s->port[SERVER] = 80;
        say(s, CLIENT, 8, "ab");
        scene_end(s, "5 CALL_SENT a>b 1000.101 dur=3000000 conn=1\n"
                     "6 CALL_SENT a>b 1000.1234\n"
                     "7 RET_SENT b>a 1000.1234\n");
}

/* A call that goes on for too long does not hold up the others. */
static void test_patience(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n");
        capture_idle(s->capture, 9000 * MS);
        take_lines(s);
        g_assert_cmpstr(s->lines->str, ==, "");
        capture_idle(s->capture, 11000 * MS);
        take_lines(s);
        g_assert_cmpstr(s->lines->str, ==, "5 CALL_SENT a>b 1000.101\n");
        say(s, CLIENT, 12000, "ab");
        say(s, SERVER, 12001, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "12001 RET_SENT b>a 1000.101\n");
}

/* Live, what comes after later ones were written is written at their time, and counted; but not
 * where the clock was set back. */
static void test_late(void)
{
        for (guint live = 0; live < 2; live++) {
                Scene *s = scene_new_live(two_nodes, NULL, FALSE, live);
                s->port[SERVER] = 53;
                datagram(s, CLIENT, 5000, query, sizeof query - 1);
                capture_idle(s->capture, 6000 * MS);
                take_lines(s);
                datagram(s, SERVER, 4500, answer, sizeof answer - 1);
                capture_idle(s->capture, 7000 * MS);
                take_lines(s);
                datagram(s, CLIENT, 3500, "set back", 8);
                capture_finish(s->capture);
                take_lines(s);
                check_count(s, ACCOUNT_LATE, live);
                scene_end(s, live ? "5000 CALL_SENT a>b 1000.1234\n"
                                    "5000 RET_SENT b>a 1000.1234\n"
                                    "3500 MSG_SENT a>b -\n"
                                  : "5000 CALL_SENT a>b 1000.1234\n"
                                    "4500 RET_SENT b>a 1000.1234\n"
                                    "3500 MSG_SENT a>b -\n");
        }
}

static void test_clock_step(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[SERVER] = 53;
        datagram(s, CLIENT, 500000, query, sizeof query - 1);
        datagram(s, CLIENT, 5, query, sizeof query - 1);
        datagram(s, SERVER, 6, answer, sizeof answer - 1);
        check_count(s, ACCOUNT_CLOCK_STEPS, 1);
        scene_end(s, "500000 CALL_SENT a>b 1000.1234\n"
                     "5 CALL_SENT a>b 1000.1234\n"
                     "6 RET_SENT b>a 1000.1234\n");
}

static void test_summary(void)
{
        Account account = { .to_itself = 0 };
        account.count[ACCOUNT_PACKETS] = account.count[ACCOUNT_HOLES] = 1;
        account.count[ACCOUNT_CALLS] = 1;
        account.count[ACCOUNT_RETURNS] = 2;
        g_autofree char *text = account_summary(&account);
        g_assert_cmpstr(text, ==,
                        "1 packet, 0 connections: 1 call, 2 returns, 0 one-way messages, 1 hole");
}

static void test_judgement(void)
{
        Account account = { .to_itself = 0 };
        g_auto(GStrv) empty = account_judge(&account);
        g_assert_nonnull(strstr(empty[0], "no packet"));
        account.count[ACCOUNT_PACKETS] = 10;
        account.to_itself = 1;
        account.tcp_one_sided = 1;
        g_auto(GStrv) lines = account_judge(&account);
        g_assert_nonnull(strstr(lines[0], "one direction"));
        g_assert_nonnull(strstr(lines[1], "--nodes"));
        g_assert_null(lines[2]);
        account.tcp_two_sided = account.to_named = 1;
        g_auto(GStrv) silent = account_judge(&account);
        g_assert_nonnull(strstr(silent[0], "no call was found"));
        g_assert_null(silent[1]); /* callers by their ports: the doubt says that */
        account.count[ACCOUNT_CALLS] = 5;
        account.count[ACCOUNT_RETURNS] = 5;
        account.count[ACCOUNT_ONE_WAY] = account.count[ACCOUNT_ROLE_UNKNOWN] = 9;
        account.unclear_port[5432] = 6;
        account.unclear_port[25] = 3;
        account.to_others = 1;
        g_auto(GStrv) roles = account_judge(&account);
        g_assert_nonnull(strstr(roles[0], "--proto 5432=generic --proto 25=generic"));
        g_assert_null(roles[1]);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/capture/size-classes", test_size_classes);
        g_test_add_func("/capture/size-of-calls", test_size_of_calls);
        g_test_add_func("/capture/size-of-runs", test_size_of_runs);
        g_test_add_func("/capture/size-of-records", test_size_of_records);
        g_test_add_func("/capture/size-of-streams", test_size_of_streams);
        g_test_add_func("/capture/one-call", test_one_call);
        g_test_add_func("/capture/keep-alive-and-labels", test_keep_alive_and_labels);
        g_test_add_func("/capture/no-label-of-others", test_no_label_of_others);
        g_test_add_func("/capture/pipelined", test_pipelined);
        g_test_add_func("/capture/interim", test_interim);
        g_test_add_func("/capture/until-close", test_until_close);
        g_test_add_func("/capture/upgrade", test_upgrade);
        g_test_add_func("/capture/aborted", test_aborted);
        g_test_add_func("/capture/streams", test_streams);
        g_test_add_func("/capture/stream-labels", test_stream_labels);
        g_test_add_func("/capture/streams-without-labels", test_streams_without_labels);
        g_test_add_func("/capture/streams-cut-short", test_streams_cut_short);
        g_test_add_func("/capture/streams-begun-before", test_streams_begun_before);
        g_test_add_func("/capture/streams-over-hole", test_streams_over_hole);
        g_test_add_func("/capture/upgrade-to-http2", test_upgrade_to_http2);
        g_test_add_func("/capture/too-many-streams", test_too_many_streams);
        g_test_add_func("/capture/stream-settled", test_stream_settled);
        g_test_add_func("/capture/stream-endless", test_stream_endless);
        g_test_add_func("/capture/tls", test_tls);
        g_test_add_func("/capture/tls-hole", test_tls_hole);
        g_test_add_func("/capture/never-decided", test_never_decided);
        g_test_add_func("/capture/rpc", test_rpc);
        g_test_add_func("/capture/rpc-datagrams", test_rpc_datagrams);
        g_test_add_func("/capture/redis", test_redis);
        g_test_add_func("/capture/redis-lists", test_redis_lists);
        g_test_add_func("/capture/redis-settles", test_redis_settles);
        g_test_add_func("/capture/redis-groups", test_redis_groups);
        g_test_add_func("/capture/redis-unsettled", test_redis_unsettled);
        g_test_add_func("/capture/redis-mid-stream", test_redis_mid_stream);
        g_test_add_func("/capture/login", test_login);
        g_test_add_func("/capture/ldap", test_ldap);
        g_test_add_func("/capture/ldap-tls", test_ldap_tls);
        g_test_add_func("/capture/ldap-lost", test_ldap_lost);
        g_test_add_func("/capture/mqtt", test_mqtt);
        g_test_add_func("/capture/fastcgi", test_fastcgi);
        g_test_add_func("/capture/websocket", test_websocket);
        g_test_add_func("/capture/zookeeper", test_zookeeper);
        g_test_add_func("/capture/events", test_events);
        g_test_add_func("/capture/endless-chunks", test_endless_chunks);
        g_test_add_func("/capture/endless-cut", test_endless_cut);
        g_test_add_func("/capture/raft", test_raft);
        g_test_add_func("/capture/amqp", test_amqp);
        g_test_add_func("/capture/amqp-lost", test_amqp_lost);
        g_test_add_func("/capture/amqp-repeated", test_amqp_repeated);
        g_test_add_func("/capture/nats", test_nats);
        g_test_add_func("/capture/nats-lost", test_nats_lost);
        g_test_add_func("/capture/goodbyes", test_goodbyes);
        g_test_add_func("/capture/smtp", test_smtp);
        g_test_add_func("/capture/smtp-cut-short", test_smtp_cut_short);
        g_test_add_func("/capture/lmtp", test_lmtp);
        g_test_add_func("/capture/greeting-seen", test_greeting_seen);
        g_test_add_func("/capture/before-recognised", test_before_recognised);
        g_test_add_func("/capture/mid-stream", test_mid_stream);
        g_test_add_func("/capture/mid-request", test_mid_request);
        g_test_add_func("/capture/hole-in-body", test_hole_in_body);
        g_test_add_func("/capture/hole-over-messages", test_hole_over_messages);
        g_test_add_func("/capture/said-mid-message", test_said_mid_message);
        g_test_add_func("/capture/hole-in-batch", test_hole_in_batch);
        g_test_add_func("/capture/hole-in-overlap", test_hole_in_overlap);
        g_test_add_func("/capture/too-many-calls", test_too_many_calls);
        g_test_add_func("/capture/lost-call", test_lost_call);
        g_test_add_func("/capture/snapshot", test_snapshot);
        g_test_add_func("/capture/one-sided", test_one_sided);
        g_test_add_func("/capture/disorder", test_disorder);
        g_test_add_func("/capture/port-reuse", test_port_reuse);
        g_test_add_func("/capture/opening", test_opening);
        g_test_add_func("/capture/stalls", test_stalls);
        g_test_add_func("/capture/numbers", test_numbers);
        g_test_add_func("/capture/generic", test_generic);
        g_test_add_func("/capture/generic-mid-stream", test_generic_mid_stream);
        g_test_add_func("/capture/known-server", test_known_server);
        g_test_add_func("/capture/known-server-late", test_known_server_late);
        g_test_add_func("/capture/known-servers", test_known_servers);
        g_test_add_func("/capture/known-by-ports", test_known_by_ports);
        g_test_add_func("/capture/wrong-by-ports", test_wrong_by_ports);
        g_test_add_func("/capture/silence", test_silence);
        g_test_add_func("/capture/dns", test_dns);
        g_test_add_func("/capture/copies", test_copies);
        g_test_add_func("/capture/translation", test_translation);
        g_test_add_func("/capture/host", test_host);
        g_test_add_func("/capture/names-by-port", test_names_by_port);
        g_test_add_func("/capture/order", test_order);
        g_test_add_func("/capture/patience", test_patience);
        g_test_add_func("/capture/late", test_late);
        g_test_add_func("/capture/clock-step", test_clock_step);
        g_test_add_func("/capture/summary", test_summary);
        g_test_add_func("/capture/judgement", test_judgement);
        return g_test_run();
}
