/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Kafka. A request is a call, and the response with its correlation id the return. A Produce that
 * wants no acknowledgement is one-way. Asking for versions and SASL are of the session.
 *
 * A batch of records that is fetched continues the Produce that brought it. It is known by topic,
 * partition and offset, which the response to Produce says. A consumer that waits may have the
 * batch before that response is sent, and without acknowledgement there is none: then the batch is
 * known by its header, in which the broker changes only the offset. The header has the number of
 * records, so compressed batches are not opened.
 *
 * Most messages are looked at as a whole, by a text that says which fields they have (KafkaApi). Of
 * the request Produce and the response to Fetch, which hold batches, only the headers of these are
 * (Walk).
 */
#include "capture/protocol/kafka-fields.h"

#include <string.h>

enum {
        LENGTH = 4,
        LEAST_REQUEST = 10,             /* bytes after the length */
        MAX_MESSAGE = 1 << 30,          /* after it; brokers take requests of 100 MB by default */
        MAX_RECOGNISED = (1 << 24) - 1, /* of a request by which a connection is */
        MAX_CLIENT = 1024,              /* of a client's id */
        MAX_VERSION = 40,
        MAX_PENDING = 1024, /* requests that wait for a response, and ids that may be of others */
        MAX_RECORDS = 4096, /* of a response */
        MAX_ABORTED = 1024, /* transactions of a partition */
        LIBRDKAFKA = 4,     /* bytes that this client may append to the request for versions */
        UNKNOWN_ERROR = -1,
};

enum {
        BATCH = 61,       /* bytes of a batch's header */
        OLD_MESSAGE = 26, /* of a message in the format before, at least */
        BATCH_SIZE = 8,   /* offsets: of the size of what follows that, ... */
        BATCH_MAGIC = 16,
        BATCH_CRC = 17,
        OLD_CRC = 12,
        BATCH_FLAGS = 21,
        BATCH_LAST = 23,
        BATCH_PRODUCER = 43,
        BATCH_RECORDS = 57,
        NEW_MAGIC = 2,
        OF_TRANSACTION = 0x10,
        OF_CONTROL = 0x20,
};

typedef struct {
        gint32 id;
        guint8 api, version;
} Pending;

/* A transaction whose records are left out, from its first offset on. */
typedef struct {
        gint64 producer, first;
} Aborted;

/* Where in a message with batches its next bytes stand. */
typedef enum { AT_TOPIC, AT_PARTITION, AT_BATCH, AT_PARTITION_END, AT_TOPIC_END, AT_REST } Step;

/* A message with batches. */
typedef struct {
        guint64 left;              /* bytes that are not settled */
        gint32 topics, partitions; /* that are still to come, */
        guint64 records;           /* and bytes of the partition's records */
        guint64 topic;             /* a hash */
        gint64 from;               /* the offset from which on records are wanted */
        GArray *contents;          /* guint64: see Carried, */
        GArray *contents_else;     /* of a response */
        GArray *aborted;           /* Aborted; NULL before the first */
        char *name;                /* of the topic; NULL: it is not known */
        char *job;                 /* the topic of all records so far; NULL: there is none */
        Outcome outcome;
        gint32 partition;
        guint8 step; /* Step */
        guint8 version, flexible;
        guint8 several; /* the records have no topic in common */
} Walk;

/* What is kept of a connection. */
typedef struct {
        GArray *pending;     /* Pending, in order */
        GHashTable *offsets; /* gint64, by topic and partition: where fetching goes on */
        Walk walk[2];        /* the client's, the server's */
        char *fetched;       /* the last topic that was fetched; NULL: none */
        gint32 last;         /* the id of the last request; -1: none */
        guint8 several;      /* several topics are fetched */
        guint8 raw_sasl;     /* tokens of SASL are not in requests */
} Kafka;

typedef struct {
        guint8 within; /* a message with batches */
        guint8 sender; /* Sender */
} KafkaState;

G_STATIC_ASSERT(sizeof(KafkaState) <= PROTOCOL_STATE_SIZE);

