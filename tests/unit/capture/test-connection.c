/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The table of connections: disorder, reused ports, when one was opened, and which end serves.
 */
#include "tests/unit/capture/scene.h"

/* The return was captured before the call, and the call's second half before its
 * first: sequence numbers and acknowledgements say how it was. */
static void test_disorder(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        s->next[CLIENT] += 18;
        say(s, SERVER, 5, "HTTP/1.1 204 n\r\n\r\n");
        segment(s, CLIENT, ACK, s->next[CLIENT] - 10, "TP/1.1\r\n\r\n", 10);
        segment(s, CLIENT, ACK, s->next[CLIENT] - 18, "GET / HT", 8);
        say(s, CLIENT, 6, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 7, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 RET_SENT b>a 1000.101\n"
                     "5 CALL_SENT a>b 1000.101\n"
                     "6 CALL_SENT a>b 1000.113\n"
                     "7 RET_SENT b>a 1000.113\n");
}

static void test_port_reuse(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        s->next[CLIENT] = 0x90000000;
        s->next[SERVER] = 0xfffffffe; /* and the numbers wrap */
        handshake(s);
        say(s, CLIENT, 7, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 8, "HTTP/1.1 204 n\r\n\r\n");
        check_count(s, ACCOUNT_CONNECTIONS, 2);
        check_count(s, ACCOUNT_UNANSWERED, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 CALL_SENT a>b 1000.90000001\n"
                     "8 RET_SENT b>a 1000.90000001\n");
}

/* The first call of a connection says how long before it the connection was opened, be there a
 * login in between. */
static void test_opening(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->openings = TRUE;
        s->time = 2 * MS;
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 204 n\r\n\r\n");
        say(s, CLIENT, 7, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 8, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101 syn=3000000 tcp=1\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "7 CALL_SENT a>b 1000.113\n"
                     "8 RET_SENT b>a 1000.113\n");
}

/* A connection was open before the capture. Ports and names tell which end serves, and the account
 * says how that was decided. */
static void test_known_by_ports(void)
{
        static const struct {
                const char *nodes;
                guint16 client, server;
                gboolean known;
                AccountEntry entry;
        } cases[] = {
                { "", 40000, 5432, TRUE, ACCOUNT_ROLE_BY_PORTS },
                { "", 32768, 32767, TRUE, ACCOUNT_ROLE_BY_PORTS },
                { "", 32767, 5432, FALSE, ACCOUNT_ROLE_BY_PORTS },  /* behind address translation */
                { "", 40000, 50051, FALSE, ACCOUNT_ROLE_BY_PORTS }, /* serves on a high port */
                { "10.0.0.2:50051 b\n", 40000, 50051, TRUE, ACCOUNT_ROLE_BY_NAME },
                { "10.0.0.2:50051 b\n", 4096, 50051, TRUE, ACCOUNT_ROLE_BY_NAME },
                { "10.0.0.2 b\n", 40000, 50051, FALSE, ACCOUNT_ROLE_BY_NAME },
        };

        for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
                Scene *s = scene_new(cases[i].nodes, NULL, FALSE);
                s->port[CLIENT] = cases[i].client;
                s->port[SERVER] = cases[i].server;
                say(s, CLIENT, 1, "\1ask");
                say(s, SERVER, 2, "\1answer");
                capture_finish(s->capture);
                check_count(s, ACCOUNT_CALLS, cases[i].known);
                check_count(s, ACCOUNT_RETURNS, cases[i].known);
                check_count(s, cases[i].entry, cases[i].known);
                check_count(s, ACCOUNT_ROLE_DOUBTED, 0);
                take_lines(s);
                g_assert_true(g_str_has_prefix(s->lines->str, cases[i].known
                                                                      ? "1 CALL_SENT 10.0.0.1>"
                                                                      : "1 MSG_SENT 10.0.0.1>"));
                scene_free(s);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/connection/disorder", test_disorder);
        g_test_add_func("/connection/port-reuse", test_port_reuse);
        g_test_add_func("/connection/opening", test_opening);
        g_test_add_func("/connection/known-by-ports", test_known_by_ports);
        return g_test_run();
}
