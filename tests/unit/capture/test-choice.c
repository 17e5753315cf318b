/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A protocol that was recognised, or named, and does not fit: its connection goes back to runs.
 */
#include "tests/unit/capture/scene.h"

/* A round of a conversation: what the client asks, and what the server answers. */
typedef struct {
        const char *call, *answer;
} Round;

static const Round fitting[] = {
        { "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 204 n\r\n\r\n" },
        { "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nab",
          "HTTP/1.1 200 n\r\nContent-Length: 2\r\n\r\nab" },
        { "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", "$2\r\nab\r\n" },
        { "*1\r\n$4\r\nVINF\r\n", "*1\r\n$2\r\nab\r\n" },
        { "get k\r\n", "VALUE k 0 2\r\nab\r\nEND\r\n" },
        { "INCR k\r\n", ":1\r\n" },
        { "\5\1\2", "\6\1\2\3" },
};

static const Round strange = { "\1ask", "\1answer" };

/* Says text from ms on, in two segments if 0 < cut < its length, and appends the line that it must
 * give. */
static void say_cut(Scene *s, GString *expected, guint side, gint64 ms, const char *text, gsize cut,
                    guint32 id)
{
        g_autofree char *head = g_strndup(text, cut);
        gboolean two = cut > 0 && cut < strlen(text);
        if (two)
                say(s, side, ms, head);
        say(s, side, two ? ms + 1 : ms, two ? text + cut : text);
        if (side == CLIENT)
                g_string_append_printf(expected, "%d CALL_SENT a>b 1000.%x%s\n", (int)ms, id,
                                       two ? " dur=1000000" : "");
        else
                g_string_append_printf(expected, "%d RET_SENT b>a 1000.%x%s\n",
                                       (int)ms + (two ? 1 : 0), id, two ? " dur=1000000" : "");
}

/* Rounds with a side that does not fit from a place on. Each is a call and its return. cut: where
 * in the round at that place the segments are cut. */
static void play(const Round *fits, guint place, gboolean strange_call, gboolean strange_answer,
                 gsize cut, gboolean start_seen)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        g_autoptr(GString) expected = g_string_new(NULL);
        if (start_seen)
                handshake(s);
        for (guint i = 0; i < 5; i++) {
                guint32 id = s->next[CLIENT];
                gsize at = i == place ? cut : 0;
                const char *call = i >= place && strange_call ? strange.call : fits->call;
                const char *answer = i >= place && strange_answer ? strange.answer : fits->answer;
                say_cut(s, expected, CLIENT, 10 * i + 2, call, at, id);
                say_cut(s, expected, SERVER, 10 * i + 6, answer, at, id);
        }
        scene_end(s, expected->str);
}

static void test_every_place(void)
{
        for (guint i = 0; i < G_N_ELEMENTS(fitting); i++)
                for (guint place = 0; place < 6; place++)
                        for (guint sides = 1; sides < 4; sides++)
                                for (gsize cut = 0; cut < 7; cut++)
                                        for (guint seen = 0; seen < 2; seen++)
                                                play(&fitting[i], place, sides & 1, sides & 2, cut,
                                                     seen);
}

/* Several commands of one run, whose answer is none of the protocol, are one call. After the
 * patience they are given out, and the answer is the first one's. */
static void test_pipelined(void)
{
        static const char commands[] = "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n";
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say(s, CLIENT, 5, commands);
        say(s, SERVER, 6, "\1answer");
        say(s, CLIENT, 7, commands);
        say(s, SERVER, 8, "\1answer");
        check_count(s, ACCOUNT_UNPARSED, 0);
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "6 RET_SENT b>a 1000.101\n"
                     "7 CALL_SENT a>b 1000.11d\n"
                     "8 RET_SENT b>a 1000.11d\n");

        s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say(s, CLIENT, 5, commands);
        say(s, CLIENT, 20000, "*1\r\n$4\r\nTIME\r\n");
        say(s, SERVER, 20001, "\1answer");
        say(s, CLIENT, 20002, "\1ask");
        say(s, SERVER, 20003, "\1answer");
        scene_end(s, "5 CALL_SENT a>b 1000.101 label=PING\n"
                     "5 CALL_SENT a>b 1000.10f label=PING\n"
                     "20000 CALL_SENT a>b 1000.11d label=TIME\n"
                     "20001 RET_SENT b>a 1000.101\n"
                     "20002 CALL_SENT a>b 1000.12b\n"
                     "20003 RET_SENT b>a 1000.12b\n");
}

