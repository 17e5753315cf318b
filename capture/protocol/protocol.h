/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a protocol is to the capture: a file with a parser, and a row in the
 * table in protocol.c. It turns the bytes of one direction of a connection, in
 * order, or one datagram, into messages. It sees plain bytes and keeps a few
 * bytes of state; connections, stamps, pairing and holes are others' business.
 */
#pragma once

#include "base/outcome.h"
#include "capture/packet/packet.h"
#include "capture/protocol/request-tags.h"
#include "capture/protocol/statements.h"

typedef enum {
        KIND_UNKNOWN,
        KIND_CALL,
        KIND_RETURN,
        KIND_ONE_WAY,
        KIND_INTERIM, /* belongs to an answer that is still to come: HTTP's 100 Continue */
        KIND_NOTHING, /* no message at all, such as blank lines between two */
        KIND_CONTROL, /* no message either, but surely of this protocol: a handshake, settings */
        KIND_SESSION, /* nor what begins or ends a session: a greeting, a login. Counted */
        KIND_BY_SIDE, /* of a part: of a call or a return, whichever its sender sends */
} MessageKind;

/* A call that is a login, and with its return as KIND_SESSION. */
typedef enum {
        SESSION_NOT,
        SESSION_ALWAYS,
        SESSION_UNLESS_LAST, /* if other calls follow on the connection: see held-logins.h */
} SessionCall;

typedef enum {
        PARSE_MORE,    /* not a whole message yet */
        PARSE_MESSAGE, /* a message ends */
        PARSE_PIECE,   /* a piece of one ends, and is a message itself if that does not end */
        PARSE_NOT_MINE /* this is not the protocol */
} ParseStatus;

/* What ends with PARSE_MESSAGE may be only a part of a message; this is then set
 * together with kind, KIND_CALL, KIND_RETURN or KIND_BY_SIDE. Either a protocol has
 * many messages in a direction at a time (HTTP/2), and it is a part of the one of
 * its key; or it has records and no messages (TLS), and is a part of a run. */
typedef enum {
        PART_GOES_ON = 1,   /* belongs to a message that has begun */
        PART_BEGINS = 2,    /* and may be the first of one */
        PART_ENDS = 4,      /* is the last */
        PART_ABORTS = 8,    /* nothing belongs to it: its sender gives the call up */
        PART_OF_RUN = 16,   /* of a message by the generic rule: see run.h */
        PART_ANSWERS = 32,  /* and no message before the first call */
        PART_BY_PLACE = 64, /* its call's id is that of a call in order; the key only pairs */
        PART_THROUGH = 128, /* with the others of its group whose keys are lower: see KEY_GROUP */
        PART_PIECE = 256,   /* a piece of the message: see pieces.h */
        PART_NAMES = 512    /* its label is appended to what earlier parts have */
} PartFlags;

/* The keys of a group differ in their lower bits only. */
#define KEY_GROUP_BITS 48
#define KEY_GROUP(key) ((key) >> KEY_GROUP_BITS)

/* A call that takes out of a queue what lies there, */
typedef enum {
        FETCH_NONE,
        FETCH_NOW,   /* or comes back empty, */
        FETCH_WAIT,  /* or waits until there is something */
        FETCH_SETTLE /* tells the queue something of what was taken: see settling.h */
} FetchKind;

/* Who sends such a message. */
typedef enum { SENDER_ANY, SENDER_CLIENT, SENDER_SERVER } Sender;

/* Of a call, and what was taken out of a queue. */
typedef enum { SETTLES_NOTHING, MAY_NAME, SETTLES } SettleKind;

/* Which side a direction is of, for a parser that finds out by itself. */
typedef enum { SIDE_UNKNOWN, SIDE_CLIENT, SIDE_SERVER } Side;

typedef struct Protocol Protocol;

/* What a message carries by which it is known elsewhere: a call that continues another message (see
 * links.h), or something that is put into a queue, taken out of one, or settled there (settling.h).
 */
