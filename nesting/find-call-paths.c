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

#include "nesting/nesting.h"

typedef struct {
        gint64 returned; /* the latest return of a call from before the start */
        gint64 called;   /* the earliest call that outlasts the end */
} Cut;

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

/* By NodeId. */
static Cut *find_cuts(const Nesting *n)
{
        guint n_nodes = node_table_size(n->nodes), n_edges, n_lone;
        Cut *cuts = g_new(Cut, n_nodes);
        const Edge *edges = call_matcher_edges(n->matcher, &n_edges);
        const LoneMessage *lone = call_matcher_lone(n->matcher, &n_lone);
        const MatchCounts *counts = call_matcher_counts(n->matcher);
        g_autofree EdgeLength *lengths = g_new(EdgeLength, n_edges);

        for (guint i = 0; i < n_nodes; i++)
                cuts[i] = (Cut){ G_MININT64, G_MAXINT64 };
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
        return cuts;
}

/* The roots in order of start. */
static guint32 *find_roots(const Nesting *n, guint32 *n_roots)
{
        g_autoptr(GArray) roots = g_array_new(FALSE, FALSE, sizeof(guint32));

        for (guint32 i = 0; i < n->n_calls; i++)
                if (n->calls[i].parent == NO_PARENT)
                        g_array_append_val(roots, i);
        *n_roots = roots->len;
        nesting_sort_calls(n, (guint32 *)roots->data, roots->len);
        return (guint32 *)g_array_free(g_steal_pointer(&roots), FALSE);
}

typedef struct {
        guint32 call, parent; /* parent: its place in the instance */
} Pending;

/* CreatePathNode, without recursion: the instance below root in pre-order,
 * siblings in call order. order[] takes the index of each call. */
static void gather(const Nesting *n, guint32 root, GArray *path, GArray *stack)
{
        Pending pending = { root, NO_PARENT };

        g_array_set_size(path, 0);
        g_array_append_val(stack, pending);
        while (stack->len) {
                Pending p = g_array_index(stack, Pending, stack->len - 1);
                const CallPair *c = &n->calls[p.call];
                PathCall *to;

                g_array_set_size(stack, stack->len - 1);
                g_array_set_size(path, path->len + 1);
                to = &g_array_index(path, PathCall, path->len - 1);
                *to = (PathCall){ .parent = p.parent,
                                  .caller = c->caller,
                                  .callee = c->callee,
                                  .start = c->start,
                                  .enter = c->enter,
                                  .reply = c->reply,
                                  .end = c->end,
                                  .stamps = n->stamps[p.call],
                                  .probability = c->probability,
                                  .candidates = n->candidates[p.call],
                                  .call = p.call };
                if (n->ids)
                        to->id = nesting_call_id(n, p.call, &to->id_length);
                /* The latest child is first in the list, and so deepest here. */
                pending.parent = path->len - 1;
                for (pending.call = n->first_child[p.call]; pending.call != NO_PARENT;
                     pending.call = n->next_child[pending.call])
                        g_array_append_val(stack, pending);
        }
}

gboolean nesting_find_paths(Nesting *n, PathSet *set, guint64 *instance, GError **error)
{
        g_autofree Cut *cuts = find_cuts(n);
        g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof(PathCall));
        g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(Pending));
        guint32 n_roots;
        g_autofree guint32 *roots = find_roots(n, &n_roots);
        const MatchCounts *counts = call_matcher_counts(n->matcher);
        PathSetSummary *summary = path_set_summary(set);
        guint64 number = 0;

        summary->messages = counts->messages;
        summary->calls = counts->pairs;
        summary->unmatched_calls = counts->lone_calls;
        summary->unmatched_returns = counts->lone_returns;
        summary->first = counts->first;
        summary->last = counts->last;
        for (guint32 i = 0; i < n_roots; i++) {
                const CallPair *root = &n->calls[roots[i]];
                const Cut *cut = &cuts[root->caller];
                gboolean is_cut = root->end <= cut->returned || root->start > cut->called;

                gather(n, roots[i], path, stack);
                for (guint k = 0; instance && k < path->len; k++)
                        instance[g_array_index(path, PathCall, k).call] =
                                is_cut ? G_MAXUINT64 : number;
                if (is_cut) {
                        summary->cut_instances++;
                        continue;
                }
                g_array_index(path, PathCall, 0).caller = n->fold[root->caller];
                if (!path_set_add(set, (PathCall *)path->data, path->len, error))
                        return FALSE;
                number++;
        }
        return TRUE;
}
