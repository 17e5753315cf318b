/* SPDX-License-Identifier: BSD-2-Clause
 *
 * HTTP/1.0 and 1.1 (RFC 9112). A request is a call, a final response its return, in order; 1xx
 * responses are interim. Headers are read line by line. Only headers that say where the body
 * ends are looked at. Bodies are passed over, but for the first bytes of some (body-name.h).
 */
#include "base/append.h"
#include "capture/protocol/body-name.h"
#include "capture/protocol/path-label.h"
#include "capture/protocol/protocol.h"
#include "capture/protocol/raft-record.h"
#include "capture/protocol/values.h"

#include <string.h>

enum {
        MAX_START_LINE = 16384,
        MAX_LINE = 65536,
        MAX_HEAD = 262144, /* all header lines of a message, or trailers */
        MAX_METHOD = 24,
        MAX_RECORDS = 4096, /* of a chunk in which records are looked for */
        MAX_STRAY = 131072, /* of a chunk by which it is seen that there are some */
};
#define MAX_BODY (G_GUINT64_CONSTANT(1) << 56)

/* What a response must know of its request. */
enum { CALL_PLAIN = 1, CALL_HEAD, CALL_CONNECT, CALL_RAFT };

typedef enum { START, HEADERS, EXPECTS, UNTIL_CLOSE, CHUNK_SIZE, RECORDS, TRAILERS } Phase;

typedef struct {
        guint64 content_length; /* or what is left of a chunk of records */
        guint32 head_bytes;
        guint16 status; /* 0 in a request */
        guint8 phase;
        guint8 call;
        guint8 has_length, chunked, coded;
        guint8 events;    /* the body is a stream of events, and so endless */
        guint8 stray;     /* chunks of a message whose beginning was not seen */
        guint8 h2c;       /* it switches to HTTP/2, where the answer comes */
        guint8 websocket; /* it switches to that */
        guint8 expects;   /* a request whose body may wait for "100 Continue" */
        guint8 names;     /* a request whose headers and body are looked at */
        guint8 body;      /* BodyKind, as its headers say */
        guint8 finals;    /* how many final responses have begun, modulo 256; of a request that
                             expects, how many had before */
} HttpState;

G_STATIC_ASSERT(sizeof(HttpState) <= PROTOCOL_STATE_SIZE);

/* A line without its end; next is where the following one begins. */
typedef struct {
        const guint8 *text;
        gsize n, next;
} Line;

static inline gboolean line_find(const guint8 *bytes, gsize n, Line *line)
{
        const guint8 *end = n ? memchr(bytes, '\n', n) : NULL;
        if (!end)
                return FALSE;
        line->text = bytes;
        line->n = (gsize)(end - bytes);
        line->next = line->n + 1;
        if (line->n > 0 && bytes[line->n - 1] == '\r')
                line->n--;
        return TRUE;
}

