/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol.h"
#include "tests/hex.h"

#define CLIENT_HELLO    "16 0301 0008 01000004 0303 0000 "
#define SERVER_HELLO    "16 0303 0008 02000004 0303 0000 "
#define CHANGE          "14 0303 0001 01 "
#define ALERT           "15 0303 0002 0100 "
#define APPLICATION     "17 0303 0012 000000000000000000000000000000000000 "
#define ENCRYPTED_ALERT "17 0303 0013 00000000000000000000000000000000000000 "
#define FINISHED                                                                                   \
        "17 0303 0035 0000000000000000000000000000000000000000000000000000000000000000000000"      \
        "000000000000000000000000000000000000 "

/* Parses bytes as one direction, shown in pieces of step bytes: "." a record that is
 * no message, "r" one of a run, "a" one of a run that answers; "!" where it is not
 * TLS, "+" where more is needed. */
static char *parse(const GByteArray *bytes, gsize step)
{
        GString *out = g_string_new(NULL);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        guint64 at = 0;
        gsize n = bytes->len;
        for (gsize shown = MIN(step, n);; shown = MIN(shown + step, n)) {
                while (at < shown) {
                        g_autofree guint8 *copy = g_memdup2(bytes->data + at, shown - at);
                        Parsed parsed = { 0 };
                        ParseStatus status = protocol_tls.parse(state, CALL_NONE, copy, shown - at,
                                                                FALSE, NULL, &parsed);
                        if (status == PARSE_NOT_MINE) {
                                g_string_append_c(out, '!');
                                return g_string_free(out, FALSE);
                        }
                        at += parsed.length;
                        if (status == PARSE_MORE)
                                break;
                        g_string_append_c(out, parsed.kind == KIND_CONTROL  ? '.'
                                               : parsed.part & PART_ANSWERS ? 'a'
                                                                            : 'r');
                }
                if (shown == n)
                        break;
        }
        if (at != n)
                g_string_append_c(out, '+');
        return g_string_free(out, FALSE);
}

static void check(const char *hex, const char *expected)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        for (gsize step = 1; step <= bytes->len; step++) {
                g_autofree char *got = parse(bytes, step);
                g_assert_cmpstr(got, ==, expected);
        }
}

static void test_version_1_3(void)
{
        check(CLIENT_HELLO CHANGE FINISHED APPLICATION APPLICATION ENCRYPTED_ALERT, "...rr.");
        check(CLIENT_HELLO FINISHED FINISHED, "..r");
        check(CLIENT_HELLO APPLICATION APPLICATION FINISHED APPLICATION, "....r"); /* certificate */
        check(CLIENT_HELLO CHANGE CLIENT_HELLO FINISHED APPLICATION, "....r");     /* asked again */
        check(SERVER_HELLO CHANGE APPLICATION APPLICATION ENCRYPTED_ALERT, "..aa.");
}

static void test_version_1_2(void)
{
        check(CLIENT_HELLO "16 0303 0002 1000" CHANGE "16 0303 0004 00000000" APPLICATION ALERT,
              "....r.");
        check(SERVER_HELLO CHANGE "16 0303 0004 00000000" APPLICATION ENCRYPTED_ALERT, "...rr");
}

static void test_middle(void)
{
        check(APPLICATION APPLICATION, "rr");
        check(APPLICATION ENCRYPTED_ALERT, "r.");
        check(APPLICATION ALERT, "r.");
        check("17 0303 4000 00", "+");
}

static void test_not_tls(void)
{
        static const char *const texts[] = {
                "'GET / HTTP/1.1'",
                ALERT,
                CHANGE,
                "17 0303 0010 00000000000000000000000000000000", /* shorter than a tag */
                "17 0303 4801 00",                               /* longer than a record */
                "17 0304 0020 00",                               /* no such version */
                "17 0203 0020 00",
                "16 0301 0009 01000004 0303 000000", /* a hello of another length */
                "16 0301 0008 03000004 0303 0000",   /* no hello */
                "16 0301 0008 01000004 0203 0000",   /* of another version */
                "16 0301 0004 01000000",
        };
        for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
                check(texts[i], "!");
        check(CLIENT_HELLO "14 0303 0002 0101", ".!");
        g_autoptr(GByteArray) bytes = hex_bytes(APPLICATION "00 0000 0000");
        g_autofree char *whole = parse(bytes, bytes->len);
        g_assert_cmpstr(whole, ==, "!"); /* nothing of TLS after the first record */
}

static void check_boundary(const char *hex, gsize expected)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        g_assert_cmpuint(protocol_tls.find_boundary(bytes->data, bytes->len), ==, expected);
}

static void test_find_boundary(void)
{
        check_boundary(APPLICATION, 0);
        check_boundary("'the rest'" APPLICATION, 8);
        check_boundary("17 0303 0012 00 0000000000 " APPLICATION ALERT, 11);
        check_boundary("'the rest'", 8);
        check_boundary("", 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/tls/version-1.3", test_version_1_3);
        g_test_add_func("/tls/version-1.2", test_version_1_2);
        g_test_add_func("/tls/middle", test_middle);
        g_test_add_func("/tls/not-tls", test_not_tls);
        g_test_add_func("/tls/find-boundary", test_find_boundary);
        return g_test_run();
}
