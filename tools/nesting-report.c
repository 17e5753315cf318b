/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/nesting-report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "calls/forwarded.h"
#include "nesting/models.h"
#include "paths/path-clocks.h"
#include "tools/result.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"
#include "tracefmt/trace-reader.h"

static void report_forwarded(const KnownCalls *calls)
{
        enum { SHOWN = 3 };
        g_autoptr(GArray) forwarded = forwarded_find(calls->matcher);
        const NodeTable *nodes = calls->nodes;

        for (guint i = 0; i < MIN(forwarded->len, SHOWN); i++) {
                const Forwarded *f = &g_array_index(forwarded, Forwarded, i);

                tool_warn(
                        "%" G_GUINT64_FORMAT " of these returns are sent by %s to %s, which calls "
                        "%s: forwarded calls are for convolution",
                        f->answers, node_table_written(nodes, f->answering),
                        node_table_written(nodes, f->caller), node_table_written(nodes, f->callee));
        }
        if (forwarded->len > SHOWN)
                tool_warn("%u other pairs of nodes forward calls in this way",
                          forwarded->len - SHOWN);
}

static void report_haste(const KnownCalls *known)
{
        double percent = 100.0 * (double)known->hasty / (double)MAX(known->children, 1);

        if (known->hasty)
                tool_warn(
                        "%.*f %% of calls were decided in haste: %u requests at a time at node %s",
                        percent < 10, percent, known->most_open,
                        node_table_written(known->nodes, known->busiest));
}

void nesting_report_matching(const KnownCalls *known, const TraceReader *reader)
{
        const char *name = trace_reader_name(reader);
        const MatchCounts *counts = call_matcher_counts(known->matcher);
        guint64 calls = counts->pairs + counts->lone_calls;

        if (counts->linked && !calls && !counts->lone_returns) {
                ; /* messages that continue each other are paths, too */
        } else if (!counts->messages) {
                tool_report_empty(reader);
        } else if (!counts->pairs && !calls && !counts->lone_returns) {
                tool_warn("%s: no calls, only %" G_GUINT64_FORMAT
                          " one-way messages: nesting needs calls and returns, ravel convolution "
                          "does not",
                          name, counts->one_way);
        } else if (!counts->pairs && !counts->lone_returns) {
                tool_warn("%s: none of %" G_GUINT64_FORMAT " calls has a return: capture where "
                          "both directions pass",
                          name, calls);
        } else if (!counts->pairs && !calls) {
                tool_warn("%s: none of %" G_GUINT64_FORMAT " returns has a call: capture where "
                          "both directions pass",
                          name, counts->lone_returns);
        } else if (!counts->pairs) {
                tool_warn("%s: none of %" G_GUINT64_FORMAT " calls and %" G_GUINT64_FORMAT
                          " returns match: a return must have its call's id, and go from its "
                          "receiver to its sender",
                          name, counts->lone_calls, counts->lone_returns);
        } else {
                if (counts->lone_calls > known->silent)
                        tool_warn("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                  " calls are left out: they have no return",
                                  counts->lone_calls - known->silent, calls);
                if (counts->lone_returns)
                        tool_warn("%" G_GUINT64_FORMAT " returns are left out: they have no call",
                                  counts->lone_returns);
        }
        if (counts->lone_returns)
                report_forwarded(known);
        report_haste(known);
        if (counts->one_way && (counts->linked || calls || counts->lone_returns))
                tool_warn("%" G_GUINT64_FORMAT
                          " one-way messages are left out: ravel convolution uses them",
                          counts->one_way);
        if (known->links.lost)
                tool_warn("%" G_GUINT64_FORMAT " messages lay in queues until their paths had been "
                          "written: they start paths of their own",
                          known->links.lost);
        if (known->roles.folded)
                tool_warn("%u clients are shown as one node, \"client\" (--no-fold keeps them)",
                          known->roles.folded);
}

