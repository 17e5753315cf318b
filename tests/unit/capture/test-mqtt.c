/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-frames.h"

#define CONNECT    "10 0d 0004 'MQTT' 04 02 003c 0001 'c' "
#define CONNECT_5  "10 0e 0004 'MQTT' 05 02 003c 00 0001 'c' "
#define CONNACK    "20 02 00 00 "
#define PING       "c0 00 "
#define PONG       "d0 00 "
#define DISCONNECT "e0 00 "
#define SUBSCRIBE  "82 08 0007 0003 'a/b' 01 "
#define SUBACK     "90 03 0007 01 "
#define PUBLISH_0  "30 08 0003 'a/b' 'xyz' "
#define PUBLISH_1  "32 0a 0003 'a/b' 0007 'xyz' "
#define PUBLISH_2  "34 0a 0003 'a/b' 0008 'xyz' "
#define PUBACK     "40 02 0007 "
#define PUBREC     "50 02 0008 "
#define PUBREL     "62 02 0008 "
#define PUBCOMP    "70 02 0008 "

/* A letter for the kind of each packet, and its id; "#" where its content is known. */
static void say(GString *out, const Parsed *p)
{
        static const char letters[] = "?CRmi..bS";
        g_string_append_c(out, letters[p->kind]);
        if (p->keyed)
                g_string_append_printf(out, "%u", (guint)p->key);
        g_string_append(out, p->carried.content ? "# " : " ");
}

static void check(const char *hex, const char *expected)
{
        check_frames(&protocol_mqtt, hex, expected, say);
}

static void test_client(void)
{
        check(CONNECT SUBSCRIBE PING DISCONNECT, "b C65543 . b");
        check(PUBLISH_0 PUBLISH_1 PUBLISH_2 PUBREL, "m0# C7# C8# .");
        check("a2 07 0009 0003 'a/b'", "C65545");
        check("3a 0a 0003 'a/b' 0007 'xyz'", "C7#"); /* again */
}

static void test_server(void)
{
        check(CONNACK SUBACK PUBACK PUBREC PUBCOMP PONG, "b R65543 R7 . R8 .");
        check("50 03 0008 87 40 03 0007 10 b0 02 0009", "R8 R7 R65545"); /* refused */
}

/* A length of two bytes. */
static void test_lengths(void)
{
        g_autoptr(GString) hex = g_string_new("30 85 01 0003 'a/b' ");
        for (guint i = 0; i < 128; i++)
                g_string_append(hex, "00");
        check(hex->str, "m0#");
        check("30 ff ff ff 7f 0003 'a/b'", "+");
}

/* Version 5: properties, and numbers for topics. */
static void test_version_5(void)
{
        check(CONNECT_5 "30 0b 0003 'a/b' 05 0200000009 30 09 0003 'a/b' 03 23 0001 "
                        "30 07 0000 03 23 0001 'x'",
              "b m0# m0# m0#");
        check(CONNECT_5 "30 06 0000 03 23 0001", "b m0"); /* nobody has seen it */
        check(CONNECT_5 "30 0b 0003 'a/b' 05 7f00000009", "b !");
        check(CONNECT_5 "30 08 0003 'a/b' 09 2300", "b !");
}

static void test_not_mqtt(void)
{
        check("00 00", "!");
        check("f1 00", "!");
        check("36 02 0000", "!"); /* no such quality, */
        check("41 02 0000", "!"); /* flags, */
        check("c0 01 00", "!");   /* length */
        check("30 80 00", "!");
        check("30 80 80 80 80 01", "!");
        check("32 05 0003 'a/b'", "!");
        check("32 07 0003 'a/b' 0000", "!");
        check("10 0d 0004 'MQTX' 04 02 003c 0001 'c'", "!");
}

/* Whether parse() takes the first bytes for MQTT: "m" yes, "+" perhaps, "!" no. */
static void check_probe(const char *hex, const char *expected)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        g_autoptr(GString) got = g_string_new(NULL);
        for (gsize n = 1; n <= bytes->len; n++) {
                g_autofree guint8 *copy = g_memdup2(bytes->data, n);
                guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
                Parsed parsed = { 0 };
                ParseStatus status =
                        protocol_mqtt.parse(state, CALL_PROBE, copy, n, FALSE, NULL, &parsed);
                g_string_append_c(got, status == PARSE_MESSAGE ? 'm'
                                       : status == PARSE_MORE  ? '+'
                                                               : '!');
        }
        g_assert_cmpstr(got->str, ==, expected);
}

static void test_recognised(void)
{
        check_probe(CONNECT, "++++++++++++++m");
        check_probe(PUBLISH_0, "+++++++++m");
        check_probe(PUBACK PUBACK, "+++!+++m");
        check_probe(CONNACK, "+!!!");
        check_probe("30 0c 02 01 01 60", "+++!!!"); /* LDAP */
        check_probe("30 08 0003 'a#b' 'xyz'", "++++++!!!!");
        check_probe("'GET / HTTP'", "!!!!!!!!!!");
}

static guint64 content_of(const char *hex)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        guint64 content = 0;
        gpointer memory = NULL;
        for (gsize at = 0; at < bytes->len;) {
                Parsed parsed = { .memory = &memory };
                protocol_mqtt.parse(state, CALL_NONE, bytes->data + at, bytes->len - at, FALSE,
                                    NULL, &parsed);
                at += parsed.length;
                content = parsed.carried.content;
        }
        if (memory)
                protocol_mqtt.forget(memory);
        return content;
}

static void test_content(void)
{
        guint64 content = content_of(PUBLISH_0);
        g_assert_cmpuint(content, ==, content_of(PUBLISH_1));
        g_assert_cmpuint(content, ==, content_of(PUBLISH_2));
        g_assert_cmpuint(content, ==, content_of(CONNECT_5 "31 0e 0003 'a/b' 05 0200000009 'xyz'"));
        g_assert_cmpuint(content, ==,
                         content_of(CONNECT_5 "30 09 0003 'a/b' 03 23 0001 "
                                              "30 09 0000 03 23 0001 'xyz'"));
        g_assert_cmpuint(content, !=, content_of("30 08 0003 'a/b' 'xyy'"));
        g_assert_cmpuint(content, !=, content_of("30 08 0003 'a/c' 'xyz'"));
        g_assert_cmpuint(content, !=, content_of("30 08 0004 'a/bx' 'yz'"));
}

static void check_label(const char *hex, const char *expected)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        g_autoptr(GString) label = g_string_new(NULL);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { 0 };
        protocol_mqtt.parse(state, CALL_NONE, bytes->data, bytes->len, FALSE, label, &parsed);
        g_assert_cmpstr(label->str, ==, expected);
}

static void test_labels(void)
{
        check_label(PUBLISH_1, "publish a/b");
        check_label("30 0d 000b 'home/r2/t/x'", "publish home/{id}");
        check_label(SUBSCRIBE, "subscribe");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/mqtt/client", test_client);
        g_test_add_func("/mqtt/server", test_server);
        g_test_add_func("/mqtt/lengths", test_lengths);
        g_test_add_func("/mqtt/version-5", test_version_5);
        g_test_add_func("/mqtt/not-mqtt", test_not_mqtt);
        g_test_add_func("/mqtt/recognised", test_recognised);
        g_test_add_func("/mqtt/content", test_content);
        g_test_add_func("/mqtt/labels", test_labels);
        return g_test_run();
}
