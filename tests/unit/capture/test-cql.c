/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-frames.h"

#define STARTUP    "04 00 0000 01 00000016 0001 000b 'CQL_VERSION' 0005 '3.0.0' "
#define OPTIONS    "04 00 0001 05 00000000 "
#define REGISTER   "04 00 0002 0b 00000011 0001 000d 'STATUS_CHANGE' "
#define READY      "84 00 0002 02 00000000 "
#define QUERY      "04 00 0003 07 00000017 00000010 'SELECT a FROM ab' 0001 00 "
#define PREPARE    "04 00 0004 09 00000014 00000010 'SELECT a FROM ab' "
#define ID         "0010 '0123456789abcdef' "
#define EXECUTE    "04 00 0004 0a 00000015 " ID "0001 00 "
#define BATCH      "04 00 0005 0d 00000018 00 0001 01 " ID "0000 "
#define BATCH_TEXT "04 00 0006 0d 0000001a 00 0001 00 00000010 'SELECT a FROM ab' 0000 "
#define VOID       "84 00 0003 08 00000004 00000001 "
#define PREPARED   "84 00 0004 08 00000016 00000004 " ID
#define TIMEOUT    "84 00 0003 00 00000007 00001200 0001 'x' "
#define TRACED     "84 0a 0003 00 0000001c '0123456789abcdef' 0001 0001 'w' 00001001 0001 'x' "
#define EVENT      "84 00 ffff 0c 0000000f 000d 'STATUS_CHANGE' "

/* A letter for the kind; of a part its stream, how often that was used, "b" and "e" for begins and
 * ends; the outcome. */
static void say(GString *out, const Parsed *message)
{
        static const char letters[] = "?CRmi.cbS";
        char text[OUTCOME_TEXT + 1];

        g_string_append_c(out, letters[message->kind]);
        if (message->keyed && message->kind != KIND_ONE_WAY)
                g_string_append_printf(out, "%u.%u%s%s", (guint)message->key & 0xffff,
                                       (guint)(message->key >> 16),
                                       message->part & PART_BEGINS ? "b" : "",
                                       message->part & PART_ENDS ? "e" : "");
        if (outcome_write(message->outcome, text) > 0)
                g_string_append(out, text);
        g_string_append_c(out, ' ');
}

static void check(const char *hex, const char *expected)
{
        check_frames(&protocol_cql, hex, expected, say);
}

static guint32 crc24(const guint8 *bytes, guint n)
{
        guint32 crc = 0x875060;

        for (guint i = 0; i < 8 * n; i++) {
                if (i % 8 == 0)
                        crc ^= (guint32)bytes[i / 8] << 16;
                crc = crc << 1 ^ (crc & 0x800000 ? 0x1974f0b : 0);
        }
        return crc & 0xffffff;
}

/* Bytes in hexadecimal as a segment of version 5. plain: 0, or their length, as they are packed. */
static char *segment(const char *hex, gboolean alone, gboolean by_packing, guint plain)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        guint64 head = bytes->len | (guint64)plain << 17 | (guint64)alone << (by_packing ? 34 : 17);
        guint n = by_packing ? 5 : 3;
        guint8 header[8];
        GString *out = g_string_new(NULL);

        for (guint i = 0; i < n; i++)
                header[i] = (guint8)(head >> 8 * i);
        guint32 crc = crc24(header, n);
        for (guint i = 0; i < 3; i++)
                header[n + i] = (guint8)(crc >> 8 * i);
        for (guint i = 0; i < n + 3; i++)
                g_string_append_printf(out, "%02x", header[i]);
        g_string_append_printf(out, " %s 00000000 ", hex);
        return g_string_free(out, FALSE);
}

static void test_frames(void)
{
        check(STARTUP OPTIONS REGISTER QUERY QUERY PREPARE EXECUTE BATCH BATCH_TEXT,
              "b b b C3.1be C3.2be C4.1be C4.2be C5.1be C6.1be");
        check(READY VOID PREPARED TIMEOUT EVENT, "b R3.0e R4.0e R3.0eREAD_TIMEOUT m");
        check(TRACED, "R3.0eOVERLOADED");
        check("01 00 03 07 00000016 00000010 'SELECT a FROM ab' 0001 "
              "81 00 03 08 00000004 00000001",
              "C3.1be R3.1e");
        check(QUERY "'rest of it'", "C3.1be !");
}

static void test_segments(void)
{
        const char *query = "05 00 0003 07 00000017 00000010 'SELECT a FROM ab' 0001 00 ";
        g_autofree char *one = segment(query, TRUE, FALSE, 0);
        g_autofree char *hex = g_strconcat(query, query, NULL);
        g_autofree char *two = segment(hex, TRUE, FALSE, 0);
        g_autofree char *begin = segment("85 00 0003 08 00000008 00000001 ff", FALSE, FALSE, 0);
        g_autofree char *end = segment("ff ff ff", FALSE, FALSE, 0);
        g_autofree char *not_packed = segment(query, TRUE, TRUE, 0);
        /* a header and a result as literals, and all of them again */
        g_autofree char *packed =
                segment("d9 85 00 0003 08 00000004 00000001 0d00 00", TRUE, TRUE, 26);
        g_autofree char *broken =
                segment("d9 85 00 0003 08 00000004 00000001 0000 00", TRUE, TRUE, 26);

        check(one, "C3.1be");
        check(two, "C3.1be C3.2be");
        g_autofree char *parts = g_strconcat(begin, end, one, NULL);
        check(parts, "R3.0 R3.0e C3.1be");
        check(end, "c");
        check(not_packed, "C3.1be");
        check(packed, "R3.0e R3.0e");
        check(broken, "c");
}

