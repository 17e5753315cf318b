/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Conversations of which packets keep only their first bytes, or none, and the messages that
 * must be found: their ids and times are those of the whole bytes.
 */
#include <string.h>

#include "capture/exchange.h"
#include "capture/streams.h"

enum { CLIENT, SERVER };
#define MS                                 G_GINT64_CONSTANT(1000000)
#define START                              1000
#define SAY_LONG(scene, side, ms, text, n) say_long(scene, side, ms, text, sizeof(text) - 1, n)
#define SAY(scene, side, ms, text)         say(scene, side, ms, text, sizeof(text) - 1)

typedef struct {
        Account account;
        CaptureMemory memory;
        CaptureContext context;
        Exchange exchange;
        guint32 next[2];
        guint64 packet;
        gsize seen; /* bytes of each packet that are kept */
} Scene;

static Scene *scene_new(gsize seen, const Protocol *protocol, gboolean start_seen)
{
        static const NodeId node[2] = { 0, 1 };
        static const guint16 port[2] = { 40000, 80 };
        Scene *s = g_new0(Scene, 1);
        s->context = (CaptureContext){ .sequencer = sequencer_new(10000 * MS, 0),
                                       .account = &s->account,
                                       .streams = stream_pool_new(262144),
                                       .memory = &s->memory,
                                       .numbers = connection_numbers_new() };
        exchange_init(&s->exchange, protocol, CLIENT, start_seen, node, port);
        s->next[CLIENT] = s->next[SERVER] = START;
        s->seen = seen;
        return s;
}

static void say(Scene *s, guint side, gint64 ms, const char *text, gsize n)
{
        g_autofree guint8 *bytes = g_memdup2(text, MAX(MIN(n, s->seen), 1));
        Stamp stamp = { ms * MS, ++s->packet };
        exchange_bytes(&s->exchange, side, s->next[side], bytes, MIN(n, s->seen), n, stamp,
                       &s->context);
        s->next[side] += (guint32)n;
}

/* n bytes, of which the first are those of text. */
static void say_long(Scene *s, guint side, gint64 ms, const char *text, gsize begins, gsize n)
{
        GString *bytes = g_string_new_len(text, (gssize)begins);
        while (bytes->len < n)
                g_string_append_c(bytes, 'x');
        say(s, side, ms, bytes->str, bytes->len);
        g_string_free(bytes, TRUE);
}

static void end(Scene *s, guint side, gint64 ms)
{
        exchange_end(&s->exchange, side, ENDING_CLOSED, (Stamp){ ms * MS, ++s->packet },
                     &s->context);
}

/* What was found must be these: time, C, R or M, offset of the call's (or message's) first byte. */
static void expect(Scene *s, const char *lines)
{
        CapturedMessage m;
        GString *found = g_string_new(NULL);
        exchange_clear(&s->exchange, (Stamp){ 100000 * MS, s->packet }, &s->context);
        while (sequencer_next(s->context.sequencer, G_MAXINT64, &m)) {
                g_string_append_printf(found, "%s%" G_GINT64_FORMAT "%c%" G_GUINT64_FORMAT,
                                       found->len ? " " : "", m.stamp.time / MS,
                                       m.op == CALL_SENT  ? 'C'
                                       : m.op == RET_SENT ? 'R'
                                                          : 'M',
                                       m.number - START);
                g_free(m.label);
        }
        g_assert_cmpstr(found->str, ==, lines);
        g_assert_cmpuint(s->memory.buffers, ==, 0);
        g_assert_cmpuint(s->memory.calls, ==, 0);
        g_assert_cmpuint(s->memory.trials, ==, 0);
        stream_pool_free(s->context.streams);
        piece_memory_clear(&s->memory.pieces);
        connection_numbers_free(s->context.numbers);
        sequencer_free(s->context.sequencer);
        g_string_free(found, TRUE);
        g_free(s);
}

#define REQUEST  "POST /order HTTP/1.1\r\nHost: shop\r\nContent-Length: 900\r\n\r\n"
#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"
#define RESPONSE "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Length: 5000\r\n\r\n"

