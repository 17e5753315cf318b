/* SPDX-License-Identifier: BSD-2-Clause
 *
 * AMQP 0-9-1, as RabbitMQ speaks it. A delivery is a call by the broker, and its consumer's
 * acknowledgement or rejection the return, by channel and delivery tag, of several at a time
 * too; one that is not acknowledged is one-way. What a client publishes is one-way, or a call
 * where the channel confirms, and the confirmation its return. Other requests for which the
 * client waits are calls, unless they begin or end connections, channels or consumers. A message
 * that a client gets is the return of the request up to its method, and a delivery from there
 * on.
 *
 * A content is a method, a header and a body, each in frames of its own, and those of many channels
 * come in between each other; so what is under way is kept by channel.
 */
#include "capture/protocol/job-name.h"
#include "capture/protocol/protocol.h"
#include "capture/protocol/values.h"

#include <string.h>

#include "base/hash.h"

enum {
        METHOD = 1,
        HEADER = 2,
        BODY = 3,
        HEARTBEAT = 8,
        FRAME_HEADER = 7,
        FRAME_END = 0xce,
        FRAME = FRAME_HEADER + 1, /* bytes around a payload */

        MAX_FRAME = 16 << 20, /* of a payload; brokers and clients agree on 128 KiB */
        MAX_METHOD = 1024,    /* bytes of a method that are looked at: three short names fit */
        MAX_HEADER = 4096,    /* of a content header, */
        MAX_BODY = 4096,      /* and of a body */
        MAX_CHANNELS = 4096,  /* that are known; RabbitMQ has 2,047 by default */
        /* Of deliveries on a channel, where its consumers began before the capture: after this
         * number without one that is settled nobody settles any. More than clients take in
         * advance: Celery 4 a process, Spring 250, the broker's shovels 1,000. */
        MAX_UNSETTLED = 1024,
        CONTENT = 60,          /* the class of all contents */
        OWN_GROUP = 0xffff,    /* of the keys of calls that have no tag */
        NO_CHANNEL = OWN_GROUP /* whose group it would be */
};
#define REPLY_TO "amq.rabbitmq.reply-to"
#define TAGS     ((G_GUINT64_CONSTANT(1) << KEY_GROUP_BITS) - 1)

/* Class and method. */
#define ID(class_id, method_id) ((class_id) << 16 | (method_id))
enum {
        CHANNEL_OPEN = ID(20, 10),
        CHANNEL_CLOSE = ID(20, 40),
        CHANNEL_CLOSE_OK = ID(20, 41),
        CONSUME = ID(60, 20),
        PUBLISH = ID(60, 40),
        RETURN = ID(60, 50),
        DELIVER = ID(60, 60),
        GET = ID(60, 70),
        GET_OK = ID(60, 71),
        GET_EMPTY = ID(60, 72),
        ACK = ID(60, 80),
        REJECT = ID(60, 90),
        RECOVER_ASYNC = ID(60, 100),
        NACK = ID(60, 120),
        CONFIRM_SELECT = ID(85, 10),
};

/* What a method is. Requests that only begin or end something belong to the session. */
typedef enum {
        OF_SESSION,
        REQUEST, /* for which the client waits */
        RESPONSE,
        OTHER /* see method_read() */
} MethodRole;

/* nowait is where the flag stands which says that there is no response: after a 2-byte ticket
 * and this number of names, which bit; or no_nowait. */
