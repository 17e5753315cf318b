/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel advise STORE: what to change, and what that would bring.
 */
#include <string.h>

#include "base/error.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"
#include "write/write-advise.h"

static struct {
        char *format, *output;
} options;

static const char *const formats[] = { "text", "tsv", "json", NULL };
static const ToolChoice choices[] = { { "--format", &options.format, formats },
                                      { .option = NULL } };

static const GOptionEntry entries[] = { { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
                                          "text, tsv or json (default text)", "FORMAT" },
                                        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
                                          "Write to FILE instead of standard output", "FILE" },
                                        G_OPTION_ENTRY_NULL };

static gboolean write_advice(const Advice *a, const NodeTable *nodes, const char *store,
                             GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);

        if (!options.format || !strcmp(options.format, "text"))
                advice_write_text(a, nodes, store, options.output ? 0 : tool_columns(), text);
        else if (!strcmp(options.format, "tsv"))
                advice_write_tsv(a, nodes, store, text);
        else
                advice_write_json(a, nodes, store, text);
        return output_file_put(options.output ? options.output : "-", text, error);
}

int tool_advise(int argc, char **argv)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = NULL;
        g_autoptr(Advice) advice = NULL;
        GError *error = NULL;
        int status;

        if (!tool_parse("STORE - what to change, and what that would bring", entries, choices,
                        &argc, &argv, &status))
                return status;
        if (argc != 2) {
                ravel_fail(&error, RAVEL_ERROR_USAGE, "%d stores named, expected one", argc - 1);
                return tool_fail(error);
        }
        if (!run_files_read_store(argv[1], &error) ||
            !run_files_write("-o", options.output, &error) ||
            !(reader = store_reader_new(argv[1], nodes, &error)) ||
            !(advice = advice_new(reader, nodes, &error)))
                return tool_fail(error);
        if (!store_reader_run(reader)->fit)
                tool_warn("%s: not fit for paths (%s): do not rely on figures",
                          store_reader_name(reader), store_reader_run(reader)->judgement);
        if (!write_advice(advice, nodes, argv[1], &error))
                return tool_fail(error);
        return EXIT_DONE;
}
