/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/parse-pieces.h"

#define REDIS protocol_redis
#define GET   "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"

enum { PLAIN = 1 };

static void test_commands(void)
{
        CHECK(REDIS, GET, 0, "C20");
        CHECK(REDIS, GET GET "*1\r\n$4\r\nping\r\n", 0, "C20 C40 C54");
        CHECK(REDIS, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\n\r\n*1\r\r\n" GET, 0, "C31 C51");
        CHECK(REDIS, GET "*1\r\n$6\r\nnosuch\r\n", 0, "C20 C36");
        CHECK(REDIS, "*1\r\n$7\r\nFT.INFO\r\n", 0, "C17");
        CHECK(REDIS, GET "*0\r\n*-1\r\n\r\n" GET, 0, "C20 .24 .29 .30 .31 C51");
        CHECK(REDIS, "*2\r\n$3\r\nGET\r\n$100\r\nk", 0, "+");
        CHECK(REDIS, "*2\r\n$3\r\nGE", 0, "+");
        CHECK(REDIS, GET "*2\r\n:1\r\n", 0, "C20 !");
        CHECK(REDIS, "*2\r\n$3\r\nGET\r\n$1\r\nkk\r\n", 0, "!");
}

static void test_inline(void)
{
        CHECK(REDIS, "PING\r\nset k v\n\r\nget k\r\n", 0, "C6 C14 .15 .16 C23");
        CHECK(REDIS, GET "ping\r\n", 0, "C20 C26");
        CHECK(REDIS, "hello there\r\n", 0, "C13");
        CHECK(REDIS, "SETTLE k\r\n", 0, "!");
        CHECK(REDIS, "MONITOR", 0, "+");
}

static void test_replies(void)
{
        CHECK(REDIS, "+OK\r\n-ERR no\r\n:-12\r\n$-1\r\n$0\r\n\r\n$3\r\n\r\n+\r\n*-1\r\n*0\r\n",
              PLAIN, "R5 R14 R20 R25 R31 R40 R45 R49");
        CHECK(REDIS, "*2\r\n*2\r\n:1\r\n$1\r\na\r\n*0\r\n+QUEUED\r\n", PLAIN, "R23 R32");
        CHECK(REDIS, "%1\r\n+a\r\n~1\r\n,1.5\r\n_\r\n#t\r\n(1\r\n=5\r\ntxt:a\r\n!1\r\nE\r\n", PLAIN,
              "R18 R21 R25 R29 R40 R47");
        CHECK(REDIS, "|1\r\n+ttl\r\n:5\r\n$1\r\nx\r\n:1\r\n", PLAIN, "R21 R25");
        CHECK(REDIS, GET, PLAIN, "R20"); /* MGET may say that */
        CHECK(REDIS, "*2\r\n:1\r\n", PLAIN, "+");
        CHECK(REDIS, "$5\r\nhell", PLAIN, "+");
        CHECK(REDIS, "what\r\n", PLAIN, "!");
        CHECK(REDIS, "*99999999999999\r\n", PLAIN, "!");
        CHECK(REDIS, ":1\n", PLAIN, "!");
}

#define MESSAGE   "*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$2\r\nhi\r\n"
#define CONFIRM   "*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n"
#define PUSH      ">3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$2\r\nhi\r\n"
#define SUBSCRIBE "*3\r\n$9\r\nSUBSCRIBE\r\n$1\r\nx\r\n$1\r\ny\r\n"
#define LEAVE     "*1\r\n$11\r\nUNSUBSCRIBE\r\n"

static void test_channels(void)
{
        guint8 two = CALL_OF(REDIS, SUBSCRIBE), none = CALL_OF(REDIS, LEAVE);
        CHECK(REDIS, MESSAGE MESSAGE, CALL_NONE, "m32 m64");
        CHECK(REDIS, MESSAGE "*2\r\n$4\r\npong\r\n$0\r\n\r\n", PLAIN, "R32 R52");
        CHECK(REDIS, CONFIRM CONFIRM MESSAGE, two, "i30 R60 m92");
        CHECK(REDIS, CONFIRM, none, "R30");
        CHECK(REDIS, "-NOPERM\r\n", two, "R9");
        CHECK(REDIS, PUSH "+OK\r\n" PUSH, PLAIN, "m32 R37 m69");
        CHECK(REDIS, ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n", PLAIN, "m32");
        CHECK(REDIS, "*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$1\r\nx\r\n$0\r\n\r\n", CALL_NONE, "m38");
}

#define LINE "+1700000000.123456 [0 127.0.0.1:1] \"GET\" \"k\"\r\n"

static void test_monitor(void)
{
        guint8 monitor = CALL_OF(REDIS, "*1\r\n$7\r\nMONITOR\r\n");
        CHECK(REDIS, "+OK\r\n" LINE, monitor, "R5 m51");
        CHECK(REDIS, LINE LINE, CALL_NONE, "m46 m92");
        CHECK(REDIS, LINE, PLAIN, "R46");
}

#define SAYS(what) "*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$" what "\r\n"

static void test_no_reply(void)
{
        CHECK(REDIS, SAYS("4\r\nSKIP") GET GET, 0, "m37 m57 C77");
        CHECK(REDIS, SAYS("3\r\nOFF") GET GET SAYS("2\r\nON") GET, 0, "m36 m56 m76 C111 C131");
        CHECK(REDIS, "*3\r\n$6\r\nCLIENT\r\n$4\r\nKILL\r\n$2\r\nON\r\n", 0, "C34");
}

#define PSYNC "*3\r\n$5\r\nPSYNC\r\n$1\r\n?\r\n$2\r\n-1\r\n"

static void test_replication(void)
{
        CHECK(REDIS, PSYNC "*1\r\n$8\r\nREPLCONF\r\n", 0, "C30 m48");
        CHECK(REDIS, "+CONTINUE\r\n" GET GET, CALL_OF(REDIS, PSYNC), "R11 +");
        CHECK(REDIS, "-ERR\r\n+OK\r\n", CALL_OF(REDIS, PSYNC), "R6 R11");
}

static void test_labels(void)
{
        CHECK_LABELS(REDIS, "*2\r\n$3\r\nget\r\n$6\r\nsecret\r\n", "GET,");
        CHECK_LABELS(REDIS, "set secret secret\r\n" GET, "SET,GET,");
}

static void test_recognised(void)
{
        g_assert_true(RECOGNISED(REDIS, GET));
        g_assert_true(RECOGNISED(REDIS, "*2\r\n$3\r\nGET\r\n"));
        g_assert_true(RECOGNISED(REDIS, MESSAGE));
        g_assert_true(RECOGNISED(REDIS, PUSH));
        g_assert_true(RECOGNISED(REDIS, LINE));
        g_assert_true(RECOGNISED(REDIS, "$5\r\nhello\r\n"));
        g_assert_true(RECOGNISED(REDIS, "$-1\r\n"));
        g_assert_true(RECOGNISED(REDIS, "+PONG\r\n"));
        g_assert_false(RECOGNISED(REDIS, "*2\r\n$3\r\nGE"));
        g_assert_false(RECOGNISED(REDIS, "*2\r\n$5\r\napple\r\n$3\r\nGET\r\n")); /* by whom? */
        g_assert_false(RECOGNISED(REDIS, "*2\r\n$4\r\ntype\r\n$1\r\nx\r\n"));
        g_assert_false(RECOGNISED(REDIS, "+OK\r\n"));     /* POP3 */
        g_assert_false(RECOGNISED(REDIS, "-ERR no\r\n")); /* POP3 */
        g_assert_false(RECOGNISED(REDIS, "PING\r\n"));    /* NATS, IRC */
        g_assert_false(RECOGNISED(REDIS, "get k\r\n"));   /* memcached */
        g_assert_false(RECOGNISED(REDIS, ":irc.example.org 001\r\n"));
        g_assert_false(RECOGNISED(REDIS, "$5\r\nhello world\r\n"));
        g_assert_false(RECOGNISED(REDIS, "GET / HTTP/1.1\r\n\r\n"));
        g_assert_false(RECOGNISED(REDIS, "+1700000000 ok\r\n"));
}

static void test_find_boundary(void)
{
        g_assert_cmpuint(BOUNDARY(REDIS, "+OK\r\n"), ==, 0);
        g_assert_cmpuint(BOUNDARY(REDIS, "lue\r\n" GET), ==, 5);
        g_assert_cmpuint(BOUNDARY(REDIS, "lue\r\n" MESSAGE), ==, 5);
        g_assert_cmpuint(BOUNDARY(REDIS, "lue\r\n$3\r\nabc\r\n"), ==, 14);
        g_assert_cmpuint(BOUNDARY(REDIS, ""), ==, 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/redis/commands", test_commands);
        g_test_add_func("/redis/inline", test_inline);
        g_test_add_func("/redis/replies", test_replies);
        g_test_add_func("/redis/channels", test_channels);
        g_test_add_func("/redis/monitor", test_monitor);
        g_test_add_func("/redis/no-reply", test_no_reply);
        g_test_add_func("/redis/replication", test_replication);
        g_test_add_func("/redis/labels", test_labels);
        g_test_add_func("/redis/recognised", test_recognised);
        g_test_add_func("/redis/find-boundary", test_find_boundary);
        return g_test_run();
}
