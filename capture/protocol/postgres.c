/* SPDX-License-Identifier: BSD-2-Clause
 *
 * PostgreSQL's protocol 3 (https://www.postgresql.org/docs/current/protocol.html).
 * A call is what ReadyForQuery answers: a simple query, a function call, or all
 * messages up to Sync. A return is all messages up to ReadyForQuery. The start of a
 * session, with its authentication, is no message, nor is its end. In order, so that pipelined
 * calls are paired too. Notifications and CancelRequest are one-way; notices and the data that a
 * client copies in are no messages of their own.
 */
#include "capture/protocol/protocol.h"
#include "capture/protocol/sql-label.h"
#include "capture/protocol/statements.h"
#include "capture/protocol/values.h"

#include <string.h>

#include "base/hash.h"

enum {
        HEADER = 5, /* type and length; the length counts itself and what follows */
        MAX_STARTUP = 10000,
        MAX_LENGTH = 1 << 30,
        MAX_ERROR = 4096,    /* bytes of an error in which its code is looked for */
        MAX_PARAMETER = 256, /* in which identifiers are looked for */
        MAX_RECOGNISED = 1 << 24,
        CODE_PROTOCOL_3_0 = 196608,
        CODE_PROTOCOL_3_2 = 196610,
        CODE_CANCEL = 80877102,
        CODE_SSL = 80877103,
        CODE_GSS = 80877104,
};

/* What a return must know of its call. */
enum { CALL_PLAIN = 1, CALL_ENCRYPT };

typedef struct {
        guint8 side;
        guint8 open;    /* a call or return goes on */
        guint8 kind;    /* of the message in progress */
        guint8 copied;  /* client: CopyDone or CopyFail came last */
        guint8 streams; /* server: replication */
        guint8 parsed;  /* server: a statement was parsed, and nothing was bound */
} PostgresState;

G_STATIC_ASSERT(sizeof(PostgresState) <= PROTOCOL_STATE_SIZE);

static const char client_types[] = "QPBDECHSFdcfpX";
static const char server_types[] = "RKSZTDC123nsItENAGHWdcVv";

static gboolean is_type(const char *types, guint8 type)
{
        return type != 0 && strchr(types, type) != NULL;
}

/* --- recognising ----------------------------------------------------------- */

static ParseStatus recognise_startup(const guint8 *bytes, gsize n)
{
        static const guint8 begin[] = { 0, 0 };
        if (n < 8)
                return memcmp(bytes, begin, MIN(n, sizeof begin)) == 0 ? PARSE_MORE
                                                                       : PARSE_NOT_MINE;
        guint32 length = read_u32(bytes);
        switch (read_u32(bytes + 4)) {
        case CODE_SSL:
        case CODE_GSS:
                return length == 8 ? PARSE_MESSAGE : PARSE_NOT_MINE;
        case CODE_CANCEL:
                return length >= 16 && length <= 8 + 4 + 256 ? PARSE_MESSAGE : PARSE_NOT_MINE;
        case CODE_PROTOCOL_3_0:
        case CODE_PROTOCOL_3_2:
                if (length < 9 || length > MAX_STARTUP || (n >= length && bytes[length - 1] != 0) ||
                    (n > 8 && !g_ascii_isalpha(bytes[8]) && bytes[8] != '_'))
                        return PARSE_NOT_MINE;
                return n > 8 ? PARSE_MESSAGE : PARSE_MORE;
        default:
                return PARSE_NOT_MINE;
        }
}

static gboolean skip_text(Cursor *c)
{
        const guint8 *end = memchr(c->at, 0, MIN(cursor_left(c), 1024));
        for (; end && c->at < end; c->at++)
                if (*c->at < ' ')
                        return FALSE;
        return end && cursor_skip(c, 1);
}

/* Counted things of 2 or 4 bytes. */
static gboolean skip_array(Cursor *c, gsize size)
{
        guint16 count;
        return cursor_u16(c, &count) && cursor_skip(c, count * size);
}

/* Bind: portal, statement, formats, values, formats. */
static gboolean is_bind(Cursor c)
{
        guint16 values;
        if (!skip_text(&c) || !skip_text(&c) || !skip_array(&c, 2) || !cursor_u16(&c, &values))
                return FALSE;
        for (guint32 length; values > 0; values--)
                if (!cursor_u32(&c, &length) || (length != G_MAXUINT32 && !cursor_skip(&c, length)))
                        return FALSE;
        return skip_array(&c, 2) && cursor_left(&c) == 0;
}

