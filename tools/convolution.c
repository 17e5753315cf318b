/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel convolution TRACE: the convolution algorithm, from a trace to the graph of causal
 * paths from each root, and their ranked patterns.
 */
#include <string.h>

#include "base/each.h"
#include "base/error.h"
#include "base/hash.h"
#include "convolution/convolution.h"
#include "convolution/correlation-series.h"
#include "paths/path-clocks.h"
#include "paths/path-text.h"
#include "tools/result.h"
#include "tools/tool.h"
#include "tracefmt/trace-clocks.h"

enum {
        MOST_LAGS = 1 << 26,  /* a few arrays of this length fit into memory */
        MOST_WHOLE = 1 << 28, /* quanta, for --correlate whole */
};

static struct {
        ConvolutionOptions convolution;
        char *method, *correlate, *correlation;
        char **roots;
        gint64 min_messages;
        gint threads;
        gboolean no_fold;
} options = { .convolution = CONVOLUTION_DEFAULTS };

/* --- options --------------------------------------------------------------- */

static gboolean parse_duration(const char *option, const char *value, gpointer data, GError **error)
{
        ConvolutionOptions *o = &options.convolution;
        gint64 ns;

        (void)data;
        if (!tool_duration(value, &ns, error))
                return FALSE;
        if (!strcmp(option, "--tolerance")) {
                o->tolerance = ns;
                return TRUE;
        }
        if (ns == 0)
                return usage_error(error, value, "a duration of 1ns or more");
        *(strcmp(option, "--quantum") ? &o->max_delay : &o->quantum) = ns;
        return TRUE;
}

static gboolean parse_deviations(const char *option, const char *value, gpointer data,
                                 GError **error)
{
        char *end;
        double deviations = g_ascii_strtod(value, &end);

        (void)data;
        if (end == value || *end || !(deviations > 0 && deviations <= 1000))
                return usage_error(error, value, "a number of standard deviations, such as 4");
        *(strcmp(option, "--spike") ? &options.convolution.between : &options.convolution.spike) =
                deviations;
        return TRUE;
}

static const GOptionEntry entries[] = {
        { "method", 0, 0, G_OPTION_ARG_STRING, &options.method,
          "How paths are found: auto (default) or paper", "METHOD" },
        { "root", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.roots,
          "Paths begin at NODE; may be repeated", "NODE" },
        { "quantum", 0, 0, G_OPTION_ARG_CALLBACK, parse_duration, "Resolution of time",
          "DURATION" },
        { "max-delay", 0, 0, G_OPTION_ARG_CALLBACK, parse_duration, "Longest delay at a node",
          "DURATION" },
        { "tolerance", 0, 0, G_OPTION_ARG_CALLBACK, parse_duration,
          "Greatest distance of a delay from its spike", "DURATION" },
        { "spike", 0, 0, G_OPTION_ARG_CALLBACK, parse_deviations,
          "Deviations of a spike over the mean (default 4)", "N" },
        { "between", 0, 0, G_OPTION_ARG_CALLBACK, parse_deviations,
          "Merge spikes without a dip below S (default 3)", "S" },
        { "min-messages", 0, 0, G_OPTION_ARG_INT64, &options.min_messages,
          "Leave out edges with fewer messages", "N" },
        { "correlate", 0, 0, G_OPTION_ARG_STRING, &options.correlate,
          "auto (default), pairs, fft or whole", "HOW" },
        { "correlation", 0, 0, G_OPTION_ARG_STRING, &options.correlation,
          "Write the correlation of two edges", "CAUSE,EFFECT" },
        { "no-fold", 0, 0, G_OPTION_ARG_NONE, &options.no_fold, "Do not fold clients into one node",
          NULL },
        { "threads", 'j', 0, G_OPTION_ARG_INT, &options.threads,
          "Use N threads (default: all processors)", "N" },
        G_OPTION_ENTRY_NULL
};

static const char *const methods[] = { "auto", "paper", NULL };
static const char *const correlates[] = { "auto", "pairs", "fft", "whole", NULL };

