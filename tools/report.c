/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel report FILE...: one page that shows what was found, or what is found in packets.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/report/report.h"
#include "base/error.h"
#include "nesting/nesting.h"
#include "tools/run-files.h"
#include "tools/run-verb.h"
#include "tools/tool.h"
#include "tracefmt/file-kind.h"
#include "tracefmt/output-file.h"
#include "write/write-advise.h"

/* --- passing store --------------------------------------------------------- */

/* A store that lasts as long as the run, of packets or traces: what ravel capture, merge and
 * nesting make of them one after the other, each in a process of its own (tools/run-verb.h), in
 * files that are gone at the end, also of one by a signal. */

enum { PASSING_INPUTS = 32 }; /* at most */

typedef struct {
        GPtrArray *scratch; /* of char *, removed at the end */
        int status;         /* the greatest exit status of a verb that left a result */
} Steps;

static void steps_clear(Steps *s)
{
        g_ptr_array_unref(s->scratch);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Steps, steps_clear)

/* FILE_CAPTURE where one is among them, else FILE_TRACE; FILE_STORE where one store alone, or
 * something else alone, is named, which the reader of stores says what it is of. FILE_UNKNOWN and
 * error set where these n files cannot be read together. */
static FileKind passing_store_kind(char *const *paths, guint n, GError **error)
{
        FileKind all = n == 1 ? FILE_STORE : FILE_TRACE;

        for (guint i = 0; i < n; i++) {
                FileKind kind = file_kind_read(paths[i]);

                if (kind == FILE_CAPTURE || (kind == FILE_TRACE && n == 1))
                        all = kind;
                if (n == 1 || kind == FILE_CAPTURE || kind == FILE_TRACE)
                        continue;
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                            "%s: %s, expected captures or traces where several are named", paths[i],
                            kind == FILE_STORE ? "this is a store" : "this is none");
                return FILE_UNKNOWN;
        }
        if (n <= PASSING_INPUTS)
                return all;
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                    "%u files, expected at most %d: make one trace of them with ravel merge", n,
                    PASSING_INPUTS);
        return FILE_UNKNOWN;
}

static char *input_name(const char *path)
{
        return strcmp(path, "-") ? g_path_get_basename(path) : g_strdup("standard input");
}

/* "a.pcap, b.pcap" */
static char *join_names(char *const *paths, guint n)
{
        GString *names = g_string_new(NULL);

        for (guint i = 0; i < n; i++) {
                g_autofree char *name = input_name(paths[i]);

                g_string_append_printf(names, i > 0 ? ", %s" : "%s", name);
        }
        return g_string_free(names, FALSE);
}

/* NULL where it cannot be made, which is said. */
static const char *add_scratch(Steps *s, const char *suffix)
{
        GError *error = NULL;
        char *path = output_scratch_new(suffix, &error);

        if (path)
                g_ptr_array_add(s->scratch, path);
        else
                s->status = tool_fail(error);
        return path;
}

/* Whether it left a result, as it also does where that is in part, or not fit. */
static gboolean step(Steps *s, int (*verb)(int, char **), GPtrArray *arguments)
{
        int status;

        g_ptr_array_add(arguments, NULL);
        status = run_verb(verb, (const char *const *)arguments->pdata, NULL);
        s->status = MAX(s->status, status);
        return status == EXIT_DONE || status == EXIT_DIFFERS || status == EXIT_PARTIAL;
}

static GPtrArray *begin_arguments(const char *const *words, const GPtrArray *options)
{
        GPtrArray *arguments = g_ptr_array_new();

        for (; *words; words++)
                g_ptr_array_add(arguments, (gpointer)*words);
        for (guint i = 0; options && i < options->len; i++)
                g_ptr_array_add(arguments, options->pdata[i]);
        return arguments;
}

/* The trace of one input, which is that itself where it is one; NULL where there is none. */
static const char *trace_of(Steps *s, const char *path, const GPtrArray *options)
{
        const char *trace;

        if (file_kind_read(path) != FILE_CAPTURE)
                return path;
        if (!(trace = add_scratch(s, ".trace")))
                return NULL;
        const char *const words[] = { "capture", "-r", path, "-w", trace, NULL };
        g_autoptr(GPtrArray) arguments = begin_arguments(words, options);
        tool_call_input(trace, path);
        return step(s, tool_capture, arguments) ? trace : NULL;
}

/* One trace of all. */
static const char *merge(Steps *s, const GPtrArray *traces, const char *name)
{
        const char *all = add_scratch(s, ".trace");
        const char *const words[] = { "merge", "-w", all, "--", NULL };
        g_autoptr(GPtrArray) arguments = begin_arguments(words, traces);

        tool_call_input(all ? all : "", name);
        return all && step(s, tool_merge, arguments) ? all : NULL;
}

/* FALSE: s->status says why. */
static gboolean find_paths(Steps *s, const char *trace, const GPtrArray *options, const char *store)
{
        const char *const words[] = { "nesting", "-o", store, "-w", "/dev/null", NULL };
        g_autoptr(GPtrArray) arguments = begin_arguments(words, options);

        if (strcmp(trace, "-") != 0) /* before which GLib keeps the dashes */
                g_ptr_array_add(arguments, "--");
        g_ptr_array_add(arguments, (gpointer)trace);
        return step(s, tool_nesting, arguments) && file_kind_read(store) == FILE_STORE;
}

/* Runs them all. capture and nesting are options for these verbs, strings. What there is to say is
 * said by each verb, of the files by their names in paths. Returns the exit status; *store is to
 * be removed by output_scratch_remove(), or NULL where there is none. */
