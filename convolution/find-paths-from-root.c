/* SPDX-License-Identifier: BSD-2-Clause
 *
 * FindPathsFromRoot (paper, Figure 6, lines 1 to 8), for all roots. Each edge of a root is a search
 * of its own, on any thread. Then equal paths are merged, in the order of the edges, as Figure 9
 * shows them: one vertex, with all its delays.
 */

#include "convolution/convolution.h"

typedef struct {
        Convolution *run;
        GAsyncQueue *correlators; /* one for each thread */
        const EdgeTrace **edges;  /* the edges out of roots */
        GArray **found;           /* by edge: of FoundVertex */
        guint64 *left_out;        /* by edge: messages not followed */
} Searches;

/* One edge of a root: lines 5 to 8. */
static void search_edge(gpointer task, gpointer data)
{
        Searches *s = data;
        guint i = GPOINTER_TO_UINT(task) - 1;
        const EdgeTrace *e = s->edges[i];
        Messages messages = { e->received, e->n };
        FoundVertex first = { .node = e->to, .parent = NO_VERTEX, .n = e->n, .probability = 1 };
        PathSearch search = {
                .run = s->run,
                .correlator = g_async_queue_pop(s->correlators),
                .c = g_new(float, s->run->lags.n),
                .vertices = g_array_new(FALSE, FALSE, sizeof(FoundVertex)),
        };

        g_array_append_val(search.vertices, first);
        process_node(&search, e->to, 0, &messages, 1);
        g_free(search.c);
        g_async_queue_push(s->correlators, search.correlator);
        s->found[i] = search.vertices;
        s->left_out[i] = search.left_out;
}

static void search_all(Searches *s, guint n)
{
        const ConvolutionOptions *o = &s->run->options;
        GThreadPool *pool;

        s->correlators = g_async_queue_new();
        for (guint i = 0; i < o->threads; i++)
                g_async_queue_push(s->correlators, correlator_new(&s->run->lags, o->correlate,
                                                                  o->cache / o->threads));
        pool = g_thread_pool_new(search_edge, s, (int)o->threads, FALSE, NULL);
        for (guint i = 0; i < n; i++)
                g_thread_pool_push(pool, GUINT_TO_POINTER(i + 1), NULL);
        g_thread_pool_free(pool, FALSE, TRUE);
        for (guint i = 0; i < o->threads; i++)
                correlator_free(g_async_queue_pop(s->correlators));
        g_async_queue_unref(s->correlators);
}

static void add_to_graph(PathGraph *graph, guint32 root, const GArray *found, guint32 *places)
{
        for (guint32 i = 0; i < found->len; i++) {
                const FoundVertex *v = &g_array_index(found, FoundVertex, i);

                places[i] = path_graph_add(graph, i == 0 ? root : places[v->parent], v->node, v->n,
                                           v->probability);
                if (i > 0)
                        path_graph_add_delay(graph, places[i], v->delay, v->n);
        }
        for (guint32 i = 0; i < found->len; i++) {
                const FoundVertex *v = &g_array_index(found, FoundVertex, i);

                if (v->end != PATH_GOES_ON)
                        path_graph_end(graph, places[i], v->end);
        }
}

/* Adds the path that ends at vertex last to the patterns. */
static void add_searched_pattern(Convolution *run, PathSet *set, NodeId root, const GArray *found,
                                 guint32 last)
{
        const FoundVertex *v = (const FoundVertex *)found->data;
        guint32 n = 0, i;
        g_autofree PathHop *hops = NULL;
        gint64 latency = 0;
        double probability = 1;

        for (i = last; i != NO_VERTEX; i = v[i].parent)
                n++;
        hops = g_new0(PathHop, n);
        for (i = last; i != NO_VERTEX; i = v[i].parent) {
                PathHop *hop = &hops[--n];

                hop->node = v[i].node;
                histogram_add(&hop->latency, latency);
                if (v[i].parent != NO_VERTEX)
                        histogram_add(&hops[n - 1].stay, v[i].delay);
                latency += v[i].delay;
                probability *= v[i].probability;
                if (i == last)
                        histogram_add(&hop->stay, 0);
                histogram_add(&hop->network, 0);
        }
        for (i = last, n = 0; i != NO_VERTEX; i = v[i].parent)
                n++;
        run->ends[v[last].end] += v[last].n;
        path_set_add_linear(set, root, hops, n, v[last].n, probability);
}

static guint32 add_root_vertex(PathGraph *graph, const EdgeTraces *t, NodeId root)
{
        guint64 n = 0;

        for (guint k = t->first_out[root]; k < t->first_out[root + 1]; k++)
                n += t->edges[k].n;
        return path_graph_add(graph, NO_VERTEX, root, n, 1);
}

PathSet *convolution_find_paths(Convolution *run)
{
        const EdgeTraces *t = run->traces;
        g_autofree const EdgeTrace **edges = g_new(const EdgeTrace *, t->n_edges);
        g_autofree GArray **found = g_new0(GArray *, t->n_edges);
        g_autofree guint64 *left_out = g_new0(guint64, t->n_edges);
        Searches searches = { run, NULL, edges, found, left_out };
        PathGraph *graph = path_graph_new();
        PathSet *set = path_set_new_linear(t->nodes, graph);
        guint n = 0;

        for (guint i = 0; i < run->roots->len; i++) {
                NodeId root = g_array_index(run->roots, NodeId, i);

                for (guint k = t->first_out[root]; k < t->first_out[root + 1]; k++)
                        edges[n++] = &t->edges[k];
        }
        search_all(&searches, n);
        for (guint i = 0; i < n; i++) {
                NodeId root = edges[i]->from;
                guint32 vertex = path_graph_lookup(graph, NO_VERTEX, root);
                g_autofree guint32 *places = g_new(guint32, found[i]->len);

                if (vertex == NO_VERTEX)
                        vertex = add_root_vertex(graph, t, root);
                add_to_graph(graph, vertex, found[i], places);
                for (guint32 k = 0; k < found[i]->len; k++)
                        if (g_array_index(found[i], FoundVertex, k).end != PATH_GOES_ON)
                                add_searched_pattern(run, set, root, found[i], k);
                run->left_out += left_out[i];
                g_array_free(found[i], TRUE);
        }
        return set;
}
