/* SPDX-License-Identifier: BSD-2-Clause
 *
 * MongoDB (https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/): requests with
 * ids, and answers that say to which id. Its numbers are little-endian. A command is a call, and so
 * are a legacy query and a legacy getMore. Writes that nobody acknowledges are one-way. An exhaust
 * answer is many messages, each of which refers to the one before: parts of one return.
 * Greetings (hello) and authentication are of the session; so is a hello that streams.
 *
 * The label is the command with its collection. It is in the first bytes, also where these are
 * compressed.
 */
#include "capture/protocol/protocol.h"
#include "capture/protocol/unpack.h"
#include "capture/protocol/values.h"

#include <string.h>

enum {
        OP_REPLY = 1,
        OP_UPDATE = 2001,
        OP_INSERT = 2002,
        OP_QUERY = 2004,
        OP_GET_MORE = 2005,
        OP_DELETE = 2006,
        OP_KILL_CURSORS = 2007,
        OP_COMPRESSED = 2012,
        OP_MSG = 2013,

        HEADER = 16,
        COMPRESSED_HEADER = 9, /* operation, its size, and how it is compressed */
        MAX_MESSAGE = 48000000 + 16384,
        MAX_NAMESPACE = 256,
        MAX_NAME = 64, /* of a command or another first field, by which a message is recognised */
        MIN_DOCUMENT = 5,
        LOOK = 4096,          /* bytes of a message that are looked at, */
        LOOK_PACKED = 131072, /* and of a compressed one: zstd has such blocks */
        SESSIONS = 4,

        MSG_CHECKSUM = 1,
        MSG_MORE_TO_COME = 2,
        MSG_EXHAUST_ALLOWED = 1 << 16,
        QUERY_EXHAUST = 1 << 6,
        REPLY_FLAGS = 15,
        QUERY_FAILURE = 2,

        TYPE_DOUBLE = 1,
        TYPE_STRING = 2,
        TYPE_DOCUMENT = 3,
        TYPE_ARRAY = 4,
        TYPE_BINARY = 5,
        TYPE_OBJECT_ID = 7,
        TYPE_BOOL = 8,
        TYPE_REGEX = 11,
        TYPE_POINTER = 12,
        TYPE_CODE_SCOPE = 15,
        TYPE_INT = 16,
        TYPE_LONG = 18,

        CODE_UNKNOWN = 8, /* UnknownError */
        MAX_DEPTH = 16,
};

typedef struct {
        guint32 sessions[SESSIONS]; /* client: the latest requests that are of the session */
        guint32 exhaust;            /* client: the latest query that asked for an exhaust answer */
        guint32 next; /* server: what the rest of an exhaust answer refers to; 0: none */
        guint32 key;  /* server: the request that is answered so */
        guint8 n_sessions;
        guint8 of_session; /* server: that request is of the session */
} MongoState;

G_STATIC_ASSERT(sizeof(MongoState) <= PROTOCOL_STATE_SIZE);

typedef struct {
        guint32 length, id, answers, operation;
        guint32 flags;
        Cursor rest;    /* after the header, as far as it is looked at, unpacked */
        gboolean whole; /* that is everything */
} MongoMessage;

/* --- BSON ------------------------------------------------------------------ */

static guint32 little_u32(const guint8 *p)
{
        return (guint32)p[3] << 24 | (guint32)p[2] << 16 | (guint32)p[1] << 8 | p[0];
}

static gboolean cursor_little_u32(Cursor *c, guint32 *value)
{
        const guint8 *p = cursor_take(c, 4);
        if (p)
                *value = little_u32(p);
        return p != NULL;
}

/* A text that ends with NUL, whose characters may stand in names. PARSE_MORE: its end is not
 * there. */
