/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel export STORE --as FORMAT: what a store holds, for other programs.
 */
#include "export/export.h"
#include "base/error.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"

static struct {
        char *as, *output;
} options;

static const ToolChoice choices[] = { { "--as", &options.as, export_formats }, { .option = NULL } };

static const GOptionEntry entries[] = { { "as", 0, 0, G_OPTION_ARG_STRING, &options.as,
                                          "otlp, folded, chrome, tsv or wireshark", "FORMAT" },
                                        { "output", 'w', 0, G_OPTION_ARG_FILENAME, &options.output,
                                          "Write to FILE instead of standard output", "FILE" },
                                        G_OPTION_ENTRY_NULL };

static gboolean check_export_arguments(int argc, ExportWriter *writer, GError **error)
{
        if (argc != 2)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "stores named: %d, expected one",
                                  argc - 1);
        if (options.as && (*writer = export_writer_lookup(options.as)))
                return TRUE;
        return ravel_fail(error, RAVEL_ERROR_USAGE,
                          "found no --as, expected --as otlp, folded, chrome, tsv or wireshark");
}

int tool_export(int argc, char **argv)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = NULL;
        g_autoptr(OutputFile) out = NULL;
        ExportWriter writer;
        GError *error = NULL;
        int status;

        if (!tool_parse("STORE --as FORMAT - paths for other programs", entries, choices, &argc,
                        &argv, &status))
                return status;
        if (!check_export_arguments(argc, &writer, &error) ||
            !run_files_read_store(argv[1], &error) ||
            !run_files_write("-w", options.output, &error) ||
            !run_files_confine_reader(FALSE, &error) ||
            !(reader = store_reader_new(argv[1], nodes, &error)) ||
            !(out = output_file_new(options.output ? options.output : "-", FALSE, &error)) ||
            !writer(reader, nodes, out, &error) ||
            !output_file_close(g_steal_pointer(&out), &error))
                return tool_fail(error);
        return EXIT_DONE;
}
