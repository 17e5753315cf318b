/* SPDX-License-Identifier: BSD-2-Clause
 *
 * NATS, as clients speak it. A publication that names a reply subject is a call to the server, and
 * the delivery on that subject is its return. A delivery that names a reply subject is a call by
 * the server. A publication of the receiver to that subject is its return; so is an acknowledgement
 * of JetStream. Every other publication or delivery is one-way. Connecting,
 * subscribing and asking JetStream for more are of the session; pings are nothing.
 *
 * A message is a line of words, and a payload where the last word is its length. There are no
 * numbers of calls: which reply subjects are waited for is kept, by hashes.
 */
#include "capture/protocol/path-label.h"
#include "capture/protocol/protocol.h"
#include "capture/protocol/values.h"

#include <string.h>

#include "base/hash.h"

enum {
        MAX_LINE = 8192,     /* bytes; servers allow 4,096 by default, */
        MAX_JSON = 65536,    /* and more of INFO, which names the servers of a cluster */
        MAX_SIZE = 64 << 20, /* of a payload: what servers can be told to allow */
        MAX_CONTENT = 4096,  /* how many of its bytes are looked at */
        MAX_WORDS = 5,       /* after the verb */
        MAX_WAITING = 4096,  /* replies: that is known of twice as many, */
        MAX_SUBSCRIPTIONS = 4096,
        /* Of a connection's requests, or a subscription's deliveries: after this number without
         * one that is answered nobody answers them. JetStream stops at 1,000 by default. */
        MAX_UNANSWERED = 1024,
};

typedef enum { INFO, CONNECT, PUB, HPUB, SUB, UNSUB, MSG, HMSG, PING, PONG, OK, ERR } Verb;

enum { JSON = 255 }; /* a number of words: the rest of the line is no words */

/* payload: how many of the last words are lengths. */
static const struct {
        const char *name;
        guint8 sender, least, most, payload;
} verbs[] = {
        /* Servers speak so to each other, too: who calls is not known by it. */
        [INFO] = { "INFO", SENDER_ANY, JSON, JSON, 0 },
        [CONNECT] = { "CONNECT", SENDER_ANY, JSON, JSON, 0 },
        [PUB] = { "PUB", SENDER_CLIENT, 2, 3, 1 },
        [HPUB] = { "HPUB", SENDER_CLIENT, 3, 4, 2 },
        [SUB] = { "SUB", SENDER_CLIENT, 2, 3, 0 },
        [UNSUB] = { "UNSUB", SENDER_CLIENT, 1, 2, 0 },
        [MSG] = { "MSG", SENDER_SERVER, 3, 4, 1 },
        [HMSG] = { "HMSG", SENDER_SERVER, 4, 5, 2 },
        [PING] = { "PING", SENDER_ANY, 0, 0, 0 },
        [PONG] = { "PONG", SENDER_ANY, 0, 0, 0 },
        [OK] = { "+OK", SENDER_ANY, 0, 0, 0 },
        [ERR] = { "-ERR", SENDER_ANY, JSON, JSON, 0 },
};

/* What a reply is, that is waited for. */
typedef enum {
        REPLY_RETURN,
        REPLY_SHARED, /* several wait for it: none of them is known to be answered */
        REPLY_NOTHING /* what it is for is no call */
} ReplyRole;

/* By a hash of its subject. */
typedef struct {
        gint64 subject;
        guint64 key;          /* of the call */
        guint64 subscription; /* of what was delivered: a hash */
        guint8 role;          /* ReplyRole */
} Reply;

/* What can be said of calls that are made alike. */
typedef struct {
        guint32 unanswered; /* calls before the first that was answered */
        guint8 answered;
} Habit;

/* What is kept of a connection. Of replies, by Sender of the call: the older are dropped when there
 * are too many. */
typedef struct {
        GHashTable *newer[2], *older[2]; /* of Reply, by subject */
        Habit requests;
        GHashTable *deliveries; /* of Habit, by subscription */
        guint64 calls;
} Nats;

typedef struct {
        guint8 sender; /* Sender */
} NatsState;

G_STATIC_ASSERT(sizeof(NatsState) <= PROTOCOL_STATE_SIZE);

typedef struct {
        Verb verb;
        gsize length; /* with its end */
        Cursor word[MAX_WORDS];
        guint n_words;
        guint32 size; /* of the payload, */
        guint32 head; /* of its headers, */
        gsize needed; /* and of what must be there, with the end of one that is looked at whole */
} Line;