/* --- requests and responses ---------------------------------------------------- */

static gboolean is_flexible(guint api, guint version)
{
        return version >= kafka_api(api)->flexible;
}

typedef struct {
        guint32 length; /* after it */
        gint32 id;
        guint16 api, version;
        Cursor client;
} Request;

/* fields: set to what follows the header. */
static ParseStatus request_read(const guint8 *bytes, gsize n, Request *q, KafkaFields *fields)
{
        gint16 client;
        if (n > 0 && bytes[0] > MAX_MESSAGE >> 24)
                return PARSE_NOT_MINE;
        if (n < LENGTH)
                return PARSE_MORE;
        q->length = read_u32(bytes);
        if (q->length < LEAST_REQUEST || q->length > MAX_MESSAGE)
                return PARSE_NOT_MINE;
        if (n < LENGTH + LEAST_REQUEST)
                return n >= LENGTH + 2 && bytes[LENGTH] ? PARSE_NOT_MINE : PARSE_MORE;
        q->api = read_u16(bytes + 4);
        q->version = read_u16(bytes + 6);
        q->id = (gint32)read_u32(bytes + 8);
        client = (gint16)read_u16(bytes + 12);
        if (q->api > 0xff || q->version > MAX_VERSION || q->id < 0 || client < -1 ||
            client > MAX_CLIENT)
                return PARSE_NOT_MINE;
        *fields = (KafkaFields){ .c = cursor(bytes + LENGTH + LEAST_REQUEST,
                                             MIN(n - LENGTH, q->length) - LEAST_REQUEST),
                                 .version = q->version,
                                 .flexible = is_flexible(q->api, q->version) };
        fields->beyond = q->length - LEAST_REQUEST - cursor_left(&fields->c);
        if (!cursor_part(&fields->c, (gsize)MAX(client, 0), &q->client))
                return kafka_fields_end(fields, (guint64)MAX(client, 0));
        return kafka_is_text(q->client) ? kafka_tags_skip(fields) : PARSE_NOT_MINE;
}

/* PARSE_MESSAGE where the bytes begin with a request whose fields are all as they should be. */
static ParseStatus kafka_recognise(const guint8 *bytes, gsize n)
{
        Request q;
        KafkaFields f;
        if (n > 0 && bytes[0] > MAX_RECOGNISED >> 24)
                return PARSE_NOT_MINE;
        ParseStatus status = request_read(bytes, n, &q, &f);
        if (status != PARSE_MESSAGE)
                return status;
        const KafkaApi *api = kafka_api(q.api);
        if (!api->request || q.version > api->last)
                return PARSE_NOT_MINE;
        status = kafka_fields_read(&f, api->request);
        if (status == PARSE_MESSAGE)
                return cursor_left(&f.c) + f.beyond <=
                                               (q.api == KAFKA_API_VERSIONS ? LIBRDKAFKA : 0) &&
                                       (q.api != KAFKA_PRODUCE || f.n_topics > 0)
                               ? PARSE_MESSAGE
                               : PARSE_NOT_MINE;
        /* The first of its topics tells enough. */
        return status == PARSE_MORE && f.n_topics > 0 ? PARSE_MESSAGE : status;
}

static Kafka *kafka_get(gpointer *memory)
{
        Kafka *k = *memory;
        if (k)
                return k;
        *memory = k = g_new0(Kafka, 1);
        k->last = -1;
        k->pending = g_array_new(FALSE, FALSE, sizeof(Pending));
        k->offsets = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, g_free);
        for (guint side = 0; side < 2; side++) {
                k->walk[side].contents = g_array_new(FALSE, FALSE, sizeof(guint64));
                k->walk[side].contents_else = g_array_new(FALSE, FALSE, sizeof(guint64));
        }
        return k;
}

