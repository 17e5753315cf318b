/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel stats TRACE: what is in a trace. One pass, in memory that does not grow
 * with it.
 */
#include <string.h>

#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/attributes.h"
#include "tracefmt/fitness.h"
#include "tracefmt/output-file.h"
#include "tracefmt/trace-clocks.h"
#include "write/write-stats.h"

static struct {
        gboolean strict;
        char *format;
} options;

static const char *const formats[] = { "text", "json", NULL };
static const ToolChoice choices[] = { { "--format", &options.format, formats },
                                      { .option = NULL } };

static const GOptionEntry entries[] = { { "strict", 0, 0, G_OPTION_ARG_NONE, &options.strict,
                                          "Exit with 1 if not fit for nesting", NULL },
                                        { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
                                          "text or json (default text)", "FORMAT" },
                                        G_OPTION_ENTRY_NULL };

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

static TraceStats *stats_new(void)
{
        TraceStats *s = g_new0(TraceStats, 1);

        s->matcher = call_matcher_new(0, G_MAXINT64);
        s->latencies = g_ptr_array_new_with_free_func(histogram_free);
        s->outcomes = g_array_new(FALSE, TRUE, sizeof(EdgeOutcomes));
        s->round_trips = g_array_new(FALSE, FALSE, sizeof(gint64));
        s->waiting = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
        s->parsed = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        return s;
}

static void stats_free(TraceStats *s)
{
        call_matcher_free(s->matcher);
        g_ptr_array_free(s->latencies, TRUE);
        g_array_unref(s->outcomes);
        g_array_unref(s->round_trips);
        g_hash_table_unref(s->waiting);
        g_hash_table_unref(s->parsed);
        g_free(s->judgement);
        g_strfreev(s->doubts);
        g_free(s);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TraceStats, stats_free)

static void count_waiting(Waiting *w, Histogram *h)
{
        histogram_add_all(h, w->delay, w->n, 1);
        w->n = 0;
}

static void make_room(TraceStats *s, GArray *waiting, guint n_edges)
{
        const gint64 unknown = NO_TIME;

        while (s->latencies->len < n_edges)
                g_ptr_array_add(s->latencies, g_new0(Histogram, 1));
        while (s->round_trips->len < n_edges)
                g_array_append_val(s->round_trips, unknown);
        if (waiting->len < n_edges)
                g_array_set_size(waiting, n_edges);
        if (s->outcomes->len < n_edges)
                g_array_set_size(s->outcomes, n_edges);
}

/* The outcome of the call that the message answers, and whether its edge has any. did: what
 * matching it did. */
static void take_outcome(TraceStats *s, const Message *m, guint did)
{
        gint64 number = (gint64)call_matcher_latest(s->matcher);
        gint64 key = message_is_call(m) ? stats_edge_key(m->sender, m->receiver)
                                        : stats_edge_key(m->receiver, m->sender);
        gboolean is_return = message_is_return(m);
        Attributes space;

        if (m->attrs_length == 0 || m->op >= MSG_SENT ||
            !memmem(m->attrs, m->attrs_length, is_return ? "st=" : "label=", is_return ? 3 : 6))
                return;
        attributes_parse(&space, m->attrs, m->attrs_length);
        if (!space.outcome && !space.label.at)
                return;
        if (!g_hash_table_contains(s->parsed, &key))
                g_hash_table_add(s->parsed, g_memdup2(&key, sizeof key));
        if (is_return && space.outcome && (did & MATCH_CLOSED))
                g_hash_table_insert(s->waiting, g_memdup2(&number, sizeof number),
                                    g_memdup2(&space.outcome, sizeof space.outcome));
}

static void count_outcome(TraceStats *s, const DoneCall *done)
{
        gint64 number = (gint64)done->number;
        const Outcome *outcome = g_hash_table_lookup(s->waiting, &number);

        if (!outcome)
                return;
        g_array_index(s->outcomes, EdgeOutcomes, done->edge).of_class[outcome_class(*outcome)]++;
        g_hash_table_remove(s->waiting, &number);
}

/* By the clocks of both ends, whose offset adds to one way what it takes from the other. */
static void take_round_trip(const TraceStats *s, guint32 edge, const CallPair *pair)
{
        gint64 *least = &g_array_index(s->round_trips, gint64, edge),
               time = (pair->end - pair->start) - (pair->reply - pair->enter);

        *least = *least == NO_TIME ? time : MIN(*least, time);
}

