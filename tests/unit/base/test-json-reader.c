/* SPDX-License-Identifier: BSD-2-Clause
 *
 * JSON that comes in pieces of any size is the same as whole; what it says is exact; what is none
 * is said to be none, and where.
 */
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"

typedef struct {
        const char *text;
        gsize n, piece;
} Bytes;

static gssize read_piece(gpointer user, void *buffer, gsize n, GError **error)
{
        Bytes *b = user;
        gsize size = MIN(MIN(n, b->piece), b->n);

        (void)error;
        if (size > 0)
                memcpy(buffer, b->text, size);
        b->text += size;
        b->n -= size;
        return (gssize)size;
}

/* Each value in a line, behind the key or the depth it stands at. */
static void write_values(JsonReader *r, GString *out)
{
        gboolean is_object[JSON_DEEPEST];

        while (json_reader_next_value(r)) {
                guint depth = 0;

                do {
                        if (json_reader_enter_object(r)) {
                                is_object[depth++] = TRUE;
                        } else if (json_reader_enter_array(r)) {
                                is_object[depth++] = FALSE;
                        } else if (json_reader_scalar(r)) {
                                gsize n;
                                const char *key = json_reader_key(r, &n);
                                gboolean named = depth > 0 && is_object[depth - 1];

                                g_string_append_printf(out, "%u %.*s=", depth, named ? (int)n : 0,
                                                       key);
                                g_string_append_len(out, json_reader_text(r),
                                                    (gssize)json_reader_length(r));
                                g_string_append_c(out, '\n');
                        }
                        while (depth > 0 && !(is_object[depth - 1] ? json_reader_next_key(r)
                                                                   : json_reader_next_element(r)))
                                depth--;
                } while (depth > 0);
        }
}

static void test_pieces(void)
{
        static const char text[] = "{\"a\":[1, -2.5e3 ,\"x\\ty\\u00e9\\ud83d\\ude00\\ud800\"],\n"
                                   "\"\\u0062\":{\"c\":null,\"d\":{}, \"e\":[]},\"f\":true}\n [] 7";
        static const char expected[] =
                "2 =1\n2 =-2.5e3\n2 =x\ty\303\251\360\237\230\200\357\277\275\n"
                "2 c=null\n1 f=true\n0 =7\n";

        for (gsize piece = 1; piece <= sizeof text; piece++) {
                Bytes bytes = { text, sizeof text - 1, piece };
                g_autoptr(JsonReader) r = json_reader_new(read_piece, &bytes);
                g_autoptr(GString) out = g_string_new(NULL);

                write_values(r, out);
                g_assert_null(json_reader_error(r));
                g_assert_cmpstr(out->str, ==, expected);
        }
}

/* A text longer than what is read at once, and than what memory there is at first. */
static void test_long(void)
{
        g_autoptr(GString) text = g_string_new("[\"");
        Bytes bytes = { .piece = 1000 };
        g_autoptr(JsonReader) r = json_reader_new(read_piece, &bytes);

        for (guint i = 0; i < 300000; i++)
                g_string_append_c(text, (char)('a' + i % 26));
        g_string_append(text, "\",1]");
        bytes.text = text->str;
        bytes.n = text->len;
        g_assert(json_reader_next_value(r) && json_reader_enter_array(r) &&
                 json_reader_next_element(r) && json_reader_scalar(r));
        g_assert_cmpuint(json_reader_length(r), ==, 300000);
        g_assert(memcmp(json_reader_text(r), text->str + 2, 300000) == 0);
        g_assert(json_reader_next_element(r) && !json_reader_next_element(r) &&
                 !json_reader_next_value(r) && !json_reader_error(r));
}

static void test_skipped(void)
{
        static const char text[] = "{\"a\":{\"b\":[[{}],\"]}\"]},\"c\":5,\"d\":[1,2]} 6";
        Bytes bytes = { text, sizeof text - 1, 3 };
        g_autoptr(JsonReader) r = json_reader_new(read_piece, &bytes);

        g_assert(json_reader_next_value(r) && !json_reader_enter_array(r) &&
                 json_reader_enter_object(r) && json_reader_next_key(r) && json_reader_next_key(r));
        g_assert(json_reader_key_is(r, "c") && !json_reader_enter_object(r) &&
                 json_reader_scalar(r) && json_reader_text_is(r, "5"));
        g_assert(json_reader_next_key(r) && !json_reader_next_key(r) && json_reader_next_value(r) &&
                 json_reader_peek(r) == '6' && !json_reader_next_value(r));
        g_assert_null(json_reader_error(r));
}

