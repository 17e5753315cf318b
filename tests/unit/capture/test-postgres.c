/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/statements.h"
#include "tests/unit/capture/parse-pieces.h"

#define PG protocol_postgres

enum { PLAIN = 1 };

#define STARTUP "\0\0\0\x13\0\3\0\0user\0shop\0\0"
#define SSL     "\0\0\0\x08\4\xd2\x16\x2f"
#define CANCEL                                                                                     \
        "\0\0\0\x10\4\xd2\x16\x2e"                                                                 \
        "12345678"
#define QUERY     "Q\0\0\0\x0dSELECT 1\0"
#define PARSE     "P\0\0\0\x10\0SELECT 1\0\0\0"
#define BIND      "B\0\0\0\x0c\0\0\0\0\0\0\0\0"
#define EXECUTE   "E\0\0\0\x09\0\0\0\0\0"
#define FLUSH     "H\0\0\0\4"
#define SYNC      "S\0\0\0\4"
#define TERMINATE "X\0\0\0\4"
#define DATA                                                                                       \
        "d\0\0\0\6"                                                                                \
        "1\n"
#define DONE     "c\0\0\0\4"
#define FAIL     "f\0\0\0\5\0"
#define PASSWORD "p\0\0\0\6x\0"

static void test_calls(void)
{
        CHECK(PG, QUERY QUERY, CALL_NONE, "C14 C28");
        CHECK(PG, PARSE BIND EXECUTE SYNC BIND EXECUTE SYNC, CALL_NONE, "C45 C73");
        CHECK(PG, PARSE FLUSH BIND EXECUTE SYNC SYNC, CALL_NONE, "C50 C55");
        CHECK(PG, QUERY "F\0\0\0\6\0\0" TERMINATE, CALL_NONE, "C14 C21 b26");
        CHECK(PG, "Q\0\0\1\0SELECT", CALL_NONE, "C257");
        CHECK(PG, PARSE BIND, CALL_NONE, "+");
        CHECK(PG, QUERY "q\0\0\0\4", CALL_NONE, "C14 !");
        CHECK(PG, QUERY "Q\0\0\0\3", CALL_NONE, "C14 !");
        CHECK(PG, QUERY "Q\xff\0\0\3", CALL_NONE, "C14 !");
}

static void test_sessions(void)
{
        CHECK(PG, SSL STARTUP PASSWORD QUERY, CALL_NONE, "C8 C27 .34 C48");
        CHECK(PG, CANCEL, CALL_NONE, "m16");
        CHECK(PG,
              "R\0\0\0\x08\0\0\0\3R\0\0\0\x08\0\0\0\0S\0\0\0\x08"
              "a\0b\0"
              "Z\0\0\0\5I",
              PLAIN, "R33");
        CHECK(PG, "N", CALL_OF(PG, SSL), "R1");
        CHECK(PG, "S", CALL_OF(PG, SSL), "R1s");
        CHECK(PG, "\0\0\0\x08\0\3\0\1", CALL_NONE, "!");
}

#define ROW     "D\0\0\0\x0b\0\1\0\0\0\1x"
#define TAG     "C\0\0\0\x0dSELECT 1\0"
#define READY   "Z\0\0\0\5I"
#define NOTICE  "N\0\0\0\5\0"
#define NOTIFY  "A\0\0\0\x0c\0\0\0\1c\0x\0"
#define ERROR   "E\0\0\0\x0bSERROR\0"
#define COPY_IN "G\0\0\0\7\0\0\0"

static void test_returns(void)
{
        CHECK(PG, "T\0\0\0\6\0\0" ROW ROW TAG READY TAG READY, PLAIN, "R51 R71");
        CHECK(PG, "1\0\0\0\0042\0\0\0\4" ROW TAG READY, PLAIN, "R42");
        CHECK(PG, NOTICE TAG READY, PLAIN, ".6 R26");
        CHECK(PG, NOTIFY NOTIFY, CALL_NONE, "m13 m26");
        CHECK(PG, COPY_IN TAG READY, PLAIN, "R28");
        CHECK(PG, "W\0\0\0\7\0\0\0" DATA DATA DONE TAG READY QUERY, PLAIN,
              "R8 m15 m22 .27 .41 .47 !");
        CHECK(PG, ROW, PLAIN, "+");
}

/* A return says whether a transaction is open after it. */
static void test_transactions(void)
{
        CHECK(PG, TAG "Z\0\0\0\5T" TAG "Z\0\0\0\5T" TAG "Z\0\0\0\5E" TAG READY, PLAIN,
              "R20t R40t R60t R80");
        /* Of a statement that was parsed, as if one were, but not where it was bound, or in vain.
         */
        CHECK(PG, "1\0\0\0\4n\0\0\0\4" READY "2\0\0\0\4" TAG READY, PLAIN, "R16t R41");
        CHECK(PG, "1\0\0\0\4" ERROR READY, PLAIN, "R23");
}

static void test_copy(void)
{
        CHECK(PG, QUERY DATA DONE QUERY, CALL_NONE, "C14 .21 .26 C40");
        CHECK(PG, QUERY DATA FAIL QUERY, CALL_NONE, "C14 .21 .27 C41");
        CHECK(PG, PARSE BIND EXECUTE SYNC DATA DONE SYNC QUERY, CALL_NONE, "C45 .52 .57 .62 C76");
        CHECK(PG, PARSE EXECUTE FLUSH DATA DONE SYNC, CALL_NONE, "C49");
}

