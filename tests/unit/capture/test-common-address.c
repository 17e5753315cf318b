/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which host packets were captured on, by the one address that all of them have.
 */
#include "capture/network/common-address.h"

#include "capture/network/ip.h"
#include "capture/network/link-layer.h"

/* A bare IPv4 packet. */
static gboolean add(CommonAddress *common, guint32 source, guint32 destination, guint8 protocol)
{
        guint8 bytes[28] = { 0x45, 0, 0, sizeof bytes };
        Packet packet = { bytes, sizeof bytes, sizeof bytes, LINK_RAW, 0 };

        bytes[9] = protocol;
        for (guint i = 0; i < 4; i++) {
                bytes[12 + i] = (guint8)(source >> (24 - 8 * i));
                bytes[16 + i] = (guint8)(destination >> (24 - 8 * i));
        }
        return common_address_add(common, &packet);
}

enum { A = 0x0a000001, B = 0x0a000002, C = 0x0a000003, D = 0x0a000004, LO = 0x7f000001 };

static void test_one(void)
{
        g_autoptr(CommonAddress) common = common_address_new();
        Address found;
        gboolean sure;

        g_assert_false(common_address_find(common, &found, &sure));
        g_assert_true(add(common, A, B, IP_TCP));
        g_assert_true(add(common, B, A, IP_TCP));
        g_assert_false(common_address_find(common, &found, &sure)); /* either */
        g_assert_true(add(common, B, C, IP_UDP));
        g_assert_true(common_address_find(common, &found, &sure));
        g_assert_true(address_equal(found, address_v4(B)));
        g_assert_false(sure); /* no connection was opened */
        g_assert_true(add(common, D, B, IP_TCP));
        g_assert_true(common_address_find(common, &found, &sure));
        g_assert_false(add(common, C, A, IP_TCP)); /* of others */
        g_assert_false(common_address_find(common, &found, &sure));
        g_assert_false(add(common, A, B, IP_TCP));
}

/* What says nothing of where it was captured. */
static void test_no_matter(void)
{
        g_autoptr(CommonAddress) common = common_address_new();
        const guint8 nothing[1] = { 0 };
        Packet broken = { nothing, 1, 1, LINK_RAW, 0 };
        Address found;
        gboolean sure;

        g_assert_true(add(common, A, B, IP_TCP));
        g_assert_true(add(common, C, B, IP_TCP));
        g_assert_true(add(common, C, D, 1));               /* ICMP */
        g_assert_true(add(common, C, 0xe0000001, IP_UDP)); /* multicast */
        g_assert_true(add(common, LO, LO, IP_TCP));        /* the loopback interface */
        g_assert_true(add(common, D, D, IP_TCP));          /* of an address to itself */
        g_assert_true(common_address_add(common, &broken));
        g_assert_true(common_address_find(common, &found, &sure));
        g_assert_true(address_equal(found, address_v4(B)));
}

/* The segments that open a connection from client to server, of which the server's end answers
 * after one time (us) and the client's after the other. */
static void open_connection(CommonAddress *common, guint32 client, guint32 server, gint64 turn,
                            gint64 client_turn, guint16 port)
{
        const gint64 times[] = { 0, turn * 1000, (turn + client_turn) * 1000 };
        const guint8 flags[] = { 2, 18, 16 };

        for (guint i = 0; i < 3; i++) {
                guint32 ends[2] = { i == 1 ? server : client, i == 1 ? client : server };
                guint16 ports[2] = { i == 1 ? 80 : port, i == 1 ? port : 80 };
                guint8 bytes[40] = { 0x45, 0, 0, sizeof bytes, [9] = IP_TCP, [32] = 0x50 };
                Packet packet = { bytes, sizeof bytes, sizeof bytes, LINK_RAW, times[i] };

                for (guint k = 0; k < 8; k++)
                        bytes[12 + k] = (guint8)(ends[k / 4] >> (24 - 8 * (k % 4)));
                for (guint k = 0; k < 4; k++)
                        bytes[20 + k] = (guint8)(ports[k / 2] >> (8 - 8 * (k % 2)));
                bytes[27] = i == 1 ? 70 : i == 2 ? 51 : 50; /* sequence numbers */
                bytes[31] = i == 1 ? 51 : i == 2 ? 71 : 0;  /* what is acknowledged */
                bytes[33] = flags[i];
                g_assert_true(common_address_add(common, &packet));
        }
}

/* A broker's kernel answers as late as its clients' at a mirror port, sooner where it runs. */
static void test_star(void)
{
        static const struct {
                gint64 own, peers;
                gboolean sure;
        } cases[] = { { 10, 10, FALSE }, { 10, 15, FALSE }, { 10, 16, TRUE }, { 20, 10, FALSE } };

        for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(CommonAddress) common = common_address_new();
                Address found;
                gboolean sure;

                open_connection(common, A, B, cases[i].own, cases[i].peers, 1000);
                open_connection(common, C, B, cases[i].own, cases[i].peers, 1001);
                open_connection(common, B, D, cases[i].peers, cases[i].own, 1002);
                g_assert_true(common_address_find(common, &found, &sure));
                g_assert_true(address_equal(found, address_v4(B)));
                g_assert_cmpint(sure, ==, cases[i].sure);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/common-address/one", test_one);
        g_test_add_func("/common-address/no-matter", test_no_matter);
        g_test_add_func("/common-address/star", test_star);
        return g_test_run();
}