enum { NO_NOWAIT = 0xff };
static const struct {
        guint32 id;
        guint8 sender, role, names, nowait;
        const char *label;
} methods[] = {
        { ID(10, 10), SENDER_SERVER, OF_SESSION, 0, NO_NOWAIT, NULL }, /* connection */
        { ID(10, 11), SENDER_CLIENT, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(10, 20), SENDER_SERVER, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(10, 21), SENDER_CLIENT, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(10, 30), SENDER_SERVER, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(10, 31), SENDER_CLIENT, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(10, 40), SENDER_CLIENT, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(10, 41), SENDER_SERVER, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(10, 50), SENDER_ANY, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(10, 51), SENDER_ANY, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(10, 60), SENDER_SERVER, OF_SESSION, 0, NO_NOWAIT, NULL }, /* blocked */
        { ID(10, 61), SENDER_SERVER, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(10, 70), SENDER_CLIENT, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(10, 71), SENDER_SERVER, OF_SESSION, 0, NO_NOWAIT, NULL },
        { CHANNEL_OPEN, SENDER_CLIENT, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(20, 11), SENDER_SERVER, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(20, 20), SENDER_ANY, OF_SESSION, 0, NO_NOWAIT, NULL }, /* flow */
        { ID(20, 21), SENDER_ANY, OF_SESSION, 0, NO_NOWAIT, NULL },
        { CHANNEL_CLOSE, SENDER_ANY, OTHER, 0, NO_NOWAIT, NULL },
        { CHANNEL_CLOSE_OK, SENDER_ANY, OTHER, 0, NO_NOWAIT, NULL },
        { ID(30, 10), SENDER_CLIENT, OF_SESSION, 0, NO_NOWAIT, NULL }, /* access */
        { ID(30, 11), SENDER_SERVER, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(40, 10), SENDER_CLIENT, REQUEST, 2, 4, "exchange.declare" },
        { ID(40, 11), SENDER_SERVER, RESPONSE, 0, NO_NOWAIT, NULL },
        { ID(40, 20), SENDER_CLIENT, REQUEST, 1, 1, "exchange.delete" },
        { ID(40, 21), SENDER_SERVER, RESPONSE, 0, NO_NOWAIT, NULL },
        { ID(40, 30), SENDER_CLIENT, REQUEST, 3, 0, "exchange.bind" },
        { ID(40, 31), SENDER_SERVER, RESPONSE, 0, NO_NOWAIT, NULL },
        { ID(40, 40), SENDER_CLIENT, REQUEST, 3, 0, "exchange.unbind" },
        { ID(40, 51), SENDER_SERVER, RESPONSE, 0, NO_NOWAIT, NULL },
        { ID(50, 10), SENDER_CLIENT, REQUEST, 1, 4, "queue.declare" },
        { ID(50, 11), SENDER_SERVER, RESPONSE, 0, NO_NOWAIT, NULL },
        { ID(50, 20), SENDER_CLIENT, REQUEST, 3, 0, "queue.bind" },
        { ID(50, 21), SENDER_SERVER, RESPONSE, 0, NO_NOWAIT, NULL },
        { ID(50, 30), SENDER_CLIENT, REQUEST, 1, 0, "queue.purge" },
        { ID(50, 31), SENDER_SERVER, RESPONSE, 0, NO_NOWAIT, NULL },
        { ID(50, 40), SENDER_CLIENT, REQUEST, 1, 2, "queue.delete" },
        { ID(50, 41), SENDER_SERVER, RESPONSE, 0, NO_NOWAIT, NULL },
        { ID(50, 50), SENDER_CLIENT, REQUEST, 3, NO_NOWAIT, "queue.unbind" },
        { ID(50, 51), SENDER_SERVER, RESPONSE, 0, NO_NOWAIT, NULL },
        { ID(60, 10), SENDER_CLIENT, OF_SESSION, 0, NO_NOWAIT, NULL }, /* qos */
        { ID(60, 11), SENDER_SERVER, OF_SESSION, 0, NO_NOWAIT, NULL },
        { CONSUME, SENDER_CLIENT, OTHER, 2, NO_NOWAIT, NULL },
        { ID(60, 21), SENDER_SERVER, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(60, 30), SENDER_ANY, OF_SESSION, 0, NO_NOWAIT, NULL }, /* cancel */
        { ID(60, 31), SENDER_ANY, OF_SESSION, 0, NO_NOWAIT, NULL },
        { PUBLISH, SENDER_CLIENT, OTHER, 0, NO_NOWAIT, "publish" },
        { RETURN, SENDER_SERVER, OTHER, 0, NO_NOWAIT, "return" },
        { DELIVER, SENDER_SERVER, OTHER, 0, NO_NOWAIT, "deliver" },
        { GET, SENDER_CLIENT, OTHER, 0, NO_NOWAIT, "get" },
        { GET_OK, SENDER_SERVER, OTHER, 0, NO_NOWAIT, "deliver" },
        { GET_EMPTY, SENDER_SERVER, RESPONSE, 0, NO_NOWAIT, NULL },
        { ACK, SENDER_ANY, OTHER, 0, NO_NOWAIT, NULL },
        { REJECT, SENDER_CLIENT, OTHER, 0, NO_NOWAIT, NULL },
        { RECOVER_ASYNC, SENDER_CLIENT, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(60, 110), SENDER_CLIENT, REQUEST, 0, NO_NOWAIT, "recover" },
        { ID(60, 111), SENDER_SERVER, RESPONSE, 0, NO_NOWAIT, NULL },
        { NACK, SENDER_ANY, OTHER, 0, NO_NOWAIT, NULL },
        { CONFIRM_SELECT, SENDER_CLIENT, OTHER, 0, NO_NOWAIT, NULL },
        { ID(85, 11), SENDER_SERVER, OF_SESSION, 0, NO_NOWAIT, NULL },
        { ID(90, 10), SENDER_CLIENT, REQUEST, 0, NO_NOWAIT, "tx.select" },
        { ID(90, 11), SENDER_SERVER, RESPONSE, 0, NO_NOWAIT, NULL },
        { ID(90, 20), SENDER_CLIENT, REQUEST, 0, NO_NOWAIT, "tx.commit" },
        { ID(90, 21), SENDER_SERVER, RESPONSE, 0, NO_NOWAIT, NULL },
        { ID(90, 30), SENDER_CLIENT, REQUEST, 0, NO_NOWAIT, "tx.rollback" },
        { ID(90, 31), SENDER_SERVER, RESPONSE, 0, NO_NOWAIT, NULL },
};

