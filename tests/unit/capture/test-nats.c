/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-talk.h"

#define LINE(text) "'" text "' 0d0a "
#define INFO       LINE("INFO {\"server_id\":\"N\",\"max_payload\":1048576} ")
#define CONNECT    LINE("CONNECT {\"verbose\":false}")
#define PING       LINE("PING")
#define PONG       LINE("PONG")
/* A request for a reply, of a client, and how it is delivered; the reply, likewise. */
#define REQUEST    LINE("PUB a.b _INBOX.x.1 3") LINE("abc")
#define REQUEST2   LINE("PUB a.b _INBOX.x.2 3") LINE("abc")
#define REQUESTED  LINE("MSG a.b 7 _INBOX.x.1 3") LINE("abc")
#define REQUESTED2 LINE("MSG a.b 7 _INBOX.x.2 3") LINE("abc")
#define REPLY      LINE("PUB _INBOX.x.1 2") LINE("ok")
#define REPLY2     LINE("PUB _INBOX.x.2 2") LINE("ok")
#define REPLIED    LINE("MSG _INBOX.x.1 9 2") LINE("ok")
#define REPLIED2   LINE("MSG _INBOX.x.2 9 2") LINE("ok")
#define STORED(n)  LINE("MSG jobs 4 $JS.ACK.s.c.1.1." n ".7.0 3") LINE("abc")
#define ACK(n, how, size)                                                                          \
        LINE("PUB $JS.ACK.s.c.1.1." n ".7.0 " size)                                                \
        LINE(how)

/* A letter for the kind of each line: "b" of the session, "." none; of a call or what answers one
 * the number. "#" where its content is known, "#+" where by another, too. */
static void say(GString *out, const Parsed *p)
{
        static const char letters[] = "?CRmi..bS";
        g_string_append_c(out, letters[p->kind]);
        if (p->keyed)
                g_string_append_printf(out, "%u", (guint)p->key);
        g_string_append_printf(out, "%s%s ", p->carried.content ? "#" : "",
                               p->carried.content_else ? "+" : "");
}

#define TALK                                                                                       \
        {                                                                                          \
                &protocol_nats, say, g_string_new(NULL), { { 0 } }, NULL                           \
        }

static void check(const char *hex, const char *expected)
{
        check_frames(&protocol_nats, hex, expected, say);
}

static void test_session(void)
{
        check(INFO PING LINE("+OK"), "b . .");
        check(CONNECT PING LINE("SUB a.> workers 1") LINE("UNSUB 1 5") PONG, "b . b b .");
        check("'-ERR ' 27 'Stale Connection' 27 0d0a", "b");
        check(LINE("pub a\t1") LINE("x"), "m1#");
}

/* What nobody is asked to answer; with headers, without a payload. */
static void test_one_way(void)
{
        check(LINE("PUB a.b 3") LINE("abc") LINE("PUB a.b 0") LINE(""), "m1# m2#");
        check(LINE("HPUB a 19 21") "'NATS/1.0' 0d0a 'K: v' 0d0a 0d0a 'xyz' 0d0a", "m1#");
        check(LINE("MSG a.b 3 3") LINE("abc"), "m1#");
        check(LINE("HMSG a 3 19 21") "'NATS/1.0' 0d0a 'K: v' 0d0a 0d0a 'xyz' 0d0a", "m1#");
}

static void test_lengths(void)
{
        g_autoptr(GString) hex = g_string_new(LINE("PUB a 4097"));
        for (guint i = 0; i < 4097; i++)
                g_string_append(hex, "78");
        g_string_append(hex, "0d0a" LINE("PUB a 1") LINE("x"));
        g_autoptr(GByteArray) bytes = hex_bytes(hex->str);
        for (gsize step = 1; step <= bytes->len; step = step < 40 ? step + 1 : 2 * step) {
                g_autofree char *got = parse_frames(&protocol_nats, bytes, step, say);
                g_assert_cmpstr(got, ==, "m1# m2#");
        }
        check(LINE("PUB a 67108864"), "+");
        check(LINE("PUB a 67108865"), "!");
        check(LINE("PUB a 99999999999999999999"), "!");
        check(LINE("HPUB a 5 4") LINE("abcd"), "!");
        g_string_assign(hex, "'PUB '");
        for (guint i = 0; i < 8192; i++)
                g_string_append(hex, "78");
        g_autoptr(GByteArray) endless = hex_bytes(hex->str);
        g_autofree char *got = parse_frames(&protocol_nats, endless, 100, say);
        g_assert_cmpstr(got, ==, "!");
}

