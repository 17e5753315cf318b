/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/server-set.h"

#include "base/hash.h"

enum { MAX_SERVERS = 65536 };

struct ServerSet {
        guint64 *slots;   /* hashes of address and port; 0: none */
        gsize n, n_slots; /* at least two a server; a power of 2 */
        guint64 seed;     /* no result depends on it */
};

ServerSet *server_set_new(void)
{
        ServerSet *set = g_new0(ServerSet, 1);
        set->n_slots = 128;
        set->slots = g_new0(guint64, set->n_slots);
        set->seed = (guint64)g_random_int() << 32 | g_random_int();
        return set;
}

void server_set_free(ServerSet *set)
{
        g_free(set->slots);
        g_free(set);
}

static guint64 server_set_endpoint_hash(const ServerSet *set, Address a, guint16 port)
{
        guint64 h = hash_word(hash_word(hash_word(set->seed, a.high), a.low), port);
        return h ? h : 1;
}

/* Where the hash stands, or would. */
static guint64 *set_find(const ServerSet *set, guint64 hash)
{
        gsize at = hash & (set->n_slots - 1);
        while (set->slots[at] && set->slots[at] != hash)
                at = (at + 1) & (set->n_slots - 1);
        return &set->slots[at];
}

static void set_grow(ServerSet *set)
{
        g_autofree guint64 *old = set->slots;
        gsize n_old = set->n_slots;
        set->n_slots *= 2;
        set->slots = g_new0(guint64, set->n_slots);
        for (gsize i = 0; i < n_old; i++)
                if (old[i])
                        *set_find(set, old[i]) = old[i];
}

void server_set_add(ServerSet *set, Address a, guint16 port)
{
        guint64 hash = server_set_endpoint_hash(set, a, port), *place = set_find(set, hash);
        if (*place || set->n >= MAX_SERVERS)
                return;
        *place = hash;
        if (++set->n > set->n_slots / 2)
                set_grow(set);
}

gboolean server_set_has(const ServerSet *set, Address a, guint16 port)
{
        return *set_find(set, server_set_endpoint_hash(set, a, port)) != 0;
}

guint32 server_set_count(const ServerSet *set)
{
        return (guint32)set->n;
}