static const ToolChoice choices[] = { { "--method", &options.method, methods },
                                      { "--correlate", &options.correlate, correlates },
                                      { .option = NULL } };

static gboolean check_convolution_options(GError **error)
{
        ConvolutionOptions *o = &options.convolution;

        if (!options.method)
                options.method = g_strdup("auto");
        if (!result_check_options(error))
                return FALSE;
        o->correlate =
                tool_choice_index(options.correlate, correlates); /* in the order of the enum */
        if (o->between > o->spike)
                return ravel_fail(
                        error, RAVEL_ERROR_USAGE,
                        "--between %g is above --spike %g, expected it to be at most that",
                        o->between, o->spike);
        if (options.min_messages < 0) {
                g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, options.min_messages);

                return usage_error(error, text, "--min-messages of 1 or more");
        }
        if (!tool_threads(options.threads, &o->threads, error))
                return FALSE;
        if (options.correlation && strcmp(result_format(), "svg") &&
            strcmp(result_format(), "text") && strcmp(result_format(), "tsv"))
                return usage_error(error, result_format(), "--format tsv or svg of a correlation");
        o->min_messages = (guint64)options.min_messages;
        o->progress = tool_progress_work;
        return TRUE;
}

/* --- reading --------------------------------------------------------------- */

/* Calls and returns by edge, each stamped at one or both ends; and one-way messages. */
typedef struct {
        EdgeCalls edge;
        guint64 stamps[N_MESSAGE_OPS];
} Counted;

typedef struct {
        GArray *edges;      /* of Counted */
        GHashTable *number; /* caller << 32 | callee to its number in edges, plus one */
        guint64 one_way[2];
} Counts;

