/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The map (analysis/map.h): as a graph for the "dot" program, as its picture, and its rows as JSON.
 * The darker a node, the more of all own time is its own; the wider an edge, the more probable.
 * A picture leaves out edges that are rare for both their nodes, and says how many.
 */
#include "write/write-map.h"

#include "analysis/map.h"
#include "base/each.h"
#include "paths/path-text.h"
#include "write/drawer.h"
#include "write/fields.h"
#include "write/page-data.h"
#include "write/text-table.h"
#include "write/write-graph.h"

enum {
        PAGE_STATES = 8,   /* of a node */
        PAGE_CONTEXTS = 4, /* of a state */
};

#define MAP_RARE 0.01 /* of the calls of a node: fewer are not drawn */

static const MapNode *map_node_at(const SystemMap *m, NodeId id)
{
        return m->nodes->pdata[id];
}

static gboolean map_edge_is_rare(const SystemMap *m, const MapEdge *e)
{
        return e->probability < MAP_RARE &&
               (double)e->calls < MAP_RARE * (double)map_node_at(m, e->callee)->calls;
}

static double map_rate(const SystemMap *m, guint64 calls)
{
        return m->time > 0 ? 1e9 * (double)calls / (double)m->time : -1;
}

/* --- drawn ----------------------------------------------------------------------- */

static void append_rate(GString *text, const SystemMap *m, guint64 calls)
{
        if (m->time > 0)
                path_append_number(text, map_rate(m, calls), "%.3g");
        else
                path_append_integer(text, calls);
        g_string_append(text, m->time > 0 ? "/s" : calls == 1 ? " call" : " calls");
}

static void append_percent(GString *text, double p)
{
        g_autofree char *share = path_format_share((gint128)(p * 1e6 + 0.5), 1000000);

        g_string_append(text, share);
}

static DrawingItem map_draw_node(const SystemMap *m, Drawing *drawing, const MapNode *n,
                                 gint128 total)
{
        const char *written = node_table_written(m->table, n->node);
        g_autofree char *name = text_shorten(written, GRAPH_LABEL_WIDTH);
        g_autoptr(GString) label = g_string_new(NULL), tip = g_string_new(NULL);
        char id[16];
        DrawingItem vertex;

        g_snprintf(id, sizeof id, "n%u", n->node);
        vertex = drawing_add_vertex(drawing, id);
        write_graph_append_name(label, name, "\\\\");
        write_graph_append_name(tip, written, "%5C");
        if (n->calls == 0) {
                write_graph_set_client(drawing, vertex);
        } else {
                g_string_append(label, "\\n");
                append_rate(label, m, n->calls);
                write_graph_append_duration(label, "\\nown ", histogram_mean(&n->own), "");
                write_graph_append_duration(tip, ": own time p99 ",
                                            histogram_quantile(&n->own, 0.99), "");
                write_graph_set_fill(drawing, vertex,
                                     total > 0 ? (int)(1000 * n->own.sum / total) : 0);
        }
        if (n->workers > 0) {
                g_string_append(label, "\\nbusy ");
                append_percent(label, n->busy);
                g_string_append_printf(tip, ", %u workers", n->workers);
        }
        if (n->errors > 0) {
                g_string_append(label, "\\nerrors ");
                append_percent(label, (double)n->errors / (double)n->calls);
        }
        if (n->alike != n->node) {
                g_string_append(tip, ", like ");
                write_graph_append_name(tip, node_table_written(m->table, n->alike), "%5C");
        }
        drawing_set(drawing, vertex, "label", label->str);
        drawing_set(drawing, vertex, "tooltip", tip->str);
        return vertex;
}

static void map_draw_edge(const SystemMap *m, Drawing *drawing, DrawingItem from, DrawingItem to,
                          const MapEdge *e)
{
        g_autoptr(GString) label = g_string_new(NBSP), width = g_string_new(NULL);
        DrawingItem edge = drawing_add_edge(drawing, from, to);

        append_percent(label, e->probability);
        if (e->mean > e->probability + 0.005) {
                g_string_append(label, ", x");
                path_append_number(label, e->mean / MAX(e->probability, 1e-9), "%.3g");
        }
        g_string_append(label, "\\l" NBSP);
        append_rate(label, m, e->calls);
        g_string_append(label, "\\l");
        if (e->more_known && e->after != NO_NODE) {
                g_string_append(label, NBSP "after ");
                write_graph_append_name(label, node_table_written(m->table, e->after), "\\\\");
                write_graph_append_duration(label, e->more > 0 ? ": +" : ": ", (gint64)e->more,
                                            "\\l");
        }
        if (e->goes_on)
                drawing_set(drawing, edge, "style", "dashed");
        path_append_number(width, 1 + 2 * e->probability, "%.2f");
        drawing_set(drawing, edge, "penwidth", width->str);
        drawing_set(drawing, edge, "label", label->str);
}

