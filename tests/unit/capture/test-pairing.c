/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls and returns where packets are missing, too many calls wait, or the network held them up.
 */
#include "tests/unit/capture/scene.h"

/* A call and its return were lost together; the ones after them pair right. */
static void test_hole_over_messages(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        lose(s, SERVER, 30);
        lose(s, CLIENT, 40);
        lose(s, SERVER, 50);
        say(s, CLIENT, 205, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 206, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "205 CALL_SENT a>b 1000.13b\n"
                     "206 RET_SENT b>a 1000.13b\n");
}

#define GET "GET / HTTP/1.1\r\n\r\n"
#define OK  "HTTP/1.1 204 n\r\n\r\n"

/* Three calls at a time, and all their returns: no return of a batch that a hole is in
 * is taken for another's, and the next batch is right. */
static void test_hole_in_batch(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, GET GET GET);
        say(s, SERVER, 6, OK);
        lose(s, SERVER, strlen(OK));
        say(s, CLIENT, 7, "");
        say(s, SERVER, 8, OK);
        say(s, CLIENT, 9, GET GET GET);
        say(s, SERVER, 10, OK OK OK);
        say(s, CLIENT, 11, GET);
        lose(s, CLIENT, strlen(GET));
        say(s, CLIENT, 12, GET);
        say(s, SERVER, 13, OK OK);
        say(s, SERVER, 14, OK);
        say(s, CLIENT, 15, GET GET);
        say(s, SERVER, 16, OK OK);
        capture_finish(s->capture);
        check_count(s, ACCOUNT_ORDER_LOST, 3);
        check_count(s, ACCOUNT_UNANSWERED, 3);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "5 CALL_SENT a>b 1000.113\n"
                     "5 CALL_SENT a>b 1000.125\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "9 CALL_SENT a>b 1000.137\n"
                     "9 CALL_SENT a>b 1000.149\n"
                     "9 CALL_SENT a>b 1000.15b\n"
                     "10 RET_SENT b>a 1000.137\n"
                     "10 RET_SENT b>a 1000.149\n"
                     "10 RET_SENT b>a 1000.15b\n"
                     "11 CALL_SENT a>b 1000.16d\n"
                     "12 CALL_SENT a>b 1000.191\n"
                     "13 RET_SENT b>a 1000.16d\n"
                     "15 CALL_SENT a>b 1000.1a3\n"
                     "15 CALL_SENT a>b 1000.1b5\n"
                     "16 RET_SENT b>a 1000.1a3\n"
                     "16 RET_SENT b>a 1000.1b5\n");
}

/* Calls that are made while others still wait: the order is known again after a silence. */
static void test_hole_in_overlap(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, GET GET);
        say(s, SERVER, 6, OK);
        say(s, CLIENT, 7, GET);
        say(s, SERVER, 9, OK);
        lose(s, SERVER, strlen(OK));
        say(s, CLIENT, 10, GET);
        say(s, SERVER, 11, OK);
        say(s, CLIENT, 12, GET);
        say(s, SERVER, 13, OK);
        say(s, CLIENT, 22, GET);
        say(s, SERVER, 23, OK);
        capture_finish(s->capture);
        check_count(s, ACCOUNT_ORDER_LOST, 2);
        check_count(s, ACCOUNT_UNANSWERED, 3);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "5 CALL_SENT a>b 1000.113\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "7 CALL_SENT a>b 1000.125\n"
                     "9 RET_SENT b>a 1000.113\n"
                     "10 CALL_SENT a>b 1000.137\n"
                     "12 CALL_SENT a>b 1000.149\n"
                     "22 CALL_SENT a>b 1000.15b\n"
                     "23 RET_SENT b>a 1000.15b\n");
}

/* More calls at a time than are kept: the others get no return, but no call gets another's. */
static void test_too_many_calls(void)
{
        enum { KEPT = 16384, MORE = 100 };
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        for (guint i = 0; i < KEPT + MORE; i++)
                say(s, CLIENT, 5, GET);
        for (guint i = 0; i < KEPT + MORE; i++)
                say(s, SERVER, 6, OK);
        check_count(s, ACCOUNT_RETURNS, KEPT);
        check_count(s, ACCOUNT_ORDER_LOST, MORE);
        check_count(s, ACCOUNT_UNANSWERED, MORE);
        g_string_truncate(s->lines, 0);
        say(s, CLIENT, 7, GET);
        say(s, SERVER, 8, OK);
        check_count(s, ACCOUNT_RETURNS, KEPT + 1);
        scene_free(s);
}

static void test_lost_call(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        lose(s, CLIENT, 40);
        say(s, SERVER, 6, "HTTP/1.1 204 n\r\n\r\n");
        say(s, CLIENT, 105, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 106, "HTTP/1.1 204 n\r\n\r\n");
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        scene_end(s, "105 CALL_SENT a>b 1000.129\n"
                     "106 RET_SENT b>a 1000.129\n");
}

/* A segment with the last bytes that side said, again. */
static void say_again(Scene *s, guint side, gint64 ms, const char *text)
{
        s->time = ms * MS;
        segment(s, side, ACK, s->next[side] - (guint32)strlen(text), text, strlen(text));
}

