/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-frames.h"

#define ZEROS     "00000000000000000000000000000000 "
#define CONNECT   "0000002d 00000000 0000000000000000 00007530 0000000000000000 00000010 " ZEROS "00 "
#define CONNECTED "00000025 00000000 00007530 0100000000000001 00000010 " ZEROS "00 "
#define GET       "00000011 00000001 00000004 00000004 '/a/b' 00 "
#define EXISTS    "00000011 00000002 00000003 00000004 '/a/b' 01 "
#define MULTI     "00000011 00000003 0000000e ffffffff 01 ffffffff "
#define PING      "00000008 fffffffe 0000000b "
#define PONG      "00000010 fffffffe 0000000300000004 00000000 "
#define CLOSE     "00000008 00000005 fffffff5 "
#define GOT       "00000014 00000001 0000000300000004 00000000 00000000 "
#define MISSING   "00000010 00000002 0000000300000004 ffffff9b "
#define EVENT     "00000020 ffffffff ffffffffffffffff 00000000 00000001 00000003 00000004 '/a/b' "
#define AUTH      "0000001a fffffffc 00000064 00000000 00000006 'digest' 00000000 "
#define AUTHED    "00000010 fffffffc 0000000000000000 00000000 "
#define WATCHES   "00000018 fffffff8 00000065 0000000000000004 00000000 00000000 "

/* A letter for the kind of each packet, and its id. */
static void say(GString *out, const Parsed *p)
{
        static const char letters[] = "?CRmi..bS";
        g_string_append_c(out, letters[p->kind]);
        if (p->keyed)
                g_string_append_printf(out, "%u", (guint)p->key);
        g_string_append_c(out, ' ');
}

static void check(const char *hex, const char *expected)
{
        check_frames(&protocol_zookeeper, hex, expected, say);
}

static void test_client(void)
{
        check(CONNECT AUTH WATCHES GET EXISTS PING MULTI CLOSE, "b b b C1 C2 . C3 b");
        check(GET "0000000c 00000006 0000006b 00000000", "C1 C6");
}

static void test_server(void)
{
        check(CONNECTED AUTHED GOT MISSING PONG EVENT, "b b R1 R2 . m");
        /* Of an epoch and a transaction that look like a type and a length. */
        check(CONNECTED "00000014 00000009 0000000400000004 00000000 00000000", "b R9");
}

/* Who talks is not known yet. */
static void test_sides(void)
{
        check(MISSING MULTI PONG MISSING, ". . . R2");
        check(MULTI EXISTS MULTI, ". C2 C3");
}

static void test_not_zookeeper(void)
{
        check("'GET / HTTP/1.1'", "!");
        check("00000007 00000001 000000", "!");
        check(GET "00000011 00000001 00000063 00000004 '/a/b' 00", "C1 !");
        check(CONNECTED "0000000c 00000001 00000004 00000000", "b !");
}

static gboolean is_recognised(const char *hex)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { 0 };
        return protocol_zookeeper.parse(state, CALL_PROBE, bytes->data, bytes->len, FALSE, NULL,
                                        &parsed) == PARSE_MESSAGE;
}

static void test_recognised(void)
{
        g_assert_true(is_recognised(CONNECT));
        g_assert_true(is_recognised(CONNECTED));
        g_assert_true(is_recognised(GET));
        g_assert_true(is_recognised(EVENT));
        g_assert_true(is_recognised(PING));
        g_assert_true(is_recognised(PONG));
        g_assert_false(is_recognised(GOT));
        g_assert_false(is_recognised(MULTI));
        g_assert_false(is_recognised(CLOSE));
        g_assert_false(is_recognised("00000011 00000001 00000004 00000004 'xa/b' 00"));
        g_assert_false(is_recognised("0000000d 'Q' 00000008 'begin;' 00 000000")); /* PostgreSQL */
        g_autoptr(GByteArray) bytes = hex_bytes("'rest' " GET);
        g_assert_cmpuint(protocol_zookeeper.find_boundary(bytes->data, bytes->len), ==, 4);
}

static void check_label(const char *hex, const char *expected)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        g_autoptr(GString) label = g_string_new(NULL);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { .sender = SENDER_CLIENT };
        protocol_zookeeper.parse(state, CALL_NONE, bytes->data, bytes->len, FALSE, label, &parsed);
        g_assert_cmpstr(label->str, ==, expected);
}

static void test_labels(void)
{
        check_label(GET, "getData /a");
        check_label(MULTI, "multi");
        check_label("00000011 00000001 00000004 00000004 '/a12' 00", "getData /{id}");
        check_label(PING, "");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/zookeeper/client", test_client);
        g_test_add_func("/zookeeper/server", test_server);
        g_test_add_func("/zookeeper/sides", test_sides);
        g_test_add_func("/zookeeper/not-zookeeper", test_not_zookeeper);
        g_test_add_func("/zookeeper/recognised", test_recognised);
        g_test_add_func("/zookeeper/labels", test_labels);
        return g_test_run();
}