/* What only a client sends, and nobody else begins so: Query, Parse, Bind; or Terminate, with
 * which a connection ends that was open before the capture. */
static ParseStatus recognise_request(const guint8 *bytes, gsize n)
{
        static const guint8 terminate[] = { 'X', 0, 0, 0, 4 };
        if (n <= sizeof terminate && memcmp(bytes, terminate, n) == 0)
                return n == sizeof terminate ? PARSE_MESSAGE : PARSE_MORE;
        if (!is_type("QPB", bytes[0]))
                return PARSE_NOT_MINE;
        if (n < HEADER)
                return PARSE_MORE;
        gsize length = read_u32(bytes + 1);
        if (length < 6 || length >= MAX_RECOGNISED)
                return PARSE_NOT_MINE;
        gboolean whole = n > length;
        Cursor c = cursor(bytes + HEADER, MIN(n, length + 1) - HEADER);
        if (bytes[0] == 'B') {
                if (whole)
                        return is_bind(c) ? PARSE_MESSAGE : PARSE_NOT_MINE;
                return skip_text(&c) || cursor_left(&c) < 1024 ? PARSE_MORE : PARSE_NOT_MINE;
        }
        if (cursor_left(&c) == 0)
                return PARSE_MORE;
        if (bytes[0] == 'P' && !skip_text(&c))
                return whole || cursor_left(&c) >= 1024 ? PARSE_NOT_MINE : PARSE_MORE;
        const guint8 *end = memchr(c.at, 0, cursor_left(&c));
        if (!sql_is_plausible(c.at, (gsize)((end ? end : c.end) - c.at), end != NULL))
                return cursor_left(&c) < 16 && !whole && !end ? PARSE_MORE : PARSE_NOT_MINE;
        if (!end)
                return whole ? PARSE_NOT_MINE : cursor_left(&c) >= 16 ? PARSE_MESSAGE : PARSE_MORE;
        c.at = end + 1;
        if (bytes[0] == 'P' && whole && !skip_array(&c, 4))
                return PARSE_NOT_MINE;
        return whole && cursor_left(&c) > 0 ? PARSE_NOT_MINE : PARSE_MESSAGE;
}

static ParseStatus postgres_recognise(const guint8 *bytes, gsize n)
{
        return bytes[0] == 0 ? recognise_startup(bytes, n) : recognise_request(bytes, n);
}

/* --- parsing --------------------------------------------------------------- */

/* Which side sends the message, the first that is seen of the connection. */
static Side find_side(const guint8 *bytes, guint32 length)
{
        switch (bytes[0]) {
        case 'S':
        case 'H':
                return length == 4 ? SIDE_CLIENT : SIDE_SERVER;
        case 'E': /* Execute of the portal without a name */
                return length == 9 && bytes[HEADER] == 0 ? SIDE_CLIENT : SIDE_SERVER;
        case 'D':
                return length > 4 && is_type("SP", bytes[HEADER]) ? SIDE_CLIENT : SIDE_SERVER;
        case 'd':
        case 'c':
                return SIDE_UNKNOWN;
        default:
                return is_type(server_types, bytes[0]) ? SIDE_SERVER : SIDE_CLIENT;
        }
}

/* A hash of the name at the cursor, which goes behind it. FALSE: it is empty, or not all there. */
static gboolean take_statement_name(Cursor *c, guint64 *name)
{
        const guint8 *from = c->at;
        if (!skip_text(c))
                return FALSE;
        *name = hash_bytes((const char *)from, (gsize)(c->at - from) - 1);
        return c->at - from > 1;
}

/* Notes the statement of a Parse that has a name. */
static void statement_note(gpointer *memory, const guint8 *bytes, gsize n)
{
        Cursor c = cursor(bytes + HEADER, n - HEADER);
        guint64 name;
        if (!take_statement_name(&c, &name))
                return;
        g_autoptr(GString) label = g_string_new(NULL);
        sql_label_append(label, c.at, strnlen((const char *)c.at, cursor_left(&c)));
        if (label->len > 0)
                statements_put((Statements **)memory, name, label->str);
}