/* --- lines ------------------------------------------------------------------- */

/* The verb that bytes begin with; -1: none, and *more where there may be one. */
static gint verb_find(const guint8 *bytes, gsize n, gboolean *more)
{
        *more = FALSE;
        for (guint i = 0; i < G_N_ELEMENTS(verbs); i++) {
                gsize length = strlen(verbs[i].name);
                if (g_ascii_strncasecmp((const char *)bytes, verbs[i].name, MIN(n, length)) != 0)
                        continue;
                if (n <= length)
                        *more = TRUE;
                else if (bytes[length] == ' ' || bytes[length] == '\t' || bytes[length] == '\r')
                        return (gint)i;
        }
        return -1;
}

static gboolean nats_is_blank(guint8 byte)
{
        return byte == ' ' || byte == '\t';
}

/* The first byte that stands in no line. */
static const guint8 *line_end(const guint8 *at, const guint8 *end)
{
        while (at < end && (*at >= ' ' || *at == '\t') && *at != 0x7f)
                at++;
        return at;
}

/* FALSE: there are more of them than a line can have. */
static gboolean words_read(const guint8 *at, const guint8 *end, Line *line)
{
        while (at < end) {
                const guint8 *from = at;
                while (at < end && !nats_is_blank(*at))
                        at++;
                if (at > from) {
                        if (line->n_words == MAX_WORDS)
                                return FALSE;
                        line->word[line->n_words++] = cursor(from, (gsize)(at - from));
                }
                while (at < end && nats_is_blank(*at))
                        at++;
        }
        return TRUE;
}

static gboolean nats_number_read(Cursor word, guint32 *number)
{
        enum { DIGITS = 9 };
        *number = 0;
        for (const guint8 *p = word.at; p < word.end; p++) {
                if (!g_ascii_isdigit(*p) || cursor_left(&word) > DIGITS)
                        return FALSE;
                *number = *number * 10 + (*p - '0');
        }
        return cursor_left(&word) > 0;
}

/* Words with dots between them. */
static gboolean is_subject(Cursor word)
{
        for (const guint8 *p = word.at; p < word.end; p++)
                if (*p == '.' && (p == word.at || p + 1 == word.end || p[1] == '.'))
                        return FALSE;
        return cursor_left(&word) > 0;
}

/* The lengths, which stand last. */
static gboolean sizes_read(Line *line)
{
        guint n = verbs[line->verb].payload;
        if (!nats_number_read(line->word[line->n_words - 1], &line->size) || line->size > MAX_SIZE)
                return FALSE;
        if (n == 2 && (!nats_number_read(line->word[line->n_words - 2], &line->head) ||
                       line->head > line->size))
                return FALSE;
        line->n_words -= n;
        line->needed = MIN(line->size, (gsize)MAX_CONTENT) + (line->size > MAX_CONTENT ? 0 : 2);
        return TRUE;
}

static ParseStatus nats_line_read(const guint8 *bytes, gsize n, Line *line)
{
        gboolean more;
        gint verb = verb_find(bytes, n, &more);
        if (verb < 0)
                return more ? PARSE_MORE : PARSE_NOT_MINE;
        *line = (Line){ .verb = (Verb)verb };
        gsize name = strlen(verbs[verb].name);
        gboolean json = verbs[verb].most == JSON;
        gsize most = json ? MAX_JSON : MAX_LINE;
        const guint8 *end = line_end(bytes + name, bytes + MIN(n, most));
        if (end == bytes + MIN(n, most))
                return n < most ? PARSE_MORE : PARSE_NOT_MINE;
        if (*end != '\r' || (end + 1 < bytes + n && end[1] != '\n'))
                return PARSE_NOT_MINE;
        if (end + 1 == bytes + n)
                return PARSE_MORE;
        line->length = (gsize)(end + 2 - bytes);
        if (json)
                return PARSE_MESSAGE;
        if (!words_read(bytes + name, end, line) || line->n_words < verbs[verb].least ||
            line->n_words > verbs[verb].most || (verbs[verb].payload && !sizes_read(line)))
                return PARSE_NOT_MINE;
        return verb == UNSUB || line->n_words == 0 || is_subject(line->word[0]) ? PARSE_MESSAGE
                                                                                : PARSE_NOT_MINE;
}

/* As much of the payload as is looked at. PARSE_MESSAGE where the packet is cut before that: then
 * *payload has less. */