static ParseStatus name_read(Cursor *c, gsize most, Cursor *name)
{
        gsize left = MIN(cursor_left(c), most + 1);
        *name = cursor(c->at, 0);
        for (; left > 0; left--) {
                guint8 byte = *c->at++;
                if (byte == 0)
                        return PARSE_MESSAGE;
                if (byte < ' ' || byte == 0x7f)
                        return PARSE_NOT_MINE;
                name->end = c->at;
        }
        return cursor_left(name) > most ? PARSE_NOT_MINE : PARSE_MORE;
}

typedef struct {
        guint8 type;
        Cursor name, value; /* as far as it is there */
        gboolean whole;     /* the value is */
} Element;

/* Bytes of a value of this type at c. FALSE: not to be known. */
static gboolean value_size(guint8 type, Cursor c, gsize *size)
{
        static const guint8 fixed[] = {
                [TYPE_DOUBLE] = 8, [TYPE_OBJECT_ID] = 12, [TYPE_BOOL] = 1, [9] = 8, [TYPE_INT] = 4,
                [17] = 8,          [TYPE_LONG] = 8,       [19] = 16
        };
        guint32 n;
        switch (type) {
        case TYPE_REGEX:
                for (guint i = 0; i < 2; i++) {
                        const guint8 *end = memchr(c.at, 0, cursor_left(&c));
                        if (!end)
                                return FALSE;
                        *size = (i ? *size : 0) + (gsize)(end + 1 - c.at);
                        c.at = end + 1;
                }
                return TRUE;
        case TYPE_DOCUMENT:
        case TYPE_ARRAY:
        case TYPE_CODE_SCOPE:
                return cursor_little_u32(&c, &n) && (*size = n) >= MIN_DOCUMENT;
        case TYPE_STRING:
        case TYPE_BINARY:
        case TYPE_POINTER:
        case 13: /* code, */
        case 14: /* and symbols */
                if (!cursor_little_u32(&c, &n))
                        return FALSE;
                *size = (gsize)n + 4 + (type == TYPE_BINARY ? 1 : type == TYPE_POINTER ? 12 : 0);
                return TRUE;
        default:
                *size = type < G_N_ELEMENTS(fixed) ? fixed[type] : 0;
                return TRUE;
        }
}

/* The next element, at least with its type and name. */
static gboolean element_next(Cursor *c, Element *e)
{
        gsize size;
        if (!cursor_u8(c, &e->type) || e->type == 0 ||
            name_read(c, LOOK, &e->name) != PARSE_MESSAGE || !value_size(e->type, *c, &size))
                return FALSE;
        e->whole = size <= cursor_left(c);
        return cursor_part(c, MIN(size, cursor_left(c)), &e->value);
}

static gboolean element_is(const Element *e, const char *name)
{
        return cursor_left(&e->name) == strlen(name) && cursor_begins(&e->name, name);
}

/* The elements of the document at c, as far as they are there. */
static gboolean document_open(Cursor c, Cursor *elements)
{
        guint32 n;
        if (!cursor_little_u32(&c, &n) || n < MIN_DOCUMENT)
                return FALSE;
        *elements = cursor(c.at, MIN(cursor_left(&c), (gsize)n - 4));
        return TRUE;
}

static gboolean element_open(const Element *e, Cursor *elements)
{
        return (e->type == TYPE_DOCUMENT || e->type == TYPE_ARRAY) &&
               document_open(e->value, elements);
}

/* A whole number, or one that a double holds. FALSE: it is none. */
static gboolean element_number(const Element *e, gint64 *value)
{
        guint64 bits = 0;
        double d;
        if (!e->whole || (e->type != TYPE_DOUBLE && e->type != TYPE_INT && e->type != TYPE_LONG &&
                          e->type != TYPE_BOOL))
                return FALSE;
        for (gsize i = cursor_left(&e->value); i-- > 0;)
                bits = bits << 8 | e->value.at[i];
        *value = e->type == TYPE_INT ? (gint32)bits : (gint64)bits;
        if (e->type == TYPE_DOUBLE) {
                memcpy(&d, &bits, sizeof d);
                *value = d > -1e9 && d < 1e9 ? (gint64)d : d != 0;
        }
        return TRUE;
}