static void counts_clear(Counts *c)
{
        g_clear_pointer(&c->edges, g_array_unref);
        g_clear_pointer(&c->number, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Counts, counts_clear)

static void counts_begin(Counts *c)
{
        counts_clear(c);
        c->edges = g_array_new(FALSE, TRUE, sizeof(Counted));
        c->number = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        c->one_way[0] = c->one_way[1] = 0;
}

static void count_message(Counts *c, const Message *m)
{
        gboolean is_return = m->op == RET_SENT || m->op == RET_RECV;
        NodeId caller = is_return ? m->receiver : m->sender;
        NodeId callee = is_return ? m->sender : m->receiver;
        gint64 key = (gint64)caller << 32 | callee;
        guint number;

        if (m->op == MSG_SENT || m->op == MSG_RECV) {
                c->one_way[m->op == MSG_RECV]++;
                return;
        }
        number = GPOINTER_TO_UINT(g_hash_table_lookup(c->number, &key));
        if (number == 0) {
                Counted counted = { .edge = { caller, callee, 0 } };

                g_array_append_val(c->edges, counted);
                number = c->edges->len;
                g_hash_table_insert(c->number, g_memdup2(&key, sizeof key),
                                    GUINT_TO_POINTER(number));
        }
        g_array_index(c->edges, Counted, number - 1).stamps[m->op]++;
}

static Verdict *judge_traces(const Counts *c, const EdgeTraces *traces, const TraceReader *reader,
                             NodeTable *nodes)
{
        g_autofree EdgeCalls *edges = g_new(EdgeCalls, c->edges->len);
        Fitness fitness = { .one_way = MAX(c->one_way[0], c->one_way[1]) };
        Verdict *verdict;

        for (guint i = 0; i < c->edges->len; i++) {
                const Counted *e = &g_array_index(c->edges, Counted, i);

                edges[i] = e->edge;
                edges[i].calls = MAX(e->stamps[CALL_SENT], e->stamps[CALL_RECV]);
                fitness.calls += edges[i].calls;
                fitness.returns += MAX(e->stamps[RET_SENT], e->stamps[RET_RECV]);
        }
        fitness.returns = MIN(fitness.returns, fitness.calls);
        verdict = result_judge(reader, &fitness, edges, c->edges->len, TRUE, nodes);
        for (NodeId i = 0; traces->folded && i < node_table_size(nodes); i++)
                if (!strcmp(node_table_name(nodes, i), "clients") ||
                    (verdict->folded == NO_NODE && !strcmp(node_table_name(nodes, i), "client")))
                        verdict->folded = i;
        return verdict;
}

static EdgeTraces *read_edges(TraceReader *reader, NodeTable *nodes, Counts *counts, GError **error)
{
        g_autoptr(EdgeTraceLoader) loader = edge_trace_loader_new(nodes);
        Message message;
        int status;

        counts_begin(counts);
        while ((status = trace_reader_next(reader, &message, error)) != 0) {
                if (status < 0) {
                        if (!tool_sort_trace(reader, error))
                                return NULL;
                        edge_trace_loader_free(loader);
                        loader = edge_trace_loader_new(nodes);
                        counts_begin(counts);
                        continue;
                }
                count_message(counts, &message);
                if (!edge_trace_loader_add(loader, &message, error))
                        return NULL;
        }
        return edge_trace_loader_finish(g_steal_pointer(&loader), !options.no_fold);
}

/* The node of this name, or of this written form. */
static NodeId find_named_node(const NodeTable *nodes, const char *text, gsize n)
{
        NodeId node = node_table_lookup(nodes, text, n);

        for (NodeId i = 0; node == NO_NODE && i < node_table_size(nodes); i++)
                if (strlen(node_table_written(nodes, i)) == n &&
                    !memcmp(node_table_written(nodes, i), text, n))
                        node = i;
        return node;
}

/* NULL and error set if a root of the user is no node that sends. */
static GArray *find_roots(const EdgeTraces *traces, GError **error)
{
        g_autoptr(GArray) roots = NULL;

        if (!options.roots)
                return convolution_find_roots(traces);
        roots = g_array_new(FALSE, FALSE, sizeof(NodeId));
        for (char **name = options.roots; *name; name++) {
                NodeId node = find_named_node(traces->nodes, *name, strlen(*name));
                gboolean twice = FALSE;

                if (node == NO_NODE || traces->first_out[node] == traces->first_out[node + 1]) {
                        ravel_fail(error, RAVEL_ERROR_USAGE,
                                   "--root %s: no node of that name sends a message%s", *name,
                                   node != NO_NODE && traces->folded
                                           ? " (is it a client that was folded? see --no-fold)"
                                           : "");
                        return NULL;
                }
                for (guint i = 0; i < roots->len; i++)
                        twice |= g_array_index(roots, NodeId, i) == node;
                if (!twice)
                        g_array_append_val(roots, node);
        }
        return g_steal_pointer(&roots);
}

/* --- what the user should know ---------------------------------------------- */

static void report_traces(const EdgeTraces *traces, const TraceReader *reader)
{
        if (!traces->messages)
                tool_report_empty(reader);
        if (traces->unmatched)
                tool_warn("%" G_GUINT64_FORMAT " stamps are left out: the messages have no ids, "
                          "and the two ends saw different numbers of them",
                          traces->unmatched);
        if (traces->folded)
                tool_warn("%u clients are shown as one node, \"client\" (--no-fold keeps them)",
                          traces->folded);
}

static void report_roots(const EdgeTraces *traces, const GArray *roots)
{
        g_autoptr(GString) names = g_string_new(NULL);
        enum { MOST = 10 };

        if (!traces->messages)
                return;
        if (!roots->len) {
                tool_warn("no roots found: what each node sends may follow from what it got; name "
                          "one with --root");
                return;
        }
        for (guint i = 0; i < MIN(roots->len, MOST); i++)
                g_string_append_printf(
                        names, "%s%s", i ? ", " : "",
                        node_table_written(traces->nodes, g_array_index(roots, NodeId, i)));
        if (roots->len > MOST)
                g_string_append_printf(names, " and %u more", roots->len - MOST);
        tool_warn("%s found: %s", roots->len == 1 ? "root" : "roots", names->str);
}

static void report_choice(const ConvolutionOptions *o)
{
        const ConvolutionOptions *given = &options.convolution;
        g_autofree char *quantum = path_format_duration(o->quantum);
        g_autofree char *max_delay = path_format_duration(o->max_delay);

        if (!given->quantum || !given->max_delay)
                tool_warn("quantum %s%s, delays up to %s%s", quantum,
                          given->quantum ? "" : " (chosen)", max_delay,
                          given->max_delay ? "" : " (chosen)");
}

static gboolean check_choice(const EdgeTraces *traces, const ConvolutionOptions *o, GError **error)
{
        gint64 lags = o->max_delay / o->quantum;
        gsize width = 2 * (gsize)(o->tolerance / o->quantum) + 1;
        gsize least = spike_least_points(width, o->spike);

        if (lags < 1 || lags > MOST_LAGS)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "--max-delay is %" G_GINT64_FORMAT " quanta, expected 1 to %d",
                                  lags, MOST_LAGS);
        if (o->correlate == CORRELATE_WHOLE && traces->messages &&
            (traces->last - traces->first) / o->quantum > MOST_WHOLE - lags)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "--correlate whole: the trace is %" G_GINT64_FORMAT
                                  " quanta long, expected at most %" G_GINT64_FORMAT,
                                  (traces->last - traces->first) / o->quantum, MOST_WHOLE - lags);
        if ((gsize)lags < least)
                tool_warn("--max-delay is %" G_GINT64_FORMAT " quanta: a spike %" G_GSIZE_FORMAT
                          " wide can be %g deviations above the mean only of %" G_GSIZE_FORMAT
                          " or more",
                          lags, width, o->spike, least);
        return TRUE;
}

