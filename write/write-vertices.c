/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/write-vertices.h"

#include <string.h>

#include "paths/path-text.h"
#include "paths/verdict.h"
#include "write/graph-parts.h"
#include "write/text-table.h"

enum { DELAYS = 3 }; /* that an edge is labelled with */

#define NBSP "\302\240" /* between an edge and its label, where SVG drops a blank */

typedef struct {
        const PathSet *set;
        const PathGraph *graph;
        gboolean *shown;  /* by vertex */
        guint32 *order;   /* all vertices */
        gint128 *waiting; /* by vertex: the delays of all messages on the edge into it, ns */
        gint128 *stays;   /* by vertex: the sum of waiting over its outgoing edges, ns */
        gint128 total;
        guint32 slowest;       /* the shown vertex with the greatest stays, or NO_VERTEX; */
        guint32 slowest_child; /* and the one below it with the greatest part in that */
} DrawnGraph;

static const PathVertex *vertices_vertex_at(const DrawnGraph *d, guint32 i)
{
        return path_graph_vertex(d->graph, i);
}

static void mark_pattern(DrawnGraph *d, const PathPattern *p)
{
        guint32 v = path_graph_lookup(d->graph, NO_VERTEX, p->client);

        for (guint32 i = 0; v != NO_VERTEX; i++) {
                d->shown[v] = TRUE;
                if (i == p->n_nodes)
                        break;
                v = path_graph_lookup(d->graph, v, p->nodes[i].node);
        }
}

static void drawn_graph_init(DrawnGraph *d, const PathSet *set, const PathWriteOptions *options)
{
        guint32 n = path_graph_size(path_set_graph(set));

        *d = (DrawnGraph){ .set = set, .graph = path_set_graph(set) };
        d->slowest = d->slowest_child = NO_VERTEX;
        d->shown = g_new0(gboolean, n);
        d->order = path_graph_order(d->graph, path_set_nodes(set));
        d->waiting = g_new0(gint128, n);
        d->stays = g_new0(gint128, n);
        for (guint32 i = 0; i < options->n_patterns; i++)
                mark_pattern(d, path_set_pattern(set, options->rank[i]));
}

static void drawn_graph_clear(DrawnGraph *d)
{
        g_free(d->shown);
        g_free(d->order);
        g_free(d->waiting);
        g_free(d->stays);
}

/* The part of the order that is of the root of that rank: n vertices from the one it
 * returns. */
static guint32 vertices_find_root(const DrawnGraph *d, guint32 rank, guint32 *n)
{
        guint32 size = path_graph_size(d->graph), roots = 0;

        for (guint32 i = 0; i < size; i++) {
                if (vertices_vertex_at(d, d->order[i])->depth > 0 || !d->shown[d->order[i]])
                        continue;
                if (roots++ < rank)
                        continue;
                for (*n = 1; i + *n < size && vertices_vertex_at(d, d->order[i + *n])->depth > 0;)
                        ++*n;
                return i;
        }
        g_assert_not_reached();
}

guint32 write_vertices_count(const PathSet *set, const PathWriteOptions *options)
{
        guint32 n = 0;
        DrawnGraph d;

        drawn_graph_init(&d, set, options);
        for (guint32 i = 0; i < path_graph_size(d.graph); i++)
                n += d.shown[i] && vertices_vertex_at(&d, i)->depth == 0;
        drawn_graph_clear(&d);
        return n;
}

static void vertices_find_slowest(DrawnGraph *d, const guint32 *order, guint32 n)
{
        for (guint32 i = 0; i < n; i++) {
                const PathVertex *v = vertices_vertex_at(d, order[i]);

                if (!d->shown[order[i]])
                        continue;
                for (guint k = 0; k < v->delays->len; k++) {
                        const PathDelay *delay = &g_array_index(v->delays, PathDelay, k);

                        d->waiting[order[i]] += (gint128)delay->delay * delay->count;
                }
                if (v->depth < 2)
                        continue;
                d->stays[v->parent] += d->waiting[order[i]];
                d->total += d->waiting[order[i]];
        }
        for (guint32 i = 0; i < n; i++)
                if (d->stays[order[i]] > (d->slowest == NO_VERTEX ? 0 : d->stays[d->slowest]))
                        d->slowest = order[i];
        for (guint32 i = 0; i < n && d->slowest != NO_VERTEX; i++) {
                guint32 v = order[i];

                if (d->shown[v] && vertices_vertex_at(d, v)->parent == d->slowest &&
                    (d->slowest_child == NO_VERTEX || d->waiting[v] > d->waiting[d->slowest_child]))
                        d->slowest_child = v;
        }
}

static void vertices_append_duration(GString *text, gint64 ns)
{
        g_autofree char *duration = path_format_duration(ns);

        g_string_append(text, duration);
}

