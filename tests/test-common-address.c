/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which host packets were captured on, by the one address that all of them have.
 */
#include "capture/common-address.h"

#include "capture/ip.h"
#include "capture/link-layer.h"

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

        g_assert_false(common_address_find(common, &found));
        g_assert_true(add(common, A, B, IP_TCP));
        g_assert_true(add(common, B, A, IP_TCP));
        g_assert_false(common_address_find(common, &found)); /* either */
        g_assert_true(add(common, B, C, IP_UDP));
        g_assert_true(common_address_find(common, &found));
        g_assert_true(address_equal(found, address_v4(B)));
        g_assert_true(add(common, D, B, IP_TCP));
        g_assert_true(common_address_find(common, &found));
        g_assert_false(add(common, C, A, IP_TCP)); /* of others */
        g_assert_false(common_address_find(common, &found));
        g_assert_false(add(common, A, B, IP_TCP));
}

/* What says nothing of where it was captured. */
static void test_no_matter(void)
{
        g_autoptr(CommonAddress) common = common_address_new();
        const guint8 nothing[1] = { 0 };
        Packet broken = { nothing, 1, 1, LINK_RAW, 0 };
        Address found;

        g_assert_true(add(common, A, B, IP_TCP));
        g_assert_true(add(common, C, B, IP_TCP));
        g_assert_true(add(common, C, D, 1));               /* ICMP */
        g_assert_true(add(common, C, 0xe0000001, IP_UDP)); /* multicast */
        g_assert_true(add(common, LO, LO, IP_TCP));        /* the loopback interface */
        g_assert_true(add(common, D, D, IP_TCP));          /* of an address to itself */
        g_assert_true(common_address_add(common, &broken));
        g_assert_true(common_address_find(common, &found));
        g_assert_true(address_equal(found, address_v4(B)));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/common-address/one", test_one);
        g_test_add_func("/common-address/no-matter", test_no_matter);
        return g_test_run();
}
