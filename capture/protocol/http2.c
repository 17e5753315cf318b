/* SPDX-License-Identifier: BSD-2-Clause
 *
 * HTTP/2 in cleartext (RFC 9113), and so gRPC. A stream is a call: it begins with
 * the client's HEADERS, its return ends with the frame that has END_STREAM, or
 * with the server's RST_STREAM. Frames are told by their headers alone. Bodies are passed over, but
 * for the first bytes of some (body-name.h). Of a header block (RFC 7541) only the first field is
 * looked at, which says whether it is a request, a response or an interim one. Where labels are
 * wanted, the blocks of both sides are handed on whole, from the first of the connection: those of
 * a client for the operation, those of a server for the outcome.
 *
 * Recognised by the client's preface, or in the middle of a connection by frames
 * that are sound in every respect.
 */
#include "capture/protocol/body-name.h"
#include "capture/protocol/protocol.h"
#include "capture/protocol/values.h"

#include <string.h>

enum {
        DATA,
        HEADERS,
        PRIORITY,
        RST_STREAM,
        SETTINGS,
        PUSH_PROMISE,
        PING,
        GOAWAY,
        WINDOW_UPDATE,
        CONTINUATION,
        N_TYPES
};

enum {
        FLAG_ACK = 0x1,
        FLAG_END_STREAM = 0x1,
        FLAG_END_HEADERS = 0x4,
        FLAG_PADDED = 0x8,
        FLAG_PRIORITY = 0x20,

        FRAME_HEADER = 9,
        MAX_FIRST_FRAME = 16384, /* what is not agreed on otherwise */
        MAX_FIRST_FIELD = 24,    /* padding, priority, table sizes and the first field */
        MAX_BLOCK = 65536,       /* or no labels from there on */
        LAST_ERROR_CODE = 13,
        FIRST_STATUS = 8, /* of ":status" in the static table; before it are the request's */
        LAST_STATUS = 14,
        SURE = 2,         /* see weigh_frame() */
        MAX_UNSURE = 256, /* frames by which it is not known */
};

/* Which side this is. */
enum { ROLE_UNKNOWN, ROLE_CLIENT, ROLE_SERVER };

typedef struct {
        guint32 highest;   /* stream that this direction has begun */
        guint32 block;     /* the stream whose header block goes on, or 0 */
        guint8 block_kind; /* MessageKind of that */
        guint8 block_part; /* PartFlags of its last frame */
        guint8 known, role;
        guint8 labels; /* all header blocks since the first were handed on */
        guint8 blocks; /* a header block was seen */
        guint8 starts; /* of the server: its first frame is the first of the connection */
        guint8 newer;  /* frames of HTTP/3, written as these: see protocol_http3 */
} Http2State;

G_STATIC_ASSERT(sizeof(Http2State) <= PROTOCOL_STATE_SIZE);

typedef struct {
        guint32 length, stream;
        guint8 type, flags;
        gboolean reserved; /* the bit before the stream */
} Frame;

static inline Frame http2_frame_decode(const guint8 *p)
{
        return (Frame){ .length = (guint32)p[0] << 16 | read_u16(p + 1),
                        .type = p[3],
                        .flags = p[4],
                        .stream = read_u32(p + 5) & 0x7fffffff,
                        .reserved = p[5] >> 7 };
}

/* What each type of frame may be: RFC 9113, 6. */
static inline gboolean http2_frame_is_sound(const Frame *f)
{
        switch (f->type) {
        case DATA:
        case HEADERS:
        case PUSH_PROMISE:
        case CONTINUATION:
                return f->stream != 0;
        case PRIORITY:
                return f->stream != 0 && f->length == 5;
        case RST_STREAM:
                return f->stream != 0 && f->length == 4;
        case SETTINGS:
                return f->stream == 0 && f->length % 6 == 0 &&
                       (!(f->flags & FLAG_ACK) || f->length == 0);
        case PING:
                return f->stream == 0 && f->length == 8;
        case GOAWAY:
                return f->stream == 0 && f->length >= 8;
        case WINDOW_UPDATE:
                return f->length == 4;
        default:
                return TRUE; /* an extension */
        }
}