/* --- both sides ------------------------------------------------------------ */

/* Of several requests at a time each has its reply, whichever comes first; a second reply is none.
 */
static void test_requests(void)
{
        Talk t = TALK;
        talk(&t, 0, REQUEST);
        talk(&t, 0, REQUEST2);
        talk(&t, 1, REPLIED2 REPLIED);
        talk(&t, 1, REPLIED);
        talk(&t, 0, REQUEST);
        talk(&t, 1, LINE("HMSG _INBOX.x.1 9 16 16") "'NATS/1.0 503' 0d0a 0d0a 0d0a");
        talk_end(&t, "C1#+ (publish a.b) C2#+ (publish a.b) R2 R1 m3# (deliver _INBOX) "
                     "C4#+ (publish a.b) R4");
}

/* What is delivered, likewise; and where a client asks itself. */
static void test_deliveries(void)
{
        Talk t = TALK;
        talk(&t, 1, REQUESTED REQUESTED2);
        talk(&t, 0, REPLY2);
        talk(&t, 0, REQUEST);
        talk(&t, 0, REPLY);
        talk(&t, 1, REPLIED);
        talk(&t, 0, REPLY);
        talk_end(&t, "C1#+ C2#+ (deliver a.bdeliver a.b) R2 C3#+ (publish a.b) R1 R3 "
                     "m4# (publish _INBOX)");
}

/* A reply subject for which several requests wait says nothing; nor does what two subscriptions
 * have got say more than one call. */
static void test_shared_replies(void)
{
        Talk t = TALK;
        talk(&t, 0, LINE("PUB a r 1") LINE("x") LINE("PUB a r 1") LINE("y"));
        talk(&t, 1, LINE("MSG r 1 1") LINE("z"));
        talk(&t, 1, REQUESTED);
        talk(&t, 1, LINE("MSG a.b 8 _INBOX.x.1 3") LINE("abc"));
        talk(&t, 0, REPLY);
        talk_end(&t, "C1#+ m2#+ (publish apublish a) m3# (deliver r) C4#+ (deliver a.b) "
                     "m5#+ (deliver a.b) R4");
}

/* JetStream: acknowledged, refused, not done yet, acknowledged with an answer that is no reply;
 * what was delivered before. Asking for more brings no reply, but what there is, or a status. */
static void test_stored(void)
{
        Talk t = TALK;
        talk(&t, 1, STORED("1") STORED("2") STORED("3"));
        talk(&t, 0, ACK("2", "+WPI", "4") ACK("2", "-NAK", "4") ACK("1", "", "0"));
        talk(&t, 0, LINE("PUB $JS.ACK.s.c.1.1.3.7.0 _INBOX.y 4") LINE("+ACK"));
        talk(&t, 1, LINE("MSG _INBOX.y 9 0") LINE(""));
        talk(&t, 0, ACK("9", "+ACK", "4"));
        talk(&t, 0, LINE("PUB $JS.API.CONSUMER.MSG.NEXT.s.c _INBOX.p 1") LINE("1"));
        talk(&t, 1, LINE("HMSG _INBOX.p 9 16 16") "'NATS/1.0 404' 0d0a 0d0a 0d0a");
        talk(&t, 1, LINE("HMSG jobs 9 $JS.FC.s.x 16 16") "'NATS/1.0 100' 0d0a 0d0a 0d0a");
        talk(&t, 0, LINE("PUB $JS.FC.s.x 0") LINE(""));
        talk_end(&t, "C1# C2# C3# (deliver jobsdeliver jobsdeliver jobs) . R2 R1 R3 b R0 b b b .");
}

/* After 1,024 of which none was answered nobody answers: of one subscription, and of a client's
 * requests. */
