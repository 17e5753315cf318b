/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/write/write-graph.h"

#include <string.h>

#include "paths/verdict.h"
#include "paths/write/graph-parts.h"
#include "paths/write/path-text.h"
#include "paths/write/pattern-order.h"
#include "paths/write/text-table.h"
#include "paths/write/write-vertices.h"

enum {
        NAME_LENGTH = 1000, /* of a graph's name */
};

#define NBSP "\302\240" /* between an edge and its label, where SVG drops a blank */

typedef struct {
        Agraph_t *graph;
        const NodeTable *nodes;
        const PathPattern *pattern;
        gint128 total; /* path_pattern_total() */
        guint32 slowest;
} Drawing;

static void append_duration(GString *text, const char *before, gint64 ns, const char *after)
{
        g_autofree char *duration = path_format_duration(ns);

        g_string_append_printf(text, "%s%s%s", before, duration, after);
}

static void append_share(GString *text, gint128 part, const Drawing *d)
{
        g_autofree char *share = path_format_share(part, d->total);

        g_string_append_printf(text, " (%s)", share);
}

static void set_title(const Drawing *d, const PathSet *set, guint32 rank)
{
        const PathPattern *p = d->pattern;
        g_autoptr(GString) title = g_string_new(NULL);
        const Histogram *latency = &p->nodes[0].latency;
        gint128 network = path_pattern_network(p);

        g_string_append_printf(title, "%u.  ", rank + 1);
        append_duration(title, "p50 ", histogram_quantile(latency, 0.5), "");
        append_duration(title, ", p99 ", histogram_quantile(latency, 0.99), "");
        if (network > 0) {
                append_duration(title, "\\nnetwork ", (gint64)(network / (gint128)p->count), "");
                append_share(title, network, d);
        }
        if (path_set_find_doubt(set, p) >= 0)
                g_string_append(title, "\\ndoubtful");
        if (p->probability < 1 && path_set_shows_probability(set))
                g_string_append_printf(title, "\\nprobability %d %%", (int)(p->probability * 100));
        write_graph_set(d->graph, "label", title->str);
}

static Agnode_t *add_client(const Drawing *d)
{
        g_autoptr(GString) label = g_string_new(NULL);
        const char *written = node_table_written(d->nodes, d->pattern->client);
        g_autofree char *name = text_shorten(written, GRAPH_LABEL_WIDTH);
        Agnode_t *vertex = write_graph_have(agnode(d->graph, (char *)"client", 1));

        write_graph_append_name(label, name, "\\\\");
        write_graph_set(vertex, "label", label->str);
        write_graph_set_client(vertex);
        return vertex;
}

static void set_tooltip(const Drawing *d, Agnode_t *vertex, const PatternNode *n)
{
        g_autoptr(GString) tip = g_string_new(NULL);

        write_graph_append_name(tip, node_table_written(d->nodes, n->node), "%5C");
        append_duration(tip, ": latency p50 ", histogram_quantile(&n->latency, 0.5), "");
        append_duration(tip, ", p99 ", histogram_quantile(&n->latency, 0.99), "");
        append_duration(tip, ", own time ", histogram_mean(&n->own), "");
        append_share(tip, n->own.sum, d);
        write_graph_set(vertex, "tooltip", tip->str);
}

static Agnode_t *add_vertex(const Drawing *d, guint32 i)
{
        const PatternNode *n = &d->pattern->nodes[i];
        g_autofree char *name =
                text_shorten(node_table_written(d->nodes, n->node), GRAPH_LABEL_WIDTH);
        g_autoptr(GString) label = g_string_new(NULL);
        char id[16];

        g_snprintf(id, sizeof id, "n%u", i);
        Agnode_t *vertex = write_graph_have(agnode(d->graph, id, 1));
        write_graph_append_name(label, name, "\\\\");
        append_duration(label, "\\n", histogram_mean(&n->latency), "");
        if (i == d->slowest) {
                append_duration(label, "\\nmost time:\\nown ", histogram_mean(&n->own), "");
                append_share(label, n->own.sum, d);
                write_graph_set(vertex, "peripheries", "2");
                write_graph_set(vertex, "penwidth", "2");
                write_graph_set(vertex, "fontname", "Helvetica-Bold");
        }
        write_graph_set(vertex, "label", label->str);
        /* In thousandths, by whole numbers: the same colour on every machine. */
        write_graph_set_fill(vertex, d->total > 0 ? (int)(1000 * n->own.sum / d->total) : 0);
        set_tooltip(d, vertex, n);
        return vertex;
}

