/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/path-graph.h"
#include "base/each.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

struct PathGraph {
        GArray *vertices;     /* of PathVertex */
        GHashTable *by_place; /* from (parent, node) as a gint64 to index + 1 */
};

const char *path_end_name(PathEnd end)
{
        static const char *const names[N_PATH_ENDS] = { "goes on", "root",  "silent", "unexplained",
                                                        "few",     "depth", "limit" };

        return names[end];
}

static void vertex_clear(gpointer vertex)
{
        g_array_free(((PathVertex *)vertex)->delays, TRUE);
}

PathGraph *path_graph_new(void)
{
        PathGraph *g = g_new(PathGraph, 1);

        g->vertices = g_array_new(FALSE, FALSE, sizeof(PathVertex));
        g_array_set_clear_func(g->vertices, vertex_clear);
        g->by_place = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        return g;
}

void path_graph_free(PathGraph *g)
{
        if (!g)
                return;
        g_array_free(g->vertices, TRUE);
        g_hash_table_destroy(g->by_place);
        g_free(g);
}

static PathVertex *path_graph_vertex_at(const PathGraph *g, guint32 i)
{
        return &g_array_index(g->vertices, PathVertex, i);
}

guint32 path_graph_lookup(const PathGraph *g, guint32 parent, NodeId node)
{
        gint64 place = (gint64)((guint64)parent << 32 | node);
        gpointer found = g_hash_table_lookup(g->by_place, &place);

        return found ? GPOINTER_TO_UINT(found) - 1 : NO_VERTEX;
}

guint32 path_graph_add(PathGraph *g, guint32 parent, NodeId node, guint64 messages,
                       double probability)
{
        guint32 i = path_graph_lookup(g, parent, node);

        if (i == NO_VERTEX) {
                PathVertex v = { .node = node, .parent = parent };
                gint64 *place = g_new(gint64, 1);

                *place = (gint64)((guint64)parent << 32 | node);
                v.delays = g_array_new(FALSE, FALSE, sizeof(PathDelay));
                if (parent != NO_VERTEX) {
                        v.depth = path_graph_vertex_at(g, parent)->depth + 1;
                        path_graph_vertex_at(g, parent)->n_children++;
                        path_graph_vertex_at(g, parent)->end = PATH_GOES_ON;
                }
                i = g->vertices->len;
                g_array_append_val(g->vertices, v);
                g_hash_table_insert(g->by_place, place, GUINT_TO_POINTER(i + 1));
        }
        path_graph_vertex_at(g, i)->count += messages;
        path_graph_vertex_at(g, i)->probability =
                MAX(path_graph_vertex_at(g, i)->probability, probability);
        return i;
}

void path_graph_add_delay(PathGraph *g, guint32 vertex, gint64 delay, guint64 messages)
{
        GArray *delays = path_graph_vertex_at(g, vertex)->delays;
        PathDelay new = { delay, messages };

        EACH (PathDelay, d, delays) {
                if (d->delay == delay) {
                        d->count += messages;
                        return;
                }
        }
        g_array_append_val(delays, new);
}

void path_graph_end(PathGraph *g, guint32 vertex, PathEnd end)
{
        if (path_graph_vertex_at(g, vertex)->n_children == 0)
                path_graph_vertex_at(g, vertex)->end = end;
}

guint32 path_graph_size(const PathGraph *g)
{
        return g->vertices->len;
}

COMPARISON(path_graph_compare_delays, PathDelay,
           COMPARE(b->count, a->count) ?: COMPARE(a->delay, b->delay))

const PathVertex *path_graph_vertex(const PathGraph *g, guint32 vertex)
{
        PathVertex *v = path_graph_vertex_at(g, vertex);

        g_array_sort(v->delays, path_graph_compare_delays);
        return v;
}

typedef struct {
        const PathGraph *graph;
        const NodeTable *nodes;
} Ordering;

/* Groups of siblings; of these the last to show first, as a stack wants it. */
static int compare_vertices(const void *va, const void *vb, void *data)
{
        const Ordering *o = data;
        const PathVertex *a = path_graph_vertex_at(o->graph, *(const guint32 *)va);
        const PathVertex *b = path_graph_vertex_at(o->graph, *(const guint32 *)vb);

        return COMPARE(a->parent, b->parent) ?:
               COMPARE(a->count, b->count) ?:
               strcmp(node_table_written(o->nodes, b->node), node_table_written(o->nodes, a->node));
}

guint32 *path_graph_order(const PathGraph *g, const NodeTable *nodes)
{
        guint32 n = path_graph_size(g), n_stack = 0, n_order = 0;
        Ordering ordering = { g, nodes };
        guint32 *order = g_new(guint32, n);
        g_autofree guint32 *stack = g_new(guint32, n), *siblings = g_new(guint32, n);
        g_autofree guint32 *first_child = g_new(guint32, n); /* into siblings */

        for (guint32 i = 0; i < n; i++)
                siblings[i] = first_child[i] = i;
        if (n > 0)
                qsort_r(siblings, n, sizeof *siblings, compare_vertices, &ordering);
        for (guint32 i = n; i-- > 0;) {
                guint32 parent = path_graph_vertex_at(g, siblings[i])->parent;

                if (parent != NO_VERTEX)
                        first_child[parent] = i;
        }
        /* Roots come last: no index is as great as NO_VERTEX. */
        for (guint32 i = 0; i < n; i++)
                if (path_graph_vertex_at(g, siblings[i])->parent == NO_VERTEX)
                        stack[n_stack++] = siblings[i];
        while (n_stack > 0) {
                guint32 v = stack[--n_stack], n_children = path_graph_vertex_at(g, v)->n_children;

                order[n_order++] = v;
                for (guint32 i = 0; i < n_children; i++)
                        stack[n_stack++] = siblings[first_child[v] + i];
        }
        return order;
}
