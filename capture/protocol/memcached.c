/* SPDX-License-Identifier: BSD-2-Clause
 *
 * memcached: the text protocol with its meta commands, and the binary one
 * (https://github.com/memcached/memcached/tree/master/doc). A command is a call,
 * also one that gets many keys; its return goes up to END where there may be
 * several lines. In order.
 *
 * Commands that stay quiet unless something is amiss, or found, are no calls. The
 * gets among them belong to the next command that is not quiet, which says that
 * all of their answers are there; the others, and noreply, are one-way. With a quit
 * the session ends: it is no message.
 */
#include "capture/protocol/protocol.h"

#include <string.h>

enum {
        MAX_LINE = 65536, /* a get may name many keys */
        MAX_KEY = 250,
        MAX_VALUE = 1 << 30,
        MAX_WORDS = 8,
        HEADER = 24,
        MAGIC_REQUEST = 0x80,
        MAGIC_ANSWER = 0x81,
        MAGIC_FRAMED_REQUEST = 0x08, /* Couchbase: with frames between header and extras */
        MAGIC_FRAMED_ANSWER = 0x18,
};

/* What a return must know of its call. */
enum { CALL_PLAIN = 1, CALL_UNTIL_MN };

typedef struct {
        guint8 side;
        guint8 binary;
        guint8 open; /* a call of several commands, or a return of several lines, goes on */
        guint8 call; /* what the return in progress answers */
} MemcachedState;

G_STATIC_ASSERT(sizeof(MemcachedState) <= PROTOCOL_STATE_SIZE);

/* --- text ------------------------------------------------------------------ */

typedef struct {
        const guint8 *text;
        gsize n;
} Word;

typedef struct {
        Word word[MAX_WORDS];
        guint n; /* words, also those after the last that is kept */
        Word last;
} Words;

static gboolean word_is(Word w, const char *text)
{
        return strlen(text) == w.n && memcmp(w.text, text, w.n) == 0;
}

/* FALSE where there are other control characters. */
static gboolean memcached_split(const guint8 *line, gsize n, Words *words)
{
        words->n = 0;
        for (gsize i = 0; i < n;) {
                gsize first = i;
                while (i < n && line[i] > ' ' && line[i] != 0x7f)
                        i++;
                if (i > first) {
                        words->last = (Word){ line + first, i - first };
                        if (words->n < MAX_WORDS)
                                words->word[words->n] = words->last;
                        words->n++;
                }
                if (i < n && line[i++] != ' ')
                        return FALSE;
        }
        return words->n > 0;
}

static gboolean word_number(Word w, guint64 *value)
{
        *value = 0;
        for (gsize i = 0; i < w.n; i++) {
                if (!g_ascii_isdigit(w.text[i]) || i > 18)
                        return FALSE;
                *value = *value * 10 + (guint64)(w.text[i] - '0');
        }
        return w.n > 0;
}

/* Whether an argument of a meta command is the flag. */
static gboolean has_flag(const Words *words, guint first, char flag)
{
        for (guint i = first; i < MIN(words->n, MAX_WORDS); i++)
                if (words->word[i].text[0] == (guint8)flag && words->word[i].n == 1)
                        return TRUE;
        return FALSE;
}

typedef enum { PLAIN, QUIET_GET, QUIET, META_END, GOODBYE, NOT_A_COMMAND } CommandKind;

