/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel score TRUE FOUND: how right the paths of a store are, given another that
 * has the true ones; or --import FILE...: how right those are that are inferred of spans.
 */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "tools/run-files.h"
#include "tools/run-verb.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"
#include "write/write-score.h"

/* --- score import ---------------------------------------------------------- */

/* How right inference is on what other programs know: spans to a trace with its truth, the true
 * paths, the paths that each method finds, and a table. */

/* The stores to compare, and the option of nesting that makes each. The first has the true paths.
 */
static const struct {
        const char *name, *option, *value;
} METHODS[] = { { "true", "--cheat", NULL },
                { "joint", "--method", "joint" },
                { "paper", "--method", "paper" } };

enum { N_METHODS = G_N_ELEMENTS(METHODS) };

typedef struct {
        char *trace, *log; /* scratch files */
        char *stores[N_METHODS];
        NodeTable *nodes;
} Work;

static void work_clear(Work *w)
{
        output_scratch_remove(w->trace);
        output_scratch_remove(w->log);
        for (guint i = 0; i < N_METHODS; i++)
                output_scratch_remove(w->stores[i]);
        node_table_free(w->nodes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Work, work_clear)

static gboolean work_begin(Work *w, GError **error)
{
        w->nodes = node_table_new();
        w->trace = output_scratch_new(".trace", error);
        w->log = w->trace ? output_scratch_new(".log", error) : NULL;
        for (guint i = 0; w->log && i < N_METHODS; i++)
                if (!(w->stores[i] = output_scratch_new(".sqlite", error)))
                        return FALSE;
        return w->log != NULL;
}

/* --- the verbs ------------------------------------------------------------------- */

/* What a verb said that failed. */
static void show_log(const Work *w)
{
        g_autofree char *said = NULL;

        if (g_file_get_contents(w->log, &said, NULL, NULL))
                fputs(said, stderr);
}

static int import(Work *w, char **files, int n)
{
        const char *const words[] = { "import", "--whole", "-w", w->trace, "--" };
        g_autoptr(GPtrArray) arguments = g_ptr_array_new();

        for (guint i = 0; i < G_N_ELEMENTS(words); i++)
                g_ptr_array_add(arguments, (gpointer)words[i]);
        for (int i = 0; i < n; i++)
                g_ptr_array_add(arguments, files[i]);
        g_ptr_array_add(arguments, NULL);
        return run_verb(tool_import, (const char *const *)arguments->pdata, NULL);
}

static int find_paths(const Work *w, guint method)
{
        const char *const words[] = { "nesting",
                                      "-o",
                                      w->stores[method],
                                      w->trace,
                                      METHODS[method].option,
                                      METHODS[method].value,
                                      NULL };
        int status = run_verb(tool_nesting, words, w->log);

        if (status != EXIT_DONE)
                show_log(w);
        return status;
}

/* --- the scores ------------------------------------------------------------------ */

static Score *read_score(Work *w, guint method, GError **error)
{
        g_autoptr(StoreReader) truth = store_reader_new(w->stores[0], w->nodes, error);
        g_autoptr(StoreReader) found = NULL;

        if (!truth || !(found = store_reader_new(w->stores[method], w->nodes, error)))
                return NULL;
        return score_new(truth, found, error);
}

static gboolean score_all(Work *w, GError **error)
{
        ScoredMethod scored[N_METHODS - 1] = { { NULL, NULL } };
        g_autoptr(GString) text = g_string_new(NULL);
        gboolean ok = TRUE;

        for (guint i = 1; ok && i < N_METHODS; i++) {
                scored[i - 1] = (ScoredMethod){ METHODS[i].name, read_score(w, i, error) };
                ok = scored[i - 1].score != NULL;
        }
        if (ok)
                score_write_methods(scored, N_METHODS - 1, w->nodes, text);
        for (guint i = 0; i < N_METHODS - 1; i++)
                g_clear_pointer(&scored[i].score, score_free);
        return ok && output_file_put("-", text, error);
}

/* files: n of them, as ravel import takes them. The result is the exit status. */
static int score_import(char **files, int n)
{
        g_auto(Work) w = { 0 };
        GError *error = NULL;
        int imported, status;

        if (!work_begin(&w, &error))
                return tool_fail(error);
        imported = import(&w, files, n);
        if (imported != EXIT_DONE && imported != EXIT_PARTIAL)
                return imported;
        for (guint i = 0; i < N_METHODS; i++)
                if ((status = find_paths(&w, i)) != EXIT_DONE)
                        return status;
        tool_set_verb("score");
        return score_all(&w, &error) ? imported : tool_fail(error);
}

enum { MAX_TOPS = 1000 };

static struct {
        GArray *tops; /* of guint32, as asked for; NULL: not asked */
        char *format;
        gboolean import;
} options;

/* "1,5,10-20" */
static gboolean parse_top(const char *option, const char *value, gpointer data, GError **error)
{
        g_autoptr(GArray) tops = g_array_new(FALSE, FALSE, sizeof(guint32));
        const char *p = value;

        (void)option;
        (void)data;
        do {
                char *end;
                guint64 first = g_ascii_strtoull(p, &end, 10), last = first;

                if (g_ascii_isdigit(*p) && *end == '-' && g_ascii_isdigit(end[1]))
                        last = g_ascii_strtoull(end + 1, &end, 10);
                if (!g_ascii_isdigit(*p) || first < 1 || last < first || last >= ALL_PATTERNS ||
                    last - first >= MAX_TOPS - tops->len || (*end && *end != ','))
                        return ravel_fail(error, RAVEL_ERROR_USAGE,
                                          "found \"%s\", expected up to %d numbers from 1, such as "
                                          "1,5,10-20",
                                          value, MAX_TOPS);
                for (guint32 n = first; n <= last; n++)
                        g_array_append_val(tops, n);
                p = end + 1;
        } while (p[-1] == ',');
        g_clear_pointer(&options.tops, g_array_unref);
        options.tops = g_steal_pointer(&tops);
        return TRUE;
}

static const char *const formats[] = { "text", "tsv", "json", NULL };
static const ToolChoice choices[] = { { "--format", &options.format, formats },
                                      { .option = NULL } };

static const GOptionEntry entries[] = { { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
                                          "text, tsv or json (default text)", "FORMAT" },
                                        { "import", 0, 0, G_OPTION_ARG_NONE, &options.import,
                                          "Score inference on the spans in FILE...", NULL },
                                        { "top", 0, 0, G_OPTION_ARG_CALLBACK, parse_top,
                                          "Numbers of patterns to score, such as 1,5,10-20",
                                          "LIST" },
                                        G_OPTION_ENTRY_NULL };

/* --- are they of the same trace? ------------------------------------------- */

/* The digests of a store's inputs, a line each; NULL where one was not taken. */
static gboolean read_digests(StoreReader *reader, char **digests, GError **error)
{
        g_autoptr(GString) lines = g_string_new(NULL);
        StoredCapture capture;
        gboolean complete = TRUE;
        int status;

        while ((status = store_reader_next_capture(reader, &capture, error)) > 0) {
                complete &= capture.sha256 != NULL;
                g_string_append_printf(lines, "%s\n", capture.sha256 ? capture.sha256 : "");
        }
        *digests = complete && lines->len > 0 ? g_strdup(lines->str) : NULL;
        return status == 0;
}

static gboolean compare_origins(StoreReader *truth, StoreReader *found, GError **error)
{
        g_autofree char *t = NULL, *f = NULL;

        if (!read_digests(truth, &t, error) || !read_digests(found, &f, error))
                return FALSE;
        if (t && f && strcmp(t, f))
                tool_warn(
                        "%s and %s are not of the same trace: the SHA-256 of their inputs differs",
                        store_reader_name(truth), store_reader_name(found));
        tool_compare_parameter(truth, found, "fold");
        tool_compare_parameter(truth, found, "sibling_order");
        if (!strcmp(store_reader_run(found)->method, "cheat") &&
            strcmp(store_reader_run(truth)->method, "cheat"))
                tool_warn("%s has the true paths, of nesting --cheat, and should be named first",
                          store_reader_name(found));
        return TRUE;
}

/* --- the verb -------------------------------------------------------------- */

static gboolean write_score(const Score *score, const StoreReader *truth, const StoreReader *found,
                            GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);

        if (!options.format || !strcmp(options.format, "text"))
                score_write_text(score, options.tops, truth, found, text);
        else if (!strcmp(options.format, "tsv"))
                score_write_tsv(score, options.tops, text);
        else
                score_write_json(score, options.tops, text);
        return output_file_put("-", text, error);
}

