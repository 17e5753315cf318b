/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bytes of both sides to messages: requests and responses of the protocols, one after the other,
 * also where the capture begins in the middle or bytes are missing.
 */
#include "tests/unit/capture/scene.h"

static void test_one_call(void)
{
        Scene *s = scene_new("", NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\nHost: x\r\n");
        say(s, CLIENT, 6, "\r\n");
        say(s, SERVER, 8, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab");
        say(s, SERVER, 10, "cd");
        scene_end(s, "5 CALL_SENT 10.0.0.1>10.0.0.2 1000.101 dur=1000000\n"
                     "10 RET_SENT 10.0.0.2>10.0.0.1 1000.101 dur=2000000\n");
}

static void test_keep_alive_and_labels(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say(s, CLIENT, 5, "GET /a?b=c HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 304 n\r\n\r\n");
        say(s, CLIENT, 7, "HEAD /b/17 HTTP/1.1\r\n\r\n");
        say(s, SERVER, 8, "HTTP/1.1 200 n\r\nContent-Length: 1000\r\n\r\n");
        say(s, CLIENT, 9, "GET /c HTTP/1.1\r\n\r\n");
        say(s, SERVER, 10, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101 label=GET%20/a\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "7 CALL_SENT a>b 1000.118 label=HEAD%20/b/{id}\n"
                     "8 RET_SENT b>a 1000.118\n"
                     "9 CALL_SENT a>b 1000.12f label=GET%20/c\n"
                     "10 RET_SENT b>a 1000.12f\n");
}

/* Servers of a cluster tell each other what they know. Nothing is a message, also cut. */
static void test_bus_of_a_cluster(void)
{
        static const char news[] = "52436d6200000014000161626364656667686970";
        for (gsize cut = 2; cut < sizeof news - 1; cut += 2) {
                Scene *s = scene_new(two_nodes, NULL, TRUE);
                g_autofree char *first = g_strndup(news, cut);
                handshake(s);
                say_hex(s, CLIENT, 5, first);
                say_hex(s, CLIENT, 6, news + cut);
                say_hex(s, SERVER, 7, news);
                scene_end(s, "");
        }
}

/* A request and its answer, the request cut after `first` bytes; without the bytes from there to
 * `next`. */
static char *labelled_call(const char *request, gsize first, gsize next)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        g_autofree char *one = g_strndup(request, first);
        handshake(s);
        if (first > 0)
                say(s, CLIENT, 5, one);
        s->next[CLIENT] += (guint32)(next - first);
        if (request[next])
                say(s, CLIENT, 5, request + next);
        say(s, SERVER, 6, "HTTP/1.1 204 n\r\n\r\n");
        say(s, CLIENT, 7, "GET /next HTTP/1.1\r\n\r\n");
        capture_finish(s->capture);
        take_lines(s);
        char *lines = g_strdup(s->lines->str);
        scene_free(s);
        return lines;
}

static void check_name(const char *request, const char *expected)
{
        g_autofree char *lines = NULL;
        for (gsize cut = 0; cut < strlen(request); cut++) {
                g_free(lines);
                lines = labelled_call(request, cut, cut);
                g_autofree char *end = g_strconcat(" label=", expected, "\n6 RET_SENT ", NULL);
                g_assert_nonnull(strstr(lines, end));
                g_assert_nonnull(strstr(lines, " label=GET%20/next\n"));
        }
}

static void test_names_after_the_first_line(void)
{
        static const char query[] = "POST /graphql HTTP/1.1\r\nContent-Length: 27\r\n"
                                    "Content-Type: application/json\r\n\r\n"
                                    "{\"operationName\":\"getUser\"}";
        check_name(query, "POST%20/graphql%20getUser");
        check_name("POST /q HTTP/1.1\r\ncontent-type: application/json\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n"
                   "10\r\n{\"query\":\"query \r\n7\r\nQ {a}\"}\r\n0\r\n\r\n",
                   "POST%20/q%20Q");
        check_name("POST /s HTTP/1.1\r\nSOAPAction: \"urn:a#Get\"\r\nContent-Length: 0\r\n\r\n",
                   "POST%20/s%20Get");
        check_name("POST / HTTP/1.1\r\nX-Amz-Target: Db_2012.GetItem\r\n"
                   "Content-Type: application/json\r\nContent-Length: 21\r\n\r\n"
                   "{\"operationName\":\"a\"}",
                   "POST%20/%20GetItem");
        check_name("PUT /q HTTP/1.1\r\ncontent-type: application/json\r\n"
                   "Content-Length: 21\r\n\r\n{\"operationName\":\"a\"}",
                   "PUT%20/q");
        check_name("POST /q HTTP/1.1\r\ncontent-type: application/json\r\n"
                   "Content-Encoding: gzip\r\nContent-Length: 21\r\n\r\n{\"operationName\":\"a\"}",
                   "POST%20/q");
        for (gsize missing = strlen(query) - 27; missing < strlen(query) - 4; missing++) {
                g_autofree char *lines = labelled_call(query, missing, missing + 4);
                g_assert_nonnull(strstr(lines, " label=POST%20/graphql\n6 RET_SENT "));
        }
}

/* A connection that is not HTTP, beside one that is. */
static void test_no_label_of_others(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        s->port[CLIENT] = 4097;
        handshake(s);
        say(s, CLIENT, 5, "\1ask");
        say(s, SERVER, 6, "\1answer");
        s->port[CLIENT] = 4096;
        s->next[CLIENT] = 0x101;
        s->next[SERVER] = 0x501;
        say(s, CLIENT, 7, "GET /a HTTP/1.1\r\n\r\n");
        s->port[CLIENT] = 4097;
        s->next[CLIENT] = 0x106;
        s->next[SERVER] = 0x509;
        say(s, CLIENT, 8, "\1ask");
        say(s, SERVER, 9, "\1answer");
        scene_end(s, "5 CALL_SENT a>b 1001.102\n"
                     "6 RET_SENT b>a 1001.102\n"
                     "7 CALL_SENT a>b 1000.101 label=GET%20/a\n"
                     "8 CALL_SENT a>b 1001.106\n"
                     "9 RET_SENT b>a 1001.106\n");
}

static void test_pipelined(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nx");
        say(s, CLIENT, 6, "yGET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 8, "HTTP/1.1 204 n\r\n\r\nHTTP/1.1 200 n\r\nContent-Length: 1\r\n\r\n");
        say(s, SERVER, 9, "zHTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "5 CALL_SENT a>b 1000.113 dur=1000000\n"
                     "6 CALL_SENT a>b 1000.13b\n"
                     "8 RET_SENT b>a 1000.101\n"
                     "9 RET_SENT b>a 1000.113 dur=1000000\n"
                     "9 RET_SENT b>a 1000.13b\n");
}

static void test_interim(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->openings = TRUE;
        handshake(s);
        say(s, CLIENT, 5, "PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 100 Continue\r\n\r\n");
        say(s, CLIENT, 7, "abc");
        say(s, SERVER, 8, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
        check_count(s, ACCOUNT_INTERIM, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.101 dur=2000000 syn=5000000 tcp=1\n"
                     "8 RET_SENT b>a 1000.101\n");
}

/* A final response to a request that waits for "100 Continue" ends it: the next request follows. */
static void test_expect(void)
{
        static const char put[] = "PUT / HTTP/1.1\r\nExpect: 100-continue\r\n"
                                  "Content-Length: 40\r\n\r\n";
        static const char body[] = "GET / HTTP/1.1\r\n\r\nand twenty-two more...";
        const char *get = "GET / HTTP/1.1\r\n\r\n";
        for (guint cut = 0; cut <= strlen(get); cut++) {
                Scene *s = scene_new(two_nodes, NULL, FALSE);
                g_autofree char *head = g_strndup(get, cut);
                handshake(s);
                say(s, CLIENT, 5, put);
                say(s, SERVER, 6, "HTTP/1.1 417 n\r\nContent-Length: 0\r\n\r\n");
                say(s, CLIENT, 7, cut ? head : get);
                say(s, CLIENT, 7, cut ? get + cut : "");
                say(s, SERVER, 8, "HTTP/1.1 204 n\r\n\r\n");
                scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                             "6 RET_SENT b>a 1000.101 st=417\n"
                             "7 CALL_SENT a>b 1000.13d\n"
                             "8 RET_SENT b>a 1000.13d\n");
        }
        /* What may be a request is the body if no final response has come: after 100, after a time,
         * at once. */
        for (guint i = 0; i < 3; i++) {
                Scene *s = scene_new(two_nodes, NULL, FALSE);
                g_autofree char *whole = g_strconcat(put, body, NULL);
                handshake(s);
                say(s, CLIENT, 5, i < 2 ? put : whole);
                if (i < 1)
                        say(s, SERVER, 6, "HTTP/1.1 100 Continue\r\n\r\n");
                if (i < 2)
                        say(s, CLIENT, 7, body);
                say(s, SERVER, 8, "HTTP/1.1 204 n\r\n\r\n");
                say(s, CLIENT, 9, get);
                say(s, SERVER, 10, "HTTP/1.1 204 n\r\n\r\n");
                scene_end(s, i < 2 ? "5 CALL_SENT a>b 1000.101 dur=2000000\n"
                                     "8 RET_SENT b>a 1000.101\n"
                                     "9 CALL_SENT a>b 1000.165\n"
                                     "10 RET_SENT b>a 1000.165\n"
                                   : "5 CALL_SENT a>b 1000.101\n"
                                     "8 RET_SENT b>a 1000.101\n"
                                     "9 CALL_SENT a>b 1000.165\n"
                                     "10 RET_SENT b>a 1000.165\n");
        }
}

static void test_icy(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say(s, CLIENT, 5, "GET /stream HTTP/1.0\r\n\r\n");
        say(s, SERVER, 6, "ICY 200 OK\r\nicy-name: x\r\n\r\nmusic");
        hang_up(s, SERVER, 8);
        scene_end(s, "5 CALL_SENT a>b 1000.101 label=GET%20/stream\n"
                     "6 RET_SENT b>a 1000.101\n");
}

static void test_until_close(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.0\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.0 200 OK\r\n\r\nsome");
        say(s, SERVER, 8, "thing");
        hang_up(s, SERVER, 9);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "8 RET_SENT b>a 1000.101 dur=2000000\n");
}

static void test_upgrade(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET /chat HTTP/1.1\r\nUpgrade: x\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n\1\2");
        say(s, CLIENT, 7, "\3\4");
        say(s, SERVER, 8, "\5");
        say(s, CLIENT, 9, "\6");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "6 MSG_SENT b>a 50.527\n"
                     "7 CALL_SENT a>b 1000.123\n"
                     "8 RET_SENT b>a 1000.123\n"
                     "9 CALL_SENT a>b 1000.125\n");
}

