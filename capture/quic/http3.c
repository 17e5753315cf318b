/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/quic/http3.h"

#include "capture/quic/qpack.h"
#include "capture/quic/quic-header.h"

enum {
        /* Types of streams in one direction, */
        STREAM_CONTROL = 0,
        STREAM_ENCODER = 2,
        /* of frames, */
        FRAME_DATA = 0,
        FRAME_HEADERS = 1,
        FRAME_SETTINGS = 4,
        FRAME_PRIORITY_UPDATE = 0xf0700,
        /* and of settings. */
        SETTING_CAPACITY = 1,

        HTTP2_DATA = 0,
        HTTP2_HEADERS = 1,
        HTTP2_RST_STREAM = 3,
        HTTP2_HEADER = 9,
        END_STREAM = 1,
        END_HEADERS = 4,
        BEGINS = 0x80, /* of the byte before the stream */

        MAX_PAYLOAD = 65536, /* of header blocks */
        MAX_SETTINGS = 4096,
        MAX_CAPACITY = 65536, /* of a table */
        ERROR_FIRST = 0x100,  /* H3_NO_ERROR */
        ERROR_INTERNAL = 0x102,
        ERROR_REJECTED = 0x10b,
        ERROR_CANCELLED = 0x10c,
};

struct Http3 {
        guint client;
        gsize *held, most;
        Qpack *qpack[2];       /* of the blocks of a side; NULL before the first */
        gsize capacity[2];     /* of its table */
        guint8 settled[2];     /* the capacity is known */
        guint8 table_lost[2];  /* its instructions were not all read */
        guint8 other, goes_on; /* see http3_is_other(), http3_goes_on() */
        GByteArray *frame;     /* scratch */
};

Http3 *http3_new(guint client, gsize *held, gsize most)
{
        Http3 *h = g_new0(Http3, 1);
        h->client = client;
        h->held = held;
        h->most = most;
        h->frame = g_byte_array_new();
        return h;
}

void http3_free(Http3 *h)
{
        if (!h)
                return;
        for (guint side = 0; side < 2; side++) {
                qpack_free(h->qpack[side]);
                *h->held -= h->capacity[side];
        }
        g_byte_array_unref(h->frame);
        g_free(h);
}

void http3_half_clear(Http3 *h, Http3Half *half)
{
        if (half->payload)
                *h->held -= half->payload->len;
        g_clear_pointer(&half->payload, g_byte_array_unref);
}

gboolean http3_is_other(const Http3 *h)
{
        return h->other;
}

gboolean http3_goes_on(Http3 *h)
{
        gboolean goes_on = h->goes_on;
        h->goes_on = FALSE;
        return goes_on;
}

/* --- frames of HTTP/2 ------------------------------------------------------ */

static void put_header(guint8 *to, gsize length, guint type, guint flags, guint64 stream,
                       gboolean begins)
{
        guint32 id = GUINT32_TO_BE((guint32)(stream / 2 + 1)); /* odd: stream is a multiple of 4 */
        to[0] = (guint8)(length >> 16);
        to[1] = (guint8)(length >> 8);
        to[2] = (guint8)length;
        to[3] = (guint8)type;
        to[4] = (guint8)flags;
        memcpy(to + 5, &id, sizeof id);
        to[5] |= begins ? BEGINS : 0;
}

/* The first frame of a message that has not begun as it should. */
static void fields_unknown_append(const Http3 *h, guint side, GByteArray *frame)
{
        static const guint8 method[] = { 2, 0 }, status[] = { 8, 0 };
        g_byte_array_append(frame, side == h->client ? method : status, 2);
}

/* Data of which nobody may have seen a byte. */
static void data_emit(guint side, guint64 stream, const guint8 *bytes, gsize n, guint flags,
                      Stamp stamp, const Http3Sink *sink)
{
        enum { MOST = 0xffffff };
        while (n > 0 || flags) {
                guint8 header[HTTP2_HEADER];
                gsize length = MIN(n, MOST);
                put_header(header, length, HTTP2_DATA, flags, stream, FALSE);
                sink->frames(sink->user, side, header, sizeof header, sizeof header, stamp);
                if (length > 0)
                        sink->frames(sink->user, side, bytes, bytes ? length : 0, length, stamp);
                bytes = bytes ? bytes + length : NULL;
                n -= length;
                flags = 0;
        }
}

/* h->frame has the fields, after room for a header. */
static void headers_emit(Http3 *h, guint side, guint64 stream, Http3Half *half, Stamp stamp,
                         const Http3Sink *sink)
{
        put_header(h->frame->data, h->frame->len - HTTP2_HEADER, HTTP2_HEADERS, END_HEADERS, stream,
                   !half->begun);
        half->begun = TRUE;
        sink->frames(sink->user, side, h->frame->data, h->frame->len, h->frame->len, stamp);
}

/* The message has begun, but nobody knows how. */
static void begin_unknown(Http3 *h, guint side, guint64 stream, Http3Half *half, Stamp stamp,
                          const Http3Sink *sink)
{
        if (half->begun)
                return;
        g_byte_array_set_size(h->frame, HTTP2_HEADER);
        fields_unknown_append(h, side, h->frame);
        headers_emit(h, side, stream, half, stamp, sink);
}

