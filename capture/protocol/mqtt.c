/* SPDX-License-Identifier: BSD-2-Clause
 *
 * MQTT 3.1, 3.1.1 and 5. A message that a client or the broker publishes is one-way at quality
 * of service 0. At 1 it is a call, and the acknowledgement its return; at 2 its return is what
 * ends the exchange. They are paired by packet id. SUBSCRIBE and UNSUBSCRIBE are calls.
 * Connecting, disconnecting and authentication are of the session; pings are nothing.
 *
 * A packet is a byte with its type and flags, a length, and its bytes.
 */
#include "capture/protocol/protocol.h"

#include <string.h>

#include "base/hash.h"

enum {
        CONNECT = 1,
        CONNACK,
        PUBLISH,
        PUBACK,
        PUBREC,
        PUBREL,
        PUBCOMP,
        SUBSCRIBE,
        SUBACK,
        UNSUBSCRIBE,
        UNSUBACK,
        PINGREQ,
        PINGRESP,
        DISCONNECT,
        AUTH,

        DUP = 8,
        QOS = 6,
        QOS_1 = 2,
        QOS_2 = 4,

        MAX_TOPIC = 1024,   /* bytes that are looked at; of one longer the rest names nothing, */
        MAX_PAYLOAD = 4096, /* and of what is published */
        MAX_ALIASES = 1024, /* of topics, a direction */
        MAX_RECOGNISED = 65536, /* bytes of a packet by which a connection is */
        SURE = 4,
        FAILED = 0x80, /* reason codes from which on something has failed */
};

/* What is kept of a connection: the topics for which a direction's numbers stand in version 5. */
typedef struct {
        GHashTable *topics; /* hash of a topic by direction and number */
} Mqtt;

typedef struct {
        guint8 sender;  /* Sender */
        guint8 version; /* of the client: 3, 4, 5; 0 where its CONNECT was not seen */
} MqttState;

G_STATIC_ASSERT(sizeof(MqttState) <= PROTOCOL_STATE_SIZE);

typedef struct {
        guint type, flags;
        gsize header;   /* bytes */
        guint32 length; /* after it */
} MqttPacket;

/* PARSE_NOT_MINE: no such packet is there. */
static ParseStatus mqtt_packet_read(const guint8 *bytes, gsize n, MqttPacket *p)
{
        /* The flags that a type has; of PUBLISH any, but for a quality of 3. */
        static const guint8 flags[16] = { [PUBREL] = 2, [SUBSCRIBE] = 2, [UNSUBSCRIBE] = 2 };
        if (n == 0)
                return PARSE_MORE;
        p->type = bytes[0] >> 4;
        p->flags = bytes[0] & 15;
        if (p->type == 0 ||
            (p->type == PUBLISH ? (p->flags & QOS) == QOS : p->flags != flags[p->type]))
                return PARSE_NOT_MINE;
        p->length = 0;
        for (guint i = 0; i < 4; i++) {
                if (1 + i >= n)
                        return PARSE_MORE;
                p->length |= (guint32)(bytes[1 + i] & 0x7f) << 7 * i;
                if (!(bytes[1 + i] & 0x80)) {
                        p->header = 2 + i;
                        return i > 0 && bytes[1 + i] == 0 ? PARSE_NOT_MINE : PARSE_MESSAGE;
                }
        }
        return PARSE_NOT_MINE;
}

/* Whether a packet of this type may be so long. */
static gboolean length_is_sound(const MqttPacket *p)
{
        switch (p->type) {
        case CONNECT:
                return p->length >= 12;
        case CONNACK:
        case PUBACK:
        case PUBREC:
        case PUBREL:
        case PUBCOMP:
                return p->length >= 2;
        case PUBLISH:
                return p->length >= (p->flags & QOS ? 4 : 2);
        case SUBSCRIBE:
                return p->length >= 6;
        case SUBACK:
                return p->length >= 3;
        case UNSUBSCRIBE:
                return p->length >= 5;
        case UNSUBACK:
                return p->length >= 2;
        case PINGREQ:
        case PINGRESP:
                return p->length == 0;
        default:
                return TRUE;
        }
}

