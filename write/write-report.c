/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A report as the JSON that write/page.js draws. It is made for that script alone and has no
 * version. A page holds 10,000 patterns, so arrays stand for records, in the order of the functions
 * below. Times are ns.
 */
#include <math.h>
#include <string.h>

#include "analysis/report/report.h"
#include "base/each.h"
#include "paths/misassigned.h"
#include "paths/pattern-text.h"
#include "store/store-query.h"
#include "write/page-data.h"
#include "write/path-write.h"
#include "write/trust-text.h"
#include "write/way-times.h"
#include "write/write-map.h"
#include "write/write-report-calls.h"
#include "write/write-report-findings.h"
#include "write/write-tree.h"

enum {
        MAX_VERTICES = 150,     /* of a tree: what a person can look at */
        MAX_GRAPHS = 50,        /* of roots */
        MAX_PLACES = 1000,      /* of a pattern, apart from their vertices */
        VERTEX_BINS = 64,       /* of a distribution */
        DETAIL_BYTES = 2100000, /* bytes after which no more patterns are in full */
        FEWEST_DETAILS = 20,    /* but these are */
};

#define MAX_STATEMENTS 50

/* How far to trust probabilities where parents were guessed, and what was measured is about them.
 */
static void report_page_append_trust(Json *j, const Report *r, const StoreReader *reader)
{
        const StoredRun *run = store_reader_run(reader);
        guint64 guessed = 0;

        for (guint i = 0; i < r->trust->len; i++)
                guessed += g_array_index(r->trust, StoredTrust, i).guessed;
        if (guessed == 0 || strcmp(run->method, "joint") || !isfinite(run->parallelism))
                return;
        g_autofree char *text =
                trust_in_probabilities(run->parallelism, store_reader_has_labels(reader));
        page_text(j, "trustInProbabilities", text);
}