/* A content under way: of what is published, or delivered. */
typedef struct {
        guint64 key;
        guint64 left; /* bytes of its body */
        guint64 hash;
        guint32 hashed;
        guint8 kind,
                part;  /* of its parts but for the last; kind is KIND_UNKNOWN where there is none */
        guint8 header; /* has come */
        guint8 begins; /* with its header */
        guint8 named;  /* what it asks for is in its label, or is not looked for */
} Content;

typedef struct {
        guint64 published;  /* since it confirms */
        guint64 waits;      /* key of the request that waits for its response, or 0 */
        Content content[2]; /* the client's, the server's */
        guint32 unsettled;  /* deliveries before the first that the client has settled */
        guint8 confirms, settles;
        guint8 acknowledged, automatic; /* there are consumers that acknowledge, or do not */
        guint8 getting_automatic;       /* and so does who waits for a message */
} Channel;

/* What is kept of a connection. */
typedef struct {
        GHashTable *channels; /* of Channel, by number */
        guint64 calls;        /* without a tag so far */
} Amqp;

typedef struct {
        guint8 known;
        guint8 sender; /* Sender */
} AmqpState;

G_STATIC_ASSERT(sizeof(AmqpState) <= PROTOCOL_STATE_SIZE);

typedef struct {
        guint type;
        guint16 channel;
        guint32 size;
} Frame;

static Frame amqp_frame_decode(const guint8 *p)
{
        return (Frame){ p[0], read_u16(p + 1), read_u32(p + 3) };
}

static gint method_find(guint32 id)
{
        for (guint i = 0; i < G_N_ELEMENTS(methods); i++)
                if (methods[i].id == id)
                        return (gint)i;
        return -1;
}

/* How much of a frame must be there, after its header. */
static gsize amqp_payload_needed(const Frame *f)
{
        switch (f->type) {
        case METHOD:
                return MIN(f->size, (gsize)MAX_METHOD);
        case HEADER:
                return MIN(f->size, (gsize)MAX_HEADER);
        case BODY:
                return MIN(f->size, (gsize)MAX_BODY);
        default:
                return 0;
        }
}

static gboolean amqp_frame_is_sound(const Frame *f)
{
        switch (f->type) {
        case METHOD:
                return f->size >= 4 && f->size <= MAX_FRAME;
        case HEADER:
                return f->channel != 0 && f->size >= 14 && f->size <= MAX_FRAME;
        case BODY:
                return f->channel != 0 && f->size <= MAX_FRAME;
        case HEARTBEAT:
                return f->channel == 0 && f->size == 0;
        default:
                return FALSE;
        }
}

/* --- recognising ----------------------------------------------------------- */

static const guint8 greeting[] = { 'A', 'M', 'Q', 'P', 0, 0, 9, 1 };

/* PARSE_MESSAGE where the bytes begin with a frame of AMQP beyond doubt: one whose end is where
 * its length says, of a method, a header of contents or nothing at all. */
static ParseStatus amqp_recognise(const guint8 *bytes, gsize n)
{
        if (memcmp(bytes, greeting, MIN(n, sizeof greeting)) == 0)
                return n < sizeof greeting ? PARSE_MORE : PARSE_MESSAGE;
        if (bytes[0] != METHOD && bytes[0] != HEADER && bytes[0] != HEARTBEAT)
                return PARSE_NOT_MINE;
        if (n < FRAME_HEADER)
                return PARSE_MORE;
        Frame f = amqp_frame_decode(bytes);
        if (!amqp_frame_is_sound(&f) || f.size > MAX_BODY)
                return PARSE_NOT_MINE;
        const guint8 *payload = bytes + FRAME_HEADER;
        if (f.type != HEARTBEAT && n >= FRAME_HEADER + 4) {
                guint32 id = read_u32(payload);
                if (f.type == METHOD ? method_find(id) < 0 || (id >> 16 == 10) != (f.channel == 0)
                                     : id != CONTENT << 16)
                        return PARSE_NOT_MINE;
        }
        if (n < f.size + (gsize)FRAME)
                return PARSE_MORE;
        return payload[f.size] == FRAME_END ? PARSE_MESSAGE : PARSE_NOT_MINE;
}