/* Words from and to which a command may have; where its bytes are counted, or 0. */
static const struct {
        const char *name;
        guint8 least, most, length_at;
} commands[] = {
        { "get", 2, 255, 0 },     { "gets", 2, 255, 0 },
        { "gat", 3, 255, 0 },     { "gats", 3, 255, 0 },
        { "set", 5, 6, 4 },       { "add", 5, 6, 4 },
        { "replace", 5, 6, 4 },   { "append", 5, 6, 4 },
        { "prepend", 5, 6, 4 },   { "cas", 6, 7, 4 },
        { "delete", 2, 4, 0 },    { "incr", 3, 4, 0 },
        { "decr", 3, 4, 0 },      { "touch", 3, 4, 0 },
        { "flush_all", 1, 3, 0 }, { "version", 1, 1, 0 },
        { "verbosity", 2, 3, 0 }, { "stats", 1, 4, 0 },
        { "quit", 1, 1, 0 },      { "cache_memlimit", 2, 3, 0 },
        { "mg", 2, 255, 0 },      { "ms", 3, 255, 2 },
        { "md", 2, 255, 0 },      { "ma", 2, 255, 0 },
        { "mn", 1, 1, 0 },        { "me", 2, 3, 0 },
};

static CommandKind command_kind(const Words *words, guint64 *length)
{
        Word name = words->word[0];
        guint i = 0;
        while (i < G_N_ELEMENTS(commands) && !word_is(name, commands[i].name))
                i++;
        *length = 0;
        if (i == G_N_ELEMENTS(commands) || words->n < commands[i].least ||
            (words->n > commands[i].most && commands[i].most < 255))
                return NOT_A_COMMAND;
        if (commands[i].length_at) {
                if (!word_number(words->word[commands[i].length_at], length) ||
                    *length > MAX_VALUE || words->word[1].n > MAX_KEY)
                        return NOT_A_COMMAND;
                *length += 2;
        }
        if (name.n == 2 && name.text[0] == 'm') {
                if (name.text[1] == 'n')
                        return META_END;
                if (name.text[1] == 'e' || !has_flag(words, 2, 'q'))
                        return PLAIN;
                return name.text[1] == 'g' ? QUIET_GET : QUIET;
        }
        return word_is(name, "quit") ? GOODBYE : word_is(words->last, "noreply") ? QUIET : PLAIN;
}

typedef enum { ANSWER_ENDS, ANSWER_GOES_ON, NOT_AN_ANSWER } AnswerKind;

static AnswerKind memcached_answer_kind(const Words *words, guint64 *length)
{
        static const char *const single[] = {
                "STORED", "NOT_STORED", "EXISTS", "NOT_FOUND", "DELETED",      "TOUCHED",      "OK",
                "ERROR",  "END",        "RESET",  "HD",        "EN",           "NF",           "NS",
                "EX",     "MN",         "ME",     "VERSION",   "CLIENT_ERROR", "SERVER_ERROR",
        };
        Word name = words->word[0];
        guint64 number;
        *length = 0;
        if (word_is(name, "VALUE")) {
                if (words->n < 4 || words->n > 5 || !word_number(words->word[3], length) ||
                    *length > MAX_VALUE)
                        return NOT_AN_ANSWER;
                *length += 2;
                return ANSWER_GOES_ON;
        }
        if (word_is(name, "VA")) {
                if (words->n < 2 || !word_number(words->word[1], length) || *length > MAX_VALUE)
                        return NOT_AN_ANSWER;
                *length += 2;
                return ANSWER_ENDS;
        }
        if (word_is(name, "STAT") || word_is(name, "ITEM"))
                return ANSWER_GOES_ON;
        for (guint i = 0; i < G_N_ELEMENTS(single); i++)
                if (word_is(name, single[i]))
                        return ANSWER_ENDS;
        return words->n == 1 && word_number(name, &number) ? ANSWER_ENDS : NOT_AN_ANSWER;
}

static ParseStatus memcached_command_read(MemcachedState *s, const Words *words, guint64 *length,
                                          GString *label, Parsed *parsed)
{
        CommandKind kind = command_kind(words, length);
        if (kind == NOT_A_COMMAND)
                return PARSE_NOT_MINE;
        s->side = SIDE_CLIENT;
        if ((kind == QUIET || kind == GOODBYE) && !s->open) {
                parsed->kind = kind == QUIET ? KIND_ONE_WAY : KIND_SESSION;
                return PARSE_MESSAGE;
        }
        parsed->kind = KIND_CALL;
        parsed->call = s->open || kind == QUIET_GET ? CALL_UNTIL_MN : CALL_PLAIN;
        if (label && !s->open)
                g_string_append_len(label, (const char *)words->word[0].text,
                                    (gssize)words->word[0].n);
        s->open = kind == QUIET || kind == QUIET_GET || kind == GOODBYE;
        return s->open ? PARSE_MORE : PARSE_MESSAGE;
}

