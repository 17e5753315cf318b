/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The generic rule, and TLS, which follows it: what one side says is a message.
 */
#include "tests/unit/capture/scene.h"

#define CLIENT_HELLO    "16 0301 0008 01000004 0303 0000 "
#define SERVER_HELLO    "16 0303 0008 02000004 0303 0000 "
#define APPLICATION     "17 0303 0012 000000000000000000000000000000000000 "
#define ENCRYPTED_ALERT "17 0303 0013 00000000000000000000000000000000000000 "
#define FINISHED                                                                                   \
        "17 0303 0035 0000000000000000000000000000000000000000000000000000000000000000000000"      \
        "000000000000000000000000000000000000 "

static void test_tls(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 1, CLIENT_HELLO);
        say_hex(s, SERVER, 2, SERVER_HELLO APPLICATION APPLICATION);
        say_hex(s, CLIENT, 3, FINISHED);
        say_hex(s, SERVER, 4, APPLICATION); /* a session ticket */
        say_hex(s, CLIENT, 5, APPLICATION);
        say_hex(s, CLIENT, 6, APPLICATION);
        say_hex(s, SERVER, 7, APPLICATION "17 0303 0012 00");
        say_hex(s, SERVER, 8, "0000000000000000000000000000000000");
        say_hex(s, CLIENT, 9, APPLICATION);
        say_hex(s, SERVER, 10, APPLICATION);
        say_hex(s, SERVER, 11, ENCRYPTED_ALERT);
        say_hex(s, CLIENT, 12, ENCRYPTED_ALERT);
        scene_end(s, "5 CALL_SENT a>b 1000.148 dur=1000000\n"
                     "8 RET_SENT b>a 1000.148 dur=1000000\n"
                     "9 CALL_SENT a>b 1000.176\n"
                     "10 RET_SENT b>a 1000.176\n");
}

/* A hole in a run does not end it. */
static void test_tls_hole(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, APPLICATION);
        say_hex(s, SERVER, 6, APPLICATION);
        lose(s, SERVER, 100);
        say_hex(s, SERVER, 8, "'rest'" APPLICATION);
        s->time = 100 * MS;
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        say_hex(s, CLIENT, 105, APPLICATION);
        say_hex(s, SERVER, 106, APPLICATION);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "8 RET_SENT b>a 1000.101 dur=2000000\n"
                     "105 CALL_SENT a>b 1000.118\n"
                     "106 RET_SENT b>a 1000.118\n");
}

/* Runs, of which some bytes were captured by nobody, and records of TLS without their headers. */
static void test_size_of_runs(void)
{
        Scene *s = scene_with_sizes();
        say(s, CLIENT, 5, "0123456789");
        say(s, CLIENT, 6, "0123456789");
        say(s, SERVER, 7, "x");
        say(s, CLIENT, 8, "0123456789");
        lose(s, CLIENT, 10);
        say(s, CLIENT, 9, "0123456789012345678901234567890123456789");
        say(s, SERVER, 10, "xyz");
        scene_end(s, "5 CALL_SENT a>b 1000.101 dur=1000000 bytes=20\n"
                     "7 RET_SENT b>a 1000.101 bytes=1\n"
                     "8 CALL_SENT a>b 1000.115 dur=1000000 bytes=64\n"
                     "10 RET_SENT b>a 1000.115 bytes=3\n");
}

static void test_size_of_records(void)
{
        Scene *s = scene_with_sizes();
        say_hex(s, CLIENT, 1, CLIENT_HELLO);
        say_hex(s, SERVER, 2, SERVER_HELLO APPLICATION APPLICATION);
        say_hex(s, CLIENT, 3, FINISHED);
        say_hex(s, CLIENT, 5, APPLICATION);
        say_hex(s, CLIENT, 6, APPLICATION);
        say_hex(s, SERVER, 7, "17 0303 0012 00");
        say_hex(s, SERVER, 8, "0000000000000000000000000000000000");
        scene_end(s, "5 CALL_SENT a>b 1000.148 dur=1000000 bytes=40\n"
                     "8 RET_SENT b>a 1000.148 dur=1000000 bytes=20\n");
}

