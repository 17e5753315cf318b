/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel stats TRACE: what is in a trace. One pass, in memory that does not grow
 * with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nesting/find-call-pairs.h"
#include "paths/path-write.h"
#include "paths/text-table.h"
#include "tools/tool.h"
#include "tracefmt/error.h"
#include "tracefmt/output-file.h"

/* Messages from one node to another; of calls both ways together. */
typedef struct {
        gint64 key; /* caller << 32 | callee */
        NodeId caller, callee;
        Edge calls;         /* all 0 where there are none */
        guint64 one_way[2]; /* messages, by the side that saw them */
} EdgeStats;

typedef struct {
        CallMatcher *matcher;
        GHashTable *edges; /* set of EdgeStats, by key */
        guint64 ops[N_MESSAGE_OPS];
} Stats;

static Stats *stats_new(void)
{
        Stats *s = g_new0(Stats, 1);

        s->matcher = call_matcher_new(0);
        s->edges = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
        return s;
}

static void stats_free(Stats *s)
{
        call_matcher_free(s->matcher);
        g_hash_table_destroy(s->edges);
        g_free(s);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Stats, stats_free)

static EdgeStats *find_edge(Stats *s, NodeId caller, NodeId callee)
{
        gint64 key = (gint64)((guint64)caller << 32 | callee);
        EdgeStats *edge = g_hash_table_lookup(s->edges, &key);

        if (edge)
                return edge;
        edge = g_new0(EdgeStats, 1);
        edge->key = key;
        edge->caller = caller;
        edge->callee = callee;
        g_hash_table_add(s->edges, edge);
        return edge;
}

static void take_calls(Stats *s)
{
        guint n;
        const Edge *edges = call_matcher_edges(s->matcher, &n);

        for (guint i = 0; i < n; i++)
                find_edge(s, edges[i].caller, edges[i].callee)->calls = edges[i];
}

static Stats *read_stats(TraceReader *reader, GError **error)
{
        g_autoptr(Stats) s = stats_new();
        Message message;
        int status;

        while ((status = trace_reader_next(reader, &message, error)) != 0) {
                if (status < 0) {
                        if (!tool_sort_trace(reader, error))
                                return NULL;
                        stats_free(s);
                        s = stats_new();
                        continue;
                }
                s->ops[message.op]++;
                if (G_UNLIKELY(message.op >= MSG_SENT))
                        find_edge(s, message.sender, message.receiver)
                                ->one_way[message.op - MSG_SENT]++;
                call_matcher_add(s->matcher, &message);
        }
        call_matcher_finish(s->matcher);
        take_calls(s);
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
        g_string_append_printf(out,
                               "\ncalls     %s with a return, %s without; %s returns without a "
                               "call\n",
                               pairs, lone_calls, lone_returns);
}

static void put_table(GString *out, TextTable *table)
{
        text_table_fit(table, tool_columns());
        g_string_append_c(out, '\n');
        for (int row = -1; row < (int)text_table_rows(table); row++) {
                text_table_write_row(table, row, out);
                g_string_append_c(out, '\n');
        }
}

static int compare_edges(gconstpointer a, gconstpointer b, gpointer data)
{
        const EdgeStats *x = *(EdgeStats *const *)a, *y = *(EdgeStats *const *)b;
        const NodeTable *nodes = data;
        int order =
                strcmp(node_table_written(nodes, x->caller), node_table_written(nodes, y->caller));

        return order ? order
                     : strcmp(node_table_written(nodes, x->callee),
                              node_table_written(nodes, y->callee));
}

/* A table shows only the columns that say something. */
static TextTable *edge_table(const MatchCounts *c)
{
        TextTable *table = text_table_new();

        text_table_add_column(table, "edge", TEXT_LEFT, 0);
        text_table_add_column(table, c->pairs ? "calls" : "", TEXT_RIGHT, 0);
        text_table_add_column(table, c->pairs ? "mean" : "", TEXT_RIGHT, 0);
        text_table_add_column(table, c->pairs ? "longest" : "", TEXT_RIGHT, 1);
        text_table_add_column(table, c->lone_calls ? "no return" : "", TEXT_RIGHT, 0);
        text_table_add_column(table, c->lone_returns ? "no call" : "", TEXT_RIGHT, 0);
        text_table_add_column(table, c->one_way ? "one-way" : "", TEXT_RIGHT, 0);
        return table;
}

static void add_count(TextTable *table, gboolean shown, guint64 n)
{
        text_table_add(table, shown ? path_format_count(n) : g_strdup(""));
}

static void add_delay(TextTable *table, const EdgeStats *edge, gint64 delay)
{
        text_table_add(table, edge->calls.pairs ? path_format_duration(delay) : g_strdup(""));
}

