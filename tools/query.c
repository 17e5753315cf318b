/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel query STORE SQL: a question to a store, in SQL.
 */
#include "base/error.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"
#include "write/write-query.h"

static char *format;

static const char *const formats[] = { "text", "tsv", "json", NULL };
static const ToolChoice choices[] = { { "--format", &format, formats }, { .option = NULL } };

static const GOptionEntry entries[] = { { "format", 0, 0, G_OPTION_ARG_STRING, &format,
                                          "text, tsv or json (default text)", "FORMAT" },
                                        G_OPTION_ENTRY_NULL };

static gboolean write_answer(StoreQuery *query, GError **error)
{
        static gboolean (*const writers[])(StoreQuery *, OutputFile *,
                                           GError **) = { query_write_text, query_write_tsv,
                                                          query_write_json };
        g_autoptr(OutputFile) out = output_file_new("-", FALSE, error);

        return out && writers[tool_choice_index(format, formats)](query, out, error) &&
               output_file_close(g_steal_pointer(&out), error);
}

static gboolean check_arguments(int argc, GError **error)
{
        return argc == 3 ||
               ravel_fail(error, RAVEL_ERROR_USAGE,
                          "arguments: %d, expected two: a store, and a question in SQL, such as "
                          "'SELECT * FROM slowest_request LIMIT 10'",
                          argc - 1);
}

int tool_query(int argc, char **argv)
{
        g_autoptr(StoreQuery) query = NULL;
        GError *error = NULL;
        int status;

        if (!tool_parse("STORE SQL - ask a store in SQL", entries, choices, &argc, &argv, &status))
                return status;
        if (!check_arguments(argc, &error) || !run_files_read_store(argv[1], &error) ||
            !run_files_write("-w", NULL, &error) ||
            !(query = store_query_new(argv[1], argv[2], &error)) || !write_answer(query, &error))
                return tool_fail(error);
        return EXIT_DONE;
}
