/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-pieces.h"

#define REDIS protocol_redis
#define GET   "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"

enum { PLAIN = 1 };

static void test_commands(void)
{
        CHECK(REDIS, GET, 0, "C20");
        CHECK(REDIS, GET GET "*1\r\n$4\r\nping\r\n", 0, "C20 C40 C54");
        CHECK(REDIS, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\n\r\n*1\r\r\n" GET, 0, "C31 C51");
        CHECK(REDIS, GET "*1\r\n$6\r\nnosuch\r\n", 0, "C20 C36");
        CHECK(REDIS, "*1\r\n$7\r\nFT.INFO\r\n", 0, "C17");
        CHECK(REDIS, GET "*0\r\n*-1\r\n\r\n" GET, 0, "C20 .24 .29 .30 .31 C51");
        CHECK(REDIS, "*2\r\n$3\r\nGET\r\n$100\r\nk", 0, "+");
        CHECK(REDIS, "*2\r\n$3\r\nGE", 0, "+");
        CHECK(REDIS, GET "*2\r\n:1\r\n", 0, "C20 !");
        CHECK(REDIS, "*2\r\n$3\r\nGET\r\n$1\r\nkk\r\n", 0, "!");
}

static void test_inline(void)
{
        CHECK(REDIS, "PING\r\nset k v\n\r\nget k\r\n", 0, "C6 C14 .15 .16 C23");
        CHECK(REDIS, GET "ping\r\n", 0, "C20 C26");
        CHECK(REDIS, "hello there\r\n", 0, "C13");
        CHECK(REDIS, "SETTLE k\r\n", 0, "!");
        CHECK(REDIS, "MONITOR", 0, "+");
}

static void test_replies(void)
{
        CHECK(REDIS, "+OK\r\n-ERR no\r\n:-12\r\n$-1\r\n$0\r\n\r\n$3\r\n\r\n+\r\n*-1\r\n*0\r\n",
              PLAIN, "R5 R14 R20 R25 R31 R40 R45 R49");
        CHECK(REDIS, "*2\r\n*2\r\n:1\r\n$1\r\na\r\n*0\r\n+QUEUED\r\n", PLAIN, "R23 R32");
        CHECK(REDIS, "%1\r\n+a\r\n~1\r\n,1.5\r\n_\r\n#t\r\n(1\r\n=5\r\ntxt:a\r\n!1\r\nE\r\n", PLAIN,
              "R18 R21 R25 R29 R40 R47");
        CHECK(REDIS, "|1\r\n+ttl\r\n:5\r\n$1\r\nx\r\n:1\r\n", PLAIN, "R21 R25");
        CHECK(REDIS, GET, PLAIN, "R20"); /* MGET may say that */
        CHECK(REDIS, "*2\r\n:1\r\n", PLAIN, "+");
        CHECK(REDIS, "$5\r\nhell", PLAIN, "+");
        CHECK(REDIS, "what\r\n", PLAIN, "!");
        CHECK(REDIS, "*99999999999999\r\n", PLAIN, "!");
        CHECK(REDIS, ":1\n", PLAIN, "!");
}

#define MESSAGE   "*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$2\r\nhi\r\n"
#define CONFIRM   "*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n"
#define PUSH      ">3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$2\r\nhi\r\n"
#define SUBSCRIBE "*3\r\n$9\r\nSUBSCRIBE\r\n$1\r\nx\r\n$1\r\ny\r\n"
#define LEAVE     "*1\r\n$11\r\nUNSUBSCRIBE\r\n"

static void test_channels(void)
{
        guint8 two = CALL_OF(REDIS, SUBSCRIBE), none = CALL_OF(REDIS, LEAVE);
        CHECK(REDIS, MESSAGE MESSAGE, CALL_NONE, "m32 m64");
        CHECK(REDIS, MESSAGE "*2\r\n$4\r\npong\r\n$0\r\n\r\n", PLAIN, "R32 R52");
        CHECK(REDIS, CONFIRM CONFIRM MESSAGE, two, "i30 R60 m92");
        CHECK(REDIS, CONFIRM, none, "R30");
        CHECK(REDIS, "-NOPERM\r\n", two, "R9");
        CHECK(REDIS, PUSH "+OK\r\n" PUSH, PLAIN, "m32 R37 m69");
        CHECK(REDIS, ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n", PLAIN, "m32");
        CHECK(REDIS, "*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$1\r\nx\r\n$0\r\n\r\n", CALL_NONE, "m38");
}

#define LINE "+1700000000.123456 [0 127.0.0.1:1] \"GET\" \"k\"\r\n"

static void test_monitor(void)
{
        guint8 monitor = CALL_OF(REDIS, "*1\r\n$7\r\nMONITOR\r\n");
        CHECK(REDIS, "+OK\r\n" LINE, monitor, "R5 m51");
        CHECK(REDIS, LINE LINE, CALL_NONE, "m46 m92");
        CHECK(REDIS, LINE, PLAIN, "R46");
}

#define SAYS(what) "*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$" what "\r\n"

static void test_no_reply(void)
{
        CHECK(REDIS, SAYS("4\r\nSKIP") GET GET, 0, "m37 m57 C77");
        CHECK(REDIS, SAYS("3\r\nOFF") GET GET SAYS("2\r\nON") GET, 0, "m36 m56 m76 C111 C131");
        CHECK(REDIS, "*3\r\n$6\r\nCLIENT\r\n$4\r\nKILL\r\n$2\r\nON\r\n", 0, "C34");
}

#define PSYNC "*3\r\n$5\r\nPSYNC\r\n$1\r\n?\r\n$2\r\n-1\r\n"

static void test_replication(void)
{
        CHECK(REDIS, PSYNC "*1\r\n$8\r\nREPLCONF\r\n", 0, "C30 m48");
        CHECK(REDIS, "+CONTINUE\r\n" GET GET, CALL_OF(REDIS, PSYNC), "R11 +");
        CHECK(REDIS, "-ERR\r\n+OK\r\n", CALL_OF(REDIS, PSYNC), "R6 R11");
}

static void test_labels(void)
{
        CHECK_LABELS(REDIS, "*2\r\n$3\r\nget\r\n$6\r\nsecret\r\n", "GET,");
        CHECK_LABELS(REDIS, "set secret secret\r\n" GET, "SET,GET,");
}

static void test_recognised(void)
{
        g_assert_true(RECOGNISED(REDIS, GET));
        g_assert_true(RECOGNISED(REDIS, "*2\r\n$3\r\nGET\r\n"));
        g_assert_true(RECOGNISED(REDIS, MESSAGE));
        g_assert_true(RECOGNISED(REDIS, PUSH));
        g_assert_true(RECOGNISED(REDIS, LINE));
        g_assert_true(RECOGNISED(REDIS, "$5\r\nhello\r\n"));
        g_assert_true(RECOGNISED(REDIS, "$-1\r\n"));
        g_assert_true(RECOGNISED(REDIS, "+PONG\r\n"));
        g_assert_false(RECOGNISED(REDIS, "*2\r\n$3\r\nGE"));
        g_assert_false(RECOGNISED(REDIS, "*2\r\n$5\r\napple\r\n$3\r\nGET\r\n")); /* by whom? */
        g_assert_false(RECOGNISED(REDIS, "*2\r\n$4\r\ntype\r\n$1\r\nx\r\n"));
        g_assert_false(RECOGNISED(REDIS, "+OK\r\n"));     /* POP3 */
        g_assert_false(RECOGNISED(REDIS, "-ERR no\r\n")); /* POP3 */
        g_assert_false(RECOGNISED(REDIS, "PING\r\n"));    /* NATS, IRC */
        g_assert_true(RECOGNISED(REDIS, "SET k v\r\nINCR n\r\n"));
        g_assert_true(RECOGNISED(REDIS, "SET k v\nINCR n\nGE"));
        g_assert_false(RECOGNISED(REDIS, "GET /x\r\nHost: a\r\n"));
        g_assert_false(RECOGNISED(REDIS, "TYPE I\r\n")); /* FTP */
        g_assert_false(RECOGNISED(REDIS, "LIST x\r\n")); /* POP3 */
        g_assert_false(RECOGNISED(REDIS, ":irc.example.org 001\r\n"));
        g_assert_false(RECOGNISED(REDIS, "$5\r\nhello world\r\n"));
        g_assert_false(RECOGNISED(REDIS, "GET / HTTP/1.1\r\n\r\n"));
        g_assert_false(RECOGNISED(REDIS, "+1700000000 ok\r\n"));
}

static void test_find_boundary(void)
{
        g_assert_cmpuint(BOUNDARY(REDIS, "+OK\r\n"), ==, 0);
        g_assert_cmpuint(BOUNDARY(REDIS, "lue\r\n" GET), ==, 5);
        g_assert_cmpuint(BOUNDARY(REDIS, "lue\r\n" MESSAGE), ==, 5);
        g_assert_cmpuint(BOUNDARY(REDIS, "lue\r\n$3\r\nabc\r\n"), ==, 14);
        g_assert_cmpuint(BOUNDARY(REDIS, ""), ==, 0);
}

/* --- what is carried -------------------------------------------------------------- */

typedef struct {
        gpointer memory;
        GArray *calls;    /* guint8, of commands that wait for their replies */
        GArray *contents; /* guint64: the place of each is its letter */
        GString *out;
} Talk;

static void say_contents(Talk *t, const Parsed *parsed)
{
        for (guint i = 0; i < parsed->carried.n_contents; i++) {
                guint k = 0;
                while (k < t->contents->len &&
                       g_array_index(t->contents, guint64, k) != parsed->carried.contents[i])
                        k++;
                if (k == t->contents->len)
                        g_array_append_val(t->contents, parsed->carried.contents[i]);
                g_string_append_c(t->out, (char)('a' + k));
        }
}

/* A side's bytes, in pieces of step: a word a message, of a letter for each thing it carries, "?"
 * where it asks for some, "+" where it waits for it; "-" where it is nothing of these. */
static void carry(Talk *t, const char *bytes, gsize step, gboolean replies)
{
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        gsize n = strlen(bytes), at = 0;
        guint8 call = CALL_NONE;
        for (gsize shown = MIN(step, n); at < n; shown = MIN(shown + step, n)) {
                while (at < shown) {
                        g_autofree guint8 *copy = g_memdup2(bytes + at, shown - at);
                        Parsed parsed = { .memory = &t->memory };
                        guint8 of = replies ? g_array_index(t->calls, guint8, 0) : CALL_NONE;
                        ParseStatus status = protocol_redis.parse(state, of, copy, shown - at,
                                                                  FALSE, NULL, &parsed);
                        g_assert_cmpint(status, !=, PARSE_NOT_MINE);
                        call = parsed.call ? parsed.call : call;
                        at += parsed.length;
                        if (status == PARSE_MORE)
                                break;
                        gsize before = t->out->len;
                        say_contents(t, &parsed);
                        if (parsed.carried.job)
                                g_string_append_printf(t->out, "(%s)", parsed.carried.job);
                        if (parsed.carried.fetch)
                                g_string_append_c(t->out,
                                                  parsed.carried.fetch == FETCH_WAIT ? '+' : '?');
                        g_string_append(t->out, t->out->len > before ? " " : "- ");
                        if (replies && t->calls->len > 1)
                                g_array_remove_index(t->calls, 0);
                        else if (!replies)
                                g_array_append_val(t->calls, call);
                }
        }
}

static void check_carried(const char *commands, const char *replies, const char *expected)
{
        for (gsize step = 1; step <= MAX(strlen(commands), strlen(replies)); step++) {
                Talk t = { NULL, g_array_new(FALSE, FALSE, 1), g_array_new(FALSE, FALSE, 8),
                           g_string_new(NULL) };
                carry(&t, commands, step, FALSE);
                g_string_append(t.out, "/ ");
                carry(&t, replies, step, TRUE);
                g_assert_cmpstr(g_strchomp(t.out->str), ==, expected);
                if (t.memory)
                        protocol_redis.forget(t.memory);
                g_array_unref(t.calls);
                g_array_unref(t.contents);
                g_string_free(t.out, TRUE);
        }
}

#define PUSH_2  "*4\r\n$5\r\nRPUSH\r\n$1\r\nq\r\n$2\r\nj1\r\n$2\r\nj2\r\n"
#define PUSH_R  "*3\r\n$5\r\nlpush\r\n$1\r\nr\r\n$2\r\nj1\r\n"
#define BLPOP   "*3\r\n$5\r\nBLPOP\r\n$1\r\nq\r\n$1\r\n0\r\n"
#define LPOP(q) "*2\r\n$4\r\nLPOP\r\n$1\r\n" q "\r\n"
#define MOVE    "*4\r\n$10\r\nBRPOPLPUSH\r\n$1\r\nq\r\n$1\r\nr\r\n$1\r\n0\r\n"
#define J(n)    "$2\r\nj" n "\r\n"

/* A reply to no command that was seen brings n contents. */
static void check_unseen(const char *reply, guint n)
{
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        gpointer memory = NULL;
        Parsed parsed = { .memory = &memory, .sender = SENDER_SERVER };

        g_assert_cmpint(protocol_redis.parse(state, CALL_NONE, (const guint8 *)reply, strlen(reply),
                                             FALSE, NULL, &parsed),
                        ==, PARSE_MESSAGE);
        g_assert_cmpint(parsed.kind, ==, KIND_RETURN);
        g_assert_cmpuint(parsed.carried.n_contents, ==, n);
        g_assert_false(parsed.carried.was_waited);
        if (memory)
                protocol_redis.forget(memory);
}

static void recognise_unseen(const char *reply, guint8 sender, ParseStatus expected)
{
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { .sender = sender };

        g_assert_cmpint(protocol_redis.parse(state, CALL_PROBE, (const guint8 *)reply,
                                             strlen(reply), FALSE, NULL, &parsed),
                        ==, expected);
}

static void test_lists(void)
{
        check_carried(PUSH_2 BLPOP, ":2\r\n*2\r\n$1\r\nq\r\n" J("2"), "ab + / - b");
        check_carried(PUSH_2 PUSH_R, ":2\r\n:1\r\n", "ab c / - -"); /* another list */
        check_carried(PUSH_2 LPOP("r") LPOP("q") GET, ":2\r\n$-1\r\n" J("1") "$2\r\nj1\r\n",
                      "ab ? ? - / - - a -");
        /* Several at a time; a list that is moved; what is told apart by its length alone. */
        check_carried(PUSH_2 LPOP("q") MOVE, ":2\r\n*2\r\n" J("2") J("1") J("1"),
                      "ab ? + / - ba a");
        check_carried(PUSH_2 LPOP("q"), ":2\r\n$3\r\nj1\n\r\n", "ab ? / - c");
        check_carried(BLPOP BLPOP, "*-1\r\n+QUEUED\r\n", "+ + / - -");
        check_carried("*3\r\n$8\r\nBZPOPMIN\r\n$1\r\nz\r\n$1\r\n0\r\n", "*-1\r\n", "+ / -");
}

#define JOB "$15\r\n{\"class\":\"Pay\"}\r\n"

/* A value that goes into a list or comes out may name a job, but several at a time do not. */
static void test_jobs(void)
{
        check_carried("*3\r\n$5\r\nLPUSH\r\n$1\r\nq\r\n" JOB BLPOP LPOP("q") LPOP("q") LPOP("q"),
                      ":1\r\n*2\r\n$1\r\nq\r\n" JOB JOB "*2\r\n" JOB JOB J("1"),
                      "a(Pay) + ? ? ? / - a(Pay) a(Pay) aa b");
}

#define ADD(words, options)                                                                        \
        "*" words "\r\n$4\r\nXADD\r\n$1\r\ns\r\n" options "$1\r\n*\r\n$1\r\nk\r\n$1\r\nv\r\n"
#define READ "*4\r\n$5\r\nXREAD\r\n$7\r\nSTREAMS\r\n$1\r\ns\r\n$1\r\n0\r\n"
#define BLOCK                                                                                      \
        "*6\r\n$5\r\nXREAD\r\n$5\r\nBLOCK\r\n$1\r\n0\r\n$7\r\nSTREAMS\r\n$1\r\ns\r\n$1\r\n$\r\n"
#define FIELDS(v) "*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\nk\r\n$1\r\n" v "\r\n"

static void test_streams(void)
{
        check_carried(ADD("5", "") ADD("9", "$6\r\nMAXLEN\r\n$1\r\n~\r\n$4\r\n1000\r\n$10\r\n"
                                            "NOMKSTREAM\r\n"),
                      "$3\r\n1-1\r\n$3\r\n1-2\r\n", "a a / - -");
        check_carried(ADD("5", "") READ,
                      "$3\r\n1-1\r\n*1\r\n*2\r\n$1\r\ns\r\n*2\r\n" FIELDS("v") FIELDS("w"),
                      "a ? / - ab");
        check_carried(ADD("5", "") BLOCK,
                      "$3\r\n1-1\r\n%2\r\n$1\r\nt\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*-1\r\n$1\r\ns\r\n*"
                      "1\r\n" FIELDS("v"),
                      "a + / - a");
        check_carried(READ, "*-1\r\n", "? / -");
}

/* Answers to commands from before the capture. */
static void test_unseen(void)
{
        static const char answer[] = "*2\r\n$5\r\nq.low\r\n" J("1");
        static const char entries[] = "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n" FIELDS("v");

        check_unseen(answer, 1);
        check_unseen(entries, 1);
        check_unseen("*2\r\n$1\r\nq\r\n:1\r\n", 0);
        check_unseen("*1\r\n*2\r\n$1\r\ns\r\n$1\r\nv\r\n", 0);
        check_unseen("*3\r\n$1\r\nq\r\n" J("1") J("2"), 0);
        /* They are recognised where a server says them. A client may ask for anything. */
        recognise_unseen(answer, SENDER_SERVER, PARSE_MESSAGE);
        recognise_unseen(entries, SENDER_SERVER, PARSE_MESSAGE);
        recognise_unseen("*2\r\n$1\r\nq\r\n" J("1"), SENDER_ANY, PARSE_NOT_MINE);
        recognise_unseen("*2\r\n$1\r\nq\r\n:1\r\n", SENDER_SERVER, PARSE_NOT_MINE);
        recognise_unseen("*2\r\n$1\r\nq\r\n", SENDER_SERVER, PARSE_MORE);
}

static void test_published(void)
{
        check_carried("*3\r\n$7\r\nPUBLISH\r\n$1\r\nx\r\n$2\r\nhi\r\n" SUBSCRIBE,
                      ":1\r\n" CONFIRM CONFIRM MESSAGE
                      "*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$1\r\nx\r\n$2\r\nhi\r\n",
                      "a - / - - - a a");
}

/* An element that is cut off is passed over, and not known. */
static void test_cut(void)
{
        static const char push[] = "*3\r\n$5\r\nRPUSH\r\n$1\r\nq\r\n$100\r\nonly so much";
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        gpointer memory = NULL;
        Parsed parsed = { .memory = &memory, .cut = TRUE };
        g_assert_cmpint(protocol_redis.parse(state, CALL_NONE, (const guint8 *)push, strlen(push),
                                             FALSE, NULL, &parsed),
                        ==, PARSE_MORE);
        g_assert_cmpuint(parsed.length, ==, strlen(push) - strlen("only so much") + 100);
        parsed = (Parsed){ .memory = &memory };
        g_assert_cmpint(protocol_redis.parse(state, CALL_NONE, (const guint8 *)"\r\n", 2, FALSE,
                                             NULL, &parsed),
                        ==, PARSE_MESSAGE);
        g_assert_cmpuint(parsed.carried.n_contents, ==, 0);
        protocol_redis.forget(memory);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/redis/commands", test_commands);
        g_test_add_func("/redis/inline", test_inline);
        g_test_add_func("/redis/replies", test_replies);
        g_test_add_func("/redis/channels", test_channels);
        g_test_add_func("/redis/monitor", test_monitor);
        g_test_add_func("/redis/no-reply", test_no_reply);
        g_test_add_func("/redis/replication", test_replication);
        g_test_add_func("/redis/lists", test_lists);
        g_test_add_func("/redis/jobs", test_jobs);
        g_test_add_func("/redis/streams", test_streams);
        g_test_add_func("/redis/unseen", test_unseen);
        g_test_add_func("/redis/published", test_published);
        g_test_add_func("/redis/cut", test_cut);
        g_test_add_func("/redis/labels", test_labels);
        g_test_add_func("/redis/recognised", test_recognised);
        g_test_add_func("/redis/find-boundary", test_find_boundary);
        return g_test_run();
}