static void test_errors(void)
{
        static const struct {
                const char *text, *error;
                gboolean cut;
        } cases[] = {
                { "[1,]", "1: byte 4: found \"]\", expected a JSON value", FALSE },
                { "[1 2]", "1: byte 4: found \"2\", expected , or ]", FALSE },
                { "{\"a\" 1}", "1: byte 6: found \"1\", expected : behind a key", FALSE },
                { "{\"a\":1,}", "1: byte 8: found \"}\", expected \" before a key, or }", FALSE },
                { "\n{a:1}", "2: byte 2: found \"a\", expected \" before a key, or }", FALSE },
                { "[01]", "1: byte 2: found \"0\", expected a JSON value", FALSE },
                { "[+1]", "1: byte 2: found \"+\", expected a JSON value", FALSE },
                { "[.5]", "1: byte 2: found \".\", expected a JSON value", FALSE },
                { "[nul]", "1: byte 2: found \"n\", expected a JSON value", FALSE },
                { "[\"\\x\"]", "1: byte 4: found \"x\", expected an escape", FALSE },
                { "[\"\\u12g4\"]", "1: byte 7: found \"g\", expected four hexadecimal digits",
                  FALSE },
                { "[\"a\nb\"]", "1: byte 4: found the byte 0x0a, expected \" at the end of a text",
                  FALSE },
                { "]", "1: byte 1: found \"]\", expected a JSON value", FALSE },
                { "[1,", "1: byte 4: found the end of the data, expected a JSON value", TRUE },
                { "{\"a", "1: byte 4: found the end of the data, expected \" at the end of a text",
                  TRUE },
                { "[tru", "1: byte 5: found the end of the data, expected a JSON value", TRUE },
        };

        for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
                for (gsize piece = 1; piece < 12; piece++) {
                        gint code = cases[i].cut ? RAVEL_ERROR_PARTIAL : RAVEL_ERROR_INPUT;
                        Bytes bytes = { cases[i].text, strlen(cases[i].text), piece };
                        g_autoptr(JsonReader) r = json_reader_new(read_piece, &bytes);
                        g_autoptr(GString) out = g_string_new(NULL);

                        write_values(r, out);
                        g_assert_error(json_reader_error(r), RAVEL_ERROR, code);
                        g_assert_cmpstr(json_reader_error(r)->message, ==, cases[i].error);
                }
}

static void test_depth(void)
{
        for (guint depth = JSON_DEEPEST - 1; depth < JSON_DEEPEST + 2; depth++) {
                g_autofree char *text = g_strnfill(2 * depth, '[');
                Bytes bytes = { text, 2 * depth, 7 };
                g_autoptr(JsonReader) r = json_reader_new(read_piece, &bytes);
                g_autoptr(GString) out = g_string_new(NULL);

                memset(text + depth, ']', depth);
                write_values(r, out);
                g_assert_cmpint(json_reader_error(r) != NULL, ==, depth > JSON_DEEPEST);
        }
}

static void test_numbers(void)
{
        static const struct {
                const char *text;
                guint places;
                gint64 value;
        } numbers[] = {
                { "0", 0, 0 },
                { "-0", 3, 0 },
                { "1700000000123456789", 0, 1700000000123456789 },
                { "9223372036854775807", 0, G_MAXINT64 },
                { "-9223372036854775807", 0, -G_MAXINT64 },
                { "1700000000123456", 3, 1700000000123456000 },
                { "1.7000000001234567e18", 0, 1700000000123456700 },
                { "1700000000123456.7891", 3, 1700000000123456789 },
                { "15e-1", 0, 1 },
                { "15e-1", 3, 1500 },
                { "0.0004", 3, 0 },
                { "0.0e999999999999", 0, 0 },
                { "5E+2", 0, 500 },
                { "1e-999999999999", 3, 0 },
        };
        static const char *const none[] = { "",     "-",      "1.",    ".1",
                                            "1e",   "1e+",    "0x10",  "01",
                                            "1 ",   "inf",    "1e1e1", "9223372036854775808",
                                            "1e19", "1e99999" };
        gint64 value;

        for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
                const char *text = numbers[i].text;

                g_assert(json_parse_number(text, strlen(text), numbers[i].places, &value));
                g_assert_cmpint(value, ==, numbers[i].value);
        }
        for (guint i = 0; i < G_N_ELEMENTS(none); i++)
                g_assert_false(json_parse_number(none[i], strlen(none[i]), 0, &value));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/json-reader/pieces", test_pieces);
        g_test_add_func("/json-reader/long", test_long);
        g_test_add_func("/json-reader/skipped", test_skipped);
        g_test_add_func("/json-reader/errors", test_errors);
        g_test_add_func("/json-reader/depth", test_depth);
        g_test_add_func("/json-reader/numbers", test_numbers);
        return g_test_run();
}
