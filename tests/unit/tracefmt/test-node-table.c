/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Names and numbers of nodes: one node a name, however it is written.
 */
#include "tracefmt/node-table.h"

#include <string.h>

#include "base/error.h"

static NodeId add(NodeTable *nodes, const char *name)
{
        return node_table_add(nodes, name, strlen(name));
}

static NodeId add_written(NodeTable *nodes, const char *text)
{
        g_autoptr(GError) error = NULL;
        NodeId node = node_table_add_written(nodes, text, strlen(text), &error);

        g_assert_no_error(error);
        return node;
}

static void test_numbers(void)
{
        enum { N = 20000 };
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autofree const char **names = g_new(const char *, N);

        for (guint round = 0; round < 2; round++)
                for (guint i = 0; i < N; i++) {
                        g_autofree char *name = g_strdup_printf("10.%u.%u", i / 256, i % 256);

                        g_assert_cmpuint(add(nodes, name), ==, i);
                        g_assert_cmpuint(node_table_lookup(nodes, name, strlen(name)), ==, i);
                        g_assert_cmpstr(node_table_name(nodes, i), ==, name);
                        if (round == 0) /* borrowed for as long as the table lives */
                                names[i] = node_table_name(nodes, i);
                        g_assert_true(names[i] == node_table_name(nodes, i));
                }
        g_assert_cmpuint(node_table_size(nodes), ==, N);
        g_assert_cmpuint(node_table_lookup(nodes, "10.0", 4), ==, NO_NODE);
        g_assert_cmpuint(node_table_lookup(nodes, "", 0), ==, NO_NODE);
}

static void test_written(void)
{
        static const struct {
                const char *name, *written;
        } names[] = {
                { "web", "web" },
                { "[2001:db8::1]:80", "[2001:db8::1]:80" },
                { "-", "%2D" },
                { "--", "%2D-" },
                { "=1+1", "%3D1+1" },
                { "\xe2\x80\xae", "%E2%80%AE" },
                { "a b\tc\n", "a%20b%09c%0A" },
                { "%(),>~*\"{}|", "%25%28%29%2C%3E%7E%2A%22%7B%7D%7C" },
                { "<&;$'`\\#=/", "<&;$'`\\#=/" },
                { "Z\xc3\xbcrich", "Z\xc3\xbcrich" },
                { "\x7f", "%7F" },
                { "\xc2\x80\xc2\x9f\xc2\xa0", "%C2%80%C2%9F\xc2\xa0" },
        };

        for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autoptr(NodeTable) nodes = node_table_new();
                NodeId node = add(nodes, names[i].name);
                const char *written = names[i].written;

                g_assert_cmpstr(node_table_written(nodes, node), ==, written);
                g_assert_cmpuint(add_written(nodes, written), ==, node);
                g_assert_cmpuint(node_table_size(nodes), ==, 1);
        }
}

/* Every byte escaped that need not be: the same node. */
static void test_other_ways_to_write(void)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        NodeId node = add_written(nodes, "web 1");

        g_assert_cmpuint(add_written(nodes, "web%201"), ==, node);
        g_assert_cmpuint(add_written(nodes, "%77%65%62%20%31"), ==, node);
        g_assert_cmpuint(add_written(nodes, "we%62%201"), ==, node);
        g_assert_cmpuint(add_written(nodes, "we%62%201"), ==, node);
        g_assert_cmpuint(add(nodes, "web 1"), ==, node);
        g_assert_cmpuint(add(nodes, "web%201"), !=, node); /* a name is not unescaped */
        g_assert_cmpstr(node_table_written(nodes, node), ==, "web%201");
        g_assert_cmpuint(add_written(nodes, "%c3%bc"), ==, add_written(nodes, "\xc3\xbc"));
}

static void test_refused(void)
{
        static const char *const texts[] = { "",      "%",   "a%2",  "%zz",  "%-1", "%00",
                                             "a%00b", "%ff", "\xff", "\xc3", "%C3", "%ed%a0%80" };
        g_autoptr(NodeTable) nodes = node_table_new();

        for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autoptr(GError) error = NULL;

                g_assert_cmpuint(node_table_add_written(nodes, texts[i], strlen(texts[i]), &error),
                                 ==, NO_NODE);
                g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
        }
        g_assert_cmpuint(node_table_size(nodes), ==, 0);
}

/* What comes from packets is never refused. */
static void test_any_bytes(void)
{
        g_autoptr(NodeTable) nodes = node_table_new();

        g_assert_cmpstr(node_table_name(nodes, node_table_add(nodes, "a\0b", 3)), ==,
                        "a\xef\xbf\xbd"
                        "b");
        g_assert_cmpstr(node_table_name(nodes, node_table_add(nodes, "a\xff", 2)), ==,
                        "a\xef\xbf\xbd");
        g_assert_cmpstr(node_table_name(nodes, node_table_add(nodes, "", 0)), ==, "\xef\xbf\xbd");
        g_assert_cmpuint(node_table_size(nodes), ==, 3);
}

/* Whatever bytes a name has, its written form finds the same node. */
static void test_random_names(void)
{
        GRand *rand = g_rand_new_with_seed(1);
        g_autoptr(NodeTable) nodes = node_table_new();

        for (guint i = 0; i < 20000; i++) {
                char bytes[12];
                gsize n = g_rand_int_range(rand, 1, sizeof bytes);
                const char *written;
                NodeId node;

                for (gsize k = 0; k < n; k++)
                        bytes[k] = g_rand_int_range(rand, 0, 2) ? g_rand_int_range(rand, 0, 128)
                                                                : g_rand_int_range(rand, 0, 256);
                node = node_table_add(nodes, bytes, n);
                written = node_table_written(nodes, node);
                g_assert_cmpuint(add_written(nodes, written), ==, node);
                g_assert_cmpuint(add(nodes, node_table_name(nodes, node)), ==, node);
                g_assert_null(strpbrk(written, " \t\n\r(),>~*\"{}|"));
        }
        g_rand_free(rand);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/node-table/numbers", test_numbers);
        g_test_add_func("/node-table/written", test_written);
        g_test_add_func("/node-table/other-ways-to-write", test_other_ways_to_write);
        g_test_add_func("/node-table/refused", test_refused);
        g_test_add_func("/node-table/any-bytes", test_any_bytes);
        g_test_add_func("/node-table/random-names", test_random_names);
        return g_test_run();
}
