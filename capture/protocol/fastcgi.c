/* SPDX-License-Identifier: BSD-2-Clause
 *
 * FastCGI: records of many requests in between each other, by request id. A call goes from
 * BEGIN_REQUEST to the end of STDIN, its return to END_REQUEST. An id is used again and again, so a
 * call's own is its place, as that of a run. Questions about the application are nothing.
 *
 * A record is version, type, id, length, padding, and its bytes.
 */
#include "capture/protocol/path-label.h"
#include "capture/protocol/protocol.h"
#include "capture/protocol/values.h"

#include <string.h>

enum {
        RECORD_HEADER = 8,
        BEGIN = 1,
        ABORT,
        END,
        PARAMS,
        STDIN,
        STDOUT,
        STDERR,
        DATA,
        GET_VALUES,
        VALUES,
        UNKNOWN,

        BODY = 8,         /* bytes of BEGIN and END */
        LOOK = 256,       /* bytes of an answer in which its status is looked for */
        MAX_RECORDS = 256 /* by which a connection is recognised */
};

typedef struct {
        guint type;
        guint16 id, length;
        guint8 padding;
} Record;

static gsize fastcgi_record_size(const Record *r)
{
        return RECORD_HEADER + (gsize)r->length + r->padding;
}

static ParseStatus fastcgi_record_read(const guint8 *bytes, gsize n, Record *r)
{
        if (n > 0 && bytes[0] != 1)
                return PARSE_NOT_MINE;
        if (n > 1 && (bytes[1] < BEGIN || bytes[1] > UNKNOWN))
                return PARSE_NOT_MINE;
        if (n < RECORD_HEADER)
                return PARSE_MORE;
        *r = (Record){ bytes[1], read_u16(bytes + 2), read_u16(bytes + 4), bytes[6] };
        gboolean of_request = r->type <= DATA;
        if (bytes[7] != 0 || of_request != (r->id != 0) ||
            ((r->type == BEGIN || r->type == END) && r->length != BODY))
                return PARSE_NOT_MINE;
        return PARSE_MESSAGE;
}

/* --- recognising ----------------------------------------------------------- */

/* A role, flags, and five bytes that are not used. */
static gboolean is_begin(const guint8 *body)
{
        return body[0] == 0 && body[1] >= 1 && body[1] <= 3 && body[2] <= 1 &&
               memcmp(body + 3, "\0\0\0\0", 5) == 0;
}

/* A state of the protocol, after that of the application, and three bytes that are not used. */
static gboolean is_end(const guint8 *body)
{
        return body[4] <= 3 && memcmp(body + 5, "\0\0", 3) == 0;
}

/* PARSE_MESSAGE where the bytes begin with a request, or, in the middle of a connection, with what
 * a server says to its end. */
static ParseStatus fastcgi_recognise(const guint8 *bytes, gsize n)
{
        gsize at = 0;
        for (guint i = 0; i < MAX_RECORDS; i++) {
                Record r;
                ParseStatus status = fastcgi_record_read(bytes + at, n - at, &r);
                if (status != PARSE_MESSAGE)
                        return status;
                gboolean first = r.type == BEGIN && i == 0;
                if (!first && r.type != STDOUT && r.type != STDERR && r.type != END)
                        return PARSE_NOT_MINE;
                if (n - at < RECORD_HEADER + (first || r.type == END ? (gsize)BODY : 0))
                        return PARSE_MORE;
                if (first)
                        return is_begin(bytes + at + RECORD_HEADER) ? PARSE_MESSAGE
                                                                    : PARSE_NOT_MINE;
                if (r.type == END)
                        return is_end(bytes + at + RECORD_HEADER) ? PARSE_MESSAGE : PARSE_NOT_MINE;
                at += fastcgi_record_size(&r);
                if (at > n)
                        return PARSE_MORE;
        }
        return PARSE_NOT_MINE;
}

/* --- labels ---------------------------------------------------------------- */

