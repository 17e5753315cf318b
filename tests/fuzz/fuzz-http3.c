/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Frames of streams of QUIC, with HTTP/3 and QPACK inside. A record has four bytes: flags with the
 * side, the stream, the offset, the length; and the bytes. What comes out must be whole frames of
 * HTTP/2, and all memory must come back.
 */
#include <string.h>

#include "capture/protocol/protocol.h"
#include "capture/quic/quic-streams.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

typedef struct {
        guint64 state[2][PROTOCOL_STATE_SIZE / 8];
        gsize skip[2];
} Talk;

static void parse_frames(gpointer user, guint side, const guint8 *bytes, gsize n, gsize length,
                         G_GNUC_UNUSED Stamp stamp)
{
        Talk *t = user;
        g_autoptr(GString) label = g_string_new(NULL);
        Parsed parsed = { .sender = side == 0 ? SENDER_CLIENT : SENDER_SERVER };
        if (t->skip[side] > 0) {
                g_assert(t->skip[side] == length);
                t->skip[side] = 0;
                return;
        }
        g_assert(n == length);
        if (protocol_http3.parse(t->state[side], CALL_NONE, bytes, n, FALSE, label, &parsed) !=
            PARSE_MESSAGE)
                return; /* it is not what the side may send */
        g_assert(parsed.length >= n);
        t->skip[side] = parsed.length - n;
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        enum { SIDE = 1, LAST = 2, ABORT = 4, STOP = 8, GIVE_UP = 16, FAR = 32 };
        Talk talk = { 0 };
        Http3Sink sink = { parse_frames, &talk };
        gsize n_held = 0, held = 0;
        gint64 since;
        QuicStreams *t = quic_streams_new(0, &n_held, &held, 200000);
        for (guint i = 0; n >= 4; i++) {
                guint flags = data[0], side = flags & SIDE;
                guint64 id = data[1], offset = flags & FAR ? data[2] * 251u : data[2];
                gsize length = MIN(data[3], n - 4);
                g_autofree guint8 *copy = g_memdup2(data + 4, length);
                Stamp stamp = { i, i };
                if (flags & GIVE_UP)
                        quic_streams_give_up(t, &sink);
                if (flags & (ABORT | STOP))
                        quic_streams_abort(t, side, id, 0x100 + data[2], (flags & STOP) != 0, stamp,
                                           &sink);
                else
                        quic_streams_add(t, side, id, offset, copy, length, (flags & LAST) != 0,
                                         stamp, &sink);
                quic_streams_go_on(t, stamp, &sink);
                quic_streams_wait_since(t, &since);
                data += 4 + length;
                n -= 4 + length;
        }
        quic_streams_give_up(t, &sink);
        g_assert(!quic_streams_wait_since(t, &since));
        quic_streams_free(t);
        g_assert(n_held == 0 && held == 0);
        return 0;
}