/* --- header blocks --------------------------------------------------------- */

/* What the first field of a header block says of the message. */
typedef enum {
        FIELD_REQUEST,
        FIELD_RESPONSE,
        FIELD_INTERIM,
        FIELD_DYNAMIC, /* in the table that the connection has built: any of them */
        FIELD_OTHER,   /* no pseudo-header: trailers */
        FIELD_BROKEN
} Field;

/* An integer that begins with the low bits of its first byte (RFC 7541, 5.1). */
static inline gboolean integer_read(Cursor *c, guint bits, guint32 *value)
{
        guint8 byte, mask = (guint8)((1u << bits) - 1);
        if (!cursor_u8(c, &byte))
                return FALSE;
        *value = byte & mask;
        if (*value < mask)
                return TRUE;
        for (guint shift = 0; shift <= 21; shift += 7) {
                if (!cursor_u8(c, &byte))
                        return FALSE;
                *value += (guint32)(byte & 0x7f) << shift;
                if (!(byte & 0x80))
                        return TRUE;
        }
        return FALSE;
}

static gboolean string_skip(Cursor *c)
{
        guint32 n;
        return integer_read(c, 7, &n) && cursor_skip(c, n);
}

static gboolean table_size_read(Cursor *c)
{
        guint32 size;
        return cursor_left(c) > 0 && (*c->at & 0xe0) == 0x20 && integer_read(c, 5, &size);
}

/* One representation of a field, or a change of the table's size; its value may
 * be cut off. *index is that of the static or dynamic table, 0 for a new name. */
static gboolean http2_field_read(Cursor *c, gboolean *literal, guint32 *index)
{
        if (cursor_left(c) == 0)
                return FALSE;
        guint8 first = *c->at;
        *literal = !(first & 0x80);
        return integer_read(c, first & 0x80 ? 7 : first & 0x40 ? 6 : 4, index);
}

/* Skips ":status" in letters, which stands where its index is 0. */
static gboolean status_skip(Cursor *c)
{
        static const char status[] = "\7:status";
        gsize n = sizeof status - 1;
        return cursor_left(c) >= n && memcmp(c->at, status, n) == 0 && cursor_skip(c, n);
}

/* As http2_field_read(), of the first field. A ":status" has its index in the static table. */
static inline gboolean first_field_read(Cursor *c, gboolean *literal, guint32 *index)
{
        while (table_size_read(c)) {
        }
        if (!http2_field_read(c, literal, index))
                return FALSE;
        if (*index == 0 && *literal && status_skip(c))
                *index = FIRST_STATUS;
        return TRUE;
}

/* A status that begins with 1, plain or in Huffman's code. */
static gboolean status_is_interim(Cursor c)
{
        guint8 length, first;
        if (!cursor_u8(&c, &length) || !cursor_u8(&c, &first))
                return FALSE;
        return length & 0x80 ? first >> 3 == 1 : first == '1';
}

/* The status in the first field of a response, as far as the static table has it, or plain digits.
 * 0: it is in the table of the connection, or packed. */
static guint first_status(Cursor c)
{
        static const guint16 statuses[] = { 200, 204, 206, 304, 400, 404, 500 };
        gboolean literal;
        guint32 index;
        const guint8 *p;
        if (!first_field_read(&c, &literal, &index) || index < FIRST_STATUS || index > LAST_STATUS)
                return 0;
        if (!literal)
                return statuses[index - FIRST_STATUS];
        if (!(p = cursor_take(&c, 4)) || p[0] != 3 || !g_ascii_isdigit(p[1]) ||
            !g_ascii_isdigit(p[2]) || !g_ascii_isdigit(p[3]))
                return 0;
        return (guint)(p[1] - '0') * 100 + (guint)(p[2] - '0') * 10 + (guint)(p[3] - '0');
}

