/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/write-graph.h"

#include <string.h>

#include "base/each.h"
#include "base/printable.h"
#include "paths/collapsed-tree.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "paths/verdict.h"
#include "write/drawing.h"
#include "write/path-write.h"
#include "write/text-table.h"

/* --- graph parts ----------------------------------------------------------- */

/* The parts that all drawings are made of: colours, defaults and names, as Graphviz takes them. */

/* From white to orange: told apart in any kind of colour blindness, and in grey. */
static const guint8 COLD[3] = { 0xff, 0xff, 0xff }, HOT[3] = { 0xf5, 0x9b, 0x3c };

/* Graphviz sees an escape in every backslash (\N is the vertex's own name) and an entity in every
 * ampersand. */
void write_graph_append_name(GString *label, const char *name, const char *backslash)
{
        g_autofree char *text = printable_new(name, PRINTABLE_DOT);
        g_auto(GStrv) parts = g_strsplit(text, "\\\\", -1);
        g_autofree char *joined = g_strjoinv(backslash, parts);

        g_string_append(label, joined);
}

void write_graph_set_client(Drawing *drawing, DrawingItem vertex)
{
        drawing_set(drawing, vertex, "shape", "box");
        drawing_set(drawing, vertex, "style", "filled,rounded");
        drawing_set(drawing, vertex, "fillcolor", "#dce8f5");
}

void write_graph_append_duration(GString *text, const char *before, gint64 ns, const char *after)
{
        g_autofree char *duration = path_format_duration(ns);

        g_string_append_printf(text, "%s%s%s", before, duration, after);
}

void write_graph_set_fill(Drawing *drawing, DrawingItem vertex, int share)
{
        char colour[8];
        int rgb[3];

        for (int i = 0; i < 3; i++)
                rgb[i] = COLD[i] - (COLD[i] - HOT[i]) * share / 1000;
        g_snprintf(colour, sizeof colour, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
        drawing_set(drawing, vertex, "fillcolor", colour);
}

void write_graph_set_defaults(Drawing *drawing)
{
        drawing_default(drawing, STEP_GRAPH_DEFAULT, "label", "");
        drawing_default(drawing, STEP_GRAPH_DEFAULT, "labelloc", "t");
        drawing_default(drawing, STEP_GRAPH_DEFAULT, "fontname", "Helvetica");
        drawing_default(drawing, STEP_GRAPH_DEFAULT, "fontsize", "13");
        drawing_default(drawing, STEP_GRAPH_DEFAULT, "ordering", "out");
        drawing_default(drawing, STEP_GRAPH_DEFAULT, "nodesep", "0.3");
        drawing_default(drawing, STEP_GRAPH_DEFAULT, "ranksep", "0.45");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "shape", "ellipse");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "style", "filled");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "fillcolor", "#ffffff");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "color", "#333333");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "fontname", "Helvetica");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "fontsize", "12");
        drawing_default(drawing, STEP_VERTEX_DEFAULT, "margin", "0.1,0.05");
        drawing_default(drawing, STEP_EDGE_DEFAULT, "color", "#555555");
        drawing_default(drawing, STEP_EDGE_DEFAULT, "arrowsize", "0.7");
        drawing_default(drawing, STEP_EDGE_DEFAULT, "fontname", "Helvetica");
        drawing_default(drawing, STEP_EDGE_DEFAULT, "fontsize", "10");
}

/* --- write vertices -------------------------------------------------------- */

/* The graph from each root, as in the paper's Figure 9, as far as the patterns to be written go
 * through it. The vertex with the greatest sum of stays is marked, and its edge with the greatest
 * part. */

enum { DELAYS = 3 }; /* that an edge is labelled with */

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