/* A string without its NUL. FALSE: it is none, or not all there. */
static gboolean element_string(const Element *e, Cursor *text)
{
        if (e->type != TYPE_STRING || !e->whole || cursor_left(&e->value) < 5)
                return FALSE;
        *text = cursor(e->value.at + 4, cursor_left(&e->value) - 5);
        return TRUE;
}

/* --- messages -------------------------------------------------------------- */

static gboolean operation_is_known(guint32 operation)
{
        return operation == OP_REPLY || operation == OP_MSG || operation == OP_COMPRESSED ||
               (operation >= OP_UPDATE && operation <= OP_KILL_CURSORS && operation != 2003);
}

/* Unpacks the first bytes of a compressed message into unpacked, of LOOK bytes. */
static gboolean message_unpack(MongoMessage *m, guint8 *unpacked)
{
        static const Packing packings[] = { PACKED_SNAPPY, PACKED_ZLIB, PACKED_ZSTD };
        guint32 size;
        guint8 packing;
        Cursor c = m->rest;
        if (!cursor_little_u32(&c, &m->operation) || !cursor_little_u32(&c, &size) ||
            !cursor_u8(&c, &packing) || !operation_is_known(m->operation) ||
            m->operation == OP_COMPRESSED || size > MAX_MESSAGE || packing > G_N_ELEMENTS(packings))
                return FALSE;
        m->rest = packing == 0 ? c
                               : cursor(unpacked, unpack(packings[packing - 1], c.at,
                                                         cursor_left(&c), unpacked, LOOK));
        m->whole = cursor_left(&m->rest) >= size;
        return TRUE;
}

/* The header alone decides whether bytes may be a message. PARSE_MORE: not all that is looked at is
 * there. cut: no more will be. */
static ParseStatus mongodb_message_read(const guint8 *bytes, gsize n, gboolean cut,
                                        guint8 *unpacked, MongoMessage *m)
{
        if (n >= 4 && (little_u32(bytes) < HEADER + MIN_DOCUMENT || bytes[3] > MAX_MESSAGE >> 24))
                return PARSE_NOT_MINE;
        if (n < HEADER)
                return n > 13 && bytes[13] > OP_MSG >> 8 ? PARSE_NOT_MINE : PARSE_MORE;
        *m = (MongoMessage){ .length = little_u32(bytes),
                             .id = little_u32(bytes + 4),
                             .answers = little_u32(bytes + 8),
                             .operation = little_u32(bytes + 12) };
        if (!operation_is_known(m->operation) || m->length > MAX_MESSAGE)
                return PARSE_NOT_MINE;
        gsize look = MIN(m->length, (gsize)(m->operation == OP_COMPRESSED ? LOOK_PACKED : LOOK));
        if (n < look && !cut)
                return PARSE_MORE;
        m->rest = cursor(bytes + HEADER, MIN(n, look) - HEADER);
        m->whole = look == m->length && n >= look;
        if (m->operation == OP_COMPRESSED && !message_unpack(m, unpacked))
                return cut && cursor_left(&m->rest) < COMPRESSED_HEADER ? PARSE_MESSAGE
                                                                        : PARSE_NOT_MINE;
        Cursor c = m->rest;
        if (m->operation == OP_MSG)
                cursor_little_u32(&c, &m->flags);
        return PARSE_MESSAGE;
}

