/* SPDX-License-Identifier: BSD-2-Clause
 *
 * MySQL and MariaDB, client and server
 * (https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html). A command
 * is a call; its return goes on until the last of its results, which the results
 * themselves say: where a terminator stands, and whether more follow. A
 * login with its authentication is no message, nor is the server's greeting. Commands
 * that get no answer are one-way.
 *
 * Whether EOF packets stand after the definitions of columns was agreed on at the
 * login, which need not have been seen: they are known by their length.
 */
#include "capture/protocol/mysql-values.h"
#include "capture/protocol/protocol.h"
#include "capture/protocol/sql-label.h"
#include "capture/protocol/statements.h"
#include "capture/protocol/values.h"

#include <string.h>

enum {
        HEADER = 4,            /* length of the payload, little-endian, and a sequence number */
        MAX_PACKET = 0xffffff, /* a payload of that length goes on in the next packet */
        LOOK = 32,             /* bytes of a payload that are looked at, but for labels */
        MAX_COLUMNS = 65535,
        CAPABILITY_COMPRESS = 0x20,
        CAPABILITY_PROTOCOL_41 = 0x200,
        CAPABILITY_SSL = 0x800,
        CAPABILITY_ZSTD = 1 << 26,
        STATUS_IN_TRANSACTION = 0x01,
        STATUS_MORE_RESULTS = 0x08,
        STATUS_CURSOR = 0x40,
        BYTE_OK = 0x00,
        BYTE_FILE = 0xfb,
        BYTE_EOF = 0xfe,
        BYTE_ERROR = 0xff,
};

enum {
        COM_QUIT = 0x01,
        COM_INIT_DB = 0x02,
        COM_QUERY = 0x03,
        COM_FIELD_LIST = 0x04,
        COM_STATISTICS = 0x09,
        COM_PROCESS_INFO = 0x0a,
        COM_PING = 0x0e,
        COM_CHANGE_USER = 0x11,
        COM_BINLOG_DUMP = 0x12,
        COM_STMT_PREPARE = 0x16,
        COM_STMT_EXECUTE = 0x17,
        COM_STMT_SEND_LONG_DATA = 0x18,
        COM_STMT_CLOSE = 0x19,
        COM_STMT_FETCH = 0x1c,
        COM_BINLOG_DUMP_GTID = 0x1e,
        COM_RESET_CONNECTION = 0x1f,
        COM_STMT_BULK_EXECUTE = 0xfa, /* MariaDB */
};

/* What a return must know of its call. */
enum {
        CALL_OK = 1, /* one packet answers it */
        CALL_LOGIN,
        CALL_LOGIN_COMPRESSED,
        CALL_RESULTS,
        CALL_ROWS, /* without the number of columns before them */
        CALL_EVENTS,
        CALL_PREPARE, /* and up to PREPARED_AT_ONCE - 1 more: its place among the prepared */
        PREPARED_AT_ONCE = 16,
};

/* Statements by their number; until that is answered, by their place. */
#define STATEMENT_LATEST    G_MAXUINT32
#define STATEMENT_AT(place) ((guint64)1 << 32 | (place))

typedef enum { START, COLUMNS, COLUMNS_END, ROWS } Phase;

typedef struct {
        guint32 definitions; /* of columns and parameters, still to come */
        guint8 side;
        guint8 phase;
        guint8 open;        /* a message goes on */
        guint8 kind;        /* the kind of that message */
        guint8 call;        /* that a return in progress answers */
        guint8 continues;   /* the last packet goes on in the next */
        guint8 last_packet; /* and that is all of the message */
        guint8 transaction; /* is open, by the last status that was sent */
        guint8 prepared;    /* the answer in progress is that of a statement that was prepared */
        guint8 place;       /* client: of the next such statement; server: of this one */
} MysqlState;

G_STATIC_ASSERT(sizeof(MysqlState) <= PROTOCOL_STATE_SIZE);

