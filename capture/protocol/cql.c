/* SPDX-License-Identifier: BSD-2-Clause
 *
 * CQL, the protocol of Cassandra and ScyllaDB, versions 1 to 5
 * (https://github.com/apache/cassandra/blob/trunk/doc/native_protocol_v5.spec). A frame has the id
 * of a stream, by which answers find their requests in any order. Ids are used again, so a key also
 * counts how often. Queries, executions, batches and preparations are calls; an event is one-way.
 * Startup, authentication and registration are of the session, and so is OPTIONS, with which
 * drivers also see whether the connection lives.
 *
 * From version 5 on, frames are in segments, each with a checksum of its header, that hold several
 * frames, or a part of one. LZ4 may pack a segment: then nothing but its contents tells its
 * streams, so it is unpacked whole, and one that was cut is passed over.
 */
#include "capture/protocol/protocol.h"
#include "capture/protocol/sql-label.h"
#include "capture/protocol/statements.h"
#include "capture/protocol/unpack.h"
#include "capture/protocol/values.h"

#include <string.h>

#include "base/hash.h"

enum {
        CQL_ERROR = 0x00,
        STARTUP = 0x01,
        READY = 0x02,
        AUTHENTICATE = 0x03,
        OPTIONS = 0x05,
        SUPPORTED = 0x06,
        QUERY = 0x07,
        RESULT = 0x08,
        PREPARE = 0x09,
        EXECUTE = 0x0a,
        REGISTER = 0x0b,
        EVENT = 0x0c,
        BATCH = 0x0d,
        AUTH_CHALLENGE = 0x0e,
        AUTH_RESPONSE = 0x0f,
        AUTH_SUCCESS = 0x10,

        ANSWER = 0x80, /* in the version */
        FLAG_PACKED = 1,
        FLAG_TRACING = 2,
        FLAG_PAYLOAD = 4,
        FLAG_WARNING = 8,
        FLAG_BETA = 16,
        ALL_FLAGS = 31,

        RESULT_ROWS = 2,
        RESULT_KEYSPACE = 3,
        RESULT_PREPARED = 4,
        RESULT_SCHEMA = 5,

        OLD_HEADER = 8, /* of versions 1 and 2, whose stream is one byte */
        CQL_HEADER = 9,
        FRAMED_VERSION = 5,
        MAX_FRAME = 1 << 28,
        SEGMENT_HEADER = 6,
        PACKED_HEADER = 8,
        SEGMENT_CRC = 4,
        PREPARED_ID = 16, /* bytes: MD5 */
        MAX_PREPARES = 1024,
        MAX_SEGMENT = 1 << 17,
        MAX_PLAIN = 1 << 17,
        LOOK = SQL_LABEL_BYTES + 64,
};

typedef struct {
        guint64 key;      /* of a frame that goes on in the next segment, */
        guint32 goes_on;  /* and how many of its bytes follow; 0: there is none */
        guint32 left;     /* plain bytes of the open segment that follow; 0: none is open */
        guint32 raw;      /* bytes of that as they are sent, if it is packed */
        guint32 plain_at; /* where these begin in what was unpacked */
        guint8 kind;      /* MessageKind of the frame that goes on */
        guint8 server;    /* the sender of a packed segment */
        guint8 packed;    /* the open segment is */
        guint8 keyed;     /* the frame that goes on is */
} CqlState;

G_STATIC_ASSERT(sizeof(CqlState) <= PROTOCOL_STATE_SIZE);

/* What is kept of a connection. */
typedef struct {
        GArray *uses;         /* guint32 by stream: how often its id was used */
        GHashTable *prepares; /* operations of statements that are being prepared, by key */
        GByteArray *plain[2]; /* the open segment of each side, unpacked */
        gint32 session;       /* stream of the latest request that is of the session */
        guint8 by_snappy;     /* bodies are packed so, not by LZ4 */
        guint8 version;       /* of the latest frame outside of a segment; 0: none was seen */
} Cql;

/* A frame, as far as it is there. */
typedef struct {
        guint8 version, flags, opcode;
        guint32 stream, header;
        guint64 length; /* with the header */
        Cursor body;    /* as far as it is looked at, opened: behind what flags put before it */
        gboolean whole; /* that is everything */
} CqlFrame;

