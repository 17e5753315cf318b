/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A report as the JSON that paths/write/page.js draws. It is made for that script
 * alone and has no version: arrays stand for records, in the order that the
 * functions below write them in, since a page holds 10,000 patterns. Times are ns.
 */
#include "base/error.h"
#include "paths/misassigned.h"
#include "paths/report.h"
#include "paths/write/page-data.h"
#include "paths/write/page.h"
#include "paths/write/path-text.h"
#include "paths/write/path-write.h"
#include "paths/write/pattern-text.h"
#include "paths/write/write-report-calls.h"
#include "paths/write/write-tree.h"

enum {
        MAX_VERTICES = 150,     /* of a tree: what a person can look at */
        MAX_GRAPHS = 50,        /* of roots */
        MAX_PLACES = 1000,      /* of a pattern, apart from their vertices */
        VERTEX_BINS = 64,       /* of a distribution */
        DETAIL_BYTES = 2100000, /* after so many no more patterns are in full */
        FEWEST_DETAILS = 20,    /* but these are */
};

static gint64 clamp(gint128 n)
{
        return (gint64)CLAMP(n, G_MININT64, G_MAXINT64);
}

static void append_run(GString *out, const Report *r, const StoreReader *reader)
{
        const StoredRun *run = store_reader_run(reader);

        page_text(out, "version", run->version);
        page_text(out, "method", run->method);
        page_text(out, "parameters", run->parameters);
        page_number(out, "messages", (gint64)run->messages);
        page_number(out, "calls", (gint64)run->calls);
        page_number(out, "unmatchedCalls", (gint64)run->unmatched_calls);
        page_number(out, "unmatchedReturns", (gint64)run->unmatched_returns);
        page_number(out, "cutPaths", (gint64)run->cut_paths);
        page_key(out, "parallelism");
        page_double(out, run->parallelism);
        page_time(out, "first", run->first);
        page_time(out, "last", run->last);
        page_number(out, "edges", r->n_edges);
        if (r->goes_on)
                page_number(out, "goesOn", 1);
        page_number(out, "paths", (gint64)r->n_paths);
        page_number(out, "patternCount", (gint64)r->n_patterns);
        page_number(out, "total", clamp(r->total));
        page_key(out, "probability");
        page_probability(out, r->probability);
        if (run->judgement)
                page_text(out, "judgement", run->judgement);
        page_number(out, "fit", run->fit);
        page_key(out, "doubts"); /* reason, text; the worst first */
        g_string_append_c(out, '[');
        for (guint i = 0; i < r->doubts->len; i++) {
                page_separator(out);
                g_string_append_c(out, '[');
                path_append_json_string(out, g_array_index(r->doubts, StoredDoubt, i).reason);
                g_string_append_c(out, ',');
                path_append_json_string(out, g_array_index(r->doubts, StoredDoubt, i).text);
                g_string_append_c(out, ']');
        }
        g_string_append_c(out, ']');
        page_key(out, "trust"); /* node, calls, guessed, probability */
        g_string_append_c(out, '[');
        for (guint i = 0; i < r->trust->len; i++) {
                const StoredTrust *t = &g_array_index(r->trust, StoredTrust, i);

                page_separator(out);
                g_string_append_printf(out, "[%u,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",",
                                       t->node, t->calls, t->guessed);
                page_probability(out, t->probability);
                g_string_append_c(out, ']');
        }
        g_string_append_c(out, ']');
        page_key(out, "captures");
        g_string_append_c(out, '[');
        for (guint i = 0; i < r->captures->len; i++) {
                const StoredCapture *c = &g_array_index(r->captures, StoredCapture, i);

                page_separator(out);
                g_string_append_c(out, '{');
                page_text(out, "name", c->name);
                page_text(out, "facts", c->facts);
                g_string_append_c(out, '}');
        }
        g_string_append_c(out, ']');
}

