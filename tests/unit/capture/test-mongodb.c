/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-talk.h"

#include <string.h>
#include <zlib.h>

#define FIND     "11000000 02 'find' 00 02000000 'c' 00 00 "
#define GET_MORE "28000000 12 'getMore' 00 0700000000000000 02 'collection' 00 02000000 'c' 00 00 "
#define HELLO    "10000000 10 'hello' 00 01000000 00 "
#define OK       "11000000 01 'ok' 00 000000000000f03f 00 "
#define FAILED   "1b000000 01 'ok' 00 0000000000000000 10 'code' 00 1a000000 00 "
#define TWICE                                                                                      \
        "42000000 10 'n' 00 00000000 04 'writeErrors' 00 1d000000 03 '0' 00 15000000 "             \
        "10 'code' 00 f82a0000 10 'x' 00 000000000000 01 'ok' 00 000000000000f03f 00 "

enum { REPLY = 1, UPDATE = 2001, INSERT, QUERY = 2004, GETMORE, DELETE, KILL, PACKED = 2012, MSG };

static void little(GByteArray *out, guint32 value)
{
        for (guint i = 0; i < 4; i++, value >>= 8)
                g_byte_array_append(out, &(guint8){ value & 255 }, 1);
}

static char *to_hex(const guint8 *bytes, gsize n)
{
        GString *hex = g_string_new(NULL);

        for (gsize i = 0; i < n; i++)
                g_string_append_printf(hex, "%02x", bytes[i]);
        g_string_append_c(hex, ' ');
        return g_string_free(hex, FALSE);
}

/* A message in hexadecimal. */
static char *message(guint32 id, guint32 answers, guint32 operation, const char *body_hex)
{
        g_autoptr(GByteArray) body = hex_bytes(body_hex), out = g_byte_array_new();

        little(out, 16 + body->len);
        little(out, id);
        little(out, answers);
        little(out, operation);
        g_byte_array_append(out, body->data, body->len);
        return to_hex(out->data, out->len);
}

/* OP_MSG with one section. */
static char *msg(guint32 id, guint32 answers, const char *flags, const char *document)
{
        g_autofree char *body = g_strconcat(flags, " 00 ", document, NULL);

        return message(id, answers, MSG, body);
}

/* A letter for the kind, the key of a part with "b", "e" and "p" for begins, ends and piece, and
 * the outcome. */
static void say(GString *out, const Parsed *message)
{
        static const char letters[] = "?CRmi..bS";
        char text[OUTCOME_TEXT + 1];

        g_string_append_c(out, letters[message->kind]);
        if (message->keyed)
                g_string_append_printf(out, "%" G_GUINT64_FORMAT "%s%s%s", message->key,
                                       message->part & PART_BEGINS ? "b" : "",
                                       message->part & PART_ENDS ? "e" : "",
                                       message->part & PART_PIECE ? "p" : "");
        if (outcome_write(message->outcome, text) > 0)
                g_string_append(out, text);
        g_string_append_c(out, ' ');
}

static void check(char *hex, const char *expected)
{
        check_frames(&protocol_mongodb, hex, expected, say);
        g_free(hex);
}

/* Both sides know what the other said. */
typedef struct {
        guint64 state[2][PROTOCOL_STATE_SIZE / 8];
        GString *out;
} Both;

static void says(Both *b, guint side, char *hex)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        g_autoptr(GString) label = g_string_new(NULL);
        Parsed parsed = { .other = b->state[!side] };

        g_assert_cmpint(protocol_mongodb.parse(b->state[side], CALL_NONE, bytes->data, bytes->len,
                                               FALSE, label, &parsed),
                        ==, PARSE_MESSAGE);
        g_assert_cmpuint(parsed.length, ==, bytes->len);
        say(b->out, &parsed);
        if (label->len > 0)
                g_string_append_printf(b->out, "(%s) ", label->str);
        g_free(hex);
}

static void test_commands(void)
{
        g_autofree char *a = msg(7, 0, "00000000", FIND), *b = msg(8, 0, "02000000", FIND);
        g_autofree char *c = msg(900, 7, "00000000", OK), *d = msg(901, 9, "00000000", FAILED);

        check(g_strconcat(a, b, NULL), "C7be m8be");
        check(g_strconcat(c, d, NULL), "R7e R9eMONGO26");
        check(msg(1, 2, "00000000", TWICE), "R2eMONGO11000");
        check(msg(1, 0, "01000000", FIND "ffffffff"), "C1be"); /* with a checksum */
}

