/* SPDX-License-Identifier: BSD-2-Clause */
#include "convolution/path-tree.h"

#include "tracefmt/hash.h"

enum { START_SLOTS = 1024 };

static void make_table(PathTree *t, guint32 slots)
{
        t->table = g_renew(guint32, t->table, slots);
        t->mask = slots - 1;
        memset(t->table, 0xff, slots * sizeof *t->table);
}

PathTree *path_tree_new(void)
{
        PathTree *t = g_new0(PathTree, 1);

        t->vertices = g_array_new(FALSE, FALSE, sizeof(PathVertex));
        make_table(t, START_SLOTS);
        return t;
}

void path_tree_free(PathTree *t)
{
        if (!t)
                return;
        g_array_unref(t->vertices);
        g_free(t->table);
        g_free(t);
}

static guint32 slot_of(const PathTree *t, guint32 parent, NodeId node)
{
        return (guint32)(hash_word(HASH_SEED, (guint64)parent << 32 | node) >> 20) & t->mask;
}

static void link_vertex(PathTree *t, guint32 i)
{
        PathVertex *v = PATH_VERTEX(t, i);
        guint32 *slot = &t->table[slot_of(t, v->parent, v->node)];

        v->next = *slot;
        *slot = i;
}

guint32 path_tree_add(PathTree *t, guint32 parent, NodeId node)
{
        PathVertex v = { .parent = parent, .node = node };
        guint32 i = t->table[slot_of(t, parent, node)];

        for (; i != NO_VERTEX; i = PATH_VERTEX(t, i)->next)
                if (PATH_VERTEX(t, i)->parent == parent && PATH_VERTEX(t, i)->node == node)
                        return i;
        i = t->vertices->len;
        v.depth = parent == NO_VERTEX ? 0 : PATH_VERTEX(t, parent)->depth + 1;
        g_array_append_val(t->vertices, v);
        if (i > t->mask) {
                make_table(t, 4 * (t->mask + 1));
                for (guint32 k = 0; k < i; k++)
                        link_vertex(t, k);
        }
        link_vertex(t, i);
        return i;
}
