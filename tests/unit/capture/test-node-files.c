/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/error.h"
#include "capture/network/node-files.h"
#include "capture/network/socket-line.h"

typedef struct {
        NodeTable *nodes;
        NodeNames *names;
} Fixture;

/* Of files, the last NULL. */
static Fixture fixture_new(const char *const *texts)
{
        Fixture f = { node_table_new(), NULL };
        g_autoptr(GError) error = NULL;
        f.names = node_names_new(f.nodes);
        g_autoptr(NodeFiles) files = node_files_new(f.names, f.nodes);
        for (; *texts; texts++) {
                g_assert(node_files_parse(files, *texts, strlen(*texts), "file", &error));
                g_assert_no_error(error);
        }
        node_files_settle(files);
        return f;
}

static void fixture_free(Fixture *f)
{
        node_names_free(f->names);
        node_table_free(f->nodes);
}

static Endpoint end(const char *text)
{
        Endpoint e;
        g_assert(endpoint_parse(text, strlen(text), &e));
        return e;
}

static void check(Fixture *f, const char *own, const char *peer, const char *expected,
                  NodeRole role)
{
        Endpoint a = end(own), b = end(peer);
        NodeId node = node_names_lookup(f->names, &a, &b, 0);
        g_assert_cmpstr(node_table_name(f->nodes, node), ==, expected);
        g_assert_cmpint(node_names_role(f->names, &a, &b, 0), ==, role);
}

static void test_ss(void)
{
        static const char *const texts[] = {
                "127.0.0.1:8080 web\n",
                "State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
                "LISTEN 0 511 127.0.0.1:8080 0.0.0.0:* users:((\"node\",pid=12,fd=18))\n"
                "LISTEN 0 511 *:8081 *:* users:((\"node\",pid=14,fd=18),(\"node\",pid=13,fd=18))\n"
                "LISTEN 0 128 0.0.0.0%lo:22 0.0.0.0:* users:((\"tmux: server\",pid=9,fd=1))\n"
                "ESTAB 0 0 127.0.0.1:40000 127.0.0.1:8081 users:((\"node\",pid=12,fd=20))\n"
                "ESTAB 0 0 127.0.0.1:8081 127.0.0.1:40000 users:((\"node\",pid=14,fd=20))\n"
                "ESTAB 0 0 [::ffff:127.0.0.1]:40001 [::ffff:127.0.0.1]:8081 "
                "users:((\"a\"b\",pid=15,fd=2))\n"
                "TIME-WAIT 0 0 127.0.0.1:40009 127.0.0.1:8081\n"
                "ESTAB 0 0 [fe80::1%eth0]:40002 [fe80::2]%eth0:8081 "
                "users:((\"node\",pid=16,fd=2))\n"
                "udp UNCONN 0 0 127.0.0.1:53 0.0.0.0:* users:((\"dns\",pid=17,fd=2))\n",
                NULL
        };
        Fixture f = fixture_new(texts);
        check(&f, "127.0.0.1:8080", "127.0.0.1:1", "web", ROLE_SERVER);
        check(&f, "127.0.0.1:40000", "127.0.0.1:8081", "web", ROLE_CALLER);
        check(&f, "127.0.0.1:8081", "127.0.0.1:1", "node-8081", ROLE_SERVER);
        check(&f, "127.0.0.1:8081", "127.0.0.1:40000", "node-8081", ROLE_SERVER);
        check(&f, "127.0.0.1:40001", "127.0.0.1:8081", "a\"b", ROLE_CALLER);
        check(&f, "127.0.0.1:40009", "127.0.0.1:8081", "127.0.0.1", ROLE_NAMELESS);
        check(&f, "[fe80::1]:40002", "[fe80::2]:8081", "node", ROLE_CALLER);
        check(&f, "127.0.0.1:22", "127.0.0.1:1", "tmux:_server", ROLE_SERVER);
        check(&f, "127.0.0.1:53", "127.0.0.1:1", "127.0.0.1", ROLE_NAMELESS);
        fixture_free(&f);
}