/* See write_graph_count() and write_graph_new(). */
static guint32 write_vertices_count(const PathSet *set, const PathWriteOptions *options)
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
                EACH (const PathDelay, delay, v->delays)
                        d->waiting[order[i]] += (gint128)delay->delay * delay->count;
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

        for (guint k = 0; k < MIN(v->delays->len, DELAYS); k++)
                write_graph_append_duration(label, k > 0 ? ", " : "",
                                            g_array_index(v->delays, PathDelay, k).delay, "");
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

static Drawing *write_vertices_new(const PathSet *set, const PathWriteOptions *options,
                                   guint32 rank, guint32 max_nodes)
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

enum {
        NAME_LENGTH = 1000, /* of a graph's name */
};

typedef struct {
        Drawing *drawing;
        const NodeTable *nodes;
        const PathPattern *pattern;
        const CollapsedTree *tree;
        gint128 total;   /* path_pattern_total() */
        guint32 slowest; /* vertex */
} DrawnPattern;

static void append_share(GString *text, gint128 part, const DrawnPattern *d)
{
        g_autofree char *share = path_format_share(part, d->total);

        g_string_append_printf(text, " (%s)", share);
}

static void graph_append_operation(GString *label, const char *before, const PatternNode *n,
                                   const char *backslash)
{
        g_autofree char *operation = path_node_operation(n);
        g_autofree char *shown = operation ? text_shorten(operation, GRAPH_LABEL_WIDTH) : NULL;

        if (!operation)
                return;
        g_string_append(label, before);
        write_graph_append_name(label, shown, backslash);
}

static void append_times(GString *label, const CollapsedCall *v)
{
        if (v->n > 1)
                g_string_append_printf(label, " x%u", v->n);
}

static gint64 own_of_all(const DrawnPattern *d, const CollapsedCall *v)
{
        return collapsed_call_mean(v, d->pattern, &v->all.own);
}

static void graph_set_title(const DrawnPattern *d, const PathSet *set, guint32 rank)
{
        const PathPattern *p = d->pattern;
        g_autoptr(GString) title = g_string_new(NULL);
        const Histogram *latency = &p->nodes[0].latency;
        gint128 network = path_pattern_sum(p, NODE_NETWORK);

        g_string_append_printf(title, "%u.  ", rank + 1);
        graph_append_operation(title, "", &p->nodes[0], "\\\\");
        if (p->label)
                g_string_append(title, "\\n");
        write_graph_append_duration(title, "p50 ", histogram_quantile(latency, 0.5), "");
        write_graph_append_duration(title, ", p99 ", histogram_quantile(latency, 0.99), "");
        if (p->goes_on) {
                write_graph_append_duration(title, "\\ncompletion p50 ",
                                            histogram_quantile(&p->completion, 0.5), "");
                write_graph_append_duration(title, ", p99 ",
                                            histogram_quantile(&p->completion, 0.99), "");
        }
        if (network > 0) {
                write_graph_append_duration(title, "\\nnetwork ",
                                            (gint64)(network / (gint128)p->count), "");
                append_share(title, network, d);
        }
        if (path_set_find_doubt(set, p) >= 0)
                g_string_append(title, "\\ndoubtful");
        if (p->probability < 1 && path_set_shows_probability(set))
                g_string_append_printf(title, "\\nprobability %d %%", (int)(p->probability * 100));
        drawing_set(d->drawing, DRAWING_GRAPH, "label", title->str);
}

static DrawingItem add_client(const DrawnPattern *d)
{
        g_autoptr(GString) label = g_string_new(NULL);
        const char *written = node_table_written(d->nodes, d->pattern->client);
        g_autofree char *name = text_shorten(written, GRAPH_LABEL_WIDTH);
        DrawingItem vertex = drawing_add_vertex(d->drawing, "client");

        write_graph_append_name(label, name, "\\\\");
        drawing_set(d->drawing, vertex, "label", label->str);
        write_graph_set_client(d->drawing, vertex);
        return vertex;
}

