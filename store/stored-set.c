/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/stored-set.h"

#include <string.h>

#include "paths/path-clocks.h"
#include "store/stored-patterns.h"

typedef struct {
        StoredSet *stored;
        StoreReader *reader;
        GArray *patterns; /* of PathPattern; without nodes until they are read */
        GArray *doubts;   /* of int, by pattern: the doubt that the store names; -1: none */
        gboolean is_drawn;
} Loading;

static void stored_set_loading_clear(Loading *l)
{
        g_array_unref(l->patterns);
        g_array_unref(l->doubts);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Loading, stored_set_loading_clear)

/* --- patterns --------------------------------------------------------------- */

static gboolean loading_take_patterns(Loading *l, GError **error)
{
        g_autoptr(GArray) patterns = stored_patterns_load(l->reader, error);

        for (guint32 i = 0; patterns && i < patterns->len; i++) {
                StoredPattern *stored = &g_array_index(patterns, StoredPattern, i);
                PathPattern p = {
                        .signature = (char *)g_steal_pointer(&stored->signature),
                        .label = stored->label,
                        .id = stored->id,
                        .client = stored->client,
                        .count = stored->count,
                        .probability = stored->probability,
                        .drawn = stored->drawn,
                        .drawn_error = stored->drawn_error,
                        .goes_on = stored->goes_on,
                        .failed = stored->failed,
                };
                g_array_append_val(l->patterns, p);
                g_array_append_val(l->doubts, stored->doubt);
                l->is_drawn |= stored->is_drawn;
        }
        return patterns != NULL;
}

static gboolean stored_set_read_node(Loading *l, const StoredPatternNode *n, GError **error)
{
        PathPattern *p = &g_array_index(l->patterns, PathPattern, n->pattern);

        return (!p->goes_on || n->place > 0 ||
                store_reader_histogram(l->reader, &n->completion, &p->completion, error)) &&
               (p->failed == 0 || n->place > 0 ||
                store_reader_histogram(l->reader, &n->good, &p->good, error)) &&
               store_reader_append_node(l->reader, n, p, error);
}

static gboolean stored_set_read_nodes(Loading *l, GError **error)
{
        StoredPatternNode node;
        int status;

        while ((status = store_reader_next_pattern_node(l->reader, &node, error)) > 0)
                if (!stored_set_read_node(l, &node, error))
                        return FALSE;
        for (guint i = 0; status == 0 && i < l->patterns->len; i++) {
                const PathPattern *p = &g_array_index(l->patterns, PathPattern, i);

                if (p->n_nodes == 0 || p->count == 0)
                        return store_reader_fail(l->reader, error,
                                                 "a pattern has no nodes or paths, expected some");
        }
        return status == 0;
}

/* --- the graph of linear patterns ------------------------------------------- */

gboolean stored_graph_load(StoreReader *reader, PathGraph **graph, GError **error)
{
        g_autoptr(GArray) vertices =
                g_array_new(FALSE, FALSE, sizeof(guint32)); /* by the store's */
        StoredVertexDelay d;
        StoredVertex v;
        int status;

        while ((status = store_reader_next_vertex(reader, &v, error)) > 0) {
                guint32 parent = v.parent == NO_PARENT ? NO_VERTEX
                                                       : g_array_index(vertices, guint32, v.parent),
                        vertex;

                if (!*graph)
                        *graph = path_graph_new();
                vertex = path_graph_add(*graph, parent, v.node, v.count, v.probability);
                if (v.end != PATH_GOES_ON)
                        path_graph_end(*graph, vertex, v.end);
                g_array_append_val(vertices, vertex);
        }
        if (status < 0)
                return FALSE;
        while ((status = store_reader_next_vertex_delay(reader, &d, error)) > 0)
                path_graph_add_delay(*graph, g_array_index(vertices, guint32, d.vertex), d.delay,
                                     d.count);
        return status == 0;
}

/* --- what else there is ------------------------------------------------------ */

static gboolean read_doubt(const Loading *l, const StoredDoubt *stored, GArray *doubts,
                           GError **error)
{
        Doubt d = { stored->caller, stored->callee,  0, stored->count, stored->of, "",
                    stored->bytes,  stored->of_bytes };

        while (d.reason < N_DOUBT_REASONS && strcmp(doubt_word(d.reason), stored->reason) != 0)
                d.reason++;
        if (d.reason == N_DOUBT_REASONS)
                return store_reader_fail(
                        l->reader, error,
                        "a doubt has a reason that is not known, of a later version");
        if (stored->kind)
                g_strlcpy(d.kind, stored->kind, sizeof d.kind);
        g_array_append_val(doubts, d);
        return TRUE;
}

