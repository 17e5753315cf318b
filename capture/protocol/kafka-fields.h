/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The fields of requests and responses of Kafka, by API and version, as far as the capture needs
 * them: the names and ids of topics, partitions, offsets, acknowledgements and errors.
 *
 * An array has its number of elements in front. From some version on an API is flexible: lengths
 * are compact, and fields may be added to each structure.
 */
#pragma once

#include "base/hash.h"
#include "capture/protocol/protocol.h"

enum {
        KAFKA_PRODUCE = 0,
        KAFKA_FETCH = 1,
        KAFKA_SASL_HANDSHAKE = 17,
        KAFKA_API_VERSIONS = 18,
        KAFKA_LOOK = 65536, /* bytes of a message that are looked at */
};

/* What a call is. */
typedef enum {
        KAFKA_ASKS,
        KAFKA_OF_SESSION,
        KAFKA_WAITS,    /* for records */
        KAFKA_OF_GROUP, /* keeps a consumer in its group, or says what it has done */
} KafkaRole;

/* The fields of a request and a response, after the header, by a letter each:
 *
 *     1 2 4 8   a number of 1 to 8 bytes  s b   a string, bytes
 *     n u       a topic: name, id       i     the id of the topic just named
 *     p o x     partition, offset that is fetched, offset of the first record
 *     a m e     acknowledgements wanted, longest wait, error
 *     [ ]       an array                !     nothing after it is looked at
 *
 * v3: only from version 3 on; w3: only up to version 3. */
typedef struct {
        const char *name;               /* NULL: it came later */
        const char *request, *response; /* NULL: not looked at */
        guint8 last;                    /* version by which it is recognised */
        guint8 flexible;                /* the first version that is */
        guint8 role;                    /* KafkaRole */
} KafkaApi;

/* Of any number. */
const KafkaApi *kafka_api(guint number);

/* Bytes of a message, as far as they are at hand, and what was found in them. */
typedef struct {
        Cursor c;
        guint64 beyond; /* bytes of the message after these */
        guint version;
        gboolean flexible;
        GHashTable *names;   /* Parsed.names, or NULL */
        GHashTable *offsets; /* gint64 by kafka_partition_key(): set from a Fetch; NULL: not kept */
        GArray *produced; /* guint64, kafka_record_hash(): added from a Produce's response, or NULL
                           */
        Cursor name;      /* of the topic; none if only its id is known */
        Cursor first;     /* of the first topic */
        guint64 topic;    /* a hash */
        guint n_topics;
        gint32 partition;
        gint32 wait; /* ms */
        gint16 acks;
        gint16 error; /* the first that there is */
        gboolean stopped;
} KafkaFields;

/* All of these read what comes next. PARSE_MORE: the bytes at hand end before it does;
 * PARSE_NOT_MINE: it cannot be that. */
ParseStatus kafka_fields_read(KafkaFields *f, const char *fields);

/* Fields, of which the last is "!", in front of others. */
ParseStatus kafka_fields_read_first(KafkaFields *f, const char *fields);

/* A length, of size bytes if it is not compact; -1: null. */
ParseStatus kafka_length_read(KafkaFields *f, gsize size, gint32 *length);

/* A number of 2, 4 or 8 bytes. */
ParseStatus kafka_number_read(KafkaFields *f, gsize size, gint64 *value);

/* A topic of Produce or Fetch: a name, or in newer versions an id. */
ParseStatus kafka_topic_read(KafkaFields *f);

/* The fields that were added. */
ParseStatus kafka_tags_skip(KafkaFields *f);

/* needed bytes are not there. */
static inline ParseStatus kafka_fields_end(const KafkaFields *f, guint64 needed)
{
        return needed > cursor_left(&f->c) + f->beyond ? PARSE_NOT_MINE : PARSE_MORE;
}

gboolean kafka_is_text(Cursor text);

static inline gint64 kafka_partition_key(guint64 topic, gint32 partition)
{
        return (gint64)hash_word(topic, (guint32)partition);
}

/* Of a record, by its place; not 0. */
static inline guint64 kafka_record_hash(guint64 topic, gint32 partition, gint64 offset)
{
        return MAX(hash_word((guint64)kafka_partition_key(topic, partition), (guint64)offset), 1);
}
