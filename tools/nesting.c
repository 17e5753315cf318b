/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel nesting TRACE: the nesting algorithm, from a trace to ranked path patterns.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "inference/model/tuning.h"
#include "nesting/models.h"
#include "nesting/moved-messages.h"
#include "nesting/nesting.h"
#include "nesting/windows.h"
#include "ranks/find-together.h"
#include "tools/nesting-report.h"
#include "tools/result.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"
#include "write/write-calls.h"

static struct {
        NestingOptions nesting;
        SiblingOrder siblings;
        char *method, *effort, *order, *calls, *explain, *learn, *model;
        const char *of_paper; /* an option that was given and needs --method paper */
        gboolean cheat, no_fold, no_requests;
        gint threads;
} options = { .nesting = NESTING_DEFAULTS };

static gboolean parse_penalty(const char *option, const char *value, gpointer data, GError **error)
{
        NestingOptions *o = &options.nesting;
        char rest;

        (void)option;
        (void)data;
        options.of_paper = "--penalty";
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
        options.nesting.max_offset = options.nesting.window == 0 ? 0
                                                                 : MAX(options.nesting.max_offset,
                                                                       options.nesting.window);
        /* Sums of a time and twice the window must fit 64 bits. */
        return options.nesting.window <= G_GINT64_CONSTANT(86400000000000) ||
               usage_error(error, value, "a skew window of at most a day");
}

/* --window or --max-call. */
static gboolean parse_span(const char *option, const char *value, gpointer data, GError **error)
{
        gboolean window = !strcmp(option, "--window");
        gint64 *ns = window ? &options.nesting.span : &options.nesting.max_call;

        (void)data;
        if (!tool_duration(value, ns, error))
                return FALSE;
        return (*ns > 0 && *ns <= G_GINT64_CONSTANT(31536000000000000)) ||
               usage_error(error, value,
                           window ? "a window of more than 0s, at most a year"
                                  : "a duration of more than 0s, at most a year");
}

static gboolean parse_smooth(const char *option, const char *value, gpointer data, GError **error)
{
        char *end;

        (void)option;
        (void)data;
        options.of_paper = "--smooth";
        options.nesting.smooth = g_ascii_strtod(value, &end);
        return (end != value && !*end && options.nesting.smooth >= 0 &&
                options.nesting.smooth <= 100) ||
               usage_error(error, value, "a standard deviation of 0 to 100 bins");
}

static const char *methods[N_NESTING_METHODS + 1]; /* nesting_list_methods() */
/* The work that a call is worth, of the default. */
static const char *const efforts[] = { "low", "normal", "high", NULL };
static const char *const effort_tunings[] = { "effort=0.125", "effort=1", "effort=8" };

static const char *const sibling_orders[] = { "multiset", "strict", NULL };

static const ToolChoice choices[] = { { "--method", &options.method, methods },
                                      { "--effort", &options.effort, efforts },
                                      { "--sibling-order", &options.order, sibling_orders },
                                      { .option = NULL } };

static gboolean parse_tune(const char *option, const char *value, gpointer data, GError **error)
{
        (void)option;
        (void)data;
        return tuning_set(value, error);
}

static const GOptionEntry entries[] = {
        { "method", 0, 0, G_OPTION_ARG_STRING, &options.method, "joint (default), paper or oracle",
          "METHOD" },
        { "effort", 0, 0, G_OPTION_ARG_STRING, &options.effort,
          "low, normal (default) or high (joint)", "EFFORT" },
        { "no-requests", 0, 0, G_OPTION_ARG_NONE, &options.no_requests,
          "Keep only patterns in the database", NULL },
        { "calls", 0, 0, G_OPTION_ARG_FILENAME, &options.calls,
          "Write a line for each call, with its parent", "FILE" },
        { "explain", 0, 0, G_OPTION_ARG_STRING, &options.explain,
          "Show the candidate parents of a call", "CALL" },
        { "penalty", 0, 0, G_OPTION_ARG_CALLBACK, parse_penalty,
          "Exponents of the child penalties (default 2,0,0)", "X,Y,Z" },
        { "cheat", 0, 0, G_OPTION_ARG_NONE, &options.cheat,
          "Take true parents from the trace, for ravel score", NULL },
        { "tune", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_CALLBACK, parse_tune, NULL, NULL },
        { "skew-window", 0, 0, G_OPTION_ARG_CALLBACK, parse_window,
          "How far clocks may disagree (default 1s)", "DURATION" },
        { "max-call", 0, 0, G_OPTION_ARG_CALLBACK, parse_span, "Leave out longer calls",
          "DURATION" },
        { "window", 0, 0, G_OPTION_ARG_CALLBACK, parse_span,
          "Report on each stretch of time by itself", "DURATION" },
        { "smooth", 0, 0, G_OPTION_ARG_CALLBACK, parse_smooth,
          "Smooth delays by BINS bins (default 0)", "BINS" },
        { "sibling-order", 0, 0, G_OPTION_ARG_STRING, &options.order,
          "strict: patterns differ by the order of calls", "ORDER" },
        { "learn", 0, 0, G_OPTION_ARG_FILENAME, &options.learn,
          "Write the model learned of each node (joint)", "MODEL" },
        { "model", 0, 0, G_OPTION_ARG_FILENAME, &options.model,
          "Use this model (see --learn); learn nothing", "MODEL" },
        { "no-fold", 0, 0, G_OPTION_ARG_NONE, &options.no_fold, "Do not fold clients into one node",
          NULL },
        { "threads", 'j', 0, G_OPTION_ARG_INT, &options.threads,
          "Use N threads (default: all processors)", "N" },
        G_OPTION_ENTRY_NULL
};

