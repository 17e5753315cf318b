/* SPDX-License-Identifier: BSD-2-Clause
 *
 * TDS 7, the protocol of SQL Server
 * (https://learn.microsoft.com/openspecs/windows_protocols/ms-tds). A message is packets up to one
 * with the flag EOM. Batches, procedures, bulk loads and transaction requests are calls, in order;
 * what the server sends up to EOM is the return. PRELOGIN and logins are of the session. An
 * attention, which cancels a call, is no message, nor is its acknowledgement by itself.
 *
 * The handshake of TLS is inside packets of PRELOGIN, and then TLS is around them: of the login
 * alone, or of everything. After that the connection speaks TLS, which is unseen without keys.
 */
#include "capture/protocol/protocol.h"
#include "capture/protocol/sql-label.h"
#include "capture/protocol/statements.h"

#include <string.h>

enum {
        TDS_BATCH = 0x01,
        TDS_RPC = 0x03,
        TDS_ANSWER = 0x04,
        TDS_ATTENTION = 0x06,
        TDS_BULK = 0x07,
        TDS_FEDERATED = 0x08,
        TDS_TRANSACTION = 0x0e,
        TDS_LOGIN = 0x10,
        TDS_SSPI = 0x11,
        TDS_PRELOGIN = 0x12,

        TDS_HEADER = 8,
        TDS_EOM = 1,
        TDS_FLAGS = 0x1f, /* of a status */
        TLS_RECORD_HEADER = 5,
        TLS_APPLICATION = 23,

        TOKEN_RETURN_STATUS = 0x79,
        TOKEN_COLUMNS = 0x81,
        TOKEN_ORDER = 0xa9,
        TOKEN_ERROR = 0xaa,
        TOKEN_INFO = 0xab,
        TOKEN_RETURN_VALUE = 0xac,
        TOKEN_LOGIN = 0xad,
        TOKEN_ENVIRONMENT = 0xe3,
        TOKEN_SSPI = 0xed,
        TOKEN_DONE = 0xfd, /* and DONEPROC, and DONEINPROC */
        DONE_LENGTH = 12,
        OLD_DONE_LENGTH = 8, /* before 7.2 */
        DONE_ERROR = 0x102,  /* or a severe one */
        DONE_ATTENTION = 0x20,

        ENCRYPT_ON = 1,
        ENCRYPT_REQUIRED = 3,
        TYPE_INT = 0x26, /* of 1 to 8 bytes, perhaps NULL */
        TYPE_NTEXT = 0x63,
        TYPE_NVARCHAR = 0xe7,

        PROC_EXECUTESQL = 10,
        PROC_PREPARE = 11,
        PROC_EXECUTE = 12,
        PROC_PREPEXEC = 13,
        MAX_PROC_NAME = 128, /* characters */

        LOOK = 2 * SQL_LABEL_BYTES + 512, /* bytes of a first packet */
        UNKNOWN_ERROR = 50000,            /* the least number of an error without one of its own */
};

/* What a return must know of its call. */
enum { CALL_PLAIN = 1, CALL_PRELOGIN, CALL_PREPARE };

/* By which a statement is kept that is being prepared; others have their handles. */
#define PREPARING G_MAXUINT64

typedef struct {
        guint32 error;  /* server: number of the first error of the return in progress; 0: none */
        guint8 open;    /* a message goes on */
        guint8 type;    /* of its packets */
        guint8 kind;    /* MessageKind */
        guint8 call;    /* server: what it answers */
        guint8 encrypt; /* server: what its PRELOGIN says */
} TdsState;

G_STATIC_ASSERT(sizeof(TdsState) <= PROTOCOL_STATE_SIZE);

static guint16 little_u16(const guint8 *p)
{
        return (guint16)(p[1] << 8 | p[0]);
}

static guint32 little_u32(const guint8 *p)
{
        return (guint32)little_u16(p + 2) << 16 | little_u16(p);
}

static gboolean take_u16(Cursor *c, guint16 *value)
{
        const guint8 *p = cursor_take(c, 2);
        if (p)
                *value = little_u16(p);
        return p != NULL;
}

