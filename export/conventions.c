/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/conventions.h"

#include <stdlib.h>
#include <string.h>

/* --- attributes -------------------------------------------------------------------- */

void otlp_open_attribute(Json *j, const char *key, const char *type)
{
        json_open(j, '{');
        json_put_plain(j, "key", key);
        json_put_open(j, "value", '{');
        json_key(j, type);
}

void otlp_close_attribute(Json *j)
{
        json_close(j, '}');
        json_close(j, '}');
}

void otlp_put_bytes(Json *j, const char *key, const char *value, gsize n)
{
        otlp_open_attribute(j, key, "stringValue");
        json_bytes(j, value, n);
        otlp_close_attribute(j);
}

void otlp_put_string(Json *j, const char *key, const char *value)
{
        otlp_put_bytes(j, key, value, strlen(value));
}

void otlp_put_integer(Json *j, const char *key, gint64 value)
{
        otlp_open_attribute(j, key, "intValue");
        json_time(j, value);
        otlp_close_attribute(j);
}

/* What is asked by a label. */
typedef enum {
        ASKS_OTHER,
        ASKS_HTTP,
        ASKS_GRPC,
        ASKS_ONC_RPC,
        ASKS_SQL,
        ASKS_REDIS,
        ASKS_SQL_OR_REDIS, /* SET */
        ASKS_MEMCACHED,
        ASKS_PUBLISH, /* to a broker by AMQP, MQTT or NATS, or from one by MQTT */
        ASKS_DELIVER, /* by AMQP, NATS or Kafka */
        ASKS_PRODUCE, /* to Kafka */
        N_ASKS,
} Asks;

struct Conventions {
        const NodeTable *nodes;
        guint16 *asked; /* by NodeId: 1 << Asks of calls to it */
        guint16 *asks;  /* the same of calls from it */
};

/* --- which protocol --------------------------------------------------------------- */

static const char *const HTTP_METHODS[] = { "GET",     "HEAD",    "POST",  "PUT",   "DELETE",
                                            "CONNECT", "OPTIONS", "TRACE", "PATCH", NULL };
static const char *const SQL_VERBS[] = {
        "ALTER",   "ANALYZE",  "BEGIN",   "CALL",    "CHECKPOINT", "CLOSE",    "CLUSTER",
        "COMMENT", "COMMIT",   "COPY",    "CREATE",  "DEALLOCATE", "DECLARE",  "DELETE",
        "DESC",    "DESCRIBE", "DISCARD", "DO",      "DROP",       "END",      "EXECUTE",
        "EXPLAIN", "FETCH",    "GRANT",   "HANDLER", "INSERT",     "KILL",     "LISTEN",
        "LOAD",    "LOCK",     "MERGE",   "NOTIFY",  "OPTIMIZE",   "PREPARE",  "REFRESH",
        "REINDEX", "RELEASE",  "REPLACE", "RESET",   "REVOKE",     "ROLLBACK", "SAVEPOINT",
        "SELECT",  "SHOW",     "START",   "TABLE",   "TRUNCATE",   "UNLISTEN", "UNLOCK",
        "UPDATE",  "USE",      "VACUUM",  "VALUES",  "WITH",       "XA",       NULL
};
/* The frequent commands, without the words of SQL. */
static const char *const REDIS_COMMANDS[] = {
        "APPEND",  "BLPOP",         "BRPOP",   "DBSIZE",     "DECR",      "DECRBY",   "DEL",
        "EVAL",    "EVALSHA",       "EXEC",    "EXISTS",     "EXPIRE",    "EXPIREAT", "FLUSHALL",
        "FLUSHDB", "GET",           "GETDEL",  "GETEX",      "GETSET",    "HDEL",     "HEXISTS",
        "HGET",    "HGETALL",       "HINCRBY", "HKEYS",      "HLEN",      "HMGET",    "HMSET",
        "HSCAN",   "HSET",          "HSETNX",  "HVALS",      "INCR",      "INCRBY",   "INFO",
        "KEYS",    "LINDEX",        "LLEN",    "LPOP",       "LPUSH",     "LRANGE",   "LREM",
        "LTRIM",   "MGET",          "MSET",    "MULTI",      "PERSIST",   "PEXPIRE",  "PING",
        "PSETEX",  "PTTL",          "PUBLISH", "RPOP",       "RPUSH",     "SADD",     "SCAN",
        "SCARD",   "SETEX",         "SETNX",   "SISMEMBER",  "SMEMBERS",  "SPOP",     "SREM",
        "STRLEN",  "SUBSCRIBE",     "TTL",     "TYPE",       "UNLINK",    "WATCH",    "XACK",
        "XADD",    "XRANGE",        "XREAD",   "XREADGROUP", "ZADD",      "ZCARD",    "ZINCRBY",
        "ZRANGE",  "ZRANGEBYSCORE", "ZRANK",   "ZREM",       "ZREVRANGE", "ZSCORE",   NULL
};
/* Without add and delete, which LDAP has, too. */
static const char *const MEMCACHED_COMMANDS[] = { "get",     "gets",   "gat",       "gats", "set",
                                                  "replace", "append", "prepend",   "cas",  "incr",
                                                  "decr",    "touch",  "flush_all", NULL };

