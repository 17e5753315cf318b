/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/nesting.h"

#include "base/each.h"
#include "clocks/call-offsets.h"
#include "nesting/nesting-run.h"
#include "nesting/scoreboard.h"

Nesting *nesting_new(NodeTable *nodes, const NestingOptions *options)
{
        Nesting *n = g_new(Nesting, 1);

        nesting_run_init(n, nodes, options);
        nesting_set_clocks(n, CLOCKS_UNKNOWN);
        return n;
}

void nesting_free(Nesting *n)
{
        if (!n)
                return;
        nesting_run_clear(n);
        g_free(n);
}

/* With one clock, no return is earlier than its call. */
void nesting_set_clocks(Nesting *n, TraceClocks clocks)
{
        n->clocks = clocks;
        if (nesting_parents_from(&n->options) == PARENTS_JOINT)
                call_matcher_wait(n->calls.matcher,
                                  clocks == CLOCKS_ONE ? 0 : n->options.max_offset);
        call_matcher_keep_early(n->calls.matcher, clocks != CLOCKS_ONE);
}

void nesting_set_moved(Nesting *n, const GArray *clocks)
{
        if (clocks->len > 0)
                n->offsets = g_array_copy((GArray *)clocks);
}

void nesting_set_whole(Nesting *n, gboolean whole)
{
        n->whole = whole;
}

void nesting_set_ids(Nesting *n, gboolean by_port)
{
        n->calls.connections.by_id = by_port;
}

gboolean nesting_add(Nesting *n, const Message *message, GError **error)
{
        return known_calls_add(&n->calls, message, error);
}

static CallEdge *list_edges(const Edge *edges, guint n_edges)
{
        CallEdge *list = g_new(CallEdge, n_edges);

        for (guint i = 0; i < n_edges; i++)
                list[i] = (CallEdge){ edges[i].caller, edges[i].callee, edges[i].pairs,
                                      edges[i].lone_calls + edges[i].lone_returns };
        return list;
}

static Span *list_whole(const Cut *cuts, guint n_nodes)
{
        Span *list = g_new(Span, n_nodes);

        for (guint i = 0; i < n_nodes; i++)
                list[i] = (Span){ cuts[i].returned, cuts[i].called };
        return list;
}

/* Finds the offsets of the nodes' clocks, and takes them off all stamps. */
static void put_clocks_right(Nesting *n)
{
        const CallPairs *c = &n->calls.pairs;
        guint n_edges, n_nodes = node_table_size(n->calls.nodes);
        const Edge *edges = call_matcher_edges(n->calls.matcher, &n_edges);
        g_autofree Cut *cuts = cuts_find(n->calls.matcher, n_nodes);
        g_autofree CallEdge *call_edges = list_edges(edges, n_edges);
        g_autofree Span *whole = list_whole(cuts, n_nodes);
        g_autofree gint64 *offset = NULL;
        g_autoptr(GArray) found = NULL;
        const CallSpans spans = { c->n,       c->at_caller, c->at_callee, c->edge, c->stamps,
                                  call_edges, n_edges,      whole,        n_nodes };

        found = call_offsets_find(&spans, n->options.max_offset,
                                  n->clocks == CLOCKS_UNKNOWN && n->options.window == 0);
        EACH (const ClockOffset, clock, found) {
                if (clock->doubtful)
                        continue;
                if (!offset)
                        offset = g_new0(gint64, n_nodes);
                offset[clock->node] = clock->offset;
        }
        if (offset)
                known_calls_move(&n->calls, offset);
        if (!n->offsets)
                n->offsets = g_steal_pointer(&found);
        else
                g_array_append_vals(n->offsets, found->data, found->len);
}

void nesting_end_calls(Nesting *n)
{
        if (n->ended)
                return;
        n->ended = TRUE;
        if (n->whole && nesting_parents_from(&n->options) == PARENTS_JOINT)
                known_calls_keep_silent(&n->calls, NULL);
        known_calls_finish(&n->calls, NULL);
        known_calls_close_up(&n->calls);
        if (n->options.max_offset > 0 && n->clocks != CLOCKS_ONE)
                put_clocks_right(n);
        nesting_run_find_roles(n, FALSE);
        nesting_run_find_links(n);
}

void nesting_explain(Nesting *n, guint32 call)
{
        explanations_add(n->explanations, call);
}

/* --- parents --------------------------------------------------------------- */

