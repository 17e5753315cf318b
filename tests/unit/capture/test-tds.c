/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/hex.h"
#include "tests/unit/capture/parse-pieces.h"

#define HEADERS     "16000000 12000000 0200 0000000000000000 01000000 "
#define PRELOGIN    "12 01 001a 0000 00 00 00 000b 0006 01 0011 0001 ff 000000000000 02 "
#define PRELOGIN_ON "04 01 001a 0000 01 00 00 000b 0006 01 0011 0001 ff 000000000000 01 "
#define HELLO       "12 01 000d 0000 00 00 16 0301 0000 "
#define TLS_DATA    "17 0303 0002 ffff "
#define BATCH       "01 01 002e 0000 01 00 " HEADERS "5300450054002000 4100 0000 2000 2000 "
#define SELECT      "530045004c004500430054002000 2000 660072006f006d002000 5b0061005d00 "
#define QUERY       "01 01 003e 0000 01 00 " HEADERS SELECT
#define OLD_QUERY   "01 01 0028 0000 01 00 " SELECT
#define COMMIT      "0e 01 0020 0000 01 00 " HEADERS "0700"
#define BULK        "07 01 000a 0000 01 00 8101 "
#define ATTENTION   "06 01 0008 0000 01 00 "
#define BEGIN       "01 00 0030 0000 01 00 " HEADERS "530045004c004500430054002000 2000 2000 "
#define END         "01 01 000c 0000 02 00 66007200 "
#define TEXT        "00 00 e7 400f 0904d00034 2000 " SELECT
#define EXECUTESQL  "03 01 0052 0000 01 00 " HEADERS "ffff 0a00 0000 " TEXT "0000"
#define PREPARE                                                                                    \
        "03 01 006a 0000 01 00 " HEADERS "ffff 0b00 0000 00 01 26 04 00 "                          \
        "00 00 e7 400f 0904d00034 ffff " TEXT "00 00 26 04 04 01000000"
#define EXECUTE "03 01 002d 0000 01 00 " HEADERS "ffff 0c00 0000 00 00 26 04 04 05000000 "
#define NAMED   "03 01 0026 0000 01 00 " HEADERS "0200 70005f00 0000"

#define DONE      "fd 0000 c100 0000000000000000 "
#define OLD_DONE  "fd 0000 c100 00000000 "
#define FAILED    "fd 0200 c100 0000000000000000 "
#define ERROR     "aa 1000 430a0000 01 0e 0100 7800 00 00 01000000 "
#define HANDLE    "ac 0000 00 01 000000000000 26 04 04 05000000 "
#define ANSWER    "04 01 0015 0000 01 00 " DONE
#define NO_ROOM   "04 01 0028 0000 01 00 " ERROR FAILED
#define ROWS      "04 01 003c 0000 01 00 81 0100 00000000 0900 26 04 01 6100 d1 04 aa000000 "
#define LATE      ROWS ERROR FAILED
#define PREPARED  "04 01 002c 0000 01 00 79 00000000 " HANDLE DONE
#define CANCELLED "04 01 0015 0000 01 00 fd 2000 0000 0000000000000000 "

static char *parse(const char *hex, guint8 call, gsize step, GString *label)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);

        return parse_pieces(&protocol_tds, (const char *)bytes->data, bytes->len, call, step,
                            label);
}

static void check(const char *hex, guint8 call, const char *expected)
{
        for (gsize step = 1; step < strlen(hex); step++) {
                g_autofree char *got = parse(hex, call, step, NULL);

                g_assert_cmpstr(got, ==, expected);
        }
}

enum { PLAIN = 1, OF_PRELOGIN, OF_PREPARE };

static void test_client(void)
{
        check(PRELOGIN BATCH, CALL_NONE, "C26 C72");
        check(QUERY OLD_QUERY COMMIT BULK, CALL_NONE, "C62 C102 C134 C144");
        check(BATCH ATTENTION BATCH, CALL_NONE, "C46 .54 C100");
        check(BEGIN END ATTENTION, CALL_NONE, "C60 .68");
        check(BEGIN "04 01 000c 0000 02 00 66007200", CALL_NONE, "!");
        check(HELLO HELLO, CALL_NONE, ".13 .26");
        check(PRELOGIN HELLO TLS_DATA QUERY, CALL_NONE, "C26 .39 C46 C108"); /* the login alone */
        check(QUERY "'GET / HTTP/1.1'", CALL_NONE, "C62 !");
        check("01 01 0007 0000 01 00", CALL_NONE, "!");
}

static void test_server(void)
{
        check(ANSWER NO_ROOM LATE, PLAIN, "R21 R61 R121");
        check("04 00 0015 0000 01 00 " DONE ANSWER, PLAIN, "R42");
        check(CANCELLED, CALL_NONE, ".21");
        check(CANCELLED, PLAIN, "R21");
        check("04 01 0011 0000 01 00 " OLD_DONE, PLAIN, "R17");
}

