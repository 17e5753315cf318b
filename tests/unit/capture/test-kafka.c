/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/hash.h"
#include "capture/protocol/protocol.h"
#include "tests/unit/capture/hex.h"

/* What a side says, without the length in front. */
typedef struct {
        Sender sender;
        const char *hex;
} Said;

/* A conversation, of which both sides have their own state. */
typedef struct {
        GString *out;
        GString *label;
        GHashTable *names;
        GArray *contents; /* guint64: all that were seen, in order */
        gpointer memory;
        guint64 state[2][PROTOCOL_STATE_SIZE / 8];
} Talk;

static guint find_content(const Talk *t, guint64 content)
{
        guint i = 0;

        while (i < t->contents->len && g_array_index(t->contents, guint64, i) != content)
                i++;
        return i;
}

static void append_content(Talk *t, guint64 content, guint64 other)
{
        guint i = find_content(t, content);

        if (i == t->contents->len)
                i = find_content(t, other);
        if (i == t->contents->len)
                g_array_append_val(t->contents, content);
        g_string_append_printf(t->out, " #%u", i);
}

/* A letter for the kind, the id, "w", "n" or "s" for what it fetches, the label, the outcome, and
 * numbers for contents, the same for the same. */
static void append_message(Talk *t, const Parsed *begun, const Parsed *p)
{
        static const char letters[] = "?CRmi..bS", fetches[] = " nws";
        char outcome[OUTCOME_TEXT + 1];

        g_string_append_c(t->out, letters[begun->kind]);
        if (begun->keyed)
                g_string_append_printf(t->out, "%u", (guint)begun->key);
        if (begun->session)
                g_string_append(t->out, "(session)");
        if (p->carried.fetch)
                g_string_append_c(t->out, fetches[p->carried.fetch]);
        if (t->label->len > 0)
                g_string_append_printf(t->out, "(%s)", t->label->str);
        if (outcome_write(p->outcome, outcome) > 0)
                g_string_append_printf(t->out, " %s", outcome);
        for (guint i = 0; i < p->carried.n_contents; i++)
                append_content(t, p->carried.contents[i],
                               p->carried.contents_else ? p->carried.contents_else[i] : 0);
        if (p->carried.job)
                g_string_append_printf(t->out, " of %s", p->carried.job);
        g_string_append(t->out, "; ");
}

static GByteArray *framed(const char *hex)
{
        GByteArray *bytes = hex_bytes(hex);
        guint32 length = GUINT32_TO_BE(bytes->len);

        return g_byte_array_prepend(bytes, (const guint8 *)&length, sizeof length);
}

/* Shows what one side says in pieces of step bytes, of which the last are cut off. FALSE: refused.
 */
static gboolean show(Talk *t, const Said *said, gsize step, gsize cut)
{
        g_autoptr(GByteArray) bytes = framed(said->hex);
        guint side = said->sender == SENDER_SERVER;
        gsize n = bytes->len - MIN(cut, bytes->len);
        Parsed begun = { 0 };
        guint64 at = 0;

        g_string_truncate(t->label, 0);
        for (gsize shown = MIN(step, n);; shown = MIN(shown + step, n)) {
                while (at < shown) {
                        g_autofree guint8 *copy = g_memdup2(bytes->data + at, shown - at);
                        Parsed p = { .memory = &t->memory,
                                     .names = t->names,
                                     .other = t->state[!side],
                                     .cut = cut > 0 && shown == n,
                                     .sender = (guint8)said->sender };
                        ParseStatus status = protocol_kafka.parse(
                                t->state[side], CALL_NONE, copy, shown - at, FALSE,
                                begun.kind == KIND_UNKNOWN ? t->label : NULL, &p);

                        if (status == PARSE_NOT_MINE)
                                return FALSE;
                        if (begun.kind == KIND_UNKNOWN)
                                begun = p;
                        at += p.length;
                        if (status == PARSE_MORE)
                                break;
                        append_message(t, &begun, &p);
                        begun = (Parsed){ 0 };
                        g_string_truncate(t->label, 0);
                }
                if (shown == n)
                        return TRUE;
        }
}

static char *talk(const Said *said, guint n, gsize step, gsize cut)
{
        Talk t = { .out = g_string_new(NULL),
                   .label = g_string_new(NULL),
                   .names = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, g_free),
                   .contents = g_array_new(FALSE, FALSE, sizeof(guint64)) };

        for (guint i = 0; i < n; i++)
                if (!show(&t, &said[i], step, cut)) {
                        g_string_append_c(t.out, '!');
                        break;
                }
        if (t.memory)
                protocol_kafka.forget(t.memory);
        g_hash_table_destroy(t.names);
        g_array_free(t.contents, TRUE);
        g_string_free(t.label, TRUE);
        g_strchomp(t.out->str);
        return g_string_free(t.out, FALSE);
}