/* Version 5's numbers of variable length. */
static gboolean mqtt_number_read(Cursor *c, guint32 *number)
{
        guint8 byte;
        *number = 0;
        for (guint i = 0; i < 4; i++) {
                if (!cursor_u8(c, &byte))
                        return FALSE;
                *number |= (guint32)(byte & 0x7f) << 7 * i;
                if (!(byte & 0x80))
                        return TRUE;
        }
        return FALSE;
}

/* Two bytes with a length, and its bytes. */
static gboolean string_read(Cursor *c, Cursor *string)
{
        guint16 n;
        return cursor_u16(c, &n) && cursor_part(c, n, string);
}

/* --- recognising ----------------------------------------------------------- */

/* Of CONNECT: the name of the protocol, its version. 0 where that is none. */
static guint8 version_read(Cursor c)
{
        Cursor name;
        guint8 version;
        if (!string_read(&c, &name) || !cursor_u8(&c, &version))
                return 0;
        gsize n = cursor_left(&name);
        if (n == 6 && memcmp(name.at, "MQIsdp", n) == 0)
                return version == 3 ? version : 0;
        return n == 4 && memcmp(name.at, "MQTT", n) == 0 && (version == 4 || version == 5) ? version
                                                                                           : 0;
}

static gboolean is_topic(Cursor topic)
{
        for (const guint8 *p = topic.at; p < topic.end; p++)
                if (*p < ' ' || *p == '#' || *p == '+' || *p == 0x7f)
                        return FALSE;
        return cursor_left(&topic) > 0 &&
               g_utf8_validate((const char *)topic.at, (gssize)cursor_left(&topic), NULL);
}

/* How much of a packet must be there. */
static gsize needed(const MqttPacket *p)
{
        return MIN(p->length, (gsize)(p->type == PUBLISH ? MAX_TOPIC + MAX_PAYLOAD : 64));
}

/* The first bytes of a CONNECT. */
static ParseStatus recognise_connect(const MqttPacket *p, Cursor c)
{
        static const guint8 names[][9] = { "\0\4MQTT\4", "\0\4MQTT\5", "\0\6MQIsdp" };
        static const guint8 length[] = { 7, 7, 8 };
        for (guint i = 0; i < G_N_ELEMENTS(names); i++)
                if (memcmp(c.at, names[i], MIN(cursor_left(&c), length[i])) == 0)
                        return cursor_left(&c) < 9 && cursor_left(&c) < p->length ? PARSE_MORE
                               : version_read(c)                                  ? PARSE_MESSAGE
                                                                                  : PARSE_NOT_MINE;
        return PARSE_NOT_MINE;
}

/* What can be said in the middle of a connection by packet p, of which those bytes are there. */
static ParseStatus recognise_packet(const MqttPacket *p, Cursor c, guint *weight)
{
        guint16 size;
        gboolean whole = cursor_left(&c) == p->length;
        if (p->type == PUBLISH) {
                if (!cursor_u16(&c, &size))
                        return PARSE_MORE;
                if (size == 0 || size > p->length - 2 || size > MAX_TOPIC ||
                    p->length > MAX_RECOGNISED)
                        return PARSE_NOT_MINE;
                const guint8 *topic = cursor_take(&c, size);
                if (topic && !is_topic(cursor(topic, size)))
                        return PARSE_NOT_MINE;
                *weight += size >= 3 ? SURE : 1;
        } else if (p->type >= PUBACK && p->type <= PUBCOMP) {
                if (p->length != 2)
                        return PARSE_NOT_MINE;
                *weight += SURE / 2;
        } else {
                return PARSE_NOT_MINE;
        }
        return whole ? PARSE_MESSAGE : PARSE_MORE;
}

/* PARSE_MESSAGE where the bytes begin with a CONNECT; or, in the middle of a connection, with
 * something that is published or with several acknowledgements, whole. */
