/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A key log, and the segments of a TLS connection. The input: the length of the key log in two
 * bytes, the key log, and records. A record has three bytes, for flags with the side and the length
 * of a payload, and the payload. What is inside comes in order, and only after the connection is
 * opened; what is given back is all that came, as it came; nothing is held at the end.
 */
#include <string.h>

#include "capture/tls/opener.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

enum { RECORD = 3, SIDE = 1, MISSING = 2, ENDS = 4, SETTLE = 8, CUT = 16 };

typedef struct {
        gboolean opened, begun[2], ended[2];
        guint32 next[2]; /* inside */
        guint64 given_back[2], came[2];
} Seen;

static void take_closed(gpointer user, guint side, const TlsSegment *segment)
{
        Seen *seen = user;
        g_assert(!seen->opened);
        seen->given_back[side] += segment->length;
}

static void take_opened(gpointer user)
{
        Seen *seen = user;
        g_assert(!seen->opened);
        seen->opened = TRUE;
}

static void take_inside(gpointer user, guint side, guint32 seq, const guint8 *bytes, gsize n,
                        Stamp first, Stamp last)
{
        Seen *seen = user;
        guint sum = 0;
        g_assert(seen->opened && n > 0);
        g_assert(!seen->begun[side] || seen->next[side] == seq);
        g_assert(!bytes || first.time <= last.time);
        for (gsize i = 0; bytes && i < n; i++) /* every byte can be read */
                sum += bytes[i];
        seen->begun[side] = TRUE;
        seen->next[side] = seq + (guint32)n + (sum > G_MAXUINT32);
}

static void take_no_data(gpointer user, guint side)
{
        (void)user, (void)side;
}

static void take_end(gpointer user, guint side, Stamp stamp)
{
        Seen *seen = user;
        (void)stamp;
        seen->ended[side] = TRUE;
}

static void update(TlsOpener **opener)
{
        TlsResult result = tls_opener_result(*opener);
        if (result != TLS_WAITS && result != TLS_OPENED)
                g_clear_pointer(opener, tls_opener_free);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        Seen seen = { 0 };
        TlsOpenerSink sink = {
                take_closed, take_opened, take_inside, take_no_data, take_end, &seen
        };
        g_autoptr(KeyLog) keys = key_log_new();
        TlsOpening opening = { .keys = keys };
        Stamp stamp = { 1000000000, 0 };
        guint32 seq[2] = { 1, 1 };
        gint64 since;
        if (n < 2 || read_u16(data) > n - 2)
                return 0;
        key_log_add(keys, data + 2, read_u16(data));
        n -= 2 + (gsize)read_u16(data);
        data += 2 + read_u16(data);
        TlsOpener *opener = tls_opener_new(&opening, 0);
        while (n >= RECORD && opener) {
                guint8 flags = data[0];
                guint side = flags & SIDE;
                gsize length = MIN(read_u16(data + 1), n - RECORD);
                /* Of just its size, so that reading past it is seen. */
                g_autofree guint8 *copy = g_memdup2(data + RECORD, length);
                TlsSegment segment = { .seq = seq[side],
                                       .bytes = flags & MISSING ? NULL : copy,
                                       .n = flags & MISSING ? 0 : length - (flags & CUT && length),
                                       .length = length,
                                       .stamp = stamp };
                if (length > 0) {
                        tls_opener_add(opener, side, &segment, &sink);
                        seen.came[side] += length;
                        update(&opener);
                }
                if (opener && flags & ENDS) {
                        tls_opener_add(opener, side, &(TlsSegment){ .ends = TRUE, .stamp = stamp },
                                       &sink);
                        update(&opener);
                }
                if (opener && tls_opener_waits_since(opener, &since))
                        g_assert(since <= stamp.time || (flags & MISSING));
                if (opener && flags & SETTLE) {
                        tls_opener_settle(opener, &sink);
                        update(&opener);
                }
                seq[side] += (guint32)length;
                stamp.time += 1000;
                data += RECORD + length;
                n -= RECORD + length;
        }
        if (opener)
                tls_opener_settle(opener, &sink);
        g_assert(seen.opened ||
                 (seen.given_back[0] == seen.came[0] && seen.given_back[1] == seen.came[1]));
        tls_opener_free(opener);
        g_assert(opening.held == 0);
        g_free(opening.plain);
        return 0;
}