static gboolean is_method_char(guint8 c)
{
        return (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

static gsize method_length(const guint8 *bytes, gsize n)
{
        gsize i = 0;
        while (i < n && i <= MAX_METHOD && is_method_char(bytes[i]))
                i++;
        return i;
}

static const char version_prefix[] = "HTTP/1.";
enum { VERSION_PREFIX = sizeof version_prefix - 1, VERSION = VERSION_PREFIX + 1 };

static gboolean http_is_version(const guint8 *p)
{
        return memcmp(p, version_prefix, VERSION_PREFIX) == 0 &&
               (p[VERSION_PREFIX] == '0' || p[VERSION_PREFIX] == '1');
}

/* "HTTP/1.1 200" and then a blank or the end; SHOUTcast says "ICY 200". The status, or 0. */
static guint status_line_parse(const guint8 *p, gsize n)
{
        static const char icy[] = "ICY ";
        gsize at = n >= VERSION && http_is_version(p) ? VERSION + 1 : sizeof icy - 1;
        if (n < at + 3 || p[at - 1] != ' ' || (at < VERSION && memcmp(p, icy, at) != 0))
                return 0;
        p += at;
        if (p[0] < '1' || p[0] > '9' || !g_ascii_isdigit(p[1]) || !g_ascii_isdigit(p[2]) ||
            (n > at + 3 && p[3] != ' '))
                return 0;
        return (guint)((p[0] - '0') * 100 + (p[1] - '0') * 10 + (p[2] - '0'));
}

/* METHOD target HTTP/1.x: the length of the method, or 0. */
static gsize request_line_parse(const guint8 *p, gsize n)
{
        gsize method = method_length(p, n);
        if (method < 2 || method > MAX_METHOD || n < method + 3 + VERSION || p[method] != ' ' ||
            p[n - VERSION - 1] != ' ' || !http_is_version(p + n - VERSION))
                return 0;
        for (gsize i = method + 1; i < n - VERSION - 1; i++)
                if (p[i] <= ' ' || p[i] == 0x7f)
                        return 0;
        return method;
}

/* Whether bytes without an end of line may yet become a start line. */
static gboolean start_line_is_plausible(const guint8 *bytes, gsize n)
{
        gsize method = method_length(bytes, n);
        if (n > MAX_START_LINE)
                return FALSE;
        if (n > 0 && bytes[0] == '\r')
                return n == 1;
        if (memcmp(bytes, version_prefix, MIN(n, VERSION_PREFIX)) == 0)
                return TRUE;
        if (method == n)
                return method <= MAX_METHOD;
        if (method < 2 || method > MAX_METHOD || bytes[method] != ' ')
                return FALSE;
        return n == method + 1 || bytes[method + 1] == '/' || bytes[method + 1] == '*' ||
               g_ascii_isalnum(bytes[method + 1]) || bytes[method + 1] == '[';
}

/* "GET /users/{id}/cart": method and path, without values. */
static void http_label_append(GString *label, const guint8 *line, gsize n, gsize method)
{
        text_append_length(label, (const char *)line, method);
        g_string_append_c(label, ' ');
        path_label_append(label, line + method + 1, n - method - VERSION - 2);
}

/* By which one server of etcd asks another to send it all there will be. */
static const char raft_request[] = "GET /raft/stream/";

static gboolean request_begin(HttpState *s, const Line *line, GString *label, Parsed *parsed)
{
        gsize method = request_line_parse(line->text, line->n);
        if (!method)
                return FALSE;
        parsed->call = CALL_PLAIN;
        if (method == 4 && memcmp(line->text, "HEAD", 4) == 0)
                parsed->call = CALL_HEAD;
        else if (method == 7 && memcmp(line->text, "CONNECT", 7) == 0)
                parsed->call = CALL_CONNECT;
        else if (memcmp(line->text, raft_request, MIN(line->n, sizeof raft_request - 1)) == 0)
                parsed->call = CALL_RAFT;
        if (label)
                http_label_append(label, line->text, line->n, method);
        s->names = label && line->text[0] == 'P'; /* POST, PUT, PATCH */
        s->status = 0;
        return TRUE;
}

static ParseStatus http_message_begin(HttpState *s, guint8 call, const Line *line, GString *label,
                                      Parsed *parsed)
{
        guint status = status_line_parse(line->text, line->n);
        guint8 finals = s->finals;
        memset(s, 0, sizeof *s);
        if (status) {
                s->status = (guint16)status;
                s->call = call;
                s->finals = (guint8)(finals + (status >= 200));
        } else if (!request_begin(s, line, label, parsed)) {
                return PARSE_NOT_MINE;
        }
        s->phase = HEADERS;
        return PARSE_MORE;
}

static MessageKind message_kind(const HttpState *s)
{
        if (s->status == 0)
                return KIND_CALL;
        if (s->status == 101)
                return s->h2c ? KIND_INTERIM : KIND_RETURN;
        return s->status < 200 ? KIND_INTERIM : KIND_RETURN;
}

/* What is known of the message by its start line. */
static inline void start_line_facts(const HttpState *s, Parsed *parsed)
{
        parsed->kind = message_kind(s);
        parsed->outcome = outcome_http(s->status);
}

static const guint8 *http_skip_blanks(const guint8 *p, const guint8 *end)
{
        while (p < end && (*p == ' ' || *p == '\t'))
                p++;
        return p;
}

/* A number; a list of the same number is taken (RFC 9112, 6.3). */
static gboolean content_length_parse(const guint8 *p, const guint8 *end, guint64 *length)
{
        gboolean any = FALSE;
        *length = 0;
        for (p = http_skip_blanks(p, end); p < end && g_ascii_isdigit(*p); p++) {
                *length = *length * 10 + (guint64)(*p - '0');
                any = TRUE;
                if (*length > MAX_BODY)
                        return FALSE;
        }
        p = http_skip_blanks(p, end);
        return any && (p == end || *p == ',');
}

/* Whether the last coding named is chunked. */
static gboolean coding_is_chunked(const guint8 *p, const guint8 *end)
{
        while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
                end--;
        return end - p >= 7 && g_ascii_strncasecmp((const char *)end - 7, "chunked", 7) == 0;
}

/* Eight bytes of a name in lower case against those of a line: 0 where they are the same. Of
 * letters the bit of case is left out. */
static inline guint64 name_differs(const guint8 *text, const char *name)
{
        guint64 a, b;
        memcpy(&a, text, sizeof a);
        memcpy(&b, name, sizeof b);
        return (a | (b & G_GUINT64_CONSTANT(0x4040404040404040)) >> 1) ^ b;
}

/* name: of at least eight bytes, in lower case. */
static inline gboolean header_is(const Line *line, const char *name, gsize n)
{
        guint64 differs;
        if (line->n <= n || line->text[n] != ':')
                return FALSE;
        differs = name_differs(line->text + n - 8, name + n - 8);
        for (gsize i = 0; i + 8 < n; i += 8)
                differs |= name_differs(line->text + i, name + i);
        return differs == 0;
}

static void http_action_read(const guint8 *p, const guint8 *end, Named *named)
{
        named->n = (guint8)action_name_find(&p, (gsize)(end - p));
        named->name = named->n > 0 ? p : named->name;
}

/* Headers of a request with a body: its operation, and the kind of the body. */
static void http_naming_header_read(HttpState *s, const Line *line, Named *named)
{
        const guint8 *end = line->text + line->n;
        if (header_is(line, "content-type", 12)) {
                const guint8 *value = http_skip_blanks(line->text + 13, end);
                s->body = (guint8)body_kind(value, (gsize)(end - value));
        } else if (header_is(line, "content-encoding", 16)) {
                s->names = FALSE;
        } else if (header_is(line, "soapaction", 10)) {
                http_action_read(line->text + 11, end, named);
        } else if (header_is(line, "x-amz-target", 12)) {
                http_action_read(line->text + 13, end, named);
        }
}

static inline ParseStatus http_header_read(HttpState *s, const Line *line, Named *named)
{
        const guint8 *end = line->text + line->n;
        guint8 first = line->text[0] | 0x20;
        if (s->names)
                http_naming_header_read(s, line, named);
        if (first == 'c' && header_is(line, "content-length", 14)) {
                guint64 length;
                if (!content_length_parse(line->text + 15, end, &length) ||
                    (s->has_length && length != s->content_length))
                        return PARSE_NOT_MINE;
                s->content_length = length;
                s->has_length = TRUE;
        } else if (first == 'c' && s->status && header_is(line, "content-type", 12)) {
                const guint8 *value = http_skip_blanks(line->text + 13, end);
                s->events = end - value >= 17 &&
                            g_ascii_strncasecmp((const char *)value, "text/event-stream", 17) == 0;
        } else if (first == 't' && header_is(line, "transfer-encoding", 17)) {
                s->coded = TRUE;
                s->chunked = coding_is_chunked(line->text + 18, end);
        } else if (first == 'e' && s->status == 0 && line->n > 6 && line->text[6] == ':' &&
                   g_ascii_strncasecmp((const char *)line->text, "expect", 6) == 0) {
                s->expects = TRUE;
        } else if (first == 'u' && s->status == 101 && line->n > 7 && line->text[7] == ':' &&
                   g_ascii_strncasecmp((const char *)line->text, "upgrade", 7) == 0) {
                const guint8 *value = http_skip_blanks(line->text + 8, end);
                s->h2c = end - value >= 3 && memcmp(value, "h2c", 3) == 0;
                s->websocket = end - value >= 9 &&
                               g_ascii_strncasecmp((const char *)value, "websocket", 9) == 0;
        }
        return PARSE_MORE;
}

/* The bytes that are settled end with n of the body and after more. */
static void http_body_name(const HttpState *s, guint64 n, guint8 after, Parsed *parsed)
{
        parsed->named.body = s->names ? s->body : (guint8)BODY_OTHER;
        parsed->named.body_from = (guint32)parsed->length;
        parsed->named.after = after;
        parsed->length += n + after;
}

/* Where the body ends (RFC 9112, 6.3). */
static ParseStatus body_begin(HttpState *s, Parsed *parsed)
{
        if (s->chunked) {
                s->phase = CHUNK_SIZE;
                return PARSE_MORE;
        }
        if (s->has_length && !s->coded) {
                http_body_name(s, s->content_length, 0, parsed);
                return PARSE_MESSAGE;
        }
        if (s->status == 0)
                return PARSE_MESSAGE;
        s->phase = UNTIL_CLOSE;
        return PARSE_MORE;
}

/* After the empty line. */
static ParseStatus headers_end(HttpState *s, Parsed *parsed)
{
        parsed->switches = s->status == 101 || (s->call == CALL_CONNECT && s->status / 100 == 2);
        parsed->next = s->websocket ? &protocol_websocket : NULL;
        s->phase = START;
        if (parsed->switches || (s->status && (s->status < 200 || s->status == 204 ||
                                               s->status == 304 || s->call == CALL_HEAD)))
                return PARSE_MESSAGE;
        if (s->expects && parsed->other && (s->chunked || s->content_length > 0)) {
                s->finals = ((const HttpState *)parsed->other)->finals;
                s->phase = EXPECTS;
                return PARSE_MORE;
        }
        return body_begin(s, parsed);
}

/* What follows a request that expects "100 Continue". After a final response it may be the next
 * request: then there is no body. */
static ParseStatus expected_read(HttpState *s, const guint8 *bytes, gsize n, Parsed *parsed)
{
        const HttpState *other = parsed->other;
        Line line;
        if (other && other->finals != s->finals) {
                if (!line_find(bytes, n, &line)) {
                        if (start_line_is_plausible(bytes, n))
                                return PARSE_MORE;
                } else if (request_line_parse(line.text, line.n)) {
                        s->phase = START;
                        return PARSE_MESSAGE;
                }
        }
        s->phase = START;
        return body_begin(s, parsed);
}

/* Reads the headers that are there. PARSE_MORE in the same phase: the next line is not there
 * yet. */
static ParseStatus http_headers_read(HttpState *s, const guint8 *bytes, gsize n, Parsed *parsed)
{
        gsize at = (gsize)parsed->length;
        Line line;
        while (line_find(bytes + at, n - at, &line)) {
                at += line.next;
                s->head_bytes += (guint32)line.next;
                if (s->head_bytes > MAX_HEAD)
                        return PARSE_NOT_MINE;
                if (line.n == 0) {
                        parsed->length = at;
                        return headers_end(s, parsed);
                }
                if (http_header_read(s, &line, &parsed->named) == PARSE_NOT_MINE)
                        return PARSE_NOT_MINE;
        }
        parsed->length = at;
        return n - at > MAX_LINE ? PARSE_NOT_MINE : PARSE_MORE;
}

/* Hexadecimal, extensions ignored. */
static ParseStatus chunk_begin(HttpState *s, const Line *line, Parsed *parsed)
{
        guint64 size = 0;
        gsize i = 0;
        for (; i < line->n && g_ascii_isxdigit(line->text[i]); i++) {
                size = size << 4 | (guint64)g_ascii_xdigit_value((char)line->text[i]);
                if (size > MAX_BODY)
                        return PARSE_NOT_MINE;
        }
        if (i == 0 ||
            (i < line->n && line->text[i] != ';' && line->text[i] != ' ' && line->text[i] != '\t'))
                return PARSE_NOT_MINE;
        if (size == 0) {
                s->phase = TRAILERS;
                return PARSE_MORE;
        }
        parsed->piece = (guint32)(parsed->length - line->next);
        if (s->call == CALL_RAFT && size <= MAX_RECORDS) {
                s->content_length = size;
                s->phase = RECORDS;
                return PARSE_MORE;
        }
        http_body_name(s, size, 2, parsed);
        parsed->endless = s->events || s->call == CALL_RAFT;
        return PARSE_PIECE;
}

/* The next record of what is left of a chunk, all of which must be there. */
static ParseStatus http_record_read(HttpState *s, const guint8 *bytes, gsize n, Parsed *parsed)
{
        gsize left = (gsize)s->content_length;
        if (n < left + 2)
                return PARSE_MORE;
        gsize length = raft_record_length(bytes, left);
        s->content_length -= length;
        if (length == left) {
                length += 2;
                s->phase = s->stray ? START : CHUNK_SIZE;
        }
        parsed->piece = (guint32)parsed->length;
        parsed->length += length;
        parsed->endless = TRUE;
        return PARSE_PIECE;
}

static ParseStatus http_line_read(HttpState *s, guint8 call, const Line *line, GString *label,
                                  Parsed *parsed)
{
        s->head_bytes += (guint32)line->next;
        switch ((Phase)s->phase) {
        case START:
                return http_message_begin(s, call, line, label, parsed);
        case CHUNK_SIZE:
                s->head_bytes = 0;
                return chunk_begin(s, line, parsed);
        case TRAILERS:
                if (s->head_bytes > MAX_HEAD)
                        return PARSE_NOT_MINE;
                if (line->n)
                        return PARSE_MORE;
                s->phase = START;
                return PARSE_MESSAGE;
        case HEADERS:
        case EXPECTS:
        case UNTIL_CLOSE:
        case RECORDS:
                break;
        }
        g_assert_not_reached();
}

/* A chunk of a message whose beginning was not seen. It is known by its length: after these
 * bytes it must end as chunks do. What follows a chunk is a chunk. */
static ParseStatus stray_chunk_read(HttpState *s, const guint8 *bytes, gsize n, Parsed *parsed)
{
        guint64 size = 0;
        gsize i = 0;
        for (; i < n && i < 8 && g_ascii_isxdigit(bytes[i]); i++)
                size = size << 4 | (guint64)g_ascii_xdigit_value((char)bytes[i]);
        if (i == n || (i + 1 == n && i > 0 && bytes[i] == '\r'))
                return PARSE_MORE;
        if (i == 0 || bytes[i] != '\r' || bytes[i + 1] != '\n' || (size == 0 && !s->stray))
                return PARSE_NOT_MINE;
        guint64 end = i + 2 + size;
        if (!s->stray && n < end + 2)
                return end <= MAX_STRAY ? PARSE_MORE : PARSE_NOT_MINE;
        if (n >= end + 2 && (bytes[end] != '\r' || bytes[end + 1] != '\n'))
                return PARSE_NOT_MINE; /* also trailers */
        if (size == 0) {
                if (n < end + 2)
                        return PARSE_MORE;
                s->stray = FALSE;
                parsed->kind = KIND_CONTROL;
                parsed->length = end + 2;
                return PARSE_MESSAGE;
        }
        if (size <= MAX_RECORDS && n < end + 2)
                return PARSE_MORE;
        s->stray = TRUE;
        parsed->kind = KIND_ONE_WAY;
        if (size <= MAX_RECORDS) {
                s->content_length = size;
                s->phase = RECORDS;
                parsed->length = i + 2;
                http_record_read(s, bytes + i + 2, n - i - 2, parsed);
        } else {
                parsed->length = end + 2;
        }
        return PARSE_MESSAGE;
}

/* Nothing more comes: a message that was begun ends here. */
static ParseStatus http_parse_end(HttpState *s, gsize n, Parsed *parsed)
{
        if (s->phase == START)
                return PARSE_NOT_MINE;
        start_line_facts(s, parsed);
        parsed->length = n;
        parsed->unfinished = s->phase != UNTIL_CLOSE;
        s->phase = START;
        return PARSE_MESSAGE;
}

static ParseStatus http_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                              gboolean eof, GString *label, Parsed *parsed)
{
        HttpState *s = state;
        if (s->phase == START && n > 0 && g_ascii_isxdigit(bytes[0])) {
                ParseStatus status = stray_chunk_read(s, bytes, n, parsed);
                if (status != PARSE_NOT_MINE || s->stray)
                        return status;
        }
        if (s->phase == RECORDS && s->stray) {
                parsed->kind = KIND_ONE_WAY;
                http_record_read(s, bytes, n, parsed);
                return parsed->length > 0 ? PARSE_MESSAGE : PARSE_MORE;
        }
        while (s->phase != UNTIL_CLOSE && parsed->length < n) {
                gsize at = (gsize)parsed->length;
                ParseStatus status;
                Line line;
                if (s->phase == RECORDS) {
                        parsed->kind = KIND_RETURN;
                        return http_record_read(s, bytes + at, n - at, parsed);
                }
                if (s->phase == HEADERS) {
                        status = http_headers_read(s, bytes, n, parsed);
                        if (status == PARSE_MORE && s->phase == HEADERS)
                                break;
                } else if (s->phase == EXPECTS) {
                        status = expected_read(s, bytes + at, n - at, parsed);
                        if (status == PARSE_MORE && s->phase == EXPECTS)
                                break;
                } else if (!line_find(bytes + at, n - at, &line)) {
                        if (s->phase == START ? !start_line_is_plausible(bytes + at, n - at)
                                              : n - at > MAX_LINE)
                                return PARSE_NOT_MINE;
                        break;
                } else {
                        parsed->length += line.next;
                        if (s->phase == START && line.n == 0) { /* RFC 9112, 2.2 */
                                parsed->kind = KIND_NOTHING;
                                return PARSE_MESSAGE;
                        }
                        status = http_line_read(s, call, &line, label, parsed);
                }
                if (status == PARSE_MORE)
                        continue;
                if (status != PARSE_NOT_MINE && (s->status != 101 || s->phase == START))
                        start_line_facts(s, parsed); /* else its headers say */
                return status;
        }
        if (eof)
                return http_parse_end(s, n, parsed);
        if (s->phase != START && s->status != 101)
                start_line_facts(s, parsed);
        if (s->phase == UNTIL_CLOSE && s->events && n > parsed->length) {
                parsed->piece = (guint32)parsed->length; /* what is written at a time */
                parsed->length = n;
                parsed->endless = TRUE;
                return PARSE_PIECE;
        }
        if (s->phase == UNTIL_CLOSE && !s->events)
                parsed->length = PARSE_FOREVER;
        return PARSE_MORE;
}

static gsize http_find_boundary(const guint8 *bytes, gsize n)
{
        gsize at = 0;
        Line line;
        while (at < n && line_find(bytes + at, n - at, &line)) {
                if (status_line_parse(line.text, line.n) || request_line_parse(line.text, line.n))
                        return at;
                at += line.next;
        }
        return at < n && start_line_is_plausible(bytes + at, n - at) ? at : n;
}

/* Method and target, and headers. What goes on with another line than a header is a body. */
static void http_values(GString *text, G_GNUC_UNUSED gpointer *memory, const guint8 *bytes, gsize n)
{
        Line line;
        if (line_find(bytes, n, &line) && request_line_parse(line.text, line.n)) {
                g_string_append_len(text, (const char *)line.text, (gssize)(line.n - VERSION - 1));
                g_string_append_c(text, '\n');
                bytes += line.next;
                n -= line.next;
        }
        values_append_headers(text, bytes, n);
}

/* What goes on with another line than a header is a body. */
static void http_tags(const TagRules *rules, RequestTags **tags, const guint8 *bytes, gsize n)
{
        Line line;
        for (gsize at = 0; line_find(bytes + at, n - at, &line); at += line.next) {
                gsize method = at == 0 ? request_line_parse(line.text, line.n) : 0;
                const guint8 *colon = memchr(line.text, ':', line.n);
                if (method) {
                        tag_rules_take_target(
                                rules, tags,
                                cursor(line.text + method + 1, line.n - method - VERSION - 2));
                        continue;
                }
                if (!colon)
                        return;
                tag_rules_take_header(rules, tags, cursor(line.text, (gsize)(colon - line.text)),
                                      cursor(colon + 1, line.n - (gsize)(colon + 1 - line.text)));
        }
}

const Protocol protocol_http = {
        .name = "http",
        .values = http_values,
        .tags = http_tags,
        .parse = http_parse,
        .find_boundary = http_find_boundary,
};
