/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-talk.h"

#define GREETING              "'AMQP' 00 00 09 01 "
/* Frames of methods: channel, length, class, number and arguments, in hex. */
#define START                 "01 0000 00000006 000a 000a 0009 ce "
#define OPEN                  "01 0001 00000005 0014 000a 00 ce "
#define CLOSE                 "01 0001 0000000b 0014 0028 00c8 00 0000 0000 ce "
#define CLOSE_OK              "01 0001 00000004 0014 0029 ce "
#define SELECT                "01 0001 00000005 0055 000a 00 ce "
#define HEARTBEAT             "08 0000 00000000 ce "
/* To queue "q" by the exchange without a name. */
#define PUBLISH               "01 0001 0000000a 003c 0028 0000 00 01 'q' 00 ce "
#define PUBLISH2              "01 0002 0000000a 003c 0028 0000 00 01 'q' 00 ce "
#define HEADER(channel, size) "02 " channel " 0000000e 003c 0000 00000000000000" size " 0000 ce "
#define BODY(channel)         "03 " channel " 00000003 'abc' ce "
#define DELIVER(channel, tag)                                                                      \
        "01 " channel " 00000012 003c 003c 01 't' 00000000000000" tag " 00 00 01 'q' ce "
#define GET                "01 0001 00000009 003c 0046 0000 01 'q' 00 ce "
#define GET_AUTOMATIC      "01 0001 00000009 003c 0046 0000 01 'q' 01 ce "
#define GET_OK             "01 0001 00000014 003c 0047 0000000000000007 00 00 01 'q' 00000000 ce "
#define GET_EMPTY          "01 0001 00000005 003c 0048 00 ce "
#define ACK(tag, flags)    "01 0001 0000000d 003c 0050 00000000000000" tag " " flags " ce "
#define REJECT(tag, flags) "01 0001 0000000d 003c 005a 00000000000000" tag " " flags " ce "
#define NACK(tag, flags)   "01 0001 0000000d 003c 0078 00000000000000" tag " " flags " ce "
#define CONSUME(flags)     "01 0001 0000000f 003c 0014 0000 01 'q' 01 't' " flags " 00000000 ce "
#define CONSUME_OK         "01 0001 00000006 003c 0015 01 't' ce "
#define DECLARE(flags)     "01 0001 0000000d 0032 000a 0000 01 'q' " flags " 00000000 ce "
#define DECLARE_OK         "01 0001 0000000e 0032 000b 01 'q' 00000000 00000000 ce "
#define RETURNED           "01 0001 0000000b 003c 0032 0138 01 'n' 00 01 'q' ce "

/* A letter for the kind of each frame: "b" of the session, "." none; of a part its channel and tag,
 * or "+" and a number, and what it does. "#" where its content is known. */
static void say(GString *out, const Parsed *f)
{
        static const char letters[] = "?CRmi..bS";
        g_string_append_c(out, letters[f->kind]);
        if (f->keyed && KEY_GROUP(f->key) == 0xffff)
                g_string_append_printf(out, "+%u", (guint)f->key);
        else if (f->keyed)
                g_string_append_printf(out, "%u:%d", (guint)KEY_GROUP(f->key), (gint16)f->key);
        g_string_append_printf(out, "%s%s%s%s%s ", f->part & PART_BEGINS ? "b" : "",
                               f->part & PART_ENDS ? "e" : "", f->part & PART_ABORTS ? "a" : "",
                               f->part & PART_THROUGH ? "t" : "", f->carried.content ? "#" : "");
}

#define TALK                                                                                       \
        {                                                                                          \
                &protocol_amqp, say, g_string_new(NULL), { { 0 } }, NULL                           \
        }

static void check(const char *hex, const char *expected)
{
        check_frames(&protocol_amqp, hex, expected, say);
}