static void test_aborted(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nab");
        s->time = 7 * MS;
        segment(s, CLIENT, RST, s->next[CLIENT], "", 0);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 RET_SENT b>a 1000.101 dur=1000000\n");
}

static void reset_by(Scene *s, guint side, gint64 ms)
{
        s->time = ms * MS;
        segment(s, side, RST | ACK, s->next[side], "", 0);
}

/* A call that waits when the connection ends got no answer, from when its caller left. Nor did one
 * whose return is cut short. */
static void test_no_answer(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        reset_by(s, CLIENT, 7);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 RET_SENT b>a 1000.101 end=reset\n");

        s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        hang_up(s, CLIENT, 7);
        hang_up(s, SERVER, 50);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 RET_SENT b>a 1000.101 end=closed\n");

        s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 204 OK\r\n\r\n");
        hang_up(s, SERVER, 8);
        hang_up(s, CLIENT, 9);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "5 CALL_SENT a>b 1000.113\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "8 RET_SENT b>a 1000.113 end=closed\n");

        static const char *const cut_short[] = {
                "HTTP/1.1 200 OK\r\nContent-Len",
                "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nab",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
        };
        for (guint i = 0; i < G_N_ELEMENTS(cut_short); i++) {
                s = scene_new(two_nodes, NULL, FALSE);
                handshake(s);
                say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
                say(s, SERVER, 6, cut_short[i]);
                hang_up(s, SERVER, 8);
                hang_up(s, CLIENT, 9);
                scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                             "8 RET_SENT b>a 1000.101 end=closed\n");
        }
}