static void map_set_title(const SystemMap *m, Drawing *drawing, guint rare)
{
        g_autofree char *requests = path_format_count(m->requests);
        g_autofree char *patterns = path_format_count(m->patterns);
        g_autofree char *abstract = path_format_count(m->abstract_paths);
        g_autoptr(GString) title = g_string_new(NULL);

        g_string_append_printf(title,
                               "%s requests; %s patterns, %s abstract paths have 99 %% of them",
                               requests, patterns, abstract);
        if (rare > 0)
                g_string_append_printf(title,
                                       "\\n%u edges with less than 1 %% of the calls of "
                                       "both their nodes are not shown",
                                       rare);
        drawing_set(drawing, DRAWING_GRAPH, "label", title->str);
}

static Drawing *map_draw(const SystemMap *m)
{
        Drawing *drawing = drawing_new("map");
        g_autofree DrawingItem *vertices = g_new0(DrawingItem, m->nodes->len);
        gint128 total = 0;
        guint rare = 0;

        write_graph_set_defaults(drawing);
        drawing_set(drawing, DRAWING_GRAPH, "ordering", "");
        for (NodeId id = 0; id < m->nodes->len; id++)
                total += map_node_at(m, id) ? map_node_at(m, id)->own.sum : 0;
        for (NodeId id = 0; id < m->nodes->len; id++)
                if (map_node_at(m, id))
                        vertices[id] = map_draw_node(m, drawing, map_node_at(m, id), total);
        EACH_OF (const MapEdge, e, m->edges) {
                rare += map_edge_is_rare(m, e);
                if (!map_edge_is_rare(m, e))
                        map_draw_edge(m, drawing, vertices[e->caller], vertices[e->callee], e);
        }
        map_set_title(m, drawing, rare);
        return drawing;
}

gboolean path_write_map(const PathSet *set, const PathWriteOptions *options, OutputFile *file,
                        GError **error)
{
        g_autoptr(SystemMap) map = map_new_of_set(set);
        g_autoptr(Drawing) drawing = map_draw(map);
        g_autoptr(Drawer) drawer = drawer_new();
        gsize n;
        g_autofree char *text = drawer_draw(drawer, drawing, DRAW_DOT, &n, error);

        (void)options;
        if (!text)
                g_prefix_error(error, "%s: ", output_file_name(file));
        return text && output_file_write(file, text, n, error);
}

gboolean path_write_map_svg(const PathSet *set, const PathWriteOptions *options, OutputFile *file,
                            GError **error)
{
        g_autoptr(SystemMap) map = map_new_of_set(set);
        g_autoptr(GPtrArray) drawings =
                g_ptr_array_new_with_free_func((GDestroyNotify)drawing_free);

        (void)options;
        g_ptr_array_add(drawings, map_draw(map));
        return write_svg_drawings(drawings, "<title>Map of the system</title>\n", file, error);
}

/* --- json ------------------------------------------------------------------------- */

static const Field map_node_fields[] = {
        { "requests", FIELD_COUNT, G_STRUCT_OFFSET(MapNode, requests) },
        { "calls", FIELD_COUNT, G_STRUCT_OFFSET(MapNode, calls) },
        { "errors", FIELD_COUNT, G_STRUCT_OFFSET(MapNode, errors) },
        { "workers", FIELD_UINT, G_STRUCT_OFFSET(MapNode, workers) },
        { "busy", FIELD_NUMBER, G_STRUCT_OFFSET(MapNode, busy) },
};
static const Field map_edge_fields[] = {
        { "calls", FIELD_COUNT, G_STRUCT_OFFSET(MapEdge, calls) },
        { "probability", FIELD_NUMBER, G_STRUCT_OFFSET(MapEdge, probability) },
        { "mean", FIELD_NUMBER, G_STRUCT_OFFSET(MapEdge, mean) },
        { "errors", FIELD_COUNT, G_STRUCT_OFFSET(MapEdge, errors) },
};