/* A packet; shown: bytes of the payload that are there. */
typedef struct {
        const guint8 *payload;
        gsize length, shown;
        guint8 seq;
} MysqlPacket;

static guint32 read_u24_le(const guint8 *p)
{
        return (guint32)(p[0] | p[1] << 8 | p[2] << 16);
}

static guint16 read_u16_le(const guint8 *p)
{
        return (guint16)(p[0] | p[1] << 8);
}

/* A number of 1 to 9 bytes. */
static gboolean mysql_take_number(Cursor *c, guint64 *value)
{
        guint8 first;
        if (!cursor_u8(c, &first) || first == 0xfb || first == 0xff)
                return FALSE;
        *value = first;
        if (first < 0xfb)
                return TRUE;
        gsize n = first == 0xfc ? 2 : first == 0xfd ? 3 : 8;
        const guint8 *p = cursor_take(c, n);
        if (!p)
                return FALSE;
        *value = 0;
        while (n-- > 0)
                *value = *value << 8 | p[n];
        return TRUE;
}

/* --- recognising ----------------------------------------------------------- */

static gboolean is_greeting(const MysqlPacket *p)
{
        if (p->seq != 0 || p->length < 40 || p->length > 512 || p->payload[0] != 10 ||
            !g_ascii_isdigit(p->payload[1]))
                return FALSE;
        for (gsize i = 1; i < LOOK && p->payload[i] != 0; i++)
                if (p->payload[i] < ' ' || p->payload[i] >= 0x7f)
                        return FALSE;
        return TRUE;
}

/* Also a request for TLS, which is its beginning. */
static gboolean is_login(const MysqlPacket *p)
{
        static const guint8 zeros[19];
        return p->seq >= 1 && p->seq <= 2 && p->length >= LOOK && p->length < 65536 &&
               (read_u16_le(p->payload) & CAPABILITY_PROTOCOL_41) &&
               memcmp(p->payload + 9, zeros, sizeof zeros) == 0;
}

/* The text of a query, after the number of attributes where that is sent. */
static const guint8 *query_text(const MysqlPacket *p)
{
        gsize at = p->payload[0] == COM_QUERY && p->shown > 2 && p->payload[1] == 0 &&
                                   p->payload[2] == 1
                           ? 3
                           : 1;
        return p->payload + MIN(at, p->shown);
}

static gboolean is_execute(const MysqlPacket *p)
{
        static const guint8 once[] = { 1, 0, 0, 0 };
        return p->length >= 10 && p->payload[5] <= 8 && memcmp(p->payload + 6, once, 4) == 0;
}

/* A name, and how long the proof is that follows, as far as they are seen: with it a pool takes up
 * a connection again. */
static gboolean is_change_user(const MysqlPacket *p)
{
        gsize i = 1;

        if (p->length < LOOK)
                return FALSE;
        while (i < LOOK && p->payload[i] > ' ' && p->payload[i] < 0x7f)
                i++;
        return i > 1 && i + 1 < LOOK && p->payload[i] == 0 &&
               (p->payload[i + 1] == 0 || p->payload[i + 1] == 20 || p->payload[i + 1] == 32);
}

/* sender: Sender, as far as it is known. */
static gboolean is_certain(const MysqlPacket *p, guint8 sender)
{
        if (is_greeting(p) || is_login(p))
                return TRUE;
        if (p->seq != 0 || sender == SENDER_SERVER)
                return FALSE;
        const guint8 *text = query_text(p);
        switch (p->payload[0]) {
        case COM_QUERY:
        case COM_STMT_PREPARE:
                return sql_is_plausible(text, (gsize)(p->payload + p->shown - text),
                                        p->shown == p->length);
        case COM_STMT_EXECUTE:
                return is_execute(p);
        case COM_CHANGE_USER:
                return is_change_user(p);
        default:
                return FALSE;
        }
}