char *nesting_report_parameters(const NestingOptions *o, SiblingOrder siblings,
                                const NodeTable *nodes, const GArray *clocks, const Nesting *n)
{
        g_autoptr(GString) text = g_string_new(NULL);
        gboolean joint = nesting_parents_from(o) == PARENTS_JOINT;

        g_string_printf(text,
                        "method=%s\npenalty=%g,%g,%g\nskew_window_ns=%" G_GINT64_FORMAT
                        "\nsmooth=%g\nfold=%d\nsibling_order=%s\nmax_call_ns=%" G_GINT64_FORMAT
                        "\nwindow_ns=%" G_GINT64_FORMAT "\n",
                        nesting_methods[o->method].name, o->overlap, o->same, o->any, o->window,
                        o->smooth, o->fold, siblings == SIBLINGS_STRICT ? "strict" : "multiset",
                        o->max_call, o->span);
        path_clocks_append_parameters(text, clocks, nodes);
        if (joint && n)
                g_string_append_printf(text, "log_likelihood=%.0f\n",
                                       nesting_log_likelihood(n, FALSE));
        if (joint && n && nesting_methods[o->method].truth)
                g_string_append_printf(text, "true_log_likelihood=%.0f\n",
                                       nesting_log_likelihood(n, TRUE));
        return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Whether the clocks of a node's two sides agree, call by call. */
static void count_both_ends(const CallPairs *c, Fitness *fitness)
{
        const guint all = 1 << CALL_SENT | 1 << CALL_RECV | 1 << RET_SENT | 1 << RET_RECV;

        for (guint32 i = 0; c->both_ends && i < c->n; i++)
                if (c->edge[i] && (c->stamps[i] & all) == all) {
                        fitness->both_ends++;
                        fitness->too_early += c->at_callee[i].from < c->at_caller[i].from ||
                                              c->at_caller[i].to < c->at_callee[i].to;
                }
}

/* A late call begins while its parent is open, and outlasts it. */
static void count_late(const CallPairs *c, Fitness *fitness)
{
        for (guint32 i = 0; c->cause && i < c->n; i++) {
                guint32 parent = c->cause[i].parent;

                fitness->late += parent != NO_PARENT &&
                                 c->at_caller[i].from <= c->at_callee[parent].to &&
                                 c->at_callee[parent].to < c->at_caller[i].to;
        }
}

Verdict *nesting_report_judge(const KnownCalls *k, const TraceReader *reader)
{
        guint n_edges;
        const Edge *edges = call_matcher_edges(k->matcher, &n_edges);
        const MatchCounts *counts = call_matcher_counts(k->matcher);
        g_autofree EdgeCalls *calls = g_new(EdgeCalls, n_edges);
        Fitness fitness = { .calls = counts->pairs + counts->linked + counts->lone_calls,
                            .returns = counts->pairs + counts->linked,
                            .one_way = counts->one_way };
        Verdict *verdict;

        count_both_ends(&k->pairs, &fitness);
        count_late(&k->pairs, &fitness);
        for (guint i = 0; i < n_edges; i++)
                calls[i] = (EdgeCalls){ edges[i].caller, edges[i].callee,
                                        edges[i].pairs + edges[i].lone_calls };
        verdict = result_judge(reader, &fitness, calls, n_edges, FALSE, k->nodes);
        for (NodeId i = 0; k->roles.folded && verdict->folded == NO_NODE; i++)
                if (k->roles.fold[i] != i)
                        verdict->folded = k->roles.fold[i];
        return verdict;
}

/* --- calls that are explained ------------------------------------------------ */

enum { EXPLAINED = 3 }; /* calls at most */

/* What an id must be for a call of this edge to be meant: NULL where none will do, "" where
 * any does. */
static const char *id_at_edge(const KnownCalls *k, const EdgeRole *edge, const char *name)
{
        NodeId callers[] = { edge->caller, k->roles.fold[edge->caller] };

        for (guint i = 0; i < G_N_ELEMENTS(callers); i++) {
                g_autofree char *text =
                        g_strdup_printf("%s>%s", node_table_written(k->nodes, callers[i]),
                                        node_table_written(k->nodes, edge->callee));
                gsize length = strlen(text);

                if (strncmp(name, text, length) != 0)
                        continue;
                if (name[length] == 0)
                        return "";
                if (name[length] == ':' && name[length + 1])
                        return name + length + 1;
        }
        return NULL;
}

/* A call without an id has "-" for one, as in outputs. */
static gboolean has_id(const KnownCalls *k, guint32 call, const char *text)
{
        guint32 length;
        const char *id = known_calls_id(k, call, &length);

        if (length == 0)
                return !strcmp(text, "-");
        return strlen(text) == length && !memcmp(id, text, length);
}

/* Indices of the calls that name stands for, in the order of time. */
static GArray *find_calls(const KnownCalls *k, const char *name)
{
        GArray *calls = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_autofree const char **at_edge = g_new(const char *, k->roles.n_edges);
        gint64 time = NO_TIME;

        if (!trace_parse_time(name, &time, NULL))
                time = NO_TIME;
        for (guint i = 0; i < k->roles.n_edges; i++)
                at_edge[i] = id_at_edge(k, &k->roles.edge[i], name);
        for (guint32 i = 0; i < k->pairs.n; i++) {
                const char *id = at_edge[k->pairs.edge[i] - 1];

                if ((id && (!*id || has_id(k, i, id))) || has_id(k, i, name) ||
                    (time != NO_TIME && k->pairs.at_caller[i].from == time))
                        g_array_append_val(calls, i);
        }
        known_calls_sort(k, (guint32 *)calls->data, calls->len);
        return calls;
}

gboolean explain_find(Nesting *n, const char *name, const char *trace, GError **error)
{
        g_autoptr(GArray) calls = NULL;

        nesting_end_calls(n);
        calls = find_calls(nesting_calls(n), name);
        if (calls->len == 0)
                return ravel_fail(
                        error, RAVEL_ERROR_INPUT,
                        "%s: no call \"%s\" that has a return, expected an id, CALLER>CALLEE, "
                        "CALLER>CALLEE:ID or the moment of a call, as --calls writes them",
                        trace, name);
        if (calls->len > EXPLAINED)
                tool_warn("%u calls are \"%s\": the first %u are explained", calls->len, name,
                          EXPLAINED);
        for (guint i = 0; i < MIN(calls->len, EXPLAINED); i++)
                nesting_explain(n, g_array_index(calls, guint32, i));
        return TRUE;
}

/* --- models ------------------------------------------------------------------ */

static GMappedFile *map_file(const char *path, GError **error)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        GMappedFile *file = fd < 0 ? NULL : g_mapped_file_new_from_fd(fd, FALSE, NULL);

        if (!file)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: cannot open: %s", path,
                            fd < 0 ? g_strerror(errno) : "expected a file");
        if (fd >= 0)
                close(fd);
        return file;
}