/* The document of a message that has command or answer. FALSE: it has none, or it is not there. */
static gboolean message_document(const MongoMessage *m, Cursor *elements)
{
        Cursor c = m->rest, name;
        guint8 section;
        guint32 size;
        switch (m->operation) {
        case OP_MSG:
                if (!cursor_skip(&c, 4))
                        return FALSE;
                while (cursor_u8(&c, &section)) {
                        if (section == 0)
                                return document_open(c, elements);
                        if (section > 2 || !cursor_little_u32(&c, &size) || size < 4 ||
                            !cursor_skip(&c, size - 4))
                                return FALSE;
                }
                return FALSE;
        case OP_REPLY:
                return cursor_skip(&c, 20) && document_open(c, elements);
        case OP_QUERY:
                return cursor_skip(&c, 4) && name_read(&c, MAX_NAMESPACE, &name) == PARSE_MESSAGE &&
                       cursor_skip(&c, 8) && document_open(c, elements);
        default:
                return FALSE;
        }
}

/* Database and collection of a legacy operation. */
static gboolean message_namespace(const MongoMessage *m, Cursor *name)
{
        Cursor c = m->rest;
        return m->operation != OP_MSG && m->operation != OP_REPLY &&
               m->operation != OP_KILL_CURSORS && cursor_skip(&c, 4) &&
               name_read(&c, MAX_NAMESPACE, name) == PARSE_MESSAGE;
}

/* --- recognising ----------------------------------------------------------- */

/* Whether a document begins at c, with an element that has a name. left: bytes of the message. */
static ParseStatus document_recognise(Cursor c, gsize left)
{
        guint32 n;
        guint8 type;
        Cursor name;
        if (!cursor_little_u32(&c, &n))
                return PARSE_MORE;
        if (n < MIN_DOCUMENT || n > left)
                return PARSE_NOT_MINE;
        if (!cursor_u8(&c, &type))
                return PARSE_MORE;
        if (type == 0 || (type > 19 && type != 0x7f && type != 0xff))
                return n == MIN_DOCUMENT && type == 0 ? PARSE_MESSAGE : PARSE_NOT_MINE;
        ParseStatus status = name_read(&c, MAX_NAME, &name);
        return status == PARSE_MESSAGE && cursor_left(&name) == 0 ? PARSE_NOT_MINE : status;
}

static ParseStatus msg_recognise(Cursor c, gsize left)
{
        guint32 flags, size;
        guint8 section;
        Cursor name;
        if (!cursor_little_u32(&c, &flags))
                return PARSE_MORE;
        if (flags & ~(guint32)(MSG_CHECKSUM | MSG_MORE_TO_COME | MSG_EXHAUST_ALLOWED))
                return PARSE_NOT_MINE;
        if (!cursor_u8(&c, &section))
                return PARSE_MORE;
        if (section == 0) { /* and no empty document */
                Cursor d = c;
                return cursor_little_u32(&d, &size) && size == MIN_DOCUMENT
                               ? PARSE_NOT_MINE
                               : document_recognise(c, left - 5);
        }
        if (section > 1)
                return PARSE_NOT_MINE;
        if (!cursor_little_u32(&c, &size))
                return PARSE_MORE;
        ParseStatus status = name_read(&c, MAX_NAME, &name);
        return status == PARSE_MESSAGE && (size > left - 5 || cursor_left(&name) == 0)
                       ? PARSE_NOT_MINE
                       : status;
}

static ParseStatus reply_recognise(Cursor c, gsize left)
{
        guint32 flags, n;
        if (!cursor_little_u32(&c, &flags))
                return PARSE_MORE;
        if (flags > REPLY_FLAGS)
                return PARSE_NOT_MINE;
        if (!cursor_skip(&c, 12) || !cursor_little_u32(&c, &n))
                return PARSE_MORE;
        if (n == 0 && left == 20)
                return PARSE_MESSAGE;
        return n > 0 && n <= left / MIN_DOCUMENT ? document_recognise(c, left - 20)
                                                 : PARSE_NOT_MINE;
}