/* All that is said on a connection that was open before the capture, n bytes. */
static gboolean is_goodbye(const MysqlPacket *p, gsize n)
{
        return p->seq == 0 && p->length == 1 && n == HEADER + 1 && p->payload[0] == COM_QUIT;
}

/* --- commands -------------------------------------------------------------- */

static guint8 mysql_command_call(guint8 command)
{
        switch (command) {
        case COM_QUERY:
        case COM_PROCESS_INFO:
        case COM_STMT_EXECUTE:
        case COM_STMT_BULK_EXECUTE:
                return CALL_RESULTS;
        case COM_STMT_PREPARE:
                return CALL_PREPARE;
        case COM_FIELD_LIST:
        case COM_STMT_FETCH:
                return CALL_ROWS;
        case COM_CHANGE_USER:
                return CALL_LOGIN;
        case COM_BINLOG_DUMP:
        case COM_BINLOG_DUMP_GTID:
                return CALL_EVENTS;
        default:
                return CALL_OK;
        }
}

static gboolean is_command(guint8 command)
{
        return (command >= COM_QUIT && command <= COM_RESET_CONNECTION) ||
               command == COM_STMT_BULK_EXECUTE;
}

static gboolean is_silent(guint8 command)
{
        return command == COM_STMT_CLOSE || command == COM_STMT_SEND_LONG_DATA;
}

/* Of what pools and drivers say by themselves, without SQL. */
static const char *command_name(guint8 command)
{
        switch (command) {
        case COM_INIT_DB:
                return "USE";
        case COM_PING:
                return "PING";
        case COM_CHANGE_USER:
                return "CHANGE USER";
        case COM_STMT_FETCH:
                return "FETCH";
        case COM_RESET_CONNECTION:
                return "RESET CONNECTION";
        default:
                return "";
        }
}

static guint32 read_u32_le(const guint8 *p)
{
        return p[0] | (guint32)p[1] << 8 | (guint32)p[2] << 16 | (guint32)p[3] << 24;
}

/* The operation of the statement that is executed. */
static const char *executed_operation(const gpointer *memory, const MysqlPacket *p)
{
        const char *operation =
                memory && p->shown >= 5
                        ? statements_lookup(*memory, read_u32_le(p->payload + 1))
                        : NULL;
        return operation ? operation : "EXECUTE";
}

static void mysql_label_append(GString *label, const gpointer *memory, const MysqlPacket *p)
{
        const guint8 *text = query_text(p);
        switch (p->payload[0]) {
        case COM_QUERY:
        case COM_STMT_PREPARE:
                sql_label_append(label, text, (gsize)(p->payload + p->shown - text));
                break;
        case COM_STMT_EXECUTE:
        case COM_STMT_BULK_EXECUTE:
                g_string_append(label, executed_operation(memory, p));
                break;
        default:
                g_string_append(label, command_name(p->payload[0]));
        }
}

/* A statement has a number only in the answer, which is told its place. MariaDB's clients need not
 * wait for that: they call the latest one by a number of its own. */
static void statement_prepare(MysqlState *s, const GString *label, Parsed *parsed)
{
        guint place = s->place++ % PREPARED_AT_ONCE;
        parsed->call = (guint8)(CALL_PREPARE + place);
        if (!parsed->memory || label->len == 0)
                return;
        statements_put((Statements **)parsed->memory, STATEMENT_AT(place), label->str);
        statements_put((Statements **)parsed->memory, STATEMENT_LATEST, label->str);
}

static void statement_answer(const MysqlState *s, gpointer *memory, const MysqlPacket *p)
{
        const char *operation =
                memory ? statements_lookup(*memory, STATEMENT_AT(s->place)) : NULL;
        g_autofree char *copy = g_strdup(operation);
        if (copy)
                statements_put((Statements **)memory, read_u32_le(p->payload + 1), copy);
}