/* A segment or the rest of one. Outside of segments left is endless. */
typedef struct {
        gsize head; /* bytes before its payload */
        guint64 left;
        guint32 raw; /* bytes of the payload as it is sent, if it is packed, from here on */
        Cursor plain;
        gboolean packed, starts, alone; /* alone: it holds whole frames */
} Segment;

/* --- segments -------------------------------------------------------------- */

static guint32 crc24(const guint8 *bytes, guint n)
{
        guint32 crc = 0x875060;
        for (guint i = 0; i < n; i++) {
                crc ^= (guint32)bytes[i] << 16;
                for (guint bit = 0; bit < 8; bit++) {
                        crc <<= 1;
                        if (crc & 0x1000000)
                                crc ^= 0x1974f0b;
                }
        }
        return crc;
}

/* Whether n bytes are followed by their checksum. */
static gboolean crc_fits(const guint8 *bytes, guint n)
{
        const guint8 *p = bytes + n;
        return crc24(bytes, n) == (p[0] | (guint32)p[1] << 8 | (guint32)p[2] << 16);
}

/* Reads the header of a segment, of at least PACKED_HEADER bytes. FALSE: it is none. */
static gboolean segment_header_read(const guint8 *bytes, gsize n, Segment *segment)
{
        guint64 lengths = 0;
        *segment = (Segment){ .starts = TRUE };
        for (guint i = 5; i-- > 0;)
                lengths = lengths << 8 | bytes[i];
        guint32 first = lengths & (MAX_SEGMENT - 1), second = lengths >> 17 & (MAX_SEGMENT - 1);
        if (crc_fits(bytes, SEGMENT_HEADER - 3)) {
                segment->head = SEGMENT_HEADER;
                segment->left = first;
                segment->alone = bytes[2] >> 1 & 1;
        } else if (crc_fits(bytes, PACKED_HEADER - 3)) {
                segment->head = PACKED_HEADER;
                segment->packed = second > 0;
                segment->raw = first;
                segment->left = second > 0 ? second : first;
                segment->alone = bytes[4] >> 2 & 1;
        } else {
                return FALSE;
        }
        gsize there = n - segment->head;
        segment->plain = cursor(bytes + segment->head, (gsize)MIN(there, segment->left));
        return segment->left > 0;
}

/* Bytes that are settled with the next used plain bytes of the segment, of which these are a
 * share. */
static guint64 segment_settled(const Segment *segment, guint64 used)
{
        guint64 raw = used;
        if (segment->left == G_MAXUINT64)
                return used;
        if (segment->packed)
                raw = used == segment->left
                              ? segment->raw
                              : MIN(MAX(segment->raw * used / segment->left, 1), segment->raw);
        return segment->head + raw + (used == segment->left ? (guint64)SEGMENT_CRC : 0);
}

/* --- frames ---------------------------------------------------------------- */

static gboolean version_is_known(guint8 version)
{
        return (version & ~ANSWER) >= 1 && (version & ~ANSWER) <= FRAMED_VERSION;
}

static gboolean opcode_is_of(guint8 version, guint8 opcode)
{
        static const guint8 requests[] = { STARTUP, OPTIONS,  QUERY, PREPARE,
                                           EXECUTE, REGISTER, BATCH, AUTH_RESPONSE };
        return opcode <= AUTH_SUCCESS && opcode != 4 &&
               (memchr(requests, opcode, sizeof requests) != NULL) == !(version & ANSWER);
}

/* PARSE_MORE: the header is not there. */
static ParseStatus frame_header_read(Cursor c, CqlFrame *f)
{
        *f = (CqlFrame){ 0 };
        const guint8 *bytes = c.at;
        gsize n = cursor_left(&c);
        if (n == 0)
                return PARSE_MORE;
        f->version = bytes[0];
        f->header = (f->version & ~ANSWER) <= 2 ? OLD_HEADER : CQL_HEADER;
        if (!version_is_known(f->version) || (n > 1 && bytes[1] > ALL_FLAGS))
                return PARSE_NOT_MINE;
        if (n < f->header)
                return PARSE_MORE;
        f->flags = bytes[1];
        f->stream = f->header == OLD_HEADER ? bytes[2] : read_u16(bytes + 2);
        f->opcode = bytes[f->header - 5];
        f->length = f->header + (guint64)read_u32(bytes + f->header - 4);
        return f->length <= MAX_FRAME && opcode_is_of(f->version, f->opcode) ? PARSE_MESSAGE
                                                                             : PARSE_NOT_MINE;
}