static void test_unanswered(void)
{
        for (guint answered = 0; answered < 2; answered++) {
                Talk t = TALK;
                for (guint i = 0; i < 1024; i++) {
                        g_autofree char *both =
                                g_strdup_printf(LINE("MSG a 7 r.%u 1") LINE("x"), i);
                        g_autofree char *sent = g_strdup_printf(LINE("PUB a q.%u 1") LINE("x"), i);
                        talk(&t, 1, both);
                        talk(&t, 0, sent);
                        if (i == 1000 && answered) {
                                talk(&t, 0, LINE("PUB r.1000 1") LINE("x"));
                                talk(&t, 1, LINE("MSG q.1000 1 1") LINE("x"));
                        }
                }
                g_string_truncate(t.out, 0);
                talk(&t, 1, REQUESTED LINE("MSG a 8 r.0 1") LINE("x"));
                talk(&t, 0, REQUEST);
                talk_end(&t,
                         answered ? "C2049#+ m2050#+ (deliver a.bdeliver a) C2051#+ (publish a.b)"
                                  : "m2049#+ m2050#+ (deliver a.bdeliver a) m2051#+ (publish a.b)");
        }
}

/* Memory does not grow with the requests that wait. Requests that were dropped get no answer. */
static void test_many(void)
{
        Talk t = TALK;
        talk(&t, 0, REQUEST);
        talk(&t, 1, REPLIED);
        talk(&t, 0, REQUEST);
        for (guint i = 0; i < 8192; i++) {
                g_autofree char *sent = g_strdup_printf(LINE("PUB a q.%u 1") LINE("x"), i);
                talk(&t, 0, sent);
        }
        g_string_truncate(t.out, 0);
        talk(&t, 1, LINE("MSG q.8191 1 1") LINE("x") REPLIED);
        talk_end(&t, "R8194 m8195# (deliver _INBOX)");
}

static void test_labels(void)
{
        Talk t = TALK;
        talk(&t, 0, LINE("PUB shop.42.item.0123456789abcdef 0") LINE(""));
        talk(&t, 1, LINE("MSG _GR_.x._INBOX.y.z 1 0") LINE(""));
        talk_end(&t, "m1# (publish shop.{id}.item.{id}) m2# (deliver _GR_.x._INBOX)");
}

/* --- contents -------------------------------------------------------------- */

static Carried content_of(const char *hex)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        gpointer memory = NULL;
        Parsed parsed = { .memory = &memory };
        g_assert_cmpint(protocol_nats.parse(state, CALL_NONE, bytes->data, bytes->len, FALSE, NULL,
                                            &parsed),
                        ==, PARSE_MESSAGE);
        protocol_nats.forget(memory);
        return parsed.carried;
}

/* A request is known by its reply subject, and what JetStream has stored by what was published,
 * though that had another. */
static void test_content(void)
{
        Carried request = content_of(REQUEST), stored = content_of(STORED("1"));
        Carried published = content_of(LINE("PUB jobs _INBOX.x.1 3") LINE("abc"));
        g_assert_cmpuint(request.content, ==, content_of(REQUESTED).content);
        g_assert_cmpuint(request.content, !=, content_of(REQUEST2).content);
        g_assert_cmpuint(request.content_else, ==, content_of(REQUEST2).content_else);
        g_assert_cmpuint(stored.content, ==, published.content_else);
        g_assert_cmpuint(stored.content, ==, content_of(STORED("2")).content);
        g_assert_cmpuint(stored.content, ==, content_of(LINE("PUB jobs 3") LINE("abc")).content);
        g_assert_cmpuint(stored.content, !=, content_of(LINE("PUB jobs 3") LINE("abd")).content);
        g_assert_cmpuint(stored.content, !=, content_of(LINE("PUB job 3") LINE("abc")).content);
        g_assert_cmpuint(content_of(LINE("PUB a r 1") LINE("x")).content, ==,
                         content_of(LINE("MSG a 1 r 1") LINE("x")).content);
}

