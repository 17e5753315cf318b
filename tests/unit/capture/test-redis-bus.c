/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-pieces.h"

#define BUS      protocol_redis_bus
#define PING     "RCmb\0\0\0\x18\0\1abcdefghijklmn"
#define TOO_LONG "RCmb\x7f\0\0\0\0\1abcdef"

static void test_messages(void)
{
        CHECK(BUS, PING PING, CALL_NONE, ".24 .48");
        CHECK(BUS, PING "RCmb\0\0", CALL_NONE, ".24 +");
        CHECK(BUS, TOO_LONG, CALL_NONE, "!");
        CHECK(BUS, "RCmc\0\0\0\x18", CALL_NONE, "!");
}

static void test_recognised(void)
{
        g_assert_true(RECOGNISED(BUS, PING));
        g_assert_false(RECOGNISED(BUS, "RCm"));
        g_assert_false(RECOGNISED(BUS, "RCmb\0\0\0\1\0\1abcdef"));
        g_assert_false(RECOGNISED(BUS, "*1\r\n$4\r\nPING\r\n"));
}

static void test_find_boundary(void)
{
        g_assert_cmpuint(BOUNDARY(BUS, "RCmRCmb\0"), ==, 3);
        g_assert_cmpuint(BOUNDARY(BUS, "abcRC"), ==, 3);
        g_assert_cmpuint(BOUNDARY(BUS, "abc"), ==, 3);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/redis-bus/messages", test_messages);
        g_test_add_func("/redis-bus/recognised", test_recognised);
        g_test_add_func("/redis-bus/find-boundary", test_find_boundary);
        return g_test_run();
}
