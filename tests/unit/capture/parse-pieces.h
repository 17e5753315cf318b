/* SPDX-License-Identifier: BSD-2-Clause
 *
 * For the tests of protocols over TCP: what a parser makes of the bytes of one
 * direction, however they are cut.
 */
#include <string.h>

#include "capture/protocol/protocol.h"

/* Parses bytes as one direction, shown in pieces of step bytes. Returns a letter for each message,
 * with the offset of its end: "C" a call, "R" a return, "m" one-way, "i" interim, "." nothing, "b"
 * of the session. "t" follows if a transaction is open, "s" if the connection switches. "!": not
 * the protocol; "+": more is needed. call: what a return's call set. label: NULL, or where labels
 * go, ended by commas. */
static inline char *parse_pieces(const Protocol *protocol, const char *bytes, gsize n, guint8 call,
                                 gsize step, GString *label)
{
        static const char letters[] = { '?', 'C', 'R', 'm', 'i', '.', '.', 'b' };
        GString *out = g_string_new(NULL);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        guint64 at = 0;
        MessageKind kind = KIND_UNKNOWN;
        gboolean open = FALSE;
        gpointer memory = NULL;
        for (gsize shown = MIN(step, n);; shown = MIN(shown + step, n)) {
                while (at < shown) {
                        g_autofree guint8 *copy = g_memdup2(bytes + at, shown - at);
                        Parsed parsed = { .memory = label && protocol->forget ? &memory : NULL };
                        ParseStatus status =
                                protocol->parse(state, call, copy, shown - at, FALSE,
                                                kind == KIND_UNKNOWN ? label : NULL, &parsed);
                        if (status == PARSE_NOT_MINE) {
                                g_string_append_c(out, '!');
                                return g_string_free(out, FALSE);
                        }
                        open = TRUE;
                        if (parsed.kind != KIND_UNKNOWN) {
                                g_assert(kind == KIND_UNKNOWN || kind == parsed.kind);
                                kind = parsed.kind;
                        }
                        at = parsed.length == PARSE_FOREVER ? n + 1 : at + parsed.length;
                        if (status == PARSE_MORE)
                                break;
                        if (status == PARSE_PIECE)
                                continue;
                        g_string_append_printf(out, "%c%" G_GUINT64_FORMAT "%s%s ", letters[kind],
                                               at, parsed.transaction ? "t" : "",
                                               parsed.switches ? "s" : "");
                        if (label && label->len > 0)
                                g_string_append_c(label, ',');
                        open = FALSE;
                        kind = KIND_UNKNOWN;
                }
                if (shown == n)
                        break;
        }
        if (protocol->forget)
                protocol->forget(memory);
        if (open)
                g_string_append_c(out, '+');
        g_strchomp(out->str);
        return g_string_free(out, FALSE);
}

/* However it is cut, expected must come out. */
static inline void check_pieces(const Protocol *protocol, const char *bytes, gsize n, guint8 call,
                                const char *expected)
{
        for (gsize step = 1; step <= n; step++) {
                g_autofree char *got = parse_pieces(protocol, bytes, n, call, step, NULL);
                g_assert_cmpstr(got, ==, expected);
        }
}

/* Whether the first bytes of a direction are recognised: FALSE too where more is
 * needed. */
static inline gboolean is_recognised(const Protocol *protocol, const char *bytes, gsize n)
{
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { 0 };
        g_autofree guint8 *copy = g_memdup2(bytes, n);
        ParseStatus status = protocol->parse(state, CALL_PROBE, copy, n, FALSE, NULL, &parsed);
        return status != PARSE_NOT_MINE && parsed.length > 0 && parsed.kind != KIND_NOTHING;
}

/* Its labels, and what parse_pieces() says, cut and whole. */
static inline void check_labels(const Protocol *protocol, const char *bytes, gsize n,
                                const char *expected)
{
        for (gsize step = 1; step <= n; step += n > 20 ? n / 20 : 1) {
                g_autoptr(GString) label = g_string_new(NULL);
                g_free(parse_pieces(protocol, bytes, n, CALL_NONE, step, label));
                g_assert_cmpstr(label->str, ==, expected);
        }
        g_autoptr(GString) whole = g_string_new(NULL);
        g_free(parse_pieces(protocol, bytes, n, CALL_NONE, n, whole));
        g_assert_cmpstr(whole->str, ==, expected);
}

/* What the first message sets in Parsed.call. */
static inline guint8 call_of_bytes(const Protocol *protocol, const char *bytes, gsize n)
{
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { 0 };
        protocol->parse(state, CALL_NONE, (const guint8 *)bytes, n, FALSE, NULL, &parsed);
        g_assert_cmpint(parsed.kind, ==, KIND_CALL);
        return parsed.call;
}

/* Of a literal, which may hold NUL. */
#define CHECK(protocol, text, call, expected)                                                      \
        check_pieces(&(protocol), text, sizeof(text) - 1, call, expected)
#define CHECK_LABELS(protocol, text, expected)                                                     \
        check_labels(&(protocol), text, sizeof(text) - 1, expected)
#define RECOGNISED(protocol, text) is_recognised(&(protocol), text, sizeof(text) - 1)
#define CALL_OF(protocol, text)    call_of_bytes(&(protocol), text, sizeof(text) - 1)
#define BOUNDARY(protocol, text)   (protocol).find_boundary((const guint8 *)(text), sizeof(text) - 1)
