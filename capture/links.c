/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/links.h"

#include "base/hash.h"

typedef struct {
        gint64 content; /* mixed with the table's seed */
        Link link;
        NodeId by; /* who sent that message */
} Content;

struct LinkTable {
        /* Sets of Content, NULL before they are needed. The older is dropped when the newer is
         * full. */
        GHashTable *newer, *older;
        guint most; /* contents of each */
        guint64 forgotten;
        guint64 seed;
};

LinkTable *link_table_new(guint most)
{
        LinkTable *t = g_new0(LinkTable, 1);

        t->most = most / 2;
        /* No result depends on it: a stranger cannot make a table slow. */
        t->seed = (guint64)g_random_int() << 32 | g_random_int();
        return t;
}

void link_table_free(LinkTable *t)
{
        g_clear_pointer(&t->newer, g_hash_table_destroy);
        g_clear_pointer(&t->older, g_hash_table_destroy);
        g_free(t);
}

guint64 link_table_forgotten(const LinkTable *t)
{
        return t->forgotten;
}

static const Content *link_find(const LinkTable *t, gint64 key)
{
        const Content *known = t->newer ? g_hash_table_lookup(t->newer, &key) : NULL;

        return known || !t->older ? known : g_hash_table_lookup(t->older, &key);
}

Link link_table_find(const LinkTable *t, guint64 content, NodeId not_by)
{
        const Content *known = link_find(t, (gint64)hash_word(t->seed, content));

        return known && known->by != not_by ? known->link : (Link){ 0 };
}

Link link_table_take(LinkTable *t, guint64 content, NodeId not_by)
{
        gint64 key = (gint64)hash_word(t->seed, content);
        Link link = link_table_find(t, content, not_by);

        if (link.some && !g_hash_table_remove(t->newer, &key))
                g_hash_table_remove(t->older, &key);
        return link;
}

static void link_make_room(LinkTable *t)
{
        t->forgotten += t->older ? g_hash_table_size(t->older) : 0;
        g_clear_pointer(&t->older, g_hash_table_destroy);
        t->older = t->newer;
        t->newer = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
}

static void link_keep(LinkTable *t, const Content *entry)
{
        if (!t->newer || g_hash_table_size(t->newer) >= t->most)
                link_make_room(t);
        g_hash_table_add(t->newer, g_memdup2(entry, sizeof *entry));
}

void link_table_set(LinkTable *t, guint64 content, NodeId by, Link link)
{
        link_keep(t, &(Content){ (gint64)hash_word(t->seed, content), link, by });
}

Link link_table_add(LinkTable *t, guint64 content, NodeId by, guint16 port, guint32 number)
{
        gint64 key = (gint64)hash_word(t->seed, content);
        const Content *known = link_find(t, key);
        Content entry = { key, { .number = number, .port = port, .some = TRUE }, by };

        if (known && g_hash_table_contains(t->newer, &key))
                return known->link;
        if (known)
                entry = *known; /* which is not the oldest any more */
        link_keep(t, &entry);
        return entry.link;
}
