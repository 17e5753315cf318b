/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/score-import.h"

#include <stdio.h>

#include "tools/run-verb.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"
#include "write/write-score.h"

/* What is compared: a store each, and what nesting is asked for to make it. The first is true. */
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
        ScoredMethod scored[N_METHODS - 1] = { { NULL } };
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

int score_import(char **files, int n)
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