/* How long the network held a message up. */
static void test_stalls(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n"); /* lost after it was captured */
        say_again(s, CLIENT, 205, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 210, "HTTP/1.1 200 n\r\nContent-Length: 8\r\n\r\n");
        lose(s, SERVER, 4); /* and before */
        say(s, SERVER, 211, "5678");
        s->next[SERVER] -= 4;
        say_again(s, SERVER, 411, "1234");
        s->next[SERVER] += 4;
        say(s, CLIENT, 420, "POST / HTTP/1.1\r\nContent-Length: 8\r\n\r\n");
        s->window = 0;
        s->time = 430 * MS;
        segment(s, SERVER, ACK, s->next[SERVER], "", 0);
        s->window = 1000;
        s->time = 480 * MS;
        segment(s, SERVER, ACK, s->next[SERVER], "", 0);
        say(s, CLIENT, 481, "12345678");
        say(s, SERVER, 490, "HTTP/1.1 204 n\r\n\r\n");
        say(s, CLIENT, 495, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 496, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "411 RET_SENT b>a 1000.101 dur=201000000 stall=200000000 resent=200000000\n"
                     "420 CALL_SENT a>b 1000.113 dur=61000000 stall=50000000 shut=50000000\n"
                     "490 RET_SENT b>a 1000.113\n"
                     "495 CALL_SENT a>b 1000.141\n"
                     "496 RET_SENT b>a 1000.141\n");
}

/* A message that was lost before the tap was sent before what comes behind it. Nobody can read that
 * until it was sent again. */
static void test_lost_before(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 204 n\r\n\r\n");
        lose(s, CLIENT, 18);
        say(s, CLIENT, 10, "GET / HTTP/1.1\r\n\r\n");
        s->next[CLIENT] -= 18;
        say_again(s, CLIENT, 210, "GET / HTTP/1.1\r\n\r\n");
        s->next[CLIENT] += 18;
        lose(s, SERVER, 18);
        say(s, SERVER, 216, "HTTP/1.1 204 n\r\n\r\n");
        s->next[SERVER] -= 18;
        say_again(s, SERVER, 416, "HTTP/1.1 204 n\r\n\r\n");
        s->next[SERVER] += 18;
        say(s, CLIENT, 420, "");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "10 CALL_SENT a>b 1000.125\n"
                     "10 CALL_SENT a>b 1000.113 dur=200000000 stall=200000000\n"
                     "216 RET_SENT b>a 1000.125 resent=200000000 again=200000000\n"
                     "416 RET_SENT b>a 1000.113 dur=200000000 stall=200000000\n");
}

/* A return waits in the trace until it is acknowledged, so that it can say that it came again. */
static void test_return_again(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 10, "HTTP/1.1 204 n\r\n\r\n");
        say_again(s, SERVER, 210, "HTTP/1.1 204 n\r\n\r\n");
        say_again(s, SERVER, 610, "HTTP/1.1 204 n\r\n\r\n");
        g_assert_cmpstr(s->lines->str, ==, "5 CALL_SENT a>b 1000.101\n");
        say(s, CLIENT, 611, "");
        g_assert_cmpstr(s->lines->str, ==,
                        "5 CALL_SENT a>b 1000.101\n"
                        "10 RET_SENT b>a 1000.101 again=600000000\n");
        say_again(s, SERVER, 900, "HTTP/1.1 204 n\r\n\r\n"); /* is no news */
        say(s, CLIENT, 1000, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 1010, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "10 RET_SENT b>a 1000.101 again=600000000\n"
                     "1000 CALL_SENT a>b 1000.113\n"
                     "1010 RET_SENT b>a 1000.113\n");
}

/* The time from a SYN, which is sent again, to the first call. */
static void test_opening(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->openings = TRUE;
        segment(s, CLIENT, SYN, s->next[CLIENT], "", 0);
        s->time = 1000 * MS;
        segment(s, CLIENT, SYN, s->next[CLIENT]++, "", 0);
        segment(s, SERVER, SYN | ACK, s->next[SERVER]++, "", 0);
        s->time = 1001 * MS;
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        say(s, SERVER, 1005, "220 mail ESMTP\r\n");
        say(s, CLIENT, 1010, "EHLO a\r\n");
        say(s, SERVER, 1020, "250 mail\r\n");
        say(s, CLIENT, 1030, "MAIL FROM:<a@b.c>\r\n");
        scene_end(s, "1030 CALL_SENT a>b 1000.109 resent=1000000000 syn=1030000000 "
                     "tcp=1001000000 login=19000000\n");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/pairing/hole-over-messages", test_hole_over_messages);
        g_test_add_func("/pairing/hole-in-batch", test_hole_in_batch);
        g_test_add_func("/pairing/hole-in-overlap", test_hole_in_overlap);
        g_test_add_func("/pairing/too-many-calls", test_too_many_calls);
        g_test_add_func("/pairing/lost-call", test_lost_call);
        g_test_add_func("/pairing/stalls", test_stalls);
        g_test_add_func("/pairing/lost-before", test_lost_before);
        g_test_add_func("/pairing/return-again", test_return_again);
        g_test_add_func("/pairing/opening", test_opening);
        return g_test_run();
}
