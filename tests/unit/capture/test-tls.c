/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-frames.h"

#define CLIENT_HELLO    "16 0301 0008 01000004 0303 0000 "
#define SERVER_HELLO    "16 0303 0008 02000004 0303 0000 "
#define CHANGE          "14 0303 0001 01 "
#define ALERT           "15 0303 0002 0100 "
#define APPLICATION     "17 0303 0012 000000000000000000000000000000000000 "
#define ENCRYPTED_ALERT "17 0303 0013 00000000000000000000000000000000000000 "
#define FINISHED                                                                                   \
        "17 0303 0035 0000000000000000000000000000000000000000000000000000000000000000000000"      \
        "000000000000000000000000000000000000 "

/* "." a record that is no message, "r" one of a run, "a" one of a run that answers. */
static void say(GString *out, const Parsed *record)
{
        g_string_append_c(out, record->kind == KIND_CONTROL  ? '.'
                               : record->part & PART_ANSWERS ? 'a'
                                                             : 'r');
}

static void check(const char *hex, const char *expected)
{
        check_frames(&protocol_tls, hex, expected, say);
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
        check(ALERT, "."); /* all that is left to say before it is closed */
        check("15 0303 001a 0000000000000000000000000000000000000000000000000000", ".");
        check("17 0303 4000 00", "+");
}

static void test_not_tls(void)
{
        static const char *const texts[] = {
                "'GET / HTTP/1.1'",
                "15 0303 0001 01", /* no alert is as short as that, */
                "15 0303 0100 00", /* nor as long */
                "16 0303 0004 02000000 0303 0000", /* a hello goes on after its record */
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
        g_autofree char *whole = parse_frames(&protocol_tls, bytes, bytes->len, say);
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
