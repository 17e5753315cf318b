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

        for (guint32 i = 0; i < n->calls.n; i++)
                if (n->calls.parent[i] == NO_PARENT)
                        g_array_append_val(roots, i);
        *n_roots = roots->len;
        nesting_sort_calls(n, (guint32 *)roots->data, roots->len);
        return (guint32 *)g_array_free(g_steal_pointer(&roots), FALSE);
}

typedef struct {
        guint32 call, parent; /* parent: its place in the instance */
} Pending;

/* The instance in hand, and the calls still to be put into it. */
typedef struct {
        PathCall *path;
        guint32 n_path, path_size;
        Pending *stack;
        guint32 n_stack, stack_size;
} Instance;

static inline void push(Instance *g, guint32 call, guint32 parent)
{
        if (G_UNLIKELY(g->n_stack == g->stack_size)) {
                g->stack_size = MAX(64, g->stack_size * 2);
                g->stack = g_renew(Pending, g->stack, g->stack_size);
        }
        g->stack[g->n_stack++] = (Pending){ call, parent };
}

/* CreatePathNode, without recursion: the instance below root in pre-order,
 * siblings in call order. */
static void gather(const Nesting *n, guint32 root, Instance *g)
{
        const CallPairs *c = &n->calls;

        g->n_path = g->n_stack = 0;
        push(g, root, NO_PARENT);
        while (g->n_stack) {
                Pending p = g->stack[--g->n_stack];
                guint32 i = p.call, place = g->n_path++;
                PathCall *to;

                if (G_UNLIKELY(place == g->path_size)) {
                        g->path_size = MAX(64, g->path_size * 2);
                        g->path = g_renew(PathCall, g->path, g->path_size);
                }
                to = &g->path[place];
                *to = (PathCall){ .parent = p.parent,
                                  .caller = c->caller[i],
                                  .callee = c->callee[i],
                                  .start = c->start[i],
                                  .enter = c->enter[i],
                                  .reply = c->reply[i],
                                  .end = c->end[i],
                                  .stamps = c->stamps[i],
                                  .probability = place == 0 ? 1 : c->probability[i],
                                  .candidates = n->candidates ? n->candidates[i] : 0,
                                  .call = i };
                if (n->ids)
                        to->id = nesting_call_id(n, i, &to->id_length);
                /* The latest child is first in the list, and so deepest here. */
                for (guint32 k = n->first_child[i]; k != NO_PARENT; k = n->next_child[k])
                        push(g, k, place);
        }
}

static void summarise(const Nesting *n, PathSet *set)
{
        const MatchCounts *counts = call_matcher_counts(n->matcher);
        PathSetSummary *summary = path_set_summary(set);

        summary->messages = counts->messages;
        summary->calls = counts->pairs;
        summary->unmatched_calls = counts->lone_calls;
        summary->unmatched_returns = counts->lone_returns;
        summary->first = counts->first;
        summary->last = counts->last;
}

gboolean nesting_find_paths(Nesting *n, PathSet *set, CallPlace *places, GError **error)
{
        g_autofree Cut *cuts = find_cuts(n);
        Instance instance = { 0 };
        guint32 n_roots;
        g_autofree guint32 *roots = find_roots(n, &n_roots);
        guint64 number = 0;
        gboolean ok = TRUE;

        path_set_set_fold(set, n->fold);
        summarise(n, set);
        for (guint32 i = 0; ok && i < n_roots; i++) {
                const Cut *cut = &cuts[n->calls.caller[roots[i]]];
                gboolean is_cut = n->calls.end[roots[i]] <= cut->returned ||
                                  n->calls.start[roots[i]] > cut->called;

                gather(n, roots[i], &instance);
                if (is_cut)
                        path_set_summary(set)->cut_instances++;
                else
                        ok = path_set_add(set, instance.path, instance.n_path, error);
                for (guint32 k = 0; ok && places && k < instance.n_path; k++)
                        places[instance.path[k].call] =
                                (CallPlace){ number, is_cut ? NO_PATTERN : path_set_latest(set) };
                number += !is_cut;
        }
        g_free(instance.path);
        g_free(instance.stack);
        return ok;
}
