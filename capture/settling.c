/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/settling.h"

#include "base/hash.h"
#include "capture/links.h"

enum { MAX_UNSETTLED = 1024 };

struct Settling {
        LinkTable *taken;  /* by tag, of a consumer */
        GHashTable *pairs; /* queue << 32 | consumer, to how many were taken since one was settled;
                              NULL before the first */
        guint most;        /* pairs; then all begin anew */
};

Settling *settling_new(guint most)
{
        Settling *s = g_new0(Settling, 1);

        s->taken = link_table_new(most);
        s->most = most;
        return s;
}

void settling_free(Settling *s)
{
        link_table_free(s->taken);
        g_clear_pointer(&s->pairs, g_hash_table_unref);
        g_free(s);
}

static guint64 *settling_pair_of(Settling *s, NodeId queue, NodeId consumer)
{
        guint64 key = (guint64)queue << 32 | consumer, *pair;

        if (!s->pairs)
                s->pairs = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, g_free);
        pair = g_hash_table_lookup(s->pairs, &key);
        if (!pair) {
                if (g_hash_table_size(s->pairs) >= s->most)
                        g_hash_table_remove_all(s->pairs);
                pair = g_new0(guint64, 1);
                g_hash_table_insert(s->pairs, g_memdup2(&key, sizeof key), pair);
        }
        return pair;
}

guint64 settling_forgotten(const Settling *s)
{
        return link_table_forgotten(s->taken);
}

static guint64 settling_mix(NodeId queue, NodeId consumer, guint64 tag)
{
        return hash_word(tag, (guint64)queue << 32 | consumer);
}

gboolean settling_take(Settling *s, NodeId queue, NodeId consumer, guint64 tag, guint16 port,
                       guint32 number)
{
        guint64 *unsettled = settling_pair_of(s, queue, consumer);
        gboolean likely = *unsettled < MAX_UNSETTLED;

        ++*unsettled;
        if (likely)
                link_table_set(s->taken, settling_mix(queue, consumer, tag), queue,
                               (Link){ .number = number, .port = port, .some = TRUE });
        return likely;
}

gboolean settling_has(const Settling *s, NodeId queue, NodeId consumer, guint64 tag)
{
        return s->pairs &&
               link_table_find(s->taken, settling_mix(queue, consumer, tag), consumer).some;
}

Link settling_settle(Settling *s, NodeId queue, NodeId consumer, guint64 tag)
{
        Link link = { 0 };

        if (s->pairs)
                link = link_table_take(s->taken, settling_mix(queue, consumer, tag), consumer);
        if (link.some)
                *settling_pair_of(s, queue, consumer) = 0;
        return link;
}