/* None of these went without an answer, as far as the packets tell. */
static void test_no_answer_unknown(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE); /* the caller only sends no more */
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        hang_up(s, CLIENT, 6);
        say(s, SERVER, 9, "HTTP/1.1 204 OK\r\n\r\n");
        hang_up(s, SERVER, 9);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "9 RET_SENT b>a 1000.101\n");

        s = scene_new(two_nodes, NULL, FALSE); /* the return was lost */
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        lose(s, SERVER, 19);
        hang_up(s, CLIENT, 7);
        hang_up(s, SERVER, 8);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n");

        s = scene_new(two_nodes, NULL, FALSE); /* it waits for work */
        handshake(s);
        say(s, CLIENT, 5, "*3\r\n$5\r\nBRPOP\r\n$1\r\nq\r\n$1\r\n0\r\n");
        reset_by(s, CLIENT, 7);
        scene_end(s, "5 CALL_SENT a>b 1000.101 fetch=wait\n");

        s = scene_new(two_nodes, NULL, FALSE); /* the capture ends */
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n");
}

/* A message has the bytes of all its segments. Bytes that follow in the same segment belong to the
 * next message. */
static void test_size_of_calls(void)
{
        Scene *s = scene_with_sizes();
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\nHost: x\r\n"); /* 25 */
        say(s, CLIENT, 6, "\r\n");
        say(s, SERVER, 8, "HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\nab"); /* 41 */
        say(s, SERVER, 10, "0123456789012345678901234567890123456789012345678901234567");
        say(s, CLIENT, 11, "GET /1 HTTP/1.1\r\n\r\nGET /a/long/one HTTP/1.1\r\n\r\n");
        say(s, SERVER, 12,
            "HTTP/1.1 204 No\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
        scene_end(s, "5 CALL_SENT a>b 1000.101 dur=1000000 bytes=28\n"
                     "10 RET_SENT b>a 1000.101 dur=2000000 bytes=96\n"
                     "11 CALL_SENT a>b 1000.11c bytes=20\n"
                     "11 CALL_SENT a>b 1000.12f bytes=28\n"
                     "12 RET_SENT b>a 1000.11c bytes=20\n"
                     "12 RET_SENT b>a 1000.12f bytes=40\n");
}

#define RPC_CALL  "00000000 00000002 000186a3 00000003 00000001 00000000 00000000 00000000 00000000 "
#define RPC_REPLY "00000001 00000000 00000000 00000000 00000000 "

static void test_rpc(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say_hex(s, CLIENT, 5, "80000028 00000007" RPC_CALL "80000028 00000008" RPC_CALL);
        say_hex(s, CLIENT, 6, "80000028 00000007" RPC_CALL);
        say_hex(s, SERVER, 7, "80000018 00000008" RPC_REPLY "80000028 00000007" RPC_CALL);
        say_hex(s, CLIENT, 8, "80000018 00000007" RPC_REPLY);
        say_hex(s, SERVER, 9, "80000018 00000007" RPC_REPLY);
        check_count(s, ACCOUNT_REPEATED_CALLS, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.7 label=RPC%20100003.3.1\n"
                     "5 CALL_SENT a>b 1000.8 label=RPC%20100003.3.1\n"
                     "7 RET_SENT b>a 1000.8\n"
                     "7 CALL_SENT b>a 50.7 label=RPC%20100003.3.1\n"
                     "8 RET_SENT a>b 50.7\n"
                     "9 RET_SENT b>a 1000.7\n");
}

static void test_rpc_datagrams(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        g_autoptr(GByteArray) call = hex_bytes("0000abcd" RPC_CALL);
        g_autoptr(GByteArray) reply = hex_bytes("0000abcd" RPC_REPLY);
        datagram(s, CLIENT, 1, (const char *)call->data, call->len);
        datagram(s, CLIENT, 2, (const char *)call->data, call->len);
        datagram(s, SERVER, 3, (const char *)reply->data, reply->len);
        check_count(s, ACCOUNT_REPEATED_CALLS, 1);
        scene_end(s, "1 CALL_SENT a>b 1000.abcd\n"
                     "3 RET_SENT b>a 1000.abcd resent=1000000\n");
}

#define REDIS_GET  "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"
#define REDIS_PUSH "*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$2\r\nhi\r\n"

static void test_redis(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say(s, CLIENT, 5, REDIS_GET REDIS_GET "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nx\r\n");
        say(s, SERVER, 6, "$2\r\nab\r\n$-1");
        say(s, SERVER, 7, "\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n" REDIS_PUSH);
        say(s, SERVER, 8, REDIS_PUSH);
        say(s, CLIENT, 9, "*1\r\n$4\r\nPING\r\n");
        say(s, SERVER, 10, REDIS_PUSH "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101 label=GET\n"
                     "5 CALL_SENT a>b 1000.115 label=GET\n"
                     "5 CALL_SENT a>b 1000.129 label=SUBSCRIBE\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "7 RET_SENT b>a 1000.115 dur=1000000\n"
                     "7 RET_SENT b>a 1000.129\n"
                     "7 MSG_SENT b>a 50.52c\n"
                     "8 MSG_SENT b>a 50.54c\n"
                     "9 CALL_SENT a>b 1000.143 label=PING\n"
                     "10 MSG_SENT b>a 50.56c\n"
                     "10 RET_SENT b>a 1000.143\n");
}

/* A reply that names a command does not make a client of the server. */
static void test_redis_mid_stream(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say(s, SERVER, 4, "*2\r\n$4\r\ntype\r\n$1\r\nx\r\n");
        say(s, CLIENT, 5, REDIS_GET);
        say(s, SERVER, 6, "*1\r\n$3\r\nGET\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.100\n"
                     "6 RET_SENT b>a 1000.100\n");
}

/* A login is no call, and its answer no return; nor is an error that ends it. */
static void test_login(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, "00000013 00030000 'user' 00 'shop' 0000");
        say_hex(s, SERVER, 6, "'R' 00000008 00000003");
        say_hex(s, CLIENT, 7, "'p' 00000006 'x' 00");
        say_hex(s, SERVER, 8, "'R' 00000008 00000000 'Z' 00000005 'I'");
        say_hex(s, CLIENT, 9, "'Q' 0000000d 'SELECT 1' 00");
        say_hex(s, SERVER, 10, "'C' 0000000d 'SELECT 1' 00 'Z' 00000005 'I'");
        say_hex(s, CLIENT, 11, "'X' 00000004");
        check_count(s, ACCOUNT_SESSION, 3);
        s->port[CLIENT] = 4097;
        handshake(s);
        say_hex(s, CLIENT, 12, "00000013 00030000 'user' 00 'shop' 0000");
        say_hex(s, SERVER, 13, "'E' 0000000b 'SFATAL' 00");
        hang_up(s, SERVER, 14);
        check_count(s, ACCOUNT_SESSION, 5);
        scene_end(s, "9 CALL_SENT a>b 1000.11b\n"
                     "10 RET_SENT b>a 1000.11b\n");
}