static gboolean is_one_of(const char *word, gsize n, const char *const *words)
{
        for (; *words; words++)
                if (strlen(*words) == n && strncmp(*words, word, n) == 0)
                        return TRUE;
        return FALSE;
}

/* "shop.Cart/Add" */
static gboolean is_grpc(const char *label)
{
        static const char allowed[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.";
        gsize service = strspn(label, allowed), method;

        if (service == 0 || label[service] != '/')
                return FALSE;
        method = strspn(label + service + 1, allowed);
        return method > 0 && label[service + 1 + method] == 0;
}

static gboolean is_onc_rpc(const char *label)
{
        return g_str_has_prefix(label, "RPC ") && label[4] &&
               label[4 + strspn(label + 4, G_CSET_DIGITS ".")] == 0;
}

static Asks conventions_ask(const char *label)
{
        gsize n = strcspn(label, " ");
        const char *rest = label[n] ? label + n + 1 : NULL;

        if (is_one_of(label, n, HTTP_METHODS) && rest && (*rest == '/' || *rest == '*'))
                return ASKS_HTTP;
        if (is_grpc(label))
                return ASKS_GRPC;
        if (is_onc_rpc(label))
                return ASKS_ONC_RPC;
        if (is_one_of(label, n, SQL_VERBS))
                return ASKS_SQL;
        if (rest && n == 7 && g_str_has_prefix(label, "publish"))
                return ASKS_PUBLISH;
        if (rest && n == 7 && g_str_has_prefix(label, "deliver"))
                return ASKS_DELIVER;
        if (rest && n == 7 && g_str_has_prefix(label, "Produce"))
                return ASKS_PRODUCE;
        if (rest)
                return ASKS_OTHER;
        if (strcmp(label, "SET") == 0)
                return ASKS_SQL_OR_REDIS;
        return is_one_of(label, n, REDIS_COMMANDS)       ? ASKS_REDIS
               : is_one_of(label, n, MEMCACHED_COMMANDS) ? ASKS_MEMCACHED
                                                         : ASKS_OTHER;
}

static Asks ask_of(const Conventions *c, const ConventionCall *call)
{
        Asks asks = call->label ? conventions_ask(call->label) : ASKS_OTHER;

        if (asks != ASKS_SQL_OR_REDIS)
                return asks;
        return c->asked[call->callee] & 1 << ASKS_SQL ? ASKS_SQL : ASKS_REDIS;
}

/* What gets messages and hands them on. */
static gboolean is_broker(const Conventions *c, NodeId node)
{
        return c->asks[node] & 1 << ASKS_DELIVER ||
               (c->asks[node] & 1 << ASKS_PUBLISH && c->asked[node] & 1 << ASKS_PUBLISH);
}

static gboolean is_messaging(Asks asks)
{
        return asks == ASKS_PUBLISH || asks == ASKS_DELIVER || asks == ASKS_PRODUCE;
}

/* Whether a message comes from a broker. */
static gboolean is_delivery(const Conventions *c, const ConventionCall *call, Asks asks)
{
        return asks == ASKS_DELIVER || (asks == ASKS_PUBLISH && is_broker(c, call->caller));
}

/* AMQP 0-9-1 is RabbitMQ's, and NATS's operations do not differ; of MQTT there are many. */
static const char *messaging_system(const Conventions *c, const ConventionCall *call, Asks asks)
{
        NodeId broker = is_delivery(c, call, asks) ? call->caller : call->callee;

        if (c->asked[broker] & 1 << ASKS_PRODUCE)
                return "kafka";
        if (asks == ASKS_DELIVER || c->asks[broker] & 1 << ASKS_DELIVER)
                return "rabbitmq";
        return is_broker(c, broker) ? "mqtt" : "unknown";
}

Conventions *conventions_new(StoreReader *reader, const NodeTable *nodes, GError **error)
{
        g_autoptr(Conventions) c = g_new0(Conventions, 1);
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(NodeId));
        guint n = node_table_size(nodes);
        StoredPatternNode node;
        int status;

        c->nodes = nodes;
        c->asked = g_new0(guint16, n);
        c->asks = g_new0(guint16, n);
        while ((status = store_reader_next_pattern_node(reader, &node, error)) > 0) {
                guint16 asks = node.label ? (guint16)(1 << conventions_ask(node.label)) : 0;

                g_array_set_size(places, node.place);
                g_array_append_val(places, node.node);
                c->asked[node.node] |= asks;
                if (node.parent != NO_PARENT)
                        c->asks[g_array_index(places, NodeId, node.parent)] |= asks;
        }
        return status == 0 ? g_steal_pointer(&c) : NULL;
}

