/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/nesting-run.h"

#include <string.h>

#include "nesting/explanation.h"
#include "queues/open-stays.h"

static guint wanted_columns(const NestingOptions *o)
{
        gboolean joint = nesting_parents_from(o) == PARENTS_JOINT;
        gboolean truth = nesting_methods[o->method].truth;
        guint wanted = 0;

        if (o->keep || truth || joint)
                wanted |= WANT_CAUSES;
        if (joint)
                wanted |= WANT_FAMILIES | WANT_CONNECTIONS | WANT_IDENTIFIERS | WANT_FACTS;
        if (o->keep)
                wanted |= WANT_CANDIDATES | WANT_FACTS;
        if (o->places)
                wanted |= WANT_PLACES;
        if (o->keep || truth)
                wanted |= WANT_IDS;
        wanted |= WANT_LINKS;
        if (truth)
                wanted |= WANT_TRUE_PATHS;
        return wanted;
}

void nesting_run_init(Nesting *n, NodeTable *nodes, const NestingOptions *options)
{
        memset(n, 0, sizeof *n);
        n->options = *options;
        known_calls_init(&n->calls, nodes, options->window, options->max_call, options->fold,
                         wanted_columns(options));
        scoreboard_init(&n->board);
        n->explanations = explanations_new();
        call_paths_init(&n->paths, &n->calls, options->window,
                        nesting_parents_from(options) == PARENTS_SCORED);
}

void nesting_run_clear(Nesting *n)
{
        drawn_parents_clear(&n->drawn);
        scoreboard_clear(&n->board);
        call_paths_clear(&n->paths);
        call_order_clear(&n->order);
        known_calls_clear(&n->calls);
        g_array_free(n->explanations, TRUE);
        g_free(n->true_parent);
        if (n->offsets)
                g_array_free(n->offsets, TRUE);
}

void nesting_run_find_roles(Nesting *n, gboolean all)
{
        guint n_edges;
        gint64 longest = known_calls_find_roles(&n->calls, all);

        call_matcher_edges(n->calls.matcher, &n_edges);
        /* The longest time from a parent's call to a child's start. */
        scoreboard_extend(&n->board, n_edges, longest + 2 * n->options.window);
}

void nesting_run_find_links(Nesting *n)
{
        gint64 longest;
        guint n_edges;

        known_calls_find_links(&n->calls);
        longest = open_stays_find(&n->calls);
        call_matcher_edges(n->calls.matcher, &n_edges);
        scoreboard_extend(&n->board, n_edges, longest + 2 * n->options.window);
}

NodesSearch nesting_run_nodes_search(Nesting *n)
{
        return (NodesSearch){ .calls = &n->calls,
                              .order = &n->order,
                              .view = VIEW_ALL,
                              .window = n->options.window,
                              .true_parent = n->true_parent,
                              .explanations = n->explanations,
                              .cycles = n->cycles,
                              .keep_log = n->options.keep,
                              .threads = n->options.threads,
                              .peers = n->options.peers,
                              .find_together = n->options.find_together,
                              .progress = n->options.progress };
}

PairSearch nesting_run_pair_search(Nesting *n)
{
        return (PairSearch){ .options = &n->options,
                             .calls = &n->calls,
                             .order = &n->order,
                             .board = &n->board,
                             .explanations = n->explanations,
                             .cycles = n->cycles };
}
