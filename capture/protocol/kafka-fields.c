/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/kafka-fields.h"

#include <string.h>

enum {
        ID = 16,        /* bytes of a topic's id */
        TOPIC_IDS = 13, /* the version of Produce and Fetch from which on they stand for names */
        MAX_TOPIC = 249,
        MAX_TOPICS = 16384, /* whose ids are known */
        MAX_OFFSETS = 4096, /* partitions of which it is known where fetching goes on */
        MAX_WAIT = 3600000, /* ms */
};

#define NEVER 255

static const KafkaApi apis[] = {
        { "Produce", "v3s a 4 [w12n v13u [4b]]", "[w12n v13u [p e x v2 8 v5 8 v8[4s] v8s]] v1 4",
          13, 9, KAFKA_ASKS },
        { "Fetch",
          "w14 4 m 4 v3 4 v4 1 v7 4 v7 4 [w12n v13u [p v9 4 o v12 4 v5 8 4]] v7[w12s v13 8 v13 8 "
          "[4]] "
          "v11s",
          NULL, 18, 12, KAFKA_WAITS },
        { "ListOffsets", "4 v2 1 [n[4 v4 4 8 w0 4]] v10 4", "v2 4 [s[4 e w0[8] v1 8 v1 8 v4 4]]",
          11, 6, KAFKA_ASKS },
        { "Metadata", "[v10 8 v10 8 s] v4 1 v8w10 1 v8 1",
          "v3 4 [4 s 4 v1s] v2s v1 4 [e n v10i v1 1 [2 4 4 v7 4 [4] [4] v5[4]] v8 4]", 13, 9,
          KAFKA_ASKS },
        { "LeaderAndIsr", NULL, "e", 7, 4, KAFKA_ASKS },
        { "StopReplica", NULL, "e", 4, 2, KAFKA_ASKS },
        { "UpdateMetadata", NULL, "e", 8, 6, KAFKA_ASKS },
        { "ControlledShutdown", NULL, "e", 3, 3, KAFKA_ASKS },
        { "OffsetCommit", "s v1 4 v1s v7s v2w4 8 [w9n v10 8 v10 8 [4 8 v6 4 v1w1 8 s]]",
          "v3 4 [w9s v10 8 v10 8 [4 e]]", 10, 8, KAFKA_OF_GROUP },
        { "OffsetFetch", "w7s w7[n[4]] v8[s v9s v9 4 [w9n v10 8 v10 8 [4]]] v7 1",
          "v3 4 w7[s[4 8 v5 4 s e]] v2w7e v8[s[w9s v10 8 v10 8 [4 8 4 s e]] e]", 10, 6,
          KAFKA_OF_GROUP },
        { "FindCoordinator", "w3s v1 1 v4[s]", "v1 4 w3e v4[s 4 s 4 e s]", 6, 3, KAFKA_ASKS },
        { "JoinGroup", "s 4 v1 4 s v5s s [s b] v8s", "v2 4 e", 9, 6, KAFKA_OF_GROUP },
        { "Heartbeat", "s 4 s v3s", "v1 4 e", 4, 4, KAFKA_OF_GROUP },
        { "LeaveGroup", "s w2s v3[s s v5s]", "v1 4 e", 5, 4, KAFKA_OF_GROUP },
        { "SyncGroup", "s 4 s v3s v5s v5s [s b]", "v1 4 e", 5, 4, KAFKA_OF_GROUP },
        { "DescribeGroups", "[s] v3 1", "v1 4 [e!]", 6, 5, KAFKA_ASKS },
        { "ListGroups", NULL, "v1 4 e", 5, 3, KAFKA_ASKS },
        { "SaslHandshake", "s", NULL, 1, NEVER, KAFKA_OF_SESSION },
        { "ApiVersions", "v3s v3s", NULL, 4, 3, KAFKA_OF_SESSION },
        { "CreateTopics", "[n 4 2 [4 [4]] [s s]] 4 v1 1", "v2 4 [s v7 8 v7 8 e!]", 7, 5,
          KAFKA_ASKS },
        { "DeleteTopics", NULL, "v1 4 [s v6 8 v6 8 e!]", 6, 4, KAFKA_ASKS },
        { "DeleteRecords", NULL, "4 [s[4 8 e]]", 2, 2, KAFKA_ASKS },
        { "InitProducerId", "s 4 v3 8 v3 2", "4 e", 5, 2, KAFKA_ASKS },
        { "OffsetForLeaderEpoch", "v3 4 [n[4 v2 4 4]]", "v2 4 [s[e 4 v1 4 8]]", 4, 4, KAFKA_ASKS },
        { "AddPartitionsToTxn", "w3s w3 8 w3 2 w3[n[4]] v4[s 8 2 1 [n[4]]]", "4 v4e w3[s[4 e]]", 5,
          3, KAFKA_ASKS },
        { "AddOffsetsToTxn", "s 8 2 s", "4 e", 4, 3, KAFKA_OF_GROUP },
        { "EndTxn", "s 8 2 1", "4 e", 5, 3, KAFKA_ASKS },
        { "WriteTxnMarkers", NULL, NULL, 1, 1, KAFKA_ASKS },
        { "TxnOffsetCommit", "s s 8 2 v3 4 v3s v3s [n[4 8 v2 4 s]]", "4 [s[4 e]]", 5, 3,
          KAFKA_OF_GROUP },
        { "DescribeAcls", NULL, "4 e", 3, 2, KAFKA_ASKS },
        { "CreateAcls", NULL, "4 [e!]", 3, 2, KAFKA_ASKS },
        { "DeleteAcls", NULL, "4 [e!]", 3, 2, KAFKA_ASKS },
        { "DescribeConfigs", NULL, "4 [e!]", 4, 4, KAFKA_ASKS },
        { "AlterConfigs", NULL, "4 [e!]", 2, 2, KAFKA_ASKS },
        { "AlterReplicaLogDirs", NULL, "4 [s[4 e]]", 2, 2, KAFKA_ASKS },
        { "DescribeLogDirs", NULL, "4 v3e", 4, 2, KAFKA_ASKS },
        { "SaslAuthenticate", "b", NULL, 2, 2, KAFKA_OF_SESSION },
        { "CreatePartitions", NULL, "4 [s e s]", 3, 2, KAFKA_ASKS },
        { "CreateDelegationToken", NULL, "e", 3, 2, KAFKA_ASKS },
        { "RenewDelegationToken", NULL, "e", 2, 2, KAFKA_ASKS },
        { "ExpireDelegationToken", NULL, "e", 2, 2, KAFKA_ASKS },
        { "DescribeDelegationToken", NULL, "e", 3, 2, KAFKA_ASKS },
        { "DeleteGroups", NULL, "4 [s e]", 2, 2, KAFKA_ASKS },
        { "ElectLeaders", NULL, "4 v1e", 2, 2, KAFKA_ASKS },
        { "IncrementalAlterConfigs", NULL, "4 [e!]", 1, 1, KAFKA_ASKS },
        { "AlterPartitionReassignments", NULL, NULL, 1, 0, KAFKA_ASKS },
        { "ListPartitionReassignments", NULL, "4 e", 0, 0, KAFKA_ASKS },
        { "OffsetDelete", NULL, "e", 0, NEVER, KAFKA_ASKS },
        { "DescribeClientQuotas", NULL, "4 e", 1, 1, KAFKA_ASKS },
        { "AlterClientQuotas", NULL, "4 [e!]", 1, 1, KAFKA_ASKS },
        { "DescribeUserScramCredentials", NULL, "4 e", 0, 0, KAFKA_ASKS },
        { "AlterUserScramCredentials", NULL, NULL, 0, 0, KAFKA_ASKS },
        { "Vote", NULL, "e", 2, 0, KAFKA_ASKS },
        { "BeginQuorumEpoch", NULL, "e", 1, 1, KAFKA_ASKS },
        { "EndQuorumEpoch", NULL, "e", 1, 1, KAFKA_ASKS },
        { "DescribeQuorum", NULL, "e", 2, 0, KAFKA_ASKS },
        { "AlterPartition", NULL, "4 e", 3, 0, KAFKA_ASKS },
        { "UpdateFeatures", NULL, "4 e", 2, 0, KAFKA_ASKS },
        { "Envelope", NULL, NULL, 0, 0, KAFKA_ASKS },
        { "FetchSnapshot", NULL, "4 e", 1, 0, KAFKA_ASKS },
        { "DescribeCluster", NULL, "4 e", 2, 0, KAFKA_ASKS },
        { "DescribeProducers", NULL, "4 [s[4 e!]]", 0, 0, KAFKA_ASKS },
        { "BrokerRegistration", NULL, "4 e", 4, 0, KAFKA_ASKS },
        { "BrokerHeartbeat", NULL, "4 e", 1, 0, KAFKA_ASKS },
        { "UnregisterBroker", NULL, "4 e", 0, 0, KAFKA_ASKS },
        { "DescribeTransactions", NULL, "4 [e!]", 0, 0, KAFKA_ASKS },
        { "ListTransactions", NULL, "4 e", 2, 0, KAFKA_ASKS },
        { "AllocateProducerIds", NULL, "4 e", 0, 0, KAFKA_ASKS },
        { "ConsumerGroupHeartbeat", "s s 4 s s 4 [s] v1s s [8 8 [4]]", "4 e", 1, 0,
          KAFKA_OF_GROUP },
        { "ConsumerGroupDescribe", NULL, "4 [e!]", 1, 0, KAFKA_ASKS },
        { "ControllerRegistration", NULL, "4 e", 0, 0, KAFKA_ASKS },
        { "GetTelemetrySubscriptions", NULL, "4 e", 0, 0, KAFKA_ASKS },
        { "PushTelemetry", NULL, "4 e", 0, 0, KAFKA_ASKS },
        { "AssignReplicasToDirs", NULL, "4 e", 0, 0, KAFKA_ASKS },
        { "ListConfigResources", NULL, "4 e", 1, 0, KAFKA_ASKS },
        { "DescribeTopicPartitions", NULL, "4 [e!]", 0, 0, KAFKA_ASKS },
        { "ShareGroupHeartbeat", NULL, "4 e", 1, 0, KAFKA_OF_GROUP },
        { "ShareGroupDescribe", NULL, "4 [e!]", 1, 0, KAFKA_ASKS },
        { "ShareFetch", NULL, "4 e", 2, 0, KAFKA_WAITS },
        { "ShareAcknowledge", NULL, "4 e", 2, 0, KAFKA_OF_GROUP },
        { "AddRaftVoter", NULL, "4 e", 1, 0, KAFKA_ASKS },
        { "RemoveRaftVoter", NULL, "4 e", 0, 0, KAFKA_ASKS },
        { "UpdateRaftVoter", NULL, "4 e", 0, 0, KAFKA_ASKS },
};