/* What follows the upgrade in the same segment is of the new protocol. */
static void test_websocket(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        g_autoptr(GByteArray) bytes =
                hex_bytes("'HTTP/1.1 101 S' 0d0a 'Upgrade: WebSocket' 0d0a 0d0a 81 03 'abc' 89 00");
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n");
        s->time = 6 * MS;
        segment(s, SERVER, ACK, s->next[SERVER], (const char *)bytes->data, bytes->len);
        s->next[SERVER] += bytes->len;
        say_hex(s, CLIENT, 7, "8a 80 01020304 01 82 01020304 'ab'");
        say_hex(s, CLIENT, 8, "80 82 01020304 'c'");
        say_hex(s, CLIENT, 9, "'d' 88 80 01020304");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "6 MSG_SENT b>a 50.527\n"
                     "7 MSG_SENT a>b 1000.12d dur=2000000\n");
}

/* Responses in another order than requests, and an event. */
static void test_zookeeper(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say_hex(s, CLIENT, 5,
                "0000002c 00000000 0000000000000000 00007530 0000000000000000 00000010 "
                "00000000000000000000000000000000");
        say_hex(s, SERVER, 6,
                "00000024 00000000 00007530 0100000000000001 00000010 "
                "00000000000000000000000000000000");
        say_hex(s, CLIENT, 7,
                "0000000f 00000001 00000004 00000002 '/a' 01 "
                "0000000f 00000002 00000003 00000002 '/a' 01");
        say_hex(s, SERVER, 8, "00000010 00000001 0000000300000004 00000000");
        say_hex(s, SERVER, 9,
                "0000001e ffffffff ffffffffffffffff 00000000 00000001 00000003 "
                "00000002 '/a' 00000010 00000002 0000000300000004 ffffff9b");
        say_hex(s, CLIENT, 10, "00000008 00000003 fffffff5");
        say_hex(s, SERVER, 11, "00000010 00000003 0000000300000004 00000000");
        check_count(s, ACCOUNT_SESSION, 4);
        scene_end(s, "7 CALL_SENT a>b 1000.1 label=getData%20/a\n"
                     "7 CALL_SENT a>b 1000.2 label=exists%20/a\n"
                     "8 RET_SENT b>a 1000.1\n"
                     "9 MSG_SENT b>a 50.53d\n"
                     "9 RET_SENT b>a 1000.2\n");
}