static void set_tooltip(const DrawnPattern *d, DrawingItem vertex, const CollapsedCall *v)
{
        const PatternNode *n = &v->all;
        g_autoptr(GString) tip = g_string_new(NULL);

        write_graph_append_name(tip, node_table_written(d->nodes, n->node), "%5C");
        append_times(tip, v);
        graph_append_operation(tip, " ", n, "%5C");
        write_graph_append_duration(tip, ": latency p50 ", histogram_quantile(&n->latency, 0.5),
                                    "");
        write_graph_append_duration(tip, ", p99 ", histogram_quantile(&n->latency, 0.99), "");
        write_graph_append_duration(tip, ", own time ", own_of_all(d, v), "");
        append_share(tip, n->own.sum, d);
        if (n->workers > 0) {
                write_graph_append_duration(tip, ", queued ",
                                            collapsed_call_mean(v, d->pattern, &n->own_queued), "");
                write_graph_append_duration(tip, ", serving ",
                                            collapsed_call_mean(v, d->pattern, &n->serving), "");
        }
        if (n->connecting.sum > 0)
                write_graph_append_duration(tip, ", before it connecting ",
                                            collapsed_call_mean(v, d->pattern, &n->connecting), "");
        drawing_set(d->drawing, vertex, "tooltip", tip->str);
}

static DrawingItem graph_add_vertex(const DrawnPattern *d, guint32 i)
{
        const CollapsedCall *v = &d->tree->vertices[i];
        const PatternNode *n = &v->all;
        g_autofree char *name =
                text_shorten(node_table_written(d->nodes, n->node), GRAPH_LABEL_WIDTH);
        g_autoptr(GString) label = g_string_new(NULL);
        char id[16];

        g_snprintf(id, sizeof id, "n%u", d->tree->places[v->first]);
        DrawingItem vertex = drawing_add_vertex(d->drawing, id);
        write_graph_append_name(label, name, "\\\\");
        append_times(label, v);
        graph_append_operation(label, "\\n", n, "\\\\");
        write_graph_append_duration(label, "\\n", histogram_mean(&n->latency), "");
        if (i == d->slowest) {
                write_graph_append_duration(label, "\\nmost time:\\nown ", own_of_all(d, v), "");
                append_share(label, n->own.sum, d);
                if (n->workers > 0)
                        write_graph_append_duration(
                                label, "\\nqueued ",
                                collapsed_call_mean(v, d->pattern, &n->own_queued), "");
                drawing_set(d->drawing, vertex, "peripheries", "2");
                drawing_set(d->drawing, vertex, "penwidth", "2");
                drawing_set(d->drawing, vertex, "fontname", "Helvetica-Bold");
        }
        drawing_set(d->drawing, vertex, "label", label->str);
        /* In thousandths, by whole numbers: the same colour on every machine. */
        write_graph_set_fill(d->drawing, vertex,
                             d->total > 0 ? (int)(1000 * n->own.sum / d->total) : 0);
        set_tooltip(d, vertex, v);
        return vertex;
}

static void graph_add_edge(const DrawnPattern *d, DrawingItem from, DrawingItem to, guint32 i)
{
        const PathPattern *p = d->pattern;
        const PatternNode *n = &d->tree->vertices[i].all;
        g_autoptr(GString) label = g_string_new(NULL);
        DrawingItem edge = drawing_add_edge(d->drawing, from, to);

        if (work_goes_on(n->continues))
                drawing_set(d->drawing, edge, "style", "dashed");
        if (i == 0) {
                g_autofree char *count = path_format_count(p->count);
                gint64 total =
                        (gint64)CLAMP(path_pattern_completion(p)->sum, G_MININT64, G_MAXINT64);
                g_string_append_printf(label, NBSP "%s %s\\l", count,
                                       p->count == 1 ? "path" : "paths");
                write_graph_append_duration(label, NBSP, total, " in all\\l");
        } else {
                write_graph_append_duration(label, NBSP "after ", histogram_mean(&n->call_delay),
                                            "\\l");
                if (n->queued.sum > 0)
                        write_graph_append_duration(label, NBSP "queued ",
                                                    histogram_mean(&n->queued), "\\l");
                if (n->connecting.sum > 0)
                        write_graph_append_duration(label, NBSP "connecting ",
                                                    histogram_mean(&n->connecting), "\\l");
        }
        drawing_set(d->drawing, edge, "label", label->str);
}