/* --- reading --------------------------------------------------------------- */

/* MessageNext; data: the nesting. */
static gboolean add_to_nesting(gpointer data, const Message *message, GError **error)
{
        return nesting_add(data, message, error);
}

static Nesting *read_trace_calls(TraceReader *reader, NodeTable *nodes, GError **error)
{
        g_autoptr(Nesting) nesting = nesting_new(nodes, &options.nesting);
        g_autoptr(MovedMessages) moved =
                moved_messages_new(nodes, &options.nesting, add_to_nesting, nesting);
        gboolean begun = FALSE;
        char *const *facts;
        guint n_facts;
        Message message;
        int status;

        while ((status = trace_reader_next(reader, &message, error)) != 0) {
                if (status < 0) {
                        if (!tool_sort_trace(reader, error))
                                return NULL;
                        nesting_free(nesting);
                        nesting = nesting_new(nodes, &options.nesting);
                        moved_messages_free(moved);
                        moved = moved_messages_new(nodes, &options.nesting, add_to_nesting,
                                                   nesting);
                        begun = FALSE;
                        continue;
                }
                if (!begun) {
                        facts = trace_reader_facts(reader, &n_facts);
                        if (!moved_messages_begin(moved, facts, n_facts, error))
                                return NULL;
                        nesting_set_clocks(nesting,
                                           moved_messages_trace_clocks(moved, facts, n_facts));
                        nesting_set_ids(nesting, call_connections_by_id(facts, n_facts));
                }
                begun = TRUE;
                if (!moved_messages_add(moved, &message, error))
                        return NULL;
        }
        if (!moved_messages_finish(moved, error))
                return NULL;
        facts = trace_reader_facts(reader, &n_facts);
        nesting_set_clocks(nesting, moved_messages_trace_clocks(moved, facts, n_facts));
        nesting_set_moved(nesting, moved_messages_clocks(moved));
        nesting_set_whole(nesting, known_calls_are_whole(facts, n_facts));
        return g_steal_pointer(&nesting);
}

/* Reports missing and repeated path=. FALSE with error set if no call has one. */
static gboolean report_truth(const KnownCalls *calls, const TruthCounts *truth,
                             const TraceReader *reader, GError **error)
{
        const TruePathCounts *paths = &calls->paths;
        const MatchCounts *counts = call_matcher_counts(calls->matcher);
        const guint64 n_calls = counts->pairs;

        if (!paths->calls && (counts->pairs || counts->lone_calls))
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: no call has the attribute path=, expected the true position "
                                  "of each, such as path=17.1.2",
                                  trace_reader_name(reader));
        if (paths->returns_without)
                tool_warn("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                          " returns have no path=, expected that of their call",
                          paths->returns_without, paths->returns + paths->returns_without);
        if (truth->without)
                tool_warn("%u of %" G_GUINT64_FORMAT
                          " calls have no path=: each is the root of a path",
                          truth->without, n_calls);
        if (truth->lost)
                tool_warn("%u of %" G_GUINT64_FORMAT
                          " calls have no parent in this trace and start paths of their own: the "
                          "parent by path= is missing, has no return or calls another node",
                          truth->lost, n_calls);
        if (truth->repeated)
                tool_warn("%u of %" G_GUINT64_FORMAT
                          " calls repeat the path= of an earlier call, which gets all children",
                          truth->repeated, n_calls);
        return TRUE;
}