static ParseStatus payload_read(const Line *line, const guint8 *bytes, gsize n, gboolean cut,
                                Cursor *payload)
{
        gsize there = n - line->length, looked_at = MIN(line->size, (gsize)MAX_CONTENT);
        *payload = cursor(bytes + line->length, MIN(there, looked_at));
        if (there < line->needed)
                return cut ? PARSE_MESSAGE : PARSE_MORE;
        return line->needed > looked_at && memcmp(payload->end, "\r\n", 2) != 0 ? PARSE_NOT_MINE
                                                                                : PARSE_MESSAGE;
}

/* --- recognising ------------------------------------------------------------- */

/* An object, and blanks around it. */
static gboolean is_json(const guint8 *at, const guint8 *end)
{
        while (at < end && nats_is_blank(*at))
                at++;
        while (at < end && nats_is_blank(end[-1]))
                end--;
        return end - at >= 2 && *at == '{' && end[-1] == '}';
}

/* Whether the line can be of nothing else: other protocols have PING, +OK and -ERR, too. */
static gboolean nats_is_sure(const Line *line, const guint8 *bytes)
{
        gsize name = strlen(verbs[line->verb].name);
        guint32 number;
        if (memcmp(bytes, verbs[line->verb].name, name) != 0) /* in small letters */
                return FALSE;
        switch (line->verb) {
        case INFO:
        case CONNECT:
                return is_json(bytes + name, bytes + line->length - 2);
        case SUB:
                return nats_number_read(line->word[line->n_words - 1], &number);
        case UNSUB:
                return nats_number_read(line->word[0], &number);
        case PUB:
        case HPUB:
        case MSG:
        case HMSG:
                return TRUE;
        case PONG:
                return line->length == name + 2;
        default:
                return FALSE;
        }
}

/* PARSE_MESSAGE where there is a sure line, after pings at most. */
static ParseStatus nats_recognise(const guint8 *bytes, gsize n, gboolean cut)
{
        Line line;
        Cursor payload;
        for (gsize at = 0; at < n; at += line.length) {
                ParseStatus status = nats_line_read(bytes + at, n - at, &line);
                if (status != PARSE_MESSAGE)
                        return status;
                if (nats_is_sure(&line, bytes + at))
                        return verbs[line.verb].payload
                                       ? payload_read(&line, bytes + at, n - at, cut, &payload)
                                       : PARSE_MESSAGE;
                if (line.verb != PING)
                        return PARSE_NOT_MINE;
        }
        return PARSE_NOT_MINE;
}

/* --- subjects ---------------------------------------------------------------- */

static const char inbox[] = "_INBOX.";
static const char header_version[] = "NATS/1.0 "; /* of headers; with a blank it has a status */

/* Where in a subject the part begins that clients make up for one reply. Servers may put
 * something before it. NULL: there is none. */
static const guint8 *inbox_find(Cursor subject)
{
        const guint8 *at = memmem(subject.at, cursor_left(&subject), inbox, sizeof inbox - 1);
        return at == subject.at || (at && at[-1] == '.') ? at : NULL;
}

static gboolean is_ack(Cursor subject)
{
        return cursor_begins(&subject, "$JS.ACK.");
}

/* A consumer asks for its next messages, which do not come by the subject of the reply. Between the
 * words there may be a domain. */
static gboolean is_pull(Cursor subject)
{
        static const char next[] = ".API.CONSUMER.MSG.NEXT.";
        return cursor_begins(&subject, "$JS.") &&
               memmem(subject.at, cursor_left(&subject), next, sizeof next - 1);
}

/* Without what names one thing rather than a kind. */
static void nats_label_append(GString *label, const char *what, Cursor subject)
{
        if (!label)
                return;
        g_string_append(label, what);
        for (char before = ' '; cursor_left(&subject) > 0; before = '.') {
                const guint8 *dot = memchr(subject.at, '.', cursor_left(&subject));
                gsize n = dot ? (gsize)(dot - subject.at) : cursor_left(&subject);
                if (label->len + n >= MAX_PATH_LABEL)
                        return;
                g_string_append_c(label, before);
                if (path_segment_is_id(subject.at, n))
                        g_string_append(label, "{id}");
                else
                        g_string_append_len(label, (const char *)subject.at, (gssize)n);
                if (subject.at == inbox_find(subject))
                        return;
                cursor_skip(&subject, n + (dot != NULL));
        }
}

static guint64 nats_hash_text(guint64 h, Cursor text)
{
        return hash_word(h, hash_bytes((const char *)text.at, cursor_left(&text)));
}