static void kafka_forget(gpointer memory)
{
        Kafka *k = memory;
        g_array_free(k->pending, TRUE);
        g_hash_table_destroy(k->offsets);
        for (guint side = 0; side < 2; side++) {
                g_array_free(k->walk[side].contents, TRUE);
                g_array_free(k->walk[side].contents_else, TRUE);
                if (k->walk[side].aborted)
                        g_array_free(k->walk[side].aborted, TRUE);
                g_free(k->walk[side].name);
                g_free(k->walk[side].job);
        }
        g_free(k->fetched);
        g_free(k);
}

static void pending_add(Kafka *k, const Request *q)
{
        Pending pending = { q->id, (guint8)q->api, (guint8)q->version };
        if (k->pending->len >= MAX_PENDING)
                g_array_remove_range(k->pending, 0, MAX_PENDING / 2);
        g_array_append_val(k->pending, pending);
}

/* Where the request that has this id stands; -1: it was not seen. */
static gint pending_find(const Kafka *k, gint32 id)
{
        for (guint i = 0; i < k->pending->len; i++)
                if (g_array_index(k->pending, Pending, i).id == id)
                        return (gint)i;
        return -1;
}

static Outcome outcome_of(gint16 error)
{
        return error == UNKNOWN_ERROR ? outcome_named("SERVER_ERROR")
                                      : outcome_number(NUMBERS_KAFKA, (guint)MAX(error, 0));
}

static void kafka_label_append(GString *label, const KafkaApi *api, Cursor topic, gboolean several)
{
        if (!label || !api->name)
                return;
        g_string_append(label, api->name);
        if (several)
                g_string_append(label, " ...");
        else if (cursor_left(&topic) > 0) {
                g_string_append_c(label, ' ');
                g_string_append_len(label, (const char *)topic.at, (gssize)cursor_left(&topic));
        }
}

/* A request of a session names only the topics that have changed. */
static void fetch_label_append(Kafka *k, const KafkaFields *f, GString *label)
{
        gsize n = cursor_left(&f->first); /* 0: there is none, or only its id is known */
        gboolean same = k->fetched && n > 0 && strlen(k->fetched) == n &&
                        memcmp(k->fetched, f->first.at, n) == 0;
        if (f->n_topics > 1 || (f->n_topics == 1 && k->fetched && !same))
                k->several = TRUE;
        if (n > 0 && !same) {
                g_free(k->fetched);
                k->fetched = g_strndup((const char *)f->first.at, n);
        }
        const char *name = k->fetched ? k->fetched : "";
        kafka_label_append(label, kafka_api(KAFKA_FETCH),
                           cursor((const guint8 *)name, strlen(name)), k->several);
}

/* --- batches ------------------------------------------------------------------- */

static void walk_begin(Walk *w, guint64 left, gint32 topics, const KafkaFields *f)
{
        g_array_set_size(w->contents, 0);
        g_array_set_size(w->contents_else, 0);
        g_clear_pointer(&w->job, g_free);
        w->left = left;
        w->topics = topics;
        w->version = (guint8)f->version;
        w->flexible = f->flexible != FALSE;
        w->step = AT_TOPIC;
        w->several = FALSE;
        w->outcome = OUTCOME_OK;
}

/* n records, of which the first has this offset, are in the response, in a batch or message with
 * this hash. */
static void walk_add(Walk *w, gint64 offset, gint64 n, guint64 batch)
{
        guint64 content = kafka_record_hash(w->topic, w->partition, offset);
        if (n > 0 && !w->job)
                w->job = g_strdup(w->name);
        if (n > 0 && g_strcmp0(w->job, w->name) != 0)
                w->several = TRUE;
        for (; n > 0 && w->contents->len < MAX_RECORDS; n--) {
                g_array_append_val(w->contents, content);
                g_array_append_val(w->contents_else, batch);
        }
}

/* Whether the batch is of a transaction whose records are left out. The control batch of its
 * producer ends it. */
static gboolean is_aborted(Walk *w, gint64 producer, gint64 last, gboolean control)
{
        for (guint i = 0; w->aborted && i < w->aborted->len; i++) {
                const Aborted *a = &g_array_index(w->aborted, Aborted, i);
                if (a->producer != producer || a->first > last)
                        continue;
                if (control)
                        g_array_remove_index_fast(w->aborted, i);
                return TRUE;
        }
        return FALSE;
}

