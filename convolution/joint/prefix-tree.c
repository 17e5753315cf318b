/* SPDX-License-Identifier: BSD-2-Clause */
#include "convolution/joint/message-causes.h"

#include "base/hash.h"

enum { START_SLOTS = 1024 };

static void make_table(PrefixTree *t, guint32 slots)
{
        t->table = g_renew(guint32, t->table, slots);
        t->mask = slots - 1;
        memset(t->table, 0xff, slots * sizeof *t->table);
}

PrefixTree *prefix_tree_new(void)
{
        PrefixTree *t = g_new0(PrefixTree, 1);

        t->prefixes = g_array_new(FALSE, FALSE, sizeof(Prefix));
        make_table(t, START_SLOTS);
        return t;
}

void prefix_tree_free(PrefixTree *t)
{
        if (!t)
                return;
        g_array_unref(t->prefixes);
        g_free(t->table);
        g_free(t);
}

static guint32 slot_of(const PrefixTree *t, guint32 parent, NodeId node)
{
        return (guint32)(hash_word(HASH_SEED, (guint64)parent << 32 | node) >> 20) & t->mask;
}

static void link_vertex(PrefixTree *t, guint32 i)
{
        Prefix *v = PREFIX(t, i);
        guint32 *slot = &t->table[slot_of(t, v->parent, v->node)];

        v->next = *slot;
        *slot = i;
}

guint32 prefix_tree_add(PrefixTree *t, guint32 parent, NodeId node)
{
        Prefix v = { .parent = parent, .node = node };
        guint32 i = t->table[slot_of(t, parent, node)];

        for (; i != NO_PREFIX; i = PREFIX(t, i)->next)
                if (PREFIX(t, i)->parent == parent && PREFIX(t, i)->node == node)
                        return i;
        i = t->prefixes->len;
        v.depth = parent == NO_PREFIX ? 0 : PREFIX(t, parent)->depth + 1;
        g_array_append_val(t->prefixes, v);
        if (i > t->mask) {
                make_table(t, 4 * (t->mask + 1));
                for (guint32 k = 0; k < i; k++)
                        link_vertex(t, k);
        }
        link_vertex(t, i);
        return i;
}
