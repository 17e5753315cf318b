/* SPDX-License-Identifier: BSD-2-Clause
 *
 * For fuzz targets of protocols whose parsers take whole frames only. The input is shown all at
 * once, and in pieces of the size that its first byte says. The same frames must come out, as far
 * as both go. They may end at different places, since bytes after a frame are evidence for or
 * against the protocol.
 */
#include <string.h>

#include "capture/protocol/protocol.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

enum { MAX_FRAMES = 64 };

typedef struct {
        Parsed frame[MAX_FRAMES];
        guint n;
} Frames;

static void parse_in_pieces(const Protocol *protocol, const guint8 *data, gsize n, gsize step,
                            gpointer *memory, Frames *frames)
{
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        guint64 at = 0; /* everything before it is settled */
        g_autoptr(GString) label = g_string_new(NULL);
        for (gsize shown = MIN(step, n); at < n; shown = MIN(shown + step, n)) {
                while (at < shown) {
                        g_autofree guint8 *copy = g_memdup2(data + at, shown - at);
                        Parsed parsed = { .memory = memory };
                        ParseStatus status =
                                protocol->parse(state, CALL_NONE, copy, shown - at, FALSE,
                                                g_string_truncate(label, 0), &parsed);
                        if (status == PARSE_NOT_MINE || frames->n == MAX_FRAMES)
                                return;
                        if (status == PARSE_MORE) {
                                g_assert(parsed.length == 0 && parsed.kind == KIND_UNKNOWN);
                                break;
                        }
                        g_assert(parsed.length > 0 && parsed.kind != KIND_UNKNOWN);
                        frames->frame[frames->n++] = parsed;
                        if (protocol->values)
                                protocol->values(label, memory, copy,
                                                 MIN(parsed.length, shown - at));
                        at += parsed.length;
                }
                if (shown == n)
                        return;
        }
}

static void fuzz_frames(const Protocol *protocol, const guint8 *data, gsize n)
{
        Frames whole = { .n = 0 }, pieces = { .n = 0 };
        if (n == 0)
                return;
        g_assert(protocol->find_boundary(data + 1, n - 1) <= n - 1);
        gpointer memory[2] = { NULL, NULL };
        parse_in_pieces(protocol, data + 1, n - 1, n, &memory[0], &whole);
        parse_in_pieces(protocol, data + 1, n - 1, 1 + data[0] % 50u, &memory[1], &pieces);
        for (guint i = 0; i < 2; i++)
                if (memory[i])
                        protocol->forget(memory[i]);
        for (guint i = 0; i < MIN(whole.n, pieces.n); i++) {
                const Parsed *a = &whole.frame[i], *b = &pieces.frame[i];
                g_assert(a->length == b->length && a->kind == b->kind && a->part == b->part &&
                         a->key == b->key && a->carried.content == b->carried.content);
        }
}