/* A batch of this size, of which the header is at hand. */
static void batch_see(Walk *w, gboolean response, const guint8 *p, guint64 size)
{
        guint64 hash =
                MAX(hash_word(hash_bytes((const char *)p + BATCH_CRC, BATCH - BATCH_CRC), size), 1);
        guint64 first = read_u64(p), last = first + read_u32(p + BATCH_LAST);
        gint64 count = (gint32)read_u32(p + BATCH_RECORDS);
        guint flags = read_u16(p + BATCH_FLAGS);
        gboolean control = (flags & OF_CONTROL) != 0;
        if (!response) {
                if (w->contents->len < MAX_RECORDS)
                        g_array_append_val(w->contents, hash);
                return;
        }
        if ((flags & (OF_TRANSACTION | OF_CONTROL)) &&
            is_aborted(w, (gint64)read_u64(p + BATCH_PRODUCER), (gint64)last, control))
                count = 0;
        if ((gint64)first < w->from) /* the others were fetched before */
                count = MIN(count, (gint64)(last - (guint64)w->from + 1));
        if (!control)
                walk_add(w, (gint64)first, count, hash);
}

/* The same of a message of the formats before. */
static void old_message_see(Walk *w, gboolean response, const guint8 *p, guint64 size)
{
        guint64 hash = MAX(
                hash_word(hash_bytes((const char *)p + OLD_CRC, OLD_MESSAGE - OLD_CRC), size), 1);
        gint64 offset = (gint64)read_u64(p);
        if (response)
                walk_add(w, offset, offset >= w->from, hash);
        else if (w->contents->len < MAX_RECORDS)
                g_array_append_val(w->contents, hash);
}

/* Sets *size to the bytes of the next batch. The last one may be cut off: it does not count. */
static ParseStatus batch_read(Walk *w, gboolean response, KafkaFields *f, guint64 *size)
{
        gsize n = cursor_left(&f->c), needed = (gsize)MIN(w->records, (guint64)BATCH);
        const guint8 *p = f->c.at;
        *size = w->records;
        if (needed < OLD_MESSAGE)
                return PARSE_MESSAGE;
        if (n > BATCH_MAGIC && p[BATCH_MAGIC] < NEW_MAGIC)
                needed = OLD_MESSAGE;
        if (n < needed)
                return kafka_fields_end(f, needed);
        *size = (guint64)BATCH_SIZE + 4 + read_u32(p + BATCH_SIZE);
        if (*size > w->records || *size < needed) {
                *size = w->records;
                return PARSE_MESSAGE;
        }
        if (needed == BATCH)
                batch_see(w, response, p, *size);
        else
                old_message_see(w, response, p, *size);
        return PARSE_MESSAGE;
}

/* The aborted transactions in the fields of a partition of a response. */
static ParseStatus aborted_read(Walk *w, KafkaFields *f)
{
        gint32 n = 0;
        ParseStatus got = kafka_length_read(f, 4, &n);
        if (w->aborted)
                g_array_set_size(w->aborted, 0);
        for (; got == PARSE_MESSAGE && n > 0; n--) {
                Aborted a = { 0 };
                got = kafka_number_read(f, 8, &a.producer);
                if (got == PARSE_MESSAGE)
                        got = kafka_number_read(f, 8, &a.first);
                if (got == PARSE_MESSAGE)
                        got = kafka_tags_skip(f);
                if (got != PARSE_MESSAGE)
                        return got;
                if (!w->aborted)
                        w->aborted = g_array_new(FALSE, FALSE, sizeof a);
                if (w->aborted->len < MAX_ABORTED)
                        g_array_append_val(w->aborted, a);
        }
        return got;
}