static gboolean take_u32(Cursor *c, guint32 *value)
{
        const guint8 *p = cursor_take(c, 4);
        if (p)
                *value = little_u32(p);
        return p != NULL;
}

/* --- packets --------------------------------------------------------------- */

static gboolean is_request(guint8 type)
{
        return type == TDS_BATCH || type == TDS_RPC || type == TDS_BULK || type == TDS_TRANSACTION;
}

static gboolean is_login(guint8 type)
{
        return type == TDS_FEDERATED || (type >= TDS_LOGIN && type <= TDS_PRELOGIN);
}

/* PARSE_MORE: the header is not there. */
static ParseStatus packet_check(const guint8 *bytes, gsize n)
{
        guint8 type = n > 0 ? bytes[0] : TDS_ANSWER;
        if (!is_request(type) && !is_login(type) && type != TDS_ANSWER && type != TDS_ATTENTION)
                return PARSE_NOT_MINE;
        if ((n > 1 && bytes[1] & ~TDS_FLAGS) || (n > 7 && bytes[7] != 0))
                return PARSE_NOT_MINE;
        if (n < TDS_HEADER)
                return PARSE_MORE;
        return read_u16(bytes + 2) >= TDS_HEADER && read_u16(bytes + 2) <= 32768 ? PARSE_MESSAGE
                                                                                 : PARSE_NOT_MINE;
}

/* A record of TLS around a packet. */
static gboolean is_tls_record(const guint8 *bytes, gsize n)
{
        return n >= 2 && bytes[0] >= 20 && bytes[0] <= TLS_APPLICATION && bytes[1] == 3;
}

/* Passes over the headers that begin a request from 7.2 on: their length, and each its own and a
 * type. FALSE: there are none. */
static gboolean headers_skip(Cursor *body)
{
        guint32 total, length;
        guint16 type;
        Cursor headers, all = *body, *c = &all;
        if (!take_u32(c, &total) || total < 10 || total > 512 ||
            !cursor_part(c, total - 4, &headers))
                return FALSE;
        while (cursor_left(&headers) > 0)
                if (!take_u32(&headers, &length) || length < 6 || !take_u16(&headers, &type) ||
                    type < 1 || type > 3 || !cursor_skip(&headers, length - 6))
                        return FALSE;
        *body = all;
        return TRUE;
}

/* --- tokens of answers ------------------------------------------------------- */

/* Passes over a token whose length can be known. done: the length of DONE. */
static gboolean token_skip(Cursor *c, gsize done)
{
        guint8 token;
        guint16 length;
        if (!cursor_u8(c, &token))
                return FALSE;
        switch (token) {
        case TOKEN_RETURN_STATUS:
                return cursor_skip(c, 4);
        case TOKEN_ORDER:
        case TOKEN_ERROR:
        case TOKEN_INFO:
        case TOKEN_LOGIN:
        case TOKEN_ENVIRONMENT:
        case TOKEN_SSPI:
                return take_u16(c, &length) && cursor_skip(c, length);
        case TOKEN_DONE:
        case TOKEN_DONE + 1:
        case TOKEN_DONE + 2:
                return cursor_skip(c, done);
        default:
                return FALSE;
        }
}

/* An error: its number, state and class, and a message of characters. */
static gboolean error_number(Cursor c, guint32 *number)
{
        guint8 token;
        guint16 length, characters;
        return cursor_u8(&c, &token) && token == TOKEN_ERROR && take_u16(&c, &length) &&
               length >= 12 && take_u32(&c, number) && *number < G_MAXINT32 && cursor_skip(&c, 1) &&
               cursor_u8(&c, &token) && token <= 25 && take_u16(&c, &characters) &&
               characters <= length / 2;
}

/* A handle that a procedure gives back: a whole number of 4 bytes. */
static gboolean handle_read(Cursor *c, guint32 *handle)
{
        enum { USER_TYPE_AND_FLAGS = 6 };
        guint8 token, name, type, size, length;
        return cursor_u8(c, &token) && token == TOKEN_RETURN_VALUE && cursor_skip(c, 2) &&
               cursor_u8(c, &name) && cursor_skip(c, 2 * (gsize)name + 1 + USER_TYPE_AND_FLAGS) &&
               cursor_u8(c, &type) && type == TYPE_INT && cursor_u8(c, &size) && size == 4 &&
               cursor_u8(c, &length) && length == 4 && take_u32(c, handle);
}

