/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-tree.h"

#include <string.h>

#include "base/grow.h"

void call_trees_init(CallTrees *t, CallPairs *calls, gint64 window, CallTreeDone done,
                     gpointer data)
{
        memset(t, 0, sizeof *t);
        t->calls = calls;
        t->window = window;
        t->unused = NO_TREE;
        t->done = done;
        t->data = data;
}

void call_trees_clear(CallTrees *t)
{
        g_free(t->tree);
        g_free(t->family);
        g_free(t->roots);
        memset(t, 0, sizeof *t);
}

void call_trees_keep_families(CallTrees *t)
{
        t->family = g_renew(float, t->family, MAX(t->size, 1));
}

static guint32 new_tree(CallTrees *t)
{
        guint32 tree = t->unused;

        if (G_LIKELY(tree != NO_TREE)) {
                t->unused = t->tree[tree].link[NEXT_CHILD];
                return tree;
        }
        if (t->n == t->size) {
                GROW(t->tree, t->size, 64);
                if (t->family)
                        t->family = g_renew(float, t->family, t->size);
        }
        return t->n++;
}

guint32 call_trees_open(CallTrees *t, guint32 call)
{
        Span span = t->calls->at_callee[call];
        guint32 tree;

        if (t->calls->tree && t->calls->tree[call])
                return t->calls->tree[call] - 1;
        tree = new_tree(t);
        t->tree[tree] = (CallTree){ .call = call,
                                    .parent = NO_TREE,
                                    .link = { NO_TREE, NO_TREE },
                                    .last = tree,
                                    .until = MAX(span.from, span.to) + 2 * t->window };
        if (t->links && t->links->relayed && (t->links->relayed[call] & MAY_GO_ON))
                t->tree[tree].until += t->goes_on;
        if (t->family)
                t->family[tree] = 1;
        if (t->calls->tree)
                t->calls->tree[call] = tree + 1;
        return tree;
}

static void add_root(CallTrees *t, guint32 tree)
{
        if (t->n_roots == t->roots_size) {
                t->n_roots -= t->first_root;
                if (t->n_roots)
                        memmove(t->roots, t->roots + t->first_root, t->n_roots * sizeof *t->roots);
                t->first_root = 0;
                if (t->n_roots >= t->roots_size / 2)
                        GROW(t->roots, t->roots_size, 64);
        }
        t->roots[t->n_roots++] = tree;
}

gboolean call_trees_place(CallTrees *t, guint32 tree, guint32 parent, double probability,
                          GError **error)
{
        CallTree *c = &t->tree[tree];

        c->probability = probability;
        c->parent = parent;
        if (parent != NO_TREE) {
                CallTree *p = &t->tree[parent];

                /* No branch on whether it is the first child, which cannot be predicted. */
                t->tree[p->last].link[p->last == parent ? FIRST_CHILD : NEXT_CHILD] = tree;
                p->last = tree;
                for (; p->until < c->until; p = &t->tree[p->parent]) {
                        p->until = c->until;
                        if (p->parent == NO_TREE)
                                break;
                }
                return TRUE;
        }
        add_root(t, tree);
        return t->hold ||
               call_trees_hand_on(t, t->calls->at_caller[c->call].from + t->window, error);
}

gboolean call_trees_hand_on(CallTrees *t, gint64 before, GError **error)
{
        while (t->first_root < t->n_roots) {
                guint32 root = t->roots[t->first_root];

                if (t->tree[root].until >= before && before != G_MAXINT64)
                        break;
                t->first_root++;
                if (!t->done(t->data, root, error))
                        return FALSE;
        }
        return TRUE;
}

gint64 call_trees_first_start(const CallTrees *t)
{
        if (t->first_root == t->n_roots)
                return G_MAXINT64;
        return t->calls->at_caller[t->tree[t->roots[t->first_root]].call].from;
}

void call_trees_drop_calls(CallTrees *t, guint32 n)
{
        for (guint32 i = 0; i < t->n; i++)
                t->tree[i].call -= n; /* in unused trees it means nothing */
}