/* A legacy operation: a word of flags, or 0, and the name of a database and collection. */
static ParseStatus legacy_recognise(guint32 operation, Cursor c, gsize left)
{
        guint32 flags;
        Cursor name;
        if (!cursor_little_u32(&c, &flags))
                return PARSE_MORE;
        if (operation == OP_KILL_CURSORS) {
                guint32 n;
                if (!cursor_little_u32(&c, &n))
                        return PARSE_MORE;
                return flags == 0 && n > 0 && left == 8 + 8 * (gsize)n ? PARSE_MESSAGE
                                                                       : PARSE_NOT_MINE;
        }
        if (flags > (operation == OP_QUERY ? 255 : operation == OP_INSERT ? 1 : 0))
                return PARSE_NOT_MINE;
        ParseStatus status = name_read(&c, MAX_NAMESPACE, &name);
        if (status != PARSE_MESSAGE)
                return status;
        if (!memchr(name.at, '.', cursor_left(&name)))
                return PARSE_NOT_MINE;
        gsize numbers = operation == OP_QUERY      ? 8
                        : operation == OP_GET_MORE ? 12
                        : operation == OP_INSERT   ? 0
                                                   : 4;
        gsize used = 4 + cursor_left(&name) + 1 + numbers;
        if (operation == OP_GET_MORE)
                return left == used ? PARSE_MESSAGE : PARSE_NOT_MINE;
        if (used + MIN_DOCUMENT > left)
                return PARSE_NOT_MINE;
        return cursor_skip(&c, numbers) ? document_recognise(c, left - used) : PARSE_MORE;
}

static ParseStatus compressed_recognise(Cursor c, gsize left)
{
        guint32 operation, size;
        guint8 packing;
        if (!cursor_little_u32(&c, &operation) || !cursor_little_u32(&c, &size) ||
            !cursor_u8(&c, &packing))
                return PARSE_MORE;
        return left > COMPRESSED_HEADER && operation_is_known(operation) &&
                               operation != OP_COMPRESSED && size >= MIN_DOCUMENT &&
                               size <= MAX_MESSAGE &&
                               (packing > 0 ? packing <= 3 : left == COMPRESSED_HEADER + size)
                       ? PARSE_MESSAGE
                       : PARSE_NOT_MINE;
}

/* PARSE_MESSAGE where the bytes begin with a message that is surely of MongoDB. */
static ParseStatus mongodb_recognise(const guint8 *bytes, gsize n)
{
        MongoMessage m;
        if (n < HEADER)
                return mongodb_message_read(bytes, n, TRUE, NULL, &m);
        guint32 length = little_u32(bytes), operation = little_u32(bytes + 12);
        if (length < HEADER + MIN_DOCUMENT || length > MAX_MESSAGE)
                return PARSE_NOT_MINE;
        gsize left = length - HEADER;
        Cursor c = cursor(bytes + HEADER, MIN(n - HEADER, left));
        ParseStatus status = !operation_is_known(operation) ? PARSE_NOT_MINE
                             : operation == OP_MSG          ? msg_recognise(c, left)
                             : operation == OP_REPLY        ? reply_recognise(c, left)
                             : operation == OP_COMPRESSED   ? compressed_recognise(c, left)
                                                            : legacy_recognise(operation, c, left);
        return status == PARSE_MORE && n >= length ? PARSE_NOT_MINE : status;
}

/* --- labels ---------------------------------------------------------------- */

static void mongodb_name_append(GString *label, Cursor name)
{
        g_string_append_c(label, ' ');
        g_string_append_len(label, (const char *)name.at, (gssize)cursor_left(&name));
}

/* Whether a command's own value is the name of a user or a role. */
static gboolean names_user(const Element *command)
{
        return memmem(command->name.at, cursor_left(&command->name), "User", 4) ||
               memmem(command->name.at, cursor_left(&command->name), "Role", 4);
}