/* A length of one byte, or of four. */
static gboolean fastcgi_length_read(Cursor *c, guint32 *length)
{
        guint8 first;
        if (cursor_left(c) > 0 && *c->at & 0x80) {
                if (!cursor_u32(c, length))
                        return FALSE;
                *length &= 0x7fffffff;
                return TRUE;
        }
        if (!cursor_u8(c, &first))
                return FALSE;
        *length = first;
        return TRUE;
}

/* The next parameter that is all there. */
static gboolean parameter_read(Cursor *c, Cursor *name, Cursor *value)
{
        guint32 n_name, n_value;
        return fastcgi_length_read(c, &n_name) && fastcgi_length_read(c, &n_value) &&
               cursor_part(c, n_name, name) && cursor_part(c, n_value, value);
}

static gboolean parameter_is(const Cursor *name, const char *text)
{
        return cursor_left(name) == strlen(text) && cursor_begins(name, text);
}

/* Method and path of the request, from its parameters. */
static void fastcgi_label_append(GString *label, Cursor c)
{
        Cursor method = { NULL, NULL }, route = { NULL, NULL }, name, value;
        while (parameter_read(&c, &name, &value)) {
                if (parameter_is(&name, "REQUEST_METHOD"))
                        method = value;
                else if (parameter_is(&name, "REQUEST_URI") ||
                         (!route.at && parameter_is(&name, "SCRIPT_NAME")))
                        route = value;
        }
        if (!method.at || !route.at || cursor_left(&method) > 24)
                return;
        g_string_append_len(label, (const char *)method.at, (gssize)cursor_left(&method));
        g_string_append_c(label, ' ');
        path_label_append(label, route.at, cursor_left(&route));
}

/* --- outcomes -------------------------------------------------------------- */

typedef struct {
        guint16 headed; /* of the server: the request whose answer has begun, or 0 */
} FastcgiState;

G_STATIC_ASSERT(sizeof(FastcgiState) <= PROTOCOL_STATE_SIZE);

/* "Status: 404 Not Found", a line of the headers that an answer begins with. */
static Outcome status_find(Cursor c)
{
        static const char name[] = "Status: ";
        enum { DIGITS = 3 };
        while (cursor_left(&c) >= sizeof name - 1 + DIGITS) {
                const guint8 *p = c.at + sizeof name - 1;
                const guint8 *end = memchr(c.at, '\n', cursor_left(&c));
                if (g_ascii_strncasecmp((const char *)c.at, name, sizeof name - 1) == 0 &&
                    g_ascii_isdigit(p[0]) && g_ascii_isdigit(p[1]) && g_ascii_isdigit(p[2]))
                        return outcome_http((guint)(p[0] - '0') * 100 + (guint)(p[1] - '0') * 10 +
                                            (guint)(p[2] - '0'));
                if (!end || *c.at == '\r' || *c.at == '\n')
                        break;
                c.at = end + 1;
        }
        return OUTCOME_OK;
}

/* Whether the outcome of a request is looked for in the record. */
static gboolean has_outcome(const FastcgiState *s, const Record *r)
{
        return r->type == END || (r->type == STDOUT && r->length > 0 && s->headed != r->id);
}

/* c: the bytes of the record, as far as they are looked at. */
static void fastcgi_outcome_read(FastcgiState *s, const Record *r, Cursor c, Parsed *parsed)
{
        if (r->type == END) {
                parsed->outcome = outcome_fastcgi(c.at[4]);
                s->headed = 0;
        } else {
                parsed->outcome = status_find(c);
                s->headed = r->id;
        }
}

/* --- records --------------------------------------------------------------- */

static void fastcgi_part_set(const Record *r, Parsed *parsed)
{
        guint part = PART_GOES_ON;
        MessageKind kind = KIND_CALL;
        switch (r->type) {
        case BEGIN:
                part = PART_BEGINS | PART_BY_PLACE;
                break;
        case STDIN:
                part = r->length == 0 ? PART_ENDS : PART_GOES_ON;
                break;
        case STDOUT:
        case STDERR:
                kind = KIND_RETURN;
                part = PART_GOES_ON | (r->length > 0 ? PART_PIECE : 0);
                break;
        case END:
                kind = KIND_RETURN;
                part = PART_ENDS;
                break;
        case PARAMS:
        case DATA:
                break;
        default:
                parsed->kind = KIND_CONTROL;
                return;
        }
        parsed_set_keyed(parsed, kind, part, r->id);
}

