/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The header of a proxy: alone, and before the first bytes of conversations, which must be as
 * without it.
 */
#include "capture/network/proxy-header.h"
#include "capture/prefix.h"
#include "tests/unit/capture/scene.h"

#define MARK "0d0a0d0a000d0a515549540a"

static const struct {
        const char *hex;  /* or NULL */
        const char *text; /* where it is */
        gsize size;       /* 0: it is none */
        const char *source, *destination;
} rows[] = {
        { NULL, "PROXY TCP4 192.0.2.7 10.0.0.2 51234 443\r\n", 41, "192.0.2.7", "10.0.0.2" },
        { NULL, "PROXY TCP6 2001:db8::7 2001:db8::2 51234 443\r\n", 46, "2001:db8::7",
          "2001:db8::2" },
        { NULL, "PROXY UNKNOWN\r\n", 15, NULL, NULL },
        { NULL, "PROXY UNKNOWN whatever else\r\n", 29, NULL, NULL },
        { NULL, "PROXY TCP4 192.0.2.7 10.0.0.2 51234 65536\r\n", 0, NULL, NULL },
        { NULL, "PROXY TCP4 192.0.2.7 10.0.0.2 51234\r\n", 0, NULL, NULL },
        { NULL, "PROXY TCP4 192.0.2.7 10.0.0.2 51234 443 1\r\n", 0, NULL, NULL },
        { NULL, "PROXY TCP5 192.0.2.7 10.0.0.2 51234 443\r\n", 0, NULL, NULL },
        { NULL, "PROXY / HTTP/1.1\r\n", 0, NULL, NULL },
        { NULL, "POST / HTTP/1.1\r\n", 0, NULL, NULL },
        { MARK "2111000c c0000207 0a000002 c82201bb", NULL, 28, "192.0.2.7", "10.0.0.2" },
        { MARK "21110013 c0000207 0a000002 c82201bb 03000411223344", NULL, 35, "192.0.2.7",
          "10.0.0.2" },
        { MARK
          "21210024 20010db8000000000000000000000007 20010db8000000000000000000000002 c82201bb",
          NULL, 52, "2001:db8::7", "2001:db8::2" },
        { MARK "20000000", NULL, 16, NULL, NULL },
        { MARK "21310004 61626364", NULL, 20, NULL, NULL },
        { MARK "2111000b c0000207 0a000002 c82201", NULL, 0, NULL, NULL },
        { MARK "3111000c c0000207 0a000002 c82201bb", NULL, 0, NULL, NULL },
        { MARK "2141000c c0000207 0a000002 c82201bb", NULL, 0, NULL, NULL },
};

static GByteArray *row_bytes(guint i)
{
        GByteArray *out;
        if (rows[i].hex)
                return hex_bytes(rows[i].hex);
        out = g_byte_array_new();
        g_byte_array_append(out, (const guint8 *)rows[i].text, (guint)strlen(rows[i].text));
        return out;
}

/* Cut anywhere it is said to go on, or to be none; it is never read from less than it is. */
static void test_read(void)
{
        for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autoptr(GByteArray) bytes = row_bytes(i);
                ProxyHeaderStatus status = PROXY_HEADER_MORE;
                ProxyHeader header;
                for (guint n = 0; n <= bytes->len; n++) {
                        g_autofree guint8 *copy = g_memdup2(bytes->data, n);
                        ProxyHeaderStatus before = status;
                        status = proxy_header_read(copy, n, &header);
                        g_assert_true(before == status || before == PROXY_HEADER_MORE);
                        if (status == PROXY_HEADER_READ)
                                g_assert_cmpuint(n, >=, MIN(rows[i].size, 16));
                }
                g_assert_cmpint(status, ==, rows[i].size ? PROXY_HEADER_READ : PROXY_HEADER_NONE);
                if (!rows[i].size)
                        continue;
                g_assert_cmpuint(header.size, ==, rows[i].size);
                g_assert_cmpint(header.has_ends, ==, rows[i].source != NULL);
                if (header.has_ends) {
                        char text[ADDRESS_TEXT_SIZE];
                        g_assert_cmpstr(address_format(header.source.address, text), ==,
                                        rows[i].source);
                        g_assert_cmpstr(address_format(header.destination.address, text), ==,
                                        rows[i].destination);
                        g_assert_cmpuint(header.source.port, ==, 51234);
                        g_assert_cmpuint(header.destination.port, ==, 443);
                }
        }
}