/* Nothing listens in what was printed: who has more connections serves. */
static void test_ss_established(void)
{
        static const char *const texts[] = {
                "0 0 127.0.0.1:50054 127.0.0.1:34168 users:((\"price\",pid=1,fd=1))\n"
                "0 0 127.0.0.1:34168 127.0.0.1:50054 users:((\"front\",pid=2,fd=1))\n"
                "0 0 127.0.0.1:50054 127.0.0.1:34180 users:((\"price\",pid=1,fd=2))\n"
                "0 0 127.0.0.1:34180 127.0.0.1:50054 users:((\"cart\",pid=3,fd=1))\n",
                NULL
        };
        Fixture f = fixture_new(texts);
        check(&f, "127.0.0.1:34168", "127.0.0.1:50054", "front", ROLE_CALLER);
        check(&f, "127.0.0.1:34180", "127.0.0.1:50054", "cart", ROLE_CALLER);
        check(&f, "127.0.0.1:50054", "127.0.0.1:9", "price", ROLE_SERVER);
        fixture_free(&f);
}

static void test_lsof(void)
{
        static const char *const texts[] = {
                "COMMAND   PID USER   FD   TYPE DEVICE SIZE/OFF NODE NAME\n"
                "web\\x20x 12 root 18u IPv4 4242 0t0 TCP 127.0.0.1:8080 (LISTEN)\n"
                "db      13 root 18u IPv6 4243 0t0 TCP *:5432 (LISTEN)\n"
                "web\\x20x 12 root 20u IPv4 4244 0t0 TCP 127.0.0.1:40000->127.0.0.1:5432 "
                "(ESTABLISHED)\n"
                "db      13 root 20u IPv4 4245 0t0 TCP 127.0.0.1:5432->127.0.0.1:40000 "
                "(ESTABLISHED)\n"
                "dns     14 root 20u IPv4 4245 0t0 UDP 127.0.0.1:53\n",
                NULL
        };
        Fixture f = fixture_new(texts);
        check(&f, "127.0.0.1:40000", "127.0.0.1:5432", "web\\x20x", ROLE_CALLER);
        check(&f, "127.0.0.1:5432", "127.0.0.1:40000", "db", ROLE_SERVER);
        check(&f, "[::1]:5432", "[::1]:40000", "db", ROLE_SERVER);
        check(&f, "127.0.0.1:8080", "127.0.0.1:1", "web\\x20x", ROLE_SERVER);
        fixture_free(&f);
}

static void check_translated(Fixture *f, const char *client, const char *server, gint64 seconds,
                             const char *true_client, const char *true_server)
{
        Endpoint there[2] = { end(client), end(server) }, back[2] = { end(server), end(client) };
        Endpoint a = end(true_client), b = end(true_server);
        node_names_translate(f->names, there, seconds * 1000000000);
        node_names_translate(f->names, back, seconds * 1000000000);
        g_assert(endpoint_equal(&there[0], &a) && endpoint_equal(&there[1], &b));
        g_assert(endpoint_equal(&back[0], &b) && endpoint_equal(&back[1], &a));
}

