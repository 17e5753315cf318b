/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Redis: RESP2 and RESP3 (https://redis.io/docs/reference/protocol-spec/). A
 * command is a call, a reply its return, in order. What the server sends of its
 * own accord is one-way: messages of channels, RESP3's pushes, the lines of
 * MONITOR. So is a command that gets no reply.
 *
 * Replies are trees; how many values are still to come is all that must be known
 * to find their end. Strings are passed over, but for what is put into lists, streams
 * and channels, and comes out of them (redis-carried.h).
 */
#include "capture/protocol/protocol.h"
#include "capture/protocol/redis-carried.h"
#include "capture/protocol/redis-commands.h"
#include "capture/protocol/values.h"

#include <string.h>

enum {
        MAX_LINE = 65536,
        MAX_NAME = 64,
        MAX_CHANNELS = 200,
};
#define MAX_VALUES (G_GUINT64_CONSTANT(1) << 32)
#define MAX_STRING (G_GUINT64_CONSTANT(1) << 40)

/* What a reply must know of its command. */
enum {
        CALL_PLAIN = 1,
        CALL_MONITOR,
        CALL_PSYNC,
        CALL_SUBSCRIBE, /* plus the number of channels */
        CALL_KEYED = CALL_SUBSCRIBE + MAX_CHANNELS + 1,
        CALL_KEYED_WAIT,
        CALL_STREAMS,
        CALL_STREAMS_WAIT,
        CALL_LIST,                                /* plus the number of the list; */
        CALL_LIST_WAIT = CALL_LIST + REDIS_ASKED, /* likewise */
        CALL_END = CALL_LIST_WAIT + REDIS_ASKED,
};
G_STATIC_ASSERT((int)CALL_END <= (int)CALL_PROBE);

typedef struct {
        guint64 values;     /* of the message in progress, still to come; 0 between messages */
        guint8 string_ends; /* a string is over, but for the end of its line */
        guint8 kind;        /* of the message in progress */
        guint8 side;
        guint8 subscribed, monitors, replicates;
        guint8 confirmed;   /* channels of the oldest call that were confirmed */
        guint8 replies_off; /* CLIENT REPLY OFF */
        guint8 skips_reply; /* CLIENT REPLY SKIP: of the next command */
        guint8 carries;     /* RedisForm of the message in progress */
        guint8 waits;       /* it waits for what it asks for, or its command does */
} RedisState;

G_STATIC_ASSERT(sizeof(RedisState) <= PROTOCOL_STATE_SIZE);

/* Bytes of a message, not ended by NUL. */
typedef struct {
        const guint8 *text;
        gsize n;
} Piece;

static gboolean piece_is(Piece p, const char *name)
{
        return strlen(name) == p.n && g_ascii_strncasecmp((const char *)p.text, name, p.n) == 0;
}

static gboolean redis_is_name(Piece p)
{
        for (gsize i = 0; i < p.n; i++)
                if (!g_ascii_isalnum(p.text[i]) && !strchr("._-", p.text[i] ? p.text[i] : ' '))
                        return FALSE;
        return p.n > 0 && p.n <= MAX_NAME && g_ascii_isalnum(p.text[0]);
}

/* Whether a command (un)subscribes, by what it set in Parsed.call. */
static gboolean call_subscribes(guint8 call)
{
        return call >= CALL_SUBSCRIBE && call < CALL_KEYED;
}

/* Whether an array that begins with p is a command. sender: Sender. From the client every array is
 * one, as Redis, its modules and its relatives go on to get new commands. From anybody else it may
 * be a reply, and must begin with the name of a command of Redis. */
static gboolean begins_command(Piece p, guint8 sender)
{
        return redis_is_name(p) &&
               (sender == SENDER_CLIENT || (sender == SENDER_ANY && memchr(p.text, '.', p.n)) ||
                redis_is_command((const char *)p.text, p.n));
}

/* --- lines, numbers, strings ----------------------------------------------- */

typedef enum { GOT, MORE, BROKEN } Got;

/* What follows the type of the value at *at, up to the end of the line. */
static Got take_line(const guint8 *bytes, gsize n, gsize *at, Piece *line)
{
        const guint8 *text = bytes + *at + 1;
        gsize left = n - *at - 1;
        const guint8 *end = memchr(text, '\n', left);
        if (!end)
                return left > MAX_LINE ? BROKEN : MORE;
        if (end == text || end[-1] != '\r')
                return BROKEN;
        *line = (Piece){ text, (gsize)(end - text) - 1 };
        *at += line->n + 3;
        return GOT;
}

/* The number after the type, a length or a count: -1 is null. */
static Got redis_take_number(const guint8 *bytes, gsize n, gsize *at, gint64 *number)
{
        gsize i = *at + 1;
        gboolean null = i < n && bytes[i] == '-';
        i += null;
        gsize first = i;
        gint64 value = 0;
        for (; i < n && g_ascii_isdigit(bytes[i]); i++) {
                if (i - first >= 13)
                        return BROKEN;
                value = value * 10 + (bytes[i] - '0');
        }
        if ((i < n && (i == first || bytes[i] != '\r')) || (i + 1 < n && bytes[i + 1] != '\n') ||
            (null && i > first && value != 1))
                return BROKEN;
        if (i + 1 >= n)
                return MORE;
        *number = null ? -1 : value;
        *at = i + 2;
        return GOT;
}

/* A short string, whole. */
static Got take_string(const guint8 *bytes, gsize n, gsize *at, Piece *text)
{
        gint64 length;
        gsize i = *at;
        if (i >= n)
                return MORE;
        if (bytes[i] != '$')
                return BROKEN;
        Got got = redis_take_number(bytes, n, &i, &length);
        if (got != GOT)
                return got;
        if (length < 0 || length > MAX_NAME)
                return BROKEN;
        gsize end = i + (gsize)length;
        if ((end < n && bytes[end] != '\r') || (end + 1 < n && bytes[end + 1] != '\n'))
                return BROKEN;
        if (end + 2 > n)
                return MORE;
        *text = (Piece){ bytes + i, (gsize)length };
        *at = end + 2;
        return GOT;
}

/* --- commands -------------------------------------------------------------- */

static gboolean is_subscribe(Piece name)
{
        return piece_is(name, "SUBSCRIBE") || piece_is(name, "PSUBSCRIBE") ||
               piece_is(name, "SSUBSCRIBE");
}

static gboolean is_unsubscribe(Piece name)
{
        return piece_is(name, "UNSUBSCRIBE") || piece_is(name, "PUNSUBSCRIBE") ||
               piece_is(name, "SUNSUBSCRIBE");
}

/* words: of the command, with its name. */
static guint8 redis_command_call(Piece name, guint64 words)
{
        switch (name.text[0] | 0x20) {
        case 'm':
                return piece_is(name, "MONITOR") ? CALL_MONITOR : CALL_PLAIN;
        case 'p':
        case 's':
        case 'u':
                if (piece_is(name, "PSYNC"))
                        return CALL_PSYNC;
                if (is_subscribe(name) || is_unsubscribe(name))
                        return (guint8)(CALL_SUBSCRIBE + MIN(words - 1, MAX_CHANNELS));
                return CALL_PLAIN;
        default:
                return CALL_PLAIN;
        }
}

/* What a command that carries something, or asks for it, has its reply know. */
static guint8 carrying_call(RedisState *s, RedisCarried *carried)
{
        guint asked = redis_carried_begin(carried, 0, (RedisForm)s->carries, 0);
        switch (s->carries) {
        case ASKS_LIST:
                return (guint8)((s->waits ? CALL_LIST_WAIT : CALL_LIST) + asked);
        case ASKS_KEYED:
                return s->waits ? CALL_KEYED_WAIT : CALL_KEYED;
        case ASKS_STREAMS:
                return s->waits ? CALL_STREAMS_WAIT : CALL_STREAMS;
        default:
                return CALL_PLAIN;
        }
}

/* The memory of the connection, made where there is none. NULL: bytes are only to be recognised. */
static RedisCarried *carried_get(const Parsed *parsed)
{
        if (parsed->memory && !*parsed->memory)
                *parsed->memory = redis_carried_new();
        return parsed->memory ? *parsed->memory : NULL;
}

static void command_carry(RedisState *s, Piece name, Parsed *parsed)
{
        gboolean waits;
        RedisForm form = redis_form_of((const char *)name.text, name.n, &waits);
        RedisCarried *carried = form == CARRIES_NOTHING ? NULL : carried_get(parsed);
        s->waits = waits != FALSE;
        s->carries = carried ? (guint8)form : CARRIES_NOTHING;
        if (carried)
                parsed->call = carrying_call(s, carried);
}

/* A reply to such a command begins. */
static void reply_carry(RedisState *s, guint8 call, const Parsed *parsed)
{
        RedisForm form = (RedisForm)s->carries; /* of a channel's message, or of no seen command */
        guint asked = 0;
        s->waits = call == CALL_KEYED_WAIT || call == CALL_STREAMS_WAIT ||
                   (call >= CALL_LIST_WAIT && call < CALL_END);
        if (s->kind != KIND_RETURN)
                ;
        else if (call == CALL_KEYED || call == CALL_KEYED_WAIT)
                form = BRINGS_KEYED;
        else if (call == CALL_STREAMS || call == CALL_STREAMS_WAIT) {
                form = BRINGS_ENTRIES;
                asked = call == CALL_STREAMS_WAIT;
        } else if (call >= CALL_LIST && call < CALL_END) {
                form = BRINGS_ELEMENTS;
                asked = (guint)(call - CALL_LIST) % REDIS_ASKED;
        }
        RedisCarried *carried = form == CARRIES_NOTHING ? NULL : carried_get(parsed);
        s->carries = carried ? (guint8)form : CARRIES_NOTHING;
        if (carried)
                redis_carried_begin(carried, 1, form, asked);
}

/* what: NULL, or what CLIENT REPLY says. */
static void command_begin(RedisState *s, Piece name, guint64 words, const Piece *what,
                          GString *label, Parsed *parsed)
{
        s->side = SIDE_CLIENT;
        s->values = 1;
        if (what)
                s->replies_off = piece_is(*what, "OFF");
        gboolean silent = s->replicates || s->replies_off || s->skips_reply;
        s->skips_reply = FALSE;
        if (what && piece_is(*what, "SKIP")) {
                silent = TRUE;
                s->skips_reply = TRUE;
        }
        s->kind = silent ? KIND_ONE_WAY : KIND_CALL;
        parsed->kind = (MessageKind)s->kind;
        parsed->call = redis_command_call(name, words);
        s->replicates |= parsed->call == CALL_PSYNC;
        command_carry(s, name, parsed);
        if (label)
                for (gsize i = 0; i < name.n; i++)
                        g_string_append_c(label, g_ascii_toupper((char)name.text[i]));
}

/* at: of the first word; name: that word. */
static Got command_begin_array(RedisState *s, const guint8 *bytes, gsize n, gsize at, guint64 words,
                               GString *label, Parsed *parsed)
{
        Piece name, reply, what;
        Got got = take_string(bytes, n, &at, &name);
        if (got != GOT)
                return got;
        gboolean says = FALSE;
        if (words == 3 && piece_is(name, "CLIENT")) {
                got = take_string(bytes, n, &at, &reply);
                if (got == MORE)
                        return MORE;
                if (got == GOT && piece_is(reply, "REPLY")) {
                        got = take_string(bytes, n, &at, &what);
                        if (got != GOT)
                                return got;
                        says = TRUE;
                }
        }
        command_begin(s, name, words, says ? &what : NULL, label, parsed);
        return GOT;
}

/* "PING\r\n": as typed by hand. */
static ParseStatus inline_parse(RedisState *s, const guint8 *bytes, gsize n, GString *label,
                                Parsed *parsed)
{
        Piece name = { bytes, 0 };
        guint64 words = 0;
        const guint8 *end = memchr(bytes, '\n', n);
        gsize line = end ? (gsize)(end - bytes) : n;
        while (name.n < line && bytes[name.n] > ' ')
                name.n++;
        if (name.n == line && !end)
                return name.n <= MAX_NAME && redis_is_name(name) ? PARSE_MORE : PARSE_NOT_MINE;
        if (!(s->side == SIDE_CLIENT ? redis_is_name(name) : begins_command(name, SENDER_SERVER)) ||
            line > MAX_LINE)
                return PARSE_NOT_MINE;
        if (!end)
                return PARSE_MORE;
        for (gsize i = 0; i < line; i++)
                words += bytes[i] > ' ' && (i == 0 || bytes[i - 1] <= ' ');
        command_begin(s, name, words, NULL, label, parsed);
        s->carries = CARRIES_NOTHING;
        s->values = 0;
        parsed->length = line + 1;
        return PARSE_MESSAGE;
}

/* --- replies --------------------------------------------------------------- */

/* "1700000000.123456 [0 127.0.0.1:1234] ..." */
static gboolean is_monitor_line(Piece line)
{
        gsize i = 0, seconds = 0, fraction = 0;
        for (; i < line.n && g_ascii_isdigit(line.text[i]); i++)
                seconds++;
        if (i == line.n || line.text[i++] != '.')
                return FALSE;
        for (; i < line.n && g_ascii_isdigit(line.text[i]); i++)
                fraction++;
        return seconds >= 9 && seconds <= 11 && fraction == 6 && i + 2 < line.n &&
               line.text[i] == ' ' && line.text[i + 1] == '[';
}

static gboolean is_channel_message(Piece name, gint64 values)
{
        return values == 4
                       ? piece_is(name, "pmessage")
                       : values == 3 && (piece_is(name, "message") || piece_is(name, "smessage"));
}

/* What an array or a push is, by its first value. */
static MessageKind aggregate_kind(RedisState *s, guint8 call, gboolean push, Piece name,
                                  gint64 values)
{
        if ((push || s->subscribed || call == CALL_NONE) && is_channel_message(name, values)) {
                s->subscribed = TRUE;
                s->carries = values == 4 ? BRINGS_MATCHED : BRINGS_MESSAGE;
                return KIND_ONE_WAY;
        }
        if (values == 3 && (is_subscribe(name) || is_unsubscribe(name)) &&
            (push || s->subscribed || call_subscribes(call))) {
                s->subscribed = TRUE;
                if (!call_subscribes(call))
                        return KIND_ONE_WAY;
                if (++s->confirmed < call - CALL_SUBSCRIBE)
                        return KIND_INTERIM;
                s->confirmed = 0;
                return KIND_RETURN;
        }
        return push ? KIND_ONE_WAY : KIND_RETURN;
}

/* What a reply brings out of a queue, if its command was not seen: [list, element], or
 * [[stream, [entry, ...]], ...]. A worker waits in such a command when the capture begins. */
static Got unseen_form(const guint8 *bytes, gsize n, RedisForm *form)
{
        gint64 values, parts = 0;
        gsize at = 0;
        Piece name;
        Got got = redis_take_number(bytes, n, &at, &values);
        *form = CARRIES_NOTHING;
        if (got == GOT && values == 1 && at < n && bytes[at] == '*')
                got = redis_take_number(bytes, n, &at, &parts);
        if (got != GOT || (values != 2 && parts != 2))
                return got == GOT && values == 1 && at == n ? MORE : got;
        got = take_string(bytes, n, &at, &name);
        if (got == GOT && at == n)
                return MORE;
        if (got == GOT && values == 2 && strchr("$*", bytes[at]))
                *form = BRINGS_KEYED;
        else if (got == GOT && parts == 2 && bytes[at] == '*')
                *form = BRINGS_ENTRIES;
        return got == MORE ? MORE : GOT;
}

/* The word that an error begins with, simple or (RESP3) a string. MORE: it is not all there. */
static Got redis_error_read(const guint8 *bytes, gsize n, Parsed *parsed)
{
        const Outcome other = outcome_named("ERR");
        gint64 length;
        gsize at = 0, end;
        Got got = bytes[0] == '!' ? redis_take_number(bytes, n, &at, &length) : GOT;
        if (got != GOT)
                return got;
        at += bytes[0] == '-';
        for (end = at; end < n && bytes[end] > ' ' && end - at <= MAX_NAME;)
                end++;
        if (end == n && !parsed->cut)
                return MORE;
        parsed->outcome = outcome_word(bytes + at, end - at, other);
        return GOT;
}

static Got redis_reply_begin(RedisState *s, guint8 call, const guint8 *bytes, gsize n,
                             Parsed *parsed)
{
        Piece text;
        gint64 number;
        gsize at = 0;
        Got got;
        MessageKind kind = KIND_RETURN;
        RedisForm unseen = CARRIES_NOTHING;
        s->carries = CARRIES_NOTHING;
        switch (bytes[0]) {
        case '+':
                got = take_line(bytes, n, &at, &text);
                if (got != GOT)
                        return got;
                if ((s->monitors || call == CALL_NONE) && is_monitor_line(text)) {
                        s->monitors = TRUE;
                        kind = KIND_ONE_WAY;
                } else if (call == CALL_MONITOR) {
                        s->monitors = TRUE;
                } else if (call == CALL_PSYNC) {
                        s->replicates = TRUE;
                }
                break;
        case '-':
        case '!':
                got = redis_error_read(bytes, n, parsed);
                if (got != GOT)
                        return got;
                break;
        case '*':
        case '>':
                got = redis_take_number(bytes, n, &at, &number);
                if (got != GOT)
                        return got;
                if (number <= 0)
                        break;
                got = take_string(bytes, n, &at, &text);
                if (got == MORE)
                        return MORE;
                kind = aggregate_kind(s, call, bytes[0] == '>',
                                      got == GOT ? text : (Piece){ bytes, 0 }, number);
                if (call == CALL_NONE && kind == KIND_RETURN &&
                    unseen_form(bytes, n, &unseen) == MORE)
                        return MORE;
                break;
        case ':':
        case '(':
                if (n < 2)
                        return MORE;
                if (!g_ascii_isdigit(bytes[1]) && bytes[1] != '-' && bytes[1] != '+')
                        return BROKEN;
                break;
        default:
                if (!strchr("$_,#=~%|", bytes[0] ? bytes[0] : ' '))
                        return BROKEN;
        }
        s->side = SIDE_SERVER;
        s->values = 1;
        s->kind = kind;
        if (unseen)
                s->carries = (guint8)unseen;
        if (call >= CALL_KEYED || s->carries)
                reply_carry(s, call, parsed);
        return GOT;
}

/* --- both ------------------------------------------------------------------ */

/* Begins a message, of which nothing is settled yet. */
static Got redis_message_begin(RedisState *s, guint8 call, const guint8 *bytes, gsize n,
                               GString *label, Parsed *parsed)
{
        if (s->side == SIDE_SERVER || call != CALL_NONE || bytes[0] != '*')
                return s->side == SIDE_CLIENT ? BROKEN
                                              : redis_reply_begin(s, call, bytes, n, parsed);
        gint64 words;
        gsize at = 0, first;
        Piece name;
        Got got = redis_take_number(bytes, n, &at, &words);
        if (got != GOT || (s->side == SIDE_CLIENT && words <= 0)) {
                s->values = got == GOT;
                s->kind = KIND_NOTHING;
                return got;
        }
        first = at;
        got = take_string(bytes, n, &at, &name);
        if (got == MORE)
                return MORE;
        if (got == GOT &&
            begins_command(name, s->side == SIDE_CLIENT ? SENDER_CLIENT : parsed->sender) &&
            !(s->side == SIDE_UNKNOWN && is_channel_message(name, words)))
                return command_begin_array(s, bytes, n, first, (guint64)words, label, parsed);
        return s->side == SIDE_CLIENT ? BROKEN : redis_reply_begin(s, call, bytes, n, parsed);
}

/* Whether a line's text is a number: lines of IRC begin with ":", too. */
static gboolean is_integer(Piece line)
{
        gsize i = line.n > 0 && (line.text[0] == '-' || line.text[0] == '+');
        if (i == line.n)
                return FALSE;
        while (i < line.n && g_ascii_isdigit(line.text[i]))
                i++;
        return i == line.n;
}

/* A value's first line. *skip: how many bytes after it need not be looked at. */
static Got value_read(RedisState *s, const guint8 *bytes, gsize n, gsize *at, guint64 *skip)
{
        gint64 number = -1;
        Piece line;
        Got got;
        guint8 type = bytes[*at];
        switch (type) {
        case ':':
        case '(':
                got = take_line(bytes, n, at, &line);
                if (got == GOT && !is_integer(line))
                        return BROKEN;
                break;
        case '+':
        case '-':
        case '_':
        case ',':
        case '#':
                got = take_line(bytes, n, at, &line);
                break;
        default:
                got = redis_take_number(bytes, n, at, &number);
        }
        if (got != GOT)
                return got;
        s->values--;
        if (number < 0)
                return GOT;
        switch (type) {
        case '$':
        case '!':
        case '=':
                s->values++;
                s->string_ends = TRUE;
                *skip = (guint64)number;
                return *skip <= MAX_STRING ? GOT : BROKEN;
        case '*':
        case '~':
        case '>':
                s->values += (guint64)number;
                break;
        case '%':
                s->values += 2 * (guint64)number;
                break;
        case '|': /* an attribute, and then what it is about */
                s->values += 2 * (guint64)number + 1;
                break;
        default:
                return BROKEN;
        }
        return s->values <= MAX_VALUES ? GOT : BROKEN;
}

/* The offset after the short string at at, if it is there as a whole; else at. Most of long
 * replies are such. */
static gsize skip_short_string(const guint8 *bytes, gsize n, gsize at)
{
        gsize i = at + 1, length = 0;
        if (bytes[at] != '$')
                return at;
        for (; i < n && i < at + 5 && g_ascii_isdigit(bytes[i]); i++)
                length = length * 10 + (gsize)(bytes[i] - '0');
        if (i == at + 1 || n - i < length + 4 || memcmp(bytes + i, "\r\n", 2) != 0 ||
            memcmp(bytes + i + 2 + length, "\r\n", 2) != 0)
                return at;
        return i + length + 4;
}

/* What the value at at carries, before it is passed over. FALSE: more of the value must be seen
 * first. */
static gboolean see_carried(const RedisState *s, const guint8 *bytes, gsize n, gsize at,
                            const Parsed *parsed)
{
        RedisCarried *carried = *parsed->memory;
        guint side = s->side == SIDE_SERVER;
        gsize from = at;
        gint64 number;
        if (!strchr("$*%~>", bytes[at] ? bytes[at] : ' ') ||
            redis_take_number(bytes, n, &from, &number) != GOT)
                return TRUE; /* which value_read() says */
        if (bytes[at] != '$') {
                redis_carried_values(carried, side, (guint64)MAX(number, 0));
                return TRUE;
        }
        if (number < 0)
                return TRUE;
        gsize needs = redis_carried_needs(carried, side, (guint64)number);
        if (n - from < needs && !parsed->cut)
                return FALSE;
        redis_carried_string(carried, side, bytes + from, MIN(needs, n - from), (guint64)number);
        return TRUE;
}

/* The message is over. */
static void end_carried(const RedisState *s, Parsed *parsed)
{
        RedisCarried *carried = *parsed->memory;
        parsed->carried.contents =
                redis_carried_end(carried, s->side == SIDE_SERVER, &parsed->carried.n_contents);
        if (s->carries == NAMES_FIELDS)
                parsed->carried.settles = MAY_NAME;
        else if (s->carries == SETTLES_FIELDS || s->carries == SETTLES_ENTRIES)
                parsed->carried.settles = SETTLES;
        if (s->side == SIDE_SERVER)
                parsed->carried.tags = redis_carried_tags(carried);
        parsed->carried.job = redis_carried_job(carried, s->side == SIDE_SERVER);
        parsed->carried.was_waited = s->waits;
        if (s->carries >= ASKS_LIST && s->carries <= ASKS_STREAMS)
                parsed->carried.fetch =
                        s->waits || redis_carried_waits(carried) ? FETCH_WAIT : FETCH_NOW;
}

static ParseStatus values_read(RedisState *s, const guint8 *bytes, gsize n, Parsed *parsed)
{
        gsize at = 0;
        while (at < n) {
                guint64 skip = 0;
                gsize next = s->string_ends || s->carries ? at : skip_short_string(bytes, n, at);
                if (next > at) {
                        at = next;
                        s->values--;
                } else if (s->string_ends) {
                        if (bytes[at] != '\r' || (at + 1 < n && bytes[at + 1] != '\n'))
                                return PARSE_NOT_MINE;
                        if (at + 1 == n)
                                break;
                        at += 2;
                        s->string_ends = FALSE;
                        s->values--;
                } else {
                        if (s->carries && !see_carried(s, bytes, n, at, parsed))
                                break;
                        Got got = value_read(s, bytes, n, &at, &skip);
                        if (got == BROKEN)
                                return PARSE_NOT_MINE;
                        if (got == MORE)
                                break;
                }
                parsed->length = at + skip;
                if (s->values == 0) {
                        if (s->carries)
                                end_carried(s, parsed);
                        else if (s->waits && s->side == SIDE_CLIENT)
                                parsed->carried.fetch = FETCH_WAIT;
                        return PARSE_MESSAGE;
                }
                if (skip > n - at)
                        break;
                at += (gsize)skip;
        }
        return PARSE_MORE;
}

/* Replies that nothing else would begin with. */
static gboolean is_plainly_reply(const guint8 *bytes, gsize n, gboolean *more)
{
        gint64 length;
        gsize at = 0;
        Got got;
        *more = FALSE;
        switch (bytes[0]) {
        case '$':
                got = redis_take_number(bytes, n, &at, &length);
                *more = got == MORE;
                return got == GOT && (length < 0 || (guint64)length >= n - at ||
                                      bytes[at + (gsize)length] == '\r');
        case '+':
                *more = n < 7 && memcmp(bytes, "+PONG\r\n", n) == 0;
                return n >= 7 && memcmp(bytes, "+PONG\r\n", 7) == 0;
        default:
                return FALSE;
        }
}

/* Small letters that more often are data, such as the name of a field: where an
 * array of them may be a reply, it does not say who calls. */
static gboolean is_common_word(const guint8 *bytes, gsize n)
{
        static const char *const words[] = {
                "client", "command", "config", "copy",   "echo", "function",
                "info",   "keys",    "memory", "module", "move", "object",
                "role",   "script",  "sort",   "time",   "type",
        };
        gint64 values;
        gsize at = 0;
        Piece name;
        if (redis_take_number(bytes, n, &at, &values) != GOT ||
            take_string(bytes, n, &at, &name) != GOT || !g_ascii_islower(name.text[0]))
                return FALSE;
        for (guint i = 0; i < G_N_ELEMENTS(words); i++)
                if (piece_is(name, words[i]))
                        return TRUE;
        return FALSE;
}

/* Whether lines may be commands that are typed by hand, or sent in bulk so: each of the lines, with
 * an argument at least. Other protocols have lines with some of these names. */
static ParseStatus inline_recognise(const guint8 *bytes, gsize n)
{
        static const char *const others[] = { "AUTH", "HELLO", "INFO", "TYPE" };
        ParseStatus status = PARSE_MORE;
        for (gsize at = 0; at < n && n - at <= MAX_LINE;) {
                Piece name = { bytes + at, 0 };
                const guint8 *end = memchr(name.text, '\n', n - at);
                while (at + name.n < n && name.text[name.n] > ' ')
                        name.n++;
                if (at + name.n == n)
                        return name.n <= MAX_NAME ? status : PARSE_NOT_MINE;
                if (bytes[at + name.n] != ' ' || !begins_command(name, SENDER_SERVER))
                        return PARSE_NOT_MINE;
                for (guint i = 0; i < G_N_ELEMENTS(others); i++)
                        if (piece_is(name, others[i]))
                                return PARSE_NOT_MINE;
                if (!end)
                        return status;
                status = PARSE_MESSAGE;
                at = (gsize)(end - bytes) + 1;
        }
        return status == PARSE_MESSAGE ? status : PARSE_NOT_MINE;
}

/* Whether redis_message_begin() may be asked what this is: it is recognised by a
 * command, by what only a server of Redis says, and by no more than that. */
static ParseStatus redis_recognise(const guint8 *bytes, gsize n, guint8 sender)
{
        RedisState s = { 0 };
        Parsed parsed = { .sender = sender };
        RedisForm unseen;
        gboolean more;
        if (is_plainly_reply(bytes, n, &more))
                return PARSE_MESSAGE;
        if (more)
                return PARSE_MORE;
        if (g_ascii_isalpha(bytes[0]) && sender != SENDER_SERVER)
                return inline_recognise(bytes, n);
        if (bytes[0] != '*' && bytes[0] != '>' && bytes[0] != '+')
                return PARSE_NOT_MINE;
        Got got = redis_message_begin(&s, CALL_NONE, bytes, n, NULL, &parsed);
        if (got != GOT)
                return got == MORE && (bytes[0] != '+' || n < 12 || g_ascii_isdigit(bytes[11]))
                               ? PARSE_MORE
                               : PARSE_NOT_MINE;
        if (s.side == SIDE_CLIENT)
                return sender != SENDER_CLIENT && is_common_word(bytes, n) ? PARSE_NOT_MINE
                                                                           : PARSE_MESSAGE;
        if (s.subscribed || s.monitors)
                return PARSE_MESSAGE;
        return sender == SENDER_SERVER && bytes[0] == '*' &&
                               unseen_form(bytes, n, &unseen) == GOT && unseen
                       ? PARSE_MESSAGE
                       : PARSE_NOT_MINE;
}

static ParseStatus redis_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                               gboolean eof, GString *label, Parsed *parsed)
{
        RedisState *s = state;
        if (eof) { /* what replicates ends with the connection, all else is cut */
                parsed->kind = KIND_ONE_WAY;
                return s->replicates && s->values == 0 ? PARSE_MESSAGE : PARSE_NOT_MINE;
        }
        if (s->values == 0) {
                if (call == CALL_PROBE) {
                        ParseStatus status = redis_recognise(bytes, n, parsed->sender);
                        if (status != PARSE_MESSAGE)
                                return status;
                        call = CALL_NONE;
                }
                if (s->replicates && s->side == SIDE_SERVER) {
                        parsed->kind = KIND_ONE_WAY;
                        parsed->length = PARSE_FOREVER;
                        return PARSE_MORE;
                }
                if (bytes[0] == '\n' || bytes[0] == '\r') {
                        parsed->kind = KIND_NOTHING;
                        parsed->length = 1;
                        return PARSE_MESSAGE;
                }
                if (s->side != SIDE_SERVER && call == CALL_NONE && g_ascii_isalpha(bytes[0]))
                        return inline_parse(s, bytes, n, label, parsed);
                Got got = redis_message_begin(s, call, bytes, n, label, parsed);
                if (got != GOT)
                        return got == MORE ? PARSE_MORE : PARSE_NOT_MINE;
        }
        parsed->kind = (MessageKind)s->kind;
        return values_read(s, bytes, n, parsed);
}