/* Of what came later the header is known all the same. */
static const KafkaApi unknown_api = { NULL, NULL, NULL, 0, NEVER, KAFKA_ASKS };

const KafkaApi *kafka_api(guint number)
{
        return number < G_N_ELEMENTS(apis) ? &apis[number] : &unknown_api;
}

static ParseStatus bytes_skip(KafkaFields *f, guint64 n)
{
        return n <= cursor_left(&f->c) && cursor_skip(&f->c, (gsize)n) ? PARSE_MESSAGE
                                                                       : kafka_fields_end(f, n);
}

static ParseStatus varint_read(KafkaFields *f, guint32 *value)
{
        guint8 byte = 0x80;
        *value = 0;
        for (guint shift = 0; byte & 0x80; shift += 7) {
                if (shift > 28)
                        return PARSE_NOT_MINE;
                if (!cursor_u8(&f->c, &byte))
                        return kafka_fields_end(f, 1);
                *value |= (guint32)(byte & 0x7f) << shift;
        }
        return PARSE_MESSAGE;
}

ParseStatus kafka_length_read(KafkaFields *f, gsize size, gint32 *length)
{
        guint32 value;
        guint16 half;
        ParseStatus got;
        if (f->flexible) {
                got = varint_read(f, &value);
                *length = (gint32)(value - 1);
        } else if (size == 2) {
                got = cursor_u16(&f->c, &half) ? PARSE_MESSAGE : kafka_fields_end(f, size);
                *length = got == PARSE_MESSAGE ? (gint16)half : 0;
        } else {
                got = cursor_u32(&f->c, &value) ? PARSE_MESSAGE : kafka_fields_end(f, size);
                *length = got == PARSE_MESSAGE ? (gint32)value : 0;
        }
        return got == PARSE_MESSAGE && *length < -1 ? PARSE_NOT_MINE : got;
}