/* A request whose body waits for "100 Continue" is one call or none, however many bytes are seen.
 * Its return ends with the last byte of the answer. */
static void check_http(const char *interim)
{
        static const gsize seen[] = { 2, 3, 9, 10, 14, 20, 30, 57, 100, 2000 };
        for (guint i = 0; i < G_N_ELEMENTS(seen); i++) {
                Scene *s = scene_new(seen[i], NULL, TRUE);
                for (guint k = 0; k < 3; k++) {
                        gint64 ms = 100 * k;
                        SAY(s, CLIENT, ms + 1, REQUEST);
                        say(s, SERVER, ms + 2, interim, strlen(interim));
                        SAY_LONG(s, CLIENT, ms + 3, "name=", 900);
                        SAY_LONG(s, SERVER, ms + 4, RESPONSE, 1448);
                        SAY_LONG(s, SERVER, ms + 5, "x", 5000 + sizeof RESPONSE - 1 - 1448);
                }
                end(s, CLIENT, 400);
                end(s, SERVER, 401);
                g_assert_cmpuint(s->account.count[ACCOUNT_INTERIM], ==, 3);
                expect(s, "1C0 5R0 101C957 105R957 201C1914 205R1914");
        }
}

static void test_http(void)
{
        check_http(CONTINUE);
        check_http("HTTP/1.1 100 Continue\r\nServer: nginx\r\nDate: today\r\n\r\n");
}

/* Where nothing is seen, the call that may be two is in doubt. */
static void test_unseen(void)
{
        Scene *s = scene_new(0, NULL, TRUE);
        SAY(s, CLIENT, 1, REQUEST);
        SAY(s, SERVER, 2, CONTINUE);
        SAY_LONG(s, CLIENT, 3, "name=", 900);
        SAY(s, SERVER, 4, RESPONSE);
        g_assert_cmpuint(s->exchange.pairing.counts.doubtful, ==, 1);
        g_assert_cmpuint(s->account.count[ACCOUNT_CUT_UNSEEN], ==, 2);
        expect(s, "1C0 2R0 3C57 4R57");
}

#define GET(key) "*2\r\n$3\r\nGET\r\n$5\r\n" key "\r\n"

/* One call at a time is right at any length, though now runs tell it, now the parser. */
static void test_redis(void)
{
        for (gsize seen = 0; seen < 60; seen++) {
                Scene *s = scene_new(seen, NULL, seen % 2);
                for (guint k = 0; k < 3; k++) {
                        gint64 ms = 10 * k;
                        SAY(s, CLIENT, ms + 1, GET("first"));
                        SAY_LONG(s, SERVER, ms + 2, "$1000\r\n", 1007);
                        SAY(s, SERVER, ms + 3, "\r\n");
                        SAY(s, CLIENT, ms + 4, "*1\r\n$4\r\nPING\r\n");
                        SAY(s, SERVER, ms + 5, "+PONG\r\n");
                }
                expect(s, "1C0 3R0 4C24 5R24 11C38 13R38 14C62 15R62 21C76 23R76 24C100 25R100");
        }
}

/* The length of a long value is seen, so what follows it is found, and pairs with its own. */
static void test_redis_value(void)
{
        Scene *s = scene_new(40, NULL, TRUE);
        SAY(s, CLIENT, 1, GET("first"));
        SAY_LONG(s, SERVER, 2, "$1000\r\n", 1007);
        SAY(s, SERVER, 3, "\r\n");
        SAY(s, CLIENT, 4, GET("later"));
        SAY(s, SERVER, 5, ":1\r\n");
        g_assert_cmpuint(s->exchange.pairing.counts.doubtful, ==, 0);
        expect(s, "1C0 3R0 4C24 5R24");
}

/* Of commands in one segment the third is cut off. Two are answered; what the third one's
 * answer is is not known, and those of the next run are right again. */