/* A text with its length before it, of 2 bytes. */
static gboolean short_text(Cursor *c, Cursor *text)
{
        guint16 n;
        return cursor_u16(c, &n) && cursor_part(c, n, text);
}

/* Passes over what flags say stands before the body: an id of a trace, warnings, a payload. */
static gboolean body_begin(const CqlFrame *f, Cursor *c)
{
        guint16 n;
        guint32 length;
        Cursor text;
        if ((f->version & ANSWER) && (f->flags & FLAG_TRACING) && !cursor_skip(c, 16))
                return FALSE;
        if ((f->version & ANSWER) && (f->flags & FLAG_WARNING)) {
                if (!cursor_u16(c, &n))
                        return FALSE;
                for (; n > 0; n--)
                        if (!short_text(c, &text))
                                return FALSE;
        }
        if (f->flags & FLAG_PAYLOAD) {
                if (!cursor_u16(c, &n))
                        return FALSE;
                for (; n > 0; n--)
                        if (!short_text(c, &text) || !cursor_u32(c, &length) ||
                            (length < G_MAXINT32 && !cursor_skip(c, length)))
                                return FALSE;
        }
        return TRUE;
}

/* Opens the body of a frame that begins at c; unpacked: LOOK bytes. */
static void frame_body_open(CqlFrame *f, Cursor c, gboolean by_snappy, guint8 *unpacked)
{
        gsize shown = (gsize)MIN(f->length, cursor_left(&c)) - f->header;
        f->whole = shown == f->length - f->header;
        c = cursor(c.at + f->header, shown);
        if ((f->flags & FLAG_PACKED) && !by_snappy && !cursor_skip(&c, 4))
                c.at = c.end;
        if (f->flags & FLAG_PACKED) {
                gsize n = unpack(by_snappy ? PACKED_SNAPPY : PACKED_LZ4, c.at, cursor_left(&c),
                                 unpacked, LOOK);
                f->whole = FALSE;
                c = cursor(unpacked, n);
        } else {
                c.end = c.at + MIN(cursor_left(&c), (gsize)LOOK);
        }
        if (!body_begin(f, &c))
                c.at = c.end;
        f->body = c;
}

/* Bytes of a frame that are looked at. */
static gsize frame_look(const CqlFrame *f)
{
        enum { RESULT_LOOK = 64 };
        if (f->flags & FLAG_PACKED)
                return (gsize)MIN(f->length, (guint64)MAX_PLAIN);
        if (f->opcode == RESULT && !(f->flags & ~FLAG_TRACING))
                return (gsize)MIN(f->length, (guint64)RESULT_LOOK);
        return (gsize)MIN(f->length, (guint64)LOOK);
}

/* --- recognising ----------------------------------------------------------- */

static gboolean is_constant(Cursor text)
{
        for (const guint8 *p = text.at; p < text.end; p++)
                if (!g_ascii_isupper(*p) && *p != '_')
                        return FALSE;
        return cursor_left(&text) >= 4;
}

/* Maps and lists of texts begin with a name such as CQL_VERSION. */
static gboolean names_begin(Cursor c)
{
        guint16 n;
        Cursor text;
        return cursor_u16(&c, &n) && n > 0 && n <= 64 && short_text(&c, &text) && is_constant(text);
}

static gboolean query_is_plausible(Cursor c, gboolean whole)
{
        guint32 n;
        if (!cursor_u32(&c, &n) || n < 3 || (whole && n > cursor_left(&c)) || n > MAX_FRAME)
                return FALSE;
        gsize shown = MIN(n, cursor_left(&c));
        return shown >= MIN(n, 12) && sql_is_plausible(c.at, shown, shown == n);
}

static gboolean id_take(Cursor *c, guint64 *id)
{
        Cursor text;
        if (!short_text(c, &text) || cursor_left(&text) != PREPARED_ID)
                return FALSE;
        *id = hash_bytes((const char *)text.at, PREPARED_ID);
        return TRUE;
}