/* A record is fetched before its producer has the answer. Another producer wants none. */
static void test_kafka(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say_hex(s, CLIENT, 5,
                "00000040 0001 0004 00000007 0002 'me' ffffffff 000001f4 00000001 00100000 00 "
                "00000001 "
                "0009 'my.orders' 00000001 00000000 0000000000000041 00100000");
        say_hex(s, CLIENT, 6,
                "0000006c 0000 0003 00000008 0002 'me' ffff 0001 00007530 00000001 0009 "
                "'my.orders' "
                "00000001 00000000 0000003d 0000000000000000 00000031 00000000 02 12345678 0000 "
                "00000000 "
                "0000018000000000 0000018000000000 ffffffffffffffff 0000 00000000 00000001");
        say_hex(s, SERVER, 7,
                "00000076 00000007 00000000 00000001 0009 'my.orders' 00000001 00000000 0000 "
                "0000000000000042 0000000000000042 ffffffff 0000003d 0000000000000041 00000031 "
                "00000000 02 "
                "12345678 0000 00000000 0000018000000000 0000018000000000 ffffffffffffffff 0000 "
                "00000000 "
                "00000001");
        say_hex(s, SERVER, 8,
                "00000031 00000008 00000001 0009 'my.orders' 00000001 00000000 0006 "
                "ffffffffffffffff "
                "ffffffffffffffff 00000000");
        say_hex(s, CLIENT, 9,
                "00000057 0000 0003 00000009 0002 'me' ffff 0000 00007530 00000001 0009 "
                "'my.orders' "
                "00000001 00000000 00000028 "
                "00000000000000000000000000000000000000000000000000000000000000"
                "000000000000000000");
        scene_end(s, "5 CALL_SENT a>b 1000.101 label=Fetch%20my.orders fetch=wait\n"
                     "6 CALL_SENT a>b 1000.145 label=Produce%20my.orders link=1000.145\n"
                     "7 MSG_SENT b>a 1000.101 label=deliver%20my.orders link=1000.145\n"
                     "7 RET_SENT b>a 1000.101\n"
                     "8 RET_SENT b>a 1000.145 st=KAFKA6\n"
                     "9 MSG_SENT a>b 1000.1b5 label=Produce%20my.orders link=1000.1b5\n");
}