static void map_put_name(Json *j, const SystemMap *m, const char *key, NodeId id)
{
        json_put_string(j, key, id == NO_NODE ? NULL : node_table_name(m->table, id));
}

static void map_put_rate(Json *j, const SystemMap *m, guint64 calls)
{
        json_key(j, "rate");
        if (m->time > 0)
                json_number(j, map_rate(m, calls), "%.6g");
        else
                json_null(j);
}

static void map_put_node(Json *j, const SystemMap *m, const MapNode *n)
{
        json_line(j, 4);
        json_open(j, '{');
        map_put_name(j, m, "name", n->node);
        map_put_name(j, m, "alike", n->alike);
        fields_put(j, map_node_fields, G_N_ELEMENTS(map_node_fields), n);
        map_put_rate(j, m, n->calls);
        json_put_time(j, "own", histogram_mean(&n->own));
        json_put_time(j, "own_p99", histogram_quantile(&n->own, 0.99));
        json_put_count(j, "states", n->n_states);
        json_close(j, '}');
}

static void map_put_edge(Json *j, const SystemMap *m, const MapEdge *e)
{
        char outcome[OUTCOME_TEXT + 1];

        outcome_write(e->outcome, outcome);
        json_line(j, 4);
        json_open(j, '{');
        map_put_name(j, m, "caller", e->caller);
        map_put_name(j, m, "callee", e->callee);
        fields_put(j, map_edge_fields, G_N_ELEMENTS(map_edge_fields), e);
        json_put_string(j, "outcome", *outcome ? outcome : NULL);
        map_put_rate(j, m, e->calls);
        json_put_time(j, "p50", histogram_quantile(&e->latency, 0.5));
        json_put_time(j, "p99", histogram_quantile(&e->latency, 0.99));
        map_put_name(j, m, "after", e->after);
        json_put_number(j, "given_after", e->given_after, "%.6g");
        json_key(j, "more");
        if (e->more_known)
                json_time(j, (gint128)e->more);
        else
                json_null(j);
        json_put_boolean(j, "goes_on", e->goes_on);
        json_put_open(j, "causes", '{');
        for (guint i = 0; i < N_WAY_CAUSES; i++)
                if (e->cause[i] > 0)
                        json_put_time(j, way_cause_key(i), e->cause[i]);
        json_close(j, '}');
        json_close(j, '}');
}

static void map_put_states(Json *j, const SystemMap *m)
{
        guint next = 0;

        for (guint i = 0; i < m->states->len; i++) {
                const MapState *s = m->states->pdata[i];

                json_line(j, 4);
                json_open(j, '{');
                map_put_name(j, m, "node", s->node);
                json_put_count(j, "calls", s->calls);
                json_put_open(j, "contexts", '[');
                for (; next < m->contexts->len; next++) {
                        const MapContext *c = m->contexts->pdata[next];

                        if (c->state != i)
                                break;
                        json_open(j, '{');
                        map_put_name(j, m, "caller", c->caller);
                        json_put_string(j, "label", c->label);
                        json_put_count(j, "calls", c->calls);
                        json_close(j, '}');
                }
                json_close(j, ']');
                json_put_open(j, "makes", '[');
                EACH (const MapBranch, b, s->branches) {
                        json_open(j, '{');
                        map_put_name(j, m, "callee", b->callee);
                        json_put_number(j, "probability",
                                        MIN((double)b->makers / (double)MAX(s->calls, 1), 1),
                                        "%.6g");
                        json_close(j, '}');
                }
                json_close(j, ']');
                json_close(j, '}');
        }
}

gboolean path_write_map_json(const PathSet *set, const PathWriteOptions *options, OutputFile *file,
                             GError **error)
{
        g_autoptr(SystemMap) m = map_new_of_set(set);
        g_autoptr(GString) text = g_string_new(NULL);
        Json json = JSON_IN(text), *j = &json;

        (void)options;
        json_open_document(j, "ravel-map");
        json_put_count(j, "requests", m->requests);
        json_put_count(j, "patterns", m->patterns);
        json_put_count(j, "abstract_paths", m->abstract_paths);
        json_put_time(j, "time", m->time);
        json_line(j, 2);
        json_put_open(j, "nodes", '[');
        for (NodeId id = 0; id < m->nodes->len; id++)
                if (map_node_at(m, id))
                        map_put_node(j, m, map_node_at(m, id));
        json_close(j, ']');
        json_line(j, 2);
        json_put_open(j, "edges", '[');
        EACH_OF (const MapEdge, e, m->edges)
                map_put_edge(j, m, e);
        json_close(j, ']');
        json_line(j, 2);
        json_put_open(j, "states", '[');
        map_put_states(j, m);
        json_close(j, ']');
        json_close(j, '}');
        g_string_append_c(text, '\n');
        return output_file_write(file, text->str, text->len, error);
}