static gboolean batch_is_plausible(Cursor c, gboolean whole)
{
        guint8 type, kind;
        guint16 n;
        guint64 id;
        return cursor_u8(&c, &type) && type <= 2 && cursor_u16(&c, &n) && n > 0 &&
               cursor_u8(&c, &kind) &&
               (kind == 0   ? query_is_plausible(c, whole)
                : kind == 1 ? id_take(&c, &id)
                            : FALSE);
}

static const struct {
        guint32 code;
        const char *name;
} errors[] = {
        { 0x0000, "SERVER_ERROR" },      { 0x000a, "PROTOCOL_ERROR" },
        { 0x0100, "BAD_CREDENTIALS" },   { 0x1000, "UNAVAILABLE" },
        { 0x1001, "OVERLOADED" },        { 0x1002, "IS_BOOTSTRAPPING" },
        { 0x1003, "TRUNCATE_ERROR" },    { 0x1100, "WRITE_TIMEOUT" },
        { 0x1200, "READ_TIMEOUT" },      { 0x1300, "READ_FAILURE" },
        { 0x1400, "FUNCTION_FAILURE" },  { 0x1500, "WRITE_FAILURE" },
        { 0x1600, "CDC_WRITE_FAILURE" }, { 0x1700, "CAS_WRITE_UNKNOWN" },
        { 0x2000, "SYNTAX_ERROR" },      { 0x2100, "UNAUTHORIZED" },
        { 0x2200, "INVALID" },           { 0x2300, "CONFIG_ERROR" },
        { 0x2400, "ALREADY_EXISTS" },    { 0x2500, "UNPREPARED" },
};

/* NULL: unknown. */
static const char *error_find(Cursor c)
{
        guint32 code;
        if (!cursor_u32(&c, &code))
                return NULL;
        for (guint i = 0; i < G_N_ELEMENTS(errors); i++)
                if (errors[i].code == code)
                        return errors[i].name;
        return NULL;
}

static gboolean result_is_plausible(Cursor c, gboolean whole)
{
        guint32 kind, flags, columns;
        guint64 id;
        Cursor text;
        if (!cursor_u32(&c, &kind))
                return FALSE;
        switch (kind) {
        case 1:
                return whole && cursor_left(&c) == 0;
        case RESULT_ROWS:
                return cursor_u32(&c, &flags) && flags <= 31 && cursor_u32(&c, &columns) &&
                       columns <= 4096;
        case RESULT_KEYSPACE:
                return short_text(&c, &text) && whole && cursor_left(&c) == 0;
        case RESULT_PREPARED:
                return id_take(&c, &id);
        case RESULT_SCHEMA:
                return short_text(&c, &text) && is_constant(text);
        default:
                return FALSE;
        }
}

/* Whether the body is one of its operation. Without a body, the header alone is one. */
static gboolean frame_is_plausible(const CqlFrame *f)
{
        Cursor c = f->body, text;
        guint64 id;
        guint16 consistency;
        guint32 code;
        switch (f->opcode) {
        case STARTUP:
        case REGISTER:
        case SUPPORTED:
                return names_begin(c);
        case OPTIONS:
        case READY:
                return f->length == f->header && !(f->flags & ~FLAG_BETA);
        case QUERY:
        case PREPARE:
                return query_is_plausible(c, f->whole);
        case EXECUTE:
                return id_take(&c, &id) &&
                       ((f->version & ~ANSWER) >= FRAMED_VERSION
                                ? id_take(&c, &id)
                                : cursor_u16(&c, &consistency) && consistency <= 16);
        case BATCH:
                return batch_is_plausible(c, f->whole);
        case AUTHENTICATE:
                return short_text(&c, &text) && cursor_begins(&text, "org.");
        case CQL_ERROR:
                return error_find(c) && cursor_u32(&c, &code) && short_text(&c, &text);
        case EVENT:
                return short_text(&c, &text) && is_constant(text) && cursor_left(&text) > 8;
        case RESULT:
                return result_is_plausible(c, f->whole);
        default:
                return FALSE;
        }
}

