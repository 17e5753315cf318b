/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How numbers and paragraphs are written for people. What the writers make of
 * them is in tests/scripts/write-paths.sh.
 */
#include <string.h>

#include "paths/path-text.h"
#include "write/json.h"
#include "write/path-write.h"
#include "write/text-table.h"

static void assert_text(char *found, const char *expected)
{
        g_assert_cmpstr(found, ==, expected);
        g_free(found);
}

static void test_duration(void)
{
        const struct {
                gint64 ns;
                const char *text;
        } cases[] = {
                { 0, "0 ns" },
                { 999, "999 ns" },
                { 1000, "1.00 us" },
                { 1004, "1.00 us" },
                { 1005, "1.01 us" },
                { 9994, "9.99 us" },
                { 9995, "10.0 us" },
                { 99949, "99.9 us" },
                { 99950, "100 us" },
                { 999499, "999 us" },
                { 999500, "1.00 ms" },
                { 12345678, "12.3 ms" },
                { 999499999, "999 ms" },
                { 999500000, "1.00 s" },
                { G_GINT64_CONSTANT(60000000000), "60.0 s" },
                { G_GINT64_CONSTANT(3600000000000), "3600 s" },
                { -1, "-1 ns" },
                { -1500, "-1.50 us" },
                { G_MAXINT64, "9223372037 s" },
                { G_MININT64, "-9223372037 s" },
        };

        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
                assert_text(path_format_duration(cases[i].ns), cases[i].text);
}

static void test_count(void)
{
        assert_text(path_format_count(0), "0");
        assert_text(path_format_count(999), "999");
        assert_text(path_format_count(1000), "1,000");
        assert_text(path_format_count(1234567), "1,234,567");
        assert_text(path_format_count(G_MAXUINT64), "18,446,744,073,709,551,615");
}

static void test_integer(void)
{
        const gint128 numbers[] = { 0,
                                    -7,
                                    G_MAXUINT64,
                                    (gint128)G_MAXUINT64 + 1,
                                    (gint128)G_MAXINT64 * 1000000000,
                                    2 * -((gint128)1 << 126) };
        g_autoptr(GString) text = g_string_new(NULL);

        for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++) {
                path_append_integer(text, numbers[i]);
                g_string_append_c(text, ' ');
        }
        path_append_hex(text, G_GUINT64_CONSTANT(0x123456789abcdef));
        g_assert_cmpstr(text->str, ==,
                        "0 -7 18446744073709551615 18446744073709551616 "
                        "9223372036854775807000000000 -170141183460469231731687303715884105728 "
                        "0123456789abcdef");
}

static void test_share(void)
{
        assert_text(path_format_share(0, 1000), "0 %");
        assert_text(path_format_share(4, 1000), "<1 %");
        assert_text(path_format_share(5, 1000), "1 %");
        assert_text(path_format_share(635, 1000), "64 %");
        assert_text(path_format_share(996, 1000), ">99 %");
        assert_text(path_format_share(1000, 1000), "100 %");
        assert_text(path_format_share(0, 0), "-");
}

static void write_json(Json *j)
{
        json_open(j, '{');
        json_put_plain(j, "plain", "a b");
        json_string_key(j, "\"<");
        json_bytes(j,
                   "\0\xff"
                   "a\\b",
                   4);
        json_key(j, "joined");
        json_joined(j, "a\"", " > ", "b");
        json_line(j, 2);
        json_put_open(j, "values", '[');
        json_id(j, 10);
        json_null(j);
        json_line(j, 0);
        json_time(j, -1);
        json_integer(j, -1);
        json_count(j, G_MAXUINT64);
        json_close(j, ']');
        json_close(j, '}');
}

static void test_json(void)
{
        g_autoptr(GString) text = g_string_new(NULL);
        Json json = JSON_IN(text), tight = JSON_TIGHT_IN(text);

        write_json(&json);
        g_assert_cmpstr(text->str, ==,
                        "{\"plain\": \"a b\", \"\\\"\\u003c\": \"\xef\xbf\xbd\xef\xbf\xbd"
                        "a\\\\\", "
                        "\"joined\": \"a\\\" > b\",\n"
                        "  \"values\": [\"000000000000000a\", null,\n"
                        "\"-1\", -1, 18446744073709551615]}");
        g_string_truncate(text, 0);
        write_json(&tight);
        g_assert_cmpstr(text->str, ==,
                        "{\"plain\":\"a b\",\"\\\"\\u003c\":\"\xef\xbf\xbd\xef\xbf\xbd"
                        "a\\\\\","
                        "\"joined\":\"a\\\" > b\",\n"
                        "  \"values\":[\"000000000000000a\",null,\n"
                        "\"-1\",-1,18446744073709551615]}");
}

static void test_lookup(void)
{
        g_assert_true(path_writer_lookup("text") == path_write_text);
        g_assert_true(path_writer_lookup("svg") == path_write_svg);
        g_assert_null(path_writer_lookup("png"));
}

static void test_width(void)
{
        g_assert_cmpuint(text_width("abc"), ==, 3);
        g_assert_cmpuint(text_width("\303\251t\303\251"), ==, 3);        /* accents */
        g_assert_cmpuint(text_width("\346\227\245\346\234\254"), ==, 4); /* wide */
        g_assert_cmpuint(text_width("e\314\201"), ==, 1);                /* combining */
        assert_text(text_shorten("abcdef", 6), "abcdef");
        assert_text(text_shorten("abcdefg", 6), "abc...");
        assert_text(text_shorten_edge("abc", "defg", 10), "abc > defg");
        assert_text(text_shorten_edge("abcdefgh", "ijklmnopq", 15), "abc... > ijk...");
        assert_text(text_shorten_edge("ab", "ijklmnopqrst", 15), "ab > ijklmno...");
        assert_text(text_shorten_edge("abcdefghijkl", "mn", 15), "abcdefg... > mn");
        assert_text(text_shorten("\346\227\245\346\234\254\346\227\245\346\234\254", 6),
                    "\346\227\245...");
}

static void assert_wrapped(const char *text, guint columns, const char *expected)
{
        GString *out = g_string_new(NULL);

        text_append_wrapped(out, text, " ,", 2, columns);
        assert_text(g_string_free(out, FALSE), expected);
}

static void test_wrap(void)
{
        assert_wrapped("one two three", 0, "  one two three\n");
        assert_wrapped("one two three four", 13, "  one two\n  three four\n");
        assert_wrapped("one,two,three,four", 13, "  one,two,\n  three,four\n");
        assert_wrapped("abcdefghijklmnop", 13, "  abcdefghijk\n  lmnop\n");
        assert_wrapped("exactly ten", 13, "  exactly ten\n");
        assert_wrapped("", 13, "  \n");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/path-write/duration", test_duration);
        g_test_add_func("/path-write/count", test_count);
        g_test_add_func("/path-write/integer", test_integer);
        g_test_add_func("/path-write/share", test_share);
        g_test_add_func("/path-write/json", test_json);
        g_test_add_func("/path-write/lookup", test_lookup);
        g_test_add_func("/text-table/width", test_width);
        g_test_add_func("/text-table/wrap", test_wrap);
        return g_test_run();
}
