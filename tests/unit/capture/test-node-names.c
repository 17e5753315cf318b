/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/error.h"
#include "capture/network/node-names.h"

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
        Endpoint own = { .port = port };
        g_assert(address_parse(address, strlen(address), &own.address));
        NodeId node = node_names_lookup(f->names, &own, NULL, 0);
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

static void check_at(Fixture *f, const char *own, const char *peer, gint64 seconds,
                     const char *expected)
{
        Endpoint ends[2];
        g_assert(endpoint_parse(own, strlen(own), &ends[0]));
        g_assert(endpoint_parse(peer, strlen(peer), &ends[1]));
        NodeId node = node_names_lookup(f->names, &ends[0], &ends[1], seconds * 1000000000);
        g_assert_cmpstr(node_table_name(f->nodes, node), ==, expected);
}

/* 2026-11-22 00:00:00 UTC. */
enum { MIDNIGHT = 1795305600 };

static void test_times(void)
{
        Fixture f = fixture_new("10.0.0.7 web1 until 12:30\n"
                                "10.0.0.7 web2 from 12:30 until 2026-11-22T13:00:00Z alias\n"
                                "10.0.0.7:80 port from 1795352400.5   # 13:00:00.5\n"
                                "10.0.0.8 from alias until\n"
                                "10.0.0.0/24 early until 00:01:05\n"
                                "10.0.0.0/8 late\n");
        const char *own = "10.0.0.7:80", *peer = "10.0.0.9:1";
        check_at(&f, peer, own, MIDNIGHT + 60, "early");
        check_at(&f, peer, own, MIDNIGHT + 64, "early");
        check_at(&f, peer, own, MIDNIGHT + 65, "late");
        check_at(&f, own, peer, MIDNIGHT, "web1");
        check_at(&f, own, peer, MIDNIGHT + 45000 - 1, "web1");
        check_at(&f, own, peer, MIDNIGHT + 45000, "web2");
        check_at(&f, own, peer, MIDNIGHT + 46799, "web2");
        check_at(&f, own, peer, MIDNIGHT + 46800, "late");
        check_at(&f, own, peer, MIDNIGHT + 46801, "port");
        check_at(&f, "10.0.0.7:81", peer, MIDNIGHT + 46801, "late");
        check_at(&f, own, peer, MIDNIGHT + 46801 + 86400, "port");
        g_autofree char *first = NULL;
        g_assert_cmpuint(node_names_count_twice(f.names, &first), ==, 0);
        fixture_free(&f);
}

static void test_connections(void)
{
        Fixture f = fixture_new("127.0.0.1:40000>127.0.0.1:80 a\n"
                                "127.0.0.1:40000>127.0.0.1:81 b from 1000\n"
                                "127.0.0.1:40000>127.0.0.1:81 c from 2000\n"
                                "[::1]:40000>[::1]:80 six\n"
                                "127.0.0.1:82 web\n"
                                "127.0.0.1 all\n");
        Endpoint ends[2];
        check_at(&f, "127.0.0.1:40000", "127.0.0.1:80", 1, "a");
        check_at(&f, "127.0.0.1:80", "127.0.0.1:40000", 1, "all");
        check_at(&f, "127.0.0.1:40000", "127.0.0.1:81", 999, "all");
        check_at(&f, "127.0.0.1:40000", "127.0.0.1:81", 1000, "b");
        check_at(&f, "127.0.0.1:40000", "127.0.0.1:81", 3000, "c");
        check_at(&f, "127.0.0.1:82", "127.0.0.1:81", 3000, "web");
        check_at(&f, "[::1]:40000", "[::1]:80", 3000, "six");
        g_assert(endpoint_parse("127.0.0.1:40000", 15, &ends[0]));
        g_assert(endpoint_parse("127.0.0.1:80", 12, &ends[1]));
        g_assert_cmpint(node_names_role(f.names, &ends[0], &ends[1], 0), ==, ROLE_CALLER);
        g_assert_cmpint(node_names_role(f.names, &ends[1], &ends[0], 0), ==, ROLE_NAMELESS);
        ends[1].port = 82;
        g_assert_cmpint(node_names_role(f.names, &ends[1], &ends[0], 0), ==, ROLE_SERVER);
        fixture_free(&f);
}

/* Connections that were opened long ago are forgotten. */
static void test_forget(void)
{
        enum { N = 200000 };
        Fixture f = fixture_new("");
        Endpoint own = { address_v4(0x7f000001), 0 }, peer = { address_v4(0x7f000001), 80 };
        NodeId node = node_table_add(f.nodes, "caller", 6);
        guint known = 0;
        node_names_forget(f.names);
        for (guint i = 0; i < N; i++) {
                own.address.low = 0xffff7f000000 + (i >> 16);
                own.port = (guint16)i;
                node_names_add_connection(f.names, &own, &peer, i, node, ROLE_CALLER);
                g_assert(node_names_lookup(f.names, &own, &peer, i) == node);
        }
        for (guint i = 0; i < N; i++) {
                own.address.low = 0xffff7f000000 + (i >> 16);
                own.port = (guint16)i;
                gboolean is_known = node_names_lookup(f.names, &own, &peer, N) == node;
                known += is_known;
                g_assert(is_known == (known > 0));
        }
        g_assert_cmpuint(known, ==, 65536);
        fixture_free(&f);
}

static void test_wrong(void)
{
        static const char *const texts[] = { "10.0.0.5\n",
                                             "web 10.0.0.5\n",
                                             "10.0.0.0/33 x\n",
                                             "10.0.0.5:70000 x\n",
                                             "::1/129 x\n",
                                             "10.0.0 x\n",
                                             "[::1]:x y\n",
                                             "10.0.0.5: x\n",
                                             "10.0.0.5 x until 24:00\n",
                                             "10.0.0.5 x from\n",
                                             "10.0.0.5 x until 1:30\n",
                                             "10.0.0.5 x from noon\n",
                                             "10.0.0.5:1> x\n",
                                             "10.0.0.5:1>10.0.0.6 x\n",
                                             "10.0.0.5:1>10.0.0.6:2 x until 99\n",
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
        g_test_add_func("/node-names/times", test_times);
        g_test_add_func("/node-names/connections", test_connections);
        g_test_add_func("/node-names/forget", test_forget);
        g_test_add_func("/node-names/wrong", test_wrong);
        return g_test_run();
}