/* Whether a frame that is surely one begins at c. */
static ParseStatus frame_recognise(Cursor c, CqlFrame *f)
{
        enum { ENOUGH = 64 }; /* bytes of a frame that tell */
        guint8 unpacked[LOOK];
        ParseStatus status = frame_header_read(c, f);
        if (status != PARSE_MESSAGE)
                return status;
        for (guint by_snappy = 0; by_snappy <= (f->flags & FLAG_PACKED ? 1u : 0u); by_snappy++) {
                frame_body_open(f, c, by_snappy, unpacked);
                if (frame_is_plausible(f))
                        return PARSE_MESSAGE;
        }
        return cursor_left(&c) < MIN(f->length, (guint64)ENOUGH) ? PARSE_MORE : PARSE_NOT_MINE;
}

/* A segment that begins with a frame, perhaps packed. */
static ParseStatus segment_recognise(const guint8 *bytes, gsize n, CqlFrame *f)
{
        guint8 unpacked[CQL_HEADER + 32];
        Segment segment;
        if (n < PACKED_HEADER)
                return PARSE_MORE;
        if (!segment_header_read(bytes, n, &segment))
                return PARSE_NOT_MINE;
        if (segment.packed)
                segment.plain = cursor(unpacked, unpack(PACKED_LZ4, segment.plain.at,
                                                        cursor_left(&segment.plain), unpacked,
                                                        sizeof unpacked));
        ParseStatus status = frame_header_read(segment.plain, f);
        return status == PARSE_MESSAGE && (f->version & ~ANSWER) < FRAMED_VERSION ? PARSE_NOT_MINE
                                                                                  : status;
}

static ParseStatus cql_recognise(const guint8 *bytes, gsize n, CqlFrame *f)
{
        ParseStatus status = frame_recognise(cursor(bytes, n), f);
        if (status == PARSE_MESSAGE)
                return status;
        ParseStatus of_segment = segment_recognise(bytes, n, f);
        return of_segment == PARSE_NOT_MINE ? status : of_segment;
}

/* --- the memory of a connection -------------------------------------------- */

static Cql *cql_get(gpointer *memory)
{
        Cql *cql = *memory;
        if (!cql) {
                *memory = cql = g_new0(Cql, 1);
                cql->uses = g_array_new(FALSE, TRUE, sizeof(guint32));
                cql->prepares = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, g_free);
                cql->plain[0] = g_byte_array_new();
                cql->plain[1] = g_byte_array_new();
                cql->session = -1;
        }
        return cql;
}

static void cql_forget(gpointer memory)
{
        Cql *cql = memory;
        g_array_free(cql->uses, TRUE);
        g_hash_table_destroy(cql->prepares);
        g_byte_array_free(cql->plain[0], TRUE);
        g_byte_array_free(cql->plain[1], TRUE);
        g_free(cql);
}

/* The key of the present request of this stream. begins: a request begins. */
static guint64 stream_key(Cql *cql, guint32 stream, gboolean begins)
{
        if (!cql)
                return stream;
        if (stream >= cql->uses->len)
                g_array_set_size(cql->uses, stream + 1);
        guint32 *uses = &g_array_index(cql->uses, guint32, stream);
        *uses += begins != FALSE;
        return (guint64)*uses << 16 | stream;
}

static void prepare_note(Cql *cql, guint64 key, const GString *label)
{
        if (label->len == 0)
                return;
        if (g_hash_table_size(cql->prepares) >= MAX_PREPARES)
                g_hash_table_remove_all(cql->prepares);
        g_hash_table_replace(cql->prepares, g_memdup2(&key, sizeof key), g_strdup(label->str));
}

/* An answer may say the id of what was prepared. */
static void prepare_answered(Cql *cql, guint64 key, const CqlFrame *f, Statements **statements)
{
        guint32 kind;
        guint64 id;
        Cursor c = f->body;
        if (!cql || g_hash_table_size(cql->prepares) == 0)
                return;
        const char *operation = g_hash_table_lookup(cql->prepares, &key);
        if (operation && statements && f->opcode == RESULT && cursor_u32(&c, &kind) &&
            kind == RESULT_PREPARED && id_take(&c, &id))
                statements_put(statements, id, operation);
        g_hash_table_remove(cql->prepares, &key);
}

/* --- messages -------------------------------------------------------------- */

static void query_label_append(GString *label, Cursor c)
{
        guint32 n;
        if (cursor_u32(&c, &n) && cursor_left(&c) >= MIN(n, SQL_LABEL_BYTES))
                sql_label_append(label, c.at, MIN(n, cursor_left(&c)));
}