/* The operation of the statement that a Bind names. */
static const char *bound_operation(const gpointer *memory, Cursor c)
{
        guint64 name;
        const char *operation = skip_text(&c) && memory && take_statement_name(&c, &name)
                                        ? statements_lookup(*memory, name)
                                        : NULL;
        return operation ? operation : "EXECUTE";
}

static void postgres_label_append(GString *label, const gpointer *memory, const guint8 *bytes,
                                  gsize n)
{
        Cursor c = cursor(bytes + HEADER, n - HEADER);
        switch (bytes[0]) {
        case 'P':
                if (!skip_text(&c))
                        return;
                /* fall through */
        case 'Q':
                sql_label_append(label, c.at, strnlen((const char *)c.at, cursor_left(&c)));
                return;
        case 'B':
                g_string_append(label, bound_operation(memory, c));
                return;
        case 'E':
                g_string_append(label, "EXECUTE");
                return;
        default:
                return;
        }
}

static MessageKind request_kind(PostgresState *s, guint8 type)
{
        gboolean copied = s->copied;
        s->copied = FALSE;
        switch (type) {
        case 'c':
        case 'f':
                s->copied = TRUE;
                return KIND_NOTHING;
        case 'd':
        case 'p':
                return KIND_NOTHING;
        case 'S': /* while copying a first Sync counts for nothing */
                return copied ? KIND_NOTHING : KIND_CALL;
        case 'X':
                return KIND_SESSION;
        default:
                return KIND_CALL;
        }
}

static MessageKind postgres_answer_kind(const PostgresState *s, guint8 type)
{
        switch (type) {
        case 'A':
                return KIND_ONE_WAY;
        case 'N':
        case 'S':
                return KIND_NOTHING;
        default:
                if (s->streams)
                        return type == 'd' ? KIND_ONE_WAY : KIND_NOTHING;
                return KIND_RETURN;
        }
}

static gboolean is_last(const PostgresState *s, guint8 type)
{
        if (s->kind == KIND_CALL)
                return type == 'S' || type == 'Q' || type == 'F';
        return s->kind != KIND_RETURN || type == 'Z' || type == 'W';
}

static ParseStatus startup_parse(PostgresState *s, const guint8 *bytes, gsize n, Parsed *parsed)
{
        ParseStatus status = recognise_startup(bytes, n);
        if (status != PARSE_MESSAGE)
                return status;
        guint32 code = read_u32(bytes + 4);
        s->side = SIDE_CLIENT;
        parsed->kind = code == CODE_CANCEL ? KIND_ONE_WAY : KIND_CALL;
        parsed->session = SESSION_ALWAYS;
        parsed->call = code == CODE_SSL || code == CODE_GSS ? CALL_ENCRYPT : CALL_PLAIN;
        parsed->length = read_u32(bytes);
        return PARSE_MESSAGE;
}

/* One byte says whether the connection will be encrypted. */
static ParseStatus encryption_parse(PostgresState *s, guint8 answer, Parsed *parsed)
{
        s->side = SIDE_SERVER;
        parsed->kind = KIND_RETURN;
        parsed->length = 1;
        parsed->switches = answer != 'N';
        return PARSE_MESSAGE;
}

/* A call or return, or what is neither, begins. FALSE: more must be seen. */
static gboolean postgres_message_begin(PostgresState *s, guint8 call, const guint8 *bytes, gsize n,
                                       guint32 length, GString *label, Parsed *parsed)
{
        gsize shown = MIN(n, (gsize)length + 1);
        if (s->side == SIDE_UNKNOWN && call != CALL_NONE)
                s->side = SIDE_SERVER;
        if (s->side == SIDE_UNKNOWN && n == HEADER && length > 4)
                return FALSE;
        if (s->side == SIDE_UNKNOWN)
                s->side = (guint8)find_side(bytes, length);
        if (s->side == SIDE_UNKNOWN)
                s->kind = KIND_NOTHING;
        else if (s->side == SIDE_SERVER)
                s->kind = (guint8)postgres_answer_kind(s, bytes[0]);
        else if (label && shown <= length && shown < HEADER + SQL_LABEL_BYTES)
                return FALSE;
        else
                s->kind = (guint8)request_kind(s, bytes[0]);
        parsed->call = CALL_PLAIN;
        if (label && s->kind == KIND_CALL)
                postgres_label_append(label, parsed->memory, bytes, shown);
        s->open = TRUE;
        return TRUE;
}