typedef struct {
        guint64 content;         /* a hash of what the message of Parsed.key carries: other messages
                                    that carry the same continue it; 0: none */
        guint64 content_else;    /* another hash: what this message continues where no message had
                                    content; 0: none */
        const guint64 *contents; /* with PARSE_MESSAGE, of a whole message: several of them; of a
                                    return, what it brings out of a queue. Until the next parse() */
        const guint64 *tags;     /* of a return, for each of contents the tag by which it will be
                                    settled, or 0; NULL: none has one. As long */
        const guint64 *contents_else; /* of a return, for each of contents what it continues if no
                                         message had that; NULL: nothing. As long */
        const char *job; /* the name of the job that is carried or put in: see job-name.h;
                            NULL: none. As long */
        guint16 n_contents;
        guint8 fetch;      /* with PARSE_MESSAGE, of a call: FetchKind */
        guint8 was_waited; /* with contents, of a return: its call is one that waits */
        guint8 settles;    /* contents are tags of what this settles, or only names: SettleKind */
        guint8 puts;       /* of a call and its return: contents are put into a queue by the call,
                              which is their first message */
} Carried;

/* The header block of a part, or a piece of one: see header-labels.h. */
typedef struct {
        const guint8 *bytes; /* of the bytes shown; NULL: there is none */
        guint32 n;
        guint8 ends; /* the block is complete */
} HeaderBlock;

/* Of a call of which its first bytes do not say everything, where labels are wanted. */
typedef struct {
        const guint8 *name; /* what its label goes on with, of the bytes shown; NULL: nothing */
        guint8 n;
        guint8 body; /* BodyKind: the settled bytes end with some of such a body; see body-name.h */
        guint8 after;      /* bytes that follow these, */
        guint32 body_from; /* which begin here */
} Named;

/* What parse() found out. Zero when it is called, but for other, memory, sender and cut. */
typedef struct {
        /* What parse() may look at. */
        gconstpointer other; /* the state of the other direction; NULL for datagrams */
        GHashTable *names;   /* of all connections: text by the hash of the id that stands for it.
                                NULL: as for memory */
        gpointer *memory;    /* what it keeps of the connection, of a protocol that has a forget():
                                parse() allocates it. NULL: bytes are only to be recognised */

        Statements **prepared; /* what any connection prepared under names that all connections
                                  know; *prepared may be NULL. NULL: none are kept */

        /* Where a message or a part ends, and where it belongs. */
        guint64 length; /* bytes settled, from the first of those shown: never shown again. May be
                           more than were shown: the rest, when it comes, need not be. With
                           PARSE_MESSAGE the message ends after them, with PARSE_PIECE its piece */
        guint64 key;
        const Protocol *next; /* where it switches: to this; NULL: what is found out */
        Outcome outcome;      /* of a return, or of a part of one, as soon as it is known */
        guint32 piece;        /* with PARSE_PIECE: the first of those bytes that is of the piece */
        MessageKind kind;     /* as soon as it is known, with PARSE_MORE too */
        guint16 part;         /* PartFlags; 0 where messages are whole */
        guint16 topic;        /* tells apart messages of the same key; 0: not known */
        guint8 call;          /* of a call: what parse() must know to parse its return */
        guint8 sender;        /* Sender, as far as it is known; of a protocol whose both sides call
                                 parse() may say more */

        /* Bytes, as this is cleared for every message. */
        guint8 framing;     /* how many bytes at the beginning of length only frame what is said */
        guint8 endless;     /* the message says that it has no end: see pieces.h */
        guint8 keyed;       /* paired by key, not in order */
        guint8 by_place;    /* with keyed: the key only pairs, and is not its id */
        guint8 session;     /* SessionCall: of a call */
        guint8 transaction; /* of a return that ends: one is open on the connection after it, or a
                               statement that was prepared is still to be executed */
        guint8 switches;    /* after this message the connection speaks something else */
        guint8 cut;         /* set when it is called: what follows these bytes was cut off */
        guint8 unfinished;  /* with eof: the message would have gone on */

        HeaderBlock headers; /* where labels are wanted */
        Named named;
        Carried carried;
} Parsed;