/* A doubtful clock is the last one found. */
static void report_corrected_clocks(const EdgeTraces *traces, const GArray *clocks)
{
        g_autofree char *remedy = NULL;

        EACH (const ClockOffset, c, clocks)
                if (c->doubtful)
                        remedy = g_strdup_printf("ravel skewer --skew %s=%+" G_GINT64_FORMAT "ns",
                                                 node_table_written(traces->nodes, c->node),
                                                 path_clock_by(c));
        result_report_clocks(clocks, traces->nodes,
                             "some messages seem to precede their causes, as with a wrong clock, "
                             "but no clock was moved",
                             remedy);
}

/* Warns of paths that end early by limits of this program. */
static void report_ends(const Convolution *run)
{
        const ConvolutionOptions *o = &run->options;

        if (run->looked_at)
                tool_warn("paths are from %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                          " messages, in stretches spread over the trace; counts are scaled up",
                          run->looked_at, run->traces->messages);
        if (run->ends[PATH_END_FEW])
                tool_warn("%" G_GUINT64_FORMAT " messages end where fewer than %" G_GUINT64_FORMAT
                          " go on (--min-messages)",
                          run->ends[PATH_END_FEW], o->min_messages);
        if (run->ends[PATH_END_DEPTH])
                tool_warn("%" G_GUINT64_FORMAT
                          " messages end after %u edges, the greatest length of a path",
                          run->ends[PATH_END_DEPTH], o->max_depth);
        if (run->left_out)
                tool_warn("%" G_GUINT64_FORMAT " messages are not followed: an edge of a root has "
                          "%u vertices already (raise --min-messages)",
                          run->left_out, o->max_vertices);
}

/* --- results --------------------------------------------------------------- */