static gboolean tokens_reach(Cursor c, gsize done)
{
        while (cursor_left(&c) > 0)
                if (!token_skip(&c, done))
                        return FALSE;
        return TRUE;
}

/* Whether nothing but tokens of known length stands up to the end. */
static gboolean tokens_reach_end(Cursor c)
{
        return tokens_reach(c, DONE_LENGTH) || tokens_reach(c, OLD_DONE_LENGTH);
}

/* Notes the error among the first tokens of an answer. */
static void first_tokens_read(TdsState *s, Cursor c)
{
        guint32 number;
        do {
                if (error_number(c, &number)) {
                        s->error = MAX(number, 1);
                        return;
                }
        } while (token_skip(&c, DONE_LENGTH));
}

static gboolean done_fails(Cursor c, gsize length)
{
        const guint8 *done = c.end - length;
        return cursor_left(&c) > length && done[-1] >= TOKEN_DONE &&
               (little_u16(done) & DONE_ERROR) && (done[1] & 0xfe) == 0;
}

/* Whether the last token says that there was an error. */
static gboolean is_failed(Cursor c)
{
        return done_fails(c, DONE_LENGTH) || done_fails(c, OLD_DONE_LENGTH);
}

/* Looks for the error, or the handle, among the last tokens of an answer. */
static void last_tokens_read(TdsState *s, Cursor c, gpointer *memory)
{
        gboolean failed = is_failed(c);
        guint32 value;
        const char *operation;
        for (; cursor_left(&c) > OLD_DONE_LENGTH; c.at++) {
                Cursor rest = c;
                if (failed && !s->error && *c.at == TOKEN_ERROR && error_number(c, &value) &&
                    tokens_reach_end(c))
                        s->error = MAX(value, 1);
                if (s->call == CALL_PREPARE && memory && *c.at == TOKEN_RETURN_VALUE &&
                    handle_read(&rest, &value) && tokens_reach_end(rest) &&
                    (operation = statements_lookup(*memory, PREPARING))) {
                        g_autofree char *copy = g_strdup(operation); /* putting may free it */
                        statements_put((Statements **)memory, value, copy);
                        return;
                }
        }
        if (failed && !s->error)
                s->error = UNKNOWN_ERROR;
}

/* --- labels ---------------------------------------------------------------- */

/* n bytes of characters of two bytes. Brackets around names become quotes. */
static char *characters_read(const guint8 *bytes, gsize n)
{
        GString *text = g_string_new(NULL);
        for (gsize i = 0; i + 2 <= MIN(n, 2 * (gsize)SQL_LABEL_BYTES); i += 2) {
                gunichar c = little_u16(bytes + i);
                if (c == '[' || c == ']')
                        c = '"';
                g_string_append_unichar(text, c == 0 || (c >= 0xd800 && c < 0xe000) ? '_' : c);
        }
        return g_string_free(text, FALSE);
}

static void statement_label_append(GString *label, const guint8 *bytes, gsize n)
{
        g_autofree char *text = characters_read(bytes, n);
        sql_label_append(label, (const guint8 *)text, strlen(text));
}

/* The text of a parameter of a procedure, as far as it is there. */
static gboolean parameter_text(Cursor *c, Cursor *text)
{
        guint8 name, type;
        guint16 most, length;
        guint32 long_length;
        if (!cursor_u8(c, &name) || !cursor_skip(c, 2 * (gsize)name + 1) || !cursor_u8(c, &type))
                return FALSE;
        if (type == TYPE_NTEXT) {
                if (!cursor_skip(c, 4 + 5) || !take_u32(c, &long_length))
                        return FALSE;
        } else if (type != TYPE_NVARCHAR || !take_u16(c, &most) || !cursor_skip(c, 5)) {
                return FALSE;
        } else if (most == G_MAXUINT16) { /* in chunks, of which the first is enough */
                if (!cursor_skip(c, 8) || !take_u32(c, &long_length))
                        return FALSE;
        } else {
                if (!take_u16(c, &length))
                        return FALSE;
                long_length = length == G_MAXUINT16 ? 0 : length; /* NULL */
        }
        *text = cursor(c->at, MIN(long_length, cursor_left(c)));
        c->at = text->end;
        return TRUE;
}