/* The first packet of a message of the client. */
static gboolean mysql_request_read(MysqlState *s, const MysqlPacket *p, GString *label,
                                   Parsed *parsed)
{
        s->last_packet = TRUE;
        if (s->side == SIDE_UNKNOWN && is_login(p)) {
                guint32 capabilities =
                        read_u16_le(p->payload) | (guint32)read_u16_le(p->payload + 2) << 16;
                gboolean tls = p->length == LOOK && (capabilities & CAPABILITY_SSL);
                s->kind = tls ? KIND_SESSION : KIND_CALL;
                parsed->switches = tls;
                parsed->session = SESSION_ALWAYS;
                parsed->call = capabilities & (CAPABILITY_COMPRESS | CAPABILITY_ZSTD)
                                       ? CALL_LOGIN_COMPRESSED
                                       : CALL_LOGIN;
        } else if (p->seq != 0) { /* authentication, a file */
                s->kind = KIND_NOTHING;
                return s->side == SIDE_CLIENT;
        } else if (p->length == 0 || !is_command(p->payload[0])) {
                return FALSE;
        } else {
                s->kind = p->payload[0] == COM_QUIT  ? KIND_SESSION
                          : is_silent(p->payload[0]) ? KIND_ONE_WAY
                                                     : KIND_CALL;
                parsed->call = mysql_command_call(p->payload[0]);
                if (label && s->kind == KIND_CALL)
                        mysql_label_append(label, parsed->memory, p);
                if (label && p->payload[0] == COM_STMT_PREPARE)
                        statement_prepare(s, label, parsed);
        }
        s->side = SIDE_CLIENT;
        return TRUE;
}

/* --- answers --------------------------------------------------------------- */

/* The status that ends a result: of an EOF packet, or of an OK packet. */
static guint16 status_of(const MysqlPacket *p)
{
        guint64 ignored;
        Cursor c = cursor(p->payload + 1, p->shown - 1);
        if (p->payload[0] == BYTE_EOF && p->length == 5)
                return read_u16_le(p->payload + 3);
        if (!mysql_take_number(&c, &ignored) || !mysql_take_number(&c, &ignored) ||
            cursor_left(&c) < 2)
                return 0;
        return read_u16_le(c.at);
}

/* A result is over. TRUE where it was the last. */
static gboolean result_ends(MysqlState *s, const MysqlPacket *p)
{
        s->phase = START;
        if (p->payload[0] == BYTE_ERROR)
                return TRUE;
        guint16 status = status_of(p);
        s->transaction = (status & STATUS_IN_TRANSACTION) != 0;
        return s->call != CALL_RESULTS || !(status & STATUS_MORE_RESULTS);
}

/* The packet that says how many columns come. FALSE: it cannot be one. */
static gboolean columns_begin(MysqlState *s, const MysqlPacket *p)
{
        Cursor c = cursor(p->payload, p->shown);
        guint64 columns;
        guint8 follow = 1;
        if (!mysql_take_number(&c, &columns) || columns == 0 || columns > MAX_COLUMNS ||
            p->length > 10)
                return FALSE;
        if (cursor_left(&c) > 0) /* MariaDB: whether the client must be told them again */
                cursor_u8(&c, &follow);
        s->definitions = (guint32)columns;
        s->phase = follow ? COLUMNS : COLUMNS_END;
        return TRUE;
}

static gboolean prepared_begin(MysqlState *s, const MysqlPacket *p)
{
        if (p->length < 12 || p->payload[0] != BYTE_OK)
                return FALSE;
        s->prepared = TRUE;
        s->definitions = (guint32)read_u16_le(p->payload + 5) + read_u16_le(p->payload + 7);
        s->last_packet = s->definitions == 0;
        s->phase = s->last_packet ? START : COLUMNS;
        return TRUE;
}