static void append_nodes(GString *out, const Report *r)
{
        page_key(out, "nodes");
        g_string_append_c(out, '[');
        for (NodeId i = 0; i < node_table_size(r->nodes); i++) {
                page_separator(out);
                path_append_json_string(out, node_table_written(r->nodes, i));
        }
        g_string_append_c(out, ']');
        /* By node, then the network: own time, calls; workers and queued, where there are any. */
        page_key(out, "blame");
        g_string_append_c(out, '[');
        for (guint i = 0; i < r->blame->len; i++) {
                const ReportBlame *b = &g_array_index(r->blame, ReportBlame, i);

                page_separator(out);
                g_string_append_printf(out, "[%" G_GINT64_FORMAT ",%" G_GUINT64_FORMAT,
                                       clamp(b->own), b->calls);
                if (b->workers > 0)
                        g_string_append_printf(out, ",%u,%" G_GINT64_FORMAT, b->workers,
                                               clamp(b->own_queued));
                g_string_append_c(out, ']');
        }
        g_string_append_c(out, ']');
        if (r->waits)
                page_number(out, "waits", 1);
}

/* The last of an array; nothing where there is none. */
static void append_operation(GString *out, const char *operation)
{
        if (!operation)
                return;
        g_string_append_c(out, ',');
        path_append_json_string(out, operation);
}

static void append_rows(GString *out, const Report *r)
{
        page_key(out, "rows");
        g_string_append_c(out, '[');
        for (guint i = 0; i < r->rows->len; i++) {
                const ReportRow *row = &g_array_index(r->rows, ReportRow, i);
                const StoredPattern *p = &row->stored;
                const gint64 times[] = { p->total, p->mean, p->deviation, p->p50,
                                         p->p90,   p->p99,  p->min,       p->max };

                page_separator(out);
                g_string_append_printf(out,
                                       "[\"%016" G_GINT64_MODIFIER "x\",\"%s\",%" G_GUINT64_FORMAT,
                                       row->id, row->shape->str, p->count);
                for (guint k = 0; k < G_N_ELEMENTS(times); k++)
                        g_string_append_printf(out, ",%" G_GINT64_FORMAT, times[k]);
                g_string_append_c(out, ',');
                page_probability(out, p->probability);
                g_string_append_printf(out, ",%u,%" G_GINT64_FORMAT ",\"%s\",%d", row->slowest,
                                       row->slowest_own, row->latency->str, p->doubt);
                append_operation(out, p->label ? p->label : r->goes_on ? "" : NULL);
                if (r->goes_on)
                        g_string_append_printf(out, ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT,
                                               p->completion.mean, p->completion.p99);
                g_string_append_c(out, ']');
        }
        g_string_append_c(out, ']');
}

/* The rows of patterns that probably are errors of inference, where there are any. */
static void append_misassigned(GString *out, const Report *r)
{
        gboolean any = FALSE;

        for (guint i = 0; i < r->rows->len; i++) {
                if (!g_array_index(r->rows, ReportRow, i).stored.misassigned)
                        continue;
                if (!any) {
                        page_number(out, "misassignedPaths", MISASSIGNED_PATHS); /* at most */
                        page_key(out, "misassigned");
                        g_string_append_c(out, '[');
                }
                any = TRUE;
                page_separator(out);
                g_string_append_printf(out, "%u", i);
        }
        if (any)
                g_string_append_c(out, ']');
}

/* Count, bucket by bucket, median and greatest latency. */
static void append_buckets(GString *out, const GArray *buckets)
{
        page_key(out, "buckets");
        g_string_append_c(out, '[');
        for (guint i = 0; i < buckets->len; i++) {
                const ReportBucket *b = &g_array_index(buckets, ReportBucket, i);

                page_separator(out);
                g_string_append_printf(out, "[%u,%" G_GUINT64_FORMAT ",", b->bucket, b->count);
                report_append_rounded(out, b->median);
                g_string_append_c(out, ',');
                report_append_rounded(out, b->max);
                g_string_append_c(out, ']');
        }
        g_string_append_c(out, ']');
}