gboolean nesting_model_load(const char *path, NestingOptions *options, char **id, GError **error)
{
        g_autoptr(GMappedFile) file = map_file(path, error);
        g_autoptr(GError) wrong = NULL;
        const guint8 *data;
        gsize n;

        if (!file)
                return FALSE;
        data = (const guint8 *)g_mapped_file_get_contents(file);
        n = g_mapped_file_get_length(file);
        options->model = models_from_bytes(data, n, &wrong);
        if (!options->model)
                return ravel_fail(error, RAVEL_ERROR_INPUT, "%s: %s", path, wrong->message);
        *id = models_id(data, n);
        return models_fit(options->model, options) ||
               ravel_fail(error, RAVEL_ERROR_USAGE,
                          "%s: learned with another --skew-window, --max-call or --no-fold: "
                          "expected the same",
                          path);
}

gboolean nesting_model_save(const char *path, Models *models, const char *trace, GError **error)
{
        g_autoptr(GBytes) bytes = NULL;
        g_autoptr(OutputFile) out = NULL;
        gconstpointer data;
        gsize n;

        g_free(models->trace);
        models->trace = g_path_get_basename(trace);
        bytes = models_to_bytes(models);
        data = g_bytes_get_data(bytes, &n);
        return (out = output_file_new(path, FALSE, error)) &&
               output_file_write(out, data, n, error) &&
               output_file_close(g_steal_pointer(&out), error);
}