/* Notes a statement wherever its Parse stands in a call. FALSE: more must be seen. */
static gboolean parse_note(const PostgresState *s, const guint8 *bytes, gsize n, guint32 length,
                           const Parsed *parsed)
{
        gsize shown = MIN(n, (gsize)length + 1);
        if (bytes[0] != 'P' || s->side != SIDE_CLIENT || !parsed->memory)
                return TRUE;
        if (shown <= length && shown < HEADER + SQL_LABEL_BYTES && !parsed->cut)
                return FALSE;
        statement_note(parsed->memory, bytes, shown);
        return TRUE;
}

static gboolean may_send(const PostgresState *s, guint8 type)
{
        return (s->side != SIDE_SERVER && is_type(client_types, type)) ||
               (s->side != SIDE_CLIENT && is_type(server_types, type));
}

/* The code of an error, which is fields of a type and a text each; n bytes are shown. FALSE: more
 * bytes must be seen. */
static gboolean error_read(const guint8 *bytes, gsize n, gboolean whole, Parsed *parsed)
{
        static const guint8 unknown[] = "XX000";
        Cursor c = cursor(bytes + HEADER, n - HEADER);
        guint8 type;
        while (cursor_u8(&c, &type) && type != 0) {
                const guint8 *end = memchr(c.at, 0, cursor_left(&c));
                if (!end)
                        break;
                if (type == 'C' && end - c.at == 5) {
                        parsed->outcome = outcome_sqlstate(c.at);
                        return TRUE;
                }
                cursor_skip(&c, (gsize)(end + 1 - c.at));
        }
        if (whole || parsed->cut || n > MAX_ERROR)
                parsed->outcome = outcome_sqlstate(unknown);
        return parsed->outcome != OUTCOME_OK;
}

static ParseStatus postgres_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                                  gboolean eof, GString *label, Parsed *parsed)
{
        PostgresState *s = state;
        if (eof) { /* an error may be the last word */
                parsed->kind = (MessageKind)s->kind;
                parsed->length = n;
                return s->open ? PARSE_MESSAGE : PARSE_NOT_MINE;
        }
        if (call == CALL_PROBE) {
                ParseStatus status = postgres_recognise(bytes, n);
                if (status != PARSE_MESSAGE)
                        return status;
                call = CALL_NONE;
        }
        if (n > 0 && !s->open && bytes[0] == 0 && s->side != SIDE_SERVER)
                return startup_parse(s, bytes, n, parsed);
        if (n > 0 && !s->open && call == CALL_ENCRYPT && is_type("SNG", bytes[0]))
                return encryption_parse(s, bytes[0], parsed);
        for (gsize at = 0; n - at >= HEADER;) {
                guint8 type = bytes[at];
                guint32 length = read_u32(bytes + at + 1);
                if (length < 4 || length > MAX_LENGTH || !may_send(s, type))
                        return PARSE_NOT_MINE;
                if (!s->open &&
                    !postgres_message_begin(s, call, bytes + at, n - at, length, label, parsed))
                        break;
                if (type == 'Z' && n - at == HEADER && length > 4)
                        break; /* its status comes */
                if (!parse_note(s, bytes + at, n - at, length, parsed))
                        break;
                if (type == 'E' && s->kind == KIND_RETURN &&
                    !error_read(bytes + at, MIN(n - at, (gsize)length + 1), n - at > length,
                                parsed))
                        break;
                parsed->kind = (MessageKind)s->kind;
                parsed->length = (guint64)at + 1 + length;
                if (s->kind == KIND_RETURN)
                        s->parsed = type == '1' || (s->parsed && !is_type("2CE", type));
                if (is_last(s, type)) {
                        parsed->transaction = type == 'Z' && length > 4 &&
                                              (bytes[at + HEADER] != 'I' || s->parsed);
                        s->parsed = FALSE;
                        s->open = FALSE;
                        s->streams = type == 'W' || (s->streams && type != 'Z');
                        return PARSE_MESSAGE;
                }
                if (parsed->length >= n)
                        break;
                at = (gsize)parsed->length;
        }
        if (s->open)
                parsed->kind = (MessageKind)s->kind;
        return PARSE_MORE;
}

