/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tunnels of every kind around one datagram from 10.0.0.1 to 10.0.0.2, in packets
 * from 192.0.2.1 to 192.0.2.2, and what the capture makes of them.
 */
#include <string.h>

#include "capture/capture.h"
#include "capture/network/link-layer.h"
#include "capture/network/tunnel.h"

enum { OUTER, INNER };

static void put(GByteArray *out, guint64 value, guint size)
{
        while (size-- > 0) {
                guint8 byte = (guint8)(value >> 8 * size);
                g_byte_array_append(out, &byte, 1);
        }
}

/* Bytes in hex, blanks ignored, put before those of out. */
static void prepend(GByteArray *out, const char *hex)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        for (; *hex; hex++)
                if (*hex != ' ') {
                        put(bytes,
                            (guint)(g_ascii_xdigit_value(hex[0]) << 4 |
                                    g_ascii_xdigit_value(hex[1])),
                            1);
                        hex++;
                }
        g_byte_array_prepend(out, bytes->data, bytes->len);
}

static void prepend_v4(GByteArray *out, guint which, guint8 protocol)
{
        static const guint32 base[] = { [OUTER] = 0xc0000200, [INNER] = 0x0a000000 };
        g_autoptr(GByteArray) head = g_byte_array_new();
        put(head, 0x4500, 2);
        put(head, 20 + out->len, 2);
        put(head, 0, 4);
        put(head, 64, 1);
        put(head, protocol, 1);
        put(head, 0, 2);
        put(head, base[which] + 1, 4);
        put(head, base[which] + 2, 4);
        guint32 sum = 0;
        for (guint i = 0; i < 20; i += 2)
                sum += (guint)(head->data[i] << 8 | head->data[i + 1]);
        sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
        head->data[10] = (guint8)(sum >> 8);
        head->data[11] = (guint8)sum;
        g_byte_array_prepend(out, head->data, head->len);
}

static void prepend_v6(GByteArray *out, guint8 protocol)
{
        g_autoptr(GByteArray) head = g_byte_array_new();
        put(head, 0x60000000, 4);
        put(head, out->len, 2);
        put(head, protocol, 1);
        put(head, 64, 1);
        for (guint i = 1; i <= 2; i++) {
                put(head, 0x20010db800000000, 8);
                put(head, i, 8);
        }
        g_byte_array_prepend(out, head->data, head->len);
}

static void prepend_udp(GByteArray *out, guint16 source, guint16 destination)
{
        g_autoptr(GByteArray) head = g_byte_array_new();
        put(head, source, 2);
        put(head, destination, 2);
        put(head, 8 + out->len, 2);
        put(head, 0, 2);
        g_byte_array_prepend(out, head->data, head->len);
}

static GByteArray *datagram(void)
{
        GByteArray *out = g_byte_array_new();
        put(out, 0x6869, 2);
        prepend_udp(out, 1000, 2000);
        prepend_v4(out, INNER, IP_UDP);
        return out;
}

static GByteArray *datagram_v6(void)
{
        GByteArray *out = g_byte_array_new();
        put(out, 0x6869, 2);
        prepend_udp(out, 1000, 2000);
        prepend_v6(out, IP_UDP);
        return out;
}

#define MACS     "020000000001 020000000002"
#define ETHERNET MACS "0800"

