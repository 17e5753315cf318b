/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A report in at most 20 KB, for scripts and for language models (ravel-report(1) has its members).
 */
#include <math.h>

#include "analysis/report/report.h"
#include "base/compare.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "write/json.h"
#include "write/text-table.h"
#include "write/write-advise.h"
#include "write/write-why.h"

enum {
        SUMMARY_BYTES = 20000, /* at most, */
        SUMMARY_ROWS = 12,     /* so that no list has more than these, or as few as fit */
        NAME_COLUMNS = 200,    /* of a name, a signature or an operation */
};

static void put_name(Json *j, const char *key, const char *name)
{
        g_autofree char *shorter = name ? text_shorten(name, NAME_COLUMNS) : NULL;

        json_put_string(j, key, shorter);
}

static void put_moment(Json *j, const char *key, gint64 time)
{
        g_autofree char *text = time == NO_TIME ? NULL : path_format_moment(time, 6);

        json_put_string(j, key, text);
}

static void put_share(Json *j, const char *key, double share)
{
        json_put_number(j, key, rint(share * 1000) / 1000 + 0.0, "%.3f"); /* never -0 */
}

/* Whether a list of n has a row i, and then on a line of its own. */
static gboolean next_row(Json *j, guint i, guint n, guint most)
{
        if (i < MIN(n, most))
                json_line(j, 4);
        return i < MIN(n, most);
}

static void put_verdict(Json *j, const Report *r, const StoreReader *reader, guint most)
{
        const StoredRun *run = store_reader_run(reader);

        json_line(j, 2);
        json_put_open(j, "verdict", '{');
        json_put_boolean(j, "fit", run->fit);
        put_name(j, "judgement", run->judgement);
        put_share(j, "parents_right", r->probability);
        json_put_open(j, "doubts", '[');
        for (guint i = 0; next_row(j, i, r->doubts->len, most); i++)
                json_string(j, g_array_index(r->doubts, StoredDoubt, i).text);
        json_close(j, ']');
        json_close(j, '}');
}

/* "0>1(2,~3)" with the names of the nodes. */
static char *name_shape(const Report *r, const char *shape)
{
        GString *text = g_string_new(NULL);

        while (*shape) {
                if (g_ascii_isalnum(*shape))
                        g_string_append(
                                text,
                                node_table_written(r->nodes, (NodeId)g_ascii_strtoull(
                                                                     shape, (char **)&shape, 36)));
                else
                        g_string_append_c(text, *shape++);
        }
        return g_string_free(text, FALSE);
}

static void put_patterns(Json *j, const Report *r, guint most)
{
        json_line(j, 2);
        json_put_open(j, "patterns", '[');
        for (guint i = 0; next_row(j, i, r->rows->len, most); i++) {
                const ReportRow *row = &g_array_index(r->rows, ReportRow, i);
                const StoredPattern *p = &row->stored;
                g_autofree char *whole = name_shape(r, row->shape->str);
                g_autofree char *shape = path_short_signature(whole);

                json_open(j, '{');
                json_put_id(j, "id", p->id);
                put_name(j, "operation", p->label);
                put_name(j, "path", shape);
                json_put_count(j, "requests", p->count);
                json_put_count(j, "failed", p->failed);
                json_put_integer(j, "p50", p->p50);
                json_put_integer(j, "p99", p->p99);
                put_share(j, "probability", p->probability);
                put_name(j, "slowest_node",
                         row->slowest == NO_NODE ? NULL
                                                 : node_table_written(r->nodes, row->slowest));
                json_put_integer(j, "slowest_own", row->slowest_own);
                json_close(j, '}');
        }
        json_close(j, ']');
}

COMPARISON_OF_POINTERS(compare_blame, ReportBlame, COMPARE(b->own, a->own) ?: COMPARE(a, b))

/* Own time of nodes and of the network, the most first. */
static void put_nodes(Json *j, const Report *r, guint most)
{
        const ReportBlame *first = (const ReportBlame *)r->blame->data;
        g_autoptr(GPtrArray) order = g_ptr_array_new();

        for (guint i = 0; i < r->blame->len; i++)
                if (first[i].own > 0)
                        g_ptr_array_add(order, (gpointer)&first[i]);
        g_ptr_array_sort(order, compare_blame);
        json_line(j, 2);
        json_put_open(j, "nodes", '[');
        for (guint i = 0; next_row(j, i, order->len, most); i++) {
                const ReportBlame *b = order->pdata[i];
                guint node = (guint)(b - first);

                json_open(j, '{');
                put_name(j, "node",
                         node + 1 == r->blame->len ? "(network)"
                                                   : node_table_written(r->nodes, node));
                json_put_count(j, "calls", b->calls);
                json_put_integer(j, "own", int128_clamp(b->own));
                put_share(j, "share", (double)b->own / (double)MAX(r->total, 1));
                if (b->workers > 0) {
                        json_put_integer(j, "workers", b->workers);
                        json_put_integer(j, "queued", int128_clamp(b->own_queued));
                }
                json_close(j, '}');
        }
        json_close(j, ']');
}

COMPARISON_OF_POINTERS(compare_edges, ReportEdge, COMPARE(b->latency.sum, a->latency.sum))

static void put_causes(Json *j, const ReportEdge *e)
{
        json_put_open(j, "causes", '{');
        for (guint cause = 0; cause < N_WAY_CAUSES; cause++)
                if (e->cause[cause] > 0)
                        json_put_integer(j, way_cause_key(cause), int128_clamp(e->cause[cause]));
        json_close(j, '}');
}