static Field first_field(Cursor c)
{
        gboolean literal;
        guint32 index;
        if (!first_field_read(&c, &literal, &index) || (!literal && index == 0))
                return FIELD_BROKEN;
        if (index >= 1 && index < FIRST_STATUS) /* :authority, :method, :path, :scheme */
                return FIELD_REQUEST;
        if (index >= FIRST_STATUS && index <= LAST_STATUS)
                return literal && status_is_interim(c) ? FIELD_INTERIM : FIELD_RESPONSE;
        return !literal && index > 61 ? FIELD_DYNAMIC : FIELD_OTHER;
}

/* Where the header block begins in the payload of a frame. */
static gsize block_offset(const Frame *f)
{
        return (f->flags & FLAG_PADDED ? 1 : 0) + (f->flags & FLAG_PRIORITY ? 5 : 0);
}

/* Whether a whole header block is made of fields. */
static gboolean block_is_sound(const Frame *f, const guint8 *payload)
{
        gsize padding = f->flags & FLAG_PADDED ? payload[0] : 0;
        if (block_offset(f) + padding >= f->length)
                return FALSE;
        Cursor c = cursor(payload + block_offset(f), f->length - padding - block_offset(f));
        while (table_size_read(&c)) {
        }
        while (cursor_left(&c) > 0) {
                gboolean literal;
                guint32 index;
                if (!http2_field_read(&c, &literal, &index) || (!literal && index == 0) ||
                    (literal && index == 0 && !string_skip(&c)) || (literal && !string_skip(&c)))
                        return FALSE;
        }
        return TRUE;
}

/* --- recognising ----------------------------------------------------------- */

static const guint8 preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
enum { PREFACE = sizeof preface - 1 };

static gboolean settings_are_sound(const guint8 *p, gsize n)
{
        for (gsize at = 0; at < n; at += 6) {
                guint id = read_u16(p + at);
                guint32 value = read_u32(p + at + 2);
                if (!((id >= 1 && id <= 9) || id >= 0xf000 || (id & 0x0f0f) == 0x0a0a) ||
                    (id == 2 && value > 1) || (id == 4 && value > 0x7fffffff) ||
                    (id == 5 && (value < MAX_FIRST_FRAME || value > 0xffffff)))
                        return FALSE;
        }
        return TRUE;
}

/* How much a frame speaks for HTTP/2: SURE, less, or -1 against. n bytes of its
 * payload are there; *more where that says too little. */
static int weigh_frame(const Frame *f, const guint8 *payload, gsize n, gboolean *more)
{
        static const guint8 flags[N_TYPES] = {
                [DATA] = 0x9, [HEADERS] = 0x2d,     [SETTINGS] = 0x1,
                [PING] = 0x1, [CONTINUATION] = 0x4, [PUSH_PROMISE] = 0xc
        };
        *more = FALSE;
        if (f->type >= N_TYPES || f->reserved || f->length > MAX_FIRST_FRAME ||
            (f->flags & ~flags[f->type]) || !http2_frame_is_sound(f))
                return -1;
        *more = n < f->length && f->type != DATA;
        if (*more)
                return 0;
        switch (f->type) {
        case DATA:
                return f->stream % 2 && (f->length || f->flags) ? 0 : -1;
        case HEADERS:
                if (f->stream % 2 == 0 || f->length <= block_offset(f))
                        return -1;
                if (!(f->flags & FLAG_END_HEADERS))
                        return 0;
                if (!block_is_sound(f, payload))
                        return -1;
                switch (first_field(
                        cursor(payload + block_offset(f), f->length - block_offset(f)))) {
                case FIELD_REQUEST:
                case FIELD_RESPONSE:
                case FIELD_INTERIM:
                        return SURE;
                case FIELD_DYNAMIC:
                        return 1;
                default:
                        return f->flags & FLAG_END_STREAM ? 0 : -1;
                }
        case SETTINGS:
                if (!settings_are_sound(payload, f->length))
                        return -1;
                return f->flags & FLAG_ACK ? 1 : SURE;
        case RST_STREAM:
                return read_u32(payload) <= LAST_ERROR_CODE ? 1 : -1;
        case GOAWAY:
                return payload[0] < 0x80 && read_u32(payload + 4) <= LAST_ERROR_CODE ? SURE : -1;
        case WINDOW_UPDATE:
                return payload[0] < 0x80 && read_u32(payload) ? 1 : -1;
        case PING: /* all that an idle connection says, of nine bytes that must be so */
                return SURE;
        case PUSH_PROMISE:
        case CONTINUATION:
                return 0;
        default:
                return 1;
        }
}