/* What the messages of the packet are, and which reason was counted. */
static void check_said(GByteArray *packet, gsize captured, const guint8 *tunnels,
                       const char *expected)
{
        CaptureOptions options = { .patience = CAPTURE_PATIENCE,
                                   .disorder = CAPTURE_DISORDER,
                                   .tunnels = tunnels };
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(NodeNames) names = node_names_new(nodes);
        g_autoptr(Capture) capture = capture_new(&options, nodes, names);
        g_autoptr(GString) found = g_string_new(NULL);
        g_autofree guint8 *copy = g_memdup2(packet->data, captured);
        Packet p = { .bytes = copy,
                     .captured = captured,
                     .length = packet->len,
                     .link_type = LINK_RAW,
                     .time = 1000 };
        Message m;
        capture_add(capture, &p);
        capture_finish(capture);
        while (capture_next(capture, &m))
                g_string_append_printf(found, "%s>%s ", node_table_name(nodes, m.sender),
                                       node_table_name(nodes, m.receiver));
        for (AccountEntry i = ACCOUNT_BAD_TIME; i <= ACCOUNT_TOO_DEEP; i++)
                if (capture_account(capture)->count[i])
                        g_string_append_printf(found, "%s ", account_key(i));
        if (capture_account(capture)->count[ACCOUNT_TUNNELLED])
                g_string_append(found, "in a tunnel");
        if (expected)
                g_assert_cmpstr(found->str, ==, expected);
        else /* cut: it is anything but a message of others */
                g_assert_true(strstr(found->str, "packets") ||
                              g_str_has_prefix(found->str, "192.0.2.1>192.0.2.2 ") ||
                              strstr(found->str, "in a tunnel"));
}

static void check_cut(GByteArray *packet, gsize captured, const char *expected)
{
        check_said(packet, captured, NULL, expected);
}

static void check(GByteArray *packet, const char *expected)
{
        check_cut(packet, packet->len, expected);
        g_byte_array_free(packet, TRUE);
}

#define FOUND   "10.0.0.1>10.0.0.2 in a tunnel"
#define FOUND_6 "2001:db8::1>2001:db8::2 in a tunnel"
#define OUTSIDE "192.0.2.1>192.0.2.2 "

static void test_ip_in_ip(void)
{
        GByteArray *p = datagram();
        prepend_v4(p, OUTER, 4);
        check(p, FOUND);

        p = datagram();
        prepend_v6(p, 4);
        check(p, FOUND);

        p = g_byte_array_new();
        prepend_udp(p, 1000, 2000);
        prepend_v6(p, IP_UDP);
        prepend_v4(p, OUTER, 41);
        check(p, "2001:db8::1>2001:db8::2 in a tunnel");
}

/* Each row: what stands between the outer IP header and the inner packet. */
static void test_gre(void)
{
        static const struct {
                const char *head, *expected;
        } rows[] = {
                { "0000 0800", FOUND },
                { "b000 0800 00000000 00000001 00000002", FOUND }, /* checksum, key, sequence */
                { "2000 6558 00000001" ETHERNET, FOUND },
                { "0000 8847 00001140", FOUND },
                { "3081 880b 00100001 00000001 00000001 ff03 0021", FOUND },         /* PPTP */
                { "0000 88be" ETHERNET, FOUND },                                     /* ERSPAN I */
                { "1000 88be 00000001 10000001 00000000" ETHERNET, FOUND },          /* II */
                { "1000 22eb 00000001 20000001 00000000 00000000" ETHERNET, FOUND }, /* III */
                { "1000 22eb 00000001 20000001 00000000 00000001 1122334455667788" ETHERNET,
                  FOUND },
                { "1000 22eb 00000001 20000001 00000000 00000800", FOUND }, /* a bare packet */
                { "1000 22eb 00000001 20000001 00000000 00007c00" ETHERNET,
                  "packets not used: not IP " },
                { "1000 88be 00000001 30000001 00000000" ETHERNET,
                  "packets not used: link-layer header broken or cut " },
                { "0000 0806", "packets not used: not IP " },
                { "4000 0800 00000000", "packets not used: neither TCP nor UDP " },
                { "0002 0800", "packets not used: neither TCP nor UDP " },
        };
        for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
                GByteArray *p = datagram();
                prepend(p, rows[i].head);
                prepend_v4(p, OUTER, 47);
                check(p, rows[i].expected);
        }
        GByteArray *p = g_byte_array_new(); /* the acknowledgement alone */
        prepend(p, "2081 880b 00000001 00000001");
        prepend_v4(p, OUTER, 47);
        check(p, "packets not used: not IP ");
}

