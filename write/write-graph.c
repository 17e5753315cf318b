/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/write-graph.h"

#include <string.h>

#include "base/printable.h"
#include "paths/collapsed-tree.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "paths/verdict.h"
#include "write/graph-parts.h"
#include "write/text-table.h"
#include "write/write-vertices.h"

enum {
        NAME_LENGTH = 1000, /* of a graph's name */
};

#define NBSP "\302\240" /* between an edge and its label, where SVG drops a blank */

typedef struct {
        Drawing *drawing;
        const NodeTable *nodes;
        const PathPattern *pattern;
        const CollapsedTree *tree;
        gint128 total;   /* path_pattern_total() */
        guint32 slowest; /* vertex */
} DrawnPattern;

static void graph_append_duration(GString *text, const char *before, gint64 ns, const char *after)
{
        g_autofree char *duration = path_format_duration(ns);

        g_string_append_printf(text, "%s%s%s", before, duration, after);
}

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
        graph_append_duration(title, "p50 ", histogram_quantile(latency, 0.5), "");
        graph_append_duration(title, ", p99 ", histogram_quantile(latency, 0.99), "");
        if (p->goes_on) {
                graph_append_duration(title, "\\ncompletion p50 ",
                                      histogram_quantile(&p->completion, 0.5), "");
                graph_append_duration(title, ", p99 ", histogram_quantile(&p->completion, 0.99),
                                      "");
        }
        if (network > 0) {
                graph_append_duration(title, "\\nnetwork ", (gint64)(network / (gint128)p->count),
                                      "");
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
        graph_append_duration(tip, ": latency p50 ", histogram_quantile(&n->latency, 0.5), "");
        graph_append_duration(tip, ", p99 ", histogram_quantile(&n->latency, 0.99), "");
        graph_append_duration(tip, ", own time ", own_of_all(d, v), "");
        append_share(tip, n->own.sum, d);
        if (n->workers > 0) {
                graph_append_duration(tip, ", of it queued ",
                                      collapsed_call_mean(v, d->pattern, &n->own_queued), "");
                graph_append_duration(tip, ", serving ",
                                      collapsed_call_mean(v, d->pattern, &n->serving), "");
        }
        if (n->connecting.sum > 0)
                graph_append_duration(tip, ", before it connecting ",
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
        graph_append_duration(label, "\\n", histogram_mean(&n->latency), "");
        if (i == d->slowest) {
                graph_append_duration(label, "\\nmost time:\\nown ", own_of_all(d, v), "");
                append_share(label, n->own.sum, d);
                if (n->workers > 0)
                        graph_append_duration(label, "\\nqueued ",
                                              collapsed_call_mean(v, d->pattern, &n->own_queued),
                                              "");
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
                graph_append_duration(label, NBSP, total, " in all\\l");
        } else {
                graph_append_duration(label, NBSP "after ", histogram_mean(&n->call_delay), "\\l");
                if (n->queued.sum > 0)
                        graph_append_duration(label, NBSP "queued ", histogram_mean(&n->queued),
                                              "\\l");
                if (n->connecting.sum > 0)
                        graph_append_duration(label, NBSP "connecting ",
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
                graph_append_duration(label, ": own ", own_of_all(d, slowest), "");
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
