/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-pieces.h"

#define MYSQL protocol_mysql

enum { OK = 1 };

#define ZEROS19 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define GREETING                                                                                   \
        "\x2a\0\0\0\x0a"                                                                           \
        "8.0\0\1\0\0\0"                                                                            \
        "12345678\0"                                                                               \
        "\0\0\0\0\0\0\0\0\0\0"                                                                     \
        "\0\0\0\0\0\0\0\0\0\0"
#define LOGIN   "\x26\0\0\1\0\2\0\0\0\0\0\1\x2d" ZEROS19 "\0\0\0\0root\0\0"
#define PACKED  "\x26\0\0\1\x20\2\0\0\0\0\0\1\x2d" ZEROS19 "\0\0\0\0root\0\0"
#define TLS     "\x20\0\0\1\0\x0a\0\0\0\0\0\1\x2d" ZEROS19 "\0\0\0\0"
#define QUERY   "\x09\0\0\0\3SELECT 1"
#define PREPARE "\x09\0\0\0\x16SELECT ?"
#define EXECUTE "\x0a\0\0\0\x17\1\0\0\0\0\1\0\0\0"
#define LONG    "\x07\0\0\0\x18\1\0\0\0\0\0"
#define CLOSE   "\5\0\0\0\x19\1\0\0\0"
#define PING    "\1\0\0\0\x0e"
#define QUIT    "\1\0\0\0\1"
#define RESET   "\1\0\0\0\x1f"
#define CHANGE_USER                                                                                \
        "\x2d\0\0\0\x11me\0\x14"                                                                   \
        "01234567890123456789me\0\x2d\0native_password"

static void test_commands(void)
{
        CHECK(MYSQL, QUERY QUERY PING, CALL_NONE, "C13 C26 C31");
        CHECK(MYSQL, PREPARE LONG EXECUTE CLOSE QUIT, CALL_NONE, "C13 m24 C38 m47 b52");
        CHECK(MYSQL,
              QUERY "\3\0\0\2"
                    "a,b"
                    "\0\0\0\3" PING,
              CALL_NONE, "C13 .20 .24 C29");
        CHECK(MYSQL, QUERY "\1\0\0\0\x77", CALL_NONE, "C13 !");
        CHECK(MYSQL, "\x20\0\0\0\3SELECT", CALL_NONE, "+");
}

static void test_login(void)
{
        guint8 login = CALL_OF(MYSQL, LOGIN), packed = CALL_OF(MYSQL, PACKED);
        CHECK(MYSQL, LOGIN "\2\0\0\3xy" QUERY, CALL_NONE, "C42 .48 C61");
        CHECK(MYSQL, TLS, CALL_NONE, "b36s");
        CHECK(MYSQL, GREETING, CALL_NONE, "b46");
        CHECK(MYSQL,
              "\3\0\0\2\xfexy"
              "\7\0\0\4\0\0\0\2\0\0\0",
              login, "R18");
        CHECK(MYSQL, "\3\0\0\2\xff\1\2", login, "R7");
        CHECK(MYSQL, "\7\0\0\2\0\0\0\2\0\0\0", packed, "R11s");
}

#define COUNT(n) "\1\0\0\1" n
#define COLUMN(seq)                                                                                \
        "\4\0\0" seq "\3"                                                                          \
        "def"
#define EOF_(seq)     "\5\0\0" seq "\xfe\0\0\2\0"
#define EOF_MORE(seq) "\5\0\0" seq "\xfe\0\0\x0a\0"
#define ROW(seq)      "\2\0\0" seq "\1x"
#define OK_(seq)      "\7\0\0" seq "\0\0\0\2\0\0\0"
#define OK_MORE(seq)  "\7\0\0" seq "\0\0\0\x0a\0\0\0"
#define END(seq)      "\7\0\0" seq "\xfe\0\0\2\0\0\0"

static void test_results(void)
{
        guint8 results = CALL_OF(MYSQL, QUERY);
        CHECK(MYSQL, OK_("\1") OK_("\1"), results, "R11 R22");
        CHECK(MYSQL, "\3\0\0\1\xff\1\2" OK_("\1"), results, "R7 R18");
        CHECK(MYSQL, COUNT("\1") COLUMN("\2") EOF_("\3") ROW("\4") EOF_("\5"), results, "R37");
        CHECK(MYSQL, COUNT("\1") COLUMN("\2") EOF_("\3") EOF_("\4"), results, "R31");
        CHECK(MYSQL, COUNT("\2") COLUMN("\2") COLUMN("\3") ROW("\4") ROW("\5") END("\6"), results,
              "R44");
        CHECK(MYSQL, COUNT("\1") COLUMN("\2") END("\3"), results, "R24");
        CHECK(MYSQL, COUNT("\1") COLUMN("\2") EOF_("\3") EOF_MORE("\4") OK_("\5"), results, "R42");
        CHECK(MYSQL, OK_MORE("\1") COUNT("\1") COLUMN("\2") ROW("\3") END("\4"), results, "R41");
        CHECK(MYSQL, COUNT("\1") COLUMN("\2") "\5\0\0\3\xfe\0\0\x42\0", results, "R22");
        CHECK(MYSQL, "\2\0\0\1\1\0" ROW("\2") END("\3"), results, "R23"); /* columns are known */
        CHECK(MYSQL,
              "\2\0\0\1\xfb"
              "f" OK_("\4"),
              results, "R17");
        CHECK(MYSQL, COUNT("\1") COLUMN("\2") "\3\0\0\3\xff\1\2", results, "R20");
        CHECK(MYSQL, COUNT("\1") COLUMN("\2") ROW("\3"), results, "+");
        CHECK(MYSQL, "\1\0\0\1\0", OK, "R5");
}