/* The end of a session is no message, even if nothing else of the session was captured. Nor is what
 * a server says before it is asked. */
static void test_goodbyes(void)
{
        static const struct {
                guint side;
                const char *hex;
        } said[] = {
                { CLIENT, "'X' 00000004" },                            /* PostgreSQL */
                { CLIENT, "30 05 02 01 09 42 00" },                    /* LDAP */
                { CLIENT, "01000000 01" },                             /* MySQL */
                { CLIENT, "'quit' 0d0a" },                             /* memcached */
                { CLIENT, "000008 07 00 00000000 00000001 00000000" }, /* HTTP/2 */
                { CLIENT, "15 0303 001a 0000000000000000000000000000000000000000000000000000" },
                { SERVER, "000000 04 00 00000000" },
        };
        for (guint i = 0; i < G_N_ELEMENTS(said); i++) {
                Scene *s = scene_new(two_nodes, NULL, FALSE);
                s->port[CLIENT] = 40000;
                say_hex(s, said[i].side, 5, said[i].hex);
                hang_up(s, CLIENT, 6);
                hang_up(s, SERVER, 7);
                scene_end(s, "");
        }
}

/* Two mails and one that is refused, and then it is encrypted. */
static void test_smtp(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, SERVER, 4, "220 b ESMTP\r\n");
        say(s, CLIENT, 5, "EHLO a\r\n");
        say(s, SERVER, 6, "250-b\r\n250 PIPELINING\r\n");
        say(s, CLIENT, 7, "MAIL FROM:<x>\r\nRCPT TO:<y>\r\nDATA\r\n");
        say(s, SERVER, 8, "250 ok\r\n250 ok\r\n354 go on\r\n");
        say(s, CLIENT, 9, "one\r\n");
        say(s, CLIENT, 10, "two\r\n.\r\nMAIL FROM:<z>\r\n");
        say(s, SERVER, 15, "250-queued\r\n");
        say(s, SERVER, 16, "250 as 1\r\n550 no\r\n");
        say(s, CLIENT, 17, "MAIL FROM:<x>\r\n");
        say(s, SERVER, 18, "250 ok\r\n");
        say(s, CLIENT, 19, "RCPT TO:<y>\r\nBDAT 1 LAST\r\n.");
        say(s, SERVER, 20, "250 ok\r\n250 queued\r\n");
        say(s, CLIENT, 21, "STARTTLS\r\n");
        say(s, SERVER, 22, "220 go on\r\n");
        say_hex(s, CLIENT, 23, "17 0303 0020 'in the middle of a connection, !'");
        say_hex(s, SERVER, 24, "17 0303 0020 'in the middle of a connection, !'");
        check_count(s, ACCOUNT_SESSION, 10);
        scene_end(s, "7 CALL_SENT a>b 1000.109 dur=3000000\n"
                     "10 CALL_SENT a>b 1000.138\n"
                     "16 RET_SENT b>a 1000.109 dur=1000000\n"
                     "16 RET_SENT b>a 1000.138 st=SMTP550\n"
                     "17 CALL_SENT a>b 1000.147 dur=2000000\n"
                     "20 RET_SENT b>a 1000.147\n"
                     "23 CALL_SENT a>b 1000.17b\n"
                     "24 RET_SENT b>a 1000.17b\n");
}

/* Closed within a mail; and one of which only the end was captured. */
static void test_smtp_cut_short(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say(s, SERVER, 4, "354 go on\r\n");
        say(s, CLIENT, 5, "one\r\n.\r\n");
        say(s, SERVER, 6, "250 queued\r\n");
        say(s, CLIENT, 7, "MAIL FROM:<x>\r\n");
        say(s, SERVER, 8, "250 ok\r\n");
        hang_up(s, CLIENT, 9);
        hang_up(s, SERVER, 10);
        capture_finish(s->capture);
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        check_count(s, ACCOUNT_UNANSWERED, 1);
        scene_end(s, "7 CALL_SENT a>b 1000.108\n");
}

/* LMTP whose greeting does not say so. A mail ends with the reply for its last recipient, and the
 * next mail is not taken for that reply. */