/* --- replies ----------------------------------------------------------------- */

static guint direction(Sender caller)
{
        return caller == SENDER_SERVER;
}

/* NULL: nobody waits for it. */
static Reply *reply_find(const Nats *nats, Sender caller, Cursor subject)
{
        guint d = direction(caller);
        gint64 hash = (gint64)nats_hash_text(HASH_SEED, subject);
        Reply *reply = nats->newer[d] ? g_hash_table_lookup(nats->newer[d], &hash) : NULL;
        return reply || !nats->older[d] ? reply : g_hash_table_lookup(nats->older[d], &hash);
}

static void reply_remove(const Nats *nats, Sender caller, const Reply *reply)
{
        guint d = direction(caller);
        gint64 hash = reply->subject;
        if (!g_hash_table_remove(nats->newer[d], &hash) && nats->older[d])
                g_hash_table_remove(nats->older[d], &hash);
}

/* It is waited for from now on, and was not before. */
static Reply *reply_add(Nats *nats, Sender caller, Cursor subject, ReplyRole role)
{
        guint d = direction(caller);
        Reply *reply = g_new0(Reply, 1);
        if (nats->newer[d] && g_hash_table_size(nats->newer[d]) >= MAX_WAITING) {
                g_clear_pointer(&nats->older[d], g_hash_table_destroy);
                nats->older[d] = g_steal_pointer(&nats->newer[d]);
        }
        if (!nats->newer[d])
                nats->newer[d] = g_hash_table_new_full(hash_int64, g_int64_equal, NULL, g_free);
        reply->subject = (gint64)nats_hash_text(HASH_SEED, subject);
        reply->role = (guint8)role;
        g_hash_table_insert(nats->newer[d], &reply->subject, reply);
        return reply;
}

/* What comes by this subject answers no call. */
static void reply_expect_nothing(Nats *nats, Sender caller, Cursor subject)
{
        if (!reply_find(nats, caller, subject))
                reply_add(nats, caller, subject, REPLY_NOTHING);
}

/* NULL: of more subscriptions than are kept. */
static Habit *habit_of_delivery(Nats *nats, guint64 subscription)
{
        if (!nats->deliveries)
                nats->deliveries = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, g_free);
        Habit *habit = g_hash_table_lookup(nats->deliveries, &subscription);
        if (!habit && g_hash_table_size(nats->deliveries) < MAX_SUBSCRIPTIONS) {
                habit = g_new0(Habit, 1);
                g_hash_table_insert(nats->deliveries, g_memdup2(&subscription, sizeof subscription),
                                    habit);
        }
        return habit;
}

static Habit *habit_of(Nats *nats, Sender caller, guint64 subscription)
{
        return caller == SENDER_CLIENT ? &nats->requests : habit_of_delivery(nats, subscription);
}

/* --- messages ---------------------------------------------------------------- */

/* The outcome that a reply says: a status after the version of its headers, or that a delivery is
 * not done. */
static Outcome reply_outcome(Cursor payload)
{
        enum { DIGITS = 3 };
        guint32 status;
        if (cursor_begins(&payload, "-NAK"))
                return outcome_named("NAK");
        if (cursor_begins(&payload, "+TERM"))
                return outcome_named("TERM");
        if (cursor_begins(&payload, header_version) &&
            cursor_left(&payload) >= sizeof header_version - 1 + DIGITS &&
            nats_number_read(cursor(payload.at + sizeof header_version - 1, DIGITS), &status) &&
            status >= 400)
                return outcome_number(NUMBERS_NATS, status);
        return OUTCOME_OK;
}

/* What waited for it has its return. FALSE: it is none. */
static gboolean nats_answer(Nats *nats, Sender caller, Cursor subject, Cursor payload,
                            Parsed *parsed)
{
        Reply *reply = reply_find(nats, caller, subject);
        if (!reply || reply->role == REPLY_SHARED)
                return FALSE;
        if (reply->role == REPLY_NOTHING) {
                parsed->kind = KIND_SESSION;
                return TRUE;
        }
        Habit *habit = habit_of(nats, caller, reply->subscription);
        if (habit)
                habit->answered = TRUE;
        parsed_set_keyed(parsed, KIND_RETURN, PART_ENDS, reply->key);
        parsed->outcome = reply_outcome(payload);
        reply_remove(nats, caller, reply);
        return TRUE;
}

/* Whether what waits for this reply is a call, and the key of that. One of several that wait for
 * the same is not: several subscriptions have got what one reply will answer, or the replies of
 * several requests come by one subject. */
