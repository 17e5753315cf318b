/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel query STORE SQL: a question to a store, in SQL. --follow: to each window of ravel watch.
 */
#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"
#include "watch/hours.h"
#include "write/write-query.h"

enum { PAUSE = 200000 /* us between two looks */ };

static char *format;
static gboolean follow;

static const char *const formats[] = { "text", "tsv", "json", NULL };
static const ToolChoice choices[] = { { "--format", &format, formats }, { .option = NULL } };

static const GOptionEntry entries[] = { { "follow", 0, 0, G_OPTION_ARG_NONE, &follow,
                                          "STORE is a folder of ravel watch: ask each window",
                                          NULL },
                                        { "format", 0, 0, G_OPTION_ARG_STRING, &format,
                                          "text, tsv or json (default text)", "FORMAT" },
                                        G_OPTION_ENTRY_NULL };

static gboolean write_answer(const char *store, const char *sql, gboolean later, OutputFile *out,
                             GError **error)
{
        static gboolean (*const writers[])(StoreQuery *, gboolean, OutputFile *,
                                           GError **) = { query_write_text, query_write_tsv,
                                                          query_write_json };
        g_autoptr(StoreQuery) query = store_query_new(store, sql, error);

        return query && writers[tool_choice_index(format, formats)](query, later, out, error);
}

static gboolean ask_store(char **argv, GError **error)
{
        g_autoptr(OutputFile) out = NULL;

        return run_files_read_store(argv[1], error) && run_files_write("-w", NULL, error) &&
               run_files_confine_reader(FALSE, error) &&
               (out = output_file_new("-", FALSE, error)) &&
               write_answer(argv[1], argv[2], FALSE, out, error) &&
               output_file_close(g_steal_pointer(&out), error);
}

/* --- windows as they are closed ---------------------------------------------------- */

static volatile sig_atomic_t query_stopped;

static void stop_query(int number)
{
        query_stopped = number;
}

/* Asks one window. It may have been joined since it was listed. */
static gboolean ask_window(const char *path, const char *sql, gboolean later, OutputFile *out,
                           GError **error)
{
        GError *wrong = NULL;

        if (write_answer(path, sql, later, out, &wrong))
                return output_file_flush(out, error);
        if (g_file_test(path, G_FILE_TEST_EXISTS)) {
                g_propagate_error(error, wrong);
                return FALSE;
        }
        tool_warn("%s: joined before it was asked", path);
        g_error_free(wrong);
        return TRUE;
}

/* Asks all windows of a folder after the one that *last names, which becomes the newest. */
static gboolean ask_new_windows(const char *folder, const char *sql, char **last, OutputFile *out,
                                GError **error)
{
        g_autoptr(GPtrArray) names = hours_list(folder);

        for (guint i = 0; i < names->len && !query_stopped; i++) {
                g_autofree char *path = g_build_filename(folder, names->pdata[i], NULL);

                if (*last && strcmp(names->pdata[i], *last) <= 0)
                        continue;
                if (!ask_window(path, sql, *last != NULL, out, error))
                        return FALSE;
                g_free(*last);
                *last = g_strdup(names->pdata[i]);
        }
        return TRUE;
}

static gboolean follow_windows(char **argv, GError **error)
{
        g_autofree char *folder = g_build_filename(argv[1], "windows", NULL);
        g_autofree char *last = NULL;
        g_autoptr(OutputFile) out = NULL;
        struct sigaction stop = { .sa_handler = stop_query };

        if (!g_file_test(folder, G_FILE_TEST_IS_DIR))
                return ravel_fail(error, RAVEL_ERROR_INPUT, "%s: not a folder of ravel watch --dir",
                                  argv[1]);
        if (!(out = output_file_new("-", TRUE, error)))
                return FALSE;
        sigaction(SIGINT, &stop, NULL);
        sigaction(SIGTERM, &stop, NULL);
        while (!query_stopped) {
                if (!ask_new_windows(folder, argv[2], &last, out, error))
                        return FALSE;
                g_usleep(PAUSE);
        }
        return output_file_close(g_steal_pointer(&out), error);
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
        GError *error = NULL;
        int status;

        if (!tool_parse("STORE SQL - ask a store in SQL", entries, choices, &argc, &argv, &status))
                return status;
        if (!check_arguments(argc, &error) || !(follow ? follow_windows : ask_store)(argv, &error))
                return tool_fail(error);
        return EXIT_DONE;
}
