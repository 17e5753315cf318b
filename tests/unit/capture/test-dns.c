/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-pieces.h"

static ParseStatus parse(const char *bytes, gsize n, gboolean whole, Parsed *parsed, GString *label)
{
        g_autofree guint8 *copy = g_memdup2(bytes, n);
        memset(parsed, 0, sizeof *parsed);
        return protocol_dns.parse(NULL, CALL_NONE, copy, n, whole, label, parsed);
}

#define QUESTION "\3www\7example\3com\0\0\x1c\0\1"
#define QUERY    "\xab\xcd\1\0\0\1\0\0\0\0\0\0" QUESTION
#define ANSWER                                                                                     \
        "\xab\xcd\x81\x80\0\1\0\1\0\0\0\0" QUESTION "\xc0\x0c\0\x1c\0\1\0\0\0\x3c\0\x10"           \
        "0123456789abcdef"

static void test_query(void)
{
        Parsed parsed;
        g_autoptr(GString) label = g_string_new(NULL);
        g_assert_cmpint(parse(QUERY, sizeof QUERY - 1, TRUE, &parsed, label), ==, PARSE_MESSAGE);
        g_assert_cmpint(parsed.kind, ==, KIND_CALL);
        g_assert(parsed.keyed);
        g_assert_cmpuint(parsed.key, ==, 0xabcd);
        g_assert_cmpuint(parsed.length, ==, sizeof QUERY - 1);
        g_assert_cmpstr(label->str, ==, "DNS AAAA");
}

static void test_answer(void)
{
        Parsed parsed;
        gsize n = sizeof ANSWER - 1;
        g_assert_cmpint(parse(ANSWER, n, TRUE, &parsed, NULL), ==, PARSE_MESSAGE);
        g_assert_cmpint(parsed.kind, ==, KIND_RETURN);
        g_assert_cmpuint(parsed.key, ==, 0xabcd);
        /* cut short: only where the capture did it */
        for (; n >= 12; n--) {
                g_assert_cmpint(parse(ANSWER, n - 1, TRUE, &parsed, NULL), ==, PARSE_NOT_MINE);
                g_assert_cmpint(parse(ANSWER, n, FALSE, &parsed, NULL), ==, PARSE_MESSAGE);
                g_assert_cmpint(parsed.kind, ==, KIND_RETURN);
                g_assert_cmpuint(parsed.key, ==, 0xabcd);
        }
}

static void test_not_dns(void)
{
        static const struct {
                const char *bytes;
                gsize n;
        } datagrams[] = {
#define BYTES(text) { text, sizeof text - 1 }
                BYTES(""),
                BYTES("\xab\xcd\1\0\0\1\0\0\0\0\0"),
                BYTES("\xab\xcd\1\0\0\0\0\0\0\0\0\0"),                   /* no question */
                BYTES("\xab\xcd\1\0\0\2\0\0\0\0\0\0" QUESTION QUESTION), /* two */
                BYTES("\xab\xcd\1\0\0\1\0\0\0\0\0\0\3w w\0\0\1\0\1x"),   /* and more, of no host */
                BYTES("\xab\xcd\1\0\0\1\0\0\0\0\0\0\xc0\x0c\0\1\0\1x"),  /* by reference */
                BYTES("\xab\xcd\1\x10\0\1\0\0\0\0\0\0 CKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\0"
                      "\0\x21\0\1"),                                    /* NetBIOS */
                BYTES("\xab\xcd\1\0\0\1\0\0\0\0\0\0\x40www\0\0\1\0\1"), /* a label of 64 */
                BYTES("\xab\xcd\1\0\0\1\0\0\0\0\0\0\3www\0\0\1\0\x77"), /* no such class */
                BYTES("\xab\xcd\x7f\0\0\1\0\0\0\0\0\0" QUESTION),       /* no such opcode */
                BYTES("GET / HTTP/1.1\r\n\r\n"),
#undef BYTES
        };
        Parsed parsed;
        for (guint i = 0; i < G_N_ELEMENTS(datagrams); i++)
                g_assert_cmpint(parse(datagrams[i].bytes, datagrams[i].n, TRUE, &parsed, NULL), ==,
                                PARSE_NOT_MINE);
}

