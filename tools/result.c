/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/result.h"

#include <string.h>

#include "tools/tool.h"
#include "tracefmt/error.h"

static struct {
        RankBy rank;
        char *store, *format, *output;
        gint n_patterns;
        gboolean strict;
} options = { .n_patterns = 20 };

gboolean usage_error(GError **error, const char *value, const char *expected)
{
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE, "found \"%s\", expected %s", value,
                    expected);
        return FALSE;
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

static const GOptionEntry entries[] = { { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
                                          "text, dot, svg, json or tsv (default text)", "FORMAT" },
                                        { "output", 'w', 0, G_OPTION_ARG_FILENAME, &options.output,
                                          "Write to FILE instead of standard output", "FILE" },
                                        { "store", 'o', 0, G_OPTION_ARG_FILENAME, &options.store,
                                          "Also write all that is found to a database", "FILE" },
                                        { "patterns", 'n', 0, G_OPTION_ARG_INT, &options.n_patterns,
                                          "Write the first N (default 20; 0: all)", "N" },
                                        { "sort", 0, 0, G_OPTION_ARG_CALLBACK, parse_sort,
                                          "Rank by total, count, mean or p99 latency", "KEY" },
                                        { "strict", 0, 0, G_OPTION_ARG_NONE, &options.strict,
                                          "Exit with 1 if nothing fit is found", NULL },
                                        G_OPTION_ENTRY_NULL };

void result_add_options(GOptionContext *context)
{
        g_option_context_add_main_entries(context, entries, NULL);
}

const char *result_format(void)
{
        return options.format ? options.format : "text";
}

guint result_columns(void)
{
        return options.output ? 0 : tool_columns();
}

gboolean result_check_options(GError **error)
{
        return path_writer_lookup(result_format()) ||
               usage_error(error, options.format, "--format text, dot, svg, json or tsv");
}

gboolean result_has_store(void)
{
        return options.store != NULL;
}

Verdict *result_judge(const TraceReader *reader, Fitness *fitness, const EdgeCalls *edges,
                      guint n_edges, gboolean without_returns, NodeTable *nodes)
{
        guint n_facts;
        char *const *facts = trace_reader_facts(reader, &n_facts);
        GArray *doubts = doubts_from_facts(facts, n_facts, nodes);
        char *judgement;
        gboolean fit;

        doubts_keep_called(doubts, edges, n_edges);
        fitness_add_facts(fitness, facts, n_facts);
        judgement = fitness_judge(fitness, doubts, edges, n_edges, nodes);
        fit = without_returns ? judgement_is_fit_for_convolution(judgement)
                              : judgement_is_fit_for_nesting(judgement);
        /* Of nothing there is nothing to hide. */
        fit |= fitness->calls == 0 && fitness->one_way == 0;
        return verdict_new(judgement, fit, doubts);
}

int result_status(const Verdict *verdict, guint64 n_paths)
{
        return options.strict && (!verdict->fit || n_paths == 0) ? EXIT_DIFFERS : EXIT_DONE;
}

OutputFile *result_open(gboolean in_place, GError **error)
{
        return output_file_new(options.output ? options.output : "-", in_place, error);
}

Store *result_open_store(PathSet *set, const StoreRun *run, GError **error)
{
        return store_new(options.store, set, run, error);
}

gboolean result_close_store(Store *store, TraceReader *reader, GError **error)
{
        guint n_facts;
        char *const *facts = trace_reader_facts(reader, &n_facts);

        if (!store_add_capture(store, trace_reader_name(reader), trace_reader_digest(reader), facts,
                               n_facts, error)) {
                store_free(store);
                return FALSE;
        }
        return store_finish(store, error);
}

static gboolean write_patterns(const PathSet *set, gboolean windows, gboolean later,
                               OutputFile *out, GError **error)
{
        PathWriter writer = path_writer_lookup(result_format());
        g_autofree guint32 *rank = path_set_rank(set, options.rank);
        guint32 n = path_set_size(set);
        guint columns = result_columns();
        PathWriteOptions write = {
                .rank = rank,
                .n_patterns = options.n_patterns > 0 ? MIN(n, (guint32)options.n_patterns) : n,
                .columns = columns,
                .colour = columns > 0 && !g_getenv("NO_COLOR"),
                .windows = windows,
                .later = later,
        };

        return writer(set, &write, out, error);
}

gboolean result_write_window(const PathSet *set, gboolean later, OutputFile *out, GError **error)
{
        gboolean text = !strcmp(result_format(), "text");

        return (!text || !later || output_file_write(out, "\n", 1, error)) &&
               write_patterns(set, TRUE, later, out, error) && output_file_flush(out, error);
}

gboolean result_write(const PathSet *set, GError **error)
{
        g_autoptr(OutputFile) out = result_open(FALSE, error);

        return out && write_patterns(set, FALSE, FALSE, out, error) &&
               output_file_close(g_steal_pointer(&out), error);
}