/* A parameter that is a handle; 0: there is none yet. */
static gboolean parameter_handle(Cursor *c, guint32 *handle)
{
        guint8 name, type, size, length;
        *handle = 0;
        return cursor_u8(c, &name) && cursor_skip(c, 2 * (gsize)name + 1) && cursor_u8(c, &type) &&
               type == TYPE_INT && cursor_u8(c, &size) && cursor_u8(c, &length) &&
               (length == 0 || (length == 4 && take_u32(c, handle)));
}

/* The number of a system's procedure, also by its name; 0: another. */
static guint16 procedure_read(Cursor *c, char **name)
{
        static const struct {
                const char *name;
                guint16 number;
        } procedures[] = {
                { "sp_cursor", 1 },
                { "sp_cursoropen", 2 },
                { "sp_cursorprepare", 3 },
                { "sp_cursorexecute", 4 },
                { "sp_cursorprepexec", 5 },
                { "sp_cursorunprepare", 6 },
                { "sp_cursorfetch", 7 },
                { "sp_cursoroption", 8 },
                { "sp_cursorclose", 9 },
                { "sp_executesql", PROC_EXECUTESQL },
                { "sp_prepare", PROC_PREPARE },
                { "sp_execute", PROC_EXECUTE },
                { "sp_prepexec", PROC_PREPEXEC },
                { "sp_prepexecrpc", 14 },
                { "sp_unprepare", 15 },
        };
        guint16 length, number = 0;
        const guint8 *text;
        *name = NULL;
        if (!take_u16(c, &length))
                return 0;
        if (length == G_MAXUINT16)
                take_u16(c, &number);
        else if (length <= MAX_PROC_NAME && (text = cursor_take(c, 2 * (gsize)length)))
                *name = characters_read(text, 2 * (gsize)length);
        for (guint i = 0; i < G_N_ELEMENTS(procedures); i++)
                if (number == procedures[i].number ||
                    (*name && strcmp(*name, procedures[i].name) == 0)) {
                        g_free(*name);
                        *name = g_strdup(procedures[i].name);
                        return procedures[i].number;
                }
        return 0;
}

/* "SELECT items", or of another procedure "EXEC name". */
static void procedure_label_append(GString *label, Cursor c, gpointer *memory, Parsed *parsed)
{
        g_autofree char *name = NULL;
        guint16 number = procedure_read(&c, &name);
        gsize before = label->len;
        guint32 handle = 0;
        Cursor text;
        gboolean prepares = number == PROC_PREPARE || number == PROC_PREPEXEC;
        cursor_skip(&c, 2);
        if ((prepares && parameter_handle(&c, &handle) && parameter_text(&c, &text) &&
             parameter_text(&c, &text)) ||
            (number == PROC_EXECUTESQL && parameter_text(&c, &text))) {
                statement_label_append(label, text.at, cursor_left(&text));
        } else if (number == PROC_EXECUTE && parameter_handle(&c, &handle)) {
                const char *operation = memory ? statements_lookup(*memory, handle) : NULL;
                g_string_append(label, operation ? operation : "EXECUTE");
        } else if (number != PROC_EXECUTESQL && name) {
                g_string_append_printf(label, "EXEC ");
                for (const char *p = name; *p; p++)
                        if (*p != '"')
                                g_string_append_c(label, *p);
        }
        if (prepares && memory && label->len > before) {
                statements_put((Statements **)memory, PREPARING, label->str + before);
                parsed->call = CALL_PREPARE;
        }
}

static void tds_label_append(GString *label, guint8 type, Cursor c, gpointer *memory,
                             Parsed *parsed)
{
        static const struct {
                guint16 type;
                const char *label;
        } transactions[] = {
                { 5, "BEGIN" }, { 7, "COMMIT" }, { 8, "ROLLBACK" }, { 9, "SAVEPOINT" }
        };
        guint16 request;
        if (type == TDS_BULK) {
                g_string_append(label, "BULK");
                return;
        }
        headers_skip(&c);
        if (type == TDS_BATCH)
                statement_label_append(label, c.at, cursor_left(&c));
        else if (type == TDS_RPC)
                procedure_label_append(label, c, memory, parsed);
        else if (take_u16(&c, &request))
                for (guint i = 0; i < G_N_ELEMENTS(transactions); i++)
                        if (transactions[i].type == request)
                                g_string_append(label, transactions[i].label);
}