static void take_done(TraceStats *s, GArray *waiting)
{
        guint n;
        const DoneCall *done = call_matcher_done(s->matcher, &n);

        for (guint i = 0; i < n; i++, done++) {
                const CallPair *pair = &done->pair;
                guint all = 1 << CALL_SENT | 1 << CALL_RECV | 1 << RET_SENT | 1 << RET_RECV;
                Waiting *w;

                make_room(s, waiting, done->edge + 1);
                if ((pair->stamps & all) == all) {
                        s->both_ends++;
                        s->too_early += pair->enter < pair->start || pair->end < pair->reply;
                        take_round_trip(s, done->edge, pair);
                }
                w = &g_array_index(waiting, Waiting, done->edge);
                w->delay[w->n++] = pair->end - pair->start;
                if (g_hash_table_size(s->waiting) > 0)
                        count_outcome(s, done);
                if (w->n == G_N_ELEMENTS(w->delay))
                        count_waiting(w, s->latencies->pdata[done->edge]);
        }
}

/* After the last message. */
static void finish(TraceStats *s, GArray *waiting)
{
        guint n_edges;

        if (call_matcher_finish(s->matcher) & MATCH_DONE)
                take_done(s, waiting);
        call_matcher_edges(s->matcher, &n_edges);
        make_room(s, waiting, n_edges);
        for (guint i = 0; i < n_edges; i++)
                count_waiting(&g_array_index(waiting, Waiting, i), s->latencies->pdata[i]);
}

/* With one clock, no return is earlier than its call. */
static void keep_early(TraceStats *s, const TraceReader *reader)
{
        guint n;
        char *const *facts = trace_reader_facts(reader, &n);

        call_matcher_keep_early(s->matcher, trace_clocks(facts, n) != CLOCKS_ONE);
}

static TraceStats *read_stats(TraceReader *reader, GError **error)
{
        g_autoptr(TraceStats) s = stats_new();
        g_autoptr(GArray) waiting = g_array_new(FALSE, TRUE, sizeof(Waiting));
        gboolean begun = FALSE;
        Message message;
        guint did;
        int status;

        while ((status = trace_reader_next(reader, &message, error)) != 0) {
                if (status < 0) {
                        if (!tool_sort_trace(reader, error))
                                return NULL;
                        begun = FALSE;
                        stats_free(s);
                        s = stats_new();
                        g_array_set_size(waiting, 0);
                        continue;
                }
                if (!begun)
                        keep_early(s, reader);
                begun = TRUE;
                s->ops[message.op]++;
                did = call_matcher_add(s->matcher, &message);
                take_outcome(s, &message, did);
                if (did & MATCH_DONE)
                        take_done(s, waiting);
        }
        finish(s, waiting);
        return g_steal_pointer(&s);
}

static void judge(TraceStats *s, const TraceReader *reader, const NodeTable *nodes)
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
        s->doubts = doubts_to_lines(doubts, nodes);
        s->judgement = fitness_judge(&fitness, doubts, calls, n_edges, nodes);
}

int tool_stats(int argc, char **argv)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(TraceReader) reader = NULL;
        g_autoptr(TraceStats) stats = NULL;
        g_autoptr(GString) text = g_string_new(NULL);
        GError *error = NULL;
        int status;

        tool_add_description(
                "called, calls: calls into a node, and by it. open: mean number of calls into\n"
                "it under way. Edges: rate, errors and latency of their calls; -: nobody could\n"
                "see how they ended. round trip: the least.\n");
        tool_add_reader_options();
        if (!tool_parse("TRACE - what is in a trace", entries, choices, &argc, &argv, &status))
                return status;
        if (!run_files_write("-w", NULL, &error) ||
            !(reader = tool_open_trace(argc, argv, nodes, FALSE, &(RunNeeds){ 0 }, &error)) ||
            !(stats = read_stats(reader, &error)))
                return tool_fail(error);
        tool_report_reader(reader);

        if (!call_matcher_counts(stats->matcher)->messages)
                tool_report_empty(reader);
        judge(stats, reader, nodes);
        if (tool_choice_index(options.format, formats) == 1)
                stats_write_json(stats, nodes, text);
        else
                stats_write(stats, reader, nodes, tool_columns(), text);
        if (!output_file_put("-", text, &error))
                return tool_fail(error);
        return options.strict && !judgement_is_fit_for_nesting(stats->judgement) ? EXIT_DIFFERS
                                                                                 : tool_done();
}
