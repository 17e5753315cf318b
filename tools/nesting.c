/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel nesting TRACE: the nesting algorithm, from a trace to ranked path
 * patterns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "nesting/nesting.h"
#include "paths/path-write.h"
#include "paths/store.h"
#include "tools/tool.h"
#include "tracefmt/error.h"
#include "tracefmt/output-file.h"

static struct {
        NestingOptions nesting;
        SiblingOrder siblings;
        RankBy rank;
        char *method, *store, *format, *calls, *output;
        gint n_patterns;
        gboolean no_fold;
} options = { .nesting = NESTING_DEFAULTS, .n_patterns = 20 };

static gboolean usage_error(GError **error, const char *value, const char *expected)
{
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE, "found \"%s\", expected %s", value,
                    expected);
        return FALSE;
}

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

static gboolean parse_sort(const char *option, const char *value, gpointer data, GError **error)
{
        static const char *const names[] = { "total", "count", "mean", "p99" };

        (void)option;
        (void)data;
        for (guint i = 0; i < G_N_ELEMENTS(names); i++)
                if (!strcmp(value, names[i])) {
                        options.rank = i;
                        return TRUE;
                }
        return usage_error(error, value, "total, count, mean or p99");
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
          "How parents are found: paper (Figure 4 of the paper)", "METHOD" },
        { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
          "text, dot, svg, json or tsv (default text)", "FORMAT" },
        { "output", 'w', 0, G_OPTION_ARG_FILENAME, &options.output,
          "Write the patterns to FILE instead of standard output", "FILE" },
        { "store", 'o', 0, G_OPTION_ARG_FILENAME, &options.store,
          "Write every pattern, path instance and call to an SQLite database", "FILE" },
        { "calls", 0, 0, G_OPTION_ARG_FILENAME, &options.calls,
          "Write a line for each call, with its parent, to FILE", "FILE" },
        { "patterns", 'n', 0, G_OPTION_ARG_INT, &options.n_patterns,
          "Write the first N patterns (default 20; 0: all)", "N" },
        { "sort", 0, 0, G_OPTION_ARG_CALLBACK, parse_sort,
          "Rank by total, count, mean or p99 latency (default total)", "KEY" },
        { "penalty", 0, 0, G_OPTION_ARG_CALLBACK, parse_penalty,
          "Exponents of the overlapping-, same- and generic-child penalties (default 2,0,0)",
          "X,Y,Z" },
        { "skew-window", 0, 0, G_OPTION_ARG_CALLBACK, parse_window,
          "How far clocks may disagree where it matters (default 0s)", "DURATION" },
        { "smooth", 0, 0, G_OPTION_ARG_CALLBACK, parse_smooth,
          "Smooth the scoreboard with a Gaussian of so many bins (default 0)", "BINS" },
        { "sibling-order", 0, 0, G_OPTION_ARG_CALLBACK, parse_siblings,
          "strict: the order of calls is part of a pattern's shape (default multiset)", "ORDER" },
        { "no-fold", 0, 0, G_OPTION_ARG_NONE, &options.no_fold,
          "Do not make one node of the clients", NULL },
        { NULL },
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
                          " one-way messages: nesting needs calls and returns; the convolution "
                          "algorithm does not",
                          trace_reader_name(reader), counts->one_way);
        } else if (!counts->pairs) {
                tool_warn("%s: none of %" G_GUINT64_FORMAT " calls and %" G_GUINT64_FORMAT
                          " returns match: was only one direction captured, or do calls and "
                          "returns carry different ids?",
                          trace_reader_name(reader), counts->lone_calls, counts->lone_returns);
        } else {
                if (counts->lone_calls)
                        tool_warn("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                  " calls have no return and are left out",
                                  counts->lone_calls, calls);
                if (counts->lone_returns)
                        tool_warn("%" G_GUINT64_FORMAT " returns have no call and are left out",
                                  counts->lone_returns);
        }
        if (nesting->folded)
                tool_warn("%u clients are shown as one node, \"client\" (--no-fold keeps them)",
                          nesting->folded);
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
        const CallPair *c = &n->calls[call];
        guint32 length;
        const char *id = nesting_call_id(n, call, &length);

        g_string_append_printf(line, "%s\t%s\t", node_table_written(n->nodes, c->caller),
                               node_table_written(n->nodes, c->callee));
        g_string_append_len(line, length ? id : "-", MAX(length, 1));
}

/* A double in the fewest digits that say it. */
static void put_probability(GString *line, float probability)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append(line, g_ascii_formatd(text, sizeof text, "%.6g", probability));
}

static gboolean write_calls(const Nesting *n, const PathSet *set, const guint64 *instance,
                            const guint32 *pattern_of, GError **error)
{
        static const char header[] =
                "call_time\treturn_time\tcaller\tcallee\tid\tparent_call_time\tparent_caller\t"
                "parent_callee\tparent_id\tinstance\tpattern\tprobability\n";
        g_autoptr(OutputFile) out = output_file_new(options.calls, FALSE, error);
        g_autofree guint32 *order = g_new(guint32, n->n_calls);
        g_autoptr(GString) line = g_string_new(NULL);

        if (!out || !output_file_write(out, header, sizeof header - 1, error))
                return FALSE;
        for (guint32 i = 0; i < n->n_calls; i++)
                order[i] = i;
        nesting_sort_calls(n, order, n->n_calls);
        for (guint32 i = 0; i < n->n_calls; i++) {
                const CallPair *c = &n->calls[order[i]];

                g_string_truncate(line, 0);
                put_time(line, c->start);
                g_string_append_c(line, '\t');
                put_time(line, c->end);
                g_string_append_c(line, '\t');
                put_call(line, n, order[i]);
                g_string_append_c(line, '\t');
                if (c->parent == NO_PARENT) {
                        g_string_append(line, "-\t-\t-\t-");
                } else {
                        put_time(line, n->calls[c->parent].start);
                        g_string_append_c(line, '\t');
                        put_call(line, n, c->parent);
                }
                if (instance[order[i]] == G_MAXUINT64)
                        g_string_append(line, "\t-\t-\t"); /* cut by the capture */
                else
                        g_string_append_printf(
                                line, "\t%" G_GUINT64_FORMAT "\t%016" G_GINT64_MODIFIER "x\t",
                                instance[order[i]],
                                path_set_pattern(set, pattern_of[instance[order[i]]])->id);
                put_probability(line, c->probability);
                g_string_append_c(line, '\n');
                if (!output_file_write(out, line->str, line->len, error))
                        return FALSE;
        }
        return output_file_close(g_steal_pointer(&out), error);
}