static ParseStatus memcached_answer_read(MemcachedState *s, guint8 call, const Words *words,
                                         guint64 *length, Parsed *parsed)
{
        AnswerKind kind = memcached_answer_kind(words, length);
        if (kind == NOT_AN_ANSWER)
                return PARSE_NOT_MINE;
        if (!s->open)
                s->call = call;
        s->side = SIDE_SERVER;
        parsed->kind = KIND_RETURN;
        if (word_is(words->word[0], "ERROR") || word_is(words->word[0], "CLIENT_ERROR") ||
            word_is(words->word[0], "SERVER_ERROR"))
                parsed->outcome = outcome_word(words->word[0].text, words->word[0].n, OUTCOME_OK);
        s->open = kind == ANSWER_GOES_ON ||
                  (s->call == CALL_UNTIL_MN && !word_is(words->word[0], "MN"));
        return s->open ? PARSE_MORE : PARSE_MESSAGE;
}

static ParseStatus memcached_line_read(MemcachedState *s, guint8 call, const guint8 *line, gsize n,
                                       guint64 *length, GString *label, Parsed *parsed)
{
        Words words;
        if (!memcached_split(line, n, &words))
                return PARSE_NOT_MINE;
        if (s->side == SIDE_UNKNOWN)
                s->side = g_ascii_islower(line[0]) ? SIDE_CLIENT : SIDE_SERVER;
        return s->side == SIDE_CLIENT ? memcached_command_read(s, &words, length, label, parsed)
                                      : memcached_answer_read(s, call, &words, length, parsed);
}

static ParseStatus memcached_text_parse(MemcachedState *s, guint8 call, const guint8 *bytes,
                                        gsize n, GString *label, Parsed *parsed)
{
        for (gsize at = 0; at < n;) {
                const guint8 *end = memchr(bytes + at, '\n', n - at);
                guint64 length = 0;
                if (!end) {
                        if (n - at > MAX_LINE || (!s->open && !g_ascii_isalnum(bytes[at])))
                                return PARSE_NOT_MINE;
                        break;
                }
                gsize line = (gsize)(end - bytes) - at;
                if (line == 0 || end[-1] != '\r' || line > MAX_LINE)
                        return PARSE_NOT_MINE;
                ParseStatus status =
                        memcached_line_read(s, call, bytes + at, line - 1, &length, label, parsed);
                if (status == PARSE_NOT_MINE)
                        return status;
                label = NULL;
                at += line + 1;
                parsed->length = at + length;
                if (status == PARSE_MESSAGE)
                        return status;
                if (length > n - at)
                        break;
                at += (gsize)length;
        }
        if (s->open)
                parsed->kind = s->side == SIDE_CLIENT ? KIND_CALL : KIND_RETURN;
        return PARSE_MORE;
}

/* --- binary ---------------------------------------------------------------- */

enum {
        OP_QUIT = 0x07,
        OP_NOOP = 0x0a,
        OP_STAT = 0x10,
        OP_QUITQ = 0x17,
        OP_GATK = 0x24,
};

static const char *op_name(guint8 op)
{
        static const char *const names[] = {
                "get",    "set",       "add",   "replace",   "delete",  "incr",    "decr",
                "quit",   "flush_all", "get",   "noop",      "version", "get",     "get",
                "append", "prepend",   "stats", "set",       "add",     "replace", "delete",
                "incr",   "decr",      "quit",  "flush_all", "append",  "prepend", "verbosity",
                "touch",  "gat",       "gat",   NULL,
        };
        return op < G_N_ELEMENTS(names) && names[op] ? names[op] : "binary";
}

