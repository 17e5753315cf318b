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
#include "tracefmt/big-memory.h"

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
                if (n->calls.cause[i].parent == NO_PARENT)
                        g_array_append_val(roots, i);
        *n_roots = roots->len;
        nesting_sort_calls(n, (guint32 *)roots->data, roots->len);
        return (guint32 *)g_array_free(g_steal_pointer(&roots), FALSE);
}

typedef struct {
        guint32 call, parent; /* parent: its place in the instance */
} Pending;

/* The children of each call, linked, the latest first. */
typedef struct {
        guint32 first; /* NO_PARENT: none */
        guint32 next;  /* of its parent's; NO_PARENT: none */
} Children;

/* By call. */
static Children *link_children(const Nesting *n)
{
        gsize size = n->calls.n * sizeof(Children);
        Children *children = big_renew(NULL, 0, size);

        memset(children, 0xff, size);
        for (guint32 i = 0; i < n->calls.n; i++) {
                guint32 parent = n->calls.cause[i].parent;

                if (parent == NO_PARENT)
                        continue;
                children[i].next = children[parent].first;
                children[parent].first = i;
        }
        return children;
}

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

static int compare_pending(const void *a, const void *b, void *data)
{
        const CallPairs *c = data;
        guint32 i = ((const Pending *)a)->call, j = ((const Pending *)b)->call;
        gint64 x = c->at_caller[i].from, y = c->at_caller[j].from;

        /* The latest first. */
        return x != y ? (x < y) - (x > y) : (i < j) - (i > j);
}

/* Siblings as they lie on the stack, the earliest on top: in the order of the
 * trace already, but where clocks disagree not in that of their caller's. */
static void sort_siblings(const CallPairs *c, Pending *siblings, guint32 n)
{
        for (guint32 i = 1; i < n; i++)
                if (c->at_caller[siblings[i].call].from > c->at_caller[siblings[i - 1].call].from) {
                        qsort_r(siblings, n, sizeof *siblings, compare_pending, (void *)c);
                        return;
                }
}

/* CreatePathNode, without recursion: the instance below root in pre-order,
 * siblings in call order. */
static void gather(const Nesting *n, const Children *children, guint32 root, Instance *g)
{
        const CallPairs *c = &n->calls;

        g->n_path = g->n_stack = 0;
        push(g, root, NO_PARENT);
        while (g->n_stack) {
                Pending p = g->stack[--g->n_stack];
                guint32 i = p.call, place = g->n_path++, bottom = g->n_stack;
                PathCall *to;

                if (G_UNLIKELY(place == g->path_size)) {
                        g->path_size = MAX(64, g->path_size * 2);
                        g->path = g_renew(PathCall, g->path, g->path_size);
                }
                to = &g->path[place];
                *to = (PathCall){ .parent = p.parent,
                                  .caller = c->nodes[i].caller,
                                  .callee = c->nodes[i].callee,
                                  .start = c->at_caller[i].from,
                                  .enter = c->at_callee[i].from,
                                  .reply = c->at_callee[i].to,
                                  .end = c->at_caller[i].to,
                                  .stamps = c->stamps[i],
                                  .probability = place == 0 ? 1 : c->cause[i].probability,
                                  .candidates = n->candidates ? n->candidates[i] : 0,
                                  .call = i };
                if (n->ids)
                        to->id = nesting_call_id(n, i, &to->id_length);
                for (guint32 k = children[i].first; k != NO_PARENT; k = children[k].next)
                        push(g, k, place);
                if (c->both_ends || n->options.window > 0)
                        sort_siblings(c, g->stack + bottom, g->n_stack - bottom);
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
        summary->parallelism = n->children ? (double)n->nestings / n->children : 0;
        summary->first = counts->first;
        summary->last = counts->last;
}

gboolean nesting_find_paths(Nesting *n, PathSet *set, CallPlace *places, GError **error)
{
        g_autofree Cut *cuts = NULL;
        g_autofree guint32 *roots = NULL;
        Instance instance = { 0 };
        Children *children;
        guint32 n_roots;
        guint64 number = 0;
        gboolean ok = TRUE;

        path_set_set_fold(set, n->fold);
        summarise(n, set);
        if (n->calls.n == 0)
                return TRUE;
        cuts = find_cuts(n);
        roots = find_roots(n, &n_roots);
        children = link_children(n);
        for (guint32 i = 0; ok && i < n_roots; i++) {
                const Cut *cut = &cuts[n->calls.nodes[roots[i]].caller];
                Span span = n->calls.at_caller[roots[i]];
                gboolean is_cut = span.to <= cut->returned || span.from > cut->called;

                gather(n, children, roots[i], &instance);
                if (is_cut)
                        path_set_summary(set)->cut_instances++;
                else
                        ok = path_set_add(set, instance.path, instance.n_path, error);
                for (guint32 k = 0; ok && places && k < instance.n_path; k++)
                        places[instance.path[k].call] =
                                (CallPlace){ number, is_cut ? NO_PATTERN : path_set_latest(set) };
                number += !is_cut;
        }
        big_free(children, n->calls.n * sizeof *children);
        g_free(instance.path);
        g_free(instance.stack);
        return ok;
}