void conventions_free(Conventions *c)
{
        if (!c)
                return;
        g_free(c->asked);
        g_free(c->asks);
        g_free(c);
}

/* --- the attributes ------------------------------------------------------------------ */

/* A node that is an address with a port has one. -1: not known. */
static gint split_port(const char *name, gsize *n)
{
        const char *colon = strrchr(name, ':');

        *n = strlen(name);
        if (!colon || colon == name || !colon[1] || strlen(colon) > 6 ||
            colon[1 + strspn(colon + 1, G_CSET_DIGITS)] ||
            (memchr(name, ':', (gsize)(colon - name)) && colon[-1] != ']'))
                return -1;
        *n = (gsize)(colon - name);
        return atoi(colon + 1);
}

static void put_server(Json *json, const char *name)
{
        gsize n;
        gint port = split_port(name, &n);

        if (n > 2 && name[0] == '[' && name[n - 1] == ']') /* an address of IPv6 before a port */
                otlp_put_bytes(json, "server.address", name + 1, n - 2);
        else
                otlp_put_bytes(json, "server.address", name, n);
        if (port >= 0)
                otlp_put_integer(json, "server.port", port);
}

/* A URL needs a host that is one. */
static void put_url(Json *json, const char *name, const char *path)
{
        gboolean is_v6 = strchr(name, ':') != strrchr(name, ':') && *name != '[';
        g_autoptr(GString) url = g_string_new("http://");

        g_string_append_printf(url, is_v6 ? "[%s]" : "%s", name);
        g_string_append(url, *path == '/' ? path : "/");
        otlp_put_string(json, "url.full", url->str);
}