/* --- recognising ----------------------------------------------------------- */

/* Options, each a number, an offset and a length; the first says a version. */
static gboolean is_prelogin(Cursor c)
{
        guint8 option;
        guint16 offset, length;
        return cursor_u8(&c, &option) && option == 0 && cursor_u16(&c, &offset) &&
               offset % 5 == 1 && offset <= 64 && cursor_u16(&c, &length) && length == 6;
}

/* Whether a statement begins here, of two bytes a character. */
static gboolean is_statement(Cursor c)
{
        gsize n = MIN(cursor_left(&c), 64) & ~(gsize)1;
        for (gsize i = 0; i < n; i += 2)
                if (little_u16(c.at + i) < ' ' && !g_ascii_isspace(c.at[i]))
                        return FALSE;
        return n >= 4;
}

static gboolean is_procedure(Cursor c)
{
        guint16 n, number;
        if (!take_u16(&c, &n))
                return FALSE;
        if (n == G_MAXUINT16)
                return take_u16(&c, &number) && number >= 1 && number <= 15;
        if (n == 0 || n > MAX_PROC_NAME || cursor_left(&c) < 2 * (gsize)n)
                return FALSE;
        for (gsize i = 0; i < n; i++)
                if (c.at[2 * i + 1] != 0 ||
                    (!g_ascii_isalnum(c.at[2 * i]) && !strchr("_.[]#$ -", c.at[2 * i])))
                        return FALSE;
        return TRUE;
}

/* Headers make it sure; without them a batch has to begin with a verb. */
static gboolean request_is_plausible(guint8 type, Cursor c)
{
        guint16 request;
        gboolean sure = headers_skip(&c);
        if (type == TDS_RPC)
                return is_procedure(c);
        if (type == TDS_TRANSACTION)
                return sure && take_u16(&c, &request) && request <= 9;
        if (!is_statement(c) || sure)
                return sure && cursor_left(&c) >= 4;
        g_autofree char *text = characters_read(c.at, MIN(cursor_left(&c), 64));
        return c.at[1] == 0 &&
               sql_is_plausible((const guint8 *)text, strlen(text), cursor_left(&c) <= 64);
}

/* An answer that its tokens show to be one: all of them up to the end, or columns. */
static gboolean answer_is_plausible(Cursor c, gboolean whole)
{
        guint16 n;
        guint32 user_type;
        if (cursor_left(&c) == 0)
                return FALSE;
        if (is_prelogin(c))
                return TRUE;
        if (*c.at != TOKEN_COLUMNS)
                return whole && tokens_reach_end(c);
        return cursor_skip(&c, 1) && take_u16(&c, &n) && n > 0 && n <= 4096 &&
               take_u32(&c, &user_type) && user_type < 256 && take_u16(&c, &n) && n < 0x1000;
}

/* PARSE_MESSAGE where the bytes begin with a packet that is surely of TDS. */
static ParseStatus tds_recognise(const guint8 *bytes, gsize n)
{
        enum { ENOUGH = 160 };
        ParseStatus status = packet_check(bytes, n);
        if (status != PARSE_MESSAGE)
                return status;
        guint8 type = bytes[0];
        if (bytes[6] > 1) /* not the first packet of a message */
                return PARSE_NOT_MINE;
        gsize length = read_u16(bytes + 2), shown = MIN(n, length);
        Cursor c = cursor(bytes + TDS_HEADER, shown - TDS_HEADER), d = c;
        guint32 login;
        gboolean good = type == TDS_PRELOGIN ? is_prelogin(c)
                        : type == TDS_LOGIN
                                ? take_u32(&d, &login) && login >= 94 && login < 1 << 20 &&
                                          cursor_left(&d) >= 4 && d.at[3] >= 0x70 && d.at[3] <= 0x74
                        : type == TDS_ANSWER ? answer_is_plausible(c, n >= length)
                        : type == TDS_BATCH || type == TDS_RPC || type == TDS_TRANSACTION
                                ? request_is_plausible(type, c)
                                : FALSE;
        if (good)
                return PARSE_MESSAGE;
        return shown < (type == TDS_ANSWER ? length : MIN(length, ENOUGH)) ? PARSE_MORE
                                                                           : PARSE_NOT_MINE;
}