gboolean kafka_is_text(Cursor text)
{
        for (; text.at < text.end; text.at++)
                if (*text.at < ' ' || *text.at == 0x7f)
                        return FALSE;
        return TRUE;
}

static gboolean is_topic(Cursor text)
{
        gsize n = cursor_left(&text);
        for (; text.at < text.end; text.at++)
                if (!g_ascii_isalnum(*text.at) && !strchr("._-", *text.at ? *text.at : ' '))
                        return FALSE;
        return n > 0 && n <= MAX_TOPIC;
}

static ParseStatus text_read(KafkaFields *f, Cursor *text)
{
        gint32 length = 0;
        ParseStatus got = kafka_length_read(f, 2, &length);
        if (got != PARSE_MESSAGE)
                return got;
        length = MAX(length, 0);
        if (!cursor_part(&f->c, (gsize)length, text))
                return kafka_fields_end(f, (guint64)length);
        return kafka_is_text(*text) ? PARSE_MESSAGE : PARSE_NOT_MINE;
}

ParseStatus kafka_tags_skip(KafkaFields *f)
{
        guint32 n, value;
        ParseStatus got = f->flexible ? varint_read(f, &n) : PARSE_MESSAGE;
        for (guint32 i = 0; f->flexible && got == PARSE_MESSAGE && i < n; i++) {
                got = varint_read(f, &value);
                if (got == PARSE_MESSAGE)
                        got = varint_read(f, &value);
                if (got == PARSE_MESSAGE)
                        got = bytes_skip(f, value);
        }
        return got;
}