/* The first packet of a result. FALSE: it cannot be one. */
static gboolean result_begin(MysqlState *s, const MysqlPacket *p)
{
        guint8 first = p->payload[0];
        if (first == BYTE_ERROR || s->call == CALL_OK) {
                if (first == BYTE_OK)
                        s->transaction = (status_of(p) & STATUS_IN_TRANSACTION) != 0;
                s->last_packet = TRUE;
                return TRUE;
        }
        switch (s->call) {
        case CALL_LOGIN:
        case CALL_LOGIN_COMPRESSED:
                s->last_packet = first == BYTE_OK;
                return first == BYTE_OK || first == 1 || first == BYTE_EOF;
        case CALL_PREPARE:
                return prepared_begin(s, p);
        case CALL_ROWS:
                s->phase = ROWS;
                s->last_packet = first == BYTE_EOF;
                return TRUE;
        case CALL_EVENTS:
                s->last_packet = TRUE;
                return TRUE;
        default:
                if (first == BYTE_OK)
                        s->last_packet = result_ends(s, p);
                return first == BYTE_OK || first == BYTE_FILE || columns_begin(s, p);
        }
}

static gboolean mysql_answer_read(MysqlState *s, const MysqlPacket *p)
{
        gboolean ends = p->length > 0 && p->length < MAX_PACKET &&
                        (p->payload[0] == BYTE_EOF || p->payload[0] == BYTE_ERROR);
        s->last_packet = FALSE;
        if (p->length == 0)
                return s->phase == ROWS;
        switch ((Phase)s->phase) {
        case START:
                return result_begin(s, p);
        case COLUMNS:
                if (ends && p->payload[0] == BYTE_EOF && p->length == 5 && s->call == CALL_PREPARE)
                        return TRUE;
                if (ends || --s->definitions > 0)
                        return !ends;
                s->last_packet = s->call == CALL_PREPARE;
                s->phase = s->last_packet ? START : COLUMNS_END;
                return TRUE;
        case COLUMNS_END:
                s->phase = ROWS;
                if (ends && p->payload[0] == BYTE_EOF && p->length == 5) {
                        if (status_of(p) & STATUS_CURSOR)
                                s->last_packet = result_ends(s, p);
                        return TRUE;
                }
                break;
        case ROWS:
                break;
        }
        if (ends)
                s->last_packet = result_ends(s, p);
        return TRUE;
}

/* The first packet of a message of the server. */
static gboolean answer_begin(MysqlState *s, guint8 call, const MysqlPacket *p)
{
        s->call = MIN(call, CALL_PREPARE);
        s->place = call - s->call;
        s->phase = START;
        if (call == CALL_NONE || (p->seq > 1 && p->length == 5 && p->payload[0] == BYTE_EOF)) {
                /* a greeting, or what is left of an answer */
                s->kind = is_greeting(p) ? KIND_SESSION : KIND_NOTHING;
                s->last_packet = TRUE;
                return s->side == SIDE_SERVER || s->kind == KIND_SESSION || call != CALL_NONE;
        }
        s->kind = KIND_RETURN;
        return mysql_answer_read(s, p);
}

/* --- both ------------------------------------------------------------------ */

static gboolean mysql_packet_read(MysqlState *s, guint8 call, const MysqlPacket *p, GString *label,
                                  Parsed *parsed)
{
        if (s->continues) {
                s->continues = p->length == MAX_PACKET;
                return TRUE;
        }
        s->continues = p->length == MAX_PACKET;
        if (s->open)
                return mysql_answer_read(s, p);
        if (s->side == SIDE_UNKNOWN && (call != CALL_NONE || (p->length && is_greeting(p)))) {
                if (!answer_begin(s, call, p))
                        return FALSE;
                s->side = SIDE_SERVER;
                return TRUE;
        }
        return s->side == SIDE_SERVER ? answer_begin(s, call, p)
                                      : mysql_request_read(s, p, label, parsed);
}