static void prepared_label_append(GString *label, Cursor c, Statements *const *statements)
{
        guint64 id;
        const char *operation =
                id_take(&c, &id) && statements ? statements_lookup(*statements, id) : NULL;
        g_string_append(label, operation ? operation : "EXECUTE");
}

/* "BATCH items", with the table of its first statement. */
static void batch_label_append(GString *label, Cursor c, Statements *const *statements)
{
        g_autoptr(GString) first = g_string_new(NULL);
        guint8 type, kind;
        guint16 n;
        g_string_append(label, "BATCH");
        if (!cursor_u8(&c, &type) || !cursor_u16(&c, &n) || !cursor_u8(&c, &kind))
                return;
        if (kind == 0)
                query_label_append(first, c);
        else
                prepared_label_append(first, c, statements);
        const char *table = strchr(first->str, ' ');
        if (table)
                g_string_append(label, table);
}

static void cql_label_append(GString *label, const CqlFrame *f, Statements *const *statements)
{
        switch (f->opcode) {
        case QUERY:
        case PREPARE:
                query_label_append(label, f->body);
                return;
        case EXECUTE:
                prepared_label_append(label, f->body, statements);
                return;
        default:
                batch_label_append(label, f->body, statements);
        }
}

/* Drivers say at first how bodies are packed. */
static void startup_read(Cql *cql, const CqlFrame *f)
{
        Cursor c = f->body, name, value;
        guint16 n;
        if (!cursor_u16(&c, &n))
                return;
        for (; n > 0 && short_text(&c, &name) && short_text(&c, &value); n--)
                if (cursor_begins(&name, "COMPRESSION"))
                        cql->by_snappy = cursor_begins(&value, "snappy") != FALSE;
}

static void cql_request_read(Cql *cql, const CqlFrame *f, GString *label, Parsed *parsed)
{
        switch (f->opcode) {
        case STARTUP:
                if (cql)
                        startup_read(cql, f);
                /* fall through */
        case OPTIONS:
        case REGISTER:
        case AUTH_RESPONSE:
                if (cql)
                        cql->session = (gint32)f->stream;
                parsed->kind = KIND_SESSION;
                return;
        default:
                break;
        }
        parsed_set_keyed(parsed, KIND_CALL, PART_BEGINS | PART_ENDS | PART_BY_PLACE,
                         stream_key(cql, f->stream, TRUE));
        if (cql && cql->session == (gint32)f->stream)
                cql->session = -1;
        if (label)
                cql_label_append(label, f, parsed->prepared);
        if (label && cql && f->opcode == PREPARE)
                prepare_note(cql, parsed->key, label);
}

static void cql_answer_read(Cql *cql, const CqlFrame *f, Parsed *parsed)
{
        const char *error = NULL;
        switch (f->opcode) {
        case EVENT:
                parsed->kind = KIND_ONE_WAY;
                return;
        case CQL_ERROR:
                error = error_find(f->body);
                if (cql && cql->session == (gint32)f->stream) {
                        parsed->kind = KIND_SESSION;
                        return;
                }
                break;
        case RESULT:
                break;
        default:
                parsed->kind = KIND_SESSION;
                return;
        }
        parsed_set_keyed(parsed, KIND_RETURN, PART_ENDS, stream_key(cql, f->stream, FALSE));
        if (f->opcode == CQL_ERROR)
                parsed->outcome = outcome_named(error ? error : "SERVER_ERROR");
        prepare_answered(cql, parsed->key, f, parsed->prepared);
}

static void frame_read(Cql *cql, const CqlFrame *f, GString *label, Parsed *parsed)
{
        if (f->version & ANSWER)
                cql_answer_read(cql, f, parsed);
        else
                cql_request_read(cql, f, label, parsed);
        if (parsed->kind == KIND_ONE_WAY) /* every message of a keyed protocol is a part */
                parsed_set_keyed(parsed, KIND_ONE_WAY, PART_BEGINS | PART_ENDS | PART_BY_PLACE,
                                 G_MAXUINT16);
}

/* --- parsing --------------------------------------------------------------- */