static void test_redis_pipeline(void)
{
        Scene *s = scene_new(50, NULL, TRUE);
        for (guint k = 0; k < 3; k++) {
                gint64 ms = 10 * k;
                SAY(s, CLIENT, ms + 1, GET("1abcd") GET("2abcd") GET("3abcd"));
                SAY(s, SERVER, ms + 2, ":1\r\n");
                SAY(s, SERVER, ms + 3, ":2\r\n");
                SAY(s, SERVER, ms + 4, ":3\r\n");
        }
        expect(s, "1C0 1C24 1C48 2R0 3R24 4R48 11C72 11C96 11C120 12R72 13R96 14R120 "
                  "21C144 21C168 21C192 22R144 23R168 24R192");
}

/* The same with two bytes: a run is a call, and it is in doubt where a segment begins anew. */
static void test_redis_runs(void)
{
        Scene *s = scene_new(2, NULL, TRUE);
        for (guint k = 0; k < 2; k++) {
                gint64 ms = 10 * k;
                SAY(s, CLIENT, ms + 1, GET("1abcd"));
                SAY(s, CLIENT, ms + 2, GET("2abcd"));
                SAY(s, SERVER, ms + 3, "$4\r\nabcd\r\n");
                SAY(s, SERVER, ms + 4, "$4\r\nefgh\r\n");
        }
        SAY(s, CLIENT, 21, GET("3abcd"));
        SAY(s, SERVER, 22, "$4\r\nijkl\r\n");
        g_assert_cmpuint(s->exchange.pairing.counts.doubtful, ==, 2);
        expect(s, "1C0 4R0 11C48 14R48 21C96 22R96");
}

/* Nothing is seen: so it is where a segment had room for what the next one says, and not where
 * a long call goes on. */
static void test_unseen_runs(void)
{
        Scene *s = scene_new(0, NULL, TRUE);
        SAY(s, CLIENT, 1, GET("1abcd"));
        SAY(s, CLIENT, 2, GET("2abcd"));
        SAY(s, SERVER, 3, "$4\r\nabcd\r\n$4\r\nefgh\r\n");
        SAY_LONG(s, CLIENT, 11, "a", 1448);
        SAY_LONG(s, CLIENT, 12, "a", 1448);
        SAY_LONG(s, CLIENT, 13, "a", 700);
        SAY(s, SERVER, 14, "+OK\r\n");
        SAY(s, CLIENT, 21, GET("3abcd"));
        SAY(s, SERVER, 22, "$4\r\nijkl\r\n");
        g_assert_cmpuint(s->exchange.pairing.counts.doubtful, ==, 1);
        expect(s, "1C0 3R0 11C48 14R48 21C3644 22R3644");
}

/* A mail is many runs, and they are no calls. */
static void test_smtp_runs(void)
{
        for (gsize seen = 0; seen <= 4; seen += 2) {
                Scene *s = scene_new(seen, NULL, TRUE);
                SAY(s, SERVER, 1, "220 mta ESMTP\r\n");
                SAY(s, CLIENT, 2, "EHLO web\r\n");
                SAY(s, SERVER, 3, "250-mta\r\n250 PIPELINING\r\n");
                SAY(s, CLIENT, 4, "MAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n");
                SAY(s, SERVER, 5, "250 Ok\r\n250 Ok\r\n354 Go on\r\n");
                expect(s, "1M0 2M0 3M15 4M10 5M40");
        }
        Scene *s = scene_new(2, NULL, FALSE); /* and in the middle */
        SAY(s, CLIENT, 4, "MAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n");
        SAY(s, SERVER, 5, "250 Ok\r\n250 Ok\r\n354 Go on\r\n");
        SAY(s, CLIENT, 6, "Subject: shop\r\n\r\nhello\r\n.\r\n");
        SAY(s, SERVER, 7, "250 2.0.0 Ok: queued\r\n");
        expect(s, "4M0 5M0 6M38 7M27");
}

/* Where lines are seen a mail is a call, though its text is cut, and the reply that asks for
 * it too. */
