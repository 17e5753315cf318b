/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel show STORE: what was found, in every format, without finding it again.
 */
#include <string.h>

#include "base/error.h"
#include "store/stored-set.h"
#include "tools/result.h"
#include "tools/run-files.h"
#include "tools/tool.h"

static gboolean check_arguments(int argc, char **argv, GError **error)
{
        if (argc != 2)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "stores named: %d, expected one, made with ravel nesting -o or "
                                  "ravel convolution -o",
                                  argc - 1);
        return run_files_read_store(argv[1], error) && result_check_options(error) &&
               run_files_confine_reader(result_is_drawn(), error);
}

/* What the analysis printed and the store cannot tell. */
static void report_missing(const StoreReader *reader)
{
        const StoredRun *run = store_reader_run(reader);
        g_auto(GStrv) lines = g_strsplit(run->parameters, "\n", -1);

        for (char **line = lines; *line; line++)
                if (g_str_has_prefix(*line, "window_ns=") && strcmp(*line, "window_ns=0") != 0)
                        tool_warn("%s: found in windows, which the store does not keep apart: all "
                                  "are shown as one",
                                  store_reader_name(reader));
        if (!run->judgement)
                tool_warn("%s: the store does not say what the trace was fit for",
                          store_reader_name(reader));
}

int tool_show(int argc, char **argv)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = NULL;
        g_autoptr(StoredSet) stored = NULL;
        GError *error = NULL;
        int status;

        result_add_show_options();
        if (!tool_parse("STORE - show paths found before, in any format", NULL, NULL, &argc, &argv,
                        &status))
                return status;
        if (!check_arguments(argc, argv, &error) ||
            !(reader = store_reader_new(argv[1], nodes, &error)) ||
            !(stored = stored_set_new(reader, nodes, &error)))
                return tool_fail(error);
        report_missing(reader);
        return result_write(stored->set, &error) ? EXIT_DONE : tool_fail(error);
}
