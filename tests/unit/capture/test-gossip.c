/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-pieces.h"

#define GOSSIP    protocol_gossip
#define UUID      "abcdefghijklmnop"
#define HANDSHAKE "\x24\0\0\2\x47\xed\xa7\x64\0\1\x10\0" UUID UUID
#define OF_GROUP  "\x14\0\0\2\x47\xed\xa7\x64\0\x8\0\0" UUID

static void test_messages(void)
{
        CHECK(GOSSIP, HANDSHAKE, CALL_NONE, "+");
}

static void test_recognised(void)
{
        g_assert_true(RECOGNISED(GOSSIP, HANDSHAKE));
        g_assert_true(RECOGNISED(GOSSIP, OF_GROUP OF_GROUP));
        g_assert_true(RECOGNISED(GOSSIP, "\xca\x55\x2d\xfa\0\0\0\x0c"));
        g_assert_true(RECOGNISED(GOSSIP, "\x09\x82\xa4"
                                         "Algo\0"));
        g_assert_true(RECOGNISED(GOSSIP, "\xf4\2dc\6\x83\xa5Nodes\1"));
        g_assert_true(RECOGNISED(GOSSIP, "\x0a\0\0\0\3\1xy"));
        g_assert_false(RECOGNISED(GOSSIP, "\x24\0\0\2\x47\xed\xa7\x64\0\x9\x10\0" UUID UUID));
        g_assert_false(RECOGNISED(GOSSIP, "\x24\0\0\3\x47\xed\xa7\x64\0\1\x10\0" UUID UUID));
        g_assert_false(RECOGNISED(GOSSIP, HANDSHAKE "GET / HTTP/1.1\r\n"));
        g_assert_false(RECOGNISED(GOSSIP, "\x09\x82\xa4"
                                          "algo\0"));
        g_assert_false(RECOGNISED(GOSSIP, "\x0a\0\0\0\4\1xy"));
        g_assert_false(RECOGNISED(GOSSIP, "\xca\x55\x2d\xfb\0\0\0\x0c"));
}

#define UDP  protocol_gossip_udp
#define PING "\1\x81\0\1\0\0\0\x25\xbe\0\0\0\0\0\0\x3f\x7d\xb9\x36\0\0\0\0\0\x25\1"
#define DATA "\1\0\0\1\0\0\0\x36\0\0\0\1\0\0"

static void test_corosync(void)
{
        g_assert_true(RECOGNISED(UDP, "\x70\xc0\3\2\0\1\0\0"));
        g_assert_true(RECOGNISED(UDP, "\xc0\x70\3\0\0\1\0\0"));
        g_assert_true(RECOGNISED(UDP, DATA "\x70\xc0\3\0\0\1"));
        g_assert_true(RECOGNISED(UDP, PING));
        g_assert_false(RECOGNISED(UDP, PING "\0"));
        g_assert_false(RECOGNISED(UDP, "\x70\xc0\4\2\0\1\0\0"));
        g_assert_false(RECOGNISED(UDP, "\x70\xc0\3\6\0\1\0\0"));
        g_assert_false(RECOGNISED(UDP, DATA "\x70\xc1\3\0\0\1"));
        g_assert_false(RECOGNISED(UDP, "\x70\xc0\3"));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/gossip/messages", test_messages);
        g_test_add_func("/gossip/recognised", test_recognised);
        g_test_add_func("/gossip/corosync", test_corosync);
        return g_test_run();
}
