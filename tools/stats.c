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
#include "tools/tool.h"
#include "tracefmt/error.h"
#include "tracefmt/output-file.h"

typedef struct {
        CallMatcher *matcher;
        guint64 ops[N_MESSAGE_OPS];
} Stats;

static Stats *stats_new(void)
{
        Stats *s = g_new0(Stats, 1);

        s->matcher = call_matcher_new(0);
        return s;
}

static void stats_free(Stats *s)
{
        call_matcher_free(s->matcher);
        g_free(s);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Stats, stats_free)

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
                call_matcher_add(s->matcher, &message);
        }
        call_matcher_finish(s->matcher);
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
        g_autofree char *span = path_format_duration(c->messages ? c->last - c->first : 0);

        if (c->messages) {
                put_moment(out, "first", c->first);
                put_moment(out, "last", c->last);
        }
        g_string_append_printf(out, "span      %s\nmessages  %" G_GUINT64_FORMAT, span,
                               c->messages);
        for (guint op = 0; op < N_MESSAGE_OPS; op++)
                if (s->ops[op])
                        g_string_append_printf(out, "  %s %" G_GUINT64_FORMAT, message_op_name(op),
                                               s->ops[op]);
        g_string_append_printf(out,
                               "\ncalls     %" G_GUINT64_FORMAT
                               " with their return, %" G_GUINT64_FORMAT
                               " without; returns without a call: %" G_GUINT64_FORMAT "\n",
                               c->pairs, c->lone_calls, c->lone_returns);
}

static int compare_edges(gconstpointer a, gconstpointer b, gpointer data)
{
        const Edge *x = a, *y = b;
        const NodeTable *nodes = data;
        int order =
                strcmp(node_table_written(nodes, x->caller), node_table_written(nodes, y->caller));

        return order ? order
                     : strcmp(node_table_written(nodes, x->callee),
                              node_table_written(nodes, y->callee));
}

static void put_edges(GString *out, const Stats *s, NodeTable *nodes)
{
        guint n;
        const Edge *edges = call_matcher_edges(s->matcher, &n);
        g_autofree Edge *sorted = g_memdup2(edges, n * sizeof *edges);
        int width = 4;

        for (guint i = 0; i < n; i++)
                width = MAX(width, (int)(strlen(node_table_written(nodes, edges[i].caller)) + 3 +
                                         strlen(node_table_written(nodes, edges[i].callee))));
        g_qsort_with_data(sorted, n, sizeof *sorted, compare_edges, nodes);
        g_string_append_printf(out, "\n%-*s  %10s %10s %10s %10s\n", width, "edge", "messages",
                               "calls", "no return", "no call");
        for (guint i = 0; i < n; i++) {
                g_autofree char *name =
                        g_strdup_printf("%s > %s", node_table_written(nodes, sorted[i].caller),
                                        node_table_written(nodes, sorted[i].callee));

                g_string_append_printf(out,
                                       "%-*s  %10" G_GUINT64_FORMAT " %10" G_GUINT64_FORMAT
                                       " %10" G_GUINT64_FORMAT " %10" G_GUINT64_FORMAT "\n",
                                       width, name, sorted[i].messages, sorted[i].pairs,
                                       sorted[i].lone_calls, sorted[i].lone_returns);
        }
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
        int width = 4;

        for (guint i = 0; i < n_edges; i++) {
                stats[edges[i].caller].calls += edges[i].pairs;
                stats[edges[i].callee].called += edges[i].pairs;
                stats[edges[i].callee].busy += edges[i].busy;
        }
        for (guint i = 0; i < n; i++) {
                stats[i].name = node_table_written(nodes, i);
                if (stats[i].called || stats[i].calls)
                        width = MAX(width, (int)strlen(stats[i].name));
        }
        qsort(stats, n, sizeof *stats, compare_nodes);
        g_string_append_printf(out, "\n%-*s  %10s %10s %12s\n", width, "node", "called", "calls",
                               "parallelism");
        for (guint i = 0; i < n; i++)
                if (stats[i].called || stats[i].calls)
                        g_string_append_printf(out,
                                               "%-*s  %10" G_GUINT64_FORMAT " %10" G_GUINT64_FORMAT
                                               " %12.3f\n",
                                               width, stats[i].name, stats[i].called,
                                               stats[i].calls, stats[i].busy / span);
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

        g_option_context_set_description(
                context, "Parallelism is the mean number of calls open at a node.\n");
        tool_add_reader_options(context);
        if (!tool_parse(context, &argc, &argv, &status))
                return status;
        if (!(reader = tool_open_trace(argc, argv, nodes, FALSE, &error)) ||
            !(stats = read_stats(reader, &error)))
                return tool_fail(error);
        tool_report_reader(reader);

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
