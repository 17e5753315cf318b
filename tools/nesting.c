/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel nesting TRACE: the nesting algorithm, from a trace to ranked path
 * patterns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nesting/nesting.h"
#include "tools/result.h"
#include "tools/tool.h"
#include "tracefmt/error.h"
#include "tracefmt/output-file.h"

static struct {
        NestingOptions nesting;
        SiblingOrder siblings;
        char *method, *calls;
        gboolean no_fold, no_requests;
} options = { .nesting = NESTING_DEFAULTS };

static gboolean parse_penalty(const char *option, const char *value, gpointer data, GError **error)
{
        NestingOptions *o = &options.nesting;
        char rest;

        (void)option;
        (void)data;
        if (sscanf(value, "%lf,%lf,%lf%c", &o->overlap, &o->same, &o->any, &rest) != 3 ||
            !(o->overlap >= 0 && o->same >= 0 && o->any >= 0))
                return usage_error(error, value, "three exponents X,Y,Z of 0 or more");
        return TRUE;
}

static gboolean parse_window(const char *option, const char *value, gpointer data, GError **error)
{
        (void)option;
        (void)data;
        if (!tool_duration(value, &options.nesting.window, error))
                return FALSE;
        /* Sums of a time and twice the window must fit 64 bits. */
        return options.nesting.window <= G_GINT64_CONSTANT(86400000000000) ||
               usage_error(error, value, "a skew window of at most a day");
}

static gboolean parse_smooth(const char *option, const char *value, gpointer data, GError **error)
{
        char *end;

        (void)option;
        (void)data;
        options.nesting.smooth = g_ascii_strtod(value, &end);
        return (end != value && !*end && options.nesting.smooth >= 0 &&
                options.nesting.smooth <= 100) ||
               usage_error(error, value, "a standard deviation of 0 to 100 bins");
}

static gboolean parse_siblings(const char *option, const char *value, gpointer data, GError **error)
{
        (void)option;
        (void)data;
        options.siblings = !strcmp(value, "strict") ? SIBLINGS_STRICT : SIBLINGS_MULTISET;
        return !strcmp(value, "strict") || !strcmp(value, "multiset") ||
               usage_error(error, value, "multiset or strict");
}

static const GOptionEntry entries[] = {
        { "method", 0, 0, G_OPTION_ARG_STRING, &options.method,
          "How parents are found: paper (Figure 4 of the paper, the default) or joint (all calls "
          "of a node together)",
          "METHOD" },
        { "no-requests", 0, 0, G_OPTION_ARG_NONE, &options.no_requests,
          "Keep patterns only in the database, not every path instance and call", NULL },
        { "calls", 0, 0, G_OPTION_ARG_FILENAME, &options.calls,
          "Write a line for each call, with its parent, to FILE", "FILE" },
        { "penalty", 0, 0, G_OPTION_ARG_CALLBACK, parse_penalty,
          "Exponents of the overlapping-, same- and generic-child penalties (default 2,0,0)",
          "X,Y,Z" },
        { "cheat", 0, 0, G_OPTION_ARG_NONE, &options.nesting.cheat,
          "Take each call's true parent from the trace's path= (for ravel score)", NULL },
        { "skew-window", 0, 0, G_OPTION_ARG_CALLBACK, parse_window,
          "How far clocks may disagree where it matters (default 0s)", "DURATION" },
        { "smooth", 0, 0, G_OPTION_ARG_CALLBACK, parse_smooth,
          "Smooth the scoreboard with a Gaussian of so many bins (default 0)", "BINS" },
        { "sibling-order", 0, 0, G_OPTION_ARG_CALLBACK, parse_siblings,
          "strict: the order of calls is part of a pattern's shape (default multiset)", "ORDER" },
        { "no-fold", 0, 0, G_OPTION_ARG_NONE, &options.no_fold,
          "Do not make one node of the clients", NULL },
        G_OPTION_ENTRY_NULL
};

/* --- reading --------------------------------------------------------------- */

static Nesting *read_calls(TraceReader *reader, NodeTable *nodes, GError **error)
{
        g_autoptr(Nesting) nesting = nesting_new(nodes, &options.nesting);
        Message message;
        int status;

        while ((status = trace_reader_next(reader, &message, error)) != 0) {
                if (status < 0) {
                        if (!tool_sort_trace(reader, error))
                                return NULL;
                        nesting_free(nesting);
                        nesting = nesting_new(nodes, &options.nesting);
                        continue;
                }
                if (!nesting_add(nesting, &message, error))
                        return NULL;
        }
        return g_steal_pointer(&nesting);
}