/* Where packets are cut the payload is not needed. */
static void test_cut(void)
{
        g_autoptr(GByteArray) bytes = hex_bytes(LINE("PUB a.b _INBOX.x.1 300") "'abc'");
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        gpointer memory = NULL;
        Parsed parsed = { .memory = &memory, .cut = TRUE };
        g_assert_cmpint(protocol_nats.parse(state, CALL_NONE, bytes->data, bytes->len, FALSE, NULL,
                                            &parsed),
                        ==, PARSE_MESSAGE);
        g_assert_cmpuint(parsed.length, ==, bytes->len - 3 + 302);
        g_assert_cmpuint(parsed.carried.content, ==, content_of(REQUEST).content);
        g_assert_cmpuint(parsed.carried.content_else, ==, 0);
        protocol_nats.forget(memory);
}

/* --- recognising ----------------------------------------------------------- */

/* How many bytes the probe settles: 0, none; -1, it waits for more. */
static gint probe(const char *hex)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { .length = 0 };
        ParseStatus status = protocol_nats.parse(state, CALL_PROBE, bytes->data, bytes->len, FALSE,
                                                 NULL, &parsed);
        return status == PARSE_MESSAGE ? (gint)parsed.length : status == PARSE_MORE ? -1 : 0;
}

static void test_recognised(void)
{
        static const char *const sure[] = {
                INFO, CONNECT, REQUEST, REPLIED, PONG, LINE("SUB a workers 12"), LINE("UNSUB 12")
        };
        static const char *const more[] = {
                "'INFO {'", "'CONN'", "'PU'", LINE("PUB a 3") "'ab'", LINE("PUB a 3") "'abc' 0d",
                PING "'M'",
        };
        static const char *const none[] = {
                PING,
                PING PING,
                LINE("+OK"),
                "'-ERR ' 27 'x' 27 0d0a",
                LINE("INFO"),
                LINE("INFO sip:a@b SIP/2.0"),
                LINE("CONNECT a:1 HTTP/1.1"),
                LINE("PUB a"),
                LINE("PUB a b c 1"),
                LINE("PUB a -1"),
                LINE("PUB a.. 1"),
                LINE("PUB .a 1"),
                LINE("pub a 1") LINE("x"),
                LINE("PUB a 1") LINE("xy"),
                LINE("SUB a b c 1"),
                "'PUB a' 00 'b 1' 0d0a",
                "'PUB topic' 0a 00000001",
                LINE("PUBLISH a 1"),
                LINE("GET / HTTP/1.1"),
        };
        for (guint i = 0; i < G_N_ELEMENTS(sure); i++)
                g_assert_cmpint(probe(sure[i]), >, 0);
        for (guint i = 0; i < G_N_ELEMENTS(more); i++)
                g_assert_cmpint(probe(more[i]), ==, -1);
        for (guint i = 0; i < G_N_ELEMENTS(none); i++)
                g_assert_cmpint(probe(none[i]), ==, 0);
        g_assert_cmpint(probe(PING REQUEST), ==, 6);
}

static void test_boundary(void)
{
        g_autoptr(GByteArray) bytes = hex_bytes(LINE("bc") REQUEST);
        g_autoptr(GByteArray) none = hex_bytes("'abcdefgh' 0d0a 'ij'");
        g_assert_cmpuint(protocol_nats.find_boundary(bytes->data, bytes->len), ==, 4);
        g_assert_cmpuint(protocol_nats.find_boundary(none->data, none->len), ==, none->len);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/nats/session", test_session);
        g_test_add_func("/nats/one-way", test_one_way);
        g_test_add_func("/nats/lengths", test_lengths);
        g_test_add_func("/nats/requests", test_requests);
        g_test_add_func("/nats/deliveries", test_deliveries);
        g_test_add_func("/nats/shared-replies", test_shared_replies);
        g_test_add_func("/nats/stored", test_stored);
        g_test_add_func("/nats/unanswered", test_unanswered);
        g_test_add_func("/nats/many", test_many);
        g_test_add_func("/nats/labels", test_labels);
        g_test_add_func("/nats/content", test_content);
        g_test_add_func("/nats/cut", test_cut);
        g_test_add_func("/nats/recognised", test_recognised);
        g_test_add_func("/nats/boundary", test_boundary);
        return g_test_run();
}