static gboolean nats_call_begin(Nats *nats, Sender caller, Cursor subject, guint64 subscription,
                                guint64 key)
{
        Reply *reply = reply_find(nats, caller, subject);
        Habit *habit = habit_of(nats, caller, subscription);
        if (reply) {
                if (reply->role == REPLY_RETURN && reply->subscription == subscription)
                        reply->role = REPLY_SHARED;
                return FALSE;
        }
        if (habit && !habit->answered && habit->unanswered >= MAX_UNANSWERED)
                return FALSE;
        if (habit)
                habit->unanswered++;
        reply = reply_add(nats, caller, subject, REPLY_RETURN);
        reply->key = key;
        reply->subscription = subscription;
        return TRUE;
}

/* What a message that is no reply carries. A request is known by its reply subject; with a cut
 * payload by that alone, if it was made up for it. JetStream puts another in its place, so what is
 * stored is known by subject and payload. */
static void content_set(const Line *line, Cursor reply, Cursor payload, Parsed *parsed)
{
        gboolean seen = cursor_left(&payload) == MIN(line->size, (gsize)MAX_CONTENT);
        const guint8 *made_up = inbox_find(reply);
        guint64 content = nats_hash_text(
                nats_hash_text(hash_word(HASH_SEED, line->size), line->word[0]), payload);
        if (cursor_left(&reply) == 0 || is_ack(reply)) {
                parsed->carried.content = seen ? MAX(content, 1) : 0;
                return;
        }
        if (made_up)
                parsed->carried.content = MAX(
                        nats_hash_text(HASH_SEED, cursor(made_up, (gsize)(reply.end - made_up))),
                        1);
        else
                parsed->carried.content = seen ? MAX(nats_hash_text(content, reply), 1) : 0;
        parsed->carried.content_else = seen ? MAX(content, 1) : 0;
}

/* A message to a subject, of a client or of the server. */
static void nats_message_read(Nats *nats, Sender caller, const Line *line, Cursor reply,
                              guint64 subscription, Cursor payload, GString *label, Parsed *parsed)
{
        guint64 key = ++nats->calls;
        gboolean is_call =
                cursor_left(&reply) > 0 && nats_call_begin(nats, caller, reply, subscription, key);
        parsed_set_keyed(parsed, is_call ? KIND_CALL : KIND_ONE_WAY,
                         PART_BEGINS | PART_ENDS | PART_BY_PLACE, key);
        nats_label_append(label, caller == SENDER_CLIENT ? "publish" : "deliver", line->word[0]);
        content_set(line, reply, payload, parsed);
}

static void nats_publish_read(Nats *nats, const Line *line, Cursor payload, GString *label,
                              Parsed *parsed)
{
        static const char working[] = "+WPI"; /* not done yet */
        Cursor subject = line->word[0];
        Cursor reply = line->n_words > 1 ? line->word[1] : cursor(subject.end, 0);
        if (is_ack(subject)) {
                if (cursor_begins(&payload, working))
                        return;
                if (!nats_answer(nats, SENDER_SERVER, subject, payload, parsed))
                        parsed_set_keyed(parsed, KIND_RETURN, PART_ENDS, 0); /* of one not seen */
        } else if (is_pull(subject)) {
                parsed->kind = KIND_SESSION;
        } else if (cursor_begins(&subject, "$JS.FC.")) { /* flow control */
                return;
        } else {
                if (!nats_answer(nats, SENDER_SERVER, subject, payload, parsed))
                        nats_message_read(nats, SENDER_CLIENT, line, reply, 0, payload, label,
                                          parsed);
                return;
        }
        if (cursor_left(&reply) > 0)
                reply_expect_nothing(nats, SENDER_CLIENT, reply);
}

static void delivery_read(Nats *nats, const Line *line, Cursor payload, GString *label,
                          Parsed *parsed)
{
        Cursor reply = line->n_words > 2 ? line->word[2] : cursor(line->word[0].end, 0);
        if (nats_answer(nats, SENDER_CLIENT, line->word[0], payload, parsed))
                return;
        if (line->verb == HMSG && cursor_begins(&payload, header_version)) {
                parsed->kind = KIND_SESSION;
                return;
        }
        nats_message_read(nats, SENDER_SERVER, line, reply,
                          nats_hash_text(HASH_SEED, line->word[1]), payload, label, parsed);
}