/* --- fields ---------------------------------------------------------------- */

/* A short string; FALSE where it is not all there. */
static gboolean amqp_name_read(Cursor *c, Cursor *name)
{
        guint8 n;
        return cursor_u8(c, &n) && cursor_part(c, n, name);
}

/* RabbitMQ's queue that is none: where a client consumes from it, and that is without
 * acknowledgement only, replies are published to its name and one more, and delivered by that. */
static gboolean is_reply_to(const Cursor *name)
{
        return cursor_begins(name, REPLY_TO);
}

/* A queue or an exchange, and what it is that the message does there. Names that the broker has
 * made up say nothing. */
static void amqp_label_append(GString *label, guint32 id, const Cursor *name)
{
        static const char made_up[] = "amq.gen";
        if (!label)
                return;
        g_string_append(label, methods[method_find(id)].label);
        gsize n = cursor_left(name);
        if (n == 0)
                return;
        g_string_append_c(label, ' ');
        if (cursor_begins(name, made_up))
                n = sizeof made_up - 1;
        else if (is_reply_to(name))
                n = sizeof REPLY_TO - 1;
        g_string_append_len(label, (const char *)name->at, (gssize)n);
}

/* --- what contents carry --------------------------------------------------- */

static guint64 amqp_hash_more(guint64 h, Cursor bytes)
{
        for (; bytes.at < bytes.end; bytes.at++) /* however the body is cut into frames */
                h = (h ^ *bytes.at) * HASH_SEED;
        return h;
}

/* With its length, so that two strings are not one. */
static guint64 hash_name(guint64 h, Cursor name)
{
        return hash_word(amqp_hash_more(h, name), cursor_left(&name));
}

/* Properties of a message, of its content header. Each that is there stands in the order of its
 * bit, from the highest. */
enum {
        HEADERS = 13,
        DELIVERY_MODE = 12,
        PRIORITY = 11,
        CORRELATION = 10,
        MESSAGE = 7,
        TIME = 6,
        TYPE = 5,
        LAST_PROPERTY = TYPE
};

/* The next property that is there, from bit *bit on, which becomes the one below it: its bit and
 * bytes. -1: no more, or they are not all at hand. */
static int property_read(Cursor *c, guint16 flags, int *bit, Cursor *value)
{
        guint32 n;
        const guint8 *p;
        while (*bit >= LAST_PROPERTY && !(flags & 1u << *bit))
                --*bit;
        int found = (*bit)--;
        if (found < LAST_PROPERTY)
                return -1;
        switch (found) {
        case HEADERS:
                if (!cursor_u32(c, &n))
                        return -1;
                break;
        case DELIVERY_MODE:
        case PRIORITY:
                n = 1;
                break;
        case TIME:
                n = 8;
                break;
        default:
                return amqp_name_read(c, value) ? found : -1;
        }
        *value = cursor(c->at, MIN(n, cursor_left(c)));
        p = cursor_take(c, n);
        if (!p)
                c->at = c->end;
        return p || found == HEADERS ? found : -1;
}

/* To the first property. */
static gboolean properties_begin(Cursor *c, guint16 *flags)
{
        return cursor_skip(c, 12) && cursor_u16(c, flags);
}

/* The identifiers that the publisher of a message gave. A broker leaves them alone, while it may
 * add headers and take away an expiration. */
static guint64 hash_properties(guint64 h, Cursor c)
{
        guint16 flags;
        Cursor value;
        int found, bit = 15;
        if (!properties_begin(&c, &flags))
                return h;
        while ((found = property_read(&c, flags, &bit, &value)) >= MESSAGE)
                if (found == CORRELATION || found == MESSAGE)
                        h = hash_name(hash_word(h, (guint64)found), value);
        return h;
}

/* --- what a message asks for ------------------------------------------------ */

/* A value in a table of headers. FALSE: it is none, or not all there. */
static gboolean amqp_field_skip(Cursor *c, guint8 type)
{
        static const char sizes[] = "t1b1B1s2u2U2I4i4f4D5L8l8d8T8V0";
        guint32 n;
        const char *size = type ? strchr(sizes, type) : NULL;
        if (strchr("SAFx", type ? type : ' '))
                return cursor_u32(c, &n) && cursor_skip(c, n);
        return size && g_ascii_isalpha(*size) && cursor_skip(c, (gsize)(size[1] - '0'));
}