/* The command, which is the first element, and its collection: its value, or else a field. */
static void command_label_append(GString *label, Cursor elements)
{
        Element command, e;
        Cursor text;
        if (!element_next(&elements, &command))
                return;
        if ((element_is(&command, "$query") || element_is(&command, "query")) &&
            element_open(&command, &elements)) {
                command_label_append(label, elements);
                return;
        }
        g_string_append_len(label, (const char *)command.name.at,
                            (gssize)cursor_left(&command.name));
        if (names_user(&command))
                return;
        if (element_string(&command, &text)) {
                mongodb_name_append(label, text);
                return;
        }
        while (element_is(&command, "getMore") && element_next(&elements, &e))
                if (element_is(&e, "collection") && element_string(&e, &text)) {
                        mongodb_name_append(label, text);
                        return;
                }
}

/* Where the command is too far away, what its documents are for tells it. */
static void sequence_label_append(GString *label, const MongoMessage *m)
{
        static const char *const sequences[][2] = { { "documents", "insert" },
                                                    { "updates", "update" },
                                                    { "deletes", "delete" } };
        Cursor c = m->rest, name;
        if (m->operation != OP_MSG || !cursor_skip(&c, 9) ||
            name_read(&c, MAX_NAME, &name) != PARSE_MESSAGE)
                return;
        for (guint i = 0; i < G_N_ELEMENTS(sequences); i++)
                if (cursor_begins(&name, sequences[i][0]))
                        g_string_append(label, sequences[i][1]);
}

static void mongodb_label_append(GString *label, const MongoMessage *m)
{
        static const char *const legacy[] = { "update", "insert", "", "find", "getMore", "delete" };
        Cursor elements, name, dot;
        if (message_namespace(m, &name)) {
                const guint8 *end = memchr(name.at, '.', cursor_left(&name));
                dot = end ? cursor(end + 1, (gsize)(name.end - end - 1)) : name;
                if (m->operation != OP_QUERY || !cursor_begins(&dot, "$cmd")) {
                        g_string_append(label, legacy[m->operation - OP_UPDATE]);
                        mongodb_name_append(label, dot);
                        return;
                }
        }
        if (m->operation == OP_KILL_CURSORS)
                g_string_append(label, "killCursors");
        else if (message_document(m, &elements))
                command_label_append(label, elements);
        else
                sequence_label_append(label, m);
}

/* --- parsing --------------------------------------------------------------- */

/* Whether a command greets, or authenticates. */
static gboolean is_of_session(const MongoMessage *m)
{
        static const char *const commands[] = { "hello",     "isMaster",     "ismaster",
                                                "saslStart", "saslContinue", "authenticate",
                                                "getnonce",  "logout" };
        Cursor elements, inner, name;
        Element e;
        if (m->operation == OP_QUERY &&
            (!message_namespace(m, &name) || !memmem(name.at, cursor_left(&name), ".$cmd", 5)))
                return FALSE;
        if (!message_document(m, &elements) || !element_next(&elements, &e))
                return FALSE;
        if ((element_is(&e, "$query") || element_is(&e, "query")) && element_open(&e, &inner) &&
            !element_next(&inner, &e))
                return FALSE;
        for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
                if (element_is(&e, commands[i]))
                        return TRUE;
        return FALSE;
}

static void mongodb_request_read(MongoState *s, const MongoMessage *m, GString *label,
                                 Parsed *parsed)
{
        gboolean answered = m->operation == OP_COMPRESSED || m->operation == OP_QUERY ||
                            m->operation == OP_GET_MORE ||
                            (m->operation == OP_MSG && !(m->flags & MSG_MORE_TO_COME));
        Cursor c = m->rest;
        guint32 flags;
        if (is_of_session(m)) {
                s->sessions[s->n_sessions++ % SESSIONS] = m->id;
                parsed->kind = KIND_SESSION;
                return;
        }
        if (m->operation == OP_QUERY && cursor_little_u32(&c, &flags) && (flags & QUERY_EXHAUST))
                s->exhaust = m->id;
        parsed_set_keyed(parsed, answered ? KIND_CALL : KIND_ONE_WAY, PART_BEGINS | PART_ENDS,
                         m->id);
        if (label)
                mongodb_label_append(label, m);
}