/* Each run might be the beginning of a record; none is. */
static void test_never_decided(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        for (gint64 ms = 5; ms < 8; ms += 2) {
                say_hex(s, CLIENT, ms, "17");
                say_hex(s, SERVER, ms + 1, "17");
        }
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "7 CALL_SENT a>b 1000.102\n"
                     "8 RET_SENT b>a 1000.102\n");
}

static void test_one_sided(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        segment(s, CLIENT, SYN, s->next[CLIENT]++, "", 0);
        s->next[SERVER]++;
        say(s, CLIENT, 5, "\1call");
        lose(s, SERVER, 100);
        say(s, CLIENT, 7, "\1call");
        lose(s, SERVER, 100);
        say(s, CLIENT, 9, "\1call");
        check_count(s, ACCOUNT_CALLS, 2);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 CALL_SENT a>b 1000.106\n"
                     "9 CALL_SENT a>b 1000.10b\n");
}

static void test_generic(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, SERVER, 4, "\1greeting");
        say(s, CLIENT, 5, "\1ask");
        say(s, CLIENT, 6, "more");
        say(s, SERVER, 7, "\1answer");
        say(s, SERVER, 9, "more");
        say(s, CLIENT, 10, "\1ask");
        say(s, SERVER, 11, "\1answer");
        scene_end(s, "4 MSG_SENT b>a 50.501\n"
                     "5 CALL_SENT a>b 1000.101 dur=1000000\n"
                     "9 RET_SENT b>a 1000.101 dur=2000000\n"
                     "10 CALL_SENT a>b 1000.109\n"
                     "11 RET_SENT b>a 1000.109\n");
}

static void test_generic_mid_stream(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[SERVER] = 8080;
        say(s, CLIENT, 5, "\1ask");
        say(s, SERVER, 7, "\1answer");
        check_count(s, ACCOUNT_CALLS, 0);
        scene_end(s, "5 MSG_SENT a>b 1000.100\n"
                     "7 MSG_SENT b>a 1f90.500\n");

        s = scene_new(two_nodes, NULL, FALSE);
        s->ports[80] = &protocol_generic;
        say(s, CLIENT, 5, "\1ask");
        say(s, SERVER, 7, "\1answer");
        scene_end(s, "5 CALL_SENT a>b 1000.100\n"
                     "7 RET_SENT b>a 1000.100\n");

        /* What answers a call from before the capture is no message of its own. */
        s = scene_new(two_nodes, NULL, FALSE);
        s->ports[80] = &protocol_generic;
        say(s, SERVER, 4, "\1answer");
        say(s, CLIENT, 5, "\1ask");
        say(s, SERVER, 7, "\1answer");
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.100\n"
                     "7 RET_SENT b>a 1000.100\n");
}

static void test_silence(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "\1ask");
        say(s, SERVER, 7, "\1answer");
        s->time = 20000 * MS;
        datagram(s, CLIENT, 20000, "x", 1);
        g_assert_cmpstr(s->lines->str, ==,
                        "5 CALL_SENT a>b 1000.101\n"
                        "7 RET_SENT b>a 1000.101\n");
        say(s, SERVER, 20005, "\1news");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 RET_SENT b>a 1000.101\n"
                     "20000 MSG_SENT a>b -\n"
                     "20005 MSG_SENT b>a 50.508\n");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/run/size-of-runs", test_size_of_runs);
        g_test_add_func("/run/size-of-records", test_size_of_records);
        g_test_add_func("/run/tls", test_tls);
        g_test_add_func("/run/tls-hole", test_tls_hole);
        g_test_add_func("/run/never-decided", test_never_decided);
        g_test_add_func("/run/one-sided", test_one_sided);
        g_test_add_func("/run/generic", test_generic);
        g_test_add_func("/run/generic-mid-stream", test_generic_mid_stream);
        g_test_add_func("/run/silence", test_silence);
        return g_test_run();
}
