/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel stats TRACE: what is in a trace. One pass, in memory that does not grow
 * with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/printable.h"
#include "calls/find-call-pairs.h"
#include "paths/histogram.h"
#include "paths/path-text.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/fitness.h"
#include "tracefmt/output-file.h"
#include "write/path-write.h"
#include "write/text-table.h"

static struct {
        gboolean strict;
} options;

static const GOptionEntry entries[] = { { "strict", 0, 0, G_OPTION_ARG_NONE, &options.strict,
                                          "Exit with 1 if not fit for nesting", NULL },
                                        G_OPTION_ENTRY_NULL };

typedef struct {
        CallMatcher *matcher;
        GPtrArray *latencies; /* of Histogram, by edge */
        guint64 ops[N_MESSAGE_OPS];
        guint64 both_ends, too_early; /* calls: see Fitness */
} Stats;

/* Latencies of an edge's calls, at the caller where that was seen, that are not counted yet. */
typedef struct {
        gint64 delay[64];
        guint n;
} Waiting;

static void histogram_free(gpointer h)
{
        histogram_clear(h);
        g_free(h);
}

static Stats *stats_new(void)
{
        Stats *s = g_new0(Stats, 1);

        s->matcher = call_matcher_new(0, G_MAXINT64);
        s->latencies = g_ptr_array_new_with_free_func(histogram_free);
        return s;
}

static void stats_free(Stats *s)
{
        call_matcher_free(s->matcher);
        g_ptr_array_free(s->latencies, TRUE);
        g_free(s);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Stats, stats_free)

static void count_waiting(Waiting *w, Histogram *h)
{
        histogram_add_all(h, w->delay, w->n, 1);
        w->n = 0;
}

static void make_room(Stats *s, GArray *waiting, guint n_edges)
{
        while (s->latencies->len < n_edges)
                g_ptr_array_add(s->latencies, g_new0(Histogram, 1));
        if (waiting->len < n_edges)
                g_array_set_size(waiting, n_edges);
}

static void take_done(Stats *s, GArray *waiting)
{
        guint n;
        const DoneCall *done = call_matcher_done(s->matcher, &n);

        for (guint i = 0; i < n; i++, done++) {
                const CallPair *pair = &done->pair;
                guint all = 1 << CALL_SENT | 1 << CALL_RECV | 1 << RET_SENT | 1 << RET_RECV;
                Waiting *w;

                if ((pair->stamps & all) == all) {
                        s->both_ends++;
                        s->too_early += pair->enter < pair->start || pair->end < pair->reply;
                }
                make_room(s, waiting, done->edge + 1);
                w = &g_array_index(waiting, Waiting, done->edge);
                w->delay[w->n++] = pair->end - pair->start;
                if (w->n == G_N_ELEMENTS(w->delay))
                        count_waiting(w, s->latencies->pdata[done->edge]);
        }
}

/* After the last message. */
static void finish(Stats *s, GArray *waiting)
{
        guint n_edges;

        if (call_matcher_finish(s->matcher) & MATCH_DONE)
                take_done(s, waiting);
        call_matcher_edges(s->matcher, &n_edges);
        make_room(s, waiting, n_edges);
        for (guint i = 0; i < n_edges; i++)
                count_waiting(&g_array_index(waiting, Waiting, i), s->latencies->pdata[i]);
}

static Stats *read_stats(TraceReader *reader, GError **error)
{
        g_autoptr(Stats) s = stats_new();
        g_autoptr(GArray) waiting = g_array_new(FALSE, TRUE, sizeof(Waiting));
        Message message;
        int status;

        while ((status = trace_reader_next(reader, &message, error)) != 0) {
                if (status < 0) {
                        if (!tool_sort_trace(reader, error))
                                return NULL;
                        stats_free(s);
                        s = stats_new();
                        g_array_set_size(waiting, 0);
                        continue;
                }
                s->ops[message.op]++;
                if (call_matcher_add(s->matcher, &message) & MATCH_DONE)
                        take_done(s, waiting);
        }
        finish(s, waiting);
        return g_steal_pointer(&s);
}

/* --- printing -------------------------------------------------------------- */

static void put_moment(GString *out, const char *what, gint64 time)
{
        gint64 seconds = time / 1000000000 - (time % 1000000000 < 0);
        g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc(seconds);
        g_autofree char *text = g_date_time_format(utc, "%Y-%m-%d %H:%M:%S");

        g_string_append_printf(out, "%-10s%s.%09" G_GINT64_FORMAT " UTC\n", what, text,
                               time - seconds * 1000000000);
}

