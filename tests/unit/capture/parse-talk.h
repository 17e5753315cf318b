/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What both sides of a connection say, in turns, to a parser with a memory for the connection.
 */
#pragma once

#include "tests/unit/capture/hex.h"
#include "tests/unit/capture/parse-frames.h"

typedef struct {
        const Protocol *protocol;
        SayFrame say;
        GString *out; /* what it was, so far */
        guint64 state[2][PROTOCOL_STATE_SIZE / 8];
        gpointer memory;
} Talk;

/* One side, 0 or 1, says whole messages, in hexadecimal. */
static inline void talk(Talk *t, guint side, const char *hex)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        g_autoptr(GString) label = g_string_new(NULL);

        for (gsize at = 0; at < bytes->len;) {
                Parsed parsed = { .memory = &t->memory };

                g_assert_cmpint(t->protocol->parse(t->state[side], CALL_NONE, bytes->data + at,
                                                   bytes->len - at, FALSE, label, &parsed),
                                ==, PARSE_MESSAGE);
                t->say(t->out, &parsed);
                at += parsed.length;
        }
        if (label->len > 0)
                g_string_append_printf(t->out, "(%s) ", label->str);
}

static inline void talk_end(Talk *t, const char *expected)
{
        g_assert_cmpstr(g_strchomp(t->out->str), ==, expected);
        t->protocol->forget(t->memory);
        g_string_free(t->out, TRUE);
}