static void find_jointly(Nesting *n)
{
        g_autoptr(ModelNames) names = NULL;
        NodesSearch search;

        if (nesting_methods[n->options.method].truth)
                n->true_parent = find_true_parents(&n->calls, G_MAXINT64, &n->truth);
        search = nesting_run_nodes_search(n);
        if (n->options.learn)
                models_take_trace(n->options.learn, &n->options, &n->calls);
        search.learn = n->options.learn;
        if (n->options.model)
                search.given = names = models_find_names(n->options.model, &n->calls);
        search.drawn = n->options.model ? NULL : &n->drawn;
        find_parents_at_nodes(&search, &n->log);
}

void nesting_find_parents(Nesting *n)
{
        ParentsFrom from = nesting_parents_from(&n->options);

        nesting_end_calls(n);
        n->cycles = n->options.window > 0 || n->calls.pairs.both_ends;
        call_order_init(&n->order, &n->calls.pairs, n->options.window,
                        !call_matcher_counts(n->calls.matcher)->disorder);
        switch (from) {
        case PARENTS_JOINT:
                find_jointly(n);
                break;
        case PARENTS_SCORED:
                score_nestings(&n->calls, &n->order, &n->board, n->options.smooth, n->cycles);
                break;
        case PARENTS_READ:
                take_true_parents(&n->calls, &n->truth);
                break;
        }
        if (from != PARENTS_SCORED)
                known_calls_find_late(&n->calls);
        call_order_restart(&n->order);
}

/* --- paths ----------------------------------------------------------------- */

static gboolean find_instances(Nesting *n, GError **error)
{
        PairSearch search = nesting_run_pair_search(n);

        if (nesting_parents_from(&n->options) == PARENTS_SCORED)
                return find_nested_pairs(&search, &n->paths.trees, error);
        if (n->paths.trees.hold)
                return call_paths_place_all(&n->paths, &n->order, n->options.progress, error);
        return call_paths_place(&n->paths, &n->order, n->options.progress, error);
}

/* Whether trees are kept until all are known. Work that goes on elsewhere may end long after all
 * else, and a true parent may have replied long before. */
static gboolean holds_trees(const Nesting *n)
{
        return n->calls.links.parent || nesting_parents_from(&n->options) == PARENTS_READ;
}

/* Trees are built while calls are visited. */
static void prepare_trees(Nesting *n)
{
        ParentsFrom from = nesting_parents_from(&n->options);

        n->paths.trees.hold = holds_trees(n);
        if (from == PARENTS_SCORED ? !n->order.at_once || n->calls.links.parent
                                   : !n->paths.trees.hold)
                call_pairs_want(&n->calls.pairs, WANT_TREES);
        /* A parent's stamps may be as coarse as those of its child (problem_tie()). */
        if (from == PARENTS_JOINT)
                n->paths.trees.window = n->options.window + 1;
}

gboolean nesting_find_paths(Nesting *n, PathSet *set, GError **error)
{
        g_autoptr(GArray) roots =
                n->drawn.parent[0] ? g_array_new(FALSE, FALSE, sizeof(guint32)) : NULL;

        call_paths_set(&n->paths, set);
        nesting_summarise(n, set);
        call_paths_find_cuts(&n->paths);
        prepare_trees(n);
        n->paths.roots = roots;
        if (!find_instances(n, error) || !call_trees_hand_on(&n->paths.trees, G_MAXINT64, error))
                return FALSE;
        if (roots && path_set_is_in_doubt(set))
                drawn_paths_count(&n->drawn, &n->paths, set);
        return TRUE;
}

/* --- what was found -------------------------------------------------------- */

const KnownCalls *nesting_calls(const Nesting *n)
{
        return &n->calls;
}

const GArray *nesting_explanations(const Nesting *n)
{
        return n->explanations;
}

const GArray *nesting_clocks(const Nesting *n)
{
        return n->offsets;
}

const TruthCounts *nesting_truth(const Nesting *n)
{
        return &n->truth;
}

void nesting_summarise(const Nesting *n, PathSet *set)
{
        const MatchCounts *counts = call_matcher_counts(n->calls.matcher);
        PathSetSummary *summary = path_set_summary(set);

        summary->messages = counts->messages;
        summary->calls = counts->pairs;
        summary->unmatched_calls = counts->lone_calls;
        summary->unmatched_returns = counts->lone_returns;
        summary->parallelism = known_calls_parallelism(&n->calls);
        summary->first = counts->first;
        summary->last = counts->last;
}

guint64 nesting_instances(const Nesting *n)
{
        return n->paths.number;
}

guint nesting_unknown_nodes(const Nesting *n)
{
        return n->log.unknown;
}

double nesting_log_likelihood(const Nesting *n, gboolean of_truth)
{
        return of_truth ? n->log.truth : n->log.found;
}