/* Bytes after the message, and what tells two questions apart. */
static void test_datagram(void)
{
        static const char other[] = "\xab\xcd\1\0\0\1\0\0\0\0\0\0\3www\7example\3com\0\0\1\0\1";
        static const char loud[] = "\xab\xcd\1\0\0\1\0\0\0\0\0\0\3WWW\7Example\3com\0\0\x1c\0\1";
        Parsed query, parsed;
        g_assert_cmpint(parse(QUERY "\0\0", sizeof QUERY + 1, TRUE, &query, NULL), ==,
                        PARSE_MESSAGE);
        g_assert_cmpuint(query.length, ==, sizeof QUERY + 1);
        g_assert_cmpint(parse(ANSWER "x", sizeof ANSWER, TRUE, &parsed, NULL), ==, PARSE_MESSAGE);
        g_assert_cmpuint(parsed.topic, ==, query.topic);
        parse(loud, sizeof loud - 1, TRUE, &parsed, NULL);
        g_assert_cmpuint(parsed.topic, ==, query.topic);
        g_assert_cmpuint(parsed.topic, !=, 0);
        parse(other, sizeof other - 1, TRUE, &parsed, NULL);
        g_assert_cmpuint(parsed.topic, !=, query.topic);
        parse(QUERY, sizeof QUERY - 3, FALSE, &parsed, NULL); /* cut */
        g_assert_cmpuint(parsed.topic, ==, 0);
}

#define STREAM       protocol_dns_stream
#define TCP_QUERY    "\0\x21" QUERY
#define TCP_ANSWER   "\0\x3d" ANSWER
#define AXFR         "\0\x19\xab\xce\0\0\0\1\0\0\0\0\0\0\7example\0\0\xfc\0\1"
#define RECORD(type) "\xc0\x0c\0" type "\0\1\0\0\0\x3c\0\2ab"
#define ZONE_BEGINS  "\0\x27\xab\xce\x84\0\0\1\0\1\0\0\0\0\7example\0\0\xfc\0\1" RECORD("\6")
#define ZONE_ENDS    "\0\x28\xab\xce\x84\0\0\0\0\2\0\0\0\0" RECORD("\2") RECORD("\6")
#define REFUSED      "\0\x19\xab\xce\x84\5\0\1\0\0\0\0\0\0\7example\0\0\xfc\0\1"

static void test_stream(void)
{
        CHECK(STREAM, TCP_QUERY TCP_QUERY, CALL_NONE, "C35 C70");
        CHECK(STREAM, TCP_ANSWER TCP_ANSWER, CALL_NONE, "R63 R126");
        CHECK(STREAM, "\0\x0b", CALL_NONE, "!");
        CHECK(STREAM, "\0\x20" QUERY, CALL_NONE, "!");
        CHECK(STREAM, "\1\x20" QUERY, CALL_NONE, "+");
        CHECK_LABELS(STREAM, TCP_QUERY AXFR, "DNS AAAA,DNS AXFR,");
        g_assert_true(RECOGNISED(STREAM, TCP_QUERY));
        g_assert_true(RECOGNISED(STREAM, TCP_ANSWER));
        g_assert_false(RECOGNISED(STREAM, "GET / HTTP/1.1\r\n\r\n"));
        g_assert_cmpuint(BOUNDARY(STREAM, "xyz" TCP_QUERY), ==, 3);
        g_assert_cmpuint(BOUNDARY(STREAM, "xyz"), ==, 3);
}

static void test_transfer(void)
{
        guint8 call = CALL_OF(STREAM, AXFR);
        CHECK(STREAM, ZONE_BEGINS ZONE_ENDS REFUSED, call, "R83 R110");
        CHECK(STREAM, ZONE_BEGINS, call, "+");
        CHECK(STREAM, REFUSED, call, "R27");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/dns/query", test_query);
        g_test_add_func("/dns/answer", test_answer);
        g_test_add_func("/dns/not-dns", test_not_dns);
        g_test_add_func("/dns/datagram", test_datagram);
        g_test_add_func("/dns/stream", test_stream);
        g_test_add_func("/dns/transfer", test_transfer);
        return g_test_run();
}