static void test_session(void)
{
        check(GREETING OPEN HEARTBEAT, "b b .");
        check(START HEARTBEAT, "b .");
        check(OPEN CONSUME("00") HEARTBEAT, "b b .");
        check(CONSUME_OK, "b");
}

static void test_publish(void)
{
        check(PUBLISH HEADER("0001", "03") BODY("0001"), "m+1b m+1 m+1e#");
        check(PUBLISH HEADER("0001", "06") BODY("0001") BODY("0001") PUBLISH HEADER("0001", "00"),
              "m+1b m+1 m+1 m+1e# m+2b m+2e#");
        /* With confirmations, from the first on. */
        check(SELECT PUBLISH HEADER("0001", "00") PUBLISH HEADER("0001", "00"),
              "b C1:1b C1:1e# C1:2b C1:2e#");
        check(RETURNED HEADER("0001", "00"), "m+1b m+1e#");
}

/* Contents of two channels in between each other; and what has no beginning. */
static void test_channels(void)
{
        check(PUBLISH PUBLISH2 HEADER("0002", "03") HEADER("0001", "03") BODY("0001") BODY("0002"),
              "m+1b m+2b m+2 m+1 m+1e# m+2e#");
        check(HEADER("0001", "03") BODY("0001") PUBLISH BODY("0001") HEADER("0001", "03")
                      HEADER("0001", "03") BODY("0001"),
              ". . m+1b . m+1 . m+1e#");
}

static void test_deliver(void)
{
        check(DELIVER("0001", "01") HEADER("0001", "03") BODY("0001"), "C1:1b C1:1 C1:1e#");
        check(DELIVER("0001", "01") DELIVER("0002", "01") HEADER("0002", "00"),
              "C1:1b C2:1b C2:1e#");
        check(CLOSE_OK, "C1:-1at");
}

static void test_settle(void)
{
        check(OPEN ACK("01", "00") ACK("05", "01") ACK("00", "01"), "b R1:1e R1:5et R1:-1et");
        check(REJECT("02", "01") NACK("04", "02") NACK("04", "03"), "R1:2e R1:4e R1:4et");
        /* Of a broker, about what was not seen. */
        check(CONSUME_OK ACK("01", "00"), "b .");
}

static void test_requests(void)
{
        check(GET GET_AUTOMATIC, "C+1be C+2be");
        check(DECLARE("02") DECLARE("10"), "C+1be m+2be");
        check(GET_EMPTY DECLARE_OK, ". .");
}

static void test_get(void)
{
        Talk t = TALK;
        talk(&t, 0, GET);
        talk(&t, 1, GET_EMPTY);
        talk(&t, 0, GET);
        talk(&t, 1, GET_OK HEADER("0001", "03") BODY("0001"));
        talk(&t, 0, ACK("07", "00") GET_AUTOMATIC);
        talk(&t, 1, GET_OK HEADER("0001", "03") BODY("0001"));
        talk_end(&t, "C+1be (get q) R+1e C+2be (get q) R+2e C1:7b C1:7e# R1:7e C+3be (get q) "
                     "R+3 R+3 R+3e");
}

/* Consumers that do not acknowledge; a request that comes to nothing; confirmations. */
static void test_both_sides(void)
{
        Talk t = TALK;
        talk(&t, 0, CONSUME("02"));
        talk(&t, 1, DELIVER("0001", "01") HEADER("0001", "00"));
        talk(&t, 0, CONSUME("00") SELECT PUBLISH);
        talk(&t, 1, DELIVER("0001", "02") HEADER("0001", "00") ACK("01", "00"));
        talk(&t, 0, DECLARE("01"));
        talk(&t, 1, CLOSE);
        talk(&t, 0, CLOSE_OK);
        talk(&t, 1, ACK("01", "00"));
        talk_end(&t,
                 "b m+1b m+1e# (deliver q) b b C1:1b (publish q) C1:2b C1:2e# R1:1e (deliver q) "
                 "C+2be (queue.declare q) R+2e C1:-1at .");
}