/* A partition's fields, up to its records. */
static ParseStatus partition_read(Walk *w, const Kafka *k, gboolean response, KafkaFields *f)
{
        gint32 records = 0;
        ParseStatus got = kafka_fields_read_first(f, response ? "p e 8 v4 8 v5 8!" : "p!");
        if (got == PARSE_MESSAGE && response && w->version >= 4)
                got = aborted_read(w, f);
        if (got == PARSE_MESSAGE && response)
                got = kafka_fields_read_first(f, "v11 4!");
        if (got == PARSE_MESSAGE)
                got = kafka_length_read(f, 4, &records);
        if (got != PARSE_MESSAGE)
                return got;
        gint64 key = kafka_partition_key(w->topic, f->partition);
        const gint64 *from = g_hash_table_lookup(k->offsets, &key);
        w->from = from ? *from : 0;
        w->partition = f->partition;
        w->records = (guint64)MAX(records, 0);
        w->outcome = w->outcome ? w->outcome : outcome_of(f->error);
        return w->records > cursor_left(&f->c) + f->beyond ? PARSE_NOT_MINE : got;
}

static ParseStatus walk_topic_read(Walk *w, KafkaFields *f)
{
        ParseStatus got = kafka_topic_read(f);
        if (got == PARSE_MESSAGE)
                got = kafka_length_read(f, 4, &w->partitions);
        if (got != PARSE_MESSAGE)
                return got;
        gsize n = cursor_left(&f->name);
        w->topic = f->topic;
        g_free(w->name);
        w->name = n > 0 ? g_strndup((const char *)f->name.at, n) : NULL;
        return got;
}

/* Takes one step. *skip: bytes after it that need not be seen. */
static ParseStatus walk_step(Walk *w, const Kafka *k, gboolean response, KafkaFields *f,
                             guint64 *skip)
{
        ParseStatus got = PARSE_MESSAGE;
        switch ((Step)w->step) {
        case AT_TOPIC:
                if (w->topics <= 0) {
                        w->step = AT_REST;
                } else if ((got = walk_topic_read(w, f)) == PARSE_MESSAGE) {
                        w->topics--;
                        w->step = AT_PARTITION;
                }
                break;
        case AT_PARTITION:
                if (w->partitions <= 0) {
                        w->step = AT_TOPIC_END;
                } else if ((got = partition_read(w, k, response, f)) == PARSE_MESSAGE) {
                        w->partitions--;
                        w->step = AT_BATCH;
                }
                break;
        case AT_BATCH:
                if (w->records == 0)
                        w->step = AT_PARTITION_END;
                else if ((got = batch_read(w, response, f, skip)) == PARSE_MESSAGE)
                        w->records -= *skip;
                break;
        case AT_PARTITION_END:
                if ((got = kafka_tags_skip(f)) == PARSE_MESSAGE)
                        w->step = AT_PARTITION;
                break;
        case AT_TOPIC_END:
                if ((got = kafka_tags_skip(f)) == PARSE_MESSAGE)
                        w->step = AT_TOPIC;
                break;
        case AT_REST:
                break;
        }
        return got;
}

/* The message is over. */
static void walk_end(Walk *w, gboolean response, Parsed *parsed)
{
        parsed->carried.contents = (const guint64 *)w->contents->data;
        parsed->carried.n_contents = (guint16)w->contents->len;
        parsed->carried.puts = !response;
        if (!response)
                return;
        parsed->carried.contents_else = (const guint64 *)w->contents_else->data;
        parsed->carried.was_waited = TRUE;
        parsed->carried.job = w->several ? NULL : w->job;
}

/* Goes on in a message with batches, of which parsed->length bytes were settled before. It ends
 * when its last byte is seen, as records arrive with that. */