/* The code of the first write that failed, of an answer that is a success otherwise. */
static gboolean write_error_read(const Element *errors, gint64 *code)
{
        Cursor elements;
        Element e;
        if (!element_open(errors, &elements) || !element_next(&elements, &e) ||
            !element_open(&e, &elements))
                return FALSE;
        while (element_next(&elements, &e))
                if (element_is(&e, "code") && element_number(&e, code))
                        return TRUE;
        return FALSE;
}

/* What an answer's document says of its outcome. *greets: it is the server's greeting. */
static Outcome answer_read(const MongoMessage *m, gboolean *greets)
{
        Cursor elements;
        Element e;
        gint64 ok = 1, code = 0, number;
        gboolean failed = m->operation == OP_REPLY && cursor_left(&m->rest) >= 4 &&
                          (little_u32(m->rest.at) & QUERY_FAILURE);
        *greets = FALSE;
        if (!message_document(m, &elements))
                return OUTCOME_OK;
        while (element_next(&elements, &e)) {
                if (element_is(&e, "ok") && element_number(&e, &number))
                        ok = number;
                else if (element_is(&e, "code") && element_number(&e, &number))
                        code = number;
                else if (element_is(&e, "writeErrors") && write_error_read(&e, &number))
                        failed = (code = number) > 0;
                else if (element_is(&e, "maxWireVersion") || element_is(&e, "conversationId"))
                        *greets = TRUE;
        }
        if (ok != 0 && !failed)
                return OUTCOME_OK;
        return outcome_number(NUMBERS_MONGODB,
                              code > 0 && code <= G_MAXINT32 ? (guint)code : CODE_UNKNOWN);
}

/* Whether more of the answer follows in a message of its own. */
static gboolean answer_goes_on(const MongoState *client, const MongoMessage *m, guint32 key)
{
        static const guint8 over[8] = { 0 };
        if (m->operation == OP_MSG)
                return (m->flags & MSG_MORE_TO_COME) != 0;
        return m->operation == OP_REPLY && client && client->exhaust == key &&
               cursor_left(&m->rest) >= 12 && memcmp(m->rest.at + 4, over, sizeof over) != 0;
}

static void mongodb_answer_read(MongoState *s, const MongoState *client, const MongoMessage *m,
                                Parsed *parsed)
{
        gboolean follows = s->next != 0 && m->answers == s->next, of_session;
        guint32 key = follows ? s->key : m->answers;
        Outcome outcome = answer_read(m, &of_session);
        gboolean goes_on = answer_goes_on(client, m, key);
        of_session |= follows && s->of_session;
        for (guint i = 0; client && i < MIN(client->n_sessions, SESSIONS); i++)
                of_session |= client->sessions[i] == key;
        if (goes_on || follows) {
                s->next = goes_on ? m->id : 0;
                s->key = key;
                s->of_session = of_session != FALSE;
        }
        if (of_session) {
                parsed->kind = KIND_SESSION;
                return;
        }
        parsed_set_keyed(parsed, KIND_RETURN, goes_on ? PART_GOES_ON | PART_PIECE : PART_ENDS, key);
        parsed->outcome = outcome;
}

/* Requests answer 0, or of old clients -1. */
static gboolean is_answer(guint32 operation, guint32 answers)
{
        return operation == OP_REPLY || ((operation == OP_MSG || operation == OP_COMPRESSED) &&
                                         answers != 0 && answers != G_MAXUINT32);
}