/* Each row: a kind, its port, its header before a packet of IP. */
static const struct {
        const char *name;
        guint16 port;
        const char *head;
} over_udp[] = {
        { "vxlan", 4789, "08000000 00000100" ETHERNET },
        { "vxlan", 8472, "08000000 00000100" MACS "8100 0005 0800" },
        { "vxlan", 48879, "88000001 00000100" ETHERNET },
        { "vxlan-gpe", 4790, "0c000001 00000100" },
        { "vxlan-gpe", 4790, "0c000003 00000100" ETHERNET },
        { "vxlan-gpe", 4790, "0e000004 00000100 0fc40101 00000100 00112233 44556677" },
        { "geneve", 6081, "00006558 00000100" ETHERNET },
        { "geneve", 6081, "02400800 00000100 1111111111111111" },
        { "gtp-u", 2152, "30ff001e 00000001" },
        { "gtp-u", 2152, "32ff0022 00000001 00070000" },
        { "gtp-u", 2152, "34ff0026 00000001 00000085 01100100" },
        { "l2tp", 1701, "0002 0001 0002 ff03 0021" },
        { "l2tp", 1701, "4002 002a 0001 0002 ff03 0021" },
        { "l2tp", 1701, "0a02 0001 0002 00010002 0002 0000 0021" },
        { "l2tp", 1701, "00030000 00000007" ETHERNET },
        { "l2tp", 1701, "00030000 00000007 1122334455667788 00000000" ETHERNET },
        { "tzsp", 37008, "01000001 01" ETHERNET },
        { "tzsp", 37008, "01000001 0a02aabb 00 01" ETHERNET },
        { "tzsp", 37008, "01000012 01 0801 0000" MACS "020000000003 0010 aaaa03000000 0800" },
        { "fou", 5555, "" },
        { "gue", 6080, "00040000" },
        { "gue", 6080, "01040000 aabbccdd" },
        { "gue", 6080, "002f0000 20000800 00000001" },
        { "gre", 4754, "00000800" },
        { "lisp", 4341, "80000001 00000001" },
        { "mpls", 6635, "00001040 00002140" },
        { "mpls", 6635, "00002140 00000000" ETHERNET },
        { "hp-erm", 7932, "000000000000000000000000" ETHERNET },
};

static GByteArray *in_udp(GByteArray *p, const char *head, guint16 port)
{
        prepend(p, head);
        prepend_udp(p, 50000, port);
        prepend_v4(p, OUTER, IP_UDP);
        return p;
}

/* Of its own port or another, its header is as right. A checksum of an IP header that was never
 * filled in is enough at its own port alone. */
static void test_over_udp(void)
{
        for (guint i = 0; i < G_N_ELEMENTS(over_udp); i++) {
                const char *head = over_udp[i].head;
                check(in_udp(datagram(), head, over_udp[i].port), FOUND);
                check(in_udp(datagram(), head, 12345), FOUND);
                GByteArray *p = datagram();
                p->data[10] ^= 1;
                check(in_udp(p, head, over_udp[i].port), FOUND);
                p = datagram();
                p->data[10] ^= 1;
                check(in_udp(p, head, 12345), OUTSIDE);
        }
}

static void test_over_udp_cut(void)
{
        for (guint i = 0; i < G_N_ELEMENTS(over_udp); i++)
                for (guint own = 0; own < 2; own++) {
                        g_autoptr(GByteArray) p = in_udp(datagram(), over_udp[i].head,
                                                         own ? over_udp[i].port : 12345);
                        for (gsize n = 0; n <= p->len; n++)
                                check_cut(p, n, n == p->len ? FOUND : NULL);
                        check_cut(p, p->len - 2, FOUND);
                }
}

/* IPv6 inside and outside. */
static void test_over_udp_v6(void)
{
        static const struct {
                guint16 port;
                const char *head;
        } rows[] = {
                { 4789, "08000000 00000100" MACS "86dd" },
                { 12345, "08000000 00000100" MACS "86dd" },
                { 6081, "000086dd 00000100" },
                { 3544, "" },
                { 3544, "0000 aaaa bbbbbbbb" },
                { 3544, "0001 0000 1122334455667788 00 0000 aaaa bbbbbbbb" },
                { 5555, "" },
                { 12345, "" },
                { 6080, "00290000" },
                { 12345, "80000001 00000001" },
        };
        for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
                check(in_udp(datagram_v6(), rows[i].head, rows[i].port), FOUND_6);
                GByteArray *p = datagram();
                prepend(p, "08000000 00000100" ETHERNET);
                prepend_udp(p, 50000, 8472);
                prepend_v6(p, IP_UDP);
                check(p, FOUND);
        }
}