/* The hash of an id or a name, not 0. */
static guint64 text_hash(const guint8 *text, gsize n)
{
        return MAX(hash_bytes((const char *)text, n), 1);
}

static void topic_see(KafkaFields *f)
{
        if (f->n_topics++ == 0)
                f->first = f->name;
}

static ParseStatus topic_name_read(KafkaFields *f)
{
        ParseStatus got = text_read(f, &f->name);
        if (got == PARSE_MESSAGE && cursor_left(&f->name) > 0 && !is_topic(f->name))
                return PARSE_NOT_MINE;
        f->topic = got == PARSE_MESSAGE ? text_hash(f->name.at, cursor_left(&f->name)) : 0;
        if (got == PARSE_MESSAGE)
                topic_see(f);
        return got;
}

/* A topic whose name some response said, or which is known by its id alone. */
static ParseStatus topic_id_read(KafkaFields *f)
{
        const guint8 *id = cursor_take(&f->c, ID);
        if (!id)
                return kafka_fields_end(f, ID);
        f->topic = text_hash(id, ID);
        const char *name = f->names ? g_hash_table_lookup(f->names, &f->topic) : NULL;
        f->name = cursor((const guint8 *)name, name ? strlen(name) : 0);
        if (name)
                f->topic = text_hash(f->name.at, cursor_left(&f->name));
        topic_see(f);
        return PARSE_MESSAGE;
}

/* The topic just read has this id. */
static ParseStatus topic_id_note(KafkaFields *f)
{
        const guint8 *id = cursor_take(&f->c, ID);
        if (!id)
                return kafka_fields_end(f, ID);
        guint64 hash = text_hash(id, ID);
        if (f->names && cursor_left(&f->name) > 0 && g_hash_table_size(f->names) < MAX_TOPICS &&
            !g_hash_table_contains(f->names, &hash))
                g_hash_table_insert(f->names, g_memdup2(&hash, sizeof hash),
                                    g_strndup((const char *)f->name.at, cursor_left(&f->name)));
        return PARSE_MESSAGE;
}

/* The offset from which on records of the partition are asked for. */
static void offset_note(KafkaFields *f, gint64 offset)
{
        gint64 key = kafka_partition_key(f->topic, f->partition);
        GHashTable *offsets = f->offsets;
        gint64 *known = offsets ? g_hash_table_lookup(offsets, &key) : NULL;
        if (known)
                *known = offset;
        else if (offsets && g_hash_table_size(offsets) < MAX_OFFSETS)
                g_hash_table_insert(offsets, g_memdup2(&key, sizeof key),
                                    g_memdup2(&offset, sizeof offset));
}

