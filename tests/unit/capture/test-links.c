/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages that carry the same have the same link: Redis, AMQP, MQTT, NATS.
 */
#include "tests/unit/capture/scene.h"

/* What a worker takes from a list is a message of its own, linked to what was put in: by another,
 * where the worker does not wait for it. */
static void test_redis_lists(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say(s, CLIENT, 5, "*4\r\n$5\r\nRPUSH\r\n$1\r\nq\r\n$2\r\nj1\r\n$2\r\nj2\r\n");
        say(s, SERVER, 6, ":2\r\n");
        say(s, CLIENT, 7, "*3\r\n$5\r\nBLPOP\r\n$1\r\nq\r\n$1\r\n0\r\n");
        say(s, SERVER, 8, "*2\r\n$1\r\nq\r\n$2\r\nj2");
        say(s, SERVER, 9, "\r\n");
        say(s, CLIENT, 10, "*2\r\n$4\r\nLPOP\r\n$1\r\nq\r\n");
        say(s, SERVER, 11, "$2\r\nj1\r\n"); /* its own */
        say(s, CLIENT, 12, "*3\r\n$5\r\nBLPOP\r\n$1\r\nq\r\n$1\r\n0\r\n");
        say(s, SERVER, 13, "*2\r\n$1\r\nq\r\n$2\r\nj3\r\n"); /* put in by nobody that was seen */
        scene_end(s, "5 CALL_SENT a>b 1000.100 link=1000.100\n"
                     "6 RET_SENT b>a 1000.100\n"
                     "7 CALL_SENT a>b 1000.126 fetch=wait\n"
                     "9 MSG_SENT b>a 1000.126 link=1000.100\n"
                     "9 RET_SENT b>a 1000.126 dur=1000000\n"
                     "10 CALL_SENT a>b 1000.143 fetch=now\n"
                     "11 RET_SENT b>a 1000.143\n"
                     "12 CALL_SENT a>b 1000.158 fetch=wait\n"
                     "13 MSG_SENT b>a 1000.158 link=1000.158\n"
                     "13 RET_SENT b>a 1000.158\n");
}

#define AMQP_CONTENT(text)                                                                         \
        "02 0001 0000000e 003c 0000 0000000000000001 0000 ce "                                     \
        "03 0001 00000001 '" text "' ce "
#define AMQP_PUBLISH      "01 0001 0000000a 003c 0028 0000 00 01 'q' 00 ce "
#define AMQP_DELIVER(tag) "01 0001 00000012 003c 003c 01 't' 00000000000000" tag " 00 00 01 'q' ce "
#define AMQP_REPLY                                                                                 \
        "01 0001 00000028 003c 003c 01 't' 0000000000000001 00 00 17 'amq.rabbitmq.reply-to.x' "   \
        "ce "
#define AMQP_ACK(tag, multiple) "01 0001 0000000d 003c 0050 00000000000000" tag " " multiple " ce "
#define AMQP_SELECT             "01 0001 00000005 0055 000a 00 ce "
#define AMQP_HEARTBEAT          "08 0000 00000000 ce "

/* What one publishes and its confirmation; deliveries, acknowledged in another order, several at a
 * time, or never; a content in two segments; one that is delivered again. Both sides' keys are the
 * same. */
static void test_amqp(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say_hex(s, CLIENT, 5, "'AMQP' 00 00 09 01");
        say_hex(s, CLIENT, 6, AMQP_PUBLISH AMQP_CONTENT("x") AMQP_SELECT);
        say_hex(s, CLIENT, 7, AMQP_PUBLISH);
        say_hex(s, SERVER, 8, AMQP_DELIVER("01") AMQP_CONTENT("x") AMQP_HEARTBEAT);
        say_hex(s, CLIENT, 9, AMQP_CONTENT("y"));
        say_hex(s, SERVER, 10, AMQP_DELIVER("02") AMQP_CONTENT("y"));
        say_hex(s, SERVER, 11, AMQP_DELIVER("03") AMQP_CONTENT("x"));
        say_hex(s, SERVER, 12, AMQP_DELIVER("04") AMQP_CONTENT("y") AMQP_ACK("01", "00"));
        say_hex(s, CLIENT, 13, AMQP_ACK("02", "00"));
        say_hex(s, CLIENT, 14, AMQP_HEARTBEAT AMQP_ACK("03", "01"));
        say_hex(s, CLIENT, 15, AMQP_ACK("03", "01"));
        capture_finish(s->capture);
        check_count(s, ACCOUNT_SESSION, 2);
        check_count(s, ACCOUNT_UNANSWERED, 1);
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        scene_end(s, "6 MSG_SENT a>b 1000.109 label=publish%20q link=1000.109\n"
                     "7 CALL_SENT a>b 1000.147 dur=2000000 label=publish%20q link=1000.147\n"
                     "8 CALL_SENT b>a 50.501 label=deliver%20q link=1000.109\n"
                     "10 CALL_SENT b>a 50.542 label=deliver%20q link=1000.147\n"
                     "11 CALL_SENT b>a 50.57b label=deliver%20q link=1000.109\n"
                     "12 CALL_SENT b>a 50.5b4 label=deliver%20q link=1000.147\n"
                     "12 RET_SENT b>a 1000.147\n"
                     "13 RET_SENT a>b 50.542\n"
                     "14 RET_SENT a>b 50.501\n"
                     "14 RET_SENT a>b 50.57b\n");
}