static void test_smtp_text(void)
{
        Scene *s = scene_new(30, NULL, TRUE);
        SAY(s, SERVER, 1, "220 mta ESMTP\r\n");
        SAY(s, CLIENT, 2, "EHLO web\r\n");
        SAY(s, SERVER, 3, "250-mta.example.test\r\n250 PIPELINING\r\n");
        for (guint k = 0; k < 2; k++) {
                gint64 ms = 10 * k;
                SAY(s, CLIENT, ms + 4, "MAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n");
                SAY(s, SERVER, ms + 5, "250 2.1.0 Ok\r\n250 2.1.5 Ok\r\n354 Go on\r\n");
                SAY(s, CLIENT, ms + 6, "Subject: of the shop that sells\r\n\r\nhello\r\n.\r\n");
                SAY(s, SERVER, ms + 7, "250 2.0.0 Ok: queued as 123456789abcdef\r\n");
        }
        SAY(s, CLIENT, 20, "QUIT\r\n");
        SAY(s, SERVER, 21, "221 2.0.0 Bye\r\n");
        expect(s, "4C10 7R10 14C93 17R93");
}

#define MYSQL_GREETING                                                                             \
        "\x3c\0\0\0\x0a"                                                                           \
        "8.0.36\0"                                                                                 \
        "0123456789012345678901234567890123456789012345678901"
#define MYSQL_LOGIN "\x40\0\0\1\x8d\xa2\x0a"
#define MYSQL_OK    "\7\0\0\2\0\0\0\2\0\0\0"
#define MYSQL_QUERY "\x9\0\0\0\3select 1"
#define MYSQL_QUIT  "\1\0\0\0\1"

/* A login and a goodbye are no calls. */
static void test_mysql_runs(void)
{
        for (gsize seen = 2; seen < 8; seen++) {
                Scene *s = scene_new(seen, NULL, TRUE);
                G_STATIC_ASSERT(sizeof MYSQL_GREETING - 1 == 64);
                SAY(s, SERVER, 1, MYSQL_GREETING);
                SAY_LONG(s, CLIENT, 2, MYSQL_LOGIN, 68);
                SAY(s, SERVER, 3, MYSQL_OK);
                SAY(s, CLIENT, 4, MYSQL_QUERY);
                SAY(s, SERVER, 5, "\1\0\0\1\1\x17\0\0\2\3def");
                SAY(s, SERVER, 6, "\7\0\0\3\xfe\0\0\2\0\0\0");
                SAY(s, CLIENT, 7, MYSQL_QUIT);
                end(s, CLIENT, 8);
                expect(s, "4C68 6R68");
        }
}

/* Asked to authenticate otherwise, and nothing is seen but --proto says what it is. */
static void test_mysql_unseen(void)
{
        Scene *s = scene_new(0, &protocol_mysql, TRUE);
        SAY(s, SERVER, 1, MYSQL_GREETING);
        SAY_LONG(s, CLIENT, 2, MYSQL_LOGIN, 68);
        SAY_LONG(s, SERVER, 3, "\x2c\0\0\2\xfe", 48);
        SAY_LONG(s, CLIENT, 4, "\x20\0\0\3", 36);
        SAY(s, SERVER, 5, MYSQL_OK);
        SAY(s, CLIENT, 6, MYSQL_QUERY);
        SAY(s, SERVER, 7, MYSQL_OK);
        SAY(s, CLIENT, 8, MYSQL_QUIT);
        end(s, CLIENT, 9);
        g_assert_cmpuint(s->account.count[ACCOUNT_CUT_UNSEEN], ==, 1);
        expect(s, "6C104 7R104");
}

#define POSTGRES_START "\0\0\0\x12\0\3\0\0user\0web\0\0"
#define POSTGRES_QUERY "Q\0\0\0\x0dselect 1\0"

static void test_postgres_runs(void)
{
        for (gsize seen = 2; seen < 6; seen++) {
                Scene *s = scene_new(seen, NULL, TRUE);
                SAY(s, CLIENT, 1, "\0\0\0\x8\4\xd2\x16\x2f"); /* for TLS */
                SAY(s, SERVER, 2, "N");
                SAY(s, CLIENT, 3, POSTGRES_START);
                SAY(s, SERVER, 4, "R\0\0\0\x0c\0\0\0\5salt");
                SAY(s, CLIENT, 5, "p\0\0\0\x10md5 and so on");
                SAY(s, SERVER, 6, "R\0\0\0\x8\0\0\0\0Z\0\0\0\5I");
                SAY(s, CLIENT, 7, POSTGRES_QUERY);
                SAY(s, SERVER, 8, "T\0\0\0\x6\0\0Z\0\0\0\5I");
                SAY(s, CLIENT, 9, "X\0\0\0\4");
                end(s, CLIENT, 10);
                expect(s, "7C44 8R44");
        }
}