/* Nothing at all where every delay is 0: most traces have no times of the network. */
static void append_statistics(GString *out, const Histogram *h)
{
        g_string_append(out, ",[");
        if (h->count > 0 && (h->min != 0 || h->max != 0)) {
                g_string_append_printf(
                        out,
                        "%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT
                        ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT
                        ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",\"",
                        histogram_mean(h), histogram_deviation(h), histogram_quantile(h, 0.1),
                        histogram_quantile(h, 0.5), histogram_quantile(h, 0.9),
                        histogram_quantile(h, 0.99), h->min, h->max);
                report_append_distribution(out, h, VERTEX_BINS);
                g_string_append_c(out, '"');
        }
        g_string_append_c(out, ']');
}

/* Parent, node, places; then latency, call delay, own time, network; how it continues and queued,
 * where anything does; workers and queued for them, where a node has any; operation, if any. */
static void append_vertices(GString *out, const CollapsedTree *tree, const Report *r)
{
        page_key(out, "vertices");
        g_string_append_c(out, '[');
        for (guint32 i = 0; i < tree->n_vertices; i++) {
                const CollapsedCall *v = &tree->vertices[i];
                g_autofree char *operation = path_node_operation(&v->all);

                page_separator(out);
                g_string_append_printf(out, "[%d,%u,[", (int)v->parent, v->all.node);
                for (guint32 k = 0; k < v->n; k++)
                        g_string_append_printf(out, k ? ",%u" : "%u", tree->places[v->first + k]);
                g_string_append_c(out, ']');
                append_statistics(out, &v->all.latency);
                append_statistics(out, &v->all.call_delay);
                append_statistics(out, &v->all.own);
                append_statistics(out, &v->all.network);
                if (r->goes_on) {
                        g_string_append_printf(out, ",%u", v->all.continues);
                        append_statistics(out, &v->all.queued);
                }
                if (r->waits) {
                        g_string_append_printf(out, ",%u", v->all.workers);
                        append_statistics(out, &v->all.own_queued);
                }
                append_operation(out, operation);
                g_string_append_c(out, ']');
        }
        g_string_append_c(out, ']');
}

/* By place: parent; mean call delay, latency, its p10 and p90, own time, network. */
static void append_places(GString *out, const PathPattern *p)
{
        page_key(out, "places");
        g_string_append_c(out, '[');
        for (guint32 i = 0; i < p->n_nodes && p->n_nodes <= MAX_PLACES; i++) {
                const PatternNode *n = &p->nodes[i];
                const gint64 times[] = { histogram_mean(&n->call_delay),
                                         histogram_mean(&n->latency),
                                         histogram_quantile(&n->latency, 0.1),
                                         histogram_quantile(&n->latency, 0.9),
                                         histogram_mean(&n->own),
                                         histogram_mean(&n->network) };

                page_separator(out);
                g_string_append_printf(out, "[%d", (int)n->parent);
                for (guint k = 0; k < G_N_ELEMENTS(times); k++)
                        g_string_append_printf(out, ",%" G_GINT64_FORMAT, times[k]);
                g_string_append_c(out, ']');
        }
        g_string_append_c(out, ']');
}

/* Vertex by vertex: x and y of the middle, width, height, edge. */
static void append_layout(GString *out, const TreeLayout *layout)
{
        page_number(out, "width", layout->width);
        page_number(out, "height", layout->height);
        page_key(out, "boxes");
        g_string_append_c(out, '[');
        for (guint32 i = 0; i < layout->n; i++) {
                const TreeBox *b = &layout->boxes[i];

                page_separator(out);
                g_string_append_printf(out, "[%d,%d,%d,%d,\"%s\"]", b->x, b->y, b->width, b->height,
                                       b->edge);
        }
        g_string_append_c(out, ']');
}