static void append_run(Json *j, const Report *r, const StoreReader *reader)
{
        const StoredRun *run = store_reader_run(reader);

        page_text(j, "version", run->version);
        page_text(j, "method", run->method);
        page_text(j, "parameters", run->parameters);
        json_put_integer(j, "messages", (gint64)run->messages);
        json_put_integer(j, "calls", (gint64)run->calls);
        json_put_integer(j, "unmatchedCalls", (gint64)run->unmatched_calls);
        json_put_integer(j, "unmatchedReturns", (gint64)run->unmatched_returns);
        json_put_integer(j, "cutPaths", (gint64)run->cut_paths);
        json_key(j, "parallelism");
        page_double(j, run->parallelism);
        page_time(j, "first", run->first);
        page_time(j, "last", run->last);
        json_put_integer(j, "edges", r->n_edges);
        if (r->goes_on)
                json_put_integer(j, "goesOn", 1);
        json_put_integer(j, "paths", (gint64)r->n_paths);
        json_put_integer(j, "patternCount", (gint64)r->n_patterns);
        json_put_integer(j, "total", int128_clamp(r->total));
        json_key(j, "probability");
        page_probability(j, r->probability);
        if (run->judgement)
                page_text(j, "judgement", run->judgement);
        json_put_integer(j, "fit", run->fit);
        json_put_open(j, "doubts", '['); /* reason, text; the worst first */
        for (guint i = 0; i < r->doubts->len; i++) {
                json_open(j, '[');
                json_string(j, g_array_index(r->doubts, StoredDoubt, i).reason);
                json_string(j, g_array_index(r->doubts, StoredDoubt, i).text);
                json_close(j, ']');
        }
        json_close(j, ']');
        json_put_open(j, "trust", '['); /* node, calls, guessed, probability */
        EACH (const StoredTrust, t, r->trust) {
                json_open(j, '[');
                page_numbers(j, t->node, t->calls, t->guessed);
                page_probability(j, t->probability);
                json_close(j, ']');
        }
        json_close(j, ']');
        report_page_append_trust(j, r, reader);
        json_put_open(j, "captures", '[');
        EACH (const StoredCapture, c, r->captures) {
                json_open(j, '{');
                page_text(j, "name", c->name);
                page_text(j, "facts", c->facts);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void report_page_append_nodes(Json *j, const Report *r)
{
        json_put_open(j, "nodes", '[');
        for (NodeId i = 0; i < node_table_size(r->nodes); i++)
                json_string(j, node_table_written(r->nodes, i));
        json_close(j, ']');
        /* By node, then the network: own time, calls; workers and queued, where there are any. */
        json_put_open(j, "blame", '[');
        EACH (const ReportBlame, b, r->blame) {
                json_open(j, '[');
                page_numbers(j, int128_clamp(b->own), b->calls);
                if (b->workers > 0)
                        page_numbers(j, b->workers, int128_clamp(b->own_queued));
                json_close(j, ']');
        }
        json_close(j, ']');
        if (r->waits)
                json_put_integer(j, "waits", 1);
}

/* The last of an array; nothing where there is none. */
static void report_page_append_operation(Json *j, const char *operation)
{
        if (!operation)
                return;
        json_string(j, operation);
}

static void report_page_append_rows(Json *j, const Report *r)
{
        json_put_open(j, "rows", '[');
        EACH (const ReportRow, row, r->rows) {
                const StoredPattern *p = &row->stored;
                const gint64 times[] = { p->total, p->mean, p->deviation, p->p50,
                                         p->p90,   p->p99,  p->min,       p->max };

                json_open(j, '[');
                json_id(j, row->stored.id);
                json_string(j, row->shape->str);
                json_integer(j, (gint64)p->count);
                page_number_array(j, times, G_N_ELEMENTS(times));
                page_probability(j, p->probability);
                page_numbers(j, row->slowest, row->slowest_own);
                json_string(j, row->latency->str);
                json_integer(j, p->doubt);
                report_page_append_operation(j, p->label ? p->label : r->goes_on ? "" : NULL);
                if (r->goes_on)
                        page_numbers(j, p->completion.mean, p->completion.p99);
                json_close(j, ']');
        }
        json_close(j, ']');
}

/* By row: its count by drawings, and a standard error of that. */
static void report_page_append_drawn(Json *j, const Report *r)
{
        double elsewhere = MAX((double)r->n_paths - r->drawn, 0) / (double)MAX(r->n_paths, 1);
        g_autofree char *trust = trust_in_counts(r->probability, elsewhere);

        if (!r->is_drawn)
                return;
        page_text(j, "trustInCounts", trust);
        json_put_open(j, "drawn", '[');
        for (guint i = 0; i < r->rows->len; i++) {
                const StoredPattern *p = &g_array_index(r->rows, ReportRow, i).stored;

                json_open(j, '[');
                page_exact(j, p->drawn);
                page_exact(j, p->drawn_error);
                json_close(j, ']');
        }
        json_close(j, ']');
}

/* How many paths of each row failed, and the median latency of the others, where any did. */
static void append_failed(Json *j, const Report *r)
{
        guint64 any = 0;

        for (guint i = 0; i < r->rows->len; i++)
                any |= g_array_index(r->rows, ReportRow, i).stored.failed;
        if (!any)
                return;
        json_put_open(j, "failed", '[');
        for (guint i = 0; i < r->rows->len; i++)
                json_integer(j, (gint64)g_array_index(r->rows, ReportRow, i).stored.failed);
        json_close(j, ']');
        json_put_open(j, "goodP50", '[');
        for (guint i = 0; i < r->rows->len; i++)
                json_integer(j, g_array_index(r->rows, ReportRow, i).good_p50);
        json_close(j, ']');
}

/* The rows of patterns that probably are errors of inference, where there are any. */
static void append_misassigned(Json *j, const Report *r)
{
        gboolean any = FALSE;

        for (guint i = 0; i < r->rows->len; i++) {
                if (!g_array_index(r->rows, ReportRow, i).stored.misassigned)
                        continue;
                if (!any) {
                        json_put_integer(j, "misassignedPaths", MISASSIGNED_PATHS); /* at most */
                        json_put_open(j, "misassigned", '[');
                }
                any = TRUE;
                json_integer(j, i);
        }
        if (any)
                json_close(j, ']');
}

/* Count, bucket by bucket, median and greatest latency. */
static void append_buckets(Json *j, const GArray *buckets)
{
        json_put_open(j, "buckets", '[');
        EACH (const ReportBucket, b, buckets) {
                json_open(j, '[');
                page_numbers(j, b->bucket, b->count);
                report_append_rounded(json_value(j), b->median);
                report_append_rounded(json_value(j), b->max);
                json_close(j, ']');
        }
        json_close(j, ']');
}

/* Nothing at all where every delay is 0: most traces have no times of the network. */
static void append_statistics(Json *j, const Histogram *h)
{
        json_open(j, '[');
        if (h->count > 0 && (h->min != 0 || h->max != 0)) {
                page_numbers(j, histogram_mean(h), histogram_deviation(h),
                             histogram_quantile(h, 0.1), histogram_quantile(h, 0.5),
                             histogram_quantile(h, 0.9), histogram_quantile(h, 0.99), h->min,
                             h->max);
                g_string_append_c(json_value(j), '"');
                report_append_distribution(j->text, h, VERTEX_BINS);
                g_string_append_c(j->text, '"');
        }
        json_close(j, ']');
}

/* Parent, node, places; latency, call delay, own time, network. If anything continues: how, queued;
 * if a node has workers: workers, queued for them; last the operation, if any. */
static void append_vertices(Json *j, const CollapsedTree *tree, const Report *r)
{
        json_put_open(j, "vertices", '[');
        for (guint32 i = 0; i < tree->n_vertices; i++) {
                const CollapsedCall *v = &tree->vertices[i];
                g_autofree char *operation = path_node_operation(&v->all);

                json_open(j, '[');
                page_numbers(j, (int)v->parent, v->all.node);
                json_open(j, '[');
                for (guint32 k = 0; k < v->n; k++)
                        json_integer(j, tree->places[v->first + k]);
                json_close(j, ']');
                append_statistics(j, &v->all.latency);
                append_statistics(j, &v->all.call_delay);
                append_statistics(j, &v->all.own);
                append_statistics(j, &v->all.network);
                if (r->goes_on) {
                        json_integer(j, v->all.continues);
                        append_statistics(j, &v->all.queued);
                }
                if (r->waits) {
                        json_integer(j, v->all.workers);
                        append_statistics(j, &v->all.own_queued);
                }
                report_page_append_operation(j, operation);
                json_close(j, ']');
        }
        json_close(j, ']');
}

/* Vertices whose callers went on without a return, each with how it continues. */
static void append_missed(Json *j, const CollapsedTree *tree)
{
        json_put_open(j, "missed", '[');
        for (guint32 i = 0; i < tree->n_vertices; i++) {
                guint continues = tree->vertices[i].all.continues;

                if (!work_is_missed(continues))
                        continue;
                page_record(j, i, continues);
        }
        json_close(j, ']');
}

/* Vertex, cause, mean of a path: the longest first. */
static void append_detail_ways(Json *j, const CollapsedTree *tree, guint64 paths)
{
        g_autoptr(GArray) times = way_times_find(tree);

        json_put_open(j, "ways", '[');
        EACH (const WayTime, t, times)
                page_record(j, t->call - tree->vertices, t->cause,
                            int128_clamp(t->sum / (gint128)MAX(paths, 1)));
        json_close(j, ']');
}

/* By place: parent; mean call delay, latency, its p10 and p90, own time, network. */
static void report_page_append_places(Json *j, const PathPattern *p)
{
        json_put_open(j, "places", '[');
        for (guint32 i = 0; i < p->n_nodes && p->n_nodes <= MAX_PLACES; i++) {
                const PatternNode *n = &p->nodes[i];
                const gint64 times[] = { histogram_mean(&n->call_delay),
                                         histogram_mean(&n->latency),
                                         histogram_quantile(&n->latency, 0.1),
                                         histogram_quantile(&n->latency, 0.9),
                                         histogram_mean(&n->own),
                                         histogram_mean(&n->network) };

                json_open(j, '[');
                json_integer(j, (int)n->parent);
                page_number_array(j, times, G_N_ELEMENTS(times));
                json_close(j, ']');
        }
        json_close(j, ']');
}

/* A real instance: the calls, each with place, parent (index), caller; start, entry, reply and end
 * after the path's start; own time, network; probability, candidates. Then, as far as a call has
 * them: how it continues, queued; queued for a worker; time since its connection was opened; last,
 * an array of its time on the way by cause. */
static void append_sample(Json *j, const ReportSample *s)
{
        json_open(j, '{');
        json_put_integer(j, "path", (gint64)s->number + 1); /* the store's path.id */
        page_time(j, "start", s->path.start);
        json_put_integer(j, "latency", s->path.latency);
        json_key(j, "probability");
        page_probability(j, s->path.probability);
        json_put_open(j, "calls", '[');
        for (guint i = 0; i < s->calls->len; i++) {
                const PathCall *c = &g_array_index(s->calls, PathCall, i);
                const gint64 times[] = { c->start - s->path.start,
                                         c->enter - s->path.start,
                                         c->reply - s->path.start,
                                         c->end - s->path.start,
                                         c->own,
                                         c->network };

                json_open(j, '[');
                page_numbers(j, g_array_index(s->places, guint32, i), (int)c->parent, c->caller);
                page_number_array(j, times, G_N_ELEMENTS(times));
                page_probability(j, (double)c->probability);
                json_integer(j, c->candidates);
                if (c->continues != WORK_NESTED || c->workers > 0 || c->connecting > 0)
                        page_numbers(j, c->continues, c->queued);
                if (c->workers > 0 || c->connecting > 0)
                        json_integer(j, c->own_queued);
                if (c->connecting > 0)
                        json_integer(j, c->connect);
                write_report_way(j, c);
                json_close(j, ']');
        }
        json_close(j, ']');
        json_close(j, '}');
}

static void append_samples(Json *j, const ReportDetail *d)
{
        json_put_open(j, "samples", '[');
        for (guint i = 0; i < d->samples->len; i++)
                append_sample(j, g_ptr_array_index(d->samples, i));
        json_close(j, ']');
        json_key(j, "sample"); /* fastest, median, p99, slowest */
        page_record(j, d->sample[SAMPLE_FASTEST], d->sample[SAMPLE_MEDIAN], d->sample[SAMPLE_P99],
                    d->sample[SAMPLE_SLOWEST]);
}

static gboolean append_detail(Json *j, Drawer *drawer, const Report *r, const ReportDetail *d,
                              GError **error)
{
        g_autoptr(CollapsedTree) tree = collapsed_tree_new(&d->pattern, MAX_VERTICES);
        g_autoptr(TreeLayout) layout =
                tree_layout_new_calls(drawer, tree, r->nodes, d->pattern.client, error);

        if (!layout)
                return FALSE;
        json_open(j, '{');
        json_put_integer(j, "hidden", tree->hidden);
        if (path_pattern_sum(&d->pattern, NODE_CONNECTING) > 0) /* mean of a path */
                json_put_integer(j, "connecting",
                                 (gint64)(path_pattern_sum(&d->pattern, NODE_CONNECTING) /
                                          (gint128)d->pattern.nodes[0].latency.count));
        append_vertices(j, tree, r);
        append_missed(j, tree);
        append_detail_ways(j, tree, d->pattern.nodes[0].latency.count);
        report_page_append_places(j, &d->pattern);
        append_samples(j, d);
        append_buckets(j, d->buckets);
        write_report_spent(j, d, tree);
        tree_layout_put(layout, j);
        json_close(j, '}');
        return TRUE;
}

/* Node, parent, messages, probability, delays of the node before it and their messages. */
static void append_vertex(Json *j, const PathVertex *v, guint32 parent)
{
        json_open(j, '[');
        page_numbers(j, v->node, (int)parent, v->count);
        page_probability(j, v->probability);
        json_open(j, '[');
        EACH (const PathDelay, d, v->delays)
                page_record(j, d->delay, d->count);
        json_close(j, ']');
        json_close(j, ']');
}

/* The graph from one root: the vertices from at on in order, as far as they are below it. */
static gboolean append_graph(Json *j, Drawer *drawer, const Report *r, const guint32 *order,
                             guint32 at, GError **error)
{
        guint32 size = path_graph_size(r->graph), n = 1;
        g_autofree guint32 *place = g_new(guint32, size); /* by vertex, in the graph */
        guint32 parents[MAX_VERTICES];
        const char *names[MAX_VERTICES];

        while (at + n < size && path_graph_vertex(r->graph, order[at + n])->depth > 0)
                n++;
        json_open(j, '{');
        json_put_integer(j, "hidden", n - MIN(n, MAX_VERTICES));
        json_put_open(j, "vertices", '[');
        n = MIN(n, MAX_VERTICES);
        for (guint32 i = 0; i < n; i++) {
                const PathVertex *v = path_graph_vertex(r->graph, order[at + i]);

                place[order[at + i]] = i;
                parents[i] = v->parent == NO_VERTEX ? NO_PARENT : place[v->parent];
                names[i] = node_table_written(r->nodes, v->node);
                append_vertex(j, v, parents[i]);
        }
        json_close(j, ']');
        g_autoptr(TreeLayout) layout = tree_layout_new(drawer, parents, names, n, 0, error);
        if (!layout)
                return FALSE;
        tree_layout_put(layout, j);
        json_close(j, '}');
        return TRUE;
}

/* Convolution's graphs, the root with the most messages first. */
static gboolean append_graphs(Json *j, Drawer *drawer, const Report *r, GError **error)
{
        g_autofree guint32 *order = NULL;
        guint graphs = 0;

        if (!r->graph)
                return TRUE;
        order = path_graph_order(r->graph, r->nodes);
        json_put_open(j, "graphs", '[');
        for (guint32 i = 0; i < path_graph_size(r->graph) && graphs < MAX_GRAPHS; i++) {
                if (path_graph_vertex(r->graph, order[i])->depth > 0)
                        continue;
                if (!append_graph(j, drawer, r, order, i, error))
                        return FALSE;
                graphs++;
        }
        json_close(j, ']');
        return TRUE;
}

/* The statements with the most time: the view's columns (docs/store.md). */
static gboolean append_statements(Json *j, const StoreReader *reader, GError **error)
{
        g_autoptr(StoreQuery) query = store_query_new(
                store_reader_name(reader),
                "SELECT * FROM statements LIMIT " G_STRINGIFY(MAX_STATEMENTS), error);
        int status = -1;

        json_put_open(j, "statements", '[');
        while (query && (status = store_query_next(query, error)) > 0) {
                json_open(j, '[');
                for (guint i = 0; i < store_query_columns(query); i++) {
                        StoreValue value = store_query_value(query, i);

                        if (value.type == STORE_TEXT)
                                json_bytes(j, value.text, value.n);
                        else if (value.type == STORE_NULL)
                                json_null(j);
                        else
                                g_string_append_len(json_value(j), value.text, (gssize)value.n);
                }
                json_close(j, ']');
        }
        json_close(j, ']');
        return status == 0;
}

gboolean report_write(const Report *r, const StoreReader *reader, const char *made_of, GString *out,
                      GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);
        Json json = JSON_TIGHT_IN(text), *j = &json;
        g_autoptr(Drawer) drawer = drawer_new();
        g_autofree char *base = g_path_get_basename(store_reader_name(reader));
        g_autofree char *title = g_strdup_printf("%s: ravel report", made_of ? made_of : base);

        json_open(j, '{');
        page_text(j, "kind", "report");
        page_text(j, made_of ? "madeOf" : "store", made_of ? made_of : store_reader_name(reader));
        append_run(j, r, reader);
        report_page_append_nodes(j, r);
        map_put_page(j, r->map);
        report_page_append_rows(j, r);
        report_page_append_drawn(j, r);
        append_failed(j, r);
        append_misassigned(j, r);
        write_report_calls(j, r, reader);
        write_report_findings(j, r);
        if (!append_statements(j, reader, error))
                return FALSE;
        page_time(j, "firstStart", r->first);
        page_time(j, "lastStart", r->last);
        json_put_integer(j, "nBuckets", REPORT_BUCKETS);
        append_buckets(j, r->buckets);
        if (!append_graphs(j, drawer, r, error))
                return FALSE;
        json_put_open(j, "details", '[');
        gsize before = text->len;
        for (guint i = 0; i < r->details->len; i++) {
                if (i >= FEWEST_DETAILS && text->len - before > DETAIL_BYTES)
                        break;
                if (!append_detail(j, drawer, r, g_ptr_array_index(r->details, i), error))
                        return FALSE;
        }
        json_close(j, ']');
        json_close(j, '}');
        page_append(out, title, text);
        return TRUE;
}