static void test_lmtp(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, SERVER, 4, "220 b ready\r\n");
        say(s, CLIENT, 5, "LHLO a\r\n");
        say(s, SERVER, 6, "250-b\r\n250 PIPELINING\r\n");
        for (guint i = 0; i < 2; i++) {
                say(s, CLIENT, 10 * i + 7,
                    "MAIL FROM:<x>\r\nRCPT TO:<y>\r\nRCPT TO:<z>\r\nDATA\r\n");
                say(s, SERVER, 10 * i + 8, "250 ok\r\n250 ok\r\n250 ok\r\n354 go on\r\n");
                say(s, CLIENT, 10 * i + 9, "one\r\n.\r\n");
                say(s, SERVER, 10 * i + 10, "250 <y>\r\n");
                say(s, SERVER, 10 * i + 12, "250 <z>\r\n");
        }
        /* The last word on one of them is not said. */
        say(s, CLIENT, 27, "MAIL FROM:<x>\r\nRCPT TO:<y>\r\nRCPT TO:<z>\r\nDATA\r\n");
        say(s, SERVER, 28, "250 ok\r\n250 ok\r\n250 ok\r\n354 go on\r\n");
        say(s, CLIENT, 29, ".\r\n");
        say(s, SERVER, 30, "250 <y>\r\n");
        hang_up(s, SERVER, 31);
        check_count(s, ACCOUNT_SESSION, 15);
        scene_end(s, "7 CALL_SENT a>b 1000.109 dur=2000000\n"
                     "12 RET_SENT b>a 1000.109 dur=2000000\n"
                     "17 CALL_SENT a>b 1000.140 dur=2000000\n"
                     "22 RET_SENT b>a 1000.140 dur=2000000\n"
                     "27 CALL_SENT a>b 1000.177 dur=2000000\n"
                     "31 RET_SENT b>a 1000.177 dur=1000000\n");
}

/* A greeting that only the client's first command makes known is no payload in no message. */
static void test_greeting_seen(void)
{
        g_autoptr(GArray) doubts = g_array_new(FALSE, FALSE, sizeof(Doubt));
        g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(EdgeCalls));
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        for (gint64 ms = 0; ms < 400; ms += 10) {
                s->port[CLIENT]++;
                handshake(s);
                say(s, SERVER, ms + 4, "220 b ready\r\n");
                say(s, CLIENT, ms + 5, "LHLO a\r\n");
                say(s, SERVER, ms + 6, "250 b\r\n");
                hang_up(s, CLIENT, ms + 7);
                hang_up(s, SERVER, ms + 8);
        }
        capture_finish(s->capture);
        capture_weigh(s->capture, doubts, edges);
        g_assert_cmpuint(doubts->len, ==, 0);
        scene_end(s, "");
}

/* What might yet have been a protocol, and was none, is a conversation too: the
 * pings before the first query, which nothing recognises, have their returns. */
static void test_before_recognised(void)
{
        static const char ping[] = "\1\0\0\0\x0e", ok[] = "\1\0\0\1\0",
                          query[] = "\x09\0\0\0\3SELECT 1";
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[CLIENT] = 40000;
        for (guint i = 1; i <= 3; i++) {
                const char *text = i == 3 ? query : ping;
                gsize n = i == 3 ? sizeof query - 1 : sizeof ping - 1;
                s->time = 2 * i * MS;
                segment(s, CLIENT, ACK, s->next[CLIENT], text, n);
                s->next[CLIENT] += (guint32)n;
                s->time = (2 * i + 1) * MS;
                segment(s, SERVER, ACK, s->next[SERVER], ok, sizeof ok - 1);
                s->next[SERVER] += (guint32)sizeof ok - 1;
        }
        scene_end(s, "2 CALL_SENT a>b 9c40.100\n"
                     "3 RET_SENT b>a 9c40.100\n"
                     "4 CALL_SENT a>b 9c40.105\n"
                     "5 RET_SENT b>a 9c40.105\n"
                     "6 CALL_SENT a>b 9c40.10a\n"
                     "7 RET_SENT b>a 9c40.10a\n");
}

static void test_mid_stream(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say(s, SERVER, 4, "the rest of a body");
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 204 n\r\n\r\n");
        check_count(s, ACCOUNT_BEFORE_BOUNDARY, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.100\n"
                     "6 RET_SENT b>a 1000.100\n");
}

/* The end of a body is no call, even where it is known who calls. */
static void test_mid_request(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[CLIENT] = 40000;
        say(s, CLIENT, 4, "the rest of a body");
        say(s, SERVER, 5, "HTTP/1.1 204 n\r\n\r\n");
        say(s, CLIENT, 6, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 7, "HTTP/1.1 204 n\r\n\r\n");
        check_count(s, ACCOUNT_BEFORE_BOUNDARY, 1);
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        check_count(s, ACCOUNT_UNANSWERED, 0);
        scene_end(s, "6 CALL_SENT a>b 9c40.112\n"
                     "7 RET_SENT b>a 9c40.112\n");
}