static void add_edge(const Drawing *d, Agnode_t *from, Agnode_t *to, guint32 i)
{
        const PathPattern *p = d->pattern;
        const PatternNode *n = &p->nodes[i];
        g_autoptr(GString) label = g_string_new(NULL);
        Agedge_t *edge = write_graph_have(agedge(d->graph, from, to, NULL, 1));

        if (i == 0) {
                g_autofree char *count = path_format_count(p->count);
                gint64 total = (gint64)CLAMP(n->latency.sum, G_MININT64, G_MAXINT64);
                g_string_append_printf(label, NBSP "%s %s\\l", count,
                                       p->count == 1 ? "path" : "paths");
                append_duration(label, NBSP, total, " in all\\l");
        } else {
                append_duration(label, NBSP "after ", histogram_mean(&n->call_delay), "\\l");
        }
        write_graph_set(edge, "label", label->str);
}

/* Says in the graph what is not in it. */
static void add_rest(const Drawing *d, guint32 n, gboolean slowest_too)
{
        g_autoptr(GString) label = g_string_new(NULL);
        g_autofree char *count = path_format_count(n);
        const PatternNode *slowest = &d->pattern->nodes[d->slowest];

        g_string_append_printf(label, "%s more calls", count);
        if (slowest_too) {
                const char *written = node_table_written(d->nodes, slowest->node);
                g_autofree char *name = text_shorten(written, GRAPH_LABEL_WIDTH);
                g_string_append(label, "\\nmost time in\\n");
                write_graph_append_name(label, name, "\\\\");
                append_duration(label, ": own ", histogram_mean(&slowest->own), "");
                append_share(label, slowest->own.sum, d);
        }
        Agnode_t *vertex = write_graph_have(agnode(d->graph, (char *)"rest", 1));
        write_graph_set(vertex, "label", label->str);
        write_graph_set(vertex, "shape", "plaintext");
        Agnode_t *root = agnode(d->graph, (char *)"n0", 0);
        Agedge_t *edge = write_graph_have(agedge(d->graph, root, vertex, NULL, 1));
        write_graph_set(edge, "style", "dotted");
}

/* The signature, with %5C for a backslash, which at the end of a string would
 * escape the quote that agwrite() puts there. A name that begins with '%' is no
 * name to cgraph. */
static char *graph_name(const PathPattern *p)
{
        if (strlen(p->signature) > NAME_LENGTH || p->signature[0] == '%')
                return g_strdup_printf("%016" G_GINT64_MODIFIER "x", p->id);
        g_auto(GStrv) parts = g_strsplit(p->signature, "\\", -1);
        return g_strjoinv("%5C", parts);
}

static Agraph_t *draw_pattern(const PathSet *set, const PathPattern *p, guint32 rank,
                              guint32 max_nodes, Agdisc_t *disc)
{
        guint32 drawn = MIN(p->n_nodes, max_nodes);
        g_autofree guint32 *order = path_pattern_call_order(p);
        g_autofree Agnode_t **vertices = g_new0(Agnode_t *, p->n_nodes);
        g_autofree char *name = graph_name(p);
        Drawing d = { write_graph_have(agopen(name, Agdirected, disc)), path_set_nodes(set), p,
                      path_pattern_total(p), path_pattern_slowest(p) };
        write_graph_set_defaults(d.graph);
        set_title(&d, set, rank);
        Agnode_t *client = add_client(&d);
        for (guint32 i = 0; i < drawn; i++) {
                guint32 n = order[i];
                vertices[n] = add_vertex(&d, n);
                add_edge(&d, n == 0 ? client : vertices[p->nodes[n].parent], vertices[n], n);
        }
        if (drawn < p->n_nodes)
                add_rest(&d, p->n_nodes - drawn, vertices[d.slowest] == NULL);
        return d.graph;
}

guint32 write_graph_count(const PathSet *set, const PathWriteOptions *options)
{
        return path_set_graph(set) ? write_vertices_count(set, options) : options->n_patterns;
}

Agraph_t *write_graph_new(const PathSet *set, const PathWriteOptions *options, guint32 rank,
                          guint32 max_nodes, Agdisc_t *disc)
{
        if (path_set_graph(set))
                return write_vertices_new(set, options, rank, max_nodes, disc);
        return draw_pattern(set, path_set_pattern(set, options->rank[rank]), rank, max_nodes, disc);
}
