/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/find-call-paths.h"

#include <stdlib.h>

#include "base/compare.h"

typedef struct {
        NodeId caller, callee;
        gint64 longest;
} EdgeLength;

static int compare_edge_lengths(const void *a, const void *b)
{
        const EdgeLength *x = a, *y = b;

        return COMPARE(x->caller, y->caller) ?: COMPARE(x->callee, y->callee);
}

Cut *cuts_find(CallMatcher *matcher, guint n_nodes)
{
        guint n_edges, n_lone;
        Cut *cuts = g_new(Cut, n_nodes);
        const Edge *edges = call_matcher_edges(matcher, &n_edges);
        const LoneMessage *lone = call_matcher_lone(matcher, &n_lone);
        const MatchCounts *counts = call_matcher_counts(matcher);
        g_autofree EdgeLength *lengths = NULL;

        for (guint i = 0; i < n_nodes; i++)
                cuts[i] = (Cut){ G_MININT64, G_MAXINT64 };
        if (n_lone == 0)
                return cuts;
        lengths = g_new(EdgeLength, n_edges);
        for (guint i = 0; i < n_edges; i++)
                lengths[i] = (EdgeLength){ edges[i].caller, edges[i].callee, edges[i].longest };
        qsort(lengths, n_edges, sizeof *lengths, compare_edge_lengths);
        for (guint i = 0; i < n_lone; i++) {
                const LoneMessage *m = &lone[i];
                EdgeLength key = { m->caller, m->callee, 0 };
                const EdgeLength *length =
                        bsearch(&key, lengths, n_edges, sizeof *lengths, compare_edge_lengths);
                Cut *cut = &cuts[m->callee];

                if (m->is_return && m->time - counts->first <= length->longest)
                        cut->returned = MAX(cut->returned, m->time);
                if (!m->is_return && counts->last - m->time <= length->longest)
                        cut->called = MIN(cut->called, m->time);
        }
        return cuts;
}