static void test_conntrack(void)
{
        static const char *const texts[] = {
                "tcp      6 431999 ESTABLISHED src=10.0.0.2 dst=10.96.0.10 sport=4321 dport=80 "
                "src=10.1.1.3 dst=10.0.0.2 sport=8080 dport=4321 [ASSURED] mark=0 use=1\n"
                "ipv4     2 tcp 6 100 TIME_WAIT src=10.0.0.2 dst=10.96.0.10 sport=4322 dport=80 "
                "src=10.1.1.4 dst=10.0.0.1 sport=8080 dport=9999 [ASSURED] mark=0 use=1\n"
                "tcp      6 100 ESTABLISHED src=10.0.0.2 dst=10.1.1.4 sport=1 dport=2 "
                "src=10.1.1.4 dst=10.0.0.2 sport=2 dport=1 [ASSURED] mark=0 use=1\n",
                "[1000.500000]\t    [NEW] tcp      6 120 SYN_SENT src=10.0.0.3 dst=10.96.0.10 "
                "sport=1 dport=80 [UNREPLIED] src=10.1.1.3 dst=10.0.0.3 sport=8080 dport=1\n"
                "[1900.500000]\t[DESTROY] tcp      6 src=10.0.0.3 dst=10.96.0.10 sport=1 dport=80 "
                "src=10.1.1.3 dst=10.0.0.3 sport=8080 dport=1\n"
                "[2000.500000]\t    [NEW] tcp      6 120 SYN_SENT src=10.0.0.3 dst=10.96.0.10 "
                "sport=1 dport=80 [UNREPLIED] src=10.1.1.4 dst=10.0.0.3 sport=8080 dport=1\n",
                NULL
        };
        Fixture f = fixture_new(texts);
        check_translated(&f, "10.0.0.2:4321", "10.96.0.10:80", 0, "10.0.0.2:4321", "10.1.1.3:8080");
        check_translated(&f, "10.0.0.2:4322", "10.96.0.10:80", 0, "10.0.0.2:4322", "10.1.1.4:8080");
        check_translated(&f, "10.0.0.1:9999", "10.1.1.4:8080", 0, "10.0.0.2:4322", "10.1.1.4:8080");
        check_translated(&f, "10.0.0.2:4322", "10.1.1.4:8080", 0, "10.0.0.2:4322", "10.1.1.4:8080");
        check_translated(&f, "10.0.0.2:1", "10.1.1.4:2", 0, "10.0.0.2:1", "10.1.1.4:2");
        check_translated(&f, "10.0.0.3:1", "10.96.0.10:80", 900, "10.0.0.3:1", "10.96.0.10:80");
        check_translated(&f, "10.0.0.3:1", "10.96.0.10:80", 1000, "10.0.0.3:1", "10.1.1.3:8080");
        check_translated(&f, "10.0.0.3:1", "10.96.0.10:80", 3000, "10.0.0.3:1", "10.1.1.4:8080");
        fixture_free(&f);
}

/* A process cannot name others: a name with a line of its own in it is none. */
static void test_hostile(void)
{
        static const char *const texts[] = {
                "ESTAB 0 0 127.0.0.1:40000 127.0.0.1:80 users:((\"x\n10.0.0.1 evil\",pid=1,fd=2))\n"
                "ESTAB 0 0 127.0.0.1:40001 127.0.0.1:80 users:((\"y\",pid=2,fd=2))\n",
                NULL
        };
        static const char *const wrong[] = {
                "ESTAB 0 0 127.0.0.1:40000 127.0.0.1:80\n",
                "State Recv-Q Send-Q Local Address:Port\n", "COMMAND PID USER FD TYPE\n",
                "tcp 6 1 X src=a dst=b src=c dst=d\n",
                "node 1 root 1u IPv4 1 0t0 TCP localhost:http (LISTEN)\n"
        };
        Fixture f = fixture_new(texts);
        check(&f, "10.0.0.1:1", "127.0.0.1:80", "10.0.0.1", ROLE_NAMELESS);
        check(&f, "127.0.0.1:40001", "127.0.0.1:80", "y", ROLE_CALLER);
        for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
                g_autoptr(NodeFiles) files = node_files_new(f.names, f.nodes);
                g_autoptr(GError) error = NULL;
                g_assert(!node_files_parse(files, wrong[i], strlen(wrong[i]), "file", &error));
                g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
        }
        fixture_free(&f);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/node-files/ss", test_ss);
        g_test_add_func("/node-files/ss-established", test_ss_established);
        g_test_add_func("/node-files/lsof", test_lsof);
        g_test_add_func("/node-files/conntrack", test_conntrack);
        g_test_add_func("/node-files/hostile", test_hostile);
        return g_test_run();
}