static void check(const Said *said, guint n, const char *expected)
{
        for (gsize step = 1; step <= 400; step++) {
                g_autofree char *got = talk(said, n, step, 0);

                g_assert_cmpstr(got, ==, expected);
        }
}

#define CHECK(expected, ...)                                                                       \
        check((const Said[]){ __VA_ARGS__ }, sizeof(Said[]){ __VA_ARGS__ } / sizeof(Said), expected)
#define ASK    SENDER_CLIENT,
#define ANSWER SENDER_SERVER,

#define ID "00112233445566778899aabbccddeeff "

/* Of a batch, up to its number of records: the flags, the last offset in it, its producer. */
#define BATCH(flags, last, producer, n)                                                            \
        "0000003d 00000000 02 12345678 " flags last "0000018000000000 0000018000000000 " producer  \
        "0000 00000000 " n "'records.....' "
#define NOBODY     "ffffffffffffffff "
#define THREE      BATCH("0000 ", "00000002 ", NOBODY, "00000003 ")
#define ONE        BATCH("0000 ", "00000000 ", NOBODY, "00000001 ")
#define MARKER     BATCH("0030 ", "00000000 ", "0000000000000007 ", "00000001 ")
#define IN_TXN     BATCH("0010 ", "00000001 ", "0000000000000007 ", "00000002 ")
#define AT(offset) "00000000000000" offset " "

#define SIZE_1 "00000049 "
#define SIZE_2 "00000092 "

#define PRODUCE(id, acks)                                                                          \
        "0000 0007 " id "0002 'me' ffff " acks "00007530 00000001 0006 'orders' 00000001 "         \
        "00000000 "
#define PRODUCED(error, offset)                                                                    \
        "00000001 00000001 0006 'orders' 00000001 00000000 " error offset NOBODY                   \
        "0000000000000000 00000000 "
#define FETCH(id)                                                                                  \
        "0001 0004 " id "0002 'me' ffffffff 000001f4 00000001 00100000 00 00000001 0006 'orders' " \
        "00000001 00000000 0000000000000041 00100000"
#define FETCHED(id, error, aborted)                                                                \
        id "00000000 00000001 0006 'orders' 00000001 00000000 " error NOBODY NOBODY aborted

/* The first record of the batch was fetched before; of the last batch there is only the beginning.
 */
static void test_link(void)
{
        CHECK("C1(Produce orders) #0; R1 #1; C2w(Fetch orders); R2 #1 #1 #2 of orders;",
              { ASK PRODUCE("00000001 ", "0001 ") SIZE_1 AT("00") THREE },
              { ANSWER PRODUCED("0000 ", AT("40")) }, { ASK FETCH("00000002 ") },
              { ANSWER FETCHED("00000002 ", "0000 ", "ffffffff ") SIZE_2 AT("40") THREE AT("43")
                        ONE });
        CHECK("C2w(Fetch orders); R2 #0 of orders;", { ASK FETCH("00000002 ") },
              { ANSWER FETCHED("00000002 ", "0000 ", "ffffffff ") "00000053 " AT("41")
                        ONE AT("42") "0000" });
}

/* Without an answer, and with one that comes later, the header of the batch is what links. */
static void test_link_by_header(void)
{
        CHECK("m(Produce orders) #0; C2w(Fetch orders); R2 #0 #0 #0 of orders;",
              { ASK PRODUCE("00000001 ", "0000 ") SIZE_1 AT("00") THREE },
              { ASK FETCH("00000002 ") },
              { ANSWER FETCHED("00000002 ", "0000 ", "ffffffff ") SIZE_1 AT("41") THREE });
        CHECK("C1(Produce orders) #0; C2w(Fetch orders); R2 #0 of orders;",
              { ASK PRODUCE("00000001 ",
                            "0001 ") "0000001c " AT("00") "00000010 12345678 00 00 ffffffff "
                                                          "00000002 'hi'" },
              { ASK FETCH("00000002 ") },
              { ANSWER FETCHED("00000002 ", "0000 ", "ffffffff ") "0000001c " AT(
                      "41") "00000010 12345678 00 00 ffffffff 00000002 'hi'" });
}