#define PREPARED(columns, parameters) "\x0c\0\0\1\0\1\0\0\0" columns "\0" parameters "\0\0\0\0"

static void test_prepared(void)
{
        guint8 prepare = CALL_OF(MYSQL, PREPARE), execute = CALL_OF(MYSQL, EXECUTE);
        CHECK(MYSQL, PREPARED("\0", "\0") OK_("\1"), prepare, "R16t !");
        CHECK(MYSQL, PREPARED("\1", "\1") COLUMN("\2") COLUMN("\3"), prepare, "R32t");
        CHECK(MYSQL, PREPARED("\1", "\1") COLUMN("\2") EOF_("\3") COLUMN("\4") EOF_("\5"), prepare,
              "R41t .50");
        CHECK(MYSQL, COUNT("\1") COLUMN("\2") ROW("\3") END("\4"), execute, "R30");
}

#define IN_TRANSACTION(seq) "\7\0\0" seq "\0\0\0\3\0\0\0"
#define ERROR               "\3\0\0\1\xff\1\2"

/* A return says whether a transaction is open after it; an error leaves it as it was. So does that
 * of a statement that was prepared, as if one were. */
static void test_transactions(void)
{
        guint8 results = CALL_OF(MYSQL, QUERY), prepare = CALL_OF(MYSQL, PREPARE);
        CHECK(MYSQL, IN_TRANSACTION("\1") ERROR OK_("\1") ERROR, results, "R11t R18t R29 R36");
        CHECK(MYSQL, IN_TRANSACTION("\1") OK_("\1"), OK, "R11t R22");
        CHECK(MYSQL, COUNT("\1") COLUMN("\2") ROW("\3") "\7\0\0\4\xfe\0\0\3\0\0\0", results,
              "R30t");
        CHECK(MYSQL, COUNT("\1") COLUMN("\2") EOF_("\3") "\5\0\0\4\xfe\0\0\1\0" OK_("\1"), results,
              "R31t R42");
        CHECK(MYSQL, PREPARED("\0", "\0"), prepare, "R16t");
        CHECK(MYSQL, ERROR, prepare, "R7");
}

static void test_labels(void)
{
        CHECK_LABELS(MYSQL, "\x10\0\0\0\3SELECT a FROM t" PING EXECUTE, "SELECT t,PING,EXECUTE,");
        CHECK_LABELS(MYSQL, CHANGE_USER RESET, "CHANGE USER,RESET CONNECTION,");
        CHECK_LABELS(MYSQL, "\x0e\0\0\0\3\0\1DELETE FROM ", "DELETE,");
}

/* One whole message of a connection whose memory is shared by both directions. */
static guint8 parse_one(guint64 *state, gpointer *memory, guint8 call, const char *bytes, gsize n,
                        const char *label)
{
        g_autoptr(GString) found = g_string_new(NULL);
        Parsed parsed = { .memory = memory };

        g_assert_cmpint(MYSQL.parse(state, call, (const guint8 *)bytes, n, FALSE, found, &parsed),
                        ==, PARSE_MESSAGE);
        g_assert_cmpstr(found->str, ==, label);
        return parsed.call;
}

#define PARSE_ONE(state, call, text, label)                                                        \
        parse_one(state, &memory, call, text, sizeof(text) - 1, label)
#define PREPARE_FROM(table) "\x10\0\0\0\x16SELECT a FROM " table
#define PREPARED_AS(number) "\x0c\0\0\1\0" number "\0\0\0\0\0\0\0\0\0\0"
#define EXECUTE_OF(number)  "\x0a\0\0\0\x17" number "\0\1\0\0\0"

/* The text is sent once, and the answer has its number. Two statements are prepared at once. */
static void test_statements(void)
{
        guint64 client[PROTOCOL_STATE_SIZE / 8] = { 0 }, server[PROTOCOL_STATE_SIZE / 8] = { 0 };
        gpointer memory = NULL;
        guint8 first = PARSE_ONE(client, CALL_NONE, PREPARE_FROM("t"), "SELECT t");
        guint8 second = PARSE_ONE(client, CALL_NONE, PREPARE_FROM("u"), "SELECT u");

        PARSE_ONE(client, CALL_NONE, EXECUTE_OF("\xff\xff\xff\xff"), "SELECT u");
        PARSE_ONE(server, first, PREPARED_AS("\1"), "");
        PARSE_ONE(server, second, PREPARED_AS("\2"), "");
        PARSE_ONE(client, CALL_NONE, EXECUTE_OF("\2\0\0\0"), "SELECT u");
        PARSE_ONE(client, CALL_NONE, EXECUTE_OF("\1\0\0\0"), "SELECT t");
        PARSE_ONE(client, CALL_NONE, EXECUTE_OF("\3\0\0\0"), "EXECUTE");
        MYSQL.forget(memory);
}