/* --- results --------------------------------------------------------------- */

static char *model_id; /* the id of the model of --model; NULL */

static void report_unknown(const Nesting *nesting)
{
        guint n = nesting_unknown_nodes(nesting);

        if (n > 0)
                tool_warn("%u of the nodes that are called and make calls %s unknown to %s: the "
                          "parents of their calls are guesses",
                          n, n == 1 ? "is" : "are", options.model);
}

static const char *method_name(void)
{
        return nesting_methods[options.nesting.method].name;
}

/* n: NULL with --window. */
static Store *open_store(const NodeTable *nodes, const Nesting *n, PathSet *set,
                         const char *arguments, GError **error)
{
        g_autofree char *params = nesting_report_parameters(
                &options.nesting, options.siblings, nodes, path_set_summary(set)->clocks, n);
        g_autofree char *of_model =
                model_id ? g_strdup_printf("%smodel=%s of %s\n", params, model_id,
                                           options.nesting.model->trace)
                         : g_strdup(params);
        StoreRun run = { .arguments = arguments,
                         .parameters = of_model,
                         .patterns_only = options.no_requests };

        return result_open_store(set, &run, error);
}

static gboolean write_explanation(const Nesting *nesting, gboolean probable, GError **error)
{
        g_autoptr(OutputFile) out = result_open(FALSE, error);
        g_autoptr(GString) text = g_string_new(NULL);

        explanations_write(nesting_explanations(nesting), nesting_calls(nesting),
                           nesting_parents_from(&options.nesting) == PARENTS_JOINT, probable,
                           result_columns(), text);
        return out && output_file_take(out, text, error) &&
               output_file_close(g_steal_pointer(&out), error);
}

static gboolean find_and_write_paths(Nesting *nesting, TraceReader *reader, const char *arguments,
                                     int *status, GError **error)
{
        const KnownCalls *known = nesting_calls(nesting);
        g_autoptr(Verdict) verdict = nesting_report_judge(known, reader);
        g_autoptr(PathSet) set = path_set_new(known->nodes, options.siblings);
        g_autoptr(Store) store = NULL;
        g_autoptr(OutputFile) calls = NULL;

        path_set_summary(set)->method = method_name();
        path_set_summary(set)->model = model_id;
        path_set_summary(set)->clocks = nesting_clocks(nesting);
        path_set_summary(set)->verdict = verdict;
        if (!verdict->fit && strcmp(result_format(), "text") != 0)
                tool_warn("no probabilities are shown: the capture is %s", verdict->judgement);
        tool_progress_stage("finding paths");
        if ((result_has_store() &&
             !(store = open_store(known->nodes, nesting, set, arguments, error))) ||
            !nesting_find_paths(nesting, set, error) ||
            (store && !result_close_store(g_steal_pointer(&store), reader, error)))
                return FALSE;
        tool_progress_stage(NULL);
        *status = result_status(verdict, path_set_instances(set));
        if (options.calls &&
            (!(calls = calls_open(options.calls, options.nesting.span > 0, error)) ||
             !calls_write(known, set, 0, calls, error) ||
             !output_file_close(g_steal_pointer(&calls), error)))
                return FALSE;
        return options.explain ? write_explanation(nesting, verdict->fit, error)
                               : result_write(set, error);
}

/* --- window by window ------------------------------------------------------- */

typedef struct {
        NodeTable *nodes; /* borrowed */
        Windows *windows;
        MovedMessages *moved;
        PathSet *set; /* of the current window */
        guint64 n_windows;
        OutputFile *out, *calls;
        PathSet *all; /* of all windows, for the store; NULL: no store */
        Store *store; /* NULL until the first message is added */
        const char *arguments;
        Verdict *verdict; /* known when the trace is read */
} Reports;

static void reports_clear(Reports *r)
{
        windows_free(r->windows);
        moved_messages_free(r->moved);
        store_free(r->store);
        path_set_free(r->set);
        path_set_free(r->all);
        verdict_free(r->verdict);
        output_file_free(r->out);
        output_file_free(r->calls);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Reports, reports_clear)

