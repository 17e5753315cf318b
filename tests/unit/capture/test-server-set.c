/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A server that accepted one connection is known on the others.
 */
#include "tests/unit/capture/scene.h"

/* A server that has accepted one connection is known for the next. */
static void test_known_server(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        s->port[CLIENT]++;
        say(s, CLIENT, 5, "\1ask");
        say(s, SERVER, 7, "\1answer");
        scene_end(s, "5 CALL_SENT a>b 1001.101\n"
                     "7 RET_SENT b>a 1001.101\n");
}

static void test_known_servers(void)
{
        enum { SERVERS = 2000 };
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        for (guint i = 0; i < SERVERS; i++) {
                s->port[SERVER] = (guint16)(5000 + i);
                handshake(s);
        }
        s->port[CLIENT]++;
        for (guint i = 0; i < SERVERS; i++) {
                s->port[SERVER] = (guint16)(5000 + i);
                say(s, CLIENT, 5, "\1ask");
                say(s, SERVER, 7, "\1answer");
        }
        capture_finish(s->capture);
        check_count(s, ACCOUNT_ROLE_BY_ACCEPT, SERVERS);
        check_count(s, ACCOUNT_CALLS, SERVERS);
        scene_free(s);
}

/* One that accepts a connection later is known from then on. */
static void test_known_server_late(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[SERVER] = 8080;
        say(s, CLIENT, 1, "\1ask");
        say(s, SERVER, 2, "\1answer");
        s->port[CLIENT]++;
        handshake(s);
        s->port[CLIENT]--;
        s->next[CLIENT]--;
        s->next[SERVER]--;
        say(s, CLIENT, 5, "\1ask");
        say(s, SERVER, 7, "\1answer");
        scene_end(s, "1 MSG_SENT a>b 1000.100\n"
                     "2 MSG_SENT b>a 1f90.500\n"
                     "5 CALL_SENT a>b 1000.104\n"
                     "7 RET_SENT b>a 1000.104\n");
}

/* A well-known port serves, though the client's is low. Privileged clients have ports from 512. */
static void test_low_ports(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[SERVER] = 502;
        say(s, CLIENT, 1, "\1ask");
        say(s, SERVER, 2, "\1answer");
        s->port[SERVER] = 2049;
        s->port[CLIENT] = 800;
        say(s, CLIENT, 3, "\1ask");
        say(s, SERVER, 4, "\1answer");
        scene_end(s, "1 CALL_SENT a>b 1000.100\n"
                     "2 RET_SENT b>a 1000.100\n"
                     "3 MSG_SENT a>b 320.104\n"
                     "4 MSG_SENT b>a 801.507\n");
}

/* The ports spoke for the wrong end: that is said. */
static void test_wrong_by_ports(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[SERVER] = 50051; /* and the client's is a low one */
        say(s, CLIENT, 1, "\1ask");
        say(s, SERVER, 2, "\1answer");
        s->port[CLIENT]++;
        handshake(s);
        capture_finish(s->capture);
        check_count(s, ACCOUNT_ROLE_BY_PORTS, 1);
        check_count(s, ACCOUNT_ROLE_DOUBTED, 1);
        g_auto(GStrv) lines = account_judge(capture_account(s->capture));
        g_assert_nonnull(strstr(lines[1], "--proto"));
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        scene_end(s, "2 CALL_SENT b>a c383.500\n");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/server-set/known-server", test_known_server);
        g_test_add_func("/server-set/known-server-late", test_known_server_late);
        g_test_add_func("/server-set/known-servers", test_known_servers);
        g_test_add_func("/server-set/low-ports", test_low_ports);
        g_test_add_func("/server-set/wrong-by-ports", test_wrong_by_ports);
        return g_test_run();
}