/* What looks nearly like a tunnel. */
static void test_no_tunnel(void)
{
        static const struct {
                guint16 port;
                const char *head;
        } rows[] = {
                { 4789, "00000000 00000100" ETHERNET },
                { 4789, "08000000 00000101" ETHERNET },
                { 4789, "08000200 00000100" ETHERNET },
                { 12345, "08000000 00000101" ETHERNET },
                { 6081, "40006558 10000200" ETHERNET },
                { 6081, "3f006558 10000200" ETHERNET },
                { 6081, "00001234 00000100" ETHERNET },
                { 2152, "31ff001d 00000001" },
                { 2152, "34ff0026 00000001 00000085 00100100" },
                { 1701, "0002 0001 0002 c021" MACS },
                { 12345, "0002 0001 0002 ff03 0023" },
                { 37008, "02000001 01" ETHERNET },
                { 37008, "01000001 00 00" },
                { 6080, "c0040000" },
                { 6080, "00060000" },
                { 4341, "81000001 00000001" },
                { 12345, "6869" },
        };
        for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
                check(in_udp(datagram(), rows[i].head, rows[i].port),
                      i == 9 ? "packets not used: not IP in a tunnel" : OUTSIDE);
        GByteArray *p = datagram();
        put(p, 0x6869, 2); /* more than the inner header says */
        check(in_udp(p, "", 12345), OUTSIDE);
}

static void test_said(void)
{
        static guint8 said[65536];
        said[12345] = tunnel_kind_lookup("vxlan");
        said[4789] = tunnel_kind_lookup("hp-erm");
        g_assert_cmpuint(tunnel_kind_lookup("vxlam"), ==, 0);
        GByteArray *p = datagram();
        p->data[10] ^= 1;
        in_udp(p, "08000000 00000100" ETHERNET, 12345);
        check_said(p, p->len, said, FOUND);
        g_byte_array_free(p, TRUE);
        p = in_udp(datagram(), "08000000 00000100 00000000" ETHERNET, 4789);
        check_said(p, p->len, said, FOUND);
        g_byte_array_free(p, TRUE);
}

/* A flow that was none for long is not looked into; and one that mostly is none is none. */
static void test_flow(void)
{
        g_autoptr(Tunnels) tunnels = tunnels_new(NULL);
        g_autoptr(GByteArray) tunnel = in_udp(datagram(), "08000000 00000100" ETHERNET, 12345);
        g_autoptr(GByteArray) plain = in_udp(g_byte_array_new(), "68696869", 12345);
        g_autoptr(GByteArray) own = in_udp(datagram(), "08000000 00000100" ETHERNET, 4789);
        static const char seen[] = "tppt"
                                   "pppppppppppppppppppp"
                                   "to";
        g_autoptr(GString) found = g_string_new(NULL);
        for (const char *c = seen; *c; c++) {
                GByteArray *p = *c == 't' ? tunnel : *c == 'p' ? plain : own;
                IpPacket ip = { .source = address_v4(1),
                                .destination = address_v4(2),
                                .payload = p->data + 20,
                                .captured = p->len - 20,
                                .length = p->len - 20,
                                .protocol = IP_UDP };
                TunnelInside in;
                g_string_append_c(found, "-fo"[tunnel_decode(tunnels, &ip, &in)]);
        }
        g_assert_cmpstr(found->str, ==,
                        "fo-f"
                        "--------------------"
                        "-f");
}

