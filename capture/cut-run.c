/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/cut-run.h"

#include <string.h>

enum {
        MIN_SEEN = 2, /* bytes by which anything is known */

        /* "HTTP/1.1 100 Continue", and no header: a final response of that length has no
         * Content-Length, so that the connection cannot go on after it. */
        CONTINUE_LENGTH = 25,
        STATUS_AT = 9,
        MAX_CONTINUE = 128, /* with headers; "101 Switching Protocols" to WebSocket is longer */

        MIN_FULL = 1200, /* of a segment that has no room for more, by IPv6's least MTU */

        MIN_REPLY = 6,   /* "250 \r\n" */
        MIN_COMMAND = 4, /* "MAIL" */

        /* The longest goodbye of a client, which nothing answers: TLS's alert in version 1.2.
         * PostgreSQL's Terminate and MySQL's COM_QUIT have 5 bytes, "quit" of memcached 6,
         * LDAP's unbind 7. */
        MAX_GOODBYE = 31,

        MAX_POSTGRES_START = 10000,
        MIN_POSTGRES_START = 8,

        MYSQL_HEADER = 4,
        MYSQL_VERSION = 10,
        MIN_GREETING = 40,
        MAX_GREETING = 512,
        MYSQL_OK = 0,
        MYSQL_ERROR = 0xff,
        SWITCH_LENGTH = 44, /* a request to authenticate otherwise: a name of 21 bytes and salt */
        MORE_LENGTH = 2,    /* "go on" */

        TLS_CHANGE = 20,
        TLS_HANDSHAKE = 22,
        TLS_DATA = 23,
        TLS_MAJOR = 3,
        TLS_ALERT_LENGTH = 24, /* of a segment that holds an alert of version 1.3 alone */
        TLS_FINISHED = 58,     /* and a Finished: with SHA-256, */
        TLS_FINISHED_LONG = 74 /* and with SHA-384 */
};

static gboolean cut_run_begins(const CutSegment *s, guint8 first, guint8 second)
{
        return s->n >= MIN_SEEN && s->bytes[0] == first && s->bytes[1] == second;
}

/* "HTTP/1.1 1xx", but for 101. */
static gboolean cut_run_is_interim(const CutSegment *s)
{
        static const char version[] = "HTTP/1.1 ";
        if (s->n < MIN_SEEN || memcmp(s->bytes, version, MIN(s->n, STATUS_AT)) != 0)
                return FALSE;
        if (s->n < STATUS_AT + 3)
                return s->length == CONTINUE_LENGTH &&
                       (s->n <= STATUS_AT || s->bytes[STATUS_AT] == '1');
        return s->bytes[STATUS_AT] == '1' && memcmp(s->bytes + STATUS_AT, "101", 3) != 0;
}

/* Whether the server's run may be "100 Continue" with headers: its status was cut off. */
static gboolean may_be_interim_of_http(const CutSegment *s)
{
        return cut_run_begins(s, 'H', 'T') && s->length <= MAX_CONTINUE && s->n < STATUS_AT + 3 &&
               (s->n <= STATUS_AT || s->bytes[STATUS_AT] == '1');
}

/* Whether a request of HTTP may begin so. */
static gboolean begins_method(const CutSegment *s)
{
        return s->n >= MIN_SEEN && g_ascii_isupper(s->bytes[0]) && g_ascii_isupper(s->bytes[1]);
}

/* "250 " or "250-": two digits are seen at least. */
static gboolean is_reply_code(const CutSegment *s)
{
        const guint8 *p = s->bytes;
        return s->n >= MIN_SEEN && s->length >= MIN_REPLY && p[0] >= '2' && p[0] <= '5' &&
               p[1] >= '0' && p[1] <= '5' && (s->n < 3 || g_ascii_isdigit(p[2])) &&
               (s->n < 4 || p[3] == ' ' || p[3] == '-');
}

/* --- MySQL ----------------------------------------------------------------- */