/* The open segment, or the next, or bytes outside of segments. PARSE_MORE: too few are there.
 */
static ParseStatus segment_open(CqlState *s, Cql *cql, const guint8 *bytes, gsize n, gboolean cut,
                                Segment *segment)
{
        *segment = (Segment){ .left = s->left, .packed = s->packed, .raw = s->raw };
        if (s->left > 0 && s->packed)
                segment->plain = cursor(cql->plain[s->server]->data + s->plain_at, s->left);
        else if (s->left > 0)
                segment->plain = cursor(bytes, MIN(n, s->left));
        if (s->left > 0)
                return PARSE_MESSAGE;
        if (n < PACKED_HEADER)
                return PARSE_MORE;
        if ((cql && cql->version > 0 && cql->version < FRAMED_VERSION) ||
            !segment_header_read(bytes, n, segment)) {
                *segment = (Segment){ .left = G_MAXUINT64, .plain = cursor(bytes, n) };
                return PARSE_MESSAGE;
        }
        if (!segment->packed)
                return PARSE_MESSAGE;
        if (n < segment->head + segment->raw && !cut)
                return PARSE_MORE;
        return PARSE_MESSAGE;
}

/* Unpacks a segment that begins. FALSE: it cannot be. */
static gboolean segment_unpack(CqlState *s, Cql *cql, const guint8 *bytes, gsize n,
                               Segment *segment)
{
        g_autofree guint8 *plain = g_malloc(MAX_PLAIN);
        gsize there = MIN(n - segment->head, segment->raw);
        gsize got = unpack(PACKED_LZ4, bytes + segment->head, there, plain, MAX_PLAIN);
        if (!cql || got < segment->left || got == 0)
                return FALSE;
        s->server = (plain[0] & ANSWER) != 0;
        s->plain_at = 0;
        g_byte_array_set_size(cql->plain[s->server], 0);
        g_byte_array_append(cql->plain[s->server], plain, (guint)segment->left);
        segment->plain = cursor(cql->plain[s->server]->data, (gsize)segment->left);
        return TRUE;
}

/* used plain bytes of the segment are settled. */
static void segment_settle(CqlState *s, const Segment *segment, guint64 used, Parsed *parsed)
{
        guint64 raw = segment_settled(segment, used) - segment->head;
        parsed->length = segment->head + raw;
        if (segment->left == G_MAXUINT64)
                return;
        s->left = (guint32)(segment->left - used);
        s->packed = s->left > 0 && segment->packed;
        s->raw = s->packed ? segment->raw - (guint32)raw : 0;
        s->plain_at += (guint32)used;
        if (s->packed && s->raw == 0) { /* more frames than bytes: the rest is not seen */
                s->left = 0;
                parsed->length += SEGMENT_CRC;
        }
}

/* A frame that began in an earlier segment goes on in this one. */
static ParseStatus frame_go_on(CqlState *s, const Segment *segment, Parsed *parsed)
{
        guint64 used = MIN(segment->left, s->goes_on);
        s->goes_on -= (guint32)used;
        if (s->keyed)
                parsed_set_keyed(parsed, (MessageKind)s->kind,
                                 s->goes_on > 0 ? PART_GOES_ON : PART_ENDS, s->key);
        else
                parsed->kind = KIND_CONTROL;
        segment_settle(s, segment, used, parsed);
        return PARSE_MESSAGE;
}

/* The whole segment is passed over: it holds a part of a frame whose beginning was not seen, or
 * cannot be unpacked. */
static ParseStatus segment_pass(CqlState *s, const Segment *segment, Parsed *parsed)
{
        parsed->kind = KIND_CONTROL;
        segment_settle(s, segment, segment->left, parsed);
        return PARSE_MESSAGE;
}

