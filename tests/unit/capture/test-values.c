/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Values in bodies and arguments. Of what is cut there are the first values, and no part of one.
 */
#include <string.h>

#include "capture/protocol/protocol.h"
#include "capture/protocol/values.h"
#include "tests/unit/capture/hex.h"

/* One line, with a blank after each value. */
static char *values_of(BodyKind kind, const char *bytes, gsize n, gboolean whole)
{
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree guint8 *copy = g_memdup2(bytes, n);

        if (kind == BODY_OTHER)
                values_append_argument(text, copy, n);
        else
                values_append_body(text, kind, copy, n, whole);
        return g_strdelimit(g_string_free(g_steal_pointer(&text), FALSE), "\n", ' ');
}

static void check_bytes(BodyKind kind, const char *bytes, gsize n, const char *expected)
{
        g_autofree char *whole = values_of(kind, bytes, n, TRUE);

        g_assert_cmpstr(whole, ==, expected);
        for (gsize shown = 0; shown < n; shown++) {
                g_autofree char *cut = values_of(kind, bytes, shown, FALSE);
                gsize length = strlen(g_strchomp(cut));

                g_assert_true(strncmp(cut, expected, length) == 0);
                if (length > 0 && g_ascii_isalnum(cut[length - 1]))
                        g_assert_false(g_ascii_isalnum(expected[length]));
        }
}

static void check(BodyKind kind, const char *body, const char *expected)
{
        check_bytes(kind, body, strlen(body), expected);
}

static void test_json(void)
{
        check(BODY_JSON, "{\"id1\": 4711 , \"a\":[\"b\",-25],\"c\":{\"d\":true}}", "4711 b 25 ");
        check(BODY_JSON, "{\"a\":1.5,\"b\":17e3,\"c\":18}", "18 ");
        check(BODY_JSON, "[\"x\\n42\\\"y\",\"\\u00e9\\u00e9z\"]", "x 42 y   z ");
        check(BODY_JSON, "{\"query\":\"{a(id: 42)}\",\"variables\":{\"id\":\"u17\"}}",
              "{a(id: 42)} u17 ");
        check(BODY_GRAPHQL, "{ user(id: 4711, name: \"bob\") { id } }", "4711 bob ");
}

static void test_others(void)
{
        check(BODY_FORM, "user17=4711&mail=a%40b2.c&empty=&flag", "4711 a b2.c  ");
        check(BODY_XML, "<a x=\"1\"><b>4711</b><c>12 13</c></a>", " 4711  12 13  ");
}

static void test_protobuf(void)
{
        static const char message[] = "\x08\xe7\x24" /* 4711 */
                                      "\x12\x03"
                                      "bob"
                                      "\x1a\x04\x08\x2a\x10\x2b" /* 42 and 43 */
                                      "\x25\1\2\3\4";

        g_autofree char *whole = values_of(BODY_PROTOBUF, message, sizeof message - 1, TRUE);

        g_assert_cmpstr(whole, ==, "4711 bob 42 43 ");
        for (gsize n = 0; n < sizeof message - 1; n++) {
                g_autofree char *cut = values_of(BODY_PROTOBUF, message, n, FALSE);

                g_assert_true(g_str_has_prefix(whole, cut));
        }
}

static void test_argument(void)
{
        check(BODY_OTHER, "[[\"a\", 4711], {}]", "a 4711 ");
        check(BODY_OTHER, "{\"body\": \"W1s0NzExXSwge31d\", \"x\": \"W1no base64\"}", "4711 ");
        g_autofree char *text = values_of(BODY_OTHER, "user-4711\1ab\2abcd", 17, TRUE);
        g_assert_cmpstr(text, ==, "user-4711\1ab\2abcd ");
        check(BODY_OTHER, "", " ");
}

static void test_long(void)
{
        g_autoptr(GString) body = g_string_new("{\"a\":\"");

        for (guint i = 0; i < 1000; i++)
                g_string_append_c(body, i % 100 == 99 ? ' ' : '7');
        g_string_append(body, "\",\"b\":42}");
        g_autofree char *values = values_of(BODY_JSON, body->str, body->len, TRUE);

        g_assert_cmpuint(strlen(values), ==, 200 + 1 + 3);
        g_assert_true(g_str_has_suffix(values, "77  42 "));
}

/* hex: of a whole message. */
static void check_message(const Protocol *protocol, const char *hex, const char *expected)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        gpointer memory = NULL;

        for (gsize n = 1; n <= bytes->len; n++) {
                g_autoptr(GString) text = g_string_new(NULL);
                g_autofree guint8 *copy = g_memdup2(bytes->data, n);

                protocol->values(text, &memory, copy, n);
                g_strdelimit(text->str, "\n", ' ');
                if (n == bytes->len)
                        g_assert_cmpstr(text->str, ==, expected);
        }
}

static void test_ldap(void)
{
        check_message(&protocol_ldap,
                      "'0=' 020101 'c8' 0408 'ou=p,c=t' "
                      "0a01020a0100020100020100010100a01ba30b0403 'uid' 0404 'u123' "
                      "a20ca30a0404 'mail' 0402 '420' 00",
                      "ou=p,c=t uid u123 mail 42 ");
        check_message(&protocol_ldap, "300d0201024a08 'uid=4711'", "uid=4711 ");
        /* what is written may be a secret */
        check_message(&protocol_ldap,
                      "3023020103681e0408 'uid=47110' 1230100408 'password1' 040402 '17'",
                      "uid=4711 ");
}

static void test_brokers(void)
{
        check_message(&protocol_amqp, "03000100000008 '[\"a\",17]' ce", "a 17 ");
        check_message(&protocol_amqp,
                      "02000100000025003c0000000000000000000920000000001301 'aI' 0000000702 "
                      "'idS' 00000004 '4711' ce",
                      "4711 ");
        check_message(&protocol_amqp, "08 0000 00000000 ce", "");
        check_message(&protocol_nats, "'PUB order.17 _INBOX.8 11' 0d0a '{\"id\":4711}' 0d0a",
                      "order.17 4711 ");
        check_message(&protocol_nats,
                      "'HPUB a 21 23' 0d0a 'NATS/1.0' 0d0a 'X: 4711' 0d0a 0d0a '13' 0d0a",
                      "a X: 4711\r 13 ");
        check_message(&protocol_nats, "'SUB a 17' 0d0a", "");
        check_message(&protocol_redis,
                      "'*2' 0d0a '$5' 0d0a 'LPUSH' 0d0a '$11' 0d0a '{\"id\":4711}' 0d0a", "4711 ");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/values/json", test_json);
        g_test_add_func("/values/others", test_others);
        g_test_add_func("/values/protobuf", test_protobuf);
        g_test_add_func("/values/argument", test_argument);
        g_test_add_func("/values/long", test_long);
        g_test_add_func("/values/ldap", test_ldap);
        g_test_add_func("/values/brokers", test_brokers);
        return g_test_run();
}