/* The next header that is a string. */
static gboolean amqp_header_next(Cursor *c, Cursor *name, Cursor *value)
{
        guint8 type;
        guint32 n;
        while (cursor_left(c) > 0 && amqp_name_read(c, name) && cursor_u8(c, &type)) {
                if (type == 'S')
                        return cursor_u32(c, &n) && cursor_part(c, n, value);
                if (!amqp_field_skip(c, type))
                        return FALSE;
        }
        return FALSE;
}

/* By a header that names it. */
static gboolean name_from_headers(GString *label, Cursor c)
{
        Cursor name, value;
        while (amqp_header_next(&c, &name, &value))
                if (job_name_is_header((const char *)name.at, cursor_left(&name)) &&
                    job_name_append(label, (const char *)value.at, cursor_left(&value)))
                        return TRUE;
        return FALSE;
}

/* By the property that names the type of a message, or by a header. */
static gboolean name_from_properties(GString *label, Cursor c)
{
        guint16 flags;
        Cursor value, headers = { NULL, NULL };
        int found, bit = 15;
        if (!properties_begin(&c, &flags))
                return FALSE;
        while ((found = property_read(&c, flags, &bit, &value)) >= 0) {
                if (found == HEADERS)
                        headers = value;
                if (found == TYPE &&
                    job_name_append(label, (const char *)value.at, cursor_left(&value)))
                        return TRUE;
        }
        return headers.at && name_from_headers(label, headers);
}

/* --- contents -------------------------------------------------------------- */

static void amqp_part_set(const Content *content, guint part, Parsed *parsed)
{
        parsed_set_keyed(parsed, (MessageKind)content->kind, content->part | part | PART_NAMES,
                         content->key);
}

/* The last part, or not. Its content is known by then. */
static void content_go_on(Content *content, Parsed *parsed)
{
        gboolean last = content->left == 0;
        guint part = last ? PART_ENDS : PART_GOES_ON;
        if (content->begins)
                part |= PART_BEGINS;
        content->begins = FALSE;
        amqp_part_set(content, part, parsed);
        if (!last)
                return;
        if (content->kind != KIND_RETURN)
                parsed->carried.content = MAX(content->hash, 1);
        content->kind = KIND_UNKNOWN;
}

static void amqp_header_read(Content *content, Cursor c, GString *label, Parsed *parsed)
{
        content->header = TRUE;
        content->left = read_u64(c.at + 4);
        content->hash = hash_word(hash_properties(content->hash, c), content->left);
        content->named = !label || content->begins || name_from_properties(label, c);
        content_go_on(content, parsed);
}

static void body_read(Content *content, Cursor c, guint32 size, GString *label, Parsed *parsed)
{
        gsize n = MIN(cursor_left(&c), MAX_BODY - content->hashed);
        if (label && !content->named)
                job_name_append_json(label, c.at, cursor_left(&c), NULL);
        content->named = TRUE; /* else it is not in the first frame */
        content->hash = amqp_hash_more(content->hash, cursor(c.at, n));
        content->hashed += (guint32)n;
        content->left -= MIN(content->left, size);
        content_go_on(content, parsed);
}

/* --- methods --------------------------------------------------------------- */

static guint64 tag_key(guint16 channel, guint64 tag)
{
        return (guint64)channel << KEY_GROUP_BITS | (tag & TAGS);
}

static guint64 own_key(Amqp *amqp)
{
        return (guint64)OWN_GROUP << KEY_GROUP_BITS | (++amqp->calls & TAGS);
}

/* A content of this key begins. */
static void content_begin(Content *content, MessageKind kind, guint64 key, Cursor name,
                          gboolean with_header, Parsed *parsed)
{
        *content = (Content){ .key = key,
                              .hash = hash_name(HASH_SEED, name),
                              .kind = (guint8)kind,
                              .part = kind == KIND_RETURN ? 0 : PART_BY_PLACE,
                              .begins = with_header };
        if (!with_header)
                amqp_part_set(content, kind == KIND_RETURN ? PART_GOES_ON : PART_BEGINS, parsed);
}

/* Of a delivery or what is published: exchange and routing key. */
static gboolean names_read(Cursor *c, guint32 id, GString *label, Cursor *exchange, Cursor *key)
{
        if (!amqp_name_read(c, exchange) || !amqp_name_read(c, key))
                return FALSE;
        amqp_label_append(label, id, cursor_left(exchange) ? exchange : key);
        return TRUE;
}