/* A real instance: its calls by place, parent (index into them), caller; start,
 * entry, reply and end after the path's start; own time, network; probability,
 * candidates; how it continues and queued, where it does; queued for a worker. */
static void append_sample(GString *out, const ReportSample *s)
{
        g_string_append_c(out, '{');
        page_number(out, "path", (gint64)s->number + 1); /* the store's path.id */
        page_time(out, "start", s->path.start);
        page_number(out, "latency", s->path.latency);
        page_key(out, "probability");
        page_probability(out, s->path.probability);
        page_key(out, "calls");
        g_string_append_c(out, '[');
        for (guint i = 0; i < s->calls->len; i++) {
                const PathCall *c = &g_array_index(s->calls, PathCall, i);
                const gint64 times[] = { c->start - s->path.start,
                                         c->enter - s->path.start,
                                         c->reply - s->path.start,
                                         c->end - s->path.start,
                                         c->own,
                                         c->network };

                page_separator(out);
                g_string_append_printf(out, "[%u,%d,%u", g_array_index(s->places, guint32, i),
                                       (int)c->parent, c->caller);
                for (guint k = 0; k < G_N_ELEMENTS(times); k++)
                        g_string_append_printf(out, ",%" G_GINT64_FORMAT, times[k]);
                g_string_append_c(out, ',');
                page_probability(out, (double)c->probability);
                g_string_append_printf(out, ",%u", c->candidates);
                if (c->continues != WORK_NESTED || c->workers > 0)
                        g_string_append_printf(out, ",%u,%" G_GINT64_FORMAT, c->continues,
                                               c->queued);
                if (c->workers > 0)
                        g_string_append_printf(out, ",%" G_GINT64_FORMAT, c->own_queued);
                g_string_append_c(out, ']');
        }
        g_string_append(out, "]}");
}

static void append_samples(GString *out, const ReportDetail *d)
{
        page_key(out, "samples");
        g_string_append_c(out, '[');
        for (guint i = 0; i < d->samples->len; i++) {
                page_separator(out);
                append_sample(out, g_ptr_array_index(d->samples, i));
        }
        g_string_append_c(out, ']');
        page_key(out, "sample"); /* fastest, median, p99, slowest */
        g_string_append_printf(out, "[%d,%d,%d,%d]", d->sample[SAMPLE_FASTEST],
                               d->sample[SAMPLE_MEDIAN], d->sample[SAMPLE_P99],
                               d->sample[SAMPLE_SLOWEST]);
}

static gboolean append_detail(GString *out, Drawer *drawer, const Report *r, const ReportDetail *d,
                              GError **error)
{
        g_autoptr(CollapsedTree) tree = collapsed_tree_new(&d->pattern, MAX_VERTICES);
        g_autoptr(TreeLayout) layout =
                tree_layout_new_calls(drawer, tree, r->nodes, d->pattern.client, error);

        if (!layout)
                return FALSE;
        page_separator(out);
        g_string_append_c(out, '{');
        page_number(out, "hidden", tree->hidden);
        append_vertices(out, tree, r);
        append_places(out, &d->pattern);
        append_samples(out, d);
        append_buckets(out, d->buckets);
        write_report_spent(out, d, tree);
        append_layout(out, layout);
        g_string_append_c(out, '}');
        return TRUE;
}

/* Node, parent, messages, probability, delays of the node before it and their messages. */
static void append_vertex(GString *out, const PathVertex *v, guint32 parent)
{
        page_separator(out);
        g_string_append_printf(out, "[%u,%d,%" G_GUINT64_FORMAT ",", v->node, (int)parent,
                               v->count);
        page_probability(out, v->probability);
        g_string_append(out, ",[");
        for (guint k = 0; k < v->delays->len; k++) {
                const PathDelay *d = &g_array_index(v->delays, PathDelay, k);

                page_separator(out);
                g_string_append_printf(out, "[%" G_GINT64_FORMAT ",%" G_GUINT64_FORMAT "]",
                                       d->delay, d->count);
        }
        g_string_append(out, "]]");
}