static ParseStatus mongodb_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                                 gboolean eof, GString *label, Parsed *parsed)
{
        MongoState *s = state;
        MongoMessage m;
        guint8 unpacked[LOOK];
        if (eof)
                return PARSE_NOT_MINE; /* within a message */
        if (call == CALL_PROBE) {
                ParseStatus status = mongodb_recognise(bytes, n);
                if (status != PARSE_MESSAGE)
                        return status;
                parsed->kind = is_answer(little_u32(bytes + 12), little_u32(bytes + 8))
                                       ? KIND_RETURN
                                       : KIND_CALL;
                parsed->keyed = TRUE;
                parsed->part = PART_BEGINS;
                parsed->length = little_u32(bytes);
                return PARSE_MESSAGE;
        }
        ParseStatus status = mongodb_message_read(bytes, n, parsed->cut, unpacked, &m);
        if (status != PARSE_MESSAGE)
                return status;
        parsed->length = m.length;
        if (is_answer(m.operation, m.answers))
                mongodb_answer_read(s, parsed->other, &m, parsed);
        else
                mongodb_request_read(s, &m, label, parsed);
        return PARSE_MESSAGE;
}

static gsize mongodb_find_boundary(const guint8 *bytes, gsize n)
{
        for (gsize at = 0; at + HEADER <= n; at++)
                if (bytes[at + 15] == 0 && bytes[at + 14] == 0 &&
                    mongodb_recognise(bytes + at, n - at) != PARSE_NOT_MINE)
                        return at;
        return n;
}

/* Strings, whole numbers and ids of objects. */
static void elements_append(GString *text, Cursor c, guint depth)
{
        Element e;
        Cursor inner;
        gint64 number;
        while (element_next(&c, &e)) {
                if (element_string(&e, &inner)) {
                        g_string_append_len(text, (const char *)inner.at,
                                            (gssize)MIN(cursor_left(&inner), MAX_ARGUMENT));
                } else if (e.type == TYPE_OBJECT_ID && e.whole) {
                        for (guint i = 0; i < 12; i++)
                                g_string_append_printf(text, "%02x", e.value.at[i]);
                } else if (e.type != TYPE_BOOL && element_number(&e, &number)) {
                        g_string_append_printf(text, "%" G_GINT64_FORMAT, number);
                } else if (depth < MAX_DEPTH && element_open(&e, &inner)) {
                        elements_append(text, inner, depth + 1);
                }
                g_string_append_c(text, '\n');
        }
}

/* The values of a command but for its name and what all commands have, such as the session. */
static void command_values(GString *text, Cursor c)
{
        Element e;
        if (!document_open(c, &c) || !element_next(&c, &e))
                return;
        while (element_next(&c, &e)) {
                Cursor all = cursor(e.name.at - 1, (gsize)(e.value.end - e.name.at) + 1);
                if (e.name.at[0] != '$' && !element_is(&e, "lsid"))
                        elements_append(text, all, 0);
        }
}

/* The values of a command, and of the documents that it writes. */
static void mongodb_values(GString *text, G_GNUC_UNUSED gpointer *memory, const guint8 *bytes,
                           gsize n)
{
        guint8 unpacked[LOOK], section;
        MongoMessage m;
        Cursor c, part, name;
        guint32 size;
        if (mongodb_message_read(bytes, n, TRUE, unpacked, &m) != PARSE_MESSAGE)
                return;
        c = m.rest;
        if (m.operation != OP_MSG || !cursor_skip(&c, 4))
                return;
        while (cursor_u8(&c, &section) && cursor_left(&c) >= 4) {
                part = cursor(c.at, MIN(cursor_left(&c), (gsize)little_u32(c.at)));
                c.at = part.end;
                if (section == 0)
                        command_values(text, part);
                else if (cursor_skip(&part, 4) &&
                         name_read(&part, MAX_NAME, &name) == PARSE_MESSAGE)
                        while (cursor_left(&part) >= 4 && (size = little_u32(part.at)) >= 4) {
                                Cursor one = cursor(part.at, MIN(cursor_left(&part), (gsize)size));
                                part.at = one.end;
                                if (document_open(one, &one))
                                        elements_append(text, one, 0);
                        }
        }
}

const Protocol protocol_mongodb = {
        .name = "mongodb",
        .values = mongodb_values,
        .keyed = TRUE,
        .parse = mongodb_parse,
        .find_boundary = mongodb_find_boundary,
};
