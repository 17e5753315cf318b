/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-connections.h"

#include <string.h>

#include "base/hash.h"

/* An edge and a port, and the number of their latest connection. */
typedef struct {
        guint64 nodes; /* caller << 32 | callee */
        guint64 port;  /* a hash of what the id begins with */
        guint64 given; /* conn=; 0: none */
        guint32 number;
} Key;

static guint connection_key_hash(gconstpointer p)
{
        const Key *key = p;
        const HashKey *secret = hash_key();
        guint64 h = hash_keyed_word(secret, secret->start, key->nodes);

        h = hash_keyed_word(secret, h, key->port);
        return (guint)hash_keyed_word(secret, h, key->given);
}

static gboolean connection_key_equal(gconstpointer p, gconstpointer q)
{
        const Key *a = p, *b = q;

        return a->nodes == b->nodes && a->port == b->port && a->given == b->given;
}

gboolean call_connections_by_id(char *const *facts, guint n)
{
        for (guint i = 0; i < n; i++)
                if (!strcmp(facts[i], "ids: connection.sequence"))
                        return TRUE;
        return FALSE;
}

void call_connections_clear(CallConnections *c)
{
        if (c->numbers)
                g_hash_table_unref(c->numbers);
        call_column_clear(&c->column);
}

static CallConnection *connection_place(CallConnections *c, guint64 call)
{
        return call_column_place(&c->column, sizeof(CallConnection), call);
}

/* The number of the connection of a call. opened: it is the first call there. */
static guint32 find_connection(CallConnections *c, const Message *m, gint64 given, gboolean opened)
{
        Key key = { .nodes = (guint64)m->sender << 32 | m->receiver, .given = (guint64)given };
        const char *point = c->by_id && m->id_length ? memchr(m->id, '.', m->id_length) : NULL;
        Key *found;

        if (!point && !given)
                return 0;
        if (point)
                key.port = hash_bytes(m->id, (gsize)(point - m->id)) | 1;
        if (!c->numbers)
                c->numbers = g_hash_table_new_full(connection_key_hash, connection_key_equal,
                                                   g_free, NULL);
        found = g_hash_table_lookup(c->numbers, &key);
        if (!found) {
                found = g_memdup2(&key, sizeof key);
                g_hash_table_add(c->numbers, found);
        }
        if (!found->number || opened)
                found->number = ++c->last;
        return found->number;
}

void call_connections_add(CallConnections *c, guint64 call, const Message *message,
                          const Attributes *attributes)
{
        CallConnection *of;

        if (call >= G_MAXUINT32 || (!c->by_id && !attributes->conn))
                return;
        if (call_connections_get(c, (guint32)call).connection)
                return; /* its other stamp */
        of = connection_place(c, call);
        of->connection = find_connection(c, message, attributes->conn, attributes->syn > 0);
        of->lead = attributes->syn;
}

void call_connections_add_transaction(CallConnections *c, guint64 call)
{
        if (call < G_MAXUINT32)
                connection_place(c, call)->transaction = TRUE;
}
