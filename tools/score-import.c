/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/score-import.h"

#include <stdio.h>
#include <string.h>

#include "analysis/score.h"
#include "base/error.h"
#include "base/printable.h"
#include "paths/path-text.h"
#include "tools/run-verb.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"
#include "write/text-table.h"

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
        g_autoptr(GPtrArray) arguments = g_ptr_array_new();

        g_ptr_array_add(arguments, "import");
        g_ptr_array_add(arguments, "--whole");
        g_ptr_array_add(arguments, "-w");
        g_ptr_array_add(arguments, w->trace);
        g_ptr_array_add(arguments, "--");
        for (int i = 0; i < n; i++)
                g_ptr_array_add(arguments, files[i]);
        g_ptr_array_add(arguments, NULL);
        return run_verb(tool_import, arguments, NULL);
}

static int find_paths(const Work *w, guint method)
{
        const char *const words[] = { "nesting",
                                      "-o",
                                      w->stores[method],
                                      w->trace,
                                      METHODS[method].option,
                                      METHODS[method].value };
        g_autoptr(GPtrArray) arguments = g_ptr_array_new();
        int status;

        for (guint i = 0; i < G_N_ELEMENTS(words) && words[i]; i++)
                g_ptr_array_add(arguments, (gpointer)words[i]);
        g_ptr_array_add(arguments, NULL);
        status = run_verb(tool_nesting, arguments, w->log);
        if (status != EXIT_DONE)
                show_log(w);
        return status;
}

/* --- the table ------------------------------------------------------------------- */

static char *format_share(guint64 part, guint64 whole)
{
        guint64 permille;

        if (whole == 0)
                return g_strdup("-");
        permille = (part * 2000 + whole) / (whole * 2);
        if (part > 0 && part < whole)
                permille = CLAMP(permille, 1, 999);
        return g_strdup_printf("%" G_GUINT64_FORMAT ".%" G_GUINT64_FORMAT " %%", permille / 10,
                               permille % 10);
}

static void append_table(GString *out, TextTable *table)
{
        text_table_write(table, "", out);
}

static TextTable *new_table(const char *first, const char *const *headings)
{
        TextTable *table = text_table_new();

        text_table_add_column(table, first, TEXT_LEFT, 0);
        for (; *headings; headings++)
                text_table_add_column(table, *headings, TEXT_RIGHT, 0);
        return table;
}

static void append_methods(GString *out, Score *const *scores)
{
        static const char *const headings[] = { "parents right",  "roots right", "requests right",
                                                "patterns found", "made up",     "sure",
                                                "of these right", NULL };
        g_autoptr(TextTable) table = new_table("method", headings);

        for (guint i = 1; i < N_METHODS; i++) {
                const ScoreParents *p = score_parents(scores[i]);
                guint64 sure = p->said[0].calls + p->said[1].calls;
                ScoreRow all;

                score_row(scores[i], G_MAXUINT32, &all);
                text_table_add(table, g_strdup(METHODS[i].name));
                text_table_add(table, format_share(p->right, p->children));
                text_table_add(table, format_share(p->right_roots, p->roots));
                text_table_add(table, format_share(all.right_instances, all.true_instances));
                text_table_add(table, g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT,
                                                      all.true_patterns - all.fn_patterns[0],
                                                      all.true_patterns));
                text_table_add(table, path_format_count(all.fp_patterns));
                text_table_add(table, format_share(sure, p->children));
                text_table_add(table, format_share(p->said[0].right + p->said[1].right, sure));
        }
        append_table(out, table);
}

/* What each method says of its parents, and how right that is: of calls of about one probability.
 */
static void append_classes(GString *out, Score *const *scores)
{
        static const char *const classes[] = { "0.99 to 1", "0.9 to 0.99", "0.5 to 0.9",
                                               "below 0.5" };
        static const char *const headings[] = { "joint", "right", "paper", "right", NULL };
        g_autoptr(TextTable) table = new_table("probability", headings);

        for (guint k = 0; k < SCORE_CLASSES; k++) {
                text_table_add(table, g_strdup(classes[k]));
                for (guint i = 1; i < N_METHODS; i++) {
                        const ScoreClass *said = &score_parents(scores[i])->said[k];

                        text_table_add(table, path_format_count(said->calls));
                        text_table_add(table, format_share(said->right, said->calls));
                }
        }
        g_string_append(out, "\nCalls by the probability of their parents\n");
        append_table(out, table);
}

static int compare_names(gconstpointer a, gconstpointer b, gpointer nodes)
{
        return node_table_compare(a, b, nodes);
}

/* Whose calls' parents can be trusted. */
static void append_nodes(GString *out, const Work *w, const Score *score)
{
        static const char *const headings[] = { "calls", "right", "said", NULL };
        g_autoptr(TextTable) table = new_table("node", headings);
        g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));

        for (NodeId i = 0; i < node_table_size(w->nodes); i++)
                if (score_node(score, i).calls > 0)
                        g_array_append_val(nodes, i);
        g_array_sort_with_data(nodes, compare_names, w->nodes);
        for (guint i = 0; i < nodes->len; i++) {
                NodeId node = g_array_index(nodes, NodeId, i);
                ScoreNode n = score_node(score, node);

                text_table_add(table,
                               printable_new(node_table_name(w->nodes, node), PRINTABLE_TEXT));
                text_table_add(table, path_format_count(n.calls));
                text_table_add(table, format_share(n.right, n.calls));
                text_table_add(table, format_share((guint64)(n.said + 0.5), n.calls));
        }
        g_string_append(out, "\nCalls that have a parent, by the node that makes them: right, and "
                             "right by what joint says\n");
        append_table(out, table);
}

static void append_truth(GString *out, const Score *score)
{
        g_autofree char *calls = NULL, *requests = NULL, *patterns = NULL;
        ScoreRow all;

        score_row(score, G_MAXUINT32, &all);
        calls = path_format_count(all.true_calls);
        requests = path_format_count(all.true_instances);
        patterns = path_format_count(all.true_patterns);
        g_string_append_printf(out, "%s calls of %s requests of %s patterns are known\n\n", calls,
                               requests, patterns);
}

static gboolean write_scores(const Work *w, Score *const *scores, GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(OutputFile) out = output_file_new("-", FALSE, error);

        append_truth(text, scores[1]);
        append_methods(text, scores);
        append_classes(text, scores);
        append_nodes(text, w, scores[1]);
        return out && output_file_write(out, text->str, text->len, error) &&
               output_file_close(g_steal_pointer(&out), error);
}

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
        Score *scores[N_METHODS] = { NULL };
        gboolean ok = TRUE;

        for (guint i = 1; ok && i < N_METHODS; i++)
                ok = (scores[i] = read_score(w, i, error)) != NULL;
        ok = ok && write_scores(w, scores, error);
        for (guint i = 1; i < N_METHODS; i++)
                if (scores[i])
                        score_free(scores[i]);
        return ok;
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