/* In the middle of a connection it is the messages that say who is the broker; after a hole the
 * next frame is found. */
static void test_amqp_lost(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[CLIENT] = 40000;
        s->port[SERVER] = 41000;
        say_hex(s, SERVER, 4, AMQP_DELIVER("05"));
        lose(s, SERVER, 100);
        say_hex(s, SERVER, 7, "'ody' ce" AMQP_DELIVER("06") AMQP_CONTENT("x"));
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        s->time = 100 * MS;
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        say_hex(s, CLIENT, 101, AMQP_ACK("05", "01"));
        say_hex(s, CLIENT, 102, AMQP_ACK("06", "00"));
        say_hex(s, CLIENT, 103, AMQP_PUBLISH AMQP_CONTENT("x"));
        capture_finish(s->capture);
        scene_end(s, "4 CALL_SENT b>a a028.500\n"
                     "7 CALL_SENT b>a a028.582 link=a028.582\n"
                     "101 RET_SENT a>b a028.500\n"
                     "102 RET_SENT a>b a028.582\n"
                     "103 MSG_SENT a>b 9c40.12a link=a028.582\n");
}

/* A delivery whose tag is that of one which waits is counted; replies that nobody acknowledges all
 * have the same. */
static void test_amqp_repeated(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say_hex(s, SERVER, 4, AMQP_DELIVER("01") AMQP_CONTENT("x"));
        say_hex(s, SERVER, 5, AMQP_DELIVER("01") AMQP_CONTENT("y"));
        say_hex(s, SERVER, 6, AMQP_REPLY AMQP_CONTENT("x"));
        say_hex(s, SERVER, 7, AMQP_REPLY AMQP_CONTENT("y"));
        say_hex(s, CLIENT, 8, AMQP_ACK("01", "00"));
        capture_finish(s->capture);
        check_count(s, ACCOUNT_REPEATED_CALLS, 1);
        scene_end(s, "4 CALL_SENT b>a 50.500 link=50.500\n"
                     "6 MSG_SENT b>a 50.572 link=50.572\n"
                     "7 MSG_SENT b>a 50.5c1 link=50.5c1\n"
                     "8 RET_SENT a>b 50.500\n");
}

/* Two requests, of which the second is answered first, and their deliveries. Both carry the same,
 * yet each has its own link, as has a third that uses a reply subject again. One message is
 * published to all. */
static void test_nats(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say(s, SERVER, 5, "INFO {\"server_id\":\"N\",\"tls_available\":true} \r\n");
        say(s, CLIENT, 6, "CONNECT {\"verbose\":false}\r\nPING\r\n");
        say(s, SERVER, 7, "PONG\r\n");
        say(s, CLIENT, 8, "SUB _INBOX.x.* 1\r\nPUB a.b _INBOX.x.1 1\r\nq\r\n");
        say(s, CLIENT, 9, "PUB a.b _INBOX.x.2 1\r\n");
        say(s, CLIENT, 10, "q\r\nPUB ev 3\r\nabc\r\n");
        say(s, SERVER, 11, "MSG _INBOX.x.2 1 2\r\nok\r\nMSG ev 2 3\r\n");
        say(s, SERVER, 12, "abc\r\n");
        say(s, SERVER, 13, "MSG a.b 3 _INBOX.x.2 1\r\nq\r\nMSG a.b 3 _INBOX.x.1 1\r\nq\r\n");
        say(s, CLIENT, 14, "PUB _INBOX.x.1 2\r\nok\r\n");
        say(s, SERVER, 15, "MSG _INBOX.x.1 1 2\r\nok\r\n");
        say(s, CLIENT, 16, "PUB a.b _INBOX.x.1 1\r\nq\r\n");
        say(s, SERVER, 17, "MSG a.b 3 _INBOX.x.1 1\r\nq\r\nMSG _INBOX.x.1 1 2\r\nok\r\n");
        capture_finish(s->capture);
        check_count(s, ACCOUNT_SESSION, 3);
        check_count(s, ACCOUNT_UNANSWERED, 2);
        scene_end(s, "8 CALL_SENT a>b 1000.134 label=publish%20a.b link=1000.134\n"
                     "9 CALL_SENT a>b 1000.14d dur=1000000 label=publish%20a.b link=1000.14d\n"
                     "10 MSG_SENT a>b 1000.166 label=publish%20ev link=1000.166\n"
                     "11 RET_SENT b>a 1000.14d\n"
                     "11 MSG_SENT b>a 50.54d dur=1000000 label=deliver%20ev link=1000.166\n"
                     "13 CALL_SENT b>a 50.55e label=deliver%20a.b link=1000.14d\n"
                     "13 CALL_SENT b>a 50.579 label=deliver%20a.b link=1000.134\n"
                     "14 RET_SENT a>b 50.579\n"
                     "15 RET_SENT b>a 1000.134\n"
                     "16 CALL_SENT a>b 1000.18b label=publish%20a.b link=1000.18b\n"
                     "17 CALL_SENT b>a 50.5ac label=deliver%20a.b link=1000.18b\n"
                     "17 RET_SENT b>a 1000.18b\n");
}

