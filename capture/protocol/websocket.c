/* SPDX-License-Identifier: BSD-2-Clause
 *
 * WebSocket (RFC 6455), after an upgrade of HTTP. A message of either side is one-way, also in
 * several frames; pings, pongs and the end of the connection are nothing. Nothing tells it in the
 * middle of a connection.
 */
#include "capture/protocol/protocol.h"

enum { FIN = 0x80, RESERVED = 0x70, CONTINUATION = 0, BINARY = 2, CLOSE = 8, PONG = 10 };

#define MAX_FRAME (G_GUINT64_CONSTANT(1) << 56)

typedef struct {
        guint8 within; /* a message that has begun */
} WebSocketState;

G_STATIC_ASSERT(sizeof(WebSocketState) <= PROTOCOL_STATE_SIZE);

typedef struct {
        guint8 opcode;
        gboolean fin;
        guint64 size; /* with its header */
} Frame;

static ParseStatus websocket_frame_read(const guint8 *bytes, gsize n, Frame *f)
{
        if (n == 0)
                return PARSE_MORE;
        f->opcode = bytes[0] & 15;
        f->fin = (bytes[0] & FIN) != 0;
        gboolean control = f->opcode >= CLOSE;
        /* Of the reserved bits extensions use the first, for messages that are compressed. */
        if (f->opcode > PONG || (f->opcode > BINARY && !control) || (bytes[0] & RESERVED & ~0x40) ||
            (control && (!f->fin || (bytes[0] & RESERVED))))
                return PARSE_NOT_MINE;
        if (n < 2)
                return PARSE_MORE;
        guint length = bytes[1] & 0x7f, extra = length == 126 ? 2 : length == 127 ? 8 : 0;
        gboolean masked = (bytes[1] & 0x80) != 0;
        if (control && extra)
                return PARSE_NOT_MINE;
        if (n < 2 + extra)
                return PARSE_MORE;
        guint64 payload = extra == 2   ? read_u16(bytes + 2)
                          : extra == 8 ? read_u64(bytes + 2)
                                       : length;
        if (payload > MAX_FRAME || (extra == 2 && payload < 126) || (extra == 8 && payload < 65536))
                return PARSE_NOT_MINE;
        f->size = 2 + extra + (masked ? 4 : 0) + payload;
        return PARSE_MESSAGE;
}

static ParseStatus websocket_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                                   gboolean eof, GString *label, Parsed *parsed)
{
        WebSocketState *s = state;
        Frame f;
        (void)label;
        if (eof || call == CALL_PROBE)
                return PARSE_NOT_MINE;
        while (parsed->length < n) {
                gsize at = (gsize)parsed->length;
                ParseStatus status = websocket_frame_read(bytes + at, n - at, &f);
                gboolean control = f.opcode >= CLOSE;
                if (status == PARSE_MESSAGE && !control && (f.opcode == CONTINUATION) != s->within)
                        return PARSE_NOT_MINE;
                if (s->within)
                        parsed->kind = KIND_ONE_WAY;
                if (status != PARSE_MESSAGE)
                        return status;
                parsed->length += f.size;
                parsed->kind = control && !s->within ? KIND_CONTROL : KIND_ONE_WAY;
                if (!control)
                        s->within = !f.fin;
                if (!s->within)
                        return PARSE_MESSAGE;
        }
        return PARSE_MORE;
}

/* The first byte of a message, and a length that is there. */
static gsize websocket_find_boundary(const guint8 *bytes, gsize n)
{
        for (gsize at = 0; at < n; at++) {
                Frame f;
                if (websocket_frame_read(bytes + at, n - at, &f) == PARSE_MESSAGE &&
                    f.opcode != CONTINUATION && f.size == n - at)
                        return at;
        }
        return n;
}

const Protocol protocol_websocket = {
        .name = "websocket",
        .parse = websocket_parse,
        .find_boundary = websocket_find_boundary,
};