/* --- what frames say ------------------------------------------------------- */

/* The reader of the blocks of side. */
static Qpack *qpack_of(Http3 *h, guint side)
{
        if (!h->qpack[side])
                h->qpack[side] = qpack_new(h->capacity[side]);
        return h->qpack[side];
}

/* A whole block. FALSE: it must wait. */
static gboolean block_take(Http3 *h, guint side, guint64 stream, Http3Half *half, Stamp stamp,
                           const Http3Sink *sink)
{
        const GByteArray *block = half->payload;
        gboolean needs_table = qpack_needs_table(block->data, block->len);
        QpackResult result = QPACK_BROKEN;
        if (needs_table && !h->settled[side] && !h->table_lost[side])
                return FALSE;
        g_byte_array_set_size(h->frame, HTTP2_HEADER);
        if (block->len < half->left || (needs_table && h->table_lost[side]) || !qpack_of(h, side))
                ;
        else
                result = qpack_read(h->qpack[side], (gint64)stream, block->data, block->len,
                                    h->frame);
        if (result == QPACK_BLOCKED)
                return FALSE;
        if (result == QPACK_READ && h->frame->len > HTTP2_HEADER)
                headers_emit(h, side, stream, half, stamp, sink);
        else
                begin_unknown(h, side, stream, half, stamp, sink);
        return TRUE;
}

/* The settings of side bound the table of the other side's blocks. */
static void settings_read(Http3 *h, guint side, Cursor c)
{
        guint64 id, value, capacity = 0;
        while (quic_number_read(&c, &id) && quic_number_read(&c, &value))
                if (id == SETTING_CAPACITY)
                        capacity = value;
        if (h->settled[!side])
                return;
        h->settled[!side] = TRUE;
        h->goes_on = TRUE;
        if (capacity > MAX_CAPACITY || *h->held + capacity > h->most) {
                h->table_lost[!side] = TRUE;
                return;
        }
        h->capacity[!side] = (gsize)capacity;
        *h->held += (gsize)capacity;
        g_clear_pointer(&h->qpack[!side], qpack_free);
}

/* --- a stream -------------------------------------------------------------- */

/* A request stream begins with what no HTTP/3 has. */
static gboolean may_begin(guint64 type)
{
        return type == FRAME_HEADERS || type % 0x1f == 0x21 % 0x1f ||
               type == FRAME_PRIORITY_UPDATE || type > 0xff;
}

/* Takes bytes of the head of a frame, or of a stream in one direction, up to its end. */
static gsize head_take(Http3 *h, guint64 stream, Http3Half *half, const QuicRun *run)
{
        gboolean one_way = stream & 2;
        gsize used = 0;
        while (used < run->n && half->n_head < sizeof half->head) {
                half->head[half->n_head++] = run->bytes[used++];
                Cursor c = cursor(half->head, half->n_head);
                if (!quic_number_read(&c, &half->type))
                        continue;
                if (one_way && !half->typed) {
                        half->typed = TRUE;
                        half->within = half->type != STREAM_CONTROL;
                        half->left = half->within ? G_MAXUINT64 : 0;
                        half->n_head = 0;
                        break;
                }
                if (!quic_number_read(&c, &half->left))
                        continue;
                half->n_head = 0;
                half->within = half->left > 0;
                if (!one_way && !half->begun && !may_begin(half->type))
                        h->other = TRUE;
                break;
        }
        return used;
}

/* How long a payload of the frame's type may be that is kept whole; 0: it is passed over. */
static gsize payload_kept(guint64 stream, const Http3Half *half)
{
        return stream & 2                    ? half->type == FRAME_SETTINGS ? MAX_SETTINGS : 0
               : half->type == FRAME_HEADERS ? MAX_PAYLOAD
                                             : 0;
}

/* Of a frame whose payload is kept. half->left is the length of all. FALSE: the block waits. */
static gboolean payload_take(Http3 *h, guint side, guint64 stream, Http3Half *half,
                             const QuicRun *run, gsize *used, const Http3Sink *sink)
{
        if (!half->payload)
                half->payload = g_byte_array_new();
        guint before = half->payload->len;
        guint64 missing = half->left - before;
        gsize n = (gsize)MIN(missing, run->n - *used);
        gboolean whole = n == missing;
        if (half->left > payload_kept(stream, half) || *h->held + n > h->most) {
                if (!(stream & 2)) /* too much: it counts, and says nothing */
                        begin_unknown(h, side, stream, half, run->stamp, sink);
                half->type = FRAME_PRIORITY_UPDATE; /* is passed over */
                half->left -= before;
                http3_half_clear(h, half);
                return TRUE;
        }
        g_byte_array_append(half->payload, run->bytes + *used, (guint)n);
        if (whole && half->type == FRAME_HEADERS &&
            !block_take(h, side, stream, half, run->stamp, sink)) {
                g_byte_array_set_size(half->payload, before);
                return FALSE;
        }
        if (whole && half->type == FRAME_SETTINGS)
                settings_read(h, side, cursor(half->payload->data, half->payload->len));
        *used += n;
        *h->held += n;
        if (whole) {
                half->within = FALSE;
                http3_half_clear(h, half);
        }
        return TRUE;
}