/* Names callers by the header. */
static Scene *scene_named(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        CaptureOptions options = { .patience = CAPTURE_PATIENCE,
                                   .disorder = CAPTURE_DISORDER,
                                   .ports = s->ports,
                                   .named_by_proxy = TRUE };
        capture_free(s->capture);
        s->capture = capture_new(&options, s->nodes, s->names);
        return s;
}

static void say_bytes(Scene *s, guint side, gint64 ms, const guint8 *bytes, gsize n)
{
        s->time = ms * MS;
        segment(s, side, ACK, s->next[side], (const char *)bytes, n);
        s->next[side] += (guint32)n;
}

/* The client's first bytes in two segments, the first of cut bytes; 0: in one. */
static void say_split(Scene *s, const GByteArray *header, const char *text, guint cut)
{
        g_autoptr(GByteArray) all = g_byte_array_new();
        g_byte_array_append(all, header->data, header->len);
        g_byte_array_append(all, (const guint8 *)text, (guint)strlen(text));
        if (cut > 0)
                say_bytes(s, CLIENT, 5, all->data, cut);
        if (cut < all->len)
                say_bytes(s, CLIENT, 6, all->data + cut, all->len - cut);
}

/* Of each header that is one. The client speaks first, and the protocol is recognised or said. */
static void test_http(void)
{
        static const char text[] = "GET / HTTP/1.1\r\n\r\n";
        for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autoptr(GByteArray) header = row_bytes(i);
                for (guint cut = 0; rows[i].size && cut <= header->len + strlen(text); cut++)
                        for (guint said = 0; said < 2; said++) {
                                Scene *s = scene_new(two_nodes, NULL, TRUE);
                                s->ports[80] = said ? protocol_lookup("http") : NULL;
                                handshake(s);
                                say_split(s, header, text, cut);
                                say(s, SERVER, 7, "HTTP/1.1 204 n\r\n\r\n");
                                gboolean begun = cut > header->len;
                                gboolean parts = begun && cut < header->len + strlen(text);
                                g_autofree char *expected = g_strdup_printf(
                                        "%u CALL_SENT a>b 1000.%x%s label=GET%%20/\n"
                                        "7 RET_SENT b>a 1000.%x\n",
                                        begun ? 5 : 6, 0x101 + header->len,
                                        parts ? " dur=1000000" : "", 0x101 + header->len);
                                scene_end(s, expected);
                        }
        }
}

/* The server speaks first, when it has the header. */
static void test_greeting(void)
{
        g_autoptr(GByteArray) header = row_bytes(0);
        for (guint cut = 0; cut < header->len; cut++) {
                Scene *s = scene_new(two_nodes, NULL, FALSE);
                handshake(s);
                say_split(s, header, "", cut);
                say(s, SERVER, 7, "220 b ESMTP\r\n");
                say(s, CLIENT, 8, "EHLO a\r\n");
                say(s, SERVER, 9, "250 b\r\n");
                say(s, CLIENT, 10, "MAIL FROM:<x@y>\r\nRCPT TO:<z@y>\r\nDATA\r\n");
                say(s, SERVER, 11, "250 k\r\n250 k\r\n354 k\r\n");
                say(s, CLIENT, 12, "hi\r\n.\r\n");
                say(s, SERVER, 13, "250 k\r\n");
                scene_end(s, "10 CALL_SENT a>b 1000.132 dur=2000000\n"
                             "13 RET_SENT b>a 1000.132\n");
        }
}

static void test_caller(void)
{
        for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autoptr(GByteArray) header = row_bytes(i);
                if (!rows[i].size)
                        continue;
                Scene *s = scene_named();
                handshake(s);
                say_split(s, header, "GET / HTTP/1.1\r\n\r\n", 0);
                say(s, SERVER, 7, "HTTP/1.1 204 n\r\n\r\n");
                const char *name = rows[i].source ? rows[i].source : "a";
                g_autofree char *expected =
                        g_strdup_printf("6 CALL_SENT %s>b 1000.%x\n7 RET_SENT b>%s 1000.%x\n", name,
                                        0x101 + header->len, name, 0x101 + header->len);
                scene_end(s, expected);
        }
}