/* Of a consumer that began before the capture: a reply to a request without a queue is not
 * acknowledged, nor is what comes after 1,024 of which none was. */
static void test_unsettled(void)
{
        check("01 0001 00000028 003c 003c 01 't' 0000000000000001 00 00 17 "
              "'amq.rabbitmq.reply-to.x' ce " HEADER("0001", "00"),
              "m+1b m+1e#");
        for (guint settled = 0; settled <= 1024; settled += 512) {
                Talk t = TALK;
                for (guint i = 0; i < 1024; i++) {
                        talk(&t, 1, DELIVER("0001", "05") HEADER("0001", "00"));
                        if (i == settled)
                                talk(&t, 0, ACK("05", "00"));
                }
                g_string_truncate(t.out, 0);
                talk(&t, 1, DELIVER("0001", "06") HEADER("0001", "00"));
                talk(&t, 0, ACK("06", "00"));
                talk(&t, 1, DELIVER("0001", "07") HEADER("0001", "00"));
                talk_end(&t, settled < 1024
                                     ? "C1:6b C1:6e# (deliver q) R1:6e C1:7b C1:7e# (deliver q)"
                                     : "m+1b m+1e# (deliver q) R1:6e C1:7b C1:7e# (deliver q)");
        }
}

/* What a message asks for, by the property that names its type, a header, or a body that is a job.
 */
static void test_jobs(void)
{
        static const char *const jobs[] = {
                "02 0001 00000012 003c 0000 0000000000000000 0020 03 'pay' ce",
                "02 0001 00000036 003c 0000 0000000000000000 2000 00000024 "
                "03 'eta' 't' 01 04 'lang' 'S' 00000002 'py' 04 'task' 'S' 00000008 'shop.pay' ce",
                /* With a time, as RabbitMQ's plugin adds it, and an unknown field before the task.
                 */
                "02 0001 0000001a 003c 0000 0000000000000000 0060 0000000000000001 03 'pay' ce",
                "02 0001 00000020 003c 0000 0000000000000000 2000 0000000e 01 'x' 'q' 04 'task' "
                "'S' "
                "00000001 'y' ce",
                "02 0001 0000000e 003c 0000 000000000000000f 0000 ce 03 0001 0000000f "
                "'{\"class\":\"Pay\"}' ce",
                /* The header that the table of headers does not end in. */
                "02 0001 0000001f 003c 0000 0000000000000000 2000 000000ff 04 'task' 'S' 00000001 "
                "'y' "
                "0000 ce",
        };
        static const char *const labels[] = {
                "deliver q pay", "deliver q shop.pay", "deliver q pay",
                "deliver q",     "deliver q Pay",      "deliver q y",
        };
        for (guint i = 0; i < G_N_ELEMENTS(jobs); i++) {
                Talk t = TALK;
                g_autofree char *said = g_strconcat(DELIVER("0001", "01"), jobs[i], NULL);
                talk(&t, 1, said);
                g_assert_nonnull(strstr(t.out->str, labels[i]));
                g_assert_true(g_str_has_suffix(g_strchomp(t.out->str), ")"));
                g_assert_cmpuint(strlen(strchr(t.out->str, '(')), ==, strlen(labels[i]) + 2);
                talk_end(&t, t.out->str);
        }
}

static guint64 content_of(const char *hex)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        guint64 content = 0;
        gpointer memory = NULL;
        for (gsize at = 0; at < bytes->len && !content;) {
                Parsed parsed = { .memory = &memory };
                g_assert_cmpint(protocol_amqp.parse(state, CALL_NONE, bytes->data + at,
                                                    bytes->len - at, FALSE, NULL, &parsed),
                                ==, PARSE_MESSAGE);
                at += parsed.length;
                content = parsed.carried.content;
        }
        protocol_amqp.forget(memory);
        return content;
}