/* Adds the paths of a window to the set of all windows, for the store. */
static gboolean add_to_all(gpointer data, guint64 number, guint32 pattern, const PathCall *calls,
                           const guint32 *slot, guint32 n, double probability, GError **error)
{
        Reports *r = data;
        g_autofree PathCall *copy = g_memdup2(calls, n * sizeof *calls);

        (void)number;
        (void)pattern;
        (void)slot;
        (void)probability;
        const KnownCalls *known = nesting_calls(windows_run(r->windows));
        path_set_set_fold(r->all, known->roles.fold);
        path_set_set_labels(r->all, known->labels.names);
        path_set_set_tags(r->all, known->tags.written);
        return path_set_add(r->all, copy, n, error);
}

static PathSet *new_window_set(Reports *r)
{
        PathSet *set = path_set_new(r->nodes, options.siblings);

        path_set_summary(set)->method = method_name();
        if (r->moved && r->n_windows == 0)
                path_set_summary(set)->clocks = moved_messages_clocks(r->moved);
        if (r->all)
                path_set_set_sink(set, add_to_all, r);
        return set;
}

static PathSet *write_window(gpointer data, PathSet *set, guint64 first_instance, GError **error)
{
        Reports *r = data;

        tool_progress_read(
                0); /* clears the progress line: the result may go to the same terminal */
        if ((r->calls && (!calls_write(nesting_calls(windows_run(r->windows)), set, first_instance,
                                       r->calls, error) ||
                          !output_file_flush(r->calls, error))) ||
            !result_write_window(set, r->n_windows > 0, r->out, error))
                return NULL;
        if (r->all)
                path_set_summary(r->all)->cut_instances += path_set_summary(set)->cut_instances;
        r->n_windows++;
        path_set_free(r->set);
        return r->set = new_window_set(r);
}

static void summarise_all(const Reports *r)
{
        PathSetSummary *summary = path_set_summary(r->all);

        nesting_summarise(windows_run(r->windows), r->all);
        summary->method = method_name();
        summary->verdict = r->verdict;
}

static void on_interrupt(int number)
{
        signal(number, output_files_die); /* on the second signal */
}

/* Ctrl-C, or the end of the terminal, signals all programs of a pipeline. The writer of the trace
 * ends it, and this program still reports everything up to there. A second Ctrl-C ends this
 * program, too. */
static void leave_interrupt_to_writer(void)
{
        struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };

        sigaction(SIGINT, &action, NULL);
        signal(SIGHUP, SIG_IGN);
}

/* Warns after the windows are written, because the last facts come too late for them. */
static void report_verdict(const Verdict *verdict)
{
        if (!verdict->fit)
                tool_warn("the capture is %s: ignore the probabilities above", verdict->judgement);
}

/* The store's parameters say which clocks were put right, so it waits for that. */
static gboolean open_all(Reports *r, GError **error)
{
        return !r->all || r->store ||
               (r->store = open_store(r->nodes, NULL, r->all, r->arguments, error));
}

/* MessageNext; data: the reports. */
static gboolean add_to_windows(gpointer data, const Message *message, GError **error)
{
        Reports *r = data;

        return open_all(r, error) && windows_add(r->windows, message, error);
}

static gboolean read_windows(Reports *r, TraceReader *reader, GError **error)
{
        gboolean begun = FALSE;
        Message message;
        int status;

        trace_reader_take_late(reader);
        while ((status = trace_reader_next(reader, &message, error)) > 0) {
                if (!begun) {
                        guint n;
                        char *const *facts = trace_reader_facts(reader, &n);

                        nesting_set_ids(windows_run(r->windows), call_connections_by_id(facts, n));
                        if (!moved_messages_begin(r->moved, facts, n, error))
                                return FALSE;
                }
                begun = TRUE;
                if (!moved_messages_add(r->moved, &message, error))
                        return FALSE;
        }
        return status == 0 && moved_messages_finish(r->moved, error) && open_all(r, error) &&
               windows_finish(r->windows, error);
}

static void report_clocks(const GArray *clocks, const NodeTable *nodes)
{
        result_report_clocks(clocks, nodes,
                             "some calls fit into no other, as with wrong clocks, but nothing "
                             "proves it and no clock was moved",
                             "--skew-window 1us"); /* the smallest window */
}

