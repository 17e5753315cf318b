/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel whatif STORE CHANGE...: what latencies would be after a change.
 */
#include <string.h>

#include "base/error.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"
#include "write/write-whatif.h"

static struct {
        char *format, *output;
        int entries;
} options = { .entries = 10 };

static const char *const formats[] = { "text", "tsv", "json", NULL };
static const ToolChoice choices[] = { { "--format", &options.format, formats },
                                      { .option = NULL } };

static const GOptionEntry entries[] = { { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
                                          "text, tsv or json (default text)", "FORMAT" },
                                        { "entries", 'n', 0, G_OPTION_ARG_INT, &options.entries,
                                          "Write the first N (default 10; 0: all)", "N" },
                                        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
                                          "Write to FILE instead of standard output", "FILE" },
                                        G_OPTION_ENTRY_NULL };

static gboolean write_whatif(const WhatIf *w, const NodeTable *nodes, GError **error)
{
        guint n = options.entries > 0 ? MIN((guint)options.entries, w->entries->len)
                                      : w->entries->len;
        g_autoptr(GString) text = g_string_new(NULL);

        if (!options.format || !strcmp(options.format, "text"))
                whatif_write_text(w, nodes, n, options.output ? 0 : tool_columns(), text);
        else if (!strcmp(options.format, "tsv"))
                whatif_write_tsv(w, nodes, n, text);
        else
                whatif_write_json(w, nodes, n, text);
        return output_file_put(options.output ? options.output : "-", text, error);
}

int tool_whatif(int argc, char **argv)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = NULL;
        g_autoptr(GArray) changes = NULL;
        g_autoptr(WhatIf) whatif = NULL;
        GError *error = NULL;
        int status;

        if (!tool_parse("STORE [CHANGE...] - latencies after a change", entries, choices, &argc,
                        &argv, &status))
                return status;
        if (argc < 2) {
                ravel_fail(&error, RAVEL_ERROR_USAGE, "no store named, expected one");
                return tool_fail(error);
        }
        if (!run_files_read_store(argv[1], &error) ||
            !run_files_write("-o", options.output, &error) ||
            !run_files_confine_reader(FALSE, &error) ||
            !(reader = store_reader_new(argv[1], nodes, &error)) ||
            !(changes = whatif_changes_parse(argv + 2, (guint)argc - 2, nodes, &error)) ||
            !(whatif = whatif_new(reader, nodes, changes, &error)))
                return tool_fail(error);
        if (!store_reader_run(reader)->fit)
                tool_warn("%s: not fit for paths (%s): do not rely on figures",
                          store_reader_name(reader), store_reader_run(reader)->judgement);
        if (!write_whatif(whatif, nodes, &error))
                return tool_fail(error);
        return EXIT_DONE;
}