/* Calls with tags are settled. */
static gboolean settle_read(Channel *channel, const AmqpState *s, guint16 number, guint32 id,
                            Cursor c, Parsed *parsed)
{
        guint64 tag;
        guint8 flags = 0;
        if (!cursor_u64(&c, &tag) || !cursor_u8(&c, &flags))
                return FALSE;
        if (s->sender == SENDER_SERVER && !channel->confirms)
                return TRUE; /* of messages published before the capture */
        channel->settles |= s->sender != SENDER_SERVER;
        if (id != ACK)
                parsed->outcome = outcome_named(id == NACK ? "NACK" : "REJECT");
        gboolean multiple = id != REJECT && (flags & 1);
        parsed_set_keyed(parsed, KIND_RETURN, PART_ENDS | (multiple ? PART_THROUGH : 0),
                         tag_key(number, multiple && tag == 0 ? TAGS : tag));
        return TRUE;
}

static void response_set(Channel *channel, Parsed *parsed)
{
        if (!channel->waits)
                return;
        parsed_set_keyed(parsed, KIND_RETURN, PART_ENDS, channel->waits);
        channel->waits = 0;
}

static void request_set(Amqp *amqp, Channel *channel, Parsed *parsed)
{
        channel->waits = own_key(amqp);
        parsed_set_keyed(parsed, KIND_CALL, PART_BEGINS | PART_ENDS | PART_BY_PLACE,
                         channel->waits);
}

/* Where it says that no response is wanted, a request is one-way. */
static gboolean amqp_request_read(Amqp *amqp, Channel *channel, guint method, Cursor c,
                                  GString *label, Parsed *parsed)
{
        Cursor name, first = { c.at, c.at };
        guint8 flags = 0;
        if (methods[method].names && !cursor_skip(&c, 2))
                return FALSE;
        for (guint i = 0; i < methods[method].names; i++) {
                if (!amqp_name_read(&c, &name))
                        return FALSE;
                if (i == 0)
                        first = name;
        }
        if (methods[method].nowait != NO_NOWAIT && !cursor_u8(&c, &flags))
                return FALSE;
        amqp_label_append(label, methods[method].id, &first);
        if (methods[method].nowait != NO_NOWAIT && (flags & 1u << methods[method].nowait)) {
                parsed_set_keyed(parsed, KIND_ONE_WAY, PART_BEGINS | PART_ENDS | PART_BY_PLACE,
                                 own_key(amqp));
                return TRUE;
        }
        request_set(amqp, channel, parsed);
        return TRUE;
}

static gboolean amqp_publish_read(Amqp *amqp, Channel *channel, guint16 number, Cursor c,
                                  GString *label, Parsed *parsed)
{
        Cursor exchange, key;
        gboolean confirms = channel->confirms;
        if (!cursor_skip(&c, 2) || !names_read(&c, PUBLISH, label, &exchange, &key))
                return FALSE;
        content_begin(&channel->content[0], confirms ? KIND_CALL : KIND_ONE_WAY,
                      confirms ? tag_key(number, ++channel->published) : own_key(amqp), key, FALSE,
                      parsed);
        return TRUE;
}

/* Whether nobody on the channel acknowledges: its consumers said so, or nobody has for so long. */
static gboolean is_automatic(const Channel *channel)
{
        return !channel->acknowledged &&
               (channel->automatic || (!channel->settles && channel->unsettled >= MAX_UNSETTLED));
}

static gboolean deliver_read(Amqp *amqp, Channel *channel, guint16 number, Cursor c, GString *label,
                             Parsed *parsed)
{
        Cursor consumer, exchange, key;
        guint64 tag;
        if (!amqp_name_read(&c, &consumer) || !cursor_u64(&c, &tag) || !cursor_skip(&c, 1) ||
            !names_read(&c, DELIVER, label, &exchange, &key))
                return FALSE;
        /* Replies all have tag 1. */
        gboolean reply = cursor_left(&exchange) == 0 && is_reply_to(&key);
        gboolean one_way = reply || is_automatic(channel);
        if (!one_way)
                channel->unsettled++;
        content_begin(&channel->content[1], one_way ? KIND_ONE_WAY : KIND_CALL,
                      one_way ? own_key(amqp) : tag_key(number, tag), key, FALSE, parsed);
        return TRUE;
}