/* Says in the graph what is not in it. */
static void add_rest(const DrawnPattern *d, DrawingItem root, guint32 n, const CollapsedTree *whole)
{
        g_autoptr(GString) label = g_string_new(NULL);
        g_autofree char *count = path_format_count(n);

        g_string_append_printf(label, "%s more calls", count);
        if (d->slowest >= d->tree->n_vertices) {
                const CollapsedCall *slowest = &whole->vertices[d->slowest];
                const char *written = node_table_written(d->nodes, slowest->all.node);
                g_autofree char *name = text_shorten(written, GRAPH_LABEL_WIDTH);

                g_string_append(label, "\\nmost time in\\n");
                write_graph_append_name(label, name, "\\\\");
                append_times(label, slowest);
                write_graph_append_duration(label, ": own ", own_of_all(d, slowest), "");
                append_share(label, slowest->all.own.sum, d);
        }
        DrawingItem vertex = drawing_add_vertex(d->drawing, "rest");
        drawing_set(d->drawing, vertex, "label", label->str);
        drawing_set(d->drawing, vertex, "shape", "plaintext");
        DrawingItem edge = drawing_add_edge(d->drawing, root, vertex);
        drawing_set(d->drawing, edge, "style", "dotted");
}

/* The signature, with %5C for a backslash, which at the end of a string would
 * escape the quote that Graphviz puts there. A name that begins with '%' is no
 * name to cgraph. */
static char *graph_name(const PathPattern *p)
{
        if (strlen(p->signature) > NAME_LENGTH || p->signature[0] == '%')
                return g_strdup_printf("%016" G_GINT64_MODIFIER "x", p->id);
        g_auto(GStrv) parts = g_strsplit(p->signature, "\\", -1);
        return g_strjoinv("%5C", parts);
}

static Drawing *draw_pattern(const PathSet *set, const PathPattern *p, guint32 rank,
                             guint32 max_nodes)
{
        g_autoptr(CollapsedTree) whole = collapsed_tree_new(p, G_MAXUINT32);
        g_autoptr(CollapsedTree) tree = collapsed_tree_new(p, max_nodes);
        g_autofree DrawingItem *vertices = g_new(DrawingItem, tree->n_vertices);
        g_autofree char *name = graph_name(p);
        DrawnPattern d = { drawing_new(name),     path_set_nodes(set),          p, tree,
                           path_pattern_total(p), collapsed_tree_slowest(whole) };
        write_graph_set_defaults(d.drawing);
        graph_set_title(&d, set, rank);
        DrawingItem client = add_client(&d);
        for (guint32 i = 0; i < tree->n_vertices; i++) {
                guint32 parent = tree->vertices[i].parent;

                vertices[i] = graph_add_vertex(&d, i);
                graph_add_edge(&d, i == 0 ? client : vertices[parent], vertices[i], i);
        }
        if (tree->hidden > 0)
                add_rest(&d, vertices[0], tree->hidden, whole);
        return d.drawing;
}

guint32 write_graph_count(const PathSet *set, const PathWriteOptions *options)
{
        return path_set_graph(set) ? write_vertices_count(set, options) : options->n_patterns;
}

Drawing *write_graph_new(const PathSet *set, const PathWriteOptions *options, guint32 rank,
                         guint32 max_nodes)
{
        if (path_set_graph(set))
                return write_vertices_new(set, options, rank, max_nodes);
        return draw_pattern(set, path_set_pattern(set, options->rank[rank]), rank, max_nodes);
}