/* What one connection prepares, all know. */
static void test_labels(void)
{
        static const char *const said[] = { EXECUTE, PREPARE,    PREPARED, EXECUTE,
                                            BATCH,   BATCH_TEXT, QUERY };
        guint64 state[2][PROTOCOL_STATE_SIZE / 8] = { 0 };
        gpointer memory[2] = { NULL, NULL };
        Statements *prepared = NULL;
        g_autoptr(GString) out = g_string_new(NULL);

        for (guint i = 0; i < 2 * G_N_ELEMENTS(said); i++) {
                guint connection = i / G_N_ELEMENTS(said);
                g_autoptr(GByteArray) bytes = hex_bytes(said[i % G_N_ELEMENTS(said)]);
                guint side = bytes->data[0] >> 7;
                g_autoptr(GString) label = g_string_new(NULL);
                Parsed parsed = { .memory = &memory[connection], .prepared = &prepared };

                g_assert_cmpint(protocol_cql.parse(state[side], CALL_NONE, bytes->data, bytes->len,
                                                   FALSE, label, &parsed),
                                ==, PARSE_MESSAGE);
                g_string_append_printf(out, "%s,", label->str);
        }
        g_assert_cmpstr(out->str, ==,
                        "EXECUTE,SELECT ab,,SELECT ab,BATCH ab,BATCH ab,SELECT ab,"
                        "SELECT ab,SELECT ab,,SELECT ab,BATCH ab,BATCH ab,SELECT ab,");
        protocol_cql.forget(memory[0]);
        protocol_cql.forget(memory[1]);
        statements_free(prepared);
}

/* A startup that fails is of the session, also by its error. */
static void test_session(void)
{
        guint64 state[2][PROTOCOL_STATE_SIZE / 8] = { 0 };
        gpointer memory = NULL;
        g_autoptr(GByteArray) startup = hex_bytes(STARTUP);
        g_autoptr(GByteArray) error = hex_bytes("84 00 0000 00 00000007 0000000a 0001 'x'");
        Parsed asked = { .memory = &memory }, answered = { .memory = &memory };

        protocol_cql.parse(state[0], CALL_NONE, startup->data, startup->len, FALSE, NULL, &asked);
        protocol_cql.parse(state[1], CALL_NONE, error->data, error->len, FALSE, NULL, &answered);
        g_assert_cmpint(asked.kind, ==, KIND_SESSION);
        g_assert_cmpint(answered.kind, ==, KIND_SESSION);
        protocol_cql.forget(memory);
}

static ParseStatus probe(const char *hex)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { 0 };

        return protocol_cql.parse(state, CALL_PROBE, bytes->data, bytes->len, FALSE, NULL, &parsed);
}

static void test_recognised(void)
{
        static const char *const texts[] = { STARTUP, OPTIONS,  QUERY, PREPARE,   EXECUTE,
                                             BATCH,   REGISTER, READY, VOID,      PREPARED,
                                             TIMEOUT, TRACED,   EVENT, BATCH_TEXT };
        static const char *const others[] = {
                "'GET / HTTP/1.1' 0d0a0d0a",
                "06 00 0001 05 00000000",    /* no version */
                "04 20 0001 05 00000000",    /* no flag */
                "04 00 0001 04 00000000",    /* no operation, */
                "84 00 0001 05 00000000",    /* nor of this side */
                "04 00 0001 05 00000001 00", /* with a body */
                "04 00 0003 07 00000017 00000010 'Select1a FROM ab' 0001 00",
                "04 00 0004 0a 00000016 0011 '0123456789abcdefg' 0001 00",
                "84 00 0003 08 00000004 00000006",
                "84 00 0003 00 00000007 00001234 0001 'x'",
                "04 00 0000 01 00000016 0001 000b 'cql_version' 0005 '3.0.0'",
        };

        for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
                g_assert_cmpint(probe(texts[i]), ==, PARSE_MESSAGE);
        for (guint i = 0; i < G_N_ELEMENTS(others); i++)
                g_assert_cmpint(probe(others[i]), ==, PARSE_NOT_MINE);
        g_autofree char *hex = segment("05 00 0003 07 00000017 00000010 'SELECT a FROM ab' 0001 00",
                                       TRUE, FALSE, 0);
        g_assert_cmpint(probe(hex), ==, PARSE_MESSAGE);
        hex[1] ^= 1; /* of the length */
        g_assert_cmpint(probe(hex), ==, PARSE_NOT_MINE);
}

static void test_boundary(void)
{
        g_autoptr(GByteArray) bytes = hex_bytes("'rest' ff ff 00 " QUERY);

        g_assert_cmpuint(protocol_cql.find_boundary(bytes->data, bytes->len), ==, 7);
        g_assert_cmpuint(protocol_cql.find_boundary(bytes->data, 7), ==, 7);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cql/frames", test_frames);
        g_test_add_func("/cql/segments", test_segments);
        g_test_add_func("/cql/labels", test_labels);
        g_test_add_func("/cql/session", test_session);
        g_test_add_func("/cql/recognised", test_recognised);
        g_test_add_func("/cql/boundary", test_boundary);
        return g_test_run();
}