/* --- in a page ----------------------------------------------------------------------- */

/* Node, requests, errors, p99 of own time. */
static void page_put_nodes(Json *j, const SystemMap *m)
{
        json_put_open(j, "nodes", '[');
        for (NodeId id = 0; id < m->nodes->len; id++) {
                const MapNode *n = map_node_at(m, id);

                if (n)
                        page_record(j, id, n->requests, n->errors,
                                    histogram_quantile(&n->own, 0.99));
        }
        json_close(j, ']');
        json_put_open(j, "alike", '[');
        for (NodeId id = 0; id < node_table_size(m->table); id++)
                json_integer(j, id < m->nodes->len && map_node_at(m, id) ? map_node_at(m, id)->alike
                                                                         : id);
        json_close(j, ']');
}

/* Caller, callee, calls, whether callers wait for none, the node before or -1; probability, calls
 * of one of the caller, probability after the node before; last more time, where it is known. */
static void page_put_edges(Json *j, const SystemMap *m)
{
        json_put_open(j, "edges", '[');
        EACH_OF (const MapEdge, e, m->edges) {
                json_open(j, '[');
                page_numbers(j, e->caller, e->callee, (gint64)e->calls, e->goes_on, (int)e->after);
                page_exact(j, e->probability);
                page_exact(j, e->mean);
                page_exact(j, e->given_after);
                if (e->more_known)
                        json_integer(j, (gint64)e->more);
                json_close(j, ']');
        }
        json_close(j, ']');
}

static void page_put_contexts(Json *j, const SystemMap *m, guint state, guint *next)
{
        guint shown = 0;

        json_open(j, '[');
        for (; *next < m->contexts->len; ++*next) {
                const MapContext *c = m->contexts->pdata[*next];

                if (c->state != state)
                        break;
                if (shown++ >= PAGE_CONTEXTS)
                        continue;
                json_open(j, '[');
                json_integer(j, (int)c->caller);
                page_string(j, c->label ? c->label : "");
                json_close(j, ']');
        }
        json_integer(j, shown - MIN(shown, PAGE_CONTEXTS));
        json_close(j, ']');
}

/* Of nodes that behave in several ways. Node, calls; contexts: caller, operation, and at the end
 * how many more; callees and their probabilities by turns. */
static void page_put_states(Json *j, const SystemMap *m)
{
        guint next = 0, of_node = 0;

        json_put_open(j, "states", '[');
        for (guint i = 0; i < m->states->len; i++) {
                const MapState *s = m->states->pdata[i];
                const MapState *before = i > 0 ? m->states->pdata[i - 1] : NULL;

                of_node = before && before->node == s->node ? of_node + 1 : 0;
                if (map_node_at(m, s->node)->n_states < 2 || of_node >= PAGE_STATES) {
                        while (next < m->contexts->len &&
                               ((const MapContext *)m->contexts->pdata[next])->state == i)
                                next++;
                        continue;
                }
                json_open(j, '[');
                page_numbers(j, s->node, (gint64)s->calls);
                page_put_contexts(j, m, i, &next);
                json_open(j, '[');
                EACH (const MapBranch, b, s->branches) {
                        json_integer(j, b->callee);
                        page_exact(j, MIN((double)b->makers / (double)MAX(s->calls, 1), 1));
                }
                json_close(j, ']');
                json_close(j, ']');
        }
        json_close(j, ']');
}

void map_put_page(Json *j, const SystemMap *m)
{
        json_put_open(j, "map", '{');
        json_put_integer(j, "patterns", m->patterns);
        json_put_integer(j, "abstract", m->abstract_paths);
        page_put_nodes(j, m);
        page_put_edges(j, m);
        page_put_states(j, m);
        json_close(j, '}');
}
