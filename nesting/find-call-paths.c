/* SPDX-License-Identifier: BSD-2-Clause
 *
 * FindCallPaths (paper, Figure 4, lines 27 to 41): each call without a parent is
 * the root of a path instance.
 *
 * An instance is cut, and kept apart, where its root may be the child of a call
 * that the capture has only one end of: its caller sent a return after the root's
 * end, whose call lies before the capture's start; or was called before the
 * root's start, and its return lies after the capture's end. A lone message
 * lies across the start or the end if it is no further from it than the longest
 * call on its edge lasts; elsewhere in the trace it is a loss.
 */
#include <stdlib.h>
#include <string.h>

#include "base/big-memory.h"
#include "nesting/nesting.h"

typedef struct {
        NodeId caller, callee;
        gint64 longest;
} EdgeLength;

static int compare_edges(const void *a, const void *b)
{
        const EdgeLength *x = a, *y = b;

        if (x->caller != y->caller)
                return x->caller < y->caller ? -1 : 1;
        return (x->callee > y->callee) - (x->callee < y->callee);
}

void nesting_find_cuts(Nesting *n)
{
        guint n_nodes = node_table_size(n->nodes), n_edges, n_lone;
        Cut *cuts = n->cuts = g_renew(Cut, n->cuts, n_nodes);
        const Edge *edges = call_matcher_edges(n->matcher, &n_edges);
        const LoneMessage *lone = call_matcher_lone(n->matcher, &n_lone);
        const MatchCounts *counts = call_matcher_counts(n->matcher);
        g_autofree EdgeLength *lengths = NULL;

        for (guint i = 0; i < n_nodes; i++)
                cuts[i] = (Cut){ G_MININT64, G_MAXINT64 };
        if (n_lone == 0)
                return;
        lengths = g_new(EdgeLength, n_edges);
        for (guint i = 0; i < n_edges; i++)
                lengths[i] = (EdgeLength){ edges[i].caller, edges[i].callee, edges[i].longest };
        qsort(lengths, n_edges, sizeof *lengths, compare_edges);
        for (guint i = 0; i < n_lone; i++) {
                const LoneMessage *m = &lone[i];
                EdgeLength key = { m->caller, m->callee, 0 };
                const EdgeLength *length =
                        bsearch(&key, lengths, n_edges, sizeof *lengths, compare_edges);
                Cut *cut = &cuts[m->callee];

                if (m->is_return && m->time - counts->first <= length->longest)
                        cut->returned = MAX(cut->returned, m->time);
                if (!m->is_return && counts->last - m->time <= length->longest)
                        cut->called = MIN(cut->called, m->time);
        }
}

static inline float family_of(const Nesting *n, const CallTree *tree)
{
        if (n->calls.family)
                return n->calls.family[tree->call];
        return n->trees.family ? n->trees.family[tree - n->trees.tree] : 1;
}

static inline void fill(const Nesting *n, const CallTree *tree, guint32 parent, PathCall *to)
{
        const CallPairs *c = &n->calls;
        guint32 i = tree->call;
        const EdgeRole *edge = nesting_edge(n, i);

        /* With every field named, none is cleared first. */
        *to = (PathCall){ .parent = parent,
                          .caller = edge->caller,
                          .callee = edge->callee,
                          .start = c->at_caller[i].from,
                          .enter = c->at_callee[i].from,
                          .reply = c->at_callee[i].to,
                          .end = c->at_caller[i].to,
                          .stamps = c->stamps[i],
                          .probability = tree->probability,
                          .family = family_of(n, tree),
                          .candidates = c->candidates ? c->candidates[i] : 0,
                          .id = NULL,
                          .id_length = 0,
                          .call = i,
                          .label = call_labels_get(&n->labels, i),
                          .own = 0,
                          .network = 0 };
        if (n->ids)
                to->id = nesting_call_id(n, i, &to->id_length);
}

/* Takes the tree below root apart, without recursion: the instance in pre-order, siblings
 * in call order. Returns how many calls it has. */