static ParseStatus mqtt_recognise(const guint8 *bytes, gsize n)
{
        gsize at = 0;
        for (guint weight = 0; weight < SURE;) {
                MqttPacket p;
                ParseStatus status = mqtt_packet_read(bytes + at, n - at, &p);
                if (status != PARSE_MESSAGE)
                        return status == PARSE_MORE && at > 0 && at == n ? PARSE_NOT_MINE : status;
                if (!length_is_sound(&p))
                        return PARSE_NOT_MINE;
                Cursor c = cursor(bytes + at + p.header, MIN(n - at - p.header, p.length));
                if (p.type == CONNECT)
                        return at == 0 ? recognise_connect(&p, c) : PARSE_NOT_MINE;
                status = recognise_packet(&p, c, &weight);
                if (status != PARSE_MESSAGE)
                        return status;
                at += p.header + p.length;
        }
        return PARSE_MESSAGE;
}

/* --- messages -------------------------------------------------------------- */

/* Its first two levels, unless they are of numbers: what comes below them names things. */
static void mqtt_label_append(GString *label, const char *what, Cursor topic)
{
        enum { LEVELS = 2 };
        if (!label)
                return;
        g_string_append(label, what);
        g_string_append_c(label, ' ');
        for (guint level = 0; cursor_left(&topic) > 0 && level < LEVELS; level++) {
                const guint8 *slash = memchr(topic.at, '/', cursor_left(&topic));
                gsize n = slash ? (gsize)(slash - topic.at) : cursor_left(&topic);
                gboolean digits = FALSE;
                for (gsize i = 0; i < n; i++)
                        digits |= g_ascii_isdigit(topic.at[i]) != 0;
                if (level > 0)
                        g_string_append_c(label, '/');
                if (digits)
                        g_string_append(label, "{id}");
                else
                        g_string_append_len(label, (const char *)topic.at, (gssize)n);
                cursor_skip(&topic, n + (slash != NULL));
        }
}

static guint64 mqtt_hash_more(guint64 h, Cursor bytes)
{
        for (; bytes.at < bytes.end; bytes.at++)
                h = (h ^ *bytes.at) * HASH_SEED;
        return hash_word(h, cursor_left(&bytes));
}

/* The hash of a topic, by its name or by the number that stands for it in this direction. 0: that
 * was said before the capture. */
static guint64 topic_hash(const MqttState *s, gpointer *memory, Cursor topic, guint16 alias)
{
        guint64 hash = mqtt_hash_more(HASH_SEED, topic);
        guint number = (guint)s->sender << 16 | alias;
        if (alias == 0 || !memory)
                return cursor_left(&topic) ? MAX(hash, 1) : 0;
        if (!*memory) {
                Mqtt *mqtt = *memory = g_new0(Mqtt, 1);
                mqtt->topics = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        }
        GHashTable *topics = ((Mqtt *)*memory)->topics;
        const guint64 *known = g_hash_table_lookup(topics, GUINT_TO_POINTER(number));
        if (cursor_left(&topic) == 0)
                return known ? *known : 0;
        if (known || g_hash_table_size(topics) < 2 * MAX_ALIASES)
                g_hash_table_insert(topics, GUINT_TO_POINTER(number),
                                    g_memdup2(&hash, sizeof hash));
        return MAX(hash, 1);
}