static void put_edges(Json *j, const Report *r, guint most)
{
        g_autoptr(GPtrArray) edges = g_ptr_array_new();

        for (guint i = 0; i < r->edges->len; i++)
                g_ptr_array_add(edges, r->edges->pdata[i]);
        g_ptr_array_sort(edges, compare_edges);
        json_line(j, 2);
        json_put_open(j, "edges", '[');
        for (guint i = 0; next_row(j, i, edges->len, most); i++) {
                const ReportEdge *e = edges->pdata[i];

                json_open(j, '{');
                put_name(j, "caller", node_table_written(r->nodes, e->caller));
                put_name(j, "callee", node_table_written(r->nodes, e->callee));
                json_put_count(j, "calls", e->calls);
                if (e->seen)
                        json_put_count(j, "errors", e->errors);
                json_put_count(j, "unanswered", e->unanswered);
                json_put_count(j, "late", e->late);
                json_put_integer(j, "p50", histogram_quantile(&e->latency, 0.5));
                json_put_integer(j, "p99", histogram_quantile(&e->latency, 0.99));
                put_causes(j, e);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void put_kind(Json *j, const WhyKind *k)
{
        json_open(j, '{');
        put_name(j, "client", k->client);
        put_name(j, "entry", k->entry);
        put_name(j, "operation", k->label);
        json_put_count(j, "requests", k->count);
        json_put_count(j, "slow_requests", k->n_slow);
        json_put_number(j, "slow", k->slow, "%.0f");
        json_put_number(j, "usual", k->middle, "%.0f");
        put_share(j, "uncertain", k->doubtful);
        json_put_open(j, "places", '[');
        for (guint i = 0; i < MIN(k->places->len, 3); i++) {
                const WhyDifference *d = &g_array_index(k->places, WhyDifference, i);

                json_line(j, 6);
                json_open(j, '{');
                put_name(j, "place", d->where);
                put_share(j, "share", d->share);
                json_put_number(j, "slow", d->slow, "%.0f");
                json_put_number(j, "usual", d->middle, "%.0f");
                put_name(j, "replica", d->replica);
                json_close(j, '}');
        }
        json_close(j, ']');
        json_close(j, '}');
}

/* What the slowest hundredth of each kind takes longer for. */
static void put_kinds(Json *j, const Report *r, guint most)
{
        WhyBurst burst;
        g_autoptr(GPtrArray) kinds = r->why ? why_kinds(r->why, &burst) : g_ptr_array_new();

        json_line(j, 2);
        json_put_open(j, "slow", '[');
        for (guint i = 0; next_row(j, i, kinds->len, most); i++)
                put_kind(j, kinds->pdata[i]);
        json_close(j, ']');
}

static void put_slowest(Json *j, const Report *r, guint most)
{
        json_line(j, 2);
        json_put_open(j, "slowest", '[');
        for (guint i = 0; next_row(j, i, r->slowest->len, most); i++) {
                const ReportRequest *q = r->slowest->pdata[i];
                const WhyPlace *p = q->why && q->why->places->len
                                            ? &g_array_index(q->why->places, WhyPlace, 0)
                                            : NULL;

                json_open(j, '{');
                json_put_count(j, "request", q->number + 1);
                put_moment(j, "start", q->path.start);
                json_put_integer(j, "latency", q->path.latency);
                if (q->why)
                        json_put_integer(j, "usual", q->why->usual);
                if (p) {
                        put_name(j, "place", p->where);
                        put_name(j, "node", p->node);
                        json_put_integer(j, "own", p->own);
                        json_put_integer(j, "own_usual", p->usual);
                }
                put_share(j, "probability", q->path.probability);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void put_next(Json *j, const Report *r, const char *made_of, const char *store)
{
        g_autofree char *made = g_strdup_printf("ravel nesting -o %s.sqlite TRACE", made_of);
        g_autofree char *slowest =
                g_strdup_printf("ravel why --slowest 3 %s", made_of ? "STORE" : store);

        json_line(j, 2);
        json_put_open(j, "next", '[');
        if (made_of)
                json_string(j, made);
        if (r->why)
                json_string(j, slowest);
        json_close(j, ']');
}

static void write_rows(const Report *r, const StoreReader *reader, const char *made_of, guint most,
                       GString *out)
{
        Json json = JSON_IN(out), *j = &json;

        json_open_document(j, "ravel-summary");
        put_name(j, "of", made_of ? made_of : store_reader_name(reader));
        put_moment(j, "first", r->first);
        put_moment(j, "last", r->last);
        json_put_count(j, "requests", r->n_paths);
        json_put_count(j, "patterns_found", r->n_patterns);
        put_verdict(j, r, reader, most);
        if (r->advice)
                advice_put(r->advice, r->nodes, made_of ? "STORE" : store_reader_name(reader),
                           MIN(most, FINDINGS_AT_HEAD), j);
        if (r->waiting) {
                json_line(j, 2);
                why_put_held(j, r->waiting, MIN(most, FINDINGS_AT_HEAD));
        }
        put_kinds(j, r, most);
        put_slowest(j, r, MIN(most, 5));
        put_nodes(j, r, most);
        put_edges(j, r, most);
        put_patterns(j, r, most);
        put_next(j, r, made_of, store_reader_name(reader));
        json_line(j, 0);
        json_close(j, '}');
        g_string_append_c(out, '\n');
}

void report_write_summary(const Report *r, const StoreReader *reader, const char *made_of,
                          GString *out)
{
        for (guint most = SUMMARY_ROWS; most > 0; most--) {
                g_string_truncate(out, 0);
                write_rows(r, reader, made_of, most, out);
                if (out->len <= SUMMARY_BYTES)
                        break;
        }
}