/* What was parsed is a message, or a part of one, that is paired by key. part: PartFlags. */
static inline void parsed_set_keyed(Parsed *parsed, MessageKind kind, guint part, guint64 key)
{
        parsed->kind = kind;
        parsed->part = (guint16)part;
        parsed->keyed = TRUE;
        parsed->key = key;
}

#define PARSE_FOREVER G_MAXUINT64 /* a length: everything until the end */

enum {
        PROTOCOL_STATE_SIZE = 32,
        CALL_NONE = 0,    /* the call that a return belongs to was not seen */
        CALL_PROBE = 255, /* of no call: the bytes are shown to recognise them: see parse() */
};

struct Protocol {
        const char *name;   /* as in --proto PORT=NAME */
        gboolean datagrams; /* over UDP, a message a datagram; else over TCP */
        gboolean greets;    /* its servers speak first, and may not say what they speak */
        gboolean keyed;     /* paired by key: a run stands for no message */
        gboolean mutual;    /* both sides call */

        /* state: PROTOCOL_STATE_SIZE bytes of this direction, zero at a message
         * boundary where the protocol begins or is found again. call: what the
         * oldest call of the other direction that has no return set in
         * Parsed.call, or CALL_NONE. eof: nothing comes after these bytes (n may
         * be 0). label: NULL, or where to append a call's operation name, once.
         *
         * To recognise a protocol the first bytes of a direction are shown with
         * a zero state and CALL_PROBE: it is taken at its word when it settles any
         * that are not KIND_NOTHING, and shown them again. */
        ParseStatus (*parse)(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                             gboolean eof, GString *label, Parsed *parsed);

        /* The offset of the first byte that looks like the start of a message,
         * or n: for going on after a hole. NULL for datagrams. */
        gsize (*find_boundary)(const guint8 *bytes, gsize n);

        void (*forget)(gpointer memory); /* frees Parsed.memory; NULL where it keeps none */

        /* Appends the values in bytes of a call that parse() has settled, as lines of text; n of
         * them are at hand. memory: as of parse(). What HTTP/2 has in Parsed.headers is not among
         * them. NULL where there are none that are passed on. See values.h. */
        void (*values)(GString *text, gpointer *memory, const guint8 *bytes, gsize n);

        /* Takes from the same bytes what the rules ask for. NULL where no rule is about them. See
         * request-tags.h. */
        void (*tags)(const TagRules *rules, RequestTags **tags, const guint8 *bytes, gsize n);
};

extern const Protocol protocol_amqp, protocol_cql, protocol_fastcgi, protocol_http, protocol_dns,
        protocol_dns_stream, protocol_gossip, protocol_gossip_udp, protocol_http2, protocol_kafka,
        protocol_ldap, protocol_memcached, protocol_mongodb, protocol_mqtt, protocol_mysql,
        protocol_nats, protocol_postgres, protocol_redis, protocol_redis_bus, protocol_rpc,
        protocol_rpc_udp, protocol_smtp, protocol_tds, protocol_tls, protocol_websocket,
        protocol_zookeeper;

/* The frames of quic/http3.h. It is never recognised. */
extern const Protocol protocol_http3;

/* For what no protocol recognises: see exchange.h. Its functions are NULL. */
extern const Protocol protocol_generic;

/* The protocols that are recognised by content, in the order in which they are asked; NULL at
 * the end. */
extern const Protocol *const protocols[];

/* NULL where there is none of that name. */
const Protocol *protocol_lookup(const char *name);

/* The names that can be looked up, in alphabetical order, for a message. The caller's to free. */
char *protocol_list_names(void);