static void test_eof(void)
{
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { 0 };
        const guint8 *bytes = (const guint8 *)ERROR;
        g_assert_cmpint(PG.parse(state, PLAIN, bytes, sizeof ERROR - 1, FALSE, NULL, &parsed), ==,
                        PARSE_MORE);
        parsed = (Parsed){ 0 };
        g_assert_cmpint(PG.parse(state, PLAIN, bytes, 0, TRUE, NULL, &parsed), ==, PARSE_MESSAGE);
        g_assert_cmpint(parsed.kind, ==, KIND_RETURN);
}

static void test_labels(void)
{
        CHECK_LABELS(PG, "Q\0\0\0\x14SELECT x FROM t\0", "SELECT t,");
        CHECK_LABELS(PG,
                     "P\0\0\0\x17"
                     "s\0DELETE FROM t;\0\0\0" SYNC,
                     "DELETE t,");
        CHECK_LABELS(PG, PARSE SYNC BIND EXECUTE SYNC STARTUP, "SELECT,EXECUTE,,");
}

#define PARSE_AS(name) "P\0\0\0\x18" name "\0SELECT 1 FROM t\0\0\0"
#define BIND_TO(name)  "B\0\0\0\x0d\0" name "\0\0\0\0\0\0\0"
#define CLOSE_OLD      "C\0\0\0\7Sx\0"

/* The statement is sent once, wherever in a call, and only named later. */
static void test_named_statements(void)
{
        CHECK_LABELS(PG,
                     PARSE_AS("a") BIND_TO("a") EXECUTE SYNC BIND_TO("a") EXECUTE SYNC BIND_TO("b")
                             EXECUTE SYNC,
                     "SELECT t,SELECT t,EXECUTE,");
        CHECK_LABELS(PG, QUERY CLOSE_OLD PARSE_AS("a") SYNC BIND_TO("a") EXECUTE SYNC BIND SYNC,
                     "SELECT,,SELECT t,EXECUTE,");
}

/* Of more than 2,048, the oldest is forgotten. */
static void test_statements(void)
{
        Statements *s = NULL;

        for (guint64 name = 0; name < 2049; name++)
                statements_put(&s, name, "SELECT t");
        statements_put(&s, 5, "SELECT u");
        g_assert_null(statements_lookup(s, 0));
        g_assert_cmpstr(statements_lookup(s, 1), ==, "SELECT t");
        g_assert_cmpstr(statements_lookup(s, 5), ==, "SELECT u");
        g_assert_cmpstr(statements_lookup(s, 2048), ==, "SELECT t");
        statements_free(s);
}

static void test_recognised(void)
{
        g_assert_true(RECOGNISED(PG, STARTUP));
        g_assert_true(RECOGNISED(PG, SSL));
        g_assert_true(RECOGNISED(PG, CANCEL));
        g_assert_true(RECOGNISED(PG, QUERY));
        g_assert_true(RECOGNISED(PG, PARSE BIND));
        g_assert_true(RECOGNISED(PG, BIND));
        g_assert_true(RECOGNISED(PG, "Q\0\0\1\0SELECT a_long_column"));
        g_assert_true(RECOGNISED(PG, "X\0\0\0\4"));
        g_assert_false(RECOGNISED(PG, "X\0\0\0"));
        g_assert_false(RECOGNISED(PG, "X\0\0\0\4X"));
        g_assert_false(RECOGNISED(PG, "X\0\0\0\5"));
        g_assert_false(RECOGNISED(PG, "Q\0\0\1\0SEL"));
        g_assert_false(RECOGNISED(PG, "Q\0\0\0\x0dS\1LECT 1\0"));
        g_assert_false(RECOGNISED(PG, "Q\0\0\0\x0dSELECT 12"));
        g_assert_false(RECOGNISED(PG, "Q\0\0\0\x0d"
                                      "EHLO xyz\0"));
        g_assert_false(RECOGNISED(PG, "P\0\0\0\x10\0SELECT 1\0\0\1"));
        g_assert_false(RECOGNISED(PG, "B\0\0\0\x0c\0\0\0\0\0\1\0\0"));
        g_assert_false(RECOGNISED(PG, EXECUTE SYNC));
        g_assert_false(RECOGNISED(PG, TAG READY));
        g_assert_false(RECOGNISED(PG, "POST / HTTP/1.1\r\n\r\n"));
        g_assert_false(RECOGNISED(PG, "\0\0\0\x08\4\xd2\x16\x31"));
        g_assert_false(RECOGNISED(PG, "\0\0\0\x13\0\3\0\0\1ser\0shop\0\0"));
}

static void test_find_boundary(void)
{
        g_assert_cmpuint(BOUNDARY(PG, TAG READY), ==, 0);
        g_assert_cmpuint(BOUNDARY(PG, "xx" READY TAG), ==, 8);
        g_assert_cmpuint(BOUNDARY(PG, "xx" QUERY), ==, 2);
        g_assert_cmpuint(BOUNDARY(PG, "xx" SYNC EXECUTE), ==, 7);
        g_assert_cmpuint(BOUNDARY(PG, "no"), ==, 2);
        g_assert_cmpuint(BOUNDARY(PG, ""), ==, 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/postgres/calls", test_calls);
        g_test_add_func("/postgres/sessions", test_sessions);
        g_test_add_func("/postgres/returns", test_returns);
        g_test_add_func("/postgres/transactions", test_transactions);
        g_test_add_func("/postgres/copy", test_copy);
        g_test_add_func("/postgres/eof", test_eof);
        g_test_add_func("/postgres/labels", test_labels);
        g_test_add_func("/postgres/named-statements", test_named_statements);
        g_test_add_func("/postgres/statements", test_statements);
        g_test_add_func("/postgres/recognised", test_recognised);
        g_test_add_func("/postgres/find-boundary", test_find_boundary);
        return g_test_run();
}