static gboolean report_windows(TraceReader *reader, NodeTable *nodes, const char *arguments,
                               int *exit_status, GError **error)
{
        g_auto(Reports) r = { .nodes = nodes, .arguments = arguments };
        const KnownCalls *known;

        r.moved = moved_messages_new(nodes, &options.nesting, add_to_windows, &r);
        if (result_has_store()) {
                r.all = path_set_new(nodes, options.siblings);
                path_set_summary(r.all)->clocks = moved_messages_clocks(r.moved);
        }
        if (!(r.out = result_open(TRUE, error)) ||
            (options.calls &&
             !(r.calls = calls_open(options.calls, options.nesting.span > 0, error))))
                return FALSE;
        r.set = new_window_set(&r);
        r.windows = windows_new(nodes, &options.nesting, r.set, write_window, &r);
        known = nesting_calls(windows_run(r.windows));
        if (!read_windows(&r, reader, error))
                return FALSE;
        tool_report_reader(reader);
        if (known->key &&
            !report_truth(known, nesting_truth(windows_run(r.windows)), reader, error))
                return FALSE;
        nesting_report_matching(known, reader);
        report_clocks(moved_messages_clocks(r.moved), nodes);
        r.verdict = nesting_report_judge(known, reader);
        report_verdict(r.verdict);
        *exit_status = result_status(r.verdict, nesting_instances(windows_run(r.windows)));
        if (r.store) {
                summarise_all(&r);
                if (!result_close_store(g_steal_pointer(&r.store), reader, error))
                        return FALSE;
        }
        return (!r.calls || output_file_close(g_steal_pointer(&r.calls), error)) &&
               output_file_close(g_steal_pointer(&r.out), error);
}

/* Checks --window and --explain, which need parents that are found. */
static gboolean check_found_parents(GError **error)
{
        gboolean cheat = nesting_parents_from(&options.nesting) == PARENTS_READ;
        gboolean windows = options.nesting.span > 0;

        if (windows && (cheat || !strcmp(result_format(), "svg")))
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "--window with %s: expected parents that are found, and a "
                                  "format other than svg",
                                  cheat ? "--cheat" : "--format svg");
        if (options.explain && (windows || strcmp(result_format(), "text") != 0 || cheat))
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "--explain with %s: expected parents that are found in the "
                                  "whole trace, and text",
                                  windows                                ? "--window"
                                  : strcmp(result_format(), "text") != 0 ? "--format"
                                                                         : "--cheat");
        return TRUE;
}

static gboolean check_model_options(GError **error)
{
        gboolean both = options.learn && options.model;

        if ((!options.learn && !options.model) ||
            (options.nesting.method == METHOD_JOINT && options.nesting.span == 0 && !both))
                return TRUE;
        return ravel_fail(error, RAVEL_ERROR_USAGE,
                          "%s with %s: expected --method joint and the whole trace",
                          options.learn ? "--learn" : "--model",
                          options.nesting.span > 0 ? "--window"
                          : both                   ? "--model"
                          : options.cheat          ? "--cheat"
                                                   : "--method");
}

static gboolean check_nesting_options(GError **error)
{
        options.nesting.method =
                options.cheat ? METHOD_CHEAT
                              : (NestingMethod)tool_choice_index(options.method, methods);
        if (options.effort &&
            !tuning_set(effort_tunings[tool_choice_index(options.effort, efforts)], error))
                return FALSE;
        /* The paper's remedy for clocks is the window alone. */
        if (options.nesting.method == METHOD_PAPER && options.nesting.window > 0)
                options.nesting.max_offset = 0;
        options.siblings = tool_choice_index(options.order, sibling_orders) ? SIBLINGS_STRICT
                                                                            : SIBLINGS_MULTISET;
        if (options.of_paper && nesting_parents_from(&options.nesting) == PARENTS_JOINT)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "%s: expected --method paper with it",
                                  options.of_paper);
        if (options.no_requests && !result_has_store())
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "--no-requests needs a database: expected -o FILE with it");
        if (!check_found_parents(error) || !check_model_options(error) ||
            !tool_threads(options.threads, &options.nesting.threads, error))
                return FALSE;
        options.nesting.fold = !options.no_fold;
        options.nesting.progress = options.nesting.span > 0 ? NULL : tool_progress_work;
        options.nesting.keep =
                (result_has_store() && !options.no_requests) || options.calls || options.explain;
        options.nesting.places = options.calls != NULL;
        return result_check_options(error) &&
               (!options.calls || run_files_write("--calls", options.calls, error)) &&
               (!options.learn || run_files_write("--learn", options.learn, error)) &&
               (!options.model || run_files_read(options.model, error));
}