static void put_http(const Conventions *c, const ConventionCall *call, gboolean at_caller,
                     Json *json)
{
        gsize n = strcspn(call->label, " ");

        otlp_put_bytes(json, "http.request.method", call->label, n);
        if (at_caller) {
                put_url(json, node_table_written(c->nodes, call->callee), call->label + n + 1);
        } else {
                otlp_put_string(json, "url.path", call->label + n + 1);
                otlp_put_string(json, "url.scheme", "http");
        }
}

static void put_rpc(const ConventionCall *call, Asks asks, Json *json)
{
        g_auto(GStrv) numbers = NULL;

        otlp_put_string(json, "rpc.system.name", asks == ASKS_GRPC ? "grpc" : "onc_rpc");
        if (asks == ASKS_GRPC) {
                otlp_put_string(json, "rpc.method", call->label);
                return;
        }
        otlp_put_string(json, "rpc.method", call->label + strlen("RPC "));
        numbers = g_strsplit(call->label + strlen("RPC "), ".", 3);
        if (g_strv_length(numbers) != 3)
                return;
        otlp_put_string(json, "onc_rpc.program.name", numbers[0]);
        otlp_put_integer(json, "onc_rpc.version", g_ascii_strtoll(numbers[1], NULL, 10));
        otlp_put_integer(json, "onc_rpc.procedure.number", g_ascii_strtoll(numbers[2], NULL, 10));
}

/* Which SQL it is the operation does not say. */
static void put_database(const ConventionCall *call, Asks asks, Json *json)
{
        gsize n = strcspn(call->label, " ");
        const char *table = call->label[n] ? call->label + n + 1 : NULL;

        otlp_put_string(json, "db.system.name",
                        asks == ASKS_SQL     ? "other_sql"
                        : asks == ASKS_REDIS ? "redis"
                                             : "memcached");
        otlp_put_bytes(json, "db.operation.name", call->label, n);
        if (asks == ASKS_SQL && table && strcmp(table, "...") != 0)
                otlp_put_string(json, "db.collection.name", table);
        if (asks == ASKS_SQL)
                otlp_put_string(json, "db.query.summary", call->label);
}

static void put_messaging(const Conventions *c, const ConventionCall *call, Asks asks, Json *json)
{
        gboolean delivers = is_delivery(c, call, asks);
        gsize n = strcspn(call->label, " ");

        otlp_put_string(json, "messaging.system", messaging_system(c, call, asks));
        otlp_put_bytes(json, "messaging.operation.name", call->label, n);
        otlp_put_string(json, "messaging.operation.type", delivers ? "process" : "send");
        if (strcmp(call->label + n + 1, "...") != 0)
                otlp_put_string(json, "messaging.destination.name", call->label + n + 1);
}

/* Who sends a message and waits for the broker's word is a client to the conventions, too. */
SpanKind conventions_kind(const Conventions *c, const ConventionCall *call, gboolean at_caller)
{
        if (at_caller)
                return SPAN_CLIENT;
        return is_delivery(c, call, ask_of(c, call)) ? SPAN_CONSUMER : SPAN_SERVER;
}

void conventions_put(const Conventions *c, const ConventionCall *call, gboolean at_caller,
                     Json *json)
{
        Asks asks = ask_of(c, call);
        gboolean is_messages_end = is_messaging(asks) && at_caller != is_delivery(c, call, asks);

        if (at_caller)
                put_server(json, node_table_name(c->nodes, call->callee));
        else
                otlp_put_string(json, "client.address", node_table_name(c->nodes, call->caller));
        if (asks == ASKS_HTTP)
                put_http(c, call, at_caller, json);
        else if (asks == ASKS_GRPC || asks == ASKS_ONC_RPC)
                put_rpc(call, asks, json);
        else if ((asks == ASKS_SQL || asks == ASKS_REDIS || asks == ASKS_MEMCACHED) && at_caller)
                put_database(call, asks, json);
        else if (is_messages_end)
                put_messaging(c, call, asks, json);
}