/* Many calls at a time: none is made up. */
static void test_http2_runs(void)
{
        Scene *s = scene_new(2, NULL, TRUE);
        SAY(s, CLIENT, 1, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0");
        SAY(s, SERVER, 2, "\0\0\0\4\0\0\0\0\0");
        SAY_LONG(s, CLIENT, 3, "\0\0\x40\1\5", 73);
        SAY_LONG(s, SERVER, 4, "\0\0\x20\1\4", 41);
        expect(s, "1M0 2M0 3M33 4M9");
}

/* Two bytes of a record tell the handshake from data; alerts are neither. */
static void test_tls_runs(void)
{
        for (gsize seen = 2; seen < 12; seen++) {
                Scene *s = scene_new(seen, NULL, TRUE);
                SAY_LONG(s, CLIENT, 1, "\x16\3\1\1\xfb\1x\1\xf7\3\3", 512);
                SAY_LONG(s, SERVER, 2, "\x16\3\3\x10\x10", 1448);
                SAY_LONG(s, SERVER, 3, "xxxx", 1000);
                SAY_LONG(s, CLIENT, 4, "\x14\3\3x\1\1\x17\3\3", 80);
                SAY_LONG(s, SERVER, 5, "\x17\3\3\1\1", 262);
                SAY_LONG(s, CLIENT, 6, "\x17\3\3\1\x10", 277);
                SAY_LONG(s, SERVER, 7, "\x17\3\3\x20\x10", 1448);
                SAY_LONG(s, SERVER, 8, "xxxx", 1000);
                SAY_LONG(s, SERVER, 9, "\x17\3\3x\x13", 24);
                end(s, SERVER, 10);
                expect(s, "6C592 8R592");
        }
}

/* Who says by --proto that runs are calls, is believed. */
static void test_generic(void)
{
        Scene *s = scene_new(0, &protocol_generic, TRUE);
        SAY(s, SERVER, 1, "hello");
        SAY(s, CLIENT, 2, "hello");
        SAY(s, SERVER, 3, "welcome");
        expect(s, "1M0 2C0 3R0");
}

/* A hole in a conversation that is cut is a turn too. */
static void test_hole(void)
{
        Scene *s = scene_new(30, NULL, TRUE);
        SAY(s, CLIENT, 1, "GET /one HTTP/1.1\r\nHost: a.shop.example\r\n\r\n");
        exchange_missing(&s->exchange, SERVER, s->next[SERVER], 500, &s->context);
        s->next[SERVER] += 500;
        SAY(s, CLIENT, 3, "GET /two HTTP/1.1\r\nHost: a.shop.example\r\n\r\n");
        SAY(s, SERVER, 4, RESPONSE);
        expect(s, "1C0 3C43 4R43");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cut-run/http", test_http);
        g_test_add_func("/cut-run/unseen", test_unseen);
        g_test_add_func("/cut-run/redis", test_redis);
        g_test_add_func("/cut-run/redis-value", test_redis_value);
        g_test_add_func("/cut-run/redis-pipeline", test_redis_pipeline);
        g_test_add_func("/cut-run/redis-runs", test_redis_runs);
        g_test_add_func("/cut-run/unseen-runs", test_unseen_runs);
        g_test_add_func("/cut-run/smtp-runs", test_smtp_runs);
        g_test_add_func("/cut-run/smtp-text", test_smtp_text);
        g_test_add_func("/cut-run/mysql-runs", test_mysql_runs);
        g_test_add_func("/cut-run/mysql-unseen", test_mysql_unseen);
        g_test_add_func("/cut-run/postgres-runs", test_postgres_runs);
        g_test_add_func("/cut-run/http2-runs", test_http2_runs);
        g_test_add_func("/cut-run/tls-runs", test_tls_runs);
        g_test_add_func("/cut-run/generic", test_generic);
        g_test_add_func("/cut-run/hole", test_hole);
        return g_test_run();
}