static void put_summary(GString *out, const Stats *s)
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

/* Returns whether the trace is fit for nesting. */
static gboolean put_judgement(GString *out, const Stats *s, const TraceReader *reader,
                              const NodeTable *nodes)
{
        const MatchCounts *c = call_matcher_counts(s->matcher);
        guint n_facts, n_edges;
        char *const *facts = trace_reader_facts(reader, &n_facts);
        const Edge *edges = call_matcher_edges(s->matcher, &n_edges);
        g_autofree EdgeCalls *calls = g_new(EdgeCalls, n_edges);
        g_autoptr(GArray) doubts = trace_reader_doubts(reader);
        Fitness fitness = { .calls = c->pairs + c->lone_calls,
                            .returns = c->pairs,
                            .one_way = c->one_way,
                            .both_ends = s->both_ends,
                            .too_early = s->too_early };

        for (guint i = 0; i < n_edges; i++)
                calls[i] = (EdgeCalls){ edges[i].caller, edges[i].callee,
                                        edges[i].pairs + edges[i].lone_calls };
        fitness_add_facts(&fitness, facts, n_facts);
        doubts_keep_called(doubts, calls, n_edges);
        g_auto(GStrv) lines = doubts_to_lines(doubts, nodes);
        g_autofree char *judgement = fitness_judge(&fitness, doubts, calls, n_edges, nodes);

        g_string_append_printf(out, "judgement %s\n", judgement);
        for (char **line = lines; *line; line++)
                g_string_append_printf(out, "doubt     %s\n", *line);
        return judgement_is_fit_for_nesting(judgement);
}

static void put_table(GString *out, TextTable *table)
{
        text_table_fit(table, tool_columns());
        g_string_append_c(out, '\n');
        text_table_write(table, "", out);
}

/* What a row of the table of edges is made of. */
typedef struct {
        const char *caller, *callee;
        const Edge *edge;
        const Histogram *latency;
} EdgeRow;

static int compare_edges(const void *a, const void *b)
{
        const EdgeRow *x = a, *y = b;

        return strcmp(x->caller, y->caller) ?: strcmp(x->callee, y->callee);
}

/* A delay of an edge; nothing where it has no calls. */
static char *format_delay(const Histogram *h, gint64 delay)
{
        return h->count ? path_format_duration(delay) : g_strdup("");
}

/* A table shows only the columns that say something. */
static TextTable *edge_table(const Stats *s)
{
        const MatchCounts *c = call_matcher_counts(s->matcher);
        TextTable *table = text_table_new();

        text_table_add_column(table, "edge", TEXT_LEFT, 0);
        text_table_add_column(table, c->pairs ? "calls" : "", TEXT_RIGHT, 0);
        text_table_add_column(table, c->pairs ? "mean" : "", TEXT_RIGHT, 0);
        text_table_add_column(table, c->pairs ? "p50" : "", TEXT_RIGHT, 3);
        text_table_add_column(table, c->pairs ? "p99" : "", TEXT_RIGHT, 1);
        text_table_add_column(table, c->pairs ? "max" : "", TEXT_RIGHT, 2);
        text_table_add_column(table, c->lone_calls ? "no return" : "", TEXT_RIGHT, 0);
        text_table_add_column(table, c->lone_returns ? "no call" : "", TEXT_RIGHT, 0);
        text_table_add_column(table, c->one_way ? "one-way" : "", TEXT_RIGHT, 0);
        return table;
}

