/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel report STORE: one page that shows what was found.
 */
#include "paths/report.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "base/error.h"

static struct {
        char *output;
} options;

static const GOptionEntry entries[] = { { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
                                          "Write to FILE (default report.html)", "FILE" },
                                        G_OPTION_ENTRY_NULL };

static gboolean write_page(const Report *report, const StoreReader *reader, GError **error)
{
        g_autoptr(OutputFile) out = output_file_new(options.output, FALSE, error);

        return out && report_write(report, reader, out, error) &&
               output_file_close(g_steal_pointer(&out), error);
}

int tool_report(int argc, char **argv)
{
        g_autoptr(GOptionContext) context =
                g_option_context_new("STORE - a page to look at what was found");
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = NULL;
        g_autoptr(Report) report = NULL;
        GError *error = NULL;
        int status;

        g_option_context_add_main_entries(context, entries, NULL);
        if (!tool_parse(context, &argc, &argv, &status))
                return status;
        if (argc != 2)
                g_set_error(&error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                            "stores named: %d, expected one, made with ravel nesting -o", argc - 1);
        if (!options.output)
                options.output = g_strdup("report.html");
        if (error || !run_files_read_store(argv[1], &error) ||
            !run_files_write("-o", options.output, &error) ||
            !(reader = store_reader_new(argv[1], nodes, &error)) ||
            !(report = report_new(reader, nodes, &error)) || !write_page(report, reader, &error))
                return tool_fail(error);
        return EXIT_DONE;
}