static char *parameters(const Convolution *run, const GArray *clocks)
{
        const ConvolutionOptions *o = &run->options;
        g_autoptr(GString) text = g_string_new(NULL);

        g_string_append_printf(text, "method=%s\n", options.method);
        for (guint i = 0; i < run->roots->len; i++)
                g_string_append_printf(text, "root=%s\n",
                                       node_table_written(run->traces->nodes,
                                                          g_array_index(run->roots, NodeId, i)));
        g_string_append_printf(text,
                               "quantum_ns=%" G_GINT64_FORMAT "\nmax_delay_ns=%" G_GINT64_FORMAT
                               "\ntolerance_ns=%" G_GINT64_FORMAT "\nspike=%g\nbetween=%g\n"
                               "min_messages=%" G_GUINT64_FORMAT "\ncorrelate=%s\nfold=%d\n",
                               o->quantum, o->max_delay, o->tolerance, o->spike, o->between,
                               o->min_messages, correlates[o->correlate], !options.no_fold);
        path_clocks_append_parameters(text, clocks, run->traces->nodes);
        return g_string_free(g_steal_pointer(&text), FALSE);
}

static void fill_convolution_summary(const EdgeTraces *traces, PathSet *set)
{
        PathSetSummary *summary = path_set_summary(set);

        summary->method = options.method;
        summary->messages = traces->messages;
        summary->first = traces->first;
        summary->last = traces->last;
}

static gboolean write_paths(const Convolution *run, PathSet *set, TraceReader *reader,
                            const char *arguments, GError **error)
{
        g_autoptr(Store) store = NULL;
        g_autofree char *params = parameters(run, path_set_summary(set)->clocks);
        StoreRun about = { .arguments = arguments, .parameters = params };

        if (result_has_store() && (!(store = result_open_store(set, &about, error)) ||
                                   !result_close_store(g_steal_pointer(&store), reader, error)))
                return FALSE;
        return result_write(set, error);
}

/* Finds the edge of "a>b"; NULL and error set if there is none. */
static const EdgeTrace *find_named_edge(const EdgeTraces *traces, const char *text, GError **error)
{
        const char *to = strchr(text, '>');
        NodeId from, receiver;
        const EdgeTrace *edge = NULL;

        if (!to) {
                ravel_fail(error, RAVEL_ERROR_USAGE,
                           "--correlation: found \"%s\", expected an edge such as a>b", text);
                return NULL;
        }
        from = find_named_node(traces->nodes, text, (gsize)(to - text));
        receiver = find_named_node(traces->nodes, to + 1, strlen(to + 1));
        if (from != NO_NODE && receiver != NO_NODE)
                edge = edge_traces_lookup(traces, from, receiver);
        if (!edge)
                ravel_fail(error, RAVEL_ERROR_USAGE,
                           "--correlation %s: no message of the trace goes this way", text);
        return edge;
}

/* The two edges of --correlation. */
static gboolean find_edges(const EdgeTraces *traces, const EdgeTrace **cause,
                           const EdgeTrace **effect, GError **error)
{
        g_auto(GStrv) names = g_strsplit(options.correlation, ",", -1);

        if (g_strv_length(names) != 2)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "--correlation: found \"%s\", expected two edges such as a>b,b>c",
                                  options.correlation);
        if (!(*cause = find_named_edge(traces, names[0], error)) ||
            !(*effect = find_named_edge(traces, names[1], error)))
                return FALSE;
        if ((*cause)->to == (*effect)->from)
                return TRUE;
        return ravel_fail(
                error, RAVEL_ERROR_USAGE,
                "--correlation %s: the second edge has to leave the node that the first one enters",
                options.correlation);
}

static gboolean write_correlation(const Convolution *run, const PathSet *set,
                                  const EdgeTrace *cause, const EdgeTrace *effect, GError **error)
{
        g_autoptr(CorrelationSeries) series =
                correlation_series_new(run, cause, effect, path_set_graph(set));
        g_autoptr(OutputFile) out = result_open(FALSE, error);

        return out &&
               (strcmp(result_format(), "svg")
                        ? correlation_series_write_tsv(series, out, error)
                        : correlation_series_write_svg(series, out, error)) &&
               output_file_close(g_steal_pointer(&out), error);
}

