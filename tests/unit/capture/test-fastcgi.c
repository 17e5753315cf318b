/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-frames.h"

#define BEGIN(id)      "01 01 " id " 0008 00 00 0001 01 0000000000 "
#define PARAMS(id)     "01 04 " id " 0003 05 00 01 01 'a' 0000000000 "
#define END_PARAMS(id) "01 04 " id " 0000 00 00 "
#define STDIN(id)      "01 05 " id " 0003 00 00 'abc' "
#define END_STDIN(id)  "01 05 " id " 0000 00 00 "
#define STDOUT(id)     "01 06 " id " 0003 05 00 'abc' 0000000000 "
#define STDERR(id)     "01 07 " id " 0003 00 00 'abc' "
#define END_STDOUT(id) "01 06 " id " 0000 00 00 "
#define END(id)        "01 03 " id " 0008 00 00 00000000 00 000000 "

/* A letter for the kind of each record, its request, and "b" or "e" where that begins or ends. */
static void say(GString *out, const Parsed *r)
{
        static const char letters[] = "?CRmi..bS";
        g_string_append_c(out, letters[r->kind]);
        if (r->keyed)
                g_string_append_printf(out, "%u%s%s", (guint)r->key,
                                       r->part & PART_BEGINS ? "b" : "",
                                       r->part & PART_ENDS ? "e" : "");
        g_string_append_c(out, ' ');
}

static void check(const char *hex, const char *expected)
{
        check_frames(&protocol_fastcgi, hex, expected, say);
}

static void test_requests(void)
{
        check(BEGIN("0001") PARAMS("0001") END_PARAMS("0001") STDIN("0001") END_STDIN("0001"),
              "C1b C1 C1 C1 C1e");
        check(BEGIN("0001") BEGIN("0002") PARAMS("0002") END_STDIN("0001") END_STDIN("0002"),
              "C1b C2b C2 C1e C2e");
        check(BEGIN("0001") "01 09 0000 0000 00 00 01 02 0001 0000 00 00", "C1b . .");
}

static void test_responses(void)
{
        check(STDOUT("0001") STDERR("0001") END_STDOUT("0001") END("0001"), "R1 R1 R1 R1e");
        check(STDOUT("0001") STDOUT("0002") END("0001") END("0002"), "R1 R2 R1e R2e");
}

static void test_not_fastcgi(void)
{
        check("'GET / HTTP/1.1'", "!");
        check("01 00 0001 0008 00 00", "!");
        check("01 0c 0000 0000 00 00", "!");
        check("01 01 0000 0008 00 00", "!"); /* of no request, */
        check("01 01 0001 0009 00 00", "!"); /* length, */
        check("01 01 0001 0008 00 01", "!"); /* other bytes, */
        check(BEGIN("0001") "02", "C1b !");
        g_autoptr(GByteArray) bytes = hex_bytes("'rest' 01 " BEGIN("0001"));
        g_assert_cmpuint(protocol_fastcgi.find_boundary(bytes->data, bytes->len), ==, 5);
}

static gboolean is_recognised(const char *hex)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        Parsed parsed = { 0 };
        return protocol_fastcgi.parse(NULL, CALL_PROBE, bytes->data, bytes->len, FALSE, NULL,
                                      &parsed) == PARSE_MESSAGE;
}

static void test_recognised(void)
{
        g_assert_true(is_recognised(BEGIN("0001")));
        g_assert_true(is_recognised(STDOUT("0001") END("0001")));
        g_assert_false(is_recognised("01 01 0001 0008 00 00 0004 01 0000000000")); /* role */
        g_assert_false(is_recognised("01 01 0001 0008 00 00 0001 01 0000000001"));
        g_assert_false(is_recognised(PARAMS("0001")));
        g_assert_false(is_recognised(STDOUT("0001")));
        g_assert_false(is_recognised(STDOUT("0001") "01 05 0001 0000 00 00"));
        g_assert_false(is_recognised("01 03 0001 0008 00 00 00000000 04 000000"));
}

static void check_label(const char *params, const char *expected)
{
        g_autoptr(GByteArray) body = hex_bytes(params);
        g_autoptr(GByteArray) bytes = hex_bytes(BEGIN("0001"));
        g_autoptr(GString) label = g_string_new(NULL);
        guint8 header[8] = { 1, 4, 0, 1, (guint8)(body->len >> 8), (guint8)body->len, 0, 0 };
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        g_byte_array_append(bytes, header, sizeof header);
        g_byte_array_append(bytes, body->data, body->len);
        for (gsize at = 0; at < bytes->len;) {
                Parsed parsed = { 0 };
                protocol_fastcgi.parse(state, CALL_NONE, bytes->data + at, bytes->len - at, FALSE,
                                       label, &parsed);
                at += parsed.length;
        }
        g_assert_cmpstr(label->str, ==, expected);
}

static void test_labels(void)
{
        check_label("0e 03 'REQUEST_METHODGET' 0b 09 'REQUEST_URI/a/12?x=y'", "GET /a/{id}");
        check_label("0b 06 'SCRIPT_NAME/x.php' 0e 80000004 'REQUEST_METHODPOST'", "POST /x.php");
        check_label("0b 06 'SCRIPT_NAME/x.php' 0b 02 'REQUEST_URI/a' 0e 03 'REQUEST_METHODGET'",
                    "GET /a");
        check_label("0e 03 'REQUEST_METHODGET'", "");
        check_label("0e 7f 'REQUEST_METHODGET'", "");
        check_label("8000", "");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/fastcgi/requests", test_requests);
        g_test_add_func("/fastcgi/responses", test_responses);
        g_test_add_func("/fastcgi/not-fastcgi", test_not_fastcgi);
        g_test_add_func("/fastcgi/recognised", test_recognised);
        g_test_add_func("/fastcgi/labels", test_labels);
        return g_test_run();
}
