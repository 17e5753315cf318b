/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/hex.h"
#include "tests/unit/capture/parse-pieces.h"

static void check(const char *hex, const char *expected)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        check_pieces(&protocol_websocket, (const char *)bytes->data, bytes->len, CALL_NONE,
                     expected);
}

#define TEXT   "81 03 'abc' "
#define MASKED "81 83 01020304 'abc' "
#define PING   "89 00 "
#define PONG   "8a 81 01020304 'x' "
#define CLOSE  "88 02 03e8 "

static void test_messages(void)
{
        check(TEXT TEXT "82 00", "m5 m10 m12");
        check(MASKED "c1 01 'x'", "m9 m12"); /* compressed */
        check(PING TEXT PONG CLOSE, ".2 m7 .14 .18");
}

/* In several frames, with a ping between them. */
static void test_fragments(void)
{
        check("01 01 'a' 00 01 'b' " PING "80 01 'c' " PING, "m11 .13");
        check("01 01 'a'", "+");
}

static void test_lengths(void)
{
        g_autoptr(GString) hex = g_string_new("82 7e 0080 ");
        for (guint i = 0; i < 128; i++)
                g_string_append(hex, "00");
        check(hex->str, "m132");
        check("82 7f 0000000000010000 00", "m65546");
}

static void test_not_websocket(void)
{
        check("83 00", "!");               /* no such frame, */
        check("a1 00", "!");               /* bits, */
        check("09 00", "!");               /* a ping in parts, */
        check("89 7e 0080", "!");          /* or too long */
        check("80 01 'a'", "!");           /* the rest of nothing */
        check("01 01 'a' 81 01 'a'", "!"); /* one within another */
        check("82 7e 0001 00", "!");       /* a length that is too long */
        check("82 7f 8000000000000000", "!");
        g_assert_false(RECOGNISED(protocol_websocket, "\x81\x01x"));
        g_assert_cmpuint(BOUNDARY(protocol_websocket, "abc\x81\x03xyz"), ==, 3);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/websocket/messages", test_messages);
        g_test_add_func("/websocket/fragments", test_fragments);
        g_test_add_func("/websocket/lengths", test_lengths);
        g_test_add_func("/websocket/not-websocket", test_not_websocket);
        return g_test_run();
}
