/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What of a stranger's text each kind of output may have.
 */
#include "base/printable.h"

#include <string.h>

#include "tracefmt/node-table.h"

#define RLO    "\xe2\x80\xae"     /* U+202E turns what follows */
#define NOCHAR "\xef\xbf\xbe"     /* U+FFFE */
#define TAG    "\xf3\xa0\x80\xa1" /* U+E0021 */

static void test_kinds(void)
{
        static const char *const text = "a<&\\\"\t\n\x1b" RLO NOCHAR TAG "\xff\xc2\x9b\xc3\xa9";
        static const char *const expected[N_PRINTABLES] = {
                [PRINTABLE_TEXT] =
                        "a<&\\\"\\x09\\x0a\\x1b\\u202e\\ufffe\\U000e0021\\xff\\x9b\xc3\xa9",
                [PRINTABLE_XML] = "a&lt;&amp;\\&quot;"
                                  "\\x09\\x0a\\x1b\\u202e\\ufffe\\U000e0021\\xff\\x9b\xc3\xa9",
                [PRINTABLE_DOT] =
                        "a<&amp;\\\\\"\\\\x09\\\\x0a\\\\x1b\\\\u202e\\\\ufffe\\\\U000e0021"
                        "\\\\xff\\\\x9b\xc3\xa9",
                [PRINTABLE_CELL] =
                        "a<&\\\\\"\\t\\n\\x1b\\u202e\\ufffe\\U000e0021\\xff\\x9b\xc3\xa9",
                [PRINTABLE_TSV] = "a<&\\\\\"\\t\\n\\x1b\\u202e\\ufffe\\U000e0021\\xff\\x9b\xc3\xa9",
                [PRINTABLE_JSON] =
                        "a\\u003c&\\\\\\\"\\u0009\\u000a\\u001b\\u202e\\ufffe\\udb40\\udc21"
                        "\xef\xbf\xbd\\u009b\xc3\xa9",
                [PRINTABLE_PAGE] = "a\\u003c&\\\\\\\"\\t\\n\\\\x1b\\\\u202e\\\\ufffe\\\\U000e0021"
                                   "\\\\xff\\\\x9b\xc3\xa9",
                [PRINTABLE_FIELD] =
                        "a<&\\\"%09%0A%1B%E2%80%AE%EF%BF%BE%F3%A0%80%A1%FF%C2%9B\xc3\xa9",
        };

        for (Printable as = 0; as < N_PRINTABLES; as++) {
                g_autofree char *found = printable_new(text, as);

                g_assert_cmpstr(found, ==, expected[as]);
        }
}

/* The same for any text: all is printable, and what was stays. Of the planes where hardly anything
 * is but tags, some; with RAVEL_LONG all. */
static void test_all_characters(void)
{
        gboolean all = g_getenv("RAVEL_LONG") != NULL;

        for (gunichar c = 1; c < 0x110000;
             c += all || c < 0x20000 || (c >= 0xe0000 && c < 0xe1000) ? 1 : 16) {
                char text[8] = "";

                if (c >= 0xd800 && c < 0xe000)
                        continue;
                g_unichar_to_utf8(c, text);
                for (Printable as = 0; as < N_PRINTABLES; as++) {
                        g_autofree char *found = printable_new(text, as);

                        for (const char *p = found; *p; p = g_utf8_next_char(p))
                                g_assert_true(printable_is_character(g_utf8_get_char(p)));
                        if (c >= 0x80 && printable_is_character(c))
                                g_assert_cmpstr(found, ==, text);
                }
                /* No Unicode that we know has another opinion of controls. */
                if (g_unichar_iscntrl(c))
                        g_assert_false(printable_is_character(c));
        }
}

static void test_formulas(void)
{
        static const char *const cells[][2] = { { "=1+1", "\\x3d1+1" }, { "+1", "\\x2b1" },
                                                { "-1", "\\x2d1" },     { "@a", "\\x40a" },
                                                { "a=1", "a=1" },       { "", "" } };
        static const char *const ids[][2] = { { "=1+1", "%3D1+1" },
                                              { "-", "-" },
                                              { "7f-1", "7f-1" } };

        for (guint i = 0; i < G_N_ELEMENTS(cells); i++) {
                g_autofree char *found = printable_new(cells[i][0], PRINTABLE_TSV);

                g_assert_cmpstr(found, ==, cells[i][1]);
        }
        for (guint i = 0; i < G_N_ELEMENTS(ids); i++) {
                g_autoptr(GString) found = g_string_new(NULL);

                printable_append_id(found, ids[i][0], strlen(ids[i][0]));
                g_assert_cmpstr(found->str, ==, ids[i][1]);
        }
}

/* What names are written as, and read back. */
static void test_names(void)
{
        static const char *const names[][2] = {
                { "=cmd", "%3Dcmd" },
                { "@x-1", "%40x-1" },
                { "-a", "%2Da" },
                { "a-b+c=d@e", "a-b+c=d@e" },
                { RLO "gnp", "%E2%80%AEgnp" },
                { NOCHAR, "%EF%BF%BE" },
                { "caf\xc3\xa9", "caf\xc3\xa9" },
        };
        g_autoptr(NodeTable) nodes = node_table_new();

        for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
                NodeId node = node_table_add(nodes, names[i][0], strlen(names[i][0]));

                g_assert_cmpstr(node_table_written(nodes, node), ==, names[i][1]);
                g_assert_cmpuint(
                        node_table_add_written(nodes, names[i][1], strlen(names[i][1]), NULL), ==,
                        node);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/printable/kinds", test_kinds);
        g_test_add_func("/printable/all-characters", test_all_characters);
        g_test_add_func("/printable/formulas", test_formulas);
        g_test_add_func("/printable/names", test_names);
        return g_test_run();
}
