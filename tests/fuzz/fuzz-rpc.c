/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parsers of RPC: a datagram, and records shown all at once and in pieces of as
 * many bytes as the first byte says, where the same messages must come out.
 */
#include <string.h>

#include "capture/protocol/protocol.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

enum { MAX_ENDS = 64 };

typedef struct {
        guint64 end[MAX_ENDS];
        guint n;
} Ends;

static void parse_in_pieces(const guint8 *data, gsize n, gsize step, Ends *ends)
{
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        guint64 at = 0; /* everything before it is settled */
        for (gsize shown = MIN(step, n); at < n; shown = MIN(shown + step, n)) {
                while (at < shown) {
                        g_autofree guint8 *copy = g_memdup2(data + at, shown - at);
                        Parsed parsed = { 0 };
                        ParseStatus status = protocol_rpc.parse(state, CALL_NONE, copy, shown - at,
                                                                FALSE, NULL, &parsed);
                        if (status == PARSE_NOT_MINE || ends->n == MAX_ENDS)
                                return;
                        at += parsed.length;
                        if (status == PARSE_MORE)
                                break;
                        g_assert(parsed.length > 0);
                        ends->end[ends->n++] = at;
                }
                if (shown == n)
                        return;
        }
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        Ends whole = { .n = 0 }, pieces = { .n = 0 };
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { 0 };
        if (n == 0)
                return 0;
        GString *label = g_string_new(NULL);
        if (protocol_rpc_udp.parse(state, CALL_NONE, data + 1, n - 1, data[0] & 1, label,
                                   &parsed) == PARSE_MESSAGE)
                g_assert(parsed.length == n - 1 && parsed.keyed);
        g_string_free(label, TRUE);
        g_assert(protocol_rpc.find_boundary(data + 1, n - 1) <= n - 1);
        parse_in_pieces(data + 1, n - 1, n, &whole);
        parse_in_pieces(data + 1, n - 1, 1 + data[0] % 50u, &pieces);
        for (guint i = 0; i < MIN(whole.n, pieces.n); i++)
                g_assert(whole.end[i] == pieces.end[i]);
        return 0;
}
