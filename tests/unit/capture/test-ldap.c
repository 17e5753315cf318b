/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-frames.h"

#define BIND      "30 0c 02 01 01 60 07 02 01 03 04 00 80 00 "
#define SASL_BIND "30 16 02 01 01 60 11 02 01 03 04 00 a3 0a 04 08 'EXTERNAL' "
#define BOUND     "30 0c 02 01 01 61 07 0a 01 00 04 00 04 00 "
#define UNBIND    "30 05 02 01 09 42 00 "
#define SEARCH                                                                                     \
        "30 20 02 01 02 63 1b 04 04 'dc=t' 0a 01 02 0a 01 00 02 01 00 02 01 00 01 01 00 87 02 "    \
        "'cn' 30 00 "
#define ENTRY      "30 0f 02 01 02 64 0a 04 06 'cn=a,b' 30 00 "
#define REFERENCE  "30 12 02 01 02 73 0d 04 0b 'ldap://b/dc' "
#define DONE       "30 0c 02 01 02 65 07 0a 01 00 04 00 04 00 "
#define MODIFY     "30 0d 02 01 03 66 08 04 04 'cn=a' 30 00 "
#define MODIFIED   "30 0c 02 01 03 67 07 0a 01 32 04 00 04 00 "
#define ADD        "30 0d 02 01 04 68 08 04 04 'cn=a' 30 00 "
#define ADDED      "30 0c 02 01 04 69 07 0a 01 00 04 00 04 00 "
#define DELETE     "30 09 02 01 05 4a 04 'cn=a' "
#define DELETED    "30 0c 02 01 05 6b 07 0a 01 00 04 00 04 00 "
#define RENAME     "30 14 02 01 06 6c 0f 04 04 'cn=a' 04 04 'cn=b' 01 01 ff "
#define RENAMED    "30 0c 02 01 06 6d 07 0a 01 00 04 00 04 00 "
#define COMPARE    "30 13 02 01 07 6e 0e 04 04 'cn=a' 30 06 04 01 'a' 04 01 'b' "
#define COMPARED   "30 0c 02 01 07 6f 07 0a 01 06 04 00 04 00 "
#define ABANDON    "30 06 02 01 08 50 01 02 "
#define WHOAMI     "30 1e 02 01 08 77 19 80 17 '1.3.6.1.4.1.4203.1.11.3' "
#define EXTENDED   "30 0c 02 01 08 78 07 0a 01 00 04 00 04 00 "
#define START_TLS  "30 1d 02 01 08 77 18 80 16 '1.3.6.1.4.1.1466.20037' "
#define GOODBYE    "30 24 02 01 00 78 1f 0a 01 34 04 00 04 00 8a 16 '1.3.6.1.4.1.1466.20036' "
#define PROGRESS   "30 0e 02 01 02 79 09 80 05 '1.2.3' 81 00 "
#define LONG_FORMS "30 84 00000018 02 01 02 64 84 0000000f 04 83 000006 'cn=a,b' 30 82 0000 "

/* A letter for the kind of each message, where it is a part its id and "b", "e" or "a" for begins,
 * ends and aborts; "l" a login; "s" where the connection switches. */
static void say(GString *out, const Parsed *message)
{
        static const char letters[] = "?CRmi..bS";
        g_string_append_c(out, letters[message->kind]);
        if (message->keyed)
                g_string_append_printf(out, "%" G_GUINT64_FORMAT "%s%s%s%s", message->key,
                                       message->part & PART_BEGINS ? "b" : "",
                                       message->part & PART_ENDS ? "e" : "",
                                       message->part & PART_ABORTS ? "a" : "",
                                       message->session ? "l" : "");
        g_string_append(out, message->switches ? "s " : " ");
}

static void check(const char *hex, const char *expected)
{
        check_frames(&protocol_ldap, hex, expected, say);
}

static void check_whole(const char *hex, const char *expected)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        g_autofree char *got = parse_frames(&protocol_ldap, bytes, bytes->len, say);
        g_assert_cmpstr(got, ==, expected);
}

static void test_client(void)
{
        check(BIND SEARCH MODIFY ADD DELETE RENAME COMPARE WHOAMI ABANDON UNBIND,
              "C1l C2be C3be C4be C5be C6be C7be C8be C2a b");
        check(SEARCH START_TLS, "C2be b");
        check("30 0e 02 04 7fffffff 4a 06 'cn=a,b'", "C2147483647be");
        check("30 19 02 01 05 4a 04 'cn=a' a0 0e 30 0c 04 0a '1.2.840.11'", "C5be");
}

static void test_server(void)
{
        check(BOUND ENTRY REFERENCE PROGRESS DONE, "R1 R2 R2 R2 R2e");
        check(MODIFIED ADDED DELETED RENAMED COMPARED EXTENDED, "R3e R4e R5e R6e R7e R8e");
        check(GOODBYE, "b");
}

/* Lengths in long form, as directories of Windows write them; a value of 300 bytes. */
static void test_lengths(void)
{
        g_autoptr(GString) hex = g_string_new("30 82 013b 02 01 02 64 82 0134 04 06 'cn=a,b' "
                                              "30 82 0128 04 82 0124 ");
        for (guint i = 0; i < 292; i++)
                g_string_append(hex, "30");
        g_string_append(hex, " " DONE);
        check(LONG_FORMS DONE, "R2 R2e");
        check(hex->str, "R2 R2e");
        check(ENTRY "30 84 10000000 02 01 02 64 84 0ffffff7", "R2 R2 +");
}