/* PARSE_MESSAGE where the bytes begin with a frame of HTTP/2 beyond doubt. */
static ParseStatus http2_recognise(const guint8 *bytes, gsize n)
{
        gsize at = 0;
        guint frames = 0;
        for (int weight = 0; weight < SURE;) {
                gboolean more;
                if (++frames > MAX_UNSURE)
                        return PARSE_NOT_MINE;
                if (at + FRAME_HEADER > n)
                        return at < n && bytes[at] != 0 ? PARSE_NOT_MINE : PARSE_MORE;
                Frame f = http2_frame_decode(bytes + at);
                int w = weigh_frame(&f, bytes + at + FRAME_HEADER, n - at - FRAME_HEADER, &more);
                if (w < 0)
                        return PARSE_NOT_MINE;
                if (more)
                        return PARSE_MORE;
                weight += w;
                at += FRAME_HEADER + f.length;
        }
        return PARSE_MESSAGE;
}

/* --- messages -------------------------------------------------------------- */

/* A part of the message of f's stream, in the direction of s. */
static MessageKind part_kind(const Http2State *s)
{
        return s->role == ROLE_CLIENT   ? KIND_CALL
               : s->role == ROLE_SERVER ? KIND_RETURN
                                        : KIND_BY_SIDE;
}

/* Streams of even number are what a server pushes: its headers are a one-way
 * message, the rest is none. */
static void http2_part_set(const Http2State *s, const Frame *f, guint part, Parsed *parsed)
{
        if (f->stream % 2)
                parsed_set_keyed(parsed, part_kind(s), part, f->stream);
        else
                parsed_set_keyed(parsed, KIND_CONTROL, 0, f->stream);
}

static gboolean http2_headers_read(Http2State *s, const Frame *f, const guint8 *payload, gsize n,
                                   Parsed *parsed)
{
        guint part = PART_GOES_ON;
        if (f->length <= block_offset(f) || n <= block_offset(f))
                return FALSE;
        Field field = first_field(cursor(payload + block_offset(f), n - block_offset(f)));
        if (field == FIELD_BROKEN)
                return FALSE;
        guint role = field == FIELD_REQUEST                              ? ROLE_CLIENT
                     : field == FIELD_RESPONSE || field == FIELD_INTERIM ? ROLE_SERVER
                                                                         : ROLE_UNKNOWN;
        if (role && s->role && role != s->role)
                return FALSE;
        if (role)
                s->role = (guint8)role;
        if (s->newer ? f->reserved
                     : field != FIELD_OTHER && f->stream % 2 && f->stream > s->highest) {
                part |= PART_BEGINS;
                s->highest = f->stream;
        }
        if ((f->flags & FLAG_END_STREAM) && (f->flags & FLAG_END_HEADERS))
                part |= PART_ENDS;
        http2_part_set(s, f, part, parsed);
        if (field == FIELD_RESPONSE)
                parsed->outcome = outcome_http(
                        first_status(cursor(payload + block_offset(f), n - block_offset(f))));
        if (f->stream % 2 == 0 && field != FIELD_OTHER)
                parsed->kind = KIND_ONE_WAY;
        if (field == FIELD_INTERIM && !(f->flags & FLAG_END_STREAM)) {
                parsed->kind = KIND_INTERIM;
                parsed->part = 0;
        }
        if (!(f->flags & FLAG_END_HEADERS)) {
                s->block = f->stream;
                s->block_kind = parsed->part ? (guint8)parsed->kind : KIND_CONTROL;
                s->block_part = parsed->part ? PART_GOES_ON : 0;
                if (parsed->part && (f->flags & FLAG_END_STREAM))
                        s->block_part |= PART_ENDS;
        }
        return TRUE;
}