static void put_edges(GString *out, const Stats *s, const NodeTable *nodes)
{
        const MatchCounts *c = call_matcher_counts(s->matcher);
        guint n, columns = tool_columns();
        const Edge *edges = call_matcher_edges(s->matcher, &n);
        g_autofree EdgeRow *rows = g_new(EdgeRow, n);
        g_autoptr(TextTable) table = edge_table(s);

        for (guint i = 0; i < n; i++) {
                rows[i] = (EdgeRow){ node_table_written(nodes, edges[i].caller),
                                     node_table_written(nodes, edges[i].callee), &edges[i],
                                     s->latencies->pdata[i] };
        }
        if (n)
                qsort(rows, n, sizeof *rows, compare_edges);
        for (guint i = 0; i < n; i++) {
                const Edge *e = rows[i].edge;
                const Histogram *h = rows[i].latency;

                text_table_add(table, text_shorten_edge(rows[i].caller, rows[i].callee,
                                                        columns ? MAX(columns / 2, 12) : G_MAXINT));
                text_table_add(table, c->pairs ? path_format_count(h->count) : g_strdup(""));
                text_table_add(table, format_delay(h, histogram_mean(h)));
                text_table_add(table, format_delay(h, histogram_quantile(h, 0.5)));
                text_table_add(table, format_delay(h, histogram_quantile(h, 0.99)));
                text_table_add(table, format_delay(h, h->max));
                text_table_add(table,
                               c->lone_calls ? path_format_count(e->lone_calls) : g_strdup(""));
                text_table_add(table,
                               c->lone_returns ? path_format_count(e->lone_returns) : g_strdup(""));
                text_table_add(table, c->one_way
                                              ? path_format_count(MAX(e->one_way[0], e->one_way[1]))
                                              : g_strdup(""));
        }
        if (n)
                put_table(out, table);
}

typedef struct {
        const char *name;
        guint64 called, calls;
        gint128 open; /* ns that calls were open at the node, in all */
} NodeRow;

static int compare_nodes(const void *a, const void *b)
{
        return strcmp(((const NodeRow *)a)->name, ((const NodeRow *)b)->name);
}

static void put_nodes(GString *out, const Stats *s, const NodeTable *nodes)
{
        const MatchCounts *c = call_matcher_counts(s->matcher);
        double span = MAX(c->last - c->first, 1);
        guint n = node_table_size(nodes), n_edges, columns = tool_columns();
        const Edge *edges = call_matcher_edges(s->matcher, &n_edges);
        g_autofree NodeRow *rows = g_new0(NodeRow, n);
        g_autoptr(TextTable) table = text_table_new();

        for (guint i = 0; i < n; i++)
                rows[i].name = node_table_written(nodes, i);
        for (guint i = 0; i < n_edges; i++) {
                rows[edges[i].caller].calls += edges[i].pairs;
                rows[edges[i].callee].called += edges[i].pairs;
                rows[edges[i].callee].open += edges[i].busy;
        }
        if (n)
                qsort(rows, n, sizeof *rows, compare_nodes);
        text_table_add_column(table, "node", TEXT_LEFT, 0);
        text_table_add_column(table, "called", TEXT_RIGHT, 0);
        text_table_add_column(table, "calls", TEXT_RIGHT, 0);
        text_table_add_column(table, "open", TEXT_RIGHT, 0);
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
                put_table(out, table);
}

int tool_stats(int argc, char **argv)
{
        g_autoptr(GOptionContext) context = g_option_context_new("TRACE - what is in a trace");
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(TraceReader) reader = NULL;
        g_autoptr(Stats) stats = NULL;
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(OutputFile) out = NULL;
        GError *error = NULL;
        char *const *facts;
        guint n_facts;
        gboolean fit;
        int status;

        g_option_context_set_description(
                context,
                "called, calls: calls into a node, and by it. open: mean number of calls into\n"
                "it under way. Edges: latency of their calls.\n");
        g_option_context_add_main_entries(context, entries, NULL);
        tool_add_reader_options(context);
        if (!tool_parse(context, &argc, &argv, &status))
                return status;
        if (!run_files_write("-w", NULL, &error) ||
            !(reader = tool_open_trace(argc, argv, nodes, FALSE, &error)) ||
            !(stats = read_stats(reader, &error)))
                return tool_fail(error);
        tool_report_reader(reader);

        if (!call_matcher_counts(stats->matcher)->messages)
                tool_report_empty(reader);
        put_summary(text, stats);
        fit = put_judgement(text, stats, reader, nodes);
        put_nodes(text, stats, nodes);
        put_edges(text, stats, nodes);
        facts = trace_reader_facts(reader, &n_facts);
        if (n_facts)
                g_string_append(text, "\n");
        for (guint i = 0; i < n_facts; i++) {
                printable_append(text, facts[i], -1, PRINTABLE_TEXT);
                g_string_append_c(text, '\n');
        }
        if (!(out = output_file_new("-", FALSE, &error)) ||
            !output_file_write(out, text->str, text->len, &error) ||
            !output_file_close(g_steal_pointer(&out), &error))
                return tool_fail(error);
        return options.strict && !fit ? EXIT_DIFFERS : tool_done();
}