/* --- parsing --------------------------------------------------------------- */

/* The option that says what will be encrypted. */
static void prelogin_read(TdsState *s, Cursor payload)
{
        enum { OPTION = 1, END = 0xff };
        guint8 option;
        guint16 offset, length;
        for (Cursor c = payload; cursor_u8(&c, &option) && option != END &&
                                 cursor_u16(&c, &offset) && cursor_u16(&c, &length);)
                if (option == OPTION && offset < cursor_left(&payload))
                        s->encrypt = payload.at[offset];
}

/* A message begins with this packet, of which shown bytes are there. FALSE: more must be seen. */
static gboolean tds_message_begin(TdsState *s, guint8 call, const guint8 *bytes, gsize shown,
                                  GString *label, Parsed *parsed)
{
        guint8 type = bytes[0];
        gsize length = read_u16(bytes + 2);
        Cursor c = cursor(bytes + TDS_HEADER, shown - TDS_HEADER);
        if (is_request(type) && label && shown < MIN(length, (gsize)LOOK))
                return FALSE;
        if (type == TDS_PRELOGIN && shown < MIN(length, TDS_HEADER + 2))
                return FALSE;
        s->type = type;
        s->error = 0;
        s->call = CALL_NONE;
        parsed->call = CALL_PLAIN;
        if (type == TDS_ATTENTION ||
            (type == TDS_PRELOGIN && is_tls_record(c.at, cursor_left(&c)))) {
                s->kind = KIND_CONTROL;
        } else if (type == TDS_ANSWER) {
                s->kind = KIND_RETURN;
                s->call = call;
        } else {
                s->kind = KIND_CALL;
                parsed->session = is_login(type) ? SESSION_ALWAYS : SESSION_NOT;
                if (type == TDS_PRELOGIN)
                        parsed->call = CALL_PRELOGIN;
                else if (label && is_request(type))
                        tds_label_append(label, type, c, parsed->memory, parsed);
        }
        s->open = TRUE;
        return TRUE;
}

/* A packet of an answer. FALSE: more must be seen. */
static gboolean answer_packet_read(TdsState *s, const guint8 *bytes, gsize shown, gboolean first,
                                   Parsed *parsed)
{
        Cursor c = cursor(bytes + TDS_HEADER, shown - TDS_HEADER);
        gboolean whole = shown == read_u16(bytes + 2), last = bytes[1] & TDS_EOM;
        if (s->kind != KIND_RETURN || (!whole && (first || last) && !parsed->cut))
                return s->kind != KIND_RETURN;
        if (first && s->call == CALL_PRELOGIN) {
                prelogin_read(s, c);
                return TRUE;
        }
        if (first)
                first_tokens_read(s, c);
        if (last && whole)
                last_tokens_read(s, c, parsed->memory);
        if (last && s->error)
                parsed->outcome = outcome_number(NUMBERS_MSSQL, s->error);
        return TRUE;
}

/* Whether a packet is the acknowledgement of an attention, and of no call that waits. */
static gboolean is_acknowledgement(guint8 call, const guint8 *bytes, gsize shown)
{
        return bytes[0] == TDS_ANSWER && call == CALL_NONE &&
               read_u16(bytes + 2) == TDS_HEADER + 1 + DONE_LENGTH && shown >= TDS_HEADER + 3 &&
               bytes[TDS_HEADER] == TOKEN_DONE &&
               (little_u16(bytes + TDS_HEADER + 1) & DONE_ATTENTION);
}

/* A record of TLS where a packet might begin: a login, after which the server answers in clear, or
 * all that follows. */