static void continuation_read(Http2State *s, const Frame *f, Parsed *parsed)
{
        gboolean last = (f->flags & FLAG_END_HEADERS) != 0;
        parsed_set_keyed(parsed, s->block_kind,
                         s->block_part && !last ? PART_GOES_ON : s->block_part, f->stream);
        if (last)
                s->block = 0;
}

/* The first header block of a direction. The server's blocks are all seen if its first frame was,
 * and the client's preface. */
static void blocks_begin(Http2State *s, const Http2State *client, const Frame *f)
{
        if (s->starts && client && client->labels && f->type == HEADERS)
                s->labels = TRUE;
        s->blocks = TRUE;
}

/* How much of a frame's payload must be there. */
static gsize http2_payload_needed(Http2State *s, const Frame *f, gboolean labels)
{
        if (f->type == RST_STREAM)
                return f->length;
        if (f->type == PUSH_PROMISE && s->starts)
                s->labels = FALSE; /* its fields are in the server's table, too */
        if (f->type != HEADERS && f->type != CONTINUATION)
                return 0;
        if (f->length > MAX_BLOCK || !labels)
                s->labels = FALSE;
        if (labels && s->labels)
                return f->length;
        return f->type == HEADERS ? MIN(f->length, MAX_FIRST_FIELD) : 0;
}

/* The header block, or the piece of a block, that a whole frame holds. */
static void fields_set(Http2State *s, const Frame *f, const guint8 *payload, Parsed *parsed)
{
        gsize first = f->type == HEADERS ? block_offset(f) : 0;
        gsize padding = f->type == HEADERS && (f->flags & FLAG_PADDED) ? payload[0] : 0;
        if (first + padding > f->length) {
                s->labels = FALSE;
                return;
        }
        parsed->headers.bytes = payload + first;
        parsed->headers.n = f->length - (guint32)(first + padding);
        parsed->headers.ends = (f->flags & FLAG_END_HEADERS) != 0;
}

static ParseStatus http2_frame_read(Http2State *s, const guint8 *bytes, gsize n, gboolean labels,
                                    Parsed *parsed)
{
        if (n < FRAME_HEADER)
                return PARSE_MORE;
        Frame f = http2_frame_decode(bytes);
        if (!http2_frame_is_sound(&f) ||
            (s->block ? f.type != CONTINUATION || f.stream != s->block : f.type == CONTINUATION))
                return PARSE_NOT_MINE;
        if (!s->blocks && (f.type == HEADERS || f.type == PUSH_PROMISE))
                blocks_begin(s, parsed->other, &f);
        if (n - FRAME_HEADER < http2_payload_needed(s, &f, labels))
                return PARSE_MORE;
        parsed->kind = KIND_CONTROL;
        switch (f.type) {
        case HEADERS:
                if (!http2_headers_read(s, &f, bytes + FRAME_HEADER, MIN(f.length, MAX_FIRST_FIELD),
                                        parsed))
                        return PARSE_NOT_MINE;
                break;
        case PUSH_PROMISE:
                if (!(f.flags & FLAG_END_HEADERS)) {
                        s->block = f.stream;
                        s->block_kind = KIND_CONTROL;
                        s->block_part = 0;
                }
                break;
        case CONTINUATION:
                continuation_read(s, &f, parsed);
                break;
        case DATA:
                http2_part_set(s, &f,
                               (f.flags & FLAG_END_STREAM ? PART_ENDS : PART_GOES_ON) |
                                       (f.length > 0 ? PART_PIECE : 0),
                               parsed);
                if (labels && s->labels && s->role == ROLE_CLIENT) {
                        parsed->named.body = BODY_OF_STREAM;
                        parsed->named.body_from = FRAME_HEADER + (f.flags & FLAG_PADDED ? 1 : 0);
                }
                break;
        case RST_STREAM:
                http2_part_set(s, &f, PART_ABORTS, parsed);
                if (s->role != ROLE_CLIENT)
                        parsed->outcome = outcome_http2(read_u32(bytes + FRAME_HEADER));
                break;
        default:
                break;
        }
        if (labels && s->labels && (f.type == HEADERS || f.type == CONTINUATION))
                fields_set(s, &f, bytes + FRAME_HEADER, parsed);
        parsed->length = FRAME_HEADER + (guint64)f.length;
        return PARSE_MESSAGE;
}