/* What a user should know before trusting the patterns. */
static void report_matching(const Nesting *nesting, const TraceReader *reader)
{
        const MatchCounts *counts = call_matcher_counts(nesting->matcher);
        guint64 calls = counts->pairs + counts->lone_calls;

        if (!counts->messages) {
                tool_warn("%s: no messages in it", trace_reader_name(reader));
        } else if (!counts->pairs && !calls && !counts->lone_returns) {
                tool_warn("%s: no calls, only %" G_GUINT64_FORMAT
                          " one-way messages: nesting needs calls and returns, ravel convolution "
                          "does not",
                          trace_reader_name(reader), counts->one_way);
        } else if (!counts->pairs && !counts->lone_returns) {
                tool_warn("%s: none of %" G_GUINT64_FORMAT " calls has a return: capture where "
                          "both directions pass",
                          trace_reader_name(reader), calls);
        } else if (!counts->pairs && !calls) {
                tool_warn("%s: none of %" G_GUINT64_FORMAT " returns has a call: capture where "
                          "both directions pass",
                          trace_reader_name(reader), counts->lone_returns);
        } else if (!counts->pairs) {
                tool_warn("%s: none of %" G_GUINT64_FORMAT " calls and %" G_GUINT64_FORMAT
                          " returns match: a return must have its call's id, and go from its "
                          "receiver to its sender",
                          trace_reader_name(reader), counts->lone_calls, counts->lone_returns);
        } else {
                if (counts->lone_calls)
                        tool_warn("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                  " calls are left out: they have no return",
                                  counts->lone_calls, calls);
                if (counts->lone_returns)
                        tool_warn("%" G_GUINT64_FORMAT " returns are left out: they have no call",
                                  counts->lone_returns);
        }
        if (nesting->folded)
                tool_warn("%u clients are shown as one node, \"client\" (--no-fold keeps them)",
                          nesting->folded);
}

/* FALSE with error set where there is nothing to cheat by. */
static gboolean report_truth(const Nesting *n, const TraceReader *reader, GError **error)
{
        const TruthCounts *truth = &n->truth;
        const MatchCounts *counts = call_matcher_counts(n->matcher);

        if (!truth->calls && (counts->pairs || counts->lone_calls)) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: no call has the attribute path=, expected the true position of "
                            "each, such as path=17.1.2",
                            trace_reader_name(reader));
                return FALSE;
        }
        if (truth->returns_without)
                tool_warn("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                          " returns have no path=, expected that of their call",
                          truth->returns_without, truth->returns + truth->returns_without);
        if (truth->calls_without)
                tool_warn("%u of %u calls have no path=: each is the root of a path",
                          truth->calls_without, n->calls.n);
        if (truth->lost)
                tool_warn("%u of %u calls are roots for want of their parent: the call that path= "
                          "puts above them is not there, has no return or goes elsewhere",
                          truth->lost, n->calls.n);
        if (truth->repeated)
                tool_warn("%u of %u calls have the path= of an earlier call, which alone has "
                          "children",
                          truth->repeated, n->calls.n);
        return TRUE;
}

/* --- --calls --------------------------------------------------------------- */

static void put_time(GString *line, gint64 time)
{
        guint64 t = time < 0 ? -(guint64)time : (guint64)time;

        g_string_append_printf(line, "%s%" G_GUINT64_FORMAT ".%09" G_GUINT64_FORMAT,
                               time < 0 ? "-" : "", t / 1000000000, t % 1000000000);
}

static void put_call(GString *line, const Nesting *n, guint32 call)
{
        guint32 length;
        const char *id = nesting_call_id(n, call, &length);

        g_string_append_printf(line, "%s\t%s\t",
                               node_table_written(n->nodes, nesting_edge(n, call)->caller),
                               node_table_written(n->nodes, nesting_edge(n, call)->callee));
        g_string_append_len(line, length ? id : "-", MAX(length, 1));
}

/* A double in the fewest digits that say it. */
static void put_probability(GString *line, float probability)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append(line, g_ascii_formatd(text, sizeof text, "%.6g", probability));
}