/* Bytes of a stream in one direction that are no frames, or of frames that are passed over. */
static void stream_pass(Http3 *h, guint side, guint64 stream, Http3Half *half, const guint8 *bytes,
                        gsize n, Stamp stamp, const Http3Sink *sink)
{
        if (stream & 2) {
                if (half->left == G_MAXUINT64 && half->type == STREAM_ENCODER &&
                    !h->table_lost[side]) {
                        h->table_lost[side] =
                                !qpack_of(h, side) || !qpack_instruct(h->qpack[side], bytes, n);
                        h->goes_on = TRUE;
                }
        } else if (half->type == FRAME_DATA) {
                begin_unknown(h, side, stream, half, stamp, sink);
                data_emit(side, stream, bytes, n, 0, stamp, sink);
        }
}

/* Nobody has seen these bytes. */
static gsize missing_add(Http3 *h, guint side, guint64 stream, Http3Half *half, const QuicRun *run,
                         const Http3Sink *sink)
{
        if (stream & 2) {
                if (half->type == STREAM_ENCODER || !half->typed)
                        h->table_lost[side] = h->goes_on = TRUE;
                half->lost = TRUE;
        } else if (half->within && half->left >= run->n && half->type != FRAME_HEADERS) {
                if (half->type == FRAME_DATA)
                        data_emit(side, stream, NULL, run->n, 0, run->stamp, sink);
                half->left -= run->n;
                half->within = half->left > 0;
        } else {
                half->lost = TRUE;
        }
        return run->n;
}

gsize http3_add(Http3 *h, guint side, guint64 stream, Http3Half *half, const QuicRun *run,
                const Http3Sink *sink)
{
        gsize used = 0;
        if (h->other || (stream & 3) == 1)
                return run->n;
        if (!half->lost && !run->bytes)
                return missing_add(h, side, stream, half, run, sink);
        if (half->lost && (stream & 2 || !run->bytes))
                return run->n;
        if (half->lost) {
                begin_unknown(h, side, stream, half, run->stamp, sink);
                data_emit(side, stream, run->bytes, run->n, 0, run->stamp, sink);
                return run->n;
        }
        while (used < run->n && !h->other) {
                if (!half->within) {
                        QuicRun rest = { run->bytes + used, run->n - used, run->stamp };
                        used += head_take(h, stream, half, &rest);
                        continue;
                }
                if (stream & 2 && half->left == G_MAXUINT64 && half->type == STREAM_ENCODER &&
                    !h->settled[side] && !h->table_lost[side])
                        break; /* the table's size is not known */
                if (payload_kept(stream, half) > 0) {
                        if (!payload_take(h, side, stream, half, run, &used, sink))
                                break;
                        continue;
                }
                gsize n = (gsize)MIN(half->left, run->n - used);
                stream_pass(h, side, stream, half, run->bytes + used, n, run->stamp, sink);
                used += n;
                if (half->left != G_MAXUINT64)
                        half->left -= n;
                half->within = half->left > 0;
        }
        return h->other ? run->n : used;
}

void http3_end(Http3 *h, guint side, guint64 stream, Http3Half *half, Stamp stamp,
               const Http3Sink *sink)
{
        if (h->other || stream & 3 || half->ended)
                return;
        begin_unknown(h, side, stream, half, stamp, sink);
        half->ended = TRUE;
        data_emit(side, stream, NULL, 0, END_STREAM, stamp, sink);
}

/* HTTP/2's codes of the errors that are of one request. */
static guint32 error_of_http2(guint64 error)
{
        enum { NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, REFUSED_STREAM = 7, CANCEL };
        return error == ERROR_FIRST       ? NO_ERROR
               : error == ERROR_INTERNAL  ? INTERNAL_ERROR
               : error == ERROR_REJECTED  ? REFUSED_STREAM
               : error == ERROR_CANCELLED ? CANCEL
                                          : PROTOCOL_ERROR;
}

void http3_abort(Http3 *h, guint side, guint64 stream, Http3Half *half, guint64 error, Stamp stamp,
                 const Http3Sink *sink)
{
        guint8 frame[HTTP2_HEADER + 4];
        guint32 code = GUINT32_TO_BE(error_of_http2(error));
        if (h->other || stream & 3 || half->ended)
                return;
        half->ended = TRUE;
        put_header(frame, 4, HTTP2_RST_STREAM, 0, stream, FALSE);
        memcpy(frame + HTTP2_HEADER, &code, sizeof code);
        sink->frames(sink->user, side, frame, sizeof frame, sizeof frame, stamp);
}

void http3_give_up(Http3 *h)
{
        for (guint side = 0; side < 2; side++)
                h->table_lost[side] = TRUE;
        h->goes_on = TRUE;
}
