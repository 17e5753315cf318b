/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-pieces.h"

#define MEMCACHED protocol_memcached

enum { PLAIN = 1 };

static void test_commands(void)
{
        CHECK(MEMCACHED, "get a b c\r\ngets a\r\nversion\r\n", CALL_NONE, "C11 C19 C28");
        CHECK(MEMCACHED, "set k 0 0 5\r\n\r\nend\r\nget k\r\n", CALL_NONE, "C20 C27");
        CHECK(MEMCACHED, "cas k 0 0 1 77\r\nx\r\nincr k 1\r\ntouch k 9\r\n", CALL_NONE,
              "C19 C29 C40");
        CHECK(MEMCACHED, "set k 0 0 1 noreply\r\nx\r\ndelete k noreply\r\nquit\r\n", CALL_NONE,
              "m24 m42 b48");
        CHECK(MEMCACHED, "get", CALL_NONE, "+");
        CHECK(MEMCACHED, "get k\r\nget\r\n", CALL_NONE, "C7 !");
        CHECK(MEMCACHED, "get k\r\nset k 0 0 x\r\n", CALL_NONE, "C7 !");
        CHECK(MEMCACHED, "get k\n", CALL_NONE, "!");
        CHECK(MEMCACHED, "get \1\r\n", CALL_NONE, "!");
}

static void test_answers(void)
{
        CHECK(MEMCACHED, "VALUE k 0 5\r\nEND\r\n\r\nVALUE l 0 1 7\r\nx\r\nEND\r\nEND\r\n", PLAIN,
              "R43 R48");
        CHECK(MEMCACHED, "STORED\r\nNOT_FOUND\r\n17\r\nOK\r\nVERSION 1.6\r\nCLIENT_ERROR a b\r\n",
              PLAIN, "R8 R19 R23 R27 R40 R58");
        CHECK(MEMCACHED, "STAT pid 1\r\nSTAT x y\r\nEND\r\n", PLAIN, "R27");
        CHECK(MEMCACHED, "VALUE k 0 5\r\nhel", PLAIN, "+");
        CHECK(MEMCACHED, "SURELY\r\n", PLAIN, "!");
}

static void test_meta(void)
{
        guint8 batch = CALL_OF(MEMCACHED, "mg k v q\r\nmn\r\n");
        CHECK(MEMCACHED, "mg k v\r\nms k 2\r\nab\r\nmn\r\n", CALL_NONE, "C8 C20 C24");
        CHECK(MEMCACHED, "mg a v q\r\nmg b v q\r\nmn\r\nmn\r\n", CALL_NONE, "C24 C28");
        CHECK(MEMCACHED, "ms k 2 q\r\nab\r\nmd k q\r\nmn\r\n", CALL_NONE, "m14 m22 C26");
        CHECK(MEMCACHED, "VA 2\r\nab\r\nHD\r\nMN\r\nMN\r\n", batch, "R18 R22");
        CHECK(MEMCACHED, "VA 2\r\nab\r\nHD\r\nMN\r\n", PLAIN, "R10 R14 R18");
}

/* op, length of the key, of extras, of the body in all; then the rest of the header. */
#define REST                                                                                       \
        "\0\0\0\7"                                                                                 \
        "\0\0\0\0\0\0\0\0"
#define ASK(op, key, body)                                                                         \
        "\x80" op "\0" key "\0\0\0\0"                                                              \
        "\0\0\0" body REST
#define ANSWER(op, key, body)                                                                      \
        "\x81" op "\0" key "\0\0\0\0"                                                              \
        "\0\0\0" body REST
#define GETQ ASK("\x09", "\1", "\1") "k"
#define SETQ                                                                                       \
        "\x80\x11\0\1\x08\0\0\0"                                                                   \
        "\0\0\0\x0a" REST "01234567kv"
#define FRAMED(magic)                                                                              \
        magic "\0\2\1\0\0\0\0"                                                                     \
              "\0\0\0\3" REST "abk"
#define NOOP ASK("\x0a", "\0", "\0")

