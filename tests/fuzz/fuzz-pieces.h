/* SPDX-License-Identifier: BSD-2-Clause
 *
 * For fuzz targets of protocols over TCP: shown all at once and in pieces, the same messages must
 * end at the same places, and carry the same. The first byte of the input drives the size of the
 * pieces, the second is the state of the call: any but CALL_PROBE. With CALL_PROBE a parser is
 * shown first bytes and never goes on.
 */
#include <string.h>

#include "capture/protocol/protocol.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

enum { MAX_ENDS = 64 };

typedef struct {
        guint64 end[MAX_ENDS];
        MessageKind kind[MAX_ENDS];
        guint64 contents[MAX_ENDS]; /* all of them in one number */
        guint n;
        gboolean broken;
} Ends;

static void show_in_pieces(const Protocol *protocol, const guint8 *data, gsize n, guint8 call,
                           gsize step, gpointer *memory, Ends *ends)
{
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        guint64 at = 0; /* everything before it is settled */
        gsize shown = 0;
        MessageKind kind = KIND_UNKNOWN;
        while (shown < n && ends->n < MAX_ENDS) {
                shown = MIN(n, shown + step);
                while (at < shown && ends->n < MAX_ENDS) {
                        g_autofree guint8 *copy = g_memdup2(data + at, shown - at);
                        Parsed parsed = { .memory = memory };
                        ParseStatus status = protocol->parse(state, call, copy, shown - at, FALSE,
                                                             NULL, &parsed);
                        if (status == PARSE_NOT_MINE) {
                                ends->broken = TRUE;
                                return;
                        }
                        if (parsed.kind != KIND_UNKNOWN) {
                                g_assert(kind == KIND_UNKNOWN || kind == parsed.kind);
                                kind = parsed.kind;
                        }
                        g_assert(parsed.call != CALL_PROBE);
                        if (parsed.length == PARSE_FOREVER)
                                return;
                        if (protocol->values && parsed.length > 0) {
                                g_autoptr(GString) text = g_string_new(NULL);
                                protocol->values(text, memory, copy,
                                                 MIN(parsed.length, shown - at));
                        }
                        at += parsed.length;
                        if (status == PARSE_MORE)
                                break;
                        if (status == PARSE_PIECE)
                                continue;
                        g_assert(parsed.length > 0 && kind != KIND_UNKNOWN);
                        ends->end[ends->n] = at;
                        ends->contents[ends->n] = parsed.carried.n_contents;
                        for (guint i = 0; i < parsed.carried.n_contents; i++)
                                ends->contents[ends->n] =
                                        31 * ends->contents[ends->n] + parsed.carried.contents[i];
                        ends->kind[ends->n++] = kind;
                        kind = KIND_UNKNOWN;
                }
        }
}

/* Shows the parser the bytes as if they came in pieces of 1 to step. */
static void parse_in_pieces(const Protocol *protocol, const guint8 *data, gsize n, guint8 call,
                            gsize step, Ends *ends)
{
        gpointer memory = NULL;
        show_in_pieces(protocol, data, n, call, step, protocol->forget ? &memory : NULL, ends);
        if (memory)
                protocol->forget(memory);
}

static void fuzz_pieces(const Protocol *protocol, const guint8 *data, gsize n)
{
        Ends whole = { .n = 0 }, pieces = { .n = 0 };
        GString *label = g_string_new(NULL);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { 0 };
        if (n > 2) {
                guint8 call = data[1] % CALL_PROBE;
                gsize step = 1 + data[0] % 50;
                data += 2;
                n -= 2;
                g_assert(protocol->find_boundary(data, n) <= n);
                protocol->parse(state, call, data, n, TRUE, label, &parsed);
                memset(state, 0, sizeof state);
                parsed = (Parsed){ 0 };
                protocol->parse(state, CALL_PROBE, data, n, FALSE, NULL, &parsed);
                memset(state, 0, sizeof state);
                parsed = (Parsed){ 0 };
                protocol->parse(state, call, data, n, FALSE, label, &parsed);
                parse_in_pieces(protocol, data, n, call, n, &whole);
                parse_in_pieces(protocol, data, n, call, step, &pieces);
                for (guint i = 0; i < MIN(whole.n, pieces.n); i++)
                        g_assert(whole.end[i] == pieces.end[i] && whole.kind[i] == pieces.kind[i] &&
                                 whole.contents[i] == pieces.contents[i]);
                g_assert(whole.n == pieces.n || whole.broken || pieces.broken);
        }
        g_string_free(label, TRUE);
}