static ParseStatus fastcgi_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                                 gboolean eof, GString *label, Parsed *parsed)
{
        FastcgiState *s = state;
        Record r;
        if (eof)
                return PARSE_NOT_MINE; /* within a record */
        ParseStatus status = call == CALL_PROBE ? fastcgi_recognise(bytes, n) : PARSE_MESSAGE;
        if (status == PARSE_MESSAGE)
                status = fastcgi_record_read(bytes, n, &r);
        if (status != PARSE_MESSAGE)
                return status;
        if (label && r.type == PARAMS && r.length > 0) {
                if (n < fastcgi_record_size(&r))
                        return PARSE_MORE;
                fastcgi_label_append(label, cursor(bytes + RECORD_HEADER, r.length));
        }
        if (call != CALL_PROBE && has_outcome(s, &r)) {
                gsize needed = MIN(r.length, (gsize)LOOK);
                gsize shown = MIN(n - RECORD_HEADER, needed);
                if (shown < needed && !(parsed->cut && r.type == STDOUT))
                        return PARSE_MORE;
                fastcgi_outcome_read(s, &r, cursor(bytes + RECORD_HEADER, shown), parsed);
        }
        fastcgi_part_set(&r, parsed);
        parsed->length = fastcgi_record_size(&r);
        return PARSE_MESSAGE;
}

static gsize fastcgi_find_boundary(const guint8 *bytes, gsize n)
{
        for (gsize at = 0; at < n; at++)
                if (bytes[at] == 1 && fastcgi_recognise(bytes + at, n - at) != PARSE_NOT_MINE)
                        return at;
        return n;
}

/* Whether a parameter is of the server or the message, and not of the request. */
static gboolean is_common_parameter(const char *name, gsize n)
{
        static const char *const common[] = {
                "SERVER_", "REMOTE_",         "GATEWAY_",       "DOCUMENT_",      "CONTENT_",
                "SCRIPT_", "REDIRECT_STATUS", "REQUEST_SCHEME", "PATH_TRANSLATED"
        };
        char header[32];
        for (guint i = 0; i < G_N_ELEMENTS(common); i++)
                if (n >= strlen(common[i]) && memcmp(name, common[i], strlen(common[i])) == 0)
                        return TRUE;
        if (n < 6 || n > sizeof header || memcmp(name, "HTTP_", 5) != 0)
                return FALSE;
        for (gsize i = 5; i < n; i++)
                header[i - 5] = name[i] == '_' ? '-' : name[i];
        return values_is_common_header(header, n - 5);
}

/* Parameters, as lines "name: value". */
static void fastcgi_values(GString *text, G_GNUC_UNUSED gpointer *memory, const guint8 *bytes,
                           gsize n)
{
        Cursor name, value;
        Record r;
        if (fastcgi_record_read(bytes, n, &r) != PARSE_MESSAGE || r.type != PARAMS)
                return;
        Cursor c = cursor(bytes + RECORD_HEADER, MIN(n - RECORD_HEADER, r.length));
        while (parameter_read(&c, &name, &value)) {
                if (is_common_parameter((const char *)name.at, cursor_left(&name)))
                        continue;
                g_string_append_len(text, (const char *)name.at, (gssize)cursor_left(&name));
                g_string_append(text, ": ");
                g_string_append_len(text, (const char *)value.at, (gssize)cursor_left(&value));
                g_string_append_c(text, '\n');
        }
}

const Protocol protocol_fastcgi = {
        .name = "fastcgi",
        .values = fastcgi_values,
        .keyed = TRUE,
        .parse = fastcgi_parse,
        .find_boundary = fastcgi_find_boundary,
};
