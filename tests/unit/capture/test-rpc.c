/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-frames.h"

#define NONE  "00000000 00000000 "
#define CALL  "00000000 00000002 000186a3 00000003 00000001 " NONE NONE
#define REPLY "00000001 00000000 " NONE "00000000 "

/* "C" a call, "R" a reply, with its id. */
static void say(GString *out, const Parsed *record)
{
        g_string_append_printf(out, "%c%" G_GINT64_MODIFIER "x ",
                               record->kind == KIND_CALL ? 'C' : 'R', record->key);
}

static void check(const char *hex, const char *expected)
{
        check_frames(&protocol_rpc, hex, expected, say);
}

static void test_records(void)
{
        check("80000028 0000abcd" CALL "80000028 0000abce" CALL, "Cabcd Cabce");
        check("80000018 0000abcd" REPLY "8000001c 0000abce" REPLY "00000007", "Rabcd Rabce");
        check("80000014 0000abcd 00000001 00000001 00000001 00000005", "Rabcd"); /* denied */
        check("00000028 0000abcd" CALL "00000003 'abc' 80000001 'd' 80000018 00000001" REPLY,
              "Cabcd R1");
        check("00000028 0000abcd" CALL "00000003 'abc'", "+");
        check("00000008 0000abcd 00000000 00000006 00000002 0001 "
              "8000001a 86a3 00000003 00000001 " NONE NONE "80000018 00000001" REPLY,
              "Cabcd R1");
        check("00000002 0000 00000002 abcd 00000001 00 80000013 000001 00000000 " NONE "00000000",
              "Rabcd");
        check("00000008 0000abcd 00000000 80000004 00000003", "!"); /* another version */
}

static void test_not_rpc(void)
{
        static const char *const texts[] = {
                "'GET / HTTP/1.1' 0d0a",
                "80000028 00000001 00000002 00000002",                  /* type */
                "80000028 00000001 00000000 00000003 000186a3",         /* version of RPC */
                "80000027 0000abcd 00000000",                           /* shorter than a call */
                "80000018 0000abcd 00000001 00000000 " NONE "00000006", /* status */
                "80000018 0000abcd 00000001 00000000 00000000 00000004 00000000",
                "80000028 0000abcd 00000000 00000002 000186a3 00000003 00000001 00000001 00000191",
                "80000000 00000000", /* an empty record */
        };
        for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
                check(texts[i], "!");
}

static void check_boundary(const char *hex, gsize expected)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        g_assert_cmpuint(protocol_rpc.find_boundary(bytes->data, bytes->len), ==, expected);
}

static void test_find_boundary(void)
{
        check_boundary("80000028 0000abcd" CALL, 0);
        check_boundary("'the rest' 80000018 0000abcd" REPLY, 8);
        check_boundary("'the rest of some data'", 21);
        check_boundary("", 0);
}

static void check_datagram(const char *hex, gboolean whole, ParseStatus expected, MessageKind kind,
                           const char *label)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        g_autoptr(GString) text = g_string_new(NULL);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { 0 };
        g_assert_cmpint(protocol_rpc_udp.parse(state, CALL_NONE, bytes->data, bytes->len, whole,
                                               text, &parsed),
                        ==, expected);
        g_assert_cmpstr(text->str, ==, label);
        if (expected != PARSE_MESSAGE)
                return;
        g_assert_cmpint(parsed.kind, ==, kind);
        g_assert_cmpuint(parsed.key, ==, 0xabcd);
        g_assert_cmpuint(parsed.length, ==, bytes->len);
}

static void test_datagrams(void)
{
        check_datagram("0000abcd" CALL, TRUE, PARSE_MESSAGE, KIND_CALL, "RPC 100003.3.1");
        check_datagram("0000abcd" REPLY "'body'", TRUE, PARSE_MESSAGE, KIND_RETURN, "");
        check_datagram("0000abcd 00000000 00000002 000186a3 00000003 00000001 00000001 00000020",
                       FALSE, PARSE_MESSAGE, KIND_CALL, "RPC 100003.3.1");
        check_datagram("0000abcd 00000000 00000002 000186a3 00000003 00000001 00000001 00000020",
                       TRUE, PARSE_NOT_MINE, KIND_UNKNOWN, "");
        check_datagram("0000abcd", TRUE, PARSE_NOT_MINE, KIND_UNKNOWN, "");
        /* The null procedure, also of Kerberos; and NTP without a clock. */
        check_datagram("0000abcd 00000000 00000002 000186a3 00000003 00000000 " NONE NONE, TRUE,
                       PARSE_MESSAGE, KIND_CALL, "RPC 100003.3.0");
        check_datagram("0000abcd 00000000 00000002 000186a3 00000004 00000000 00000006 00000004 "
                       "00000001 " NONE "00000002 0000",
                       TRUE, PARSE_MESSAGE, KIND_CALL, "RPC 100003.4.0");
        check_datagram("e30006e8 00000000 00000002 'INIT' " NONE NONE NONE NONE, TRUE,
                       PARSE_NOT_MINE, KIND_UNKNOWN, "");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/rpc/records", test_records);
        g_test_add_func("/rpc/not-rpc", test_not_rpc);
        g_test_add_func("/rpc/find-boundary", test_find_boundary);
        g_test_add_func("/rpc/datagrams", test_datagrams);
        return g_test_run();
}