static gboolean check_arguments(int argc, GError **error)
{
        if (argc != 3)
                return ravel_fail(
                        error, RAVEL_ERROR_USAGE,
                        "stores named: %d, expected two: of the true paths, and of those found",
                        argc - 1);
        return TRUE;
}

static void say_what_is_compared(const StoreReader *truth, const StoreReader *found)
{
        gboolean has = store_reader_has_labels(truth);

        if (has != store_reader_has_labels(found))
                tool_warn("%s has no operations: patterns are compared by their signatures alone",
                          store_reader_name(has ? found : truth));
}

static gboolean check_import(int argc, GError **error)
{
        if (argc > 1 && !options.format && !options.tops)
                return TRUE;
        return ravel_fail(
                error, RAVEL_ERROR_USAGE,
                argc > 1 ? "--import has a table of its own: expected neither --format nor --top"
                         : "--import: no file named, expected files of spans");
}

int tool_score(int argc, char **argv)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) truth = NULL, found = NULL;
        g_autoptr(Score) score = NULL;
        GError *error = NULL;
        int status;

        if (!tool_parse("TRUE FOUND - how right found paths are", entries, choices, &argc, &argv,
                        &status))
                return status;
        if (options.import)
                return check_import(argc, &error) ? score_import(argv + 1, argc - 1)
                                                  : tool_fail(error);
        if (!check_arguments(argc, &error) || !run_files_read_store(argv[1], &error) ||
            !run_files_read_store(argv[2], &error) || !run_files_write("-w", NULL, &error) ||
            !run_files_confine_reader(FALSE, &error) ||
            !(truth = store_reader_new(argv[1], nodes, &error)) ||
            !(found = store_reader_new(argv[2], nodes, &error)) ||
            !store_reader_expect_requests(truth, &error) ||
            !store_reader_expect_requests(found, &error) ||
            !compare_origins(truth, found, &error) || !(score = score_new(truth, found, &error)))
                return tool_fail(error);
        say_what_is_compared(truth, found);
        if (!write_score(score, truth, found, &error))
                return tool_fail(error);
        return EXIT_DONE;
}