static gboolean write_calls(const Nesting *n, const PathSet *set, const CallPlace *places,
                            GError **error)
{
        static const char header[] =
                "call_time\treturn_time\tcaller\tcallee\tid\tparent_call_time\tparent_caller\t"
                "parent_callee\tparent_id\tinstance\tpattern\tprobability\n";
        g_autoptr(OutputFile) out = output_file_new(options.calls, FALSE, error);
        g_autofree guint32 *order = g_new(guint32, n->calls.n);
        g_autoptr(GString) line = g_string_new(NULL);

        if (!out || !output_file_write(out, header, sizeof header - 1, error))
                return FALSE;
        for (guint32 i = 0; i < n->calls.n; i++)
                order[i] = i;
        nesting_sort_calls(n, order, n->calls.n);
        for (guint32 i = 0; i < n->calls.n; i++) {
                guint32 call = order[i], parent = n->calls.cause[call].parent;
                const CallPlace *place = &places[call];

                g_string_truncate(line, 0);
                put_time(line, n->calls.at_caller[call].from);
                g_string_append_c(line, '\t');
                put_time(line, n->calls.at_caller[call].to);
                g_string_append_c(line, '\t');
                put_call(line, n, call);
                g_string_append_c(line, '\t');
                if (parent == NO_PARENT) {
                        g_string_append(line, "-\t-\t-\t-");
                } else {
                        put_time(line, n->calls.at_caller[parent].from);
                        g_string_append_c(line, '\t');
                        put_call(line, n, parent);
                }
                if (place->pattern == NO_PATTERN)
                        g_string_append(line, "\t-\t-\t"); /* cut by the capture */
                else
                        g_string_append_printf(
                                line, "\t%" G_GUINT64_FORMAT "\t%016" G_GINT64_MODIFIER "x\t",
                                place->instance, path_set_pattern(set, place->pattern)->id);
                put_probability(line, parent == NO_PARENT ? 1 : n->calls.cause[call].probability);
                g_string_append_c(line, '\n');
                if (!output_file_write(out, line->str, line->len, error))
                        return FALSE;
        }
        return output_file_close(g_steal_pointer(&out), error);
}

/* --- results --------------------------------------------------------------- */

static const char *method(void)
{
        return options.nesting.cheat ? "cheat" : options.nesting.joint ? "joint" : "paper";
}

static char *parameters(void)
{
        const NestingOptions *o = &options.nesting;

        return g_strdup_printf("method=%s\npenalty=%g,%g,%g\nskew_window_ns=%" G_GINT64_FORMAT
                               "\nsmooth=%g\nfold=%d\nsibling_order=%s\n",
                               method(), o->overlap, o->same, o->any, o->window, o->smooth, o->fold,
                               options.siblings == SIBLINGS_STRICT ? "strict" : "multiset");
}

static gboolean find_and_write(Nesting *nesting, TraceReader *reader, const char *arguments,
                               GError **error)
{
        g_autoptr(PathSet) set = path_set_new(nesting->nodes, options.siblings);
        g_autoptr(Store) store = NULL;
        g_autofree CallPlace *places = NULL;
        g_autofree char *params = parameters();
        StoreRun run = { .arguments = arguments,
                         .parameters = params,
                         .patterns_only = options.no_requests };

        path_set_summary(set)->method = method();
        if (result_has_store() && !(store = result_open_store(set, reader, &run, error)))
                return FALSE;
        if (options.calls)
                places = g_new(CallPlace, nesting->calls.n);
        return nesting_find_paths(nesting, set, places, error) &&
               (!store || store_finish(g_steal_pointer(&store), error)) &&
               (!places || write_calls(nesting, set, places, error)) && result_write(set, error);
}

static gboolean check_options(GError **error)
{
        options.nesting.joint = options.method && !strcmp(options.method, "joint");
        if (options.method && !options.nesting.joint && strcmp(options.method, "paper"))
                return usage_error(error, options.method, "--method paper or joint");
        if (options.no_requests && !result_has_store()) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                            "--no-requests is about the database: expected -o FILE with it");
                return FALSE;
        }
        options.nesting.fold = !options.no_fold;
        options.nesting.keep = (result_has_store() && !options.no_requests) || options.calls;
        return result_check_options(error);
}

int tool_nesting(int argc, char **argv)
{
        g_autoptr(GOptionContext) context = g_option_context_new("TRACE - find causal paths");
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autofree char *arguments = g_strjoinv(" ", argv);
        g_autoptr(TraceReader) reader = NULL;
        g_autoptr(Nesting) nesting = NULL;
        GError *error = NULL;
        int status;

        g_option_context_add_main_entries(context, entries, NULL);
        result_add_options(context);
        tool_add_reader_options(context);
        if (!tool_parse(context, &argc, &argv, &status))
                return status;
        if (!check_options(&error) ||
            !(reader = tool_open_trace(argc, argv, nodes, result_has_store(), &error)) ||
            !(nesting = read_calls(reader, nodes, &error)))
                return tool_fail(error);
        tool_report_reader(reader);
        nesting_find_parents(nesting);
        if (options.nesting.cheat && !report_truth(nesting, reader, &error))
                return tool_fail(error);
        report_matching(nesting, reader);
        if (!find_and_write(nesting, reader, arguments, &error))
                return tool_fail(error);
        return EXIT_DONE;
}