/* On a terminal a name has half of the width at most. */
static void add_name(TextTable *table, const char *name)
{
        guint columns = tool_columns();

        text_table_add(table, columns ? text_shorten(name, MAX(columns / 2, 12)) : g_strdup(name));
}

static void put_edges(GString *out, const Stats *s, NodeTable *nodes)
{
        const MatchCounts *c = call_matcher_counts(s->matcher);
        guint n;
        g_autofree gpointer *sorted = g_hash_table_get_keys_as_array(s->edges, &n);
        g_autoptr(TextTable) table = edge_table(c);

        g_qsort_with_data(sorted, (gint)n, sizeof *sorted, compare_edges, nodes);
        for (guint i = 0; i < n; i++) {
                const EdgeStats *e = sorted[i];
                g_autofree char *name =
                        g_strdup_printf("%s > %s", node_table_written(nodes, e->caller),
                                        node_table_written(nodes, e->callee));

                add_name(table, name);
                add_count(table, c->pairs > 0, e->calls.pairs);
                add_delay(table, e, (gint64)(e->calls.busy / MAX(e->calls.pairs, 1)));
                add_delay(table, e, e->calls.longest);
                add_count(table, c->lone_calls > 0, e->calls.lone_calls);
                add_count(table, c->lone_returns > 0, e->calls.lone_returns);
                add_count(table, c->one_way > 0, MAX(e->one_way[0], e->one_way[1]));
        }
        if (n)
                put_table(out, table);
}

typedef struct {
        const char *name;
        guint64 called, calls;
        double busy; /* ns that calls were open at the node, in all */
} NodeStats;

static int compare_nodes(const void *a, const void *b)
{
        return strcmp(((const NodeStats *)a)->name, ((const NodeStats *)b)->name);
}

static void put_nodes(GString *out, const Stats *s, const NodeTable *nodes)
{
        const MatchCounts *c = call_matcher_counts(s->matcher);
        double span = MAX(c->last - c->first, 1);
        guint n = node_table_size(nodes), n_edges;
        const Edge *edges = call_matcher_edges(s->matcher, &n_edges);
        g_autofree NodeStats *stats = g_new0(NodeStats, n);
        g_autoptr(TextTable) table = text_table_new();

        for (guint i = 0; i < n; i++)
                stats[i].name = node_table_written(nodes, i);
        for (guint i = 0; i < n_edges; i++) {
                stats[edges[i].caller].calls += edges[i].pairs;
                stats[edges[i].callee].called += edges[i].pairs;
                stats[edges[i].callee].busy += edges[i].busy;
        }
        qsort(stats, n, sizeof *stats, compare_nodes);
        text_table_add_column(table, "node", TEXT_LEFT, 0);
        text_table_add_column(table, "called", TEXT_RIGHT, 0);
        text_table_add_column(table, "calls", TEXT_RIGHT, 0);
        text_table_add_column(table, "open", TEXT_RIGHT, 0);
        for (guint i = 0; i < n; i++) {
                if (!stats[i].called && !stats[i].calls)
                        continue;
                add_name(table, stats[i].name);
                add_count(table, TRUE, stats[i].called);
                add_count(table, TRUE, stats[i].calls);
                text_table_add(table, g_strdup_printf("%.3f", stats[i].busy / span));
        }
        if (text_table_rows(table) > 0)
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
        int status;

        g_option_context_set_description(context, "called, calls: calls into a node, and by it. "
                                                  "open: how many of those into it were\n"
                                                  "under way at once, in the mean. mean, longest: "
                                                  "how long the calls of an edge last.\n");
        tool_add_reader_options(context);
        if (!tool_parse(context, &argc, &argv, &status))
                return status;
        if (!(reader = tool_open_trace(argc, argv, nodes, FALSE, &error)) ||
            !(stats = read_stats(reader, &error)))
                return tool_fail(error);
        tool_report_reader(reader);

        if (!call_matcher_counts(stats->matcher)->messages)
                tool_warn("%s: no messages in it", trace_reader_name(reader));
        put_summary(text, stats);
        put_nodes(text, stats, nodes);
        put_edges(text, stats, nodes);
        facts = trace_reader_facts(reader, &n_facts);
        if (n_facts)
                g_string_append(text, "\n");
        for (guint i = 0; i < n_facts; i++)
                g_string_append_printf(text, "%s\n", facts[i]);
        if (!(out = output_file_new("-", FALSE, &error)) ||
            !output_file_write(out, text->str, text->len, &error) ||
            !output_file_close(g_steal_pointer(&out), &error))
                return tool_fail(error);
        return EXIT_DONE;
}