/* The length of the first packet's payload, as far as it is seen. */
static gsize mysql_length(const CutSegment *s)
{
        return s->bytes[0] | (gsize)s->bytes[1] << 8 | (s->n > 2 ? (gsize)s->bytes[2] << 16 : 0);
}

/* A server's first packet, and nothing else in the segment. */
static gboolean is_mysql_greeting(const CutSegment *s)
{
        if (s->n < MIN_SEEN)
                return FALSE;
        gsize length = mysql_length(s);
        return length >= MIN_GREETING && length <= MAX_GREETING &&
               length + MYSQL_HEADER == s->length && (s->n < 4 || s->bytes[3] == 0) &&
               (s->n < 5 || s->bytes[4] == MYSQL_VERSION);
}

/* Whether the server has nothing more to ask: the next run is a command. */
static gboolean mysql_login_ends(const CutSegment *s)
{
        gsize length = s->n < MIN_SEEN ? s->length - MIN(s->length, MYSQL_HEADER) : mysql_length(s);
        gboolean alone = length + MYSQL_HEADER == s->length;
        if (s->n > MYSQL_HEADER && alone)
                return s->bytes[4] == MYSQL_OK || s->bytes[4] == MYSQL_ERROR;
        return !alone || (length != SWITCH_LENGTH && length != MORE_LENGTH);
}

/* --- TLS ------------------------------------------------------------------- */

static gboolean is_record(const CutSegment *s)
{
        return s->n >= MIN_SEEN && s->bytes[0] >= TLS_CHANGE && s->bytes[0] <= TLS_DATA &&
               s->bytes[1] == TLS_MAJOR;
}

static MessageKind tls_kind(CutTalk *talk, const CutSegment *s)
{
        if (!is_record(s)) /* within a record, or not seen */
                return talk->called ? KIND_BY_SIDE : KIND_SESSION;
        if (s->bytes[0] != TLS_DATA)
                return KIND_SESSION;
        if (s->length == TLS_ALERT_LENGTH)
                return KIND_CONTROL;
        if (!talk->called && s->start_seen &&
            (!s->calls || s->length == TLS_FINISHED || s->length == TLS_FINISHED_LONG))
                return KIND_SESSION;
        talk->called |= s->calls;
        return KIND_BY_SIDE;
}

/* --- a run ----------------------------------------------------------------- */

/* HTTP/2 is known by how both sides begin. */
static gboolean is_multiplexed(CutTalk *talk, const CutSegment *s)
{
        if (s->calls && cut_run_begins(s, 'P', 'R') && (s->n < 3 || s->bytes[2] == 'I'))
                talk->preface = TRUE;
        else if (!s->calls && cut_run_begins(s, 0, 0))
                talk->frames = TRUE;
        return talk->preface && talk->frames;
}

/* One of the first two runs of a connection, from its start or from the capture's. */
static MessageKind first_kind(CutTalk *talk, const CutSegment *s, MessageKind *before)
{
        gboolean greets = !s->calls && s->start_seen && talk->runs == 0;
        if (is_multiplexed(talk, s) || (!s->calls && is_reply_code(s))) {
                *before = KIND_ONE_WAY;
                talk->kind = TALK_ONE_WAY;
                return KIND_ONE_WAY;
        }
        if (greets && s->n < MIN_SEEN) {
                talk->kind = TALK_ONE_WAY;
                return KIND_ONE_WAY;
        }
        if (greets && is_mysql_greeting(s)) {
                talk->kind = TALK_MYSQL_LOGIN;
                return KIND_SESSION;
        }
        if (s->start_seen ? s->calls && cut_run_begins(s, TLS_HANDSHAKE, TLS_MAJOR)
                          : cut_run_begins(s, TLS_DATA, TLS_MAJOR)) {
                talk->kind = TALK_TLS;
                return tls_kind(talk, s);
        }
        if (s->calls && s->start_seen && talk->runs == 0 && cut_run_begins(s, 0, 0) &&
            s->length >= MIN_POSTGRES_START && s->length <= MAX_POSTGRES_START)
                talk->kind = TALK_POSTGRES_START;
        return KIND_BY_SIDE;
}