/* Records of an aborted transaction are left out until its control batch, which has no records. */
static void test_transactions(void)
{
        CHECK("C2w(Fetch orders); R2 #0 #0 of orders;", { ASK FETCH("00000002 ") },
              { ANSWER FETCHED("00000002 ", "0000 ",
                               "00000001 0000000000000007 0000000000000041 ") "00000124 " AT("41")
                        IN_TXN AT("43") MARKER AT("44") IN_TXN AT("46") MARKER });
        CHECK("C2w(Fetch orders); R2 #0 #0 #1 #1 of orders;", { ASK FETCH("00000002 ") },
              { ANSWER FETCHED("00000002 ", "0000 ", "ffffffff ") "00000124 " AT("41")
                        IN_TXN AT("43") MARKER AT("44") IN_TXN AT("46") MARKER });
}

static void test_outcomes(void)
{
        CHECK("C1(Produce orders) #0; R1 KAFKA6; C2w(Fetch orders); R2 KAFKA1;",
              { ASK PRODUCE("00000001 ", "ffff ") SIZE_1 AT("00") ONE },
              { ANSWER PRODUCED("0006 ", NOBODY) }, { ASK FETCH("00000002 ") },
              { ANSWER FETCHED("00000002 ", "0001 ", "ffffffff ") "ffffffff" });
        CHECK("C5s(Heartbeat); R5 KAFKA27; C6s(OffsetCommit); R6 SERVER_ERROR;",
              { ASK "000c 0003 00000005 0002 'me' 0001 'g' 00000001 0001 'm' ffff" },
              { ANSWER "00000005 00000000 001b" },
              { ASK
                "0008 0002 00000006 0002 'me' 0001 'g' 00000001 0001 'm' ffffffffffffffff 00000001 "
                "0006 "
                "'orders' 00000002 00000000 0000000000000007 ffff 00000001 0000000000000008 ffff" },
              { ANSWER "00000006 00000001 0006 'orders' 00000002 00000000 0000 00000001 ffff" });
}

/* The versions that are flexible, in which topics have ids. */
static void test_flexible(void)
{
        CHECK("C1(session)(ApiVersions); R1; C2(Metadata); R2; C3w(Fetch orders); R3 #0 of orders;",
              { ASK "0012 0003 00000001 0002 'me' 00 03 'me' 02 '1' 00" },
              { ANSWER "00000001 0000 02 0001 0000 000d 00 00000000 00" },
              { ASK "0003 000c 00000002 0002 'me' 00 02 00000000000000000000000000000000 07 "
                    "'orders' 00 01 "
                    "00 00" },
              { ANSWER "00000002 00 00000000 02 00000000 06 'there' 00002384 00 00 02 'c' 00000000 "
                       "02 0000 07 "
                       "'orders' " ID
                       "00 02 0000 00000000 00000000 00000000 02 00000000 02 00000000 01 00 "
                       "80000000 00 00" },
              { ASK
                "0001 000d 00000003 0002 'me' 00 ffffffff 000001f4 00000001 00100000 00 00000000 "
                "ffffffff 02 " ID "02 00000000 ffffffff 0000000000000041 ffffffff ffffffffffffffff "
                "00100000 00 00 01 01 00" },
              { ANSWER "00000003 00 00000000 0000 00000000 02 " ID
                       "02 00000000 0000 " NOBODY NOBODY NOBODY "00 ffffffff 4a " AT("41") ONE
                "00 00 00" });
}

/* Nobody knows the topic by its id. */
static void test_unknown_topic(void)
{
        CHECK("C3w(Fetch); R3 #0;",
              { ASK
                "0001 000d 00000003 0002 'me' 00 ffffffff 000001f4 00000001 00100000 00 00000000 "
                "ffffffff 02 " ID "02 00000000 ffffffff 0000000000000041 ffffffff ffffffffffffffff "
                "00100000 00 00 01 01 00" },
              { ANSWER "00000003 00 00000000 0000 00000000 02 " ID
                       "02 00000000 0000 " NOBODY NOBODY NOBODY "00 ffffffff 4a " AT("41") ONE
                "00 00 00" });
}

/* Tokens of SASL between the handshake of version 0 and the next request. */
static void test_sasl(void)
{
        CHECK("C1(session)(SaslHandshake); R1; b; b; C2(FindCoordinator); R2 KAFKA15;",
              { ASK "0011 0000 00000001 0002 'me' 0005 'PLAIN'" },
              { ANSWER "00000001 0000 00000001 0005 'PLAIN'" }, { ASK "00 'user' 00 'secret'" },
              { ANSWER "" }, { ASK "000a 0000 00000002 0002 'me' 0001 'g'" },
              { ANSWER "00000002 000f ffffffff 0000 ffffffff" });
}