ParseStatus kafka_number_read(KafkaFields *f, gsize size, gint64 *value)
{
        const guint8 *p = cursor_take(&f->c, size);
        if (!p)
                return kafka_fields_end(f, size);
        *value = size == 2   ? (gint16)read_u16(p)
                 : size == 4 ? (gint32)read_u32(p)
                             : (gint64)read_u64(p);
        return PARSE_MESSAGE;
}

static ParseStatus field_read(KafkaFields *f, char field)
{
        Cursor text;
        gint32 length = 0;
        gint64 value = 0;
        ParseStatus got;
        switch (field) {
        case 's':
                return text_read(f, &text);
        case 'b':
                got = kafka_length_read(f, 4, &length);
                return got == PARSE_MESSAGE ? bytes_skip(f, (guint64)MAX(length, 0)) : got;
        case 'n':
                return topic_name_read(f);
        case 'u':
                return topic_id_read(f);
        case 'i':
                return topic_id_note(f);
        case 'p':
                got = kafka_number_read(f, 4, &value);
                f->partition = (gint32)value;
                return got;
        case 'o':
                got = kafka_number_read(f, 8, &value);
                if (got == PARSE_MESSAGE)
                        offset_note(f, value);
                return got;
        case 'x': /* not known where there is an error */
                got = kafka_number_read(f, 8, &value);
                if (got == PARSE_MESSAGE && value >= 0 && f->produced) {
                        guint64 hash = kafka_record_hash(f->topic, f->partition, value);
                        g_array_append_val(f->produced, hash);
                }
                return got;
        case 'a':
                got = kafka_number_read(f, 2, &value);
                f->acks = (gint16)value;
                return got == PARSE_MESSAGE && ABS(value) > 1 ? PARSE_NOT_MINE : got;
        case 'm':
                got = kafka_number_read(f, 4, &value);
                f->wait = (gint32)value;
                return got == PARSE_MESSAGE && (value < 0 || value > MAX_WAIT) ? PARSE_NOT_MINE
                                                                               : got;
        case 'e':
                got = kafka_number_read(f, 2, &value);
                f->error = f->error ? f->error : (gint16)value;
                return got;
        default:
                return bytes_skip(f, (guint64)(field - '0'));
        }
}

/* The bracket after the fields of an array. */
static const char *array_end(const char *fields)
{
        for (guint depth = 0; *fields != ']' || depth > 0; fields++) {
                depth += *fields == '[';
                depth -= *fields == ']';
        }
        return fields;
}

/* Of structures with these fields, or of values: these alone have no others added. */
static ParseStatus array_read(KafkaFields *f, const char *fields)
{
        gint32 n = 0;
        ParseStatus got = kafka_length_read(f, 4, &n);
        if (got == PARSE_MESSAGE && n > 0 && (guint64)n > cursor_left(&f->c))
                got = kafka_fields_end(f, (guint64)n);
        for (; got == PARSE_MESSAGE && n > 0 && !f->stopped; n--)
                got = fields[1] == ']' ? field_read(f, *fields) : kafka_fields_read(f, fields);
        return got;
}

ParseStatus kafka_fields_read(KafkaFields *f, const char *fields)
{
        ParseStatus got = PARSE_MESSAGE;
        for (; got == PARSE_MESSAGE && !f->stopped && *fields && *fields != ']'; fields++) {
                gboolean there = TRUE;
                while (*fields == ' ' || *fields == 'v' || *fields == 'w') {
                        char *after = (char *)fields + 1;
                        guint64 limit =
                                *fields == ' ' ? 0 : g_ascii_strtoull(fields + 1, &after, 10);
                        there &= *fields == 'v' ? f->version >= limit
                                                : *fields == ' ' || f->version <= limit;
                        fields = after;
                }
                f->stopped |= there && *fields == '!';
                if (there && !f->stopped)
                        got = *fields == '[' ? array_read(f, fields + 1) : field_read(f, *fields);
                if (*fields == '[')
                        fields = array_end(fields + 1);
        }
        return got == PARSE_MESSAGE && !f->stopped ? kafka_tags_skip(f) : got;
}

ParseStatus kafka_fields_read_first(KafkaFields *f, const char *fields)
{
        ParseStatus got = kafka_fields_read(f, fields);
        f->stopped = FALSE;
        return got;
}

ParseStatus kafka_topic_read(KafkaFields *f)
{
        return f->version >= TOPIC_IDS ? topic_id_read(f) : topic_name_read(f);
}
