/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/write-stats.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/printable.h"
#include "paths/histogram.h"
#include "paths/path-text.h"
#include "write/json.h"
#include "write/text-table.h"

static void put_moment(GString *out, const char *what, gint64 time)
{
        gint64 seconds = time / 1000000000 - (time % 1000000000 < 0);
        g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc(seconds);
        g_autofree char *text = g_date_time_format(utc, "%Y-%m-%d %H:%M:%S");

        g_string_append_printf(out, "%-10s%s.%09" G_GINT64_FORMAT " UTC\n", what, text,
                               time - seconds * 1000000000);
}

static void put_summary(GString *out, const TraceStats *s)
{
        const MatchCounts *c = call_matcher_counts(s->matcher);
        g_autofree char *messages = path_format_count(c->messages);
        g_autofree char *pairs = path_format_count(c->pairs);
        g_autofree char *lone_calls = path_format_count(c->lone_calls);
        g_autofree char *lone_returns = path_format_count(c->lone_returns);

        if (c->messages) {
                g_autofree char *span = path_format_duration(c->last - c->first);

                put_moment(out, "first", c->first);
                put_moment(out, "last", c->last);
                g_string_append_printf(out, "span      %s\n", span);
        }
        g_string_append_printf(out, "messages  %s", messages);
        for (guint op = 0, n = 0; op < N_MESSAGE_OPS; op++)
                if (s->ops[op]) {
                        g_autofree char *count = path_format_count(s->ops[op]);

                        g_string_append_printf(out, "%s%s %s", n++ ? ", " : ": ", count,
                                               message_op_name(op));
                }
        g_string_append_printf(
                out, "\ncalls     %s with a return, %s without; %s returns without a call\n", pairs,
                lone_calls, lone_returns);
}

static void put_table(GString *out, TextTable *table, guint columns)
{
        text_table_fit(table, columns);
        g_string_append_c(out, '\n');
        text_table_write(table, "", out);
}

/* What a row of the table of edges is made of. */
typedef struct {
        const char *caller, *callee;
        const Edge *edge;
        const Histogram *latency;
        gint64 round_trip;            /* the least, ns, or NO_TIME */
        const EdgeOutcomes *outcomes; /* NULL: nobody could see them */
} EdgeRow;

static guint64 edge_errors(const EdgeOutcomes *o)
{
        guint64 n = 0;

        for (OutcomeClass c = CLASS_CLIENT; c < N_OUTCOME_CLASSES; c++)
                n += o->of_class[c];
        return n;
}

COMPARISON(compare_edges, EdgeRow, strcmp(a->caller, b->caller) ?: strcmp(a->callee, b->callee))

/* A delay of an edge; nothing where it has no calls. */
static char *format_delay(const Histogram *h, gint64 delay)
{
        return h->count ? path_format_duration(delay) : g_strdup("");
}

/* A table shows only the columns that say something. */
static TextTable *edge_table(const TraceStats *s)
{
        const MatchCounts *c = call_matcher_counts(s->matcher);
        TextTable *table = text_table_new();

        text_table_add_column(table, "edge", TEXT_LEFT, 0);
        text_table_add_column(table, c->pairs ? "calls" : "", TEXT_RIGHT, 0);
        text_table_add_column(table, c->pairs ? "calls/s" : "", TEXT_RIGHT, 4);
        text_table_add_column(table, g_hash_table_size(s->parsed) ? "errors" : "", TEXT_RIGHT, 0);
        text_table_add_column(table, c->pairs ? "mean" : "", TEXT_RIGHT, 0);
        text_table_add_column(table, c->pairs ? "p50" : "", TEXT_RIGHT, 3);
        text_table_add_column(table, c->pairs ? "p99" : "", TEXT_RIGHT, 1);
        text_table_add_column(table, c->pairs ? "max" : "", TEXT_RIGHT, 2);
        text_table_add_column(table, s->both_ends ? "round trip" : "", TEXT_RIGHT, 5);
        text_table_add_column(table, c->lone_calls ? "no return" : "", TEXT_RIGHT, 0);
        text_table_add_column(table, c->lone_returns ? "no call" : "", TEXT_RIGHT, 0);
        text_table_add_column(table, c->one_way ? "one-way" : "", TEXT_RIGHT, 0);
        return table;
}