static int passing_store_make(char *const *paths, guint n, const GPtrArray *capture,
                              const GPtrArray *nesting, char **store)
{
        g_auto(Steps) s = { .scratch = g_ptr_array_new_with_free_func(
                                    (GDestroyNotify)output_scratch_remove) };
        g_autoptr(GPtrArray) traces = g_ptr_array_new();
        g_autofree char *names = join_names(paths, n);
        const char *trace, *path;
        guint index;

        *store = NULL;
        for (guint i = 0; i < n; i++) {
                if (!(trace = trace_of(&s, paths[i], capture)))
                        return s.status;
                g_ptr_array_add(traces, (gpointer)trace);
        }
        trace = n > 1 ? merge(&s, traces, names) : traces->pdata[0];
        if (!trace || !(path = add_scratch(&s, ".sqlite")) || !find_paths(&s, trace, nesting, path))
                return s.status;
        if (g_ptr_array_find(s.scratch, path, &index))
                *store = g_ptr_array_steal_index(s.scratch, index);
        return s.status;
}

static struct {
        char *output;
        char **nodes, **protocols;
        char *tls_keys, *method, *format;
        gboolean labels, no_labels, strict;
} options;

static gboolean is_summary; /* of --format json */

static const char *methods[N_NESTING_METHODS + 1]; /* nesting_list_methods() */
static const char *const formats[] = { "html", "json", NULL };
static const ToolChoice choices[] = { { "--method", &options.method, methods },
                                      { "--format", &options.format, formats },
                                      { .option = NULL } };

static const GOptionEntry entries[] = {
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
          "Write to FILE (default report.html)", "FILE" },
        { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
          "html or json, a summary for programs (default html)", "FORMAT" },
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

/* The first interrupt is for the program that writes to the pipe: it ends the input. */
static void let_input_end(int number)
{
        (void)number;
}

static gboolean copy_input(int to)
{
        static char buffer[1 << 16];
        gssize n, done;

        while ((n = read(STDIN_FILENO, buffer, sizeof buffer)) > 0)
                for (gssize at = 0; at < n; at += done)
                        if ((done = write(to, buffer + at, (gsize)(n - at))) < 0)
                                return FALSE;
        return n == 0;
}

/* Makes a pipe on standard input a file, so that its kind is known before a verb reads it. */
static gboolean spool_input(GError **error)
{
        struct sigaction once = { .sa_handler = let_input_end,
                                  .sa_flags = SA_RESTART | (int)SA_RESETHAND };
        struct sigaction usual;
        struct stat st;
        gboolean ok;
        int fd;

        if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
                return TRUE;
        sigaction(SIGINT, &once, &usual);
        fd = output_scratch_open();
        ok = fd >= 0 && copy_input(fd) && lseek(fd, 0, SEEK_SET) == 0 &&
             dup2(fd, STDIN_FILENO) == STDIN_FILENO;
        if (!ok)
                ravel_fail(error, RAVEL_ERROR_OUTPUT, "standard input: cannot be kept in %s: %s",
                           g_get_tmp_dir(), g_strerror(errno));
        if (fd >= 0)
                close(fd);
        sigaction(SIGINT, &usual, NULL);
        return ok;
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
        if (!check_files(paths, n, error) ||
            (g_strv_contains((const char *const *)paths, "-") && !spool_input(error)))
                return FILE_UNKNOWN;
        kind = passing_store_kind(paths, n, error);
        if (kind == FILE_STORE && !strcmp(paths[0], "-")) {
                ravel_fail(error, RAVEL_ERROR_INPUT,
                           "standard input: expected a capture of packets or a trace");
                return FILE_UNKNOWN;
        }
        if (kind == FILE_UNKNOWN ||
            (kind != FILE_CAPTURE && !refuse(capture, "a capture of packets", error)) ||
            (kind == FILE_STORE && !refuse(nesting, "a capture of packets or a trace", error)))
                return FILE_UNKNOWN;
        return kind;
}

/* --- the page ----------------------------------------------------------------------- */

static void say_findings(const Report *r)
{
        for (guint i = 0; r->advice && i < MIN(r->advice->findings->len, FINDINGS_AT_HEAD); i++) {
                g_autofree char *line = finding_sentence(r->advice->findings->pdata[i], r->nodes);

                tool_warn("%s", line);
        }
}

/* made_of: see report_write(). */
static gboolean write_page(const char *store, const char *made_of, GError **error)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = run_files_confine_reader(!is_summary, error)
                                                ? store_reader_new(store, nodes, error)
                                                : NULL;
        g_autoptr(Report) report = reader ? report_new(reader, nodes, error) : NULL;
        g_autoptr(GString) page = g_string_new(NULL);

        if (!report)
                return FALSE;
        if (is_summary)
                report_write_summary(report, reader, made_of, page);
        else if (!report_write(report, reader, made_of, page, error))
                return FALSE;
        say_findings(report);
        return output_file_put(options.output, page, error);
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

/* A page of nothing helps nobody: why there is nothing was said. */
static gboolean has_messages(const char *store)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = store_reader_new(store, nodes, NULL);

        return !reader || store_reader_run(reader)->messages > 0;
}

static int report_made(char **paths, guint n, const GPtrArray *capture, const GPtrArray *nesting)
{
        g_autofree char *first = input_name(paths[0]);
        g_autofree char *made_of =
                n > 1 ? g_strdup_printf("%s and %u more", first, n - 1) : g_strdup(first);
        GError *error = NULL;
        char *store;
        int status = passing_store_make(paths, n, capture, nesting, &store);

        if (!store)
                return status;
        if (has_messages(store) && !write_page(store, made_of, &error))
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
        is_summary = tool_choice_index(options.format, formats) > 0;
        if (!options.output)
                options.output = g_strdup(is_summary ? "-" : "report.html");
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