static void test_binary(void)
{
        CHECK(MEMCACHED, ASK("\0", "\1", "\1") "k" NOOP, CALL_NONE, "C25 C49");
        CHECK(MEMCACHED, GETQ GETQ NOOP NOOP, CALL_NONE, "C74 C98");
        CHECK(MEMCACHED, SETQ SETQ NOOP, CALL_NONE, "m34 m68 C92");
        CHECK(MEMCACHED, ANSWER("\0", "\0", "\1") "v" ANSWER("\x0a", "\0", "\0"), PLAIN, "R25 R49");
        CHECK(MEMCACHED, ANSWER("\x09", "\0", "\1") "v" ANSWER("\x0a", "\0", "\0"), PLAIN, "R49");
        CHECK(MEMCACHED, ANSWER("\x10", "\1", "\2") "kv" ANSWER("\x10", "\0", "\0"), PLAIN, "R50");
        CHECK(MEMCACHED, ANSWER("\x11", "\0", "\0"), PLAIN, ".24");
        CHECK(MEMCACHED, NOOP ANSWER("\x0a", "\0", "\0"), CALL_NONE, "C24 !");
        CHECK(MEMCACHED, ASK("\x17", "\0", "\0"), CALL_NONE, "b24");
        CHECK(MEMCACHED, NOOP FRAMED("\x08") NOOP, CALL_NONE, "C24 C51 C75");
        CHECK(MEMCACHED, FRAMED("\x18"), PLAIN, "R27");
        CHECK(MEMCACHED, NOOP ASK("\x99", "\0", "\0"), CALL_NONE, "C24 C48"); /* Couchbase's */
        CHECK(MEMCACHED, ASK("\x0a", "\2", "\1"), CALL_NONE, "!");
        CHECK(MEMCACHED, ASK("\x99", "\0", "\0"), CALL_NONE, "!");
}

static void test_labels(void)
{
        CHECK_LABELS(MEMCACHED, "get secret secret\r\nmg secret q\r\nmn\r\n", "get,mg,");
        CHECK_LABELS(MEMCACHED, GETQ NOOP NOOP, "get,noop,");
}

static void test_recognised(void)
{
        g_assert_true(RECOGNISED(MEMCACHED, "get k\r\n"));
        g_assert_true(RECOGNISED(MEMCACHED, "set k 0 0 5\r\nhe"));
        g_assert_true(RECOGNISED(MEMCACHED, "VALUE k 0 5\r\nhe"));
        g_assert_true(RECOGNISED(MEMCACHED, "mg k v\r\n"));
        g_assert_true(RECOGNISED(MEMCACHED, NOOP));
        g_assert_false(RECOGNISED(MEMCACHED, "set k v\r\n")); /* Redis, typed by hand */
        g_assert_true(RECOGNISED(MEMCACHED, "quit\r\n"));
        g_assert_false(RECOGNISED(MEMCACHED, "quit\r\nquit\r\n"));
        g_assert_false(RECOGNISED(MEMCACHED, "QUIT\r\n"));
        g_assert_false(RECOGNISED(MEMCACHED, "END\r\n"));
        g_assert_false(RECOGNISED(MEMCACHED, "GET / HTTP/1.1\r\n\r\n"));
        g_assert_false(RECOGNISED(MEMCACHED, "get k"));
        g_assert_true(RECOGNISED(MEMCACHED, SETQ));
        g_assert_false(RECOGNISED(MEMCACHED, ASK("\x0a", "\2", "\1")));
        g_assert_false(RECOGNISED(MEMCACHED, ASK("\0", "\0", "\0")));      /* get, without a key */
        g_assert_false(RECOGNISED(MEMCACHED, ASK("\2", "\1", "\2") "kv")); /* add, no extras */
        g_assert_false(RECOGNISED(MEMCACHED, ASK("\0", "\1", "\2") "kv")); /* get, of a value */
}

static void test_find_boundary(void)
{
        g_assert_cmpuint(BOUNDARY(MEMCACHED, "alue\r\nget k\r\n"), ==, 6);
        g_assert_cmpuint(BOUNDARY(MEMCACHED, "alue\r\nEND\r\n"), ==, 6);
        g_assert_cmpuint(BOUNDARY(MEMCACHED, "abc" NOOP), ==, 3);
        g_assert_cmpuint(BOUNDARY(MEMCACHED, "\n\n\n"), ==, 3);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/memcached/commands", test_commands);
        g_test_add_func("/memcached/answers", test_answers);
        g_test_add_func("/memcached/meta", test_meta);
        g_test_add_func("/memcached/binary", test_binary);
        g_test_add_func("/memcached/labels", test_labels);
        g_test_add_func("/memcached/recognised", test_recognised);
        g_test_add_func("/memcached/find-boundary", test_find_boundary);
        return g_test_run();
}