/* Of all edges, in order. The caller's to free. */
static EdgeRow *list_edges(const TraceStats *s, const NodeTable *nodes, guint *n)
{
        const Edge *edges = call_matcher_edges(s->matcher, n);
        EdgeRow *rows = g_new(EdgeRow, *n);

        for (guint i = 0; i < *n; i++) {
                gint64 key = stats_edge_key(edges[i].caller, edges[i].callee);

                rows[i] = (EdgeRow){ node_table_written(nodes, edges[i].caller),
                                     node_table_written(nodes, edges[i].callee),
                                     &edges[i],
                                     s->latencies->pdata[i],
                                     g_array_index(s->round_trips, gint64, i),
                                     g_hash_table_contains(s->parsed, &key)
                                             ? &g_array_index(s->outcomes, EdgeOutcomes, i)
                                             : NULL };
        }
        if (*n)
                qsort(rows, *n, sizeof *rows, compare_edges);
        return rows;
}

/* Calls a second of the trace. */
static double rate_of(const TraceStats *s, const EdgeRow *row)
{
        const MatchCounts *c = call_matcher_counts(s->matcher);

        return c->last > c->first ? (double)row->latency->count * 1e9 / (double)(c->last - c->first)
                                  : 0;
}

/* "10 %", "0"; nothing where there are no calls, "-" where nobody could see. */
static char *format_errors(const EdgeRow *row)
{
        guint64 errors;

        if (row->latency->count == 0)
                return g_strdup("");
        if (!row->outcomes)
                return g_strdup("-");
        errors = edge_errors(row->outcomes);
        return errors ? path_format_share((gint128)errors, (gint128)row->latency->count)
                      : g_strdup("0");
}

static void put_edges(GString *out, const TraceStats *s, const NodeTable *nodes, guint columns)
{
        const MatchCounts *c = call_matcher_counts(s->matcher);
        guint n;
        g_autofree EdgeRow *rows = list_edges(s, nodes, &n);
        g_autoptr(TextTable) table = edge_table(s);

        for (guint i = 0; i < n; i++) {
                const Edge *e = rows[i].edge;
                const Histogram *h = rows[i].latency;

                text_table_add(table, text_shorten_edge(rows[i].caller, rows[i].callee,
                                                        columns ? MAX(columns / 2, 12) : G_MAXINT));
                text_table_add(table, c->pairs ? path_format_count(h->count) : g_strdup(""));
                text_table_add(table, h->count ? g_strdup_printf("%.3g", rate_of(s, &rows[i]))
                                               : g_strdup(""));
                text_table_add(table, g_hash_table_size(s->parsed) ? format_errors(&rows[i])
                                                                   : g_strdup(""));
                text_table_add(table, format_delay(h, histogram_mean(h)));
                text_table_add(table, format_delay(h, histogram_quantile(h, 0.5)));
                text_table_add(table, format_delay(h, histogram_quantile(h, 0.99)));
                text_table_add(table, format_delay(h, h->max));
                text_table_add(table, rows[i].round_trip == NO_TIME
                                              ? g_strdup("")
                                              : path_format_duration(rows[i].round_trip));
                text_table_add(table,
                               c->lone_calls ? path_format_count(e->lone_calls) : g_strdup(""));
                text_table_add(table,
                               c->lone_returns ? path_format_count(e->lone_returns) : g_strdup(""));
                text_table_add(table, c->one_way
                                              ? path_format_count(MAX(e->one_way[0], e->one_way[1]))
                                              : g_strdup(""));
        }
        if (n)
                put_table(out, table, columns);
}

typedef struct {
        const char *name;
        guint64 called, calls;
        gint128 open; /* ns that calls were open at the node, in all */
} NodeRow;

COMPARISON(compare_nodes, NodeRow, strcmp(a->name, b->name))