static ParseStatus walk_go_on(KafkaState *s, Kafka *k, gboolean response, const guint8 *bytes,
                              gsize n, Parsed *parsed)
{
        Walk *w = &k->walk[response];
        guint64 at = parsed->length;
        while (w->step != AT_REST && at <= n) {
                gsize shown = (gsize)MIN(n - at, w->left);
                guint64 skip = 0;
                KafkaFields f = { .c = cursor(bytes + at, shown),
                                  .beyond = w->left - shown,
                                  .version = w->version,
                                  .flexible = w->flexible,
                                  .names = parsed->names };
                ParseStatus got = walk_step(w, k, response, &f, &skip);
                if (got == PARSE_MORE && !parsed->cut && shown < KAFKA_LOOK) {
                        parsed->length = at;
                        return PARSE_MORE;
                }
                if (got != PARSE_MESSAGE) {
                        w->step = AT_REST;
                        break;
                }
                guint64 used = shown - cursor_left(&f.c) + skip;
                at += used;
                w->left -= used;
        }
        parsed->outcome = w->outcome;
        if (w->left > 0 && at > n && !parsed->cut) {
                parsed->length = at;
                return PARSE_MORE;
        }
        if (at + w->left > n && !parsed->cut) {
                parsed->length = at + w->left - 1;
                w->left = 1;
                w->step = AT_REST;
                return PARSE_MORE;
        }
        parsed->length = at + w->left;
        s->within = FALSE;
        walk_end(w, response, parsed);
        return PARSE_MESSAGE;
}

/* --- both directions ------------------------------------------------------------- */

/* A call, or one-way if nobody is to answer it. */
static void kafka_call_set(Kafka *k, const Request *q, const KafkaFields *f, GString *label,
                           Parsed *parsed)
{
        const KafkaApi *api = kafka_api(q->api);
        gboolean answered = q->api != KAFKA_PRODUCE || f->acks != 0;
        k->last = q->id;
        k->raw_sasl = q->api == KAFKA_SASL_HANDSHAKE && q->version == 0;
        if (answered)
                pending_add(k, q);
        if (q->api == KAFKA_FETCH)
                fetch_label_append(k, f, label);
        else if (q->api == KAFKA_PRODUCE)
                kafka_label_append(label, api, f->first, f->n_topics > 1);
        else
                kafka_label_append(label, api, (Cursor){ NULL, NULL }, FALSE);
        parsed->kind = answered ? KIND_CALL : KIND_ONE_WAY;
        parsed->keyed = parsed->by_place = answered;
        parsed->key = (guint32)q->id;
        if (api->role == KAFKA_OF_SESSION)
                parsed->session = SESSION_ALWAYS;
        else if (api->role == KAFKA_OF_GROUP)
                parsed->carried.fetch = FETCH_SETTLE;
        else if (api->role == KAFKA_WAITS)
                parsed->carried.fetch = f->wait ? FETCH_WAIT : FETCH_NOW;
}

/* The fields before the records, with the first topic. *topics: how many there are. */
static ParseStatus produce_read(KafkaFields *f, gint32 *topics)
{
        ParseStatus got = kafka_fields_read_first(f, "v3s a 4!");
        if (got == PARSE_MESSAGE)
                got = kafka_length_read(f, 4, topics);
        if (got != PARSE_MESSAGE || *topics <= 0)
                return got;
        KafkaFields first = *f;
        got = kafka_topic_read(&first);
        f->first = first.first;
        f->n_topics = (guint)*topics;
        return got;
}

/* A token of SASL that is in no request or response. */
static ParseStatus token_read(const guint8 *bytes, gsize n, Parsed *parsed)
{
        if (n < LENGTH)
                return PARSE_MORE;
        if (read_u32(bytes) > KAFKA_LOOK)
                return PARSE_NOT_MINE;
        parsed->kind = KIND_SESSION;
        parsed->length = LENGTH + (guint64)read_u32(bytes);
        return PARSE_MESSAGE;
}