static gboolean op_is_quiet_get(guint8 op)
{
        return op == 0x09 || op == 0x0d || op == 0x1e || op == 0x24;
}

static gboolean op_is_quiet(guint8 op)
{
        return (op >= 0x11 && op <= 0x1a) || (op >= 0x31 && op <= 0x3c && (op & 1) == 0);
}

static gboolean is_binary(guint8 magic)
{
        return magic == MAGIC_REQUEST || magic == MAGIC_ANSWER || magic == MAGIC_FRAMED_REQUEST ||
               magic == MAGIC_FRAMED_ANSWER;
}

static gboolean is_request(const guint8 *h)
{
        return h[0] == MAGIC_REQUEST || h[0] == MAGIC_FRAMED_REQUEST;
}

static gboolean is_framed(const guint8 *h)
{
        return h[0] == MAGIC_FRAMED_REQUEST || h[0] == MAGIC_FRAMED_ANSWER;
}

static guint memcached_key_length(const guint8 *h)
{
        return is_framed(h) ? h[3] : read_u16(h + 2);
}

/* What stands between header and key. */
static guint extras_length(const guint8 *h)
{
        return h[4] + (is_framed(h) ? h[2] : 0u);
}

static gboolean memcached_header_is_sound(const guint8 *h)
{
        guint32 body = read_u32(h + 8);
        return is_binary(h[0]) && body <= MAX_VALUE && memcached_key_length(h) <= MAX_KEY &&
               memcached_key_length(h) + extras_length(h) <= body;
}

/* Whether a request has a key and extras as its operation needs, and a value only where that has
 * one. Of an answer: whether it may have them. Operations that only Couchbase has are not known. */
static gboolean memcached_packet_is_certain(const guint8 *h)
{
        /* By operation: the bytes of extras; with KEY, MAY_KEY, VALUE. */
        enum { KEY = 0x40, MAY_KEY = 0x80, VALUE = 0x100, EXTRAS = 0x3f };
        static const guint16 needs[] = {
                KEY,
                8 | KEY | VALUE,
                8 | KEY | VALUE,
                8 | KEY | VALUE,
                KEY,
                20 | KEY,
                20 | KEY,
                0,
                4,
                KEY,
                0,
                0,
                KEY,
                KEY,
                KEY | VALUE,
                KEY | VALUE,
                MAY_KEY | VALUE,
                8 | KEY | VALUE,
                8 | KEY | VALUE,
                8 | KEY | VALUE,
                KEY,
                20 | KEY,
                20 | KEY,
                0,
                4,
                KEY | VALUE,
                KEY | VALUE,
                4,
                4 | KEY,
                4 | KEY,
                4 | KEY,
                MAY_KEY | VALUE,
                0,
                KEY | VALUE,
                KEY | VALUE,
                4 | KEY,
                4 | KEY,
        };
        G_STATIC_ASSERT(G_N_ELEMENTS(needs) == OP_GATK + 1);
        guint key = read_u16(h + 2), extras = h[4];
        if (is_framed(h) || !memcached_header_is_sound(h) || h[1] > OP_GATK || h[5] != 0)
                return FALSE;
        if (h[0] == MAGIC_ANSWER)
                return (extras == 0 || extras == 4) && read_u16(h + 6) < 0x100;
        guint need = needs[h[1]];
        return (extras == (need & EXTRAS) || (extras == 0 && need == 4)) &&
               (need & KEY ? key > 0 : (need & MAY_KEY) || key == 0) &&
               ((need & VALUE) || read_u32(h + 8) == key + extras);
}

/* What the text protocol would say instead of this status. */
static Outcome binary_outcome(guint16 status)
{
        switch (status) {
        case 0x00: /* success; no such key, there is one, not stored */
        case 0x01:
        case 0x02:
        case 0x05:
                return OUTCOME_OK;
        case 0x81:
                return outcome_named("ERROR");
        default:
                return outcome_named(status < 0x80 ? "CLIENT_ERROR" : "SERVER_ERROR");
        }
}