static ParseStatus frame_begin(CqlState *s, Cql *cql, const Segment *segment, GString *label,
                               Parsed *parsed)
{
        CqlFrame f;
        guint8 unpacked[LOOK];
        gboolean framed = segment->left != G_MAXUINT64;
        ParseStatus status = frame_header_read(segment->plain, &f);
        if (status == PARSE_MESSAGE && framed && (f.version & ~ANSWER) < FRAMED_VERSION)
                status = PARSE_NOT_MINE;
        if (framed && !(segment->starts && segment->alone) && status == PARSE_NOT_MINE)
                return segment_pass(s, segment, parsed);
        if (status != PARSE_MESSAGE)
                return framed && cursor_left(&segment->plain) == segment->left
                               ? segment_pass(s, segment, parsed)
                               : status;
        guint64 used = MIN(f.length, segment->left);
        if (cursor_left(&segment->plain) < MIN(frame_look(&f), used) && !parsed->cut)
                return PARSE_MORE;
        frame_body_open(&f, segment->plain, cql && cql->by_snappy, unpacked);
        if (cql && !framed)
                cql->version = f.version & (guint8)~ANSWER;
        frame_read(cql, &f, label, parsed);
        if (used < f.length) {
                s->goes_on = (guint32)(f.length - used);
                s->kind = (guint8)parsed->kind;
                s->key = parsed->key;
                s->keyed = parsed->keyed;
                parsed->part &= (guint16)~PART_ENDS;
                parsed->part |= parsed->keyed ? PART_GOES_ON : 0;
        }
        segment_settle(s, segment, used, parsed);
        return PARSE_MESSAGE;
}

static ParseStatus probe_settle(const CqlFrame *f, Parsed *parsed)
{
        parsed->kind = f->version & ANSWER ? KIND_RETURN : KIND_CALL;
        parsed->keyed = TRUE;
        parsed->part = PART_BEGINS;
        parsed->length = f->length;
        return PARSE_MESSAGE;
}

static ParseStatus cql_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                             gboolean eof, GString *label, Parsed *parsed)
{
        CqlState *s = state;
        CqlFrame f;
        Segment segment;
        ParseStatus status;
        if (eof)
                return PARSE_NOT_MINE; /* within a frame */
        if (call == CALL_PROBE) {
                status = cql_recognise(bytes, n, &f);
                return status == PARSE_MESSAGE ? probe_settle(&f, parsed) : status;
        }
        Cql *cql = parsed->memory ? cql_get(parsed->memory) : NULL;
        status = segment_open(s, cql, bytes, n, parsed->cut, &segment);
        if (status != PARSE_MESSAGE)
                return status;
        if (segment.packed && segment.starts && !segment_unpack(s, cql, bytes, n, &segment))
                return segment_pass(s, &segment, parsed);
        if (s->goes_on > 0 && segment.left != G_MAXUINT64)
                return frame_go_on(s, &segment, parsed);
        return frame_begin(s, cql, &segment, label, parsed);
}

static gsize cql_find_boundary(const guint8 *bytes, gsize n)
{
        CqlFrame f;
        for (gsize at = 0; at + CQL_HEADER <= n; at++)
                if (cql_recognise(bytes + at, n - at, &f) != PARSE_NOT_MINE)
                        return at;
        return n;
}

/* The text of a query, and values where they can be read. */
static void cql_values(GString *text, G_GNUC_UNUSED gpointer *memory, const guint8 *bytes, gsize n)
{
        guint8 unpacked[LOOK];
        Segment segment = { .plain = cursor(bytes, n) };
        CqlFrame f;
        guint32 length;
        guint64 id;
        if (n >= PACKED_HEADER && segment_header_read(bytes, n, &segment) && segment.packed)
                return;
        if (segment.head == 0)
                segment.plain = cursor(bytes, n);
        if (frame_header_read(segment.plain, &f) != PARSE_MESSAGE || (f.version & ANSWER))
                return;
        frame_body_open(&f, segment.plain, FALSE, unpacked);
        Cursor c = f.body, query;
        if ((f.opcode == QUERY || f.opcode == PREPARE) && cursor_u32(&c, &length)) {
                query = cursor(c.at, MIN(length, cursor_left(&c)));
                g_string_append_len(text, (const char *)query.at, (gssize)cursor_left(&query));
                g_string_append_c(text, '\n');
                c.at = query.end;
        } else if (f.opcode == EXECUTE) {
                id_take(&c, &id);
        }
        if (f.opcode != PREPARE && cursor_left(&c) > 0)
                values_append_readable(text, c.at, cursor_left(&c));
}

const Protocol protocol_cql = {
        .name = "cql",
        .values = cql_values,
        .keyed = TRUE,
        .parse = cql_parse,
        .find_boundary = cql_find_boundary,
        .forget = cql_forget,
};