static void test_legacy(void)
{
        check(message(1, 0, QUERY, "00000000 'db.c' 00 00000000 01000000 05000000 00"), "C1be");
        check(message(2, 0xffffffff, QUERY, "00000000 'db.$cmd' 00 00000000 ffffffff " FIND),
              "C2be");
        check(message(3, 0, GETMORE, "00000000 'db.c' 00 00000000 0700000000000000"), "C3be");
        check(message(4, 0, INSERT, "00000000 'db.c' 00 " FIND), "m4be");
        check(message(5, 0, UPDATE, "00000000 'db.c' 00 00000000 " FIND FIND), "m5be");
        check(message(6, 0, DELETE, "00000000 'db.c' 00 00000000 " FIND), "m6be");
        check(message(7, 0, KILL, "00000000 01000000 0700000000000000"), "m7be");
        check(message(8, 1, REPLY, "08000000 0000000000000000 00000000 01000000 " OK), "R1e");
        check(message(8, 1, REPLY, "02000000 0000000000000000 00000000 01000000 " OK), "R1eMONGO8");
        check(message(8, 0, REPLY, "08000000 0000000000000000 00000000 00000000"), "R0e");
}

static void test_labels(void)
{
        Both b = { .out = g_string_new(NULL) };

        says(&b, 0, msg(1, 0, "00000000", FIND));
        says(&b, 0, msg(2, 0, "00000000", GET_MORE));
        says(&b, 0, msg(3, 0, "00000000", "16000000 02 'dropUser' 00 02000000 'a' 00 00"));
        says(&b, 0, msg(4, 0, "00000000", "0f000000 10 'ping' 00 01000000 00"));
        says(&b, 0,
             message(5, 0, MSG,
                     "00000000 01 1d000000 'documents' 00 0f000000 "
                     "10 '_id_' 00 01000000 00 00 " FIND));
        says(&b, 0, message(6, 0, QUERY, "00000000 'db.items' 00 00000000 01000000 05000000 00"));
        says(&b, 0,
             message(7, 0, QUERY,
                     "00000000 'db.$cmd' 00 00000000 ffffffff 1d000000 "
                     "03 '$query' 00 " FIND "00"));
        g_assert_cmpstr(b.out->str, ==,
                        "C1be (find c) C2be (getMore c) C3be (dropUser) C4be (ping) C5be (find c) "
                        "C6be (find items) C7be (find c) ");
        g_string_free(b.out, TRUE);
}

/* Greetings and logins, also of a hello that streams: its answers refer to one another. */
static void test_sessions(void)
{
        Both b = { .out = g_string_new(NULL) };

        says(&b, 0, msg(1, 0, "00000100", HELLO));
        says(&b, 1, msg(50, 1, "02000000", OK));
        says(&b, 1, msg(51, 50, "02000000", OK));
        says(&b, 1, msg(52, 51, "00000000", OK));
        says(&b, 0, msg(2, 0, "00000000", "14000000 10 'saslStart' 00 01000000 00"));
        says(&b, 1, msg(53, 2, "00000000", FAILED));
        says(&b, 0, msg(3, 0, "00000000", FIND));
        says(&b, 1, msg(54, 3, "00000000", OK));
        says(&b, 1, msg(55, 99, "00000000", "19000000 10 'maxWireVersion' 00 15000000 00"));
        g_assert_cmpstr(b.out->str, ==, "b b b b b b C3be (find c) R3e b ");
        g_string_free(b.out, TRUE);
}

static void test_exhaust(void)
{
        Both b = { .out = g_string_new(NULL) };
        const char *goes_on = "08000000 0700000000000000 00000000 01000000 " OK;

        says(&b, 0, msg(1, 0, "00000100", GET_MORE));
        says(&b, 1, msg(50, 1, "02000000", OK));
        says(&b, 1, msg(51, 50, "02000000", OK));
        says(&b, 1, msg(52, 51, "00000000", OK));
        says(&b, 0, message(2, 0, QUERY, "40000000 'db.c' 00 00000000 01000000 05000000 00"));
        says(&b, 1, message(60, 2, REPLY, goes_on));
        says(&b, 1, message(61, 60, REPLY, goes_on));
        says(&b, 1, message(62, 61, REPLY, "08000000 0000000000000000 00000000 01000000 " OK));
        g_assert_cmpstr(b.out->str, ==, "C1be (getMore c) R1p R1p R1e C2be (find c) R2p R2p R2e ");
        g_string_free(b.out, TRUE);
}

static void test_compressed(void)
{
        g_autoptr(GByteArray) inner = hex_bytes("02000000 00 " FIND);
        g_autofree char *length = g_strdup_printf("dd070000 %02x000000 ", inner->len);
        guint8 packed[256];
        uLongf n = sizeof packed;
        Both b = { .out = g_string_new(NULL) };

        compress(packed, &n, inner->data, inner->len);
        g_autofree char *zlib = to_hex(packed, n), *plain = to_hex(inner->data, inner->len);
        g_autofree char *by_zlib = g_strconcat(length, "02 ", zlib, NULL);
        g_autofree char *by_none = g_strconcat(length, "00 ", plain, NULL);
        g_autofree char *by_snappy = g_strconcat(length, "01 16 54 ", plain, NULL);
        g_autofree char *broken = g_strconcat(length, "03 ", zlib, NULL);

        says(&b, 0, message(1, 0, PACKED, by_zlib));
        says(&b, 0, message(2, 0, PACKED, by_none));
        says(&b, 0, message(3, 0, PACKED, by_snappy));
        says(&b, 0, message(4, 0, PACKED, broken)); /* nobody knows */
        g_assert_cmpstr(b.out->str, ==, "m1be (find c) m2be (find c) m3be (find c) C4be ");
        g_string_free(b.out, TRUE);
}

