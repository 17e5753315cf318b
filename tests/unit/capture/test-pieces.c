/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Responses that do not end: each chunk is a message.
 */
#include "tests/unit/capture/scene.h"

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

/* Events are one-way messages as they come. */
static void test_events(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET /events HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            "Transfer-Encoding: chunked\r\n\r\n");
        say(s, SERVER, 7, "8\r\ndata: a\n\r\n8\r\ndata: b\n\r\n");
        say(s, SERVER, 20, "8\r\ndata");
        say(s, SERVER, 21, ": c\n\r\n");
        say(s, SERVER, 3000, "1\r\n\n\r\n");
        take_lines(s);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 MSG_SENT b>a 50.551\n"
                     "7 MSG_SENT b>a 50.55e\n"
                     "20 MSG_SENT b>a 50.56b dur=1000000\n"
                     "3000 MSG_SENT b>a 50.578\n");
}

/* Of a response that goes on for longer than the trace may wait chunks are messages, from the first
 * one on; when it ends it is one all the same. */
static void test_endless_chunks(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, CHUNKED "1\r\na\r\n");
        say(s, SERVER, 100, "1\r\nb\r\n");
        say(s, SERVER, 101, "0\r\n\r\n");
        say(s, CLIENT, 105, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 106, CHUNKED "1\r\na\r\n");
        say(s, SERVER, 5000, "1\r\nb\r\n");
        say(s, SERVER, 12000, "3\r\nabc");
        say(s, SERVER, 13000, "\r\n1\r\nc\r\n");
        say(s, SERVER, 14000, "0\r\n\r\n");
        take_lines(s);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "101 RET_SENT b>a 1000.101 dur=95000000\n"
                     "105 CALL_SENT a>b 1000.113\n"
                     "106 MSG_SENT b>a 50.570\n"
                     "5000 MSG_SENT b>a 50.576\n"
                     "12000 MSG_SENT b>a 50.57c\n"
                     "13000 MSG_SENT b>a 50.584\n"
                     "14000 RET_SENT b>a 1000.113 dur=13894000000\n");
}

/* The capture ends before it is known; so does a body without a length. Chunks of a response whose
 * beginning was not seen. */
static void test_endless_cut(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, CHUNKED "1\r\na\r\n");
        say(s, SERVER, 100, "1\r\nb\r\n2\r\nc");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "6 MSG_SENT b>a 50.530\n"
                     "100 MSG_SENT b>a 50.536\n"
                     "100 MSG_SENT b>a 50.53c\n");
        s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.0\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        say(s, SERVER, 7, "data: a\n\n");
        say(s, SERVER, 100, "data: b\n\n");
        hang_up(s, SERVER, 101);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 MSG_SENT b>a 50.535\n"
                     "100 MSG_SENT b>a 50.53e\n"
                     "101 RET_SENT b>a 1000.101 dur=95000000\n");
        s = scene_new(two_nodes, NULL, FALSE);
        s->port[CLIENT] = 40000;
        say(s, SERVER, 6, "3\r\nabc\r\n");
        say(s, SERVER, 7, "3\r\na");
        say(s, SERVER, 8, "bc\r\n3\r\nabc\r\n");
        say(s, SERVER, 9, "0\r\n\r\n");
        say(s, CLIENT, 10, "GET / HTTP/1.1\r\n\r\n");
        scene_end(s, "6 MSG_SENT b>a 50.500\n"
                     "7 MSG_SENT b>a 50.508 dur=1000000\n"
                     "8 MSG_SENT b>a 50.510\n"
                     "10 CALL_SENT a>b 9c40.100\n");
}

/* What one server of etcd sends another: of a chunk with two messages of raft, two. */
static void test_raft(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET /raft/stream/message/8e HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, CHUNKED);
        say_hex(s, SERVER, 7, "'14' 0d0a 0000000000000002 0804 0000000000000002 0809 0d0a");
        say_hex(s, SERVER, 8, "'1' 0d0a 00 0d0a 'a' 0d0a 02 0000000000000001 08 0d0a");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 MSG_SENT b>a 50.534\n"
                     "7 MSG_SENT b>a 50.53e\n"
                     "8 MSG_SENT b>a 50.54d\n"
                     "8 MSG_SENT b>a 50.553\n");
        s = scene_new(two_nodes, NULL, FALSE);
        s->port[CLIENT] = 40000;
        say_hex(s, SERVER, 7, "'b' 0d0a 00 02 0000000000000001 08 0d0a");
        say_hex(s, SERVER, 8, "'15' 0d0a 00 02 0000000000000001 08 02 00000000000000");
        say_hex(s, SERVER, 9, "01 09 0d0a 'c' 0d0a 00 02 0000000000000001 08 03 0d0a");
        scene_end(s, "7 MSG_SENT b>a 50.500\n"
                     "7 MSG_SENT b>a 50.504\n"
                     "8 MSG_SENT b>a 50.510 dur=1000000\n"
                     "8 MSG_SENT b>a 50.515 dur=1000000\n"
                     "8 MSG_SENT b>a 50.51f dur=1000000\n"
                     "9 MSG_SENT b>a 50.52b\n");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/pieces/events", test_events);
        g_test_add_func("/pieces/endless-chunks", test_endless_chunks);
        g_test_add_func("/pieces/endless-cut", test_endless_cut);
        g_test_add_func("/pieces/raft", test_raft);
        return g_test_run();
}