/* Another protocol is recognised by the answer. */
static void test_other_protocol(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say(s, CLIENT, 5, "GET /\r\n");
        say(s, SERVER, 6, "HTTP/1.1 404 n\r\nContent-Length: 0\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "6 RET_SENT b>a 1000.101 st=404\n");
}

/* What one protocol has for a login is none where another is found. */
static void test_login(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->openings = TRUE;
        handshake(s);
        say_hex(s, CLIENT, 5, "00000013 00030000 75736572 00 7a65656b 0000"); /* PostgreSQL */
        say_hex(s, SERVER, 6, "5a000000 010000");
        scene_end(s, "5 CALL_SENT a>b 1000.101 syn=5000000 tcp=1\n"
                     "6 RET_SENT b>a 1000.101\n");
}

/* Who has opened the connection calls, whatever the bytes look like. */
static void test_roles(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE); /* MySQL X */
        handshake(s);
        say_hex(s, SERVER, 5, "05000000 0b 08051a00");
        say_hex(s, CLIENT, 6, "01000000 01");
        say_hex(s, SERVER, 7, "05000000 02 0a020801");
        say_hex(s, CLIENT, 8, "10000000 0c 120853454c45435420311a0373716c");
        say_hex(s, SERVER, 9, "01000000 11");
        scene_end(s, "5 MSG_SENT b>a 50.501\n"
                     "6 CALL_SENT a>b 1000.101\n"
                     "7 RET_SENT b>a 1000.101\n"
                     "8 CALL_SENT a>b 1000.106\n"
                     "9 RET_SENT b>a 1000.106\n");

        s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, SERVER, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, CLIENT, 6, "HTTP/1.1 204 n\r\n\r\n");
        say(s, SERVER, 7, "GET / HTTP/1.1\r\n\r\n");
        scene_end(s, "5 MSG_SENT b>a 50.501\n"
                     "6 CALL_SENT a>b 1000.101\n"
                     "7 RET_SENT b>a 1000.101\n");
}

/* What --proto says is obeyed until the bytes refute it, and that is said. */
static void test_named(void)
{
        for (guint seen = 0; seen < 2; seen++) {
                Scene *s = scene_new(two_nodes, NULL, FALSE);
                s->ports[80] = &protocol_redis;
                if (seen)
                        handshake(s);
                else
                        s->next[CLIENT]++, s->next[SERVER]++;
                say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
                say(s, SERVER, 6, "HTTP/1.1 204 n\r\n\r\n");
                say(s, CLIENT, 7, "GET / HTTP/1.1\r\n\r\n");
                say(s, SERVER, 8, "HTTP/1.1 204 n\r\n\r\n");
                hang_up(s, CLIENT, 9);
                hang_up(s, SERVER, 9);
                check_count(s, ACCOUNT_NOT_AS_SAID, 1);
                scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                             "6 RET_SENT b>a 1000.101\n"
                             "7 CALL_SENT a>b 1000.113\n"
                             "8 RET_SENT b>a 1000.113\n");
        }
}

/* The rest of a message from before the capture does not refute anything. */
static void test_rest_of_message(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "rest\r\nHTTP/1.1 204 n\r\n\r\n");
        say(s, CLIENT, 7, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 8, "HTTP/1.1 404 n\r\nContent-Length: 0\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.100\n"
                     "6 RET_SENT b>a 1000.100\n"
                     "7 CALL_SENT a>b 1000.112\n"
                     "8 RET_SENT b>a 1000.112 st=404\n");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/choice/every-place", test_every_place);
        g_test_add_func("/choice/pipelined", test_pipelined);
        g_test_add_func("/choice/other-protocol", test_other_protocol);
        g_test_add_func("/choice/login", test_login);
        g_test_add_func("/choice/roles", test_roles);
        g_test_add_func("/choice/named", test_named);
        g_test_add_func("/choice/rest-of-message", test_rest_of_message);
        return g_test_run();
}