/* Makes a run from the options and the traces. NULL and error set if roots or lags are invalid. */
static Convolution *new_run(const EdgeTraces *traces, GError **error)
{
        ConvolutionOptions o = options.convolution;
        g_autoptr(GArray) roots = find_roots(traces, error);

        if (!roots)
                return NULL;
        o.roots_guessed = !options.roots;
        convolution_choose(traces, roots, &o);
        return check_choice(traces, &o, error)
                       ? convolution_new(traces, &o, g_steal_pointer(&roots))
                       : NULL;
}

/* Makes a run of traces and corrects their clocks one after another. found: of ClockOffset, the
 * corrected clocks. A clock without proof is left alone, and with a literal method the first clock,
 * too. */
static Convolution *put_clocks_right(EdgeTraces *traces, gboolean literal, TraceClocks clocks,
                                     GArray *found, GError **error)
{
        g_autoptr(Convolution) run = new_run(traces, error);
        ClockOffset o;

        while (run && clocks != CLOCKS_ONE && found->len < traces->n_nodes &&
               convolution_find_clock_offset(run, clocks == CLOCKS_UNKNOWN, &o)) {
                o.doubtful |= literal;
                g_array_append_val(found, o);
                if (o.doubtful)
                        break;
                edge_traces_shift(traces, o.node, -o.offset);
                convolution_free(run);
                run = new_run(traces, error);
        }
        return g_steal_pointer(&run);
}

static gboolean find_and_write_graph(EdgeTraces *traces, TraceReader *reader,
                                     const Verdict *verdict, const char *arguments, int *status,
                                     GError **error)
{
        const EdgeTrace *cause = NULL, *effect = NULL;
        g_autoptr(GArray) clocks = g_array_new(FALSE, FALSE, sizeof(ClockOffset));
        gboolean literal = !strcmp(options.method, "paper");
        guint n_facts;
        char *const *facts = trace_reader_facts(reader, &n_facts);
        g_autoptr(Convolution) run = NULL;
        g_autoptr(PathSet) set = NULL;

        if ((options.correlation && !find_edges(traces, &cause, &effect, error)) ||
            !(run = put_clocks_right(traces, literal, trace_clocks(facts, n_facts), clocks, error)))
                return FALSE;
        if (traces->messages)
                report_choice(&run->options);
        tool_progress_stage("finding paths");
        set = literal ? convolution_find_paths(run) : convolution_find_joint_paths(run);
        tool_progress_stage(NULL);
        if (!options.roots)
                report_roots(traces, run->roots);
        fill_convolution_summary(traces, set);
        path_set_summary(set)->verdict = verdict;
        *status = result_status(verdict, path_set_instances(set));
        report_ends(run);
        report_corrected_clocks(traces, clocks);
        path_set_summary(set)->clocks = clocks;
        return cause ? write_correlation(run, set, cause, effect, error)
                     : write_paths(run, set, reader, arguments, error);
}

int tool_convolution(int argc, char **argv)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autofree char *arguments = g_strjoinv(" ", argv);
        g_autoptr(TraceReader) reader = NULL;
        g_autoptr(EdgeTraces) traces = NULL;
        g_auto(Counts) counts = { 0 };
        g_autoptr(Verdict) verdict = NULL;
        GError *error = NULL;
        int status;

        result_add_options();
        tool_add_reader_options();
        if (!tool_parse("TRACE - find causal paths of any messages", entries, choices, &argc, &argv,
                        &status))
                return status;
        if (!check_convolution_options(&error) ||
            !(reader = tool_open_trace(argc, argv, nodes, result_has_store(),
                                       &(RunNeeds){ .draws = result_is_drawn() }, &error)))
                return tool_fail(error);
        tool_progress_stage("reading");
        if (!(traces = read_edges(reader, nodes, &counts, &error)))
                return tool_fail(error);
        verdict = judge_traces(&counts, traces, reader, nodes);
        tool_report_reader(reader);
        report_traces(traces, reader);
        if (!verdict->fit && strcmp(result_format(), "text") != 0)
                tool_warn("no probabilities are shown: the capture is %s", verdict->judgement);
        if (!find_and_write_graph(traces, reader, verdict, arguments, &status, &error))
                return tool_fail(error);
        return status;
}