static Outcome outcome_of(const char *hex)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { 0 };

        g_assert_cmpint(
                protocol_tds.parse(state, PLAIN, bytes->data, bytes->len, FALSE, NULL, &parsed), ==,
                PARSE_MESSAGE);
        return parsed.outcome;
}

static void test_outcomes(void)
{
        g_assert_cmpuint(outcome_of(ANSWER), ==, OUTCOME_OK);
        g_assert_cmpuint(outcome_of(NO_ROOM), ==, outcome_number(NUMBERS_MSSQL, 2627));
        g_assert_cmpuint(outcome_of(LATE), ==, outcome_number(NUMBERS_MSSQL, 2627));
        g_assert_cmpuint(outcome_of("04 01 0015 0000 01 00 " FAILED), ==,
                         outcome_number(NUMBERS_MSSQL, 50000));
}

/* After encryption of everything the connection speaks TLS. */
static void test_encrypted(void)
{
        g_autoptr(GByteArray) answer = hex_bytes(PRELOGIN_ON), login = hex_bytes(TLS_DATA);
        guint64 client[PROTOCOL_STATE_SIZE / 8] = { 0 }, server[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed said = { 0 }, parsed = { .other = server };

        protocol_tds.parse(server, OF_PRELOGIN, answer->data, answer->len, FALSE, NULL, &said);
        protocol_tds.parse(client, CALL_NONE, login->data, login->len, FALSE, NULL, &parsed);
        g_assert_cmpint(said.kind, ==, KIND_RETURN);
        g_assert_cmpint(parsed.kind, ==, KIND_SESSION);
        g_assert_true(parsed.switches && parsed.next == &protocol_tls);
}

/* A statement is known by the handle that its preparation brought. */
static void test_labels(void)
{
        static const char *const said[] = { QUERY, OLD_QUERY, COMMIT,  BULK,     EXECUTESQL,
                                            NAMED, EXECUTE,   PREPARE, PREPARED, EXECUTE };
        guint64 state[2][PROTOCOL_STATE_SIZE / 8] = { 0 };
        gpointer memory = NULL;
        g_autoptr(GString) out = g_string_new(NULL);
        guint8 call = PLAIN;

        for (guint i = 0; i < G_N_ELEMENTS(said); i++) {
                g_autoptr(GByteArray) bytes = hex_bytes(said[i]);
                g_autoptr(GString) label = g_string_new(NULL);
                Parsed parsed = { .memory = &memory };

                g_assert_cmpint(protocol_tds.parse(state[bytes->data[0] == 4], call, bytes->data,
                                                   bytes->len, FALSE, label, &parsed),
                                ==, PARSE_MESSAGE);
                call = parsed.call;
                g_string_append_printf(out, "%s,", label->str);
        }
        g_assert_cmpstr(
                out->str, ==,
                "SELECT a,SELECT a,COMMIT,BULK,SELECT a,EXEC p_,EXECUTE,SELECT a,,SELECT a,");
        protocol_tds.forget(memory);
}

static ParseStatus probe(const char *hex)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { 0 };

        return protocol_tds.parse(state, CALL_PROBE, bytes->data, bytes->len, FALSE, NULL, &parsed);
}

static void test_recognised(void)
{
        static const char *const texts[] = { PRELOGIN, BATCH,      QUERY,  OLD_QUERY,
                                             COMMIT,   EXECUTESQL, NAMED,  EXECUTE,
                                             PREPARE,  ANSWER,     NO_ROOM };
        static const char *const others[] = {
                BULK,
                ATTENTION,
                END,
                "01 01 0028 0000 02 00 " SELECT,                       /* not the first packet */
                "01 01 0028 0000 01 01 " SELECT,                       /* a window */
                "01 01 0014 0000 01 00 78004c004500430054002000",      /* no verb */
                "03 01 000e 0000 01 00 0200 70000100",                 /* no name */
                "04 01 0015 0000 01 00 fc 0000 c100 0000000000000000", /* no token */
                "12 01 001a 0000 00 00 01 000b 0006 01 0011 0001 ff 000000000000 02",
        };

        for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
                g_assert_cmpint(probe(texts[i]), ==, PARSE_MESSAGE);
        for (guint i = 0; i < G_N_ELEMENTS(others); i++)
                g_assert_cmpint(probe(others[i]), ==, PARSE_NOT_MINE);
}

static void test_boundary(void)
{
        g_autoptr(GByteArray) bytes = hex_bytes("04 01 ffff 00 " QUERY);

        g_assert_cmpuint(protocol_tds.find_boundary(bytes->data, bytes->len), ==, 5);
        g_assert_cmpuint(protocol_tds.find_boundary(bytes->data, 20), ==, 20);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/tds/client", test_client);
        g_test_add_func("/tds/server", test_server);
        g_test_add_func("/tds/outcomes", test_outcomes);
        g_test_add_func("/tds/encrypted", test_encrypted);
        g_test_add_func("/tds/labels", test_labels);
        g_test_add_func("/tds/recognised", test_recognised);
        g_test_add_func("/tds/boundary", test_boundary);
        return g_test_run();
}