static void test_hole_in_body(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        lose(s, SERVER, 999);
        say(s, SERVER, 8, "z");
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        s->time = 100 * MS;
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        say(s, CLIENT, 105, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 106, "HTTP/1.1 204 n\r\n\r\n");
        capture_finish(s->capture);
        check_count(s, ACCOUNT_HOLES, 1);
        check_count(s, ACCOUNT_HOLE_BYTES, 999);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "8 RET_SENT b>a 1000.101 dur=2000000\n"
                     "105 CALL_SENT a>b 1000.113\n"
                     "106 RET_SENT b>a 1000.113\n");
}

/* A protocol that is said holds, though the capture begins within messages of both sides. */
static void test_said_mid_message(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->ports[80] = &protocol_http;
        say(s, SERVER, 5, "the rest of an answer, ");
        say(s, CLIENT, 6, "of a form\r\nGET /a HTTP/1.1\r\n\r\n");
        say(s, SERVER, 7, "and more\r\nHTTP/1.1 204 n\r\n\r\n");
        say(s, CLIENT, 8, "GET /b HTTP/1.1\r\n\r\n");
        say(s, SERVER, 9, "HTTP/1.1 204 n\r\n\r\n");
        check_count(s, ACCOUNT_UNPARSED, 0);
        check_count(s, ACCOUNT_BEFORE_BOUNDARY, 2);
        scene_end(s, "6 CALL_SENT a>b 1000.10b\n"
                     "7 RET_SENT b>a 1000.10b\n"
                     "8 CALL_SENT a>b 1000.11e\n"
                     "9 RET_SENT b>a 1000.11e\n");
}

/* Headers are cut off; lengths still tell the messages apart. */
static void test_snapshot(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->snapshot = 60;
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789");
        say(s, SERVER, 7, "and more");
        say(s, CLIENT, 8, "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
        say(s, SERVER, 9, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "7 RET_SENT b>a 1000.101 dur=1000000\n"
                     "8 CALL_SENT a>b 1000.126\n"
                     "9 RET_SENT b>a 1000.126\n");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/exchange/size-of-calls", test_size_of_calls);
        g_test_add_func("/exchange/one-call", test_one_call);
        g_test_add_func("/exchange/keep-alive-and-labels", test_keep_alive_and_labels);
        g_test_add_func("/exchange/names-after-the-first-line", test_names_after_the_first_line);
        g_test_add_func("/exchange/bus-of-a-cluster", test_bus_of_a_cluster);
        g_test_add_func("/exchange/no-label-of-others", test_no_label_of_others);
        g_test_add_func("/exchange/pipelined", test_pipelined);
        g_test_add_func("/exchange/interim", test_interim);
        g_test_add_func("/exchange/expect", test_expect);
        g_test_add_func("/exchange/icy", test_icy);
        g_test_add_func("/exchange/until-close", test_until_close);
        g_test_add_func("/exchange/upgrade", test_upgrade);
        g_test_add_func("/exchange/aborted", test_aborted);
        g_test_add_func("/exchange/no-answer", test_no_answer);
        g_test_add_func("/exchange/no-answer-unknown", test_no_answer_unknown);
        g_test_add_func("/exchange/rpc", test_rpc);
        g_test_add_func("/exchange/rpc-datagrams", test_rpc_datagrams);
        g_test_add_func("/exchange/redis", test_redis);
        g_test_add_func("/exchange/redis-mid-stream", test_redis_mid_stream);
        g_test_add_func("/exchange/login", test_login);
        g_test_add_func("/exchange/websocket", test_websocket);
        g_test_add_func("/exchange/zookeeper", test_zookeeper);
        g_test_add_func("/exchange/kafka", test_kafka);
        g_test_add_func("/exchange/goodbyes", test_goodbyes);
        g_test_add_func("/exchange/smtp", test_smtp);
        g_test_add_func("/exchange/smtp-cut-short", test_smtp_cut_short);
        g_test_add_func("/exchange/lmtp", test_lmtp);
        g_test_add_func("/exchange/greeting-seen", test_greeting_seen);
        g_test_add_func("/exchange/before-recognised", test_before_recognised);
        g_test_add_func("/exchange/mid-stream", test_mid_stream);
        g_test_add_func("/exchange/mid-request", test_mid_request);
        g_test_add_func("/exchange/hole-in-body", test_hole_in_body);
        g_test_add_func("/exchange/said-mid-message", test_said_mid_message);
        g_test_add_func("/exchange/snapshot", test_snapshot);
        return g_test_run();
}