static guint32 gather(Nesting *g, guint32 root)
{
        CallTrees *trees = &g->trees;
        guint32 tree = root, up = NO_PARENT, n = 0; /* up: the place of the parent of tree */

        for (;;) {
                const CallTree *t = &trees->tree[tree];
                guint32 next;

                if (G_UNLIKELY(n == g->path_size)) {
                        g->path_size = MAX(64, g->path_size * 2);
                        g->path = g_renew(PathCall, g->path, g->path_size);
                }
                fill(g, t, up, &g->path[n++]);
                if (t->link[FIRST_CHILD] != NO_TREE) {
                        up = n - 1;
                        tree = t->link[FIRST_CHILD];
                        continue;
                }
                while (tree != root && trees->tree[tree].link[NEXT_CHILD] == NO_TREE) {
                        guint32 parent = trees->tree[tree].parent;

                        call_trees_free_one(trees, tree);
                        tree = parent;
                        up = g->path[up].parent;
                }
                if (tree == root)
                        break;
                next = trees->tree[tree].link[NEXT_CHILD];
                call_trees_free_one(trees, tree);
                tree = next;
        }
        call_trees_free_one(trees, root);
        return n;
}

gboolean nesting_take_instance(gpointer data, guint32 root, GError **error)
{
        Nesting *g = data;
        guint32 n = gather(g, root);
        const Cut *cut = &g->cuts[g->path[0].caller];
        gboolean is_cut = g->path[0].end <= cut->returned || g->path[0].start > cut->called;

        if (g->windows && !windows_begin_instance(g, n, error))
                return FALSE;
        if (is_cut)
                path_set_summary(g->set)->cut_instances++;
        else if (!path_set_add(g->set, g->path, n, error))
                return FALSE;
        for (guint32 k = 0; g->calls.place && k < n; k++)
                g->calls.place[g->path[k].call] =
                        (CallPlace){ g->number, is_cut ? NO_PATTERN : path_set_latest(g->set) };
        g->number += !is_cut;
        return TRUE;
}

/* The tree of a call; without a column of trees it has the call's number. */
static inline guint32 tree_of(Nesting *n, guint32 call)
{
        if (call == NO_PARENT)
                return NO_TREE;
        return n->calls.tree ? call_trees_open(&n->trees, call) : call;
}

gboolean place_nested_pairs(Nesting *n, GError **error)
{
        enum { SHOWN = 1 << 12 };
        gboolean starts, enters;
        guint32 call, done = 0;

        while (call_order_next(&n->order, &call, &starts, &enters)) {
                const Cause *cause = &n->calls.cause[call];
                double probability = cause->parent == NO_PARENT ? 1 : cause->probability;

                if (starts && !call_trees_place(&n->trees, tree_of(n, call),
                                                tree_of(n, cause->parent), probability, error))
                        return FALSE;
                if (n->options.progress && starts && ++done % SHOWN == 0)
                        n->options.progress((double)done / n->calls.n);
        }
        return TRUE;
}

/* Puts together all trees, of parents that are known. */
static gboolean place_all(Nesting *n, GError **error)
{
        n->trees.hold = TRUE;
        for (guint32 i = 0; i < n->calls.n; i++)
                call_trees_open(&n->trees, i);
        return place_nested_pairs(n, error);
}

static void summarise(const Nesting *n, PathSet *set)
{
        const MatchCounts *counts = call_matcher_counts(n->matcher);
        PathSetSummary *summary = path_set_summary(set);

        summary->messages = counts->messages;
        summary->calls = counts->pairs;
        summary->unmatched_calls = counts->lone_calls;
        summary->unmatched_returns = counts->lone_returns;
        summary->parallelism = n->children ? (double)n->nestings / n->children : 0;
        summary->first = counts->first;
        summary->last = counts->last;
}

gboolean nesting_find_paths(Nesting *n, PathSet *set, GError **error)
{
        gboolean known = n->options.cheat || n->options.joint;

        path_set_set_fold(set, n->fold);
        path_set_set_labels(set, n->labels.names);
        summarise(n, set);
        n->set = set;
        nesting_find_cuts(n);
        if (!n->order.at_once && !known)
                call_pairs_want_trees(&n->calls);
        call_trees_init(&n->trees, &n->calls, n->options.window, nesting_take_instance, n);
        if (!known)
                call_trees_keep_families(&n->trees);
        return (known ? place_all(n, error) : find_nested_pairs(n, error)) &&
               call_trees_hand_on(&n->trees, G_MAXINT64, error);
}
