/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "capture/network/node-names.h"
#include "base/error.h"

typedef struct {
        NodeTable *nodes;
        NodeNames *names;
} Fixture;

static Fixture fixture_new(const char *text)
{
        Fixture f = { node_table_new(), NULL };
        g_autoptr(GError) error = NULL;
        f.names = node_names_new(f.nodes);
        g_assert(node_names_parse(f.names, text, strlen(text), "names", &error));
        g_assert_no_error(error);
        return f;
}

static void fixture_free(Fixture *f)
{
        node_names_free(f->names);
        node_table_free(f->nodes);
}

static void check(Fixture *f, const char *address, guint16 port, const char *expected)
{
        Address a;
        g_assert(address_parse(address, strlen(address), &a));
        NodeId node = node_names_lookup(f->names, a, port);
        g_assert_cmpstr(node_table_name(f->nodes, node), ==, expected);
}

static void test_no_names(void)
{
        Fixture f = fixture_new("");
        for (guint i = 0; i < 1000; i++) {
                char text[32], again[32];
                g_snprintf(text, sizeof text, "10.0.%u.%u", i / 250, i % 250);
                g_snprintf(again, sizeof again, "10.0.%u.%u", i / 2 / 250, i / 2 % 250);
                check(&f, text, 80, text);
                check(&f, again, 81, again);
        }
        check(&f, "2001:db8::1", 80, "2001:db8::1");
        g_assert_cmpuint(node_table_size(f.nodes), ==, 1001);
        fixture_free(&f);
}

static void test_most_specific(void)
{
        Fixture f = fixture_new("# comment\n"
                                "10.0.0.0/8 net   # the rest\n"
                                "10.0.0.0/24\tnear\n"
                                "\n"
                                "  10.0.0.5 db alias\r\n"
                                "10.0.0.5:6379 redis\n"
                                "10.0.0.6:80 only-port\n"
                                "[2001:db8::1]:80 six-web\n"
                                "2001:db8::1 six\n"
                                "[2001:db8::2] brackets\n"
                                "2001:db8::/32 sixes\n"
                                "10.0.0.7/32 one\n"
                                "10.0.0.5 second\n"
                                "10.0.0.9 db");
        check(&f, "10.0.0.5", 6379, "redis");
        check(&f, "10.0.0.5", 5432, "db");
        check(&f, "10.0.0.6", 80, "only-port");
        check(&f, "10.0.0.6", 81, "near");
        check(&f, "10.0.0.7", 1, "one");
        check(&f, "10.0.0.9", 1, "db");
        check(&f, "10.9.0.9", 1, "net");
        check(&f, "11.0.0.1", 1, "11.0.0.1");
        check(&f, "2001:db8::1", 80, "six-web");
        check(&f, "2001:db8::1", 81, "six");
        check(&f, "2001:db8::2", 81, "brackets");
        check(&f, "2001:db8::3", 81, "sixes");
        check(&f, "2001:db9::3", 81, "2001:db9::3");
        fixture_free(&f);
}

static void test_everything(void)
{
        Fixture f = fixture_new("0.0.0.0/0 four\n::/0 all\n");
        check(&f, "1.2.3.4", 1, "four");
        check(&f, "::2", 1, "all");
        fixture_free(&f);
}

static void test_wrong(void)
{
        static const char *const texts[] = { "10.0.0.5\n",      "web 10.0.0.5\n",
                                             "10.0.0.0/33 x\n", "10.0.0.5:70000 x\n",
                                             "::1/129 x\n",     "10.0.0 x\n",
                                             "[::1]:x y\n",     "10.0.0.5: x\n",
                                             "\x01\xff\xfe x\n" };
        for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autoptr(NodeTable) nodes = node_table_new();
                g_autoptr(NodeNames) names = node_names_new(nodes);
                g_autoptr(GError) error = NULL;
                g_autofree char *text = g_strconcat("10.0.0.1 good\n", texts[i], NULL);
                g_assert(!node_names_parse(names, text, strlen(text), "names", &error));
                g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
                g_assert(g_str_has_prefix(error->message, "names:2: "));
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/node-names/no-names", test_no_names);
        g_test_add_func("/node-names/most-specific", test_most_specific);
        g_test_add_func("/node-names/everything", test_everything);
        g_test_add_func("/node-names/wrong", test_wrong);
        return g_test_run();
}