/* The graph from one root: the vertices from at on in order, as far as they are below it. */
static gboolean append_graph(GString *out, Drawer *drawer, const Report *r, const guint32 *order,
                             guint32 at, GError **error)
{
        guint32 size = path_graph_size(r->graph), n = 1;
        g_autofree guint32 *place = g_new(guint32, size); /* by vertex, in the graph */
        guint32 parents[MAX_VERTICES];
        const char *names[MAX_VERTICES];

        while (at + n < size && path_graph_vertex(r->graph, order[at + n])->depth > 0)
                n++;
        page_separator(out);
        g_string_append_c(out, '{');
        page_number(out, "hidden", n - MIN(n, MAX_VERTICES));
        page_key(out, "vertices");
        g_string_append_c(out, '[');
        n = MIN(n, MAX_VERTICES);
        for (guint32 i = 0; i < n; i++) {
                const PathVertex *v = path_graph_vertex(r->graph, order[at + i]);

                place[order[at + i]] = i;
                parents[i] = v->parent == NO_VERTEX ? NO_PARENT : place[v->parent];
                names[i] = node_table_written(r->nodes, v->node);
                append_vertex(out, v, parents[i]);
        }
        g_string_append_c(out, ']');
        g_autoptr(TreeLayout) layout = tree_layout_new(drawer, parents, names, n, 0, error);
        if (!layout)
                return FALSE;
        append_layout(out, layout);
        g_string_append_c(out, '}');
        return TRUE;
}

/* Convolution's graphs, the root with the most messages first. */
static gboolean append_graphs(GString *out, Drawer *drawer, const Report *r, GError **error)
{
        g_autofree guint32 *order = NULL;
        guint graphs = 0;

        if (!r->graph)
                return TRUE;
        order = path_graph_order(r->graph, r->nodes);
        page_key(out, "graphs");
        g_string_append_c(out, '[');
        for (guint32 i = 0; i < path_graph_size(r->graph) && graphs < MAX_GRAPHS; i++) {
                if (path_graph_vertex(r->graph, order[i])->depth > 0)
                        continue;
                if (!append_graph(out, drawer, r, order, i, error))
                        return FALSE;
                graphs++;
        }
        g_string_append_c(out, ']');
        return TRUE;
}

gboolean report_write(const Report *r, const StoreReader *reader, const char *made_of,
                      OutputFile *file, GError **error)
{
        g_autoptr(GString) out = g_string_new("{");
        g_autoptr(Drawer) drawer = drawer_new();
        g_autofree char *base = g_path_get_basename(store_reader_name(reader));
        g_autofree char *title = g_strdup_printf("%s: ravel report", made_of ? made_of : base);

        page_text(out, "kind", "report");
        page_text(out, made_of ? "madeOf" : "store", made_of ? made_of : store_reader_name(reader));
        append_run(out, r, reader);
        append_nodes(out, r);
        append_rows(out, r);
        append_misassigned(out, r);
        write_report_calls(out, r, reader);
        page_time(out, "firstStart", r->first);
        page_time(out, "lastStart", r->last);
        page_number(out, "nBuckets", REPORT_BUCKETS);
        append_buckets(out, r->buckets);
        if (!append_graphs(out, drawer, r, error))
                return FALSE;
        page_key(out, "details");
        g_string_append_c(out, '[');
        gsize before = out->len;
        for (guint i = 0; i < r->details->len; i++) {
                if (i >= FEWEST_DETAILS && out->len - before > DETAIL_BYTES)
                        break;
                if (!append_detail(out, drawer, r, g_ptr_array_index(r->details, i), error))
                        return FALSE;
        }
        g_string_append(out, "]}");
        return page_write(file, title, out, error);
}