/* What the server says to what may be the start of a session of PostgreSQL. */
static MessageKind postgres_kind(CutTalk *talk, const CutSegment *s, MessageKind *before)
{
        gboolean byte = s->length == 1 && s->n == 1;
        talk->kind = TALK_PLAIN;
        if (byte && s->bytes[0] == 'N') { /* not encrypted: the start itself follows */
                talk->kind = TALK_POSTGRES_LOGIN;
        } else if (byte && s->bytes[0] == 'S') {
                talk->kind = TALK_UNKNOWN;
                talk->runs = 0;
        } else if (cut_run_begins(s, 'R', 0)) {
                talk->kind = TALK_POSTGRES_LOGIN;
        } else {
                return KIND_BY_SIDE;
        }
        *before = KIND_SESSION;
        return KIND_SESSION;
}

static MessageKind kind_find(CutTalk *talk, const CutSegment *s, MessageKind *before)
{
        switch ((CutTalkKind)talk->kind) {
        case TALK_UNKNOWN:
                if (talk->runs > 1)
                        talk->kind = TALK_PLAIN;
                else
                        return first_kind(talk, s, before);
                break;
        case TALK_TLS:
                return tls_kind(talk, s);
        case TALK_MYSQL_LOGIN:
                if (!s->calls && cut_run_begins(s, TLS_HANDSHAKE, TLS_MAJOR))
                        talk->kind = TALK_TLS;
                else if (!s->calls && talk->runs > 0 && mysql_login_ends(s))
                        talk->kind = TALK_PLAIN;
                return KIND_SESSION;
        case TALK_POSTGRES_START:
                if (!s->calls)
                        return postgres_kind(talk, s, before);
                break;
        case TALK_POSTGRES_LOGIN:
                if (!s->calls || cut_run_begins(s, 'p', 0) || cut_run_begins(s, 0, 0))
                        return KIND_SESSION;
                talk->kind = TALK_PLAIN;
                break;
        case TALK_MAIL:
                if (s->n < MIN_COMMAND && talk->runs == 0) {
                        talk->kind = TALK_ONE_WAY;
                        return KIND_ONE_WAY;
                }
                return s->calls && s->n >= MIN_COMMAND &&
                                       g_ascii_strncasecmp((const char *)s->bytes, "MAIL", 4) == 0
                               ? KIND_BY_SIDE
                               : KIND_SESSION;
        case TALK_ONE_WAY:
                return KIND_ONE_WAY;
        case TALK_PLAIN:
                break;
        }
        return KIND_BY_SIDE;
}

MessageKind cut_run_kind(CutTalk *talk, const CutSegment *s, MessageKind *before)
{
        if (!s->calls && cut_run_is_interim(s))
                return KIND_INTERIM;
        gboolean body = s->calls && talk->http && s->n >= MIN_SEEN && !begins_method(s);
        talk->http = !s->calls && may_be_interim_of_http(s);
        if (body) { /* of the request that the interim response lets go on */
                *before = KIND_INTERIM;
                return KIND_CONTROL;
        }
        if (s->calls) {
                talk->has_begins = s->n >= MIN_SEEN;
                if (talk->has_begins)
                        memcpy(talk->begins, s->bytes, MIN_SEEN);
        }
        MessageKind kind = kind_find(talk, s, before);
        talk->runs += talk->runs < 255;
        return kind;
}

gboolean cut_run_may_be_interim(const CutSegment *s)
{
        return s->n < MIN_SEEN && s->length == CONTINUE_LENGTH;
}

gboolean cut_run_repeats(const CutTalk *talk, const guint8 *bytes, gsize n)
{
        if (n == 0)
                return !talk->is_full;
        return talk->has_begins && n >= MIN_SEEN && memcmp(talk->begins, bytes, MIN_SEEN) == 0;
}

void cut_run_see(CutTalk *talk, gsize length)
{
        talk->is_full = length >= MIN_FULL;
}

gboolean cut_run_is_goodbye(gsize n)
{
        return n <= MAX_GOODBYE;
}