static DrawingItem vertices_add_vertex(const DrawnGraph *d, Drawing *drawing, guint32 i)
{
        const PathVertex *v = vertices_vertex_at(d, i);
        const char *written = node_table_written(path_set_nodes(d->set), v->node);
        g_autofree char *name = text_shorten(written, GRAPH_LABEL_WIDTH);
        g_autoptr(GString) label = g_string_new(NULL), tip = g_string_new(NULL);
        char id[16];
        DrawingItem vertex;

        g_snprintf(id, sizeof id, "v%u", i);
        vertex = drawing_add_vertex(drawing, id);
        write_graph_append_name(label, name, "\\\\");
        write_graph_append_name(tip, written, "%5C");
        if (v->end != PATH_GOES_ON)
                g_string_append_printf(tip, ": the path ends here (%s)", path_end_name(v->end));
        if (v->depth == 0)
                write_graph_set_client(drawing, vertex);
        else
                write_graph_set_fill(drawing, vertex,
                                     d->total > 0 ? (int)(1000 * d->stays[i] / d->total) : 0);
        if (i == d->slowest) {
                g_autofree char *share = path_format_share(d->stays[i], d->total);

                g_string_append_printf(label, "\\nmost time (%s)", share);
                drawing_set(drawing, vertex, "peripheries", "2");
                drawing_set(drawing, vertex, "penwidth", "2");
                drawing_set(drawing, vertex, "fontname", "Helvetica-Bold");
        }
        drawing_set(drawing, vertex, "label", label->str);
        drawing_set(drawing, vertex, "tooltip", tip->str);
        return vertex;
}

static void vertices_add_edge(const DrawnGraph *d, Drawing *drawing, DrawingItem from,
                              DrawingItem to, guint32 i)
{
        const PathVertex *v = vertices_vertex_at(d, i);
        g_autoptr(GString) label = g_string_new(NBSP);
        g_autofree char *count = path_format_count(v->count);
        DrawingItem edge = drawing_add_edge(drawing, from, to);

        for (guint k = 0; k < MIN(v->delays->len, DELAYS); k++) {
                g_string_append(label, k > 0 ? ", " : "");
                vertices_append_duration(label, g_array_index(v->delays, PathDelay, k).delay);
        }
        if (v->delays->len > DELAYS)
                g_string_append(label, ", ...");
        if (v->delays->len > 0)
                g_string_append(label, "\\l" NBSP);
        g_string_append_printf(label, "%s %s\\l", count, v->count == 1 ? "message" : "messages");
        if (v->probability < 0.995 && path_set_shows_probability(d->set))
                g_string_append_printf(label, NBSP "probability %d %%\\l",
                                       (int)(v->probability * 100));
        drawing_set(drawing, edge, "label", label->str);
        if (i == d->slowest_child) {
                drawing_set(drawing, edge, "fontname", "Helvetica-Bold");
                drawing_set(drawing, edge, "penwidth", "2.5");
        }
}

static void vertices_set_title(const DrawnGraph *d, Drawing *drawing, guint32 root, guint32 missing)
{
        g_autoptr(GString) title = g_string_new("Paths from ");
        const PathVertex *v = vertices_vertex_at(d, root);
        g_autofree char *count = path_format_count(v->count);

        write_graph_append_name(title, node_table_written(path_set_nodes(d->set), v->node), "\\\\");
        g_string_append_printf(title, ": %s %s", count, v->count == 1 ? "message" : "messages");
        if (missing > 0) {
                g_autofree char *more = path_format_count(missing);

                g_string_append_printf(title, "\\n%s more vertices are not shown", more);
        }
        drawing_set(drawing, DRAWING_GRAPH, "label", title->str);
}

/* Of the graph: what cgraph takes for a name. */
static char *root_name(const DrawnGraph *d, guint32 root, guint32 rank)
{
        const char *written =
                node_table_written(path_set_nodes(d->set), vertices_vertex_at(d, root)->node);

        if (written[0] == '%')
                return g_strdup_printf("root %u", rank + 1);
        g_auto(GStrv) parts = g_strsplit(written, "\\", -1);
        return g_strjoinv("%5C", parts);
}

Drawing *write_vertices_new(const PathSet *set, const PathWriteOptions *options, guint32 rank,
                            guint32 max_nodes)
{
        guint32 n, first, drawn = 0, missing = 0;
        g_autofree DrawingItem *vertices =
                g_new0(DrawingItem, path_graph_size(path_set_graph(set)));
        g_autofree char *name = NULL;
        Drawing *drawing;
        DrawnGraph d;

        drawn_graph_init(&d, set, options);
        first = vertices_find_root(&d, rank, &n);
        vertices_find_slowest(&d, d.order + first, n);
        name = root_name(&d, d.order[first], rank);
        drawing = drawing_new(name);
        write_graph_set_defaults(drawing);
        for (guint32 i = 0; i < n; i++) {
                guint32 v = d.order[first + i], parent = vertices_vertex_at(&d, v)->parent;

                missing += !d.shown[v];
                if (!d.shown[v])
                        continue;
                if (drawn == max_nodes || (parent != NO_VERTEX && !vertices[parent])) {
                        missing++;
                        continue;
                }
                drawn++;
                vertices[v] = vertices_add_vertex(&d, drawing, v);
                if (parent != NO_VERTEX)
                        vertices_add_edge(&d, drawing, vertices[parent], vertices[v], v);
        }
        vertices_set_title(&d, drawing, d.order[first], missing);
        drawn_graph_clear(&d);
        return drawing;
}
