/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One direction as of any protocol over TCP; and both at once, since they look at each
 * other: a byte says who speaks and for how long, and so on.
 */
#include "tests/fuzz/fuzz-pieces.h"

typedef struct {
        guint64 state[PROTOCOL_STATE_SIZE / 8];
        GByteArray *pending;
        guint64 skip;
} Direction;

/* FALSE: it is not SMTP. */
static gboolean hear(Direction *d, const Direction *other)
{
        gboolean moved = TRUE;
        while (d->pending->len > 0) {
                g_autofree guint8 *copy = g_memdup2(d->pending->data, d->pending->len);
                Parsed parsed = { .other = other->state };
                ParseStatus status = protocol_smtp.parse(d->state, CALL_NONE, copy, d->pending->len,
                                                         FALSE, NULL, &parsed);
                if (status == PARSE_NOT_MINE)
                        return FALSE;
                g_assert(status == PARSE_MORE || parsed.kind != KIND_UNKNOWN);
                g_assert(status == PARSE_MORE || parsed.length > 0 || moved); /* or for ever */
                moved = parsed.length > 0;
                gsize used = (gsize)MIN(parsed.length, d->pending->len);
                g_byte_array_remove_range(d->pending, 0, (guint)used);
                d->skip = parsed.length - used;
                if (status == PARSE_MORE)
                        break;
        }
        return TRUE;
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        Direction d[2] = { { .pending = g_byte_array_new() }, { .pending = g_byte_array_new() } };
        gboolean mine = TRUE;
        fuzz_pieces(&protocol_smtp, data, n);
        while (mine && n > 1) {
                guint side = data[0] & 1;
                gsize said = MIN(1 + data[0] / 2u, n - 1);
                gsize skipped = (gsize)MIN(d[side].skip, said);
                d[side].skip -= skipped;
                g_byte_array_append(d[side].pending, data + 1 + skipped, (guint)(said - skipped));
                mine = hear(&d[side], &d[!side]);
                data += 1 + said;
                n -= 1 + said;
        }
        g_byte_array_unref(d[0].pending);
        g_byte_array_unref(d[1].pending);
        return 0;
}
