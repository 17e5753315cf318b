/* SPDX-License-Identifier: BSD-2-Clause
 *
 * For tests of protocols whose parsers take whole frames: bytes, given in hex, are shown in
 * pieces of every size, and each time the same frames have to come out.
 */
#pragma once

#include "capture/protocol/protocol.h"
#include "tests/unit/capture/hex.h"

/* Appends what a frame is, as the test writes it. */
typedef void (*SayFrame)(GString *out, const Parsed *frame);

/* Parses bytes as one direction, shown in pieces of step bytes: each frame as say() has it; then
 * "!" where it is not the protocol, "+" where more is needed. */
static inline char *parse_frames(const Protocol *protocol, const GByteArray *bytes, gsize step,
                                 SayFrame say)
{
        GString *out = g_string_new(NULL);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed known = { 0 }; /* of a frame whose end was not shown yet */
        gpointer memory = NULL;
        gsize n = bytes->len;
        guint64 at = 0;

        for (gsize shown = MIN(step, n);; shown = MIN(shown + step, n)) {
                while (at < shown) {
                        g_autofree guint8 *copy = g_memdup2(bytes->data + at, shown - at);
                        Parsed parsed = { .memory = &memory };
                        ParseStatus status = protocol->parse(state, CALL_NONE, copy, shown - at,
                                                             FALSE, NULL, &parsed);

                        if (status == PARSE_NOT_MINE) {
                                if (memory)
                                        protocol->forget(memory);
                                g_string_append_c(out, '!');
                                return g_string_free(out, FALSE);
                        }
                        at += parsed.length;
                        if (parsed.kind != KIND_UNKNOWN)
                                known = parsed;
                        if (status == PARSE_MORE)
                                break;
                        say(out, &known);
                        known = (Parsed){ 0 };
                }
                if (shown == n)
                        break;
        }
        if (memory)
                protocol->forget(memory);
        if (at != n || known.kind != KIND_UNKNOWN)
                g_string_append_c(out, '+');
        g_strchomp(out->str);
        return g_string_free(out, FALSE);
}

static inline void check_frames(const Protocol *protocol, const char *hex, const char *expected,
                                SayFrame say)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);

        for (gsize step = 1; step <= bytes->len; step++) {
                g_autofree char *got = parse_frames(protocol, bytes, step, say);

                g_assert_cmpstr(got, ==, expected);
        }
}