/* Pings on a connection that was open before, and what is stored by JetStream; after a hole the
 * next line is found. */
static void test_nats_lost(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[CLIENT] = 40000;
        s->port[SERVER] = 41000;
        say(s, SERVER, 4, "PING\r\n");
        say(s, CLIENT, 5, "PONG\r\n");
        say(s, CLIENT, 6, "PUB jobs _INBOX.x.1 1\r\nq\r\n");
        say(s, SERVER, 7,
            "MSG _INBOX.x.1 1 2\r\n{}\r\nMSG jobs 3 $JS.ACK.s.c.1.1.1.1.0 1\r\nq\r\n");
        say(s, CLIENT, 8, "PUB $JS.ACK.s.c.1.1.1.1.0 4\r\n+ACK\r\nPUB jobs 100\r\n");
        lose(s, CLIENT, 100);
        say(s, CLIENT, 9, "xyz\r\nPUB jobs 1\r\nz\r\n");
        capture_finish(s->capture);
        scene_end(s, "6 CALL_SENT a>b 9c40.106 link=9c40.106\n"
                     "7 RET_SENT b>a 9c40.106\n"
                     "7 CALL_SENT b>a a028.51e link=9c40.106\n"
                     "8 RET_SENT a>b a028.51e\n"
                     "9 MSG_SENT a>b 9c40.1ba link=9c40.1ba\n");
}

/* Both sides publish, with the same ids. What was published at one quality of service is delivered
 * at another. */
static void test_mqtt(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, "10 0d 0004 'MQTT' 04 02 003c 0001 'c'");
        say_hex(s, SERVER, 6, "20 02 00 00");
        say_hex(s, CLIENT, 7, "82 08 0001 0003 'a/b' 02");
        say_hex(s, SERVER, 8, "90 03 0001 02");
        say_hex(s, CLIENT, 9, "34 08 0003 'a/b' 0001 'x'");
        say_hex(s, SERVER, 10, "50 02 0001 32 08 0003 'a/b' 0001 'x'");
        say_hex(s, CLIENT, 11, "62 02 0001");
        say_hex(s, SERVER, 12, "70 02 0001 c0");
        say_hex(s, CLIENT, 13, "40 02 0001 30 06 0003 'a/b' 'y' e0 00");
        capture_finish(s->capture);
        check_count(s, ACCOUNT_SESSION, 3);
        scene_end(s, "7 CALL_SENT a>b 1000.110\n"
                     "8 RET_SENT b>a 1000.110\n"
                     "9 CALL_SENT a>b 1000.11a link=1000.11a\n"
                     "10 CALL_SENT b>a 50.50e link=1000.11a\n"
                     "12 RET_SENT b>a 1000.11a\n"
                     "13 RET_SENT a>b 50.50e\n"
                     "13 MSG_SENT a>b 1000.12c link=1000.12c\n");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/links/redis-lists", test_redis_lists);
        g_test_add_func("/links/mqtt", test_mqtt);
        g_test_add_func("/links/amqp", test_amqp);
        g_test_add_func("/links/amqp-lost", test_amqp_lost);
        g_test_add_func("/links/amqp-repeated", test_amqp_repeated);
        g_test_add_func("/links/nats", test_nats);
        g_test_add_func("/links/nats-lost", test_nats_lost);
        return g_test_run();
}