/* Whether TLS may begin after this INFO: if it is the first. */
static gboolean may_encrypt(const Line *line, const guint8 *bytes)
{
        static const char *const words[] = { "\"tls_required\":true", "\"tls_available\":true" };
        for (guint i = 0; i < G_N_ELEMENTS(words); i++)
                if (memmem(bytes, line->length, words[i], strlen(words[i])))
                        return TRUE;
        return FALSE;
}

static Nats *nats_get(gpointer *memory)
{
        if (!*memory)
                *memory = g_new0(Nats, 1);
        return *memory;
}

static ParseStatus nats_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                              gboolean eof, GString *label, Parsed *parsed)
{
        NatsState *s = state;
        Line line;
        Cursor payload = cursor(bytes, 0);
        if (eof)
                return PARSE_NOT_MINE; /* within a line, or a payload */
        if (n == 0)
                return PARSE_MORE;
        if (call == CALL_PROBE) {
                ParseStatus status = nats_recognise(bytes, n, parsed->cut);
                if (status != PARSE_MESSAGE)
                        return status;
        }
        ParseStatus status = nats_line_read(bytes, n, &line);
        if (status == PARSE_MESSAGE && verbs[line.verb].payload)
                status = payload_read(&line, bytes, n, parsed->cut, &payload);
        if (status != PARSE_MESSAGE)
                return status;
        if (verbs[line.verb].sender != SENDER_ANY)
                s->sender = verbs[line.verb].sender;
        if (s->sender != SENDER_ANY)
                parsed->sender = s->sender;
        parsed->kind = KIND_CONTROL;
        parsed->length = line.length + (verbs[line.verb].payload ? line.size + (guint64)2 : 0);
        Nats *nats = line.verb != INFO && parsed->memory ? nats_get(parsed->memory) : NULL;
        switch (line.verb) {
        case INFO:
                parsed->switches = parsed->memory && !*parsed->memory && may_encrypt(&line, bytes);
                /* FALLTHROUGH */
        case CONNECT:
        case SUB:
        case UNSUB:
        case ERR:
                parsed->kind = KIND_SESSION;
                break;
        case PUB:
        case HPUB:
                if (nats)
                        nats_publish_read(nats, &line, payload, label, parsed);
                break;
        case MSG:
        case HMSG:
                if (nats)
                        delivery_read(nats, &line, payload, label, parsed);
                break;
        default:
                break;
        }
        return PARSE_MESSAGE;
}

/* Where a line begins. */
static gsize nats_find_boundary(const guint8 *bytes, gsize n)
{
        Line line;
        for (gsize at = 0; at < n;) {
                if (nats_line_read(bytes + at, n - at, &line) != PARSE_NOT_MINE)
                        return at;
                const guint8 *end = memmem(bytes + at, n - at, "\r\n", 2);
                if (!end)
                        return n;
                at = (gsize)(end + 2 - bytes);
        }
        return n;
}

static void nats_forget(gpointer memory)
{
        Nats *nats = memory;
        for (guint d = 0; d < 2; d++) {
                g_clear_pointer(&nats->newer[d], g_hash_table_destroy);
                g_clear_pointer(&nats->older[d], g_hash_table_destroy);
        }
        g_clear_pointer(&nats->deliveries, g_hash_table_destroy);
        g_free(nats);
}

/* The subject, headers and the payload of a message. */
static void nats_values(GString *text, G_GNUC_UNUSED gpointer *memory, const guint8 *bytes, gsize n)
{
        Line line;
        Cursor payload;
        if (nats_line_read(bytes, n, &line) != PARSE_MESSAGE || !verbs[line.verb].payload)
                return;
        g_string_append_len(text, (const char *)line.word[0].at,
                            (gssize)cursor_left(&line.word[0]));
        g_string_append_c(text, '\n');
        payload = cursor(bytes + line.length, MIN(n - line.length, line.size));
        if (line.head > 0 && line.head <= cursor_left(&payload)) {
                const guint8 *end = memchr(payload.at, '\n', line.head);
                gsize first = end ? (gsize)(end - payload.at) + 1 : line.head;
                values_append_headers(text, payload.at + first, line.head - first);
                cursor_skip(&payload, line.head);
        }
        values_append_argument(text, payload.at, cursor_left(&payload));
}

const Protocol protocol_nats = {
        .name = "nats",
        .values = nats_values,
        .keyed = TRUE,
        .mutual = TRUE,
        .parse = nats_parse,
        .find_boundary = nats_find_boundary,
        .forget = nats_forget,
};