/* A quiet command begins or continues a call, or is one-way; so is an answer. */
static ParseStatus memcached_packet_read(MemcachedState *s, const guint8 *h, GString *label,
                                         Parsed *parsed)
{
        guint8 op = h[1];
        if (!is_request(h)) {
                if (op_is_quiet(op) && !s->open) { /* what went wrong with a one-way one */
                        parsed->kind = KIND_NOTHING;
                        return PARSE_MESSAGE;
                }
                parsed->kind = KIND_RETURN;
                parsed->outcome = binary_outcome(read_u16(h + 6));
                s->open = op_is_quiet(op) || op_is_quiet_get(op) ||
                          (op == OP_STAT && memcached_key_length(h) > 0);
                return s->open ? PARSE_MORE : PARSE_MESSAGE;
        }
        if (op_is_quiet(op) && !s->open) {
                parsed->kind = op == OP_QUITQ ? KIND_SESSION : KIND_ONE_WAY;
                return PARSE_MESSAGE;
        }
        parsed->kind = KIND_CALL;
        parsed->session = op == OP_QUIT && !s->open ? SESSION_ALWAYS : SESSION_NOT;
        parsed->call = CALL_PLAIN;
        if (label && !s->open)
                g_string_append(label, op_name(op));
        s->open = op_is_quiet(op) || op_is_quiet_get(op);
        return s->open ? PARSE_MORE : PARSE_MESSAGE;
}

static ParseStatus binary_parse(MemcachedState *s, const guint8 *bytes, gsize n, GString *label,
                                Parsed *parsed)
{
        for (gsize at = 0; at < n; at = (gsize)parsed->length) {
                const guint8 *h = bytes + at;
                if (!is_binary(h[0]))
                        return PARSE_NOT_MINE;
                if (n - at < HEADER)
                        break;
                guint8 side = is_request(h) ? SIDE_CLIENT : SIDE_SERVER;
                gboolean first = s->side == SIDE_UNKNOWN && !is_framed(h);
                if (!(first ? memcached_packet_is_certain(h) : memcached_header_is_sound(h)) ||
                    (s->side != SIDE_UNKNOWN && s->side != side))
                        return PARSE_NOT_MINE;
                s->side = side;
                s->binary = TRUE;
                ParseStatus status = memcached_packet_read(s, h, label, parsed);
                label = NULL;
                parsed->length = at + HEADER + read_u32(h + 8);
                if (status == PARSE_MESSAGE)
                        return status;
                if (parsed->length > n)
                        break;
        }
        if (s->open)
                parsed->kind = s->side == SIDE_CLIENT ? KIND_CALL : KIND_RETURN;
        return PARSE_MORE;
}

/* --- both ------------------------------------------------------------------ */

/* Whether a text line by which nobody else would begin: a storage command with
 * its numbers, a get with "\r\n", a meta command; or a value. Redis knows "get k",
 * typed by hand, too: it is taken for memcached's, where they are small letters. */