/* Checks the options of ravel-mpi: several processes find the parents of a whole trace, jointly. */
static gboolean check_together(int argc, char **argv, GError **error)
{
        const char *alone = options.cheat                            ? "--cheat"
                            : options.nesting.method == METHOD_PAPER ? "--method paper"
                            : options.nesting.method != METHOD_JOINT ? "--method oracle"
                            : options.nesting.span > 0               ? "--window"
                            : options.explain                        ? "--explain"
                            : options.learn                          ? "--learn"
                            : options.model                          ? "--model"
                            : argc == 2 && !strcmp(argv[1], "-")     ? "-"
                                                                     : NULL;

        return !alone ||
               ravel_fail(error, RAVEL_ERROR_USAGE,
                          "%s is for one process: expected ravel nesting %s", alone, alone);
}

static gboolean writes_result(void)
{
        return !options.nesting.peers || options.nesting.peers->mine == 0;
}

/* A number that differs if two traces have different calls. */
static guint64 digest_of_calls(const KnownCalls *k)
{
        guint64 digest = hash_word(HASH_SEED, k->pairs.n);

        for (guint32 i = 0; i < k->pairs.n; i++) {
                digest = hash_word(digest, (guint64)k->pairs.at_caller[i].from);
                digest = hash_word(digest, (guint64)k->pairs.at_caller[i].to);
                digest = hash_word(digest, k->pairs.edge[i]);
        }
        return digest;
}

/* Whether all processes have read the same calls. */
static gboolean agree_on_calls(const Nesting *nesting, GError **error)
{
        return options.nesting.peers->agree(nesting ? digest_of_calls(nesting_calls(nesting)) : 0,
                                            error);
}

/* Finds and writes the paths of the whole trace. reader: NULL with peers if it could not be opened,
 * with error set. */
static gboolean report_whole_trace(TraceReader *reader, NodeTable *nodes, const char *arguments,
                                   int *exit_status, GError **error)
{
        g_autoptr(Nesting) nesting = NULL;

        tool_progress_stage("reading");
        nesting = reader ? read_trace_calls(reader, nodes, error) : NULL;
        if (options.nesting.peers ? !agree_on_calls(nesting, error) : !nesting)
                return FALSE;
        tool_report_reader(reader);
        if (options.explain &&
            !explain_find(nesting, options.explain, trace_reader_name(reader), error))
                return FALSE;
        tool_progress_stage("finding parents");
        nesting_find_parents(nesting);
        tool_progress_stage(NULL);
        *exit_status = EXIT_DONE;
        if (!writes_result())
                return TRUE;
        if (nesting_calls(nesting)->key &&
            !report_truth(nesting_calls(nesting), nesting_truth(nesting), reader, error))
                return FALSE;
        report_unknown(nesting);
        if (options.learn && !nesting_model_save(options.learn, options.nesting.learn,
                                                 trace_reader_name(reader), error))
                return FALSE;
        nesting_report_matching(nesting_calls(nesting), reader);
        report_clocks(nesting_clocks(nesting), nodes);
        return find_and_write_paths(nesting, reader, arguments, exit_status, error);
}

static void use_peers(const Peers *peers)
{
        options.nesting.peers = peers;
        options.nesting.find_together = find_tasks_together;
        if (!options.threads)
                options.nesting.threads = 1; /* other processes use the other processors */
}

int tool_nesting(int argc, char **argv)
{
        return tool_nesting_together(argc, argv, NULL);
}

int tool_nesting_together(int argc, char **argv, const Peers *peers)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autofree char *arguments = g_strjoinv(" ", argv);
        g_autoptr(TraceReader) reader = NULL;
        GError *error = NULL;
        int status;

        nesting_list_methods(methods);
        result_add_options();
        tool_add_reader_options();
        if (!tool_parse("TRACE - find causal paths", entries, choices, &argc, &argv, &status))
                return status;
        if (!check_nesting_options(&error) || (peers && !check_together(argc, argv, &error)))
                return tool_fail(error);
        if (peers && peers->n > 1)
                use_peers(peers);
        if (options.model &&
            !nesting_model_load(options.model, &options.nesting, &model_id, &error))
                return tool_fail(error);
        if (options.learn)
                options.nesting.learn = models_new();
        reader = tool_open_trace(argc, argv, nodes, result_has_store() && writes_result(),
                                 peers ? NULL : &(RunNeeds){ .draws = result_is_drawn() }, &error);
        if (!reader && !options.nesting.peers)
                return tool_fail(error);
        if (options.nesting.span > 0) {
                tool_progress_start((const char *const *)argv + 1, 1, TRUE);
                if (!strcmp(argv[1], "-"))
                        leave_interrupt_to_writer();
        }
        if (!(options.nesting.span > 0 ? report_windows : report_whole_trace)(
                    reader, nodes, arguments, &status, &error))
                return tool_fail(error);
        return status;
}