static ParseStatus mysql_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                               gboolean eof, GString *label, Parsed *parsed)
{
        MysqlState *s = state;
        if (eof)
                return PARSE_NOT_MINE;
        for (gsize at = 0; n - at >= HEADER; at = (gsize)parsed->length) {
                MysqlPacket p = { .payload = bytes + at + HEADER,
                                  .length = read_u24_le(bytes + at),
                                  .seq = bytes[at + 3] };
                p.shown = MIN(p.length, n - at - HEADER);
                gsize look = label && !s->open ? SQL_LABEL_BYTES : LOOK;
                if (call == CALL_PROBE && (p.shown < MIN(p.length, LOOK) || p.length == 0))
                        return p.length == 0 || p.seq > 2 ? PARSE_NOT_MINE : PARSE_MORE;
                if (call == CALL_PROBE && !is_certain(&p, parsed->sender) && !is_goodbye(&p, n))
                        return PARSE_NOT_MINE;
                if (p.shown < MIN(p.length, call == CALL_PROBE ? LOOK : look))
                        break;
                gboolean prepared = s->prepared;
                if (!mysql_packet_read(s, call == CALL_PROBE ? CALL_NONE : call, &p, label, parsed))
                        return PARSE_NOT_MINE;
                if (s->prepared && !prepared)
                        statement_answer(s, parsed->memory, &p);
                parsed->kind = (MessageKind)s->kind;
                parsed->length = (guint64)at + HEADER + p.length;
                s->open = s->continues || !s->last_packet;
                if (s->kind == KIND_RETURN && s->last_packet && p.shown >= 3 &&
                    p.payload[0] == BYTE_ERROR)
                        parsed->outcome = outcome_mysql(read_u16_le(p.payload + 1));
                if (!s->open) {
                        parsed->transaction =
                                s->kind == KIND_RETURN && (s->transaction || s->prepared);
                        s->prepared = FALSE;
                        parsed->switches |=
                                s->kind == KIND_RETURN && s->call == CALL_LOGIN_COMPRESSED;
                        return PARSE_MESSAGE;
                }
                label = NULL;
                if (parsed->length >= n)
                        break;
        }
        if (s->open)
                parsed->kind = (MessageKind)s->kind;
        return PARSE_MORE;
}

/* Packets that are numbered as those of an answer are, or a command. */
static gsize mysql_find_boundary(const guint8 *bytes, gsize n)
{
        guint8 seq = 1;
        if (n < HEADER + 1)
                return n;
        MysqlPacket p = { .payload = bytes + HEADER,
                          .length = read_u24_le(bytes),
                          .seq = bytes[3] };
        p.shown = MIN(p.length, n - HEADER);
        if (p.shown > 0 && p.shown >= MIN(p.length, LOOK) && is_certain(&p, SENDER_ANY))
                return 0;
        for (gsize at = 0; at < n && n - at >= HEADER; at += HEADER + read_u24_le(bytes + at))
                if (bytes[at + 3] != seq++)
                        return n;
        return 0;
}

/* A statement, or its parameters; where their types are not known, what is readable in them. */
static void mysql_values(GString *text, gpointer *memory, const guint8 *bytes, gsize n)
{
        gsize from = HEADER + 1;
        if (n <= from)
                return;
        if (bytes[HEADER] == COM_QUERY || bytes[HEADER] == COM_STMT_PREPARE)
                g_string_append_len(text, (const char *)bytes + from, (gssize)(n - from));
        else if (bytes[HEADER] == COM_STMT_EXECUTE &&
                 !mysql_values_append(text, (Statements **)memory, bytes + from, n - from))
                values_append_readable(text, bytes + from, n - from);
        g_string_append_c(text, '\n');
}

static void mysql_forget(gpointer memory)
{
        statements_free(memory);
}

const Protocol protocol_mysql = {
        .name = "mysql",
        .values = mysql_values,
        .parse = mysql_parse,
        .find_boundary = mysql_find_boundary,
        .forget = mysql_forget,
};
