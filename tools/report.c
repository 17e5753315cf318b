/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel report FILE...: one page that shows what was found, or what is found in packets.
 */
#include "analysis/report/report.h"
#include "base/error.h"
#include "nesting/nesting.h"
#include "tools/passing-store.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"

static struct {
        char *output;
        char **nodes, **protocols;
        char *tls_keys, *method;
        gboolean labels, no_labels, strict;
} options;

static const char *methods[N_NESTING_METHODS + 1]; /* nesting_list_methods() */
static const ToolChoice choices[] = { { "--method", &options.method, methods },
                                      { .option = NULL } };

static const GOptionEntry entries[] = {
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
          "Write to FILE (default report.html)", "FILE" },
        { "nodes", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.nodes,
          "Packets: names, as for ravel capture", "FILE" },
        { "labels", 0, 0, G_OPTION_ARG_NONE, &options.labels,
          "Packets: operations with whole routes", NULL },
        { "no-labels", 0, 0, G_OPTION_ARG_NONE, &options.no_labels, "Packets: no operations",
          NULL },
        { "proto", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.protocols,
          "Packets: port PORT speaks NAME", "PORT=NAME" },
        { "tls-keys", 0, 0, G_OPTION_ARG_FILENAME, &options.tls_keys,
          "Packets: decrypt TLS by the keys in FILE", "FILE" },
        { "method", 0, 0, G_OPTION_ARG_STRING, &options.method,
          "Packets, traces: joint, paper or oracle", "METHOD" },
        { "strict", 0, 0, G_OPTION_ARG_NONE, &options.strict,
          "Packets, traces: exit with 1 if not fit", NULL },
        G_OPTION_ENTRY_NULL
};

/* --- the options of other verbs ------------------------------------------------- */

static void add_option(GPtrArray *options_of, const char *name, const char *value)
{
        if (value) {
                g_ptr_array_add(options_of, (gpointer)name);
                g_ptr_array_add(options_of, (gpointer)value);
        }
}

static void add_flag(GPtrArray *options_of, const char *name, gboolean given)
{
        if (given)
                g_ptr_array_add(options_of, (gpointer)name);
}

static GPtrArray *capture_options(void)
{
        GPtrArray *capture = g_ptr_array_new();

        for (char **p = options.nodes; p && *p; p++)
                add_option(capture, "--nodes", *p);
        for (char **p = options.protocols; p && *p; p++)
                add_option(capture, "--proto", *p);
        add_option(capture, "--tls-keys", options.tls_keys);
        add_flag(capture, "--labels", options.labels);
        add_flag(capture, "--no-labels", options.no_labels);
        return capture;
}

static GPtrArray *nesting_options(void)
{
        GPtrArray *nesting = g_ptr_array_new();

        add_option(nesting, "--method", options.method);
        add_flag(nesting, "--strict", options.strict);
        return nesting;
}

/* --- what is read ----------------------------------------------------------------- */

static gboolean refuse(const GPtrArray *given, const char *expected, GError **error)
{
        return given->len == 0 || ravel_fail(error, RAVEL_ERROR_USAGE, "%s: expected %s with it",
                                             (const char *)given->pdata[0], expected);
}

static gboolean check_files(char **paths, guint n, GError **error)
{
        for (guint i = 0; i < n; i++)
                if (!run_files_read(paths[i], error))
                        return FALSE;
        for (char **p = options.nodes; p && *p; p++)
                if (!run_files_read(*p, error))
                        return FALSE;
        return (!options.tls_keys || run_files_read(options.tls_keys, error)) &&
               run_files_write("-o", options.output, error);
}

/* FILE_UNKNOWN: error is set. */
static FileKind check_arguments(char **paths, guint n, const GPtrArray *capture,
                                const GPtrArray *nesting, GError **error)
{
        FileKind kind;

        if (n == 0) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                            "no file named: expected a capture of packets, a trace, or a store "
                            "made with ravel nesting -o");
                return FILE_UNKNOWN;
        }
        kind = passing_store_kind(paths, n, error);
        if (kind == FILE_UNKNOWN || !check_files(paths, n, error) ||
            (kind != FILE_CAPTURE && !refuse(capture, "a capture of packets", error)) ||
            (kind == FILE_STORE && !refuse(nesting, "a capture of packets or a trace", error)))
                return FILE_UNKNOWN;
        return kind;
}

/* --- the page ----------------------------------------------------------------------- */

/* made_of: see report_write(). */
static gboolean write_page(const char *store, const char *made_of, GError **error)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = store_reader_new(store, nodes, error);
        g_autoptr(Report) report = reader ? report_new(reader, nodes, error) : NULL;
        g_autoptr(GString) page = g_string_new(NULL);

        return report && report_write(report, reader, made_of, page, error) &&
               output_file_put(options.output, page, error);
}

/* What was taken for a store may have been meant to be something else. */
static int fail(const char *path, GError *error)
{
        GError *longer;

        if (!g_error_matches(error, RAVEL_ERROR, RAVEL_ERROR_INPUT) ||
            !g_file_test(path, G_FILE_TEST_IS_REGULAR) || file_kind_read(path) != FILE_UNKNOWN)
                return tool_fail(error);
        longer = g_error_new(error->domain, error->code, "%s, or a capture of packets, or a trace",
                             error->message);
        g_error_free(error);
        return tool_fail(longer);
}

static int report_made(char **paths, guint n, const GPtrArray *capture, const GPtrArray *nesting)
{
        g_autofree char *first = g_path_get_basename(paths[0]);
        g_autofree char *made_of =
                n > 1 ? g_strdup_printf("%s and %u more", first, n - 1) : g_strdup(first);
        GError *error = NULL;
        char *store;
        int status = passing_store_make(paths, n, capture, nesting, &store);

        if (!store)
                return status;
        if (!write_page(store, made_of, &error))
                status = tool_fail(error);
        output_scratch_remove(store);
        return status;
}

int tool_report(int argc, char **argv)
{
        g_autoptr(GPtrArray) capture = NULL, nesting = NULL;
        GError *error = NULL;
        FileKind kind;
        int status;

        nesting_list_methods(methods);
        if (!tool_parse("FILE... - a page of packets, a trace or a store", entries, choices, &argc,
                        &argv, &status))
                return status;
        if (!options.output)
                options.output = g_strdup("report.html");
        capture = capture_options();
        nesting = nesting_options();
        kind = check_arguments(argv + 1, (guint)argc - 1, capture, nesting, &error);
        if (kind == FILE_CAPTURE || kind == FILE_TRACE)
                return report_made(argv + 1, (guint)argc - 1, capture, nesting);
        if (kind == FILE_UNKNOWN)
                return tool_fail(error);
        if (!write_page(argv[1], NULL, &error))
                return fail(argv[1], error);
        return EXIT_DONE;
}