/* Whether these are answers, one after the other, and the first begins a return. */
static gboolean is_chain_of_answers(const guint8 *bytes, gsize n)
{
        if (n < HEADER || !is_type("T123CEItnGHZR", bytes[0]))
                return FALSE;
        for (gsize at = 0; at < n && n - at >= HEADER;) {
                guint32 length = read_u32(bytes + at + 1);
                if (!is_type(server_types, bytes[at]) || length < 4 || length > MAX_LENGTH)
                        return FALSE;
                at += 1 + (gsize)length;
        }
        return TRUE;
}

static gsize postgres_find_boundary(const guint8 *bytes, gsize n)
{
        static const guint8 sync[] = { 'S', 0, 0, 0, 4 }, ready[] = { 'Z', 0, 0, 0, 5 };
        if (is_chain_of_answers(bytes, n))
                return 0;
        for (gsize i = 0; i < n; i++) {
                if (is_type("QPB", bytes[i]) &&
                    recognise_request(bytes + i, n - i) == PARSE_MESSAGE)
                        return i;
                if (i >= 5 && memcmp(bytes + i - 5, sync, 5) == 0 &&
                    is_type(client_types, bytes[i]))
                        return i;
                if (i >= 6 && memcmp(bytes + i - 6, ready, 5) == 0 &&
                    is_type("ITE", bytes[i - 1]) && is_type(server_types, bytes[i]))
                        return i;
        }
        return n;
}

/* A parameter: text; or binary, where it has the size of a whole number, that. */
static void parameter_append(GString *text, const guint8 *value, gsize n, gboolean binary)
{
        if (!binary)
                g_string_append_len(text, (const char *)value, (gssize)n);
        else if (n == 4)
                g_string_append_printf(text, "%" G_GINT32_FORMAT, (gint32)read_u32(value));
        else if (n == 8)
                g_string_append_printf(text, "%" G_GINT64_FORMAT, (gint64)read_u64(value));
        else
                values_append_readable(text, value, n);
        g_string_append_c(text, '\n');
}

/* The parameters of a Bind that are at hand. */
static void bind_values(GString *text, Cursor c)
{
        guint16 n_formats, n;
        const guint8 *formats;
        if (!skip_text(&c) || !skip_text(&c) || !cursor_u16(&c, &n_formats) ||
            !(formats = cursor_take(&c, 2 * (gsize)n_formats)) || !cursor_u16(&c, &n))
                return;
        for (guint i = 0; i < n; i++) {
                guint32 length;
                const guint8 *value;
                gboolean binary = n_formats == 1  ? read_u16(formats) == 1
                                  : i < n_formats ? read_u16(formats + 2 * i) == 1
                                                  : FALSE;
                if (!cursor_u32(&c, &length))
                        return;
                if (length == G_MAXUINT32) /* NULL */
                        continue;
                if (!(value = cursor_take(&c, length)))
                        return;
                parameter_append(text, value, MIN(length, MAX_PARAMETER), binary);
        }
}

/* Statements and parameters. */
static void postgres_values(GString *text, G_GNUC_UNUSED gpointer *memory, const guint8 *bytes,
                            gsize n)
{
        for (gsize at = 0; n - at >= HEADER;) {
                guint32 length = read_u32(bytes + at + 1);
                gsize shown = MIN((gsize)length + 1, n - at);
                Cursor c = cursor(bytes + at + HEADER, shown - HEADER);
                if (length < 4)
                        return;
                if (bytes[at] == 'B')
                        bind_values(text, c);
                else if (bytes[at] == 'Q' || (bytes[at] == 'P' && skip_text(&c)))
                        g_string_append_len(text, (const char *)c.at,
                                            (gssize)strnlen((const char *)c.at, cursor_left(&c)));
                g_string_append_c(text, '\n');
                at += shown;
        }
}

static void postgres_forget(gpointer memory)
{
        statements_free(memory);
}

const Protocol protocol_postgres = {
        .name = "postgres",
        .values = postgres_values,
        .parse = postgres_parse,
        .find_boundary = postgres_find_boundary,
        .forget = postgres_forget,
};