/* A buffer is told by its length alone. */
static void test_security_layer(void)
{
        check(SASL_BIND SEARCH, "C1l C2be");
        check(SEARCH SASL_BIND "00000002 ffff 00000001 30", "C2be C1l S S");
        check(SEARCH SASL_BIND "00000000", "C2be C1l !");
        check(SEARCH SASL_BIND "00000002 ffff 01000000", "C2be C1l S !");
        check(SEARCH BIND "00000002 ffff", "C2be C1l !");
}

static void test_not_ldap(void)
{
        static const char *const texts[] = {
                "'GET / HTTP/1.1' 0d0a",
                "'0 10 ok' 0d0a",
                "30 26 02 01 01 04 06 'public' a0 19 02 04", /* SNMP */
                "30 80 02 01 02 64 00",                      /* a length to be found */
                "30 85 0000000001 02 01 02 64",              /* of too many bytes */
                "30 84 10000001 02 01 02 64",                /* of more than a message has */
                "30 04 02 01 01 42",                         /* too short */
                "30 05 02 01 80 42 00",                      /* an id below 0 */
                "30 09 02 05 0000000001 42 00",              /* too long */
                "30 05 02 01 01 43 00",                      /* no operation */
                "30 06 02 01 01 42 00 00",                   /* one byte after it, */
                "30 05 02 01 01 42 01 00",                   /* or more than there are */
                "30 06 02 01 01 42 01 00",                   /* a goodbye that says something */
                "30 0c 02 01 02 65 07 0a 03 000000 04 00",   /* no result */
                "30 0b 02 01 02 65 06 0a 01 00 04 05 'x'",   /* cut by its own end */
                "30 0c 02 01 01 60 07 02 01 04 04 00 80 00", /* of no version */
                "30 0c 02 01 01 60 07 02 01 03 04 00 81 00", /* no authentication */
                "30 20 02 01 02 63 1b 04 04 'dc=t' 0a 01 04 0a 01 00 02 01 00 02 01 00",
                "30 20 02 01 02 63 1b 04 04 'dc=t' 0a 01 02 0a 01 00 02 01 00 02 01 00 01 01 00 88",
                "30 07 02 01 05 4a 02 'cn'", /* no name */
                "30 07 02 01 05 4a 02 01 '='",
                "30 05 02 01 08 50 00",
                "30 06 02 01 08 50 01 ff",
                "30 0a 02 01 08 50 05 0000000001",
                "3082 0122 3082 00d9 a003",     /* a certificate */
                "30 82 0277 02 01 00 30 0d 06", /* a key */
                "",
        };
        for (guint i = 0; texts[i][0]; i++)
                check(texts[i], "!");
        check(ENTRY DONE "'rest'", "R2 R2e !");
        check(ENTRY "30 09 02 01 08 50 04 00000002", "R2 C2a");
        check(ENTRY "30 0a 02 01 08 50 05 0000000002", "R2 !");
        /* What follows decides, where it is there. */
        check_whole(DONE "'rest'", "!");
        check_whole("30 07 02 01 01 42 00 30 00", "!");
        check_whole("30 07 02 01 01 42 00 a0 00", "b");
}

static void check_labels(const char *hex, const char *expected)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        g_autoptr(GString) label = g_string_new(NULL);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        for (gsize at = 0; at < bytes->len;) {
                Parsed parsed = { 0 };
                protocol_ldap.parse(state, CALL_NONE, bytes->data + at, bytes->len - at, FALSE,
                                    label, &parsed);
                g_string_append_c(label, ',');
                at += parsed.length;
        }
        g_assert_cmpstr(label->str, ==, expected);
}

static void test_labels(void)
{
        check_labels(BIND SEARCH MODIFY ADD DELETE RENAME COMPARE WHOAMI ABANDON UNBIND,
                     "bind,search,modify,add,delete,modifyDN,compare,extended,,,");
        check_labels(ENTRY REFERENCE DONE, ",,,");
}

static void test_eof(void)
{
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { 0 };
        g_assert_cmpint(
                protocol_ldap.parse(state, CALL_NONE, (const guint8 *)"0", 1, TRUE, NULL, &parsed),
                ==, PARSE_NOT_MINE);
}

static void check_boundary(const char *hex, gsize expected)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        g_assert_cmpuint(protocol_ldap.find_boundary(bytes->data, bytes->len), ==, expected);
}

static void test_find_boundary(void)
{
        check_boundary(SEARCH, 0);
        check_boundary("'0, 00 and 0a0' 30 30 30" ENTRY DONE, 16);
        check_boundary("'rest' 30 0c 02 01 01 99" DONE, 10);
        check_boundary("'rest' 30 0c 02 01", 4);
        check_boundary("'rest'", 4);
        check_boundary("", 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ldap/client", test_client);
        g_test_add_func("/ldap/server", test_server);
        g_test_add_func("/ldap/lengths", test_lengths);
        g_test_add_func("/ldap/security-layer", test_security_layer);
        g_test_add_func("/ldap/not-ldap", test_not_ldap);
        g_test_add_func("/ldap/labels", test_labels);
        g_test_add_func("/ldap/eof", test_eof);
        g_test_add_func("/ldap/find-boundary", test_find_boundary);
        return g_test_run();
}
