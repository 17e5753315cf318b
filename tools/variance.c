/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel variance STORE: which nodes make latency vary.
 */
#include <string.h>

#include "base/error.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"
#include "write/write-variance.h"

static struct {
        char *format, *output, *entry, *label;
        gboolean completion;
        double tail;
        int entries;
} options = { .tail = 0.99, .entries = 10 };

static const char *const formats[] = { "text", "tsv", "json", NULL };
static const ToolChoice choices[] = { { "--format", &options.format, formats },
                                      { .option = NULL } };

static const GOptionEntry entries[] = { { "completion", 0, 0, G_OPTION_ARG_NONE,
                                          &options.completion,
                                          "Use the time until all is done, not the latency", NULL },
                                        { "entry", 0, 0, G_OPTION_ARG_STRING, &options.entry,
                                          "Only this entry, such as client>lb", "ENTRY" },
                                        { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
                                          "text, tsv or json (default text)", "FORMAT" },
                                        { "label", 0, 0, G_OPTION_ARG_STRING, &options.label,
                                          "Only requests with this operation", "OPERATION" },
                                        { "entries", 'n', 0, G_OPTION_ARG_INT, &options.entries,
                                          "Write the first N (default 10; 0: all)", "N" },
                                        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
                                          "Write to FILE instead of standard output", "FILE" },
                                        { "tail", 0, 0, G_OPTION_ARG_DOUBLE, &options.tail,
                                          "Slow requests: from quantile Q on (default 0.99)", "Q" },
                                        G_OPTION_ENTRY_NULL };

/* --- the verb -------------------------------------------------------------- */

static gboolean write_variance(const Variance *v, const NodeTable *nodes, GError **error)
{
        guint n = options.entries > 0 ? MIN((guint)options.entries, v->entries->len)
                                      : v->entries->len;
        g_autoptr(GString) text = g_string_new(NULL);

        if (!options.format || !strcmp(options.format, "text"))
                variance_write_text(v, nodes, n, options.output ? 0 : tool_columns(), text);
        else if (!strcmp(options.format, "tsv"))
                variance_write_tsv(v, nodes, n, text);
        else
                variance_write_json(v, nodes, n, options.tail, text);
        return output_file_put(options.output ? options.output : "-", text, error);
}

static gboolean check_arguments(int argc, GError **error)
{
        if (argc != 2)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "stores named: %d, expected one",
                                  argc - 1);
        if (!(options.tail >= 0.6 && options.tail < 1))
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "--tail %g: expected a quantile from 0.6 to below 1",
                                  options.tail);
        return TRUE;
}

static void say_what_to_mind(const StoreReader *reader, const Variance *v)
{
        if (!store_reader_run(reader)->fit)
                tool_warn("%s: not fit for paths (%s): do not rely on places",
                          store_reader_name(reader), store_reader_run(reader)->judgement);
        if (v->left_out > 0)
                tool_warn("%" G_GUINT64_FORMAT " requests left out that take 39 hours or more",
                          v->left_out);
}

int tool_variance(int argc, char **argv)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = NULL;
        g_autoptr(Variance) variance = NULL;
        GError *error = NULL;
        int status;

        if (!tool_parse("STORE - which nodes make latency vary", entries, choices, &argc, &argv,
                        &status))
                return status;
        VarianceOptions wanted = { VARIANCE_FEWEST, options.tail, options.completion, options.entry,
                                   options.label };
        if (!check_arguments(argc, &error) || !run_files_read_store(argv[1], &error) ||
            !run_files_write("-o", options.output, &error) ||
            !run_files_confine_reader(FALSE, &error) ||
            !(reader = store_reader_new(argv[1], nodes, &error)) ||
            !(variance = variance_new(reader, nodes, &wanted, &error)))
                return tool_fail(error);
        say_what_to_mind(reader, variance);
        if (!write_variance(variance, nodes, &error))
                return tool_fail(error);
        return EXIT_DONE;
}