static ParseStatus http2_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                               gboolean eof, GString *label, Parsed *parsed)
{
        Http2State *s = state;
        (void)call;
        if (eof)
                return PARSE_NOT_MINE; /* within a frame */
        if (!s->known) {
                if (memcmp(bytes, preface, MIN(n, PREFACE)) == 0) {
                        if (n < PREFACE)
                                return PARSE_MORE;
                        s->known = TRUE;
                        s->role = ROLE_CLIENT;
                        s->labels = label != NULL;
                        parsed->kind = KIND_CONTROL;
                        parsed->length = PREFACE;
                        return PARSE_MESSAGE;
                }
                ParseStatus status = http2_recognise(bytes, n);
                if (status != PARSE_MESSAGE)
                        return status;
                s->known = TRUE;
                s->starts = bytes[3] == SETTINGS && !(bytes[4] & FLAG_ACK);
        }
        return http2_frame_read(s, bytes, n, label != NULL, parsed);
}

static gsize http2_find_boundary(const guint8 *bytes, gsize n)
{
        for (gsize at = 0; at + FRAME_HEADER <= n; at++) {
                if (bytes[at] == 0 && http2_recognise(bytes + at, n - at) != PARSE_NOT_MINE)
                        return at;
                if (bytes[at] == 'P' && n - at >= PREFACE &&
                    memcmp(bytes + at, preface, PREFACE) == 0)
                        return at;
        }
        return n;
}

/* What the data of a call of gRPC has. */
static void http2_values(GString *text, G_GNUC_UNUSED gpointer *memory, const guint8 *bytes,
                         gsize n)
{
        if (n <= FRAME_HEADER)
                return;
        Frame f = http2_frame_decode(bytes);
        gsize first = f.flags & FLAG_PADDED ? 1 : 0, shown = MIN(n - FRAME_HEADER, f.length);
        if (f.type == DATA && shown > first)
                values_append_grpc(text, bytes + FRAME_HEADER + first, shown - first);
}

const Protocol protocol_http2 = {
        .name = "http2",
        .values = http2_values,
        .keyed = TRUE,
        .parse = http2_parse,
        .find_boundary = http2_find_boundary,
};

/* Who writes the frames says which one begins a message: streams may come in any order. */
static ParseStatus http3_parse(gpointer state, G_GNUC_UNUSED guint8 call, const guint8 *bytes,
                               gsize n, gboolean eof, GString *label, Parsed *parsed)
{
        Http2State *s = state;
        if (eof)
                return PARSE_NOT_MINE;
        if (!s->known) {
                *s = (Http2State){ .known = TRUE, .newer = TRUE, .blocks = TRUE };
                s->role = parsed->sender == SENDER_CLIENT ? ROLE_CLIENT : ROLE_SERVER;
                s->labels = label != NULL;
        }
        ParseStatus status = http2_frame_read(s, bytes, n, label != NULL, parsed);
        if (status == PARSE_MESSAGE) {
                parsed->framing = FRAME_HEADER;
                parsed->key = (parsed->key - 1) * 2;
        }
        return status;
}

const Protocol protocol_http3 = {
        .name = "http3",
        .values = http2_values,
        .keyed = TRUE,
        .parse = http3_parse,
        .find_boundary = http2_find_boundary,
};