/* Version 5's properties of what is published. FALSE where they are none. */
static gboolean properties_read(Cursor *c, guint16 *alias)
{
        Cursor p, ignored;
        guint32 n, number;
        guint8 id;
        if (!mqtt_number_read(c, &n) || !cursor_part(c, n, &p))
                return FALSE;
        while (cursor_u8(&p, &id))
                switch (id) {
                case 0x01: /* payload format */
                        if (!cursor_skip(&p, 1))
                                return FALSE;
                        break;
                case 0x02: /* expiry */
                        if (!cursor_skip(&p, 4))
                                return FALSE;
                        break;
                case 0x0b: /* subscription */
                        if (!mqtt_number_read(&p, &number))
                                return FALSE;
                        break;
                case 0x23:
                        if (!cursor_u16(&p, alias))
                                return FALSE;
                        break;
                case 0x26: /* of the user */
                        if (!string_read(&p, &ignored))
                                return FALSE;
                        /* FALLTHROUGH */
                case 0x03: /* content type, response topic, correlation */
                case 0x08:
                case 0x09:
                        if (!string_read(&p, &ignored))
                                return FALSE;
                        break;
                default:
                        return FALSE;
                }
        return TRUE;
}

/* The versions of the two sides of a connection. */
static guint8 version_of(const MqttState *s, const MqttState *other)
{
        return s->version ? s->version : other ? other->version : 0;
}

/* Topic, id, properties and as much of the payload as is looked at. */
static gboolean mqtt_publish_read(const MqttState *s, const MqttState *other, const MqttPacket *p,
                                  Cursor c, GString *label, Parsed *parsed)
{
        guint16 size, id = 0, alias = 0;
        const guint8 *text;
        if (!cursor_u16(&c, &size) || size > p->length - 2)
                return FALSE;
        gboolean qos = (p->flags & QOS) != 0;
        parsed->kind = qos ? KIND_CALL : KIND_ONE_WAY;
        if (size > MAX_TOPIC) { /* what follows was not looked at */
                parsed->kind = qos ? KIND_CONTROL : KIND_ONE_WAY;
                return TRUE;
        }
        if (!(text = cursor_take(&c, size)) || (qos && !cursor_u16(&c, &id)) || (qos && id == 0))
                return FALSE;
        Cursor topic = cursor(text, size);
        mqtt_label_append(label, "publish", topic);
        parsed->keyed = TRUE;
        parsed->key = id;
        parsed->part = PART_BEGINS | PART_ENDS | PART_BY_PLACE;
        if (version_of(s, other) == 5 && !properties_read(&c, &alias))
                return needed(p) < p->length; /* more of them than are looked at, or broken */
        guint64 hash = topic_hash(s, parsed->memory, topic, alias);
        if (hash)
                parsed->carried.content =
                        MAX(mqtt_hash_more(hash,
                                           cursor(c.at, MIN(cursor_left(&c), (gsize)MAX_PAYLOAD))),
                            1);
        return TRUE;
}

/* The first reason of several why something has failed, after the id; 0: none has. */
static guint8 reasons_read(const MqttPacket *p, guint8 version, Cursor c)
{
        guint32 properties;
        guint8 reason;
        if (p->type != SUBACK && version != 5)
                return 0;
        if (version == 5 && (!mqtt_number_read(&c, &properties) || !cursor_skip(&c, properties)))
                return 0;
        while (cursor_u8(&c, &reason))
                if (reason >= FAILED)
                        return reason;
        return 0;
}

/* What answers a packet with an id. last: there is nothing more to it, if it has not failed. */
static void mqtt_answer_read(const MqttPacket *p, guint8 version, Cursor c, gboolean last,
                             Parsed *parsed)
{
        guint16 id = 0;
        guint8 reason = 0;
        cursor_u16(&c, &id);
        if (p->type >= PUBACK && p->type <= PUBCOMP)
                cursor_u8(&c, &reason);
        else
                reason = reasons_read(p, version, c);
        if (reason >= FAILED)
                parsed->outcome = outcome_number(NUMBERS_MQTT, reason);
        if (!last && reason < FAILED)
                return;
        parsed_set_keyed(parsed, KIND_RETURN, PART_ENDS,
                         p->type == SUBACK || p->type == UNSUBACK ? id | 1u << 16 : id);
}

static void mqtt_request_read(const char *what, Cursor c, GString *label, Parsed *parsed)
{
        guint16 id = 0;
        cursor_u16(&c, &id);
        if (label)
                g_string_append(label, what);
        parsed_set_keyed(parsed, KIND_CALL, PART_BEGINS | PART_ENDS | PART_BY_PLACE, id | 1u << 16);
}