/* Authentication is an extension header of IPv4, too. */
static void test_authentication(void)
{
        for (guint tunnel = 0; tunnel < 2; tunnel++) {
                GByteArray *p = datagram();
                if (!tunnel)
                        g_byte_array_remove_range(p, 0, 20);
                prepend(p, tunnel ? "04040000 00000001 00000001 112233445566778899aabbcc"
                                  : "11040000 00000001 00000001 112233445566778899aabbcc");
                prepend_v4(p, OUTER, 51);
                for (gsize n = 0; n < p->len; n++)
                        check_cut(p, n, NULL);
                check(p, tunnel ? FOUND : OUTSIDE);
        }
}

static void test_l2tp_over_ip(void)
{
        GByteArray *p = datagram();
        prepend(p, "00000007 11223344" ETHERNET);
        prepend_v4(p, OUTER, 115);
        check(p, FOUND);
        p = datagram();
        prepend(p, "00000000 c8030014");
        prepend_v4(p, OUTER, 115);
        check(p, "packets not used: not IP ");
}

static void test_to_group(void)
{
        GByteArray *p = datagram();
        prepend(p, "08000000 00000100" ETHERNET);
        prepend_udp(p, 50000, 4789);
        prepend_v4(p, OUTER, IP_UDP);
        memcpy(p->data + 16, "\xef\1\1\1", 4);
        check(p, FOUND);
}

static void test_depth(void)
{
        GByteArray *p = datagram();
        for (guint i = 0; i < TUNNEL_DEPTH; i++) {
                prepend_v4(p, OUTER, 4);
                check_cut(p, p->len, FOUND);
        }
        prepend_v4(p, OUTER, 4);
        check(p, "packets not used: too many tunnels in one another in a tunnel");
}

/* An outer datagram in fragments, and in it an inner one in fragments: each depth puts
 * its own together. */
static void add_fragment(Capture *capture, const guint8 *bytes, guint from, guint to, gboolean more,
                         guint which, gboolean split_again);

static void add_whole(Capture *capture, GByteArray *packet, gboolean split)
{
        Packet p = { .bytes = packet->data,
                     .captured = packet->len,
                     .length = packet->len,
                     .link_type = LINK_RAW,
                     .time = 1000 };
        if (!split) {
                capture_add(capture, &p);
                return;
        }
        guint middle = (packet->len - 20) / 2 & ~7u;
        add_fragment(capture, packet->data + 20, 0, middle, TRUE, OUTER, FALSE);
        add_fragment(capture, packet->data + 20, middle, packet->len - 20, FALSE, OUTER, FALSE);
}

static void add_fragment(Capture *capture, const guint8 *bytes, guint from, guint to, gboolean more,
                         guint which, gboolean split_again)
{
        static guint16 id;
        g_autoptr(GByteArray) piece = g_byte_array_new();
        g_byte_array_append(piece, bytes + from, to - from);
        prepend_v4(piece, which, which == INNER ? IP_UDP : 4);
        id = from == 0 ? id + (which == OUTER) : id;
        piece->data[5] = which == OUTER ? (guint8)id : 0;
        piece->data[6] = (guint8)((more ? 0x20 : 0) | (from / 8) >> 8);
        piece->data[7] = (guint8)(from / 8);
        if (which == INNER)
                prepend_v4(piece, OUTER, 4);
        add_whole(capture, piece, split_again);
}

static void test_fragments(void)
{
        CaptureOptions options = { .patience = CAPTURE_PATIENCE, .disorder = CAPTURE_DISORDER };
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(NodeNames) names = node_names_new(nodes);
        g_autoptr(Capture) capture = capture_new(&options, nodes, names);
        g_autoptr(GByteArray) payload = g_byte_array_new();
        Message m;
        for (guint i = 0; i < 3000; i++)
                put(payload, i, 1);
        prepend_udp(payload, 1000, 2000);
        add_fragment(capture, payload->data, 0, 1504, TRUE, INNER, TRUE);
        add_fragment(capture, payload->data, 1504, payload->len, FALSE, INNER, TRUE);
        capture_finish(capture);
        g_assert_true(capture_next(capture, &m));
        g_assert_cmpstr(node_table_name(nodes, m.sender), ==, "10.0.0.1");
        g_assert_false(capture_next(capture, &m));
        g_assert_cmpuint(capture_account(capture)->count[ACCOUNT_FRAGMENTS], ==, 6);
        g_assert_cmpuint(capture_account(capture)->count[ACCOUNT_FRAGMENTS_LOST], ==, 0);
}