/* The values in an execution. */
static void check_values(gpointer *memory, const char *bytes, gsize n, const char *expected)
{
        g_autoptr(GString) text = g_string_new(NULL);

        for (gsize shown = 0; shown < n; shown++) { /* parts do no harm */
                g_autofree guint8 *copy = g_memdup2(bytes, shown);
                gpointer other = NULL;
                MYSQL.values(text, &other, copy, shown);
                if (other)
                        MYSQL.forget(other);
        }
        g_string_truncate(text, 0);
        MYSQL.values(text, memory, (const guint8 *)bytes, n);
        g_assert_cmpstr(text->str, ==, expected);
}

#define VALUES(text, expected) check_values(&memory, text, sizeof(text) - 1, expected)
#define OF_STATEMENT           "\x17\5\0\0\0\0\1\0\0\0"
#define LONG_TYPE              "\3\0"
#define STRING_TYPE            "\xfd\0"

/* Types are sent once. */
static void test_values(void)
{
        gpointer memory = NULL;

        VALUES("\x15\0\0\0" OF_STATEMENT "\0\0"
               "\x67\x12\0\0"
               "\4id17",
               "id17\n\n");
        VALUES("\x19\0\0\0" OF_STATEMENT "\0\1" LONG_TYPE STRING_TYPE "\x67\x12\0\0"
               "\4id17",
               "4711\nid17\n\n");
        VALUES("\x15\0\0\0" OF_STATEMENT "\0\0"
               "\xfe\xff\xff\xff"
               "\4id18",
               "-2\nid18\n\n");
        VALUES("\x11\0\0\0" OF_STATEMENT "\1\0"
               "\4id19",
               "id19\n\n");
        VALUES("\x22\0\0\0" OF_STATEMENT "\0\1\5\0\x01\x80\x07\0\x08\0"
               "\0\0\0\0\0\xc0\x50\x40"
               "\xff"
               "\1\1"
               "\x11\0\0\0\0\0\0\0",
               "67\n255\n17\n\n");
        MYSQL.forget(memory);
}

static void test_recognised(void)
{
        g_assert_true(RECOGNISED(MYSQL, GREETING));
        g_assert_true(RECOGNISED(MYSQL, LOGIN));
        g_assert_true(RECOGNISED(MYSQL, TLS));
        g_assert_true(RECOGNISED(MYSQL, QUERY));
        g_assert_true(RECOGNISED(MYSQL, "\x0b\0\0\0\3\0\1SELECT 1"));
        g_assert_true(RECOGNISED(MYSQL, EXECUTE));
        g_assert_true(RECOGNISED(MYSQL, "\1\0\0\0\1"));
        g_assert_false(RECOGNISED(MYSQL, "\1\0\0\0\1\1\0\0\0\1"));
        g_assert_true(RECOGNISED(MYSQL, CHANGE_USER));
        g_assert_false(RECOGNISED(MYSQL, PING));
        g_assert_false(RECOGNISED(MYSQL, OK_("\1")));
        g_assert_false(RECOGNISED(MYSQL, "\x09\0\0\0\3EHLO abc"));
        g_assert_false(RECOGNISED(MYSQL, "\x09\0\0\1\3SELECT 1"));
        g_assert_false(RECOGNISED(MYSQL, "GET / HTTP/1.1\r\n\r\n"));
        g_assert_false(RECOGNISED(MYSQL, "\0\0\0\0\0\0\0\0"));
}

static void test_find_boundary(void)
{
        g_assert_cmpuint(BOUNDARY(MYSQL, QUERY), ==, 0);
        g_assert_cmpuint(BOUNDARY(MYSQL, COUNT("\1") COLUMN("\2")), ==, 0);
        g_assert_cmpuint(BOUNDARY(MYSQL, COLUMN("\2")), ==, 8);
        g_assert_cmpuint(BOUNDARY(MYSQL, ""), ==, 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/mysql/commands", test_commands);
        g_test_add_func("/mysql/login", test_login);
        g_test_add_func("/mysql/results", test_results);
        g_test_add_func("/mysql/prepared", test_prepared);
        g_test_add_func("/mysql/transactions", test_transactions);
        g_test_add_func("/mysql/labels", test_labels);
        g_test_add_func("/mysql/statements", test_statements);
        g_test_add_func("/mysql/values", test_values);
        g_test_add_func("/mysql/recognised", test_recognised);
        g_test_add_func("/mysql/find-boundary", test_find_boundary);
        return g_test_run();
}