static void sender_set(MqttState *s, guint type)
{
        switch (type) {
        case CONNECT:
        case SUBSCRIBE:
        case UNSUBSCRIBE:
        case PINGREQ:
                s->sender = SENDER_CLIENT;
                break;
        case CONNACK:
        case SUBACK:
        case UNSUBACK:
        case PINGRESP:
                s->sender = SENDER_SERVER;
                break;
        default:
                break;
        }
}

static ParseStatus mqtt_message_read(MqttState *s, const MqttState *other, const guint8 *bytes,
                                     gsize n, GString *label, Parsed *parsed)
{
        MqttPacket p;
        ParseStatus status = mqtt_packet_read(bytes, n, &p);
        if (status != PARSE_MESSAGE)
                return status;
        if (!length_is_sound(&p))
                return PARSE_NOT_MINE;
        if (n - p.header < needed(&p))
                return PARSE_MORE;
        Cursor c = cursor(bytes + p.header, needed(&p));
        sender_set(s, p.type);
        parsed->sender = s->sender;
        parsed->kind = KIND_CONTROL;
        switch (p.type) {
        case CONNECT:
                s->version = version_read(c);
                if (!s->version)
                        return PARSE_NOT_MINE;
                /* FALLTHROUGH */
        case CONNACK:
        case DISCONNECT:
        case AUTH:
                parsed->kind = KIND_SESSION;
                break;
        case PUBLISH:
                if (!mqtt_publish_read(s, other, &p, c, label, parsed))
                        return PARSE_NOT_MINE;
                break;
        case PUBREC:
                mqtt_answer_read(&p, version_of(s, other), c, FALSE, parsed);
                break;
        case PUBACK:
        case PUBCOMP:
        case SUBACK:
        case UNSUBACK:
                mqtt_answer_read(&p, version_of(s, other), c, TRUE, parsed);
                break;
        case SUBSCRIBE:
                mqtt_request_read("subscribe", c, label, parsed);
                break;
        case UNSUBSCRIBE:
                mqtt_request_read("unsubscribe", c, label, parsed);
                break;
        default:
                break;
        }
        parsed->length = p.header + (guint64)p.length;
        return PARSE_MESSAGE;
}

static ParseStatus mqtt_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                              gboolean eof, GString *label, Parsed *parsed)
{
        MqttState *s = state;
        if (eof)
                return PARSE_NOT_MINE; /* within a packet */
        if (call == CALL_PROBE) {
                ParseStatus status = mqtt_recognise(bytes, n);
                if (status != PARSE_MESSAGE)
                        return status;
        }
        return mqtt_message_read(s, parsed->other, bytes, n, label, parsed);
}

/* Whether the bytes are one acknowledgement, and no more. */
static gboolean is_acknowledgement(const guint8 *bytes, gsize n)
{
        MqttPacket p;

        return mqtt_packet_read(bytes, n, &p) == PARSE_MESSAGE && p.type >= PUBACK &&
               p.type <= PUBCOMP && p.length == 2 && n == p.header + p.length;
}

static gsize mqtt_find_boundary(const guint8 *bytes, gsize n)
{
        if (is_acknowledgement(bytes, n)) /* most sides send them one at a time */
                return 0;
        for (gsize at = 0; at < n; at++)
                if (mqtt_recognise(bytes + at, n - at) != PARSE_NOT_MINE)
                        return at;
        return n;
}

static void mqtt_forget(gpointer memory)
{
        Mqtt *mqtt = memory;
        g_hash_table_destroy(mqtt->topics);
        g_free(mqtt);
}

const Protocol protocol_mqtt = {
        .name = "mqtt",
        .keyed = TRUE,
        .mutual = TRUE,
        .parse = mqtt_parse,
        .find_boundary = mqtt_find_boundary,
        .forget = mqtt_forget,
};