/* A segment that the snapshot length cuts within the tunnel counts in full. */
static void test_cut(void)
{
        CaptureOptions options = { .patience = CAPTURE_PATIENCE, .disorder = CAPTURE_DISORDER };
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(NodeNames) names = node_names_new(nodes);
        g_autoptr(Capture) capture = capture_new(&options, nodes, names);
        for (guint i = 0; i < 3; i++) {
                g_autoptr(GByteArray) p = g_byte_array_new();
                put(p, 0x10000050, 4);
                put(p, 100 + 1400 * i, 4);
                put(p, 0, 4);
                put(p, 0x5010ffff, 4);
                put(p, 0, 4);
                for (guint k = 0; k < 1400; k++)
                        put(p, k, 1);
                prepend_v4(p, INNER, IP_TCP);
                prepend(p, "08000000 00000100" ETHERNET);
                prepend_udp(p, 50000, 4789);
                prepend_v4(p, OUTER, IP_UDP);
                Packet packet = { .bytes = p->data,
                                  .captured = 128,
                                  .length = p->len,
                                  .link_type = LINK_RAW,
                                  .time = 1000 + i };
                capture_add(capture, &packet);
        }
        capture_finish(capture);
        const guint64 *count = capture_account(capture)->count;
        g_assert_cmpuint(count[ACCOUNT_CONNECTIONS], ==, 1);
        g_assert_cmpuint(count[ACCOUNT_PACKETS_CUT], ==, 3);
        g_assert_cmpuint(count[ACCOUNT_HOLES], ==, 0);
        g_assert_cmpuint(count[ACCOUNT_REPEATED], ==, 0);
        g_assert_cmpuint(count[ACCOUNT_CALLS] + count[ACCOUNT_ONE_WAY], ==, 1);
}

/* Cut anywhere it is refused or, from the inner ports on, understood. */
static void test_every_length(void)
{
        g_autoptr(Tunnels) tunnels = tunnels_new(NULL);
        g_autoptr(GByteArray) p = datagram();
        prepend(p, "1000 22eb 00000001 20000001 00000000 00000001 1122334455667788" ETHERNET);
        prepend_v4(p, OUTER, 47);
        for (gsize n = 20; n <= p->len; n++) {
                g_autofree guint8 *copy = g_memdup2(p->data, n);
                IpPacket ip = { .payload = copy + 20,
                                .captured = n - 20,
                                .length = p->len - 20,
                                .protocol = 47 };
                TunnelInside in;
                gboolean whole = n >= p->len - 44; /* all but Ethernet and what is in it */
                g_assert_cmpint(tunnel_decode(tunnels, &ip, &in), ==,
                                whole ? TUNNEL_FRAME : TUNNEL_OTHER);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/tunnel/ip-in-ip", test_ip_in_ip);
        g_test_add_func("/tunnel/gre", test_gre);
        g_test_add_func("/tunnel/over-udp", test_over_udp);
        g_test_add_func("/tunnel/over-udp-cut", test_over_udp_cut);
        g_test_add_func("/tunnel/over-udp-v6", test_over_udp_v6);
        g_test_add_func("/tunnel/no-tunnel", test_no_tunnel);
        g_test_add_func("/tunnel/said", test_said);
        g_test_add_func("/tunnel/flow", test_flow);
        g_test_add_func("/tunnel/authentication", test_authentication);
        g_test_add_func("/tunnel/l2tp-over-ip", test_l2tp_over_ip);
        g_test_add_func("/tunnel/to-group", test_to_group);
        g_test_add_func("/tunnel/depth", test_depth);
        g_test_add_func("/tunnel/fragments", test_fragments);
        g_test_add_func("/tunnel/cut", test_cut);
        g_test_add_func("/tunnel/every-length", test_every_length);
        return g_test_run();
}