/* Where the message is not to be acknowledged it is the return to its last byte. */
static gboolean got_read(Channel *channel, guint16 number, Cursor c, Parsed *parsed)
{
        Cursor exchange, key;
        guint64 tag;
        if (!cursor_u64(&c, &tag) || !cursor_skip(&c, 1) ||
            !names_read(&c, GET_OK, NULL, &exchange, &key))
                return FALSE;
        if (!channel->getting_automatic) {
                response_set(channel, parsed);
                content_begin(&channel->content[1], KIND_CALL, tag_key(number, tag), key, TRUE,
                              parsed);
        } else if (channel->waits) {
                content_begin(&channel->content[1], KIND_RETURN, channel->waits, key, FALSE,
                              parsed);
                channel->waits = 0;
        }
        return TRUE;
}

static gboolean other_read(Amqp *amqp, Channel *channel, const AmqpState *s, const Frame *f,
                           guint32 id, Cursor c, GString *label, Parsed *parsed)
{
        Cursor name, exchange, key;
        guint8 flags;
        guint16 reason;
        switch (id) {
        case PUBLISH:
                return amqp_publish_read(amqp, channel, f->channel, c, label, parsed);
        case DELIVER:
                return deliver_read(amqp, channel, f->channel, c, label, parsed);
        case GET_OK:
                return got_read(channel, f->channel, c, parsed);
        case RETURN:
                if (!cursor_skip(&c, 2) || !amqp_name_read(&c, &name) ||
                    !names_read(&c, RETURN, label, &exchange, &key))
                        return FALSE;
                content_begin(&channel->content[1], KIND_ONE_WAY, own_key(amqp), key, FALSE,
                              parsed);
                return TRUE;
        case GET:
                if (!cursor_skip(&c, 2) || !amqp_name_read(&c, &name) || !cursor_u8(&c, &flags))
                        return FALSE;
                amqp_label_append(label, GET, &name);
                channel->getting_automatic = flags & 1;
                request_set(amqp, channel, parsed);
                return TRUE;
        case ACK:
        case NACK:
        case REJECT:
                return settle_read(channel, s, f->channel, id, c, parsed);
        case CONSUME:
                if (!cursor_skip(&c, 2) || !amqp_name_read(&c, &name) ||
                    !amqp_name_read(&c, &name) || !cursor_u8(&c, &flags))
                        return FALSE;
                channel->automatic |= (flags & 2) != 0;
                channel->acknowledged |= (flags & 2) == 0;
                parsed->kind = KIND_SESSION;
                return TRUE;
        case CONFIRM_SELECT:
                channel->confirms = TRUE;
                parsed->kind = KIND_SESSION;
                return TRUE;
        case CHANNEL_CLOSE: /* by the server: also what a request comes to that cannot be met */
                parsed->kind = KIND_SESSION;
                if (s->sender == SENDER_SERVER)
                        response_set(channel, parsed);
                if (cursor_u16(&c, &reason))
                        parsed->outcome = outcome_number(NUMBERS_AMQP, reason);
                return TRUE;
        case CHANNEL_CLOSE_OK: /* tags begin anew */
                *channel = (Channel){ .published = 0 };
                parsed_set_keyed(parsed, KIND_CALL, PART_ABORTS | PART_THROUGH,
                                 tag_key(f->channel, TAGS));
                return TRUE;
        default:
                return FALSE;
        }
}

static Channel *channel_find(gpointer *memory, guint16 number)
{
        Amqp *amqp = *memory;
        if (!amqp) {
                *memory = amqp = g_new0(Amqp, 1);
                amqp->channels = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        }
        Channel *channel = g_hash_table_lookup(amqp->channels, GUINT_TO_POINTER((guint)number));
        if (!channel && number != NO_CHANNEL && g_hash_table_size(amqp->channels) < MAX_CHANNELS) {
                channel = g_new0(Channel, 1);
                g_hash_table_insert(amqp->channels, GUINT_TO_POINTER((guint)number), channel);
        }
        return channel;
}

static gboolean method_read(AmqpState *s, const Frame *f, Cursor c, GString *label, Parsed *parsed)
{
        gint method = method_find(read_u32(c.at));
        if (method < 0)
                return FALSE;
        if (methods[method].sender != SENDER_ANY)
                s->sender = methods[method].sender;
        parsed->sender = s->sender;
        Channel *channel = parsed->memory ? channel_find(parsed->memory, f->channel) : NULL;
        cursor_skip(&c, 4);
        if (methods[method].role == OF_SESSION)
                parsed->kind = KIND_SESSION;
        if (!channel)
                return TRUE;
        switch ((MethodRole)methods[method].role) {
        case OF_SESSION:
                return TRUE;
        case REQUEST:
                return amqp_request_read(*parsed->memory, channel, (guint)method, c, label, parsed);
        case RESPONSE:
                response_set(channel, parsed);
                return TRUE;
        case OTHER:
                break;
        }
        return other_read(*parsed->memory, channel, s, f, methods[method].id, c, label, parsed);
}