static void test_values(void)
{
        g_autofree char *hex =
                message(1, 0, MSG,
                        "00000000 00 42000000 02 'find' 00 02000000 'c' 00 03 'filter' 00 1e000000 "
                        "10 '_id' 00 d2040000 02 'name' 00 06000000 'ab123' 00 00 "
                        "02 '$db' 00 02000000 's' 00 00 01 1c000000 'd' 00 16000000 07 '_id' 00 "
                        "0102030405060708090a0b0c 00");
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        g_autoptr(GString) text = g_string_new(NULL);

        protocol_mongodb.values(text, NULL, bytes->data, bytes->len);
        g_assert_cmpstr(text->str, ==, "1234\nab123\n\n0102030405060708090a0b0c\n");
}

/* What a protocol is recognised by. */
static ParseStatus probe(const GByteArray *bytes, gsize n)
{
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        g_autofree guint8 *copy = g_memdup2(bytes->data, n);
        Parsed parsed = { 0 };

        return protocol_mongodb.parse(state, CALL_PROBE, copy, n, FALSE, NULL, &parsed);
}

static void test_recognised(void)
{
        char *texts[] = {
                msg(1, 0, "00000000", FIND),
                msg(1, 5, "02000100", OK),
                message(1, 0, MSG, "00000000 01 12000000 'documents' 00 05000000 00 00 " FIND),
                message(1, 0, GETMORE, "00000000 'db.c' 00 00000000 0700000000000000"),
                message(1, 0, DELETE, "00000000 'db.c' 00 00000000 " FIND),
                message(1, 0, PACKED, "dd070000 16000000 02 789c"),
                message(1, 0, KILL, "00000000 01000000 0700000000000000"),
                message(8, 0, REPLY, "08000000 0000000000000000 00000000 00000000"),
                NULL,
        };
        char *others[] = {
                msg(1, 0, "04000000", FIND),                    /* an unknown flag */
                msg(1, 0, "00000000", "05000000 00"),           /* a command without a name */
                msg(1, 0, "00000000", "ff000000 02 'find' 00"), /* longer than the message */
                msg(1, 0, "00000000", "11000000 33 'find' 00 02000000 'c' 00 00"),
                message(1, 0, MSG + 1, "00000000 00 " FIND),
                message(1, 0, QUERY, "00000000 'dbc' 00 00000000 01000000 05000000 00"),
                message(1, 0, PACKED, "dd070000 16000000 04 789c"),
                message(1, 0, KILL, "00000000 02000000 0700000000000000"),
                message(8, 0, REPLY, "f8000000 0000000000000000 00000000 00000000"),
                g_strdup("14000000 01000000 00000000 dd070000 00000000"), /* too short */
                g_strdup("00100000 01000000 00000000 12345678"),
                NULL,
        };

        for (guint i = 0; texts[i]; i++) {
                g_autoptr(GByteArray) bytes = hex_bytes(texts[i]);
                for (gsize n = 1; n < bytes->len; n++)
                        g_assert_cmpint(probe(bytes, n), !=, PARSE_NOT_MINE);
                g_assert_cmpint(probe(bytes, bytes->len), ==, PARSE_MESSAGE);
                g_free(texts[i]);
        }
        for (guint i = 0; others[i]; i++) {
                g_autoptr(GByteArray) bytes = hex_bytes(others[i]);
                g_assert_cmpint(probe(bytes, bytes->len), ==, PARSE_NOT_MINE);
                g_free(others[i]);
        }
}

static void test_boundary(void)
{
        g_autofree char *whole = msg(7, 0, "00000000", FIND);
        g_autofree char *hex = g_strconcat("'rest of a' 00 00 ", whole, NULL);
        g_autoptr(GByteArray) bytes = hex_bytes(hex);

        g_assert_cmpuint(protocol_mongodb.find_boundary(bytes->data, bytes->len), ==, 11);
        g_assert_cmpuint(protocol_mongodb.find_boundary(bytes->data, 12), ==, 12);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/mongodb/commands", test_commands);
        g_test_add_func("/mongodb/legacy", test_legacy);
        g_test_add_func("/mongodb/labels", test_labels);
        g_test_add_func("/mongodb/sessions", test_sessions);
        g_test_add_func("/mongodb/exhaust", test_exhaust);
        g_test_add_func("/mongodb/compressed", test_compressed);
        g_test_add_func("/mongodb/values", test_values);
        g_test_add_func("/mongodb/recognised", test_recognised);
        g_test_add_func("/mongodb/boundary", test_boundary);
        return g_test_run();
}
