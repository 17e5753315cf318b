/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/result.h"

#include <string.h>

#include "base/error.h"
#include "paths/path-clocks.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/file-kind.h"
#include "write/path-write.h"

static struct {
        char *store, *format, *sort, *output;
        gint n_patterns;
        gboolean strict;
} options = { .n_patterns = 20 };

gboolean usage_error(GError **error, const char *value, const char *expected)
{
        return ravel_fail(error, RAVEL_ERROR_USAGE, "found \"%s\", expected %s", value, expected);
}

/* In the order of RankBy. */
static const char *const sorts[] = { "total", "count", "mean", "p99", NULL };

static const GOptionEntry entries[] = { { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
                                          "text dot svg json tsv map map-svg map-json", "FORMAT" },
                                        { "output", 'w', 0, G_OPTION_ARG_FILENAME, &options.output,
                                          "Write to FILE instead of standard output", "FILE" },
                                        { "store", 'o', 0, G_OPTION_ARG_FILENAME, &options.store,
                                          "Also write all paths to a database", "FILE" },
                                        { "patterns", 'n', 0, G_OPTION_ARG_INT, &options.n_patterns,
                                          "Write the first N (default 20; 0: all)", "N" },
                                        { "sort", 0, 0, G_OPTION_ARG_STRING, &options.sort,
                                          "Rank by total, count, mean or p99 latency", "KEY" },
                                        { "strict", 0, 0, G_OPTION_ARG_NONE, &options.strict,
                                          "Exit with 1 if not fit or nothing found", NULL },
                                        G_OPTION_ENTRY_NULL };

static void add_options(const GOptionEntry *which)
{
        static const ToolChoice result_choices[] = { { "--format", &options.format,
                                                       path_write_formats },
                                                     { "--sort", &options.sort, sorts },
                                                     { .option = NULL } };

        tool_add_options(which, result_choices);
}

void result_add_options(void)
{
        add_options(entries);
}

void result_add_show_options(void)
{
        static GOptionEntry shown[G_N_ELEMENTS(entries)];
        gsize n = 0;

        for (const GOptionEntry *e = entries; e->long_name; e++)
                if (e->arg_data != &options.store && e->arg_data != &options.strict)
                        shown[n++] = *e;
        add_options(shown);
}

const char *result_format(void)
{
        return options.format ? options.format : "text";
}

guint result_columns(void)
{
        return options.output ? 0 : tool_columns();
}

/* Text in place of a store that is not there, or a store in place of some other file, is what
 * those get who take -o for the output. */
static gboolean check_store(GError **error)
{
        FileKind kind = options.store ? file_kind_read(options.store) : FILE_STORE;

        if (kind == FILE_DATABASE)
                return usage_error(error, options.store,
                                   "-o of another name: that is a database of another program");
        if (kind == FILE_STORE || g_str_has_suffix(options.store, ".sqlite") ||
            g_str_has_suffix(options.store, ".db"))
                return TRUE;
        return ravel_fail(error, RAVEL_ERROR_USAGE,
                          "-o %s: that is the database of all that is found, expected a name that "
                          "ends in .sqlite or .db; -w FILE is for the text",
                          options.store);
}

gboolean result_check_options(GError **error)
{
        if (options.n_patterns < 0) {
                g_autofree char *text = g_strdup_printf("-n %d", options.n_patterns);

                return usage_error(error, text, "a number of patterns; 0 is all");
        }
        return check_store(error) &&
               (!options.store || run_files_write_store("-o", options.store, error)) &&
               run_files_write("-w", options.output, error);
}

gboolean result_has_store(void)
{
        return options.store != NULL;
}

gboolean result_is_drawn(void)
{
        static const char *const drawn[] = { "dot", "svg", "map", "map-svg", NULL };

        return g_strv_contains(drawn, result_format());
}

Verdict *result_judge(const TraceReader *reader, Fitness *fitness, const EdgeCalls *edges,
                      guint n_edges, gboolean without_returns, NodeTable *nodes)
{
        guint n_facts;
        char *const *facts = trace_reader_facts(reader, &n_facts);
        GArray *doubts = trace_reader_doubts(reader);
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

void result_report_clocks(const GArray *clocks, const NodeTable *nodes, const char *looks,
                          const char *remedy)
{
        g_autofree char *right = path_clocks_text(clocks, nodes, FALSE);
        g_autofree char *doubtful = path_clocks_text(clocks, nodes, TRUE);

        if (right)
                tool_warn("clocks put right: %s", right);
        if (doubtful)
                tool_warn("%s: %s would fit; %s does that", looks, doubtful, remedy);
}

int result_status(const Verdict *verdict, guint64 n_paths)
{
        return options.strict && (!verdict->fit || n_paths == 0) ? EXIT_DIFFERS : tool_done();
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
        g_autofree guint32 *rank = path_set_rank(set, tool_choice_index(options.sort, sorts));
        guint32 n = path_set_size(set);
        guint columns = result_columns();
        static gboolean first_goes_on; /* of windows */
        PathWriteOptions write = {
                .rank = rank,
                .n_patterns = options.n_patterns > 0 ? MIN(n, (guint32)options.n_patterns) : n,
                .all = options.n_patterns == 0,
                .columns = columns,
                .colour = columns > 0 && !g_getenv("NO_COLOR"),
                .windows = windows,
                .later = later,
                .goes_on = first_goes_on,
        };

        if (!later)
                first_goes_on = path_set_goes_on(set);
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