/* A response to a request from before the capture, and bytes that are none. */
static void test_unseen(void)
{
        CHECK("C5s(Heartbeat); R4; R5;",
              { ASK "000c 0000 00000005 0002 'me' 0001 'g' 00000001 0001 'm'" },
              { ANSWER "00000004 0000" }, { ANSWER "00000005 0000" });
        CHECK("C5s(Heartbeat); !",
              { ASK "000c 0000 00000005 0002 'me' 0001 'g' 00000001 0001 'm'" },
              { ANSWER "00000006 0000" });
        CHECK("!", { ANSWER "00000004 0000" });
}

/* Of what was cut off only the length is known. */
static void test_cut(void)
{
        static const Said said[] = { { ASK PRODUCE("00000001 ", "0001 ") SIZE_1 AT("00") THREE },
                                     { ANSWER PRODUCED("0000 ", AT("40")) },
                                     { ASK FETCH("00000002 ") },
                                     { ANSWER FETCHED("00000002 ", "0000 ", "ffffffff ")
                                               SIZE_1 AT("40") THREE } };

        for (gsize cut = 1; cut <= 36; cut++) {
                g_autofree char *got = talk(said, 4, 400, cut);
                g_auto(GStrv) words = g_strsplit(got, "; ", -1);

                g_assert_cmpuint(g_strv_length(words), ==, 4);
                g_assert_true(g_str_has_prefix(words[0], "C1(Produce orders)"));
                g_assert_true(g_str_has_prefix(words[1], "R1"));
                g_assert_true(g_str_has_prefix(words[2], "C2w(Fetch"));
                g_assert_true(g_str_has_prefix(words[3], "R2"));
        }
}

static ParseStatus probe(const char *hex)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { 0 };

        return protocol_kafka.parse(state, CALL_PROBE, bytes->data, bytes->len, FALSE, NULL,
                                    &parsed);
}

/* Only requests whose fields are all as they should be. */
static void test_recognised(void)
{
        g_assert_cmpint(probe("00000016 000c 0000 00000005 0002 'me' 0001 'g' 00000001 0001 'm'"),
                        ==, PARSE_MESSAGE);
        g_assert_cmpint(probe("00000010 0012 0000"), ==, PARSE_MORE);
        g_assert_cmpint(
                probe("00000017 000c 0000 00000005 0002 'me' 0001 'g' 00000001 0001 'm' 00"), ==,
                PARSE_NOT_MINE);
        g_assert_cmpint(probe("00000016 000c 0005 00000005 0002 'me' 0001 'g' 00000001 0001 'm'"),
                        ==, PARSE_NOT_MINE);
        g_assert_cmpint(probe("00000006 00000005 0000"), ==, PARSE_NOT_MINE); /* a response */
        g_assert_cmpint(
                probe("0000002c 00000000 0000000000000000 00007530 0000000000000000 00000010 "
                      "00000000000000000000000000000000"),
                ==, PARSE_NOT_MINE); /* ZooKeeper */
        /* The rest of a request that is longer than a segment. */
        g_assert_cmpint(
                probe("00100000 0000 0007 00000001 0002 'me' ffff 0001 00007530 00000001 0006 "
                      "'orders' 00000001 00000000 000f0000 "),
                ==, PARSE_MESSAGE);
}

static void test_boundary(void)
{
        g_autoptr(GByteArray) bytes =
                hex_bytes("'...' 00000016 000c 0000 00000005 0002 'me' 0001 'g' 00000001 0001 'm'");

        g_assert_cmpuint(protocol_kafka.find_boundary(bytes->data, bytes->len), ==, 3);
        g_assert_cmpuint(protocol_kafka.find_boundary(bytes->data, 20), ==, 20);
        g_assert_cmpuint(protocol_kafka.find_boundary((const guint8 *)"\0\0\0\6\0\0\0\5\0\0", 10),
                         ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/kafka/link", test_link);
        g_test_add_func("/kafka/link-by-header", test_link_by_header);
        g_test_add_func("/kafka/transactions", test_transactions);
        g_test_add_func("/kafka/outcomes", test_outcomes);
        g_test_add_func("/kafka/flexible", test_flexible);
        g_test_add_func("/kafka/unknown-topic", test_unknown_topic);
        g_test_add_func("/kafka/sasl", test_sasl);
        g_test_add_func("/kafka/unseen", test_unseen);
        g_test_add_func("/kafka/cut", test_cut);
        g_test_add_func("/kafka/recognised", test_recognised);
        g_test_add_func("/kafka/boundary", test_boundary);
        return g_test_run();
}