static ParseStatus tls_record_read(const TdsState *other, const guint8 *bytes, gsize n,
                                   Parsed *parsed)
{
        if (n < TLS_RECORD_HEADER)
                return PARSE_MORE;
        parsed->length = TLS_RECORD_HEADER + (guint64)read_u16(bytes + 3);
        parsed->kind = KIND_CONTROL;
        if (other && (other->encrypt == ENCRYPT_ON || other->encrypt == ENCRYPT_REQUIRED)) {
                parsed->kind = KIND_SESSION;
                parsed->switches = TRUE;
                parsed->next = &protocol_tls;
        } else if (bytes[0] == TLS_APPLICATION) {
                parsed->kind = KIND_CALL;
                parsed->session = SESSION_ALWAYS;
                parsed->call = CALL_PLAIN;
        }
        return PARSE_MESSAGE;
}

static ParseStatus tds_packets_parse(TdsState *s, guint8 call, const guint8 *bytes, gsize n,
                                     GString *label, Parsed *parsed)
{
        for (gsize at = 0; at < n;) {
                ParseStatus status = packet_check(bytes + at, n - at);
                if (status == PARSE_NOT_MINE || (s->open && bytes[at] != s->type))
                        return PARSE_NOT_MINE;
                if (status == PARSE_MORE)
                        break;
                gsize length = read_u16(bytes + at + 2), shown = MIN(n - at, length);
                gboolean first = !s->open;
                TdsState before = *s;
                if (first && !tds_message_begin(s, call, bytes + at, shown, label, parsed))
                        break;
                if (first && is_acknowledgement(call, bytes + at, shown))
                        s->kind = KIND_CONTROL;
                if (!answer_packet_read(s, bytes + at, shown, first, parsed)) {
                        *s = before;
                        break;
                }
                parsed->kind = (MessageKind)s->kind;
                parsed->length = at + length;
                if (bytes[at + 1] & TDS_EOM) {
                        s->open = FALSE;
                        return PARSE_MESSAGE;
                }
                at += length;
        }
        if (s->open)
                parsed->kind = (MessageKind)s->kind;
        return PARSE_MORE;
}

static ParseStatus tds_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                             gboolean eof, GString *label, Parsed *parsed)
{
        TdsState *s = state;
        if (eof) { /* the server may leave within an answer */
                parsed->kind = (MessageKind)s->kind;
                parsed->length = n;
                parsed->unfinished = TRUE;
                return s->open ? PARSE_MESSAGE : PARSE_NOT_MINE;
        }
        if (call == CALL_PROBE) {
                ParseStatus status = tds_recognise(bytes, n);
                if (status != PARSE_MESSAGE)
                        return status;
                call = CALL_NONE;
        }
        if (!s->open && n > 0 && is_tls_record(bytes, MAX(n, 1)))
                return tls_record_read(parsed->other, bytes, n, parsed);
        if (!s->open && n == 1 && bytes[0] >= 20 && bytes[0] <= TLS_APPLICATION)
                return PARSE_MORE;
        return tds_packets_parse(s, call, bytes, n, label, parsed);
}

static gsize tds_find_boundary(const guint8 *bytes, gsize n)
{
        for (gsize at = 0; at + TDS_HEADER < n; at++)
                if (tds_recognise(bytes + at, n - at) == PARSE_MESSAGE)
                        return at;
        return n;
}

/* The texts of a batch, or of the parameters of a procedure. */
static void tds_values(GString *text, G_GNUC_UNUSED gpointer *memory, const guint8 *bytes, gsize n)
{
        if (n <= TDS_HEADER || !is_request(bytes[0]))
                return;
        Cursor c = cursor(bytes + TDS_HEADER,
                          MIN(n, MAX(read_u16(bytes + 2), TDS_HEADER)) - TDS_HEADER);
        headers_skip(&c);
        for (gsize i = 0; i + 2 <= cursor_left(&c); i += 2) {
                guint16 letter = little_u16(c.at + i);
                g_string_append_c(text, letter >= ' ' && letter < 0x7f ? (char)letter : '\n');
        }
}

static void tds_forget(gpointer memory)
{
        statements_free(memory);
}

const Protocol protocol_tds = {
        .name = "tds",
        .values = tds_values,
        .parse = tds_parse,
        .find_boundary = tds_find_boundary,
        .forget = tds_forget,
};