/* A delivery carries what was published, however it is cut into frames, whatever headers the broker
 * has added; another body, routing key or identifier is another content. */
static void test_content(void)
{
        guint64 content = content_of(PUBLISH HEADER("0001", "03") BODY("0001"));
        g_assert_cmpuint(content, !=, 0);
        g_assert_cmpuint(content, ==,
                         content_of(DELIVER("0001", "09") HEADER("0001", "03") BODY("0001")));
        g_assert_cmpuint(content, ==,
                         content_of(DELIVER("0001", "09") HEADER(
                                 "0001", "03") "03 0001 00000001 "
                                               "'a' ce 03 0001 00000002 'bc' ce"));
        g_assert_cmpuint(
                content, ==,
                content_of(DELIVER("0001", "09") "02 0001 00000016 003c 0000 "
                                                 "0000000000000003 2000 00000004 00000000 ce" BODY(
                                                         "0001")));
        g_assert_cmpuint(content, !=,
                         content_of(PUBLISH HEADER("0001", "03") "03 0001 00000003 'abd' ce"));
        g_assert_cmpuint(content, !=,
                         content_of("01 0001 0000000a 003c 0028 0000 00 01 'r' 00 ce " HEADER(
                                 "0001", "03") BODY("0001")));
        g_assert_cmpuint(content, !=,
                         content_of(PUBLISH "02 0001 00000011 003c 0000 0000000000000003 0080 02 "
                                            "'x1' ce" BODY("0001")));
}

static void test_not_amqp(void)
{
        static const char *const texts[] = {
                "'GET / HTTP/1.1' 0d0a",
                "'AMQP' 00 01 00 00",               /* 1.0 */
                "01 0000 00000005 0014 000a 00 ce", /* of a channel, on none */
                "01 0001 00000006 000a 000a 0009 ce",
                "01 0001 00000005 0014 000b 00 cf", /* another end, */
                "01 0001 00000005 0014 000c 00 ce", /* method, */
                "01 0001 00000003 0014 00 ce",      /* or too short */
                "02 0000 0000000e 003c 0000 0000000000000000 0000 ce",
                "02 0001 0000000e 003d 0000 0000000000000000 0000 ce",
                "03 0001 00000003 'abc' ce", /* a body can be anything */
                "08 0001 00000000 ce",
                "09 0000 00000000 ce",
                "",
        };
        for (guint i = 0; texts[i][0]; i++)
                check(texts[i], "!");
        check(OPEN "09 0000 00000000 ce", "b !");
        check(OPEN "01 0001 00000006 003c 0050 00000000 ce", "b !"); /* an acknowledgement, cut */
}

static void test_boundary(void)
{
        g_autoptr(GByteArray) bytes = hex_bytes("'abc' ce " ACK("01", "00"));
        g_autoptr(GByteArray) none = hex_bytes("'abcdefgh' ce");
        g_assert_cmpuint(protocol_amqp.find_boundary(bytes->data, bytes->len), ==, 4);
        g_assert_cmpuint(protocol_amqp.find_boundary(none->data, none->len), ==, none->len);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/amqp/session", test_session);
        g_test_add_func("/amqp/publish", test_publish);
        g_test_add_func("/amqp/channels", test_channels);
        g_test_add_func("/amqp/deliver", test_deliver);
        g_test_add_func("/amqp/settle", test_settle);
        g_test_add_func("/amqp/requests", test_requests);
        g_test_add_func("/amqp/get", test_get);
        g_test_add_func("/amqp/both-sides", test_both_sides);
        g_test_add_func("/amqp/unsettled", test_unsettled);
        g_test_add_func("/amqp/jobs", test_jobs);
        g_test_add_func("/amqp/content", test_content);
        g_test_add_func("/amqp/not-amqp", test_not_amqp);
        g_test_add_func("/amqp/boundary", test_boundary);
        return g_test_run();
}
