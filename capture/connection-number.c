/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/connection-number.h"

#include "base/hash.h"

/* The first of its port that is still there. */
typedef struct {
        NodeId client, server;
        guint16 port;
        gconstpointer owner;
} Holder;

struct ConnectionNumbers {
        GHashTable *holders; /* of Holder */
        guint32 last;
};

static guint holder_hash(gconstpointer p)
{
        const Holder *h = p;
        const HashKey *key = hash_key();
        guint64 nodes = (guint64)h->client << 32 | h->server;
        return (guint)hash_keyed_word(key, hash_keyed_word(key, key->start, nodes), h->port);
}

static gboolean holder_equal(gconstpointer p, gconstpointer q)
{
        const Holder *a = p, *b = q;
        return a->client == b->client && a->server == b->server && a->port == b->port;
}

ConnectionNumbers *connection_numbers_new(void)
{
        ConnectionNumbers *n = g_new0(ConnectionNumbers, 1);
        n->holders = g_hash_table_new_full(holder_hash, holder_equal, g_free, NULL);
        return n;
}

void connection_numbers_free(ConnectionNumbers *n)
{
        if (!n)
                return;
        g_hash_table_unref(n->holders);
        g_free(n);
}

guint32 connection_numbers_take(ConnectionNumbers *n, NodeId client, NodeId server, guint16 port,
                                gconstpointer owner)
{
        Holder key = { client, server, port, owner };
        if (g_hash_table_contains(n->holders, &key))
                return ++n->last;
        g_hash_table_add(n->holders, g_memdup2(&key, sizeof key));
        return 0;
}

void connection_numbers_drop(ConnectionNumbers *n, NodeId client, NodeId server, guint16 port,
                             gconstpointer owner)
{
        Holder key = { client, server, port, owner };
        const Holder *h = g_hash_table_lookup(n->holders, &key);
        if (h && h->owner == owner)
                g_hash_table_remove(n->holders, &key);
}
