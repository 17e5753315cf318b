/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/links.h"

#include "base/hash.h"

/* Of each of two tables: the older is dropped when the newer is full. */
#define MAX_CONTENTS 524288

typedef struct {
        gint64 content; /* mixed with the table's seed */
        Link link;
} Content;

struct LinkTable {
        GHashTable *newer, *older; /* set of Content; NULL before they are needed */
        guint64 seed;
};

LinkTable *link_table_new(void)
{
        LinkTable *t = g_new0(LinkTable, 1);
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

Link link_table_add(LinkTable *t, guint64 content, guint16 port, guint32 number)
{
        gint64 key = (gint64)hash_word(t->seed, content);
        const Content *known = t->newer ? g_hash_table_lookup(t->newer, &key) : NULL;
        if (known)
                return known->link;
        known = t->older ? g_hash_table_lookup(t->older, &key) : NULL;
        if (!t->newer || g_hash_table_size(t->newer) >= MAX_CONTENTS) {
                Content *kept = known ? g_memdup2(known, sizeof *known) : NULL;
                g_clear_pointer(&t->older, g_hash_table_destroy);
                t->older = t->newer;
                t->newer = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
                if (kept)
                        g_hash_table_add(t->newer, kept);
                if (kept)
                        return kept->link;
        }
        Content *entry = g_new(Content, 1);
        *entry = (Content){ key, known ? known->link
                                       : (Link){ .number = number, .port = port, .some = TRUE } };
        g_hash_table_add(t->newer, entry);
        return entry->link;
}