/* The content that a frame with a header or a piece of a body belongs to. NULL: that has begun
 * where nobody saw it. */
static Content *content_find(const AmqpState *s, const Frame *f, const Parsed *parsed)
{
        Channel *channel = parsed->memory && s->sender != SENDER_ANY
                                   ? channel_find(parsed->memory, f->channel)
                                   : NULL;
        Content *content = channel ? &channel->content[s->sender == SENDER_SERVER] : NULL;
        return content && content->kind != KIND_UNKNOWN && content->header == (f->type == BODY)
                       ? content
                       : NULL;
}

static ParseStatus amqp_frame_read(AmqpState *s, const guint8 *bytes, gsize n, GString *label,
                                   Parsed *parsed)
{
        if (n < FRAME_HEADER)
                return PARSE_MORE;
        Frame f = amqp_frame_decode(bytes);
        if (!amqp_frame_is_sound(&f))
                return PARSE_NOT_MINE;
        gsize needed = amqp_payload_needed(&f);
        gboolean whole = needed == f.size;
        if (n < FRAME_HEADER + needed + whole)
                return PARSE_MORE;
        Cursor c = cursor(bytes + FRAME_HEADER, needed);
        if (whole && c.at[needed] != FRAME_END)
                return PARSE_NOT_MINE;
        Content *content;
        parsed->kind = KIND_CONTROL;
        if (f.type == METHOD && !method_read(s, &f, c, label, parsed))
                return PARSE_NOT_MINE;
        if ((f.type == HEADER || f.type == BODY) && (content = content_find(s, &f, parsed))) {
                if (f.type == HEADER)
                        amqp_header_read(content, c, label, parsed);
                else
                        body_read(content, c, f.size, label, parsed);
        }
        parsed->length = FRAME + (guint64)f.size;
        return PARSE_MESSAGE;
}

static ParseStatus amqp_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                              gboolean eof, GString *label, Parsed *parsed)
{
        AmqpState *s = state;
        (void)call;
        if (eof)
                return PARSE_NOT_MINE; /* within a frame */
        if (n == 0)
                return PARSE_MORE;
        if (!s->known) {
                ParseStatus status = amqp_recognise(bytes, n);
                if (status != PARSE_MESSAGE)
                        return status;
                s->known = TRUE;
        }
        if (bytes[0] == greeting[0]) {
                ParseStatus status = amqp_recognise(bytes, n);
                parsed->kind = status == PARSE_MESSAGE ? KIND_SESSION : KIND_UNKNOWN;
                parsed->length = status == PARSE_MESSAGE ? sizeof greeting : 0;
                return status;
        }
        return amqp_frame_read(s, bytes, n, label, parsed);
}

static gsize amqp_find_boundary(const guint8 *bytes, gsize n)
{
        for (gsize at = 0; at < n; at++)
                if (amqp_recognise(bytes + at, n - at) != PARSE_NOT_MINE)
                        return at;
        return n;
}

static void amqp_forget(gpointer memory)
{
        Amqp *amqp = memory;
        g_hash_table_destroy(amqp->channels);
        g_free(amqp);
}

/* The headers that are strings, of a content header. */
static void amqp_header_values(GString *text, Cursor c)
{
        guint16 flags;
        Cursor headers, name, value;
        int bit = 15;
        if (!properties_begin(&c, &flags))
                return;
        for (int found; (found = property_read(&c, flags, &bit, &headers)) != HEADERS;)
                if (found < 0)
                        return;
        while (amqp_header_next(&headers, &name, &value))
                values_append_argument(text, value.at, cursor_left(&value));
}

/* In a frame: of a header or a body. */
static void amqp_values(GString *text, G_GNUC_UNUSED gpointer *memory, const guint8 *bytes, gsize n)
{
        if (n <= FRAME_HEADER)
                return;
        Frame f = amqp_frame_decode(bytes);
        gsize shown = MIN(n - FRAME_HEADER, f.size);
        if (f.type == HEADER)
                amqp_header_values(text, cursor(bytes + FRAME_HEADER, shown));
        else if (f.type == BODY)
                values_append_argument(text, bytes + FRAME_HEADER, shown);
}

const Protocol protocol_amqp = {
        .name = "amqp",
        .values = amqp_values,
        .keyed = TRUE,
        .mutual = TRUE,
        .parse = amqp_parse,
        .find_boundary = amqp_find_boundary,
        .forget = amqp_forget,
};