static ParseStatus request_parse(KafkaState *s, Kafka *k, const guint8 *bytes, gsize n,
                                 GString *label, Parsed *parsed)
{
        Request q;
        KafkaFields f;
        gint32 topics = 0;
        ParseStatus status = request_read(bytes, n, &q, &f);
        if (status == PARSE_NOT_MINE && k->raw_sasl)
                return token_read(bytes, n, parsed);
        if (status == PARSE_NOT_MINE ||
            (status == PARSE_MORE && (!parsed->cut || n < LENGTH + LEAST_REQUEST)))
                return status;
        gsize size = LENGTH + (gsize)q.length;
        gboolean all = n >= MIN(size, (gsize)KAFKA_LOOK) || parsed->cut;
        f.offsets = k->offsets;
        f.names = parsed->names;
        f.wait = f.acks = -1;
        if (q.api == KAFKA_PRODUCE) {
                status = status == PARSE_MESSAGE ? produce_read(&f, &topics) : status;
        } else if (!all) {
                return PARSE_MORE;
        } else if (status == PARSE_MESSAGE && kafka_api(q.api)->request) {
                kafka_fields_read(&f, kafka_api(q.api)->request);
        }
        if (status == PARSE_MORE && !all)
                return PARSE_MORE;
        kafka_call_set(k, &q, &f, label, parsed);
        parsed->length = size;
        if (q.api != KAFKA_PRODUCE)
                return PARSE_MESSAGE;
        parsed->length =
                status == PARSE_MESSAGE ? (guint64)(f.c.at - bytes) : LENGTH + LEAST_REQUEST;
        parsed->carried.puts = TRUE;
        walk_begin(&k->walk[0], size - parsed->length, status == PARSE_MESSAGE ? topics : 0, &f);
        s->within = TRUE;
        return walk_go_on(s, k, FALSE, bytes, n, parsed);
}

/* Before its records. */
static ParseStatus fetched_read(KafkaFields *f, gint32 *topics)
{
        ParseStatus got = kafka_fields_read_first(f, "v1 4 v7e v7 4!");
        return got == PARSE_MESSAGE ? kafka_length_read(f, 4, topics) : got;
}

/* A response whose request was not seen: it was made before the capture, or lost. Other bytes are
 * no response. */
static ParseStatus response_unseen(const Kafka *k, gint32 id, guint32 length, Parsed *parsed)
{
        if (id < 0 || id > k->last || k->last - id >= MAX_PENDING)
                return PARSE_NOT_MINE;
        parsed->kind = KIND_RETURN;
        parsed->keyed = parsed->by_place = TRUE;
        parsed->key = (guint32)id;
        parsed->length = LENGTH + (guint64)length;
        return PARSE_MESSAGE;
}

static ParseStatus response_parse(KafkaState *s, Kafka *k, const guint8 *bytes, gsize n,
                                  Parsed *parsed)
{
        gint32 topics = 0;
        if (n > 0 && bytes[0] > MAX_MESSAGE >> 24)
                return PARSE_NOT_MINE;
        if (n < LENGTH)
                return PARSE_MORE;
        guint32 length = read_u32(bytes);
        if (length < 4 || length > MAX_MESSAGE)
                return k->raw_sasl && length < 4 ? token_read(bytes, n, parsed) : PARSE_NOT_MINE;
        if (n < LENGTH + 4)
                return PARSE_MORE;
        gint32 id = (gint32)read_u32(bytes + LENGTH), at = pending_find(k, id);
        if (at < 0)
                return k->raw_sasl ? token_read(bytes, n, parsed)
                                   : response_unseen(k, id, length, parsed);
        Pending request = g_array_index(k->pending, Pending, at);
        const KafkaApi *api = kafka_api(request.api);
        gsize size = LENGTH + (gsize)length;
        gboolean all = n >= MIN(size, (gsize)KAFKA_LOOK) || parsed->cut;
        Walk *w = &k->walk[1];
        parsed->kind = KIND_RETURN;
        parsed->keyed = parsed->by_place = TRUE;
        parsed->key = (guint32)id;
        if (!all && request.api != KAFKA_FETCH)
                return PARSE_MORE;
        KafkaFields f = { .c = cursor(bytes + LENGTH + 4, MIN(n, size) - LENGTH - 4),
                          .beyond = size - MIN(n, size),
                          .version = request.version,
                          .flexible = is_flexible(request.api, request.version),
                          .produced = w->contents,
                          .names = parsed->names };
        ParseStatus got = request.api != KAFKA_API_VERSIONS ? kafka_tags_skip(&f) : PARSE_MESSAGE;
        if (request.api == KAFKA_FETCH && got == PARSE_MESSAGE)
                got = fetched_read(&f, &topics);
        if (got == PARSE_MORE && !all)
                return PARSE_MORE;
        g_array_remove_range(k->pending, 0, (guint)at + 1);
        g_array_set_size(w->contents, 0);
        if (got == PARSE_MESSAGE && api->response)
                kafka_fields_read(&f, api->response);
        parsed->outcome = outcome_of(f.error);
        parsed->length = size;
        if (request.api == KAFKA_PRODUCE) {
                parsed->carried.puts = TRUE;
                parsed->carried.contents = (const guint64 *)w->contents->data;
                parsed->carried.n_contents = (guint16)w->contents->len;
        }
        if (request.api != KAFKA_FETCH)
                return PARSE_MESSAGE;
        parsed->length = got == PARSE_MESSAGE ? (guint64)(f.c.at - bytes) : LENGTH + 4;
        walk_begin(w, size - parsed->length, got == PARSE_MESSAGE ? topics : 0, &f);
        w->outcome = parsed->outcome;
        s->within = TRUE;
        return walk_go_on(s, k, TRUE, bytes, n, parsed);
}