/* What begins as a header and is none is the client's own, at its own time. */
static void test_no_header(void)
{
        static const char text[] = "PROXY / HTTP/1.1\r\nHost: PROXY\r\n\r\n";
        for (guint cut = 1; cut < strlen(text); cut++) {
                Scene *s = scene_new(two_nodes, NULL, FALSE);
                s->ports[80] = protocol_lookup("generic");
                handshake(s);
                say_bytes(s, CLIENT, 5, (const guint8 *)text, cut);
                say_bytes(s, CLIENT, 6, (const guint8 *)text + cut, strlen(text) - cut);
                say(s, SERVER, 7, "HTTP/1.1 204 n\r\n\r\n");
                scene_end(s, "5 CALL_SENT a>b 1000.101 dur=1000000\n"
                             "7 RET_SENT b>a 1000.101\n");
        }
        /* It is not waited for when the server answers, when bytes are missing, or at the end. */
        for (guint how = 0; how < 3; how++) {
                Scene *s = scene_new(two_nodes, NULL, FALSE);
                handshake(s);
                say(s, CLIENT, 5, "PRO");
                if (how == 0)
                        say(s, SERVER, 6, "what?");
                else if (how == 1)
                        lose(s, CLIENT, 4), say(s, SERVER, 6, "what?");
                else
                        hang_up(s, CLIENT, 6);
                capture_finish(s->capture);
                take_lines(s);
                g_assert_true(g_str_has_prefix(s->lines->str, "5 CALL_SENT a>b 1000.101"));
                scene_free(s);
        }
}

/* The snapshot length cuts within the header. */
static void test_cut(void)
{
        g_autoptr(GByteArray) header = row_bytes(10);
        for (gsize n = 12; n < header->len; n++) {
                Scene *s = scene_new(two_nodes, NULL, FALSE);
                handshake(s);
                s->snapshot = 40 + n;
                say_bytes(s, CLIENT, 5, header->data, header->len);
                s->snapshot = 65536;
                say(s, CLIENT, 6, "GET / HTTP/1.1\r\n\r\n");
                say(s, SERVER, 7, "HTTP/1.1 204 n\r\n\r\n");
                scene_end(s, "6 CALL_SENT a>b 1000.11d\n"
                             "7 RET_SENT b>a 1000.11d\n");
        }
}

static void check_skipped(const GByteArray *datagram, gsize n, gsize expected)
{
        const guint8 *bytes = datagram->data;
        gsize left = n, length = n;
        prefix_skip_datagram(&bytes, &left, &length);
        g_assert_cmpuint(bytes - datagram->data, ==, expected);
        g_assert_true(left == n - expected && length == left);
}

static void test_datagram(void)
{
        g_autoptr(GByteArray) header = row_bytes(10), text = row_bytes(0);
        check_skipped(header, header->len, header->len);
        check_skipped(header, header->len - 1, 0);
        check_skipped(text, text->len, 0);
        static const char query[] = "0001 0100 0001 0000 0000 0000 0161 00 0001 0001";
        g_autoptr(GByteArray) bytes = hex_bytes(query);
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        g_byte_array_append(header, bytes->data, bytes->len);
        s->port[SERVER] = 53;
        datagram(s, CLIENT, 5, (const char *)header->data, header->len);
        bytes->data[2] |= 0x80;
        datagram(s, SERVER, 6, (const char *)bytes->data, bytes->len);
        scene_end(s, "5 CALL_SENT a>b 1000.1\n"
                     "6 RET_SENT b>a 1000.1\n");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/prefix/read", test_read);
        g_test_add_func("/prefix/http", test_http);
        g_test_add_func("/prefix/greeting", test_greeting);
        g_test_add_func("/prefix/caller", test_caller);
        g_test_add_func("/prefix/no-header", test_no_header);
        g_test_add_func("/prefix/cut", test_cut);
        g_test_add_func("/prefix/datagram", test_datagram);
        return g_test_run();
}
