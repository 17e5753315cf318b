/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Requests and the responses to them. The first byte of the input drives the size of the pieces in
 * which they are shown, the next two say how many bytes are requests.
 */
#include <string.h>

#include "base/hash.h"
#include "capture/protocol/protocol.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

enum { MAX_ENDS = 64 };

/* What messages end where, and what they carry. */
typedef struct {
        guint64 end[2 * MAX_ENDS];
        guint n;
        gboolean broken;
} Ends;

static void show(const guint8 *data, gsize n, Sender sender, gsize step, gpointer *memory,
                 GHashTable *names, Ends *ends)
{
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        g_autoptr(GString) label = g_string_new(NULL);
        guint64 at = 0;
        guint most = ends->n + MAX_ENDS;

        for (gsize shown = MIN(step, n); at < n; shown = MIN(shown + step, n)) {
                while (at < shown) {
                        g_autofree guint8 *copy = g_memdup2(data + at, shown - at);
                        Parsed p = { .memory = memory, .names = names, .sender = (guint8)sender };
                        ParseStatus status =
                                protocol_kafka.parse(state, CALL_NONE, copy, shown - at, FALSE,
                                                     g_string_truncate(label, 0), &p);
                        guint64 sum = 31 * p.outcome + p.carried.n_contents;

                        if (status == PARSE_NOT_MINE || ends->n == most) {
                                ends->broken = TRUE;
                                return;
                        }
                        at += p.length;
                        if (status == PARSE_MORE)
                                break;
                        g_assert(p.length > 0);
                        for (guint i = 0; i < p.carried.n_contents; i++)
                                sum = 31 * (31 * sum + p.carried.contents[i]) +
                                      (p.carried.contents_else ? p.carried.contents_else[i] : 0);
                        ends->end[ends->n++] = 31 * at + sum;
                }
                if (shown == n)
                        return;
        }
}

static void converse(const guint8 *data, gsize n, gsize requests, gsize step, Ends *ends)
{
        GHashTable *names = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, g_free);
        gpointer memory = NULL;

        show(data, requests, SENDER_CLIENT, step, &memory, names, ends);
        if (!ends->broken)
                show(data + requests, n - requests, SENDER_SERVER, step, &memory, names, ends);
        if (memory)
                protocol_kafka.forget(memory);
        g_hash_table_destroy(names);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        Ends whole = { .n = 0 }, pieces = { .n = 0 };
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { .cut = TRUE };

        if (n < 4)
                return 0;
        gsize step = 1 + data[0] % 50, requests = MIN((gsize)data[1] << 8 | data[2], n - 3);
        data += 3;
        n -= 3;
        g_assert(protocol_kafka.find_boundary(data, n) <= n);
        protocol_kafka.parse(state, CALL_PROBE, data, n, FALSE, NULL, &parsed);
        converse(data, n, requests, n, &whole);
        converse(data, n, requests, step, &pieces);
        for (guint i = 0; i < MIN(whole.n, pieces.n); i++)
                g_assert(whole.end[i] == pieces.end[i]);
        g_assert(whole.n == pieces.n || whole.broken || pieces.broken);
        return 0;
}