/* Finds out who sends these bytes. FALSE: more of them must be seen. */
static gboolean sender_find(KafkaState *s, const Kafka *k, const guint8 *bytes, gsize n,
                            const Parsed *parsed)
{
        const KafkaState *other = parsed->other;
        if (other && other->sender != SENDER_ANY) {
                s->sender = other->sender == SENDER_CLIENT ? SENDER_SERVER : SENDER_CLIENT;
                return TRUE;
        }
        if (k->last < 0 && parsed->sender == SENDER_SERVER) { /* which only the ports say */
                ParseStatus status = kafka_recognise(bytes, n);
                if (status == PARSE_MORE && !parsed->cut)
                        return FALSE;
                s->sender = status == PARSE_MESSAGE ? SENDER_CLIENT : SENDER_SERVER;
        } else {
                s->sender = parsed->sender == SENDER_SERVER ? SENDER_SERVER : SENDER_CLIENT;
        }
        return TRUE;
}

static ParseStatus kafka_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                               gboolean eof, GString *label, Parsed *parsed)
{
        KafkaState *s = state;
        if (eof)
                return PARSE_NOT_MINE; /* within a message */
        if (n == 0)
                return PARSE_MORE;
        if (call == CALL_PROBE || !parsed->memory) {
                ParseStatus status = kafka_recognise(bytes, n);
                if (status != PARSE_MESSAGE)
                        return status;
                parsed->kind = KIND_CALL;
                parsed->length = LENGTH + (guint64)read_u32(bytes);
                return PARSE_MESSAGE;
        }
        Kafka *k = kafka_get(parsed->memory);
        if (s->sender == SENDER_ANY && !sender_find(s, k, bytes, n, parsed))
                return PARSE_MORE;
        gboolean response = s->sender == SENDER_SERVER;
        if (s->within)
                return walk_go_on(s, k, response, bytes, n, parsed);
        return response ? response_parse(s, k, bytes, n, parsed)
                        : request_parse(s, k, bytes, n, label, parsed);
}

/* Where a request begins. Nothing is known here of responses: they mostly begin with a segment. */
static gsize kafka_find_boundary(const guint8 *bytes, gsize n)
{
        if (n < LENGTH + 4)
                return n > 0 && bytes[0] > MAX_RECOGNISED >> 24 ? n : 0;
        guint32 length = read_u32(bytes);
        gboolean begins = length >= 4 && length <= MAX_RECOGNISED;
        if (begins && length <= n - LENGTH)
                return 0;
        for (gsize at = 0; at + LENGTH + LEAST_REQUEST <= n; at++)
                if (bytes[at] == 0 && kafka_recognise(bytes + at, n - at) == PARSE_MESSAGE)
                        return at;
        return begins ? 0 : n;
}

const Protocol protocol_kafka = {
        .name = "kafka",
        .keyed = TRUE,
        .parse = kafka_parse,
        .find_boundary = kafka_find_boundary,
        .forget = kafka_forget,
};