static ParseStatus memcached_recognise(const guint8 *bytes, gsize n)
{
        if (bytes[0] == MAGIC_REQUEST || bytes[0] == MAGIC_ANSWER) {
                if (n < HEADER)
                        return PARSE_MORE;
                return memcached_packet_is_certain(bytes) ? PARSE_MESSAGE : PARSE_NOT_MINE;
        }
        static const char quit[] = "quit\r\n"; /* all that is left to say */
        static const char *const sure[] = { "gets",   "gat",     "gats", "set",  "add",   "replace",
                                            "append", "prepend", "cas",  "get",  "mg",    "ms",
                                            "md",     "ma",      "incr", "decr", "touch", "VALUE" };
        Words words;
        guint64 length;
        gsize name = 0;
        const guint8 *end = memchr(bytes, '\n', n);
        if (n < sizeof quit && memcmp(bytes, quit, n) == 0)
                return n == sizeof quit - 1 ? PARSE_MESSAGE : PARSE_MORE;
        while (name < n && g_ascii_isalpha(bytes[name]))
                name++;
        Word first = { bytes, name };
        for (guint i = 0; i < G_N_ELEMENTS(sure); i++) {
                if (name == n && name < strlen(sure[i]) && memcmp(bytes, sure[i], n) == 0)
                        return PARSE_MORE;
                if (!word_is(first, sure[i]))
                        continue;
                if (!end)
                        return n <= MAX_LINE ? PARSE_MORE : PARSE_NOT_MINE;
                gsize line = (gsize)(end - bytes);
                if (bytes[line - 1] != '\r' || !memcached_split(bytes, line - 1, &words))
                        return PARSE_NOT_MINE;
                if (g_ascii_isupper(bytes[0]))
                        return memcached_answer_kind(&words, &length) == NOT_AN_ANSWER
                                       ? PARSE_NOT_MINE
                                       : PARSE_MESSAGE;
                return command_kind(&words, &length) == NOT_A_COMMAND ? PARSE_NOT_MINE
                                                                      : PARSE_MESSAGE;
        }
        return PARSE_NOT_MINE;
}

static ParseStatus memcached_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                                   gboolean eof, GString *label, Parsed *parsed)
{
        MemcachedState *s = state;
        if (eof)
                return PARSE_NOT_MINE;
        if (n == 0)
                return PARSE_MORE;
        if (call == CALL_PROBE) {
                ParseStatus status = memcached_recognise(bytes, n);
                if (status != PARSE_MESSAGE)
                        return status;
                call = CALL_NONE;
        }
        if (s->side == SIDE_UNKNOWN)
                s->binary = is_binary(bytes[0]);
        return s->binary ? binary_parse(s, bytes, n, label, parsed)
                         : memcached_text_parse(s, call, bytes, n, label, parsed);
}

static gsize memcached_find_boundary(const guint8 *bytes, gsize n)
{
        for (gsize i = 0; i < n; i++) {
                Words words;
                guint64 length;
                if (n - i >= HEADER && memcached_packet_is_certain(bytes + i))
                        return i;
                if (i > 0 && bytes[i - 1] != '\n')
                        continue;
                const guint8 *end = memchr(bytes + i, '\n', n - i);
                if (end && end > bytes + i && end[-1] == '\r' &&
                    memcached_split(bytes + i, (gsize)(end - bytes) - i - 1, &words) &&
                    (command_kind(&words, &length) != NOT_A_COMMAND ||
                     memcached_answer_kind(&words, &length) != NOT_AN_ANSWER))
                        return i;
        }
        return n;
}

/* The keys of a command. */
static void line_values(GString *text, const guint8 *line, gsize n)
{
        Words words;
        if (!memcached_split(line, n, &words))
                return;
        gboolean several = word_is(words.word[0], "get") || word_is(words.word[0], "gets");
        for (guint i = 1; i < MIN(words.n, several ? MAX_WORDS : 2); i++) {
                g_string_append_len(text, (const char *)words.word[i].text,
                                    (gssize)words.word[i].n);
                g_string_append_c(text, '\n');
        }
}

static void memcached_values(GString *text, G_GNUC_UNUSED gpointer *memory, const guint8 *bytes,
                             gsize n)
{
        const guint8 *end = n > 0 ? memchr(bytes, '\n', n) : NULL;
        if (n >= HEADER && is_request(bytes)) {
                gsize at = HEADER + extras_length(bytes), length = memcached_key_length(bytes);
                if (at + length <= n)
                        g_string_append_len(text, (const char *)bytes + at, (gssize)length);
                g_string_append_c(text, '\n');
        } else if (end && end > bytes && end[-1] == '\r') {
                line_values(text, bytes, (gsize)(end - bytes) - 1);
        }
}

const Protocol protocol_memcached = {
        .name = "memcached",
        .values = memcached_values,
        .parse = memcached_parse,
        .find_boundary = memcached_find_boundary,
};