/* Where a command begins; else only the first byte shown may be the start of a
 * reply, since the values within one look the same. */
static gsize redis_find_boundary(const guint8 *bytes, gsize n)
{
        if (n > 0 && strchr("+-:$*>_,#(!=~%|", bytes[0] ? bytes[0] : ' '))
                return 0;
        for (const guint8 *p = bytes;
             p < bytes + n && (p = memchr(p, '\n', (gsize)(bytes + n - p)));) {
                RedisState s = { 0 };
                Parsed parsed = { 0 };
                gsize left = (gsize)(bytes + n - ++p);
                if (left > 0 && *p == '*' &&
                    redis_message_begin(&s, CALL_NONE, p, left, NULL, &parsed) == GOT &&
                    (s.side == SIDE_CLIENT || s.subscribed))
                        return (gsize)(p - bytes);
        }
        return n;
}

/* The arguments of a command, or the rest of them. */
static void redis_values(GString *text, G_GNUC_UNUSED gpointer *memory, const guint8 *bytes,
                         gsize n)
{
        gsize at = 0;
        gboolean named = FALSE;
        if (n > 0 && bytes[0] != '*' && bytes[0] != '$') { /* typed by hand */
                g_string_append_len(text, (const char *)bytes, (gssize)MIN(n, MAX_ARGUMENT));
                g_string_append_c(text, '\n');
                return;
        }
        while (at < n) {
                const guint8 *end = memchr(bytes + at, '\n', n - at);
                gint64 length = 0;
                if (!end || (bytes[at] != '*' && bytes[at] != '$'))
                        return;
                gboolean begins = bytes[at] == '*';
                if (begins)
                        named = FALSE;
                else if (redis_take_number(bytes, n, &at, &length) != GOT || length < 0)
                        return;
                at = (gsize)(end - bytes) + 1;
                if (begins)
                        continue;
                gsize shown = (gsize)MIN((guint64)length, n - at);
                if (named || shown < (gsize)length) {
                        values_append_argument(text, bytes + at, shown);
                }
                named = TRUE;
                at += shown;
                at += MIN(n - at, 2);
        }
}

const Protocol protocol_redis = {
        .name = "redis",
        .values = redis_values,
        .parse = redis_parse,
        .find_boundary = redis_find_boundary,
        .forget = redis_carried_free,
};