static gboolean read_verdict(Loading *l, GError **error)
{
        const StoredRun *run = store_reader_run(l->reader);
        g_autoptr(GArray) doubts = g_array_new(FALSE, FALSE, sizeof(Doubt));
        StoredDoubt d;
        int status;

        while ((status = store_reader_next_doubt(l->reader, &d, error)) > 0)
                if (!read_doubt(l, &d, doubts, error))
                        return FALSE;
        if (status == 0 && run->judgement)
                l->stored->verdict =
                        verdict_new(g_strdup(run->judgement), run->fit, g_steal_pointer(&doubts));
        return status == 0;
}

static gboolean stored_set_read_trust(Loading *l, GError **error)
{
        StoredTrust t;
        int status;

        while ((status = store_reader_next_trust(l->reader, &t, error)) > 0) {
                PathTrust trust = { t.calls, t.guessed, t.probability * (double)t.calls };

                path_set_set_trust(l->stored->set, t.node, &trust);
        }
        return status == 0;
}

static gboolean stored_set_read_workers(Loading *l, GError **error)
{
        StoredWorkers workers;
        int status;

        while ((status = store_reader_next_workers(l->reader, &workers, error)) > 0)
                path_set_set_workers(l->stored->set, workers.node, &workers.load);
        return status == 0;
}

static void stored_set_fill_summary(Loading *l)
{
        const StoredRun *run = store_reader_run(l->reader);
        PathSetSummary *s = path_set_summary(l->stored->set);

        s->method = run->method;
        s->messages = run->messages;
        s->calls = run->calls;
        s->unmatched_calls = run->unmatched_calls;
        s->unmatched_returns = run->unmatched_returns;
        s->cut_instances = run->cut_paths;
        s->first = run->first;
        s->last = run->last;
        s->parallelism = run->parallelism;
        s->clocks = l->stored->clocks;
        s->verdict = l->stored->verdict;
}

static gboolean has_doubts_as_stored(const Loading *l)
{
        for (guint32 i = 0; i < path_set_size(l->stored->set); i++)
                if (path_set_find_doubt(l->stored->set, path_set_pattern(l->stored->set, i)) !=
                    g_array_index(l->doubts, int, i))
                        return FALSE;
        return TRUE;
}

/* Clients that were folded have a name of their own, which a real node may have as well: the
 * doubts of the patterns tell which it is. */
static void find_folded(Loading *l, const NodeTable *nodes)
{
        Verdict *v = l->stored->verdict;

        for (NodeId i = 0; v && !has_doubts_as_stored(l) && i < node_table_size(nodes); i++)
                if (!strcmp(node_table_name(nodes, i), "client"))
                        v->folded = i;
}

StoredSet *stored_set_new(StoreReader *reader, NodeTable *nodes, GError **error)
{
        g_autoptr(StoredSet) stored = g_new0(StoredSet, 1);
        g_auto(Loading) l = { .stored = stored,
                              .reader = reader,
                              .patterns = g_array_new(FALSE, TRUE, sizeof(PathPattern)),
                              .doubts = g_array_new(FALSE, FALSE, sizeof(int)) };
        g_autoptr(PathGraph) graph = NULL;

        g_array_set_clear_func(l.patterns, (GDestroyNotify)path_pattern_clear);
        stored->clocks = path_clocks_from_parameters(store_reader_run(reader)->parameters, nodes);
        if (!read_verdict(&l, error) || !loading_take_patterns(&l, error) ||
            !stored_set_read_nodes(&l, error) || !stored_graph_load(reader, &graph, error))
                return NULL;
        stored->set = graph ? path_set_new_linear(nodes, g_steal_pointer(&graph))
                            : path_set_new(nodes, SIBLINGS_MULTISET);
        for (guint i = 0; i < l.patterns->len; i++)
                path_set_add_pattern(stored->set, &g_array_index(l.patterns, PathPattern, i));
        if (l.is_drawn)
                path_set_set_drawn(stored->set);
        g_array_set_clear_func(l.patterns, NULL); /* they are the set's now */
        if (!stored_set_read_trust(&l, error) || !stored_set_read_workers(&l, error))
                return NULL;
        stored_set_fill_summary(&l);
        find_folded(&l, nodes);
        return g_steal_pointer(&stored);
}

void stored_set_free(StoredSet *stored)
{
        if (!stored)
                return;
        path_set_free(stored->set);
        if (stored->verdict)
                verdict_free(stored->verdict);
        if (stored->clocks)
                g_array_unref(stored->clocks);
        g_free(stored);
}