static void put_nodes(GString *out, const TraceStats *s, const NodeTable *nodes, guint columns)
{
        const MatchCounts *c = call_matcher_counts(s->matcher);
        double span = MAX(c->last - c->first, 1);
        guint n = node_table_size(nodes), n_edges;
        const Edge *edges = call_matcher_edges(s->matcher, &n_edges);
        g_autofree NodeRow *rows = g_new0(NodeRow, n);
        static const char *const headings[] = { "node", "called", "calls", "open", NULL };
        g_autoptr(TextTable) table = text_table_new_headed(TEXT_LEFT, headings);

        for (guint i = 0; i < n; i++)
                rows[i].name = node_table_written(nodes, i);
        for (guint i = 0; i < n_edges; i++) {
                rows[edges[i].caller].calls += edges[i].pairs;
                rows[edges[i].callee].called += edges[i].pairs;
                rows[edges[i].callee].open += edges[i].busy;
        }
        if (n)
                qsort(rows, n, sizeof *rows, compare_nodes);
        for (guint i = 0; i < n; i++) {
                if (!rows[i].called && !rows[i].calls)
                        continue;
                text_table_add(table, columns ? text_shorten(rows[i].name, MAX(columns / 2, 12))
                                              : g_strdup(rows[i].name));
                text_table_add(table, path_format_count(rows[i].called));
                text_table_add(table, path_format_count(rows[i].calls));
                text_table_add(table, g_strdup_printf("%.3f", (double)rows[i].open / span));
        }
        if (text_table_rows(table))
                put_table(out, table, columns);
}

void stats_write(const TraceStats *s, const TraceReader *reader, const NodeTable *nodes,
                 guint columns, GString *out)
{
        guint n_facts;
        char *const *facts = trace_reader_facts(reader, &n_facts);

        put_summary(out, s);
        g_string_append_printf(out, "judgement %s\n", s->judgement);
        for (char **line = s->doubts; *line; line++)
                g_string_append_printf(out, "doubt     %s\n", *line);
        put_nodes(out, s, nodes, columns);
        put_edges(out, s, nodes, columns);
        if (n_facts)
                g_string_append(out, "\n");
        for (guint i = 0; i < n_facts; i++) {
                printable_append(out, facts[i], -1, PRINTABLE_TEXT);
                g_string_append_c(out, '\n');
        }
}

/* --- for programs ------------------------------------------------------------ */

static void put_json_edge(Json *json, const TraceStats *s, const EdgeRow *row)
{
        static const char *const names[] = { NULL, "client_errors", "server_errors", "refused",
                                             NULL };
        const Histogram *h = row->latency;

        json_line(json, 2);
        json_open(json, '{');
        json_put_string(json, "caller", row->caller);
        json_put_string(json, "callee", row->callee);
        json_put_count(json, "calls", h->count);
        json_put_number(json, "calls_per_second", rate_of(s, row), "%.6g");
        json_key(json, "errors");
        if (row->outcomes)
                json_count(json, edge_errors(row->outcomes));
        else
                json_null(json);
        for (guint i = 0; row->outcomes && i < N_OUTCOME_CLASSES; i++)
                if (names[i])
                        json_put_count(json, names[i], row->outcomes->of_class[i]);
        json_put_time(json, "mean", histogram_mean(h));
        json_put_time(json, "p50", histogram_quantile(h, 0.5));
        json_put_time(json, "p99", histogram_quantile(h, 0.99));
        json_put_time(json, "max", h->count ? h->max : 0);
        if (row->round_trip != NO_TIME)
                json_put_time(json, "round_trip", row->round_trip);
        json_put_count(json, "no_return", row->edge->lone_calls);
        json_put_count(json, "no_call", row->edge->lone_returns);
        json_put_count(json, "one_way", MAX(row->edge->one_way[0], row->edge->one_way[1]));
        json_close(json, '}');
}

void stats_write_json(const TraceStats *s, const NodeTable *nodes, GString *out)
{
        const MatchCounts *c = call_matcher_counts(s->matcher);
        guint n;
        g_autofree EdgeRow *rows = list_edges(s, nodes, &n);
        Json json = JSON_IN(out);

        json_open(&json, '{');
        json_put_count(&json, "messages", c->messages);
        json_put_count(&json, "calls", c->pairs);
        json_put_open(&json, "edges", '[');
        for (guint i = 0; i < n; i++)
                put_json_edge(&json, s, &rows[i]);
        json_close(&json, ']');
        json_close(&json, '}');
        g_string_append_c(out, '\n');
}
