/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How right paths are, in each format (docs/algorithms.md).
 */
#include "write/write-score.h"

#include "base/each.h"
#include "base/printable.h"
#include "paths/path-text.h"
#include "write/fields.h"
#include "write/text-table.h"

/* --- rows ------------------------------------------------------------------ */

typedef struct {
        guint32 top;
        ScoreRow row;
} TopRow;

/* Those asked for, or the usual ones, and all at the end. */
static GArray *score_rows(const Score *score, const GArray *asked)
{
        static const guint32 usual[] = { 1, 2, 5, 10, 20, 50, 100 };
        GArray *rows = g_array_new(FALSE, FALSE, sizeof(TopRow));
        const guint32 *tops = asked ? (const guint32 *)asked->data : usual;
        guint n = asked ? asked->len : G_N_ELEMENTS(usual);
        TopRow all = { .top = ALL_PATTERNS };

        score_row(score, ALL_PATTERNS, &all.row);
        for (guint i = 0; i < n; i++) {
                TopRow r = { .top = tops[i] };

                if (!asked && r.top >= all.row.true_patterns && r.top >= all.row.found_patterns)
                        break;
                score_row(score, r.top, &r.row);
                g_array_append_val(rows, r);
        }
        g_array_append_val(rows, all);
        return rows;
}

static const Field count_fields[] = {
        { "true_patterns", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, true_patterns) },
        { "fn_patterns", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, fn_patterns[0]) },
        { "fn_patterns_2", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, fn_patterns[1]) },
        { "fn_patterns_6", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, fn_patterns[2]) },
        { "found_patterns", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, found_patterns) },
        { "fp_patterns", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, fp_patterns) },
        { "true_instances", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, true_instances) },
        { "right_instances", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, right_instances) },
        { "fn_instances", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, fn_instances) },
        { "found_instances", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, found_instances) },
        { "fp_instances", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, fp_instances) },
        { "true_calls", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, true_calls) },
        { "fn_calls", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, fn_calls) },
        { "found_calls", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, found_calls) },
        { "fp_calls", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, fp_calls) },
        { "children", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, children) },
        { "right_parents", FIELD_COUNT, G_STRUCT_OFFSET(ScoreRow, right_parents) },
};

/* Each with its share. */
static const struct {
        const char *name, *share_name;
        gsize offset;
} delays[] = {
        { "latency_mean_error", "latency_mean_error_share",
          G_STRUCT_OFFSET(ScoreRow, latency_mean) },
        { "latency_p99_error", "latency_p99_error_share", G_STRUCT_OFFSET(ScoreRow, latency_p99) },
        { "own_mean_error", "own_mean_error_share", G_STRUCT_OFFSET(ScoreRow, own_mean) },
        { "own_p99_error", "own_p99_error_share", G_STRUCT_OFFSET(ScoreRow, own_p99) },
};

static const Field parent_fields[] = {
        { "calls_in_both", FIELD_COUNT, G_STRUCT_OFFSET(ScoreParents, in_both) },
        { "children", FIELD_COUNT, G_STRUCT_OFFSET(ScoreParents, children) },
        { "right_parents", FIELD_COUNT, G_STRUCT_OFFSET(ScoreParents, right) },
        { "other_parents", FIELD_COUNT, G_STRUCT_OFFSET(ScoreParents, other) },
        { "no_parents", FIELD_COUNT, G_STRUCT_OFFSET(ScoreParents, none) },
        { "not_found", FIELD_COUNT, G_STRUCT_OFFSET(ScoreParents, gone) },
        { "roots", FIELD_COUNT, G_STRUCT_OFFSET(ScoreParents, roots) },
        { "right_roots", FIELD_COUNT, G_STRUCT_OFFSET(ScoreParents, right_roots) },
};

/* The mean error in ns, and as a share of the delays; FALSE where there are none. */
static gboolean row_error(const ScoreRow *row, guint i, gint64 *ns, double *share)
{
        const ScoreDelay *d = &G_STRUCT_MEMBER(ScoreDelay, row, delays[i].offset);

        if (row->delays == 0 || d->sum <= 0)
                return FALSE;
        *ns = (gint64)((d->error + row->delays / 2) / row->delays);
        *share = (double)d->error / (double)d->sum;
        return TRUE;
}

/* --- tsv and json ---------------------------------------------------------- */

static void append_delay_cells(GString *out, const ScoreRow *row, guint i)
{
        gint64 ns;
        double share;

        if (!row_error(row, i, &ns, &share)) {
                g_string_append(out, "-\t-\t");
                return;
        }
        path_append_integer(out, ns);
        g_string_append_c(out, '\t');
        path_append_number(out, share, "%.6g");
        g_string_append_c(out, '\t');
}

void score_write_tsv(const Score *score, const GArray *tops, GString *out)
{
        g_autoptr(GArray) rows = score_rows(score, tops);

        g_string_append(out, "top\t");
        fields_append_names(out, count_fields, G_N_ELEMENTS(count_fields));
        for (guint i = 0; i < G_N_ELEMENTS(delays); i++)
                g_string_append_printf(out, "%s\t%s\t", delays[i].name, delays[i].share_name);
        out->str[out->len - 1] = '\n';
        EACH (const TopRow, r, rows) {
                if (r->top == ALL_PATTERNS)
                        g_string_append(out, "all\t");
                else
                        g_string_append_printf(out, "%u\t", r->top);
                fields_append_cells(out, count_fields, G_N_ELEMENTS(count_fields), &r->row);
                for (guint i = 0; i < G_N_ELEMENTS(delays); i++)
                        append_delay_cells(out, &r->row, i);
                out->str[out->len - 1] = '\n';
        }
}

static void put_delay(Json *j, const ScoreRow *row, guint i)
{
        gint64 ns;
        double share;
        gboolean known = row_error(row, i, &ns, &share);

        json_key(j, delays[i].name);
        if (known)
                json_time(j, ns);
        else
                json_null(j);
        json_key(j, delays[i].share_name);
        if (known)
                json_number(j, share, "%.6g");
        else
                json_null(j);
}

static void score_text_put_row(Json *j, const TopRow *r)
{
        json_line(j, 4);
        json_open(j, '{');
        json_key(j, "top");
        if (r->top == ALL_PATTERNS)
                json_null(j);
        else
                json_count(j, r->top);
        fields_put(j, count_fields, G_N_ELEMENTS(count_fields), &r->row);
        for (guint i = 0; i < G_N_ELEMENTS(delays); i++)
                put_delay(j, &r->row, i);
        json_close(j, '}');
}

static void score_text_put_drawn(const Score *score, Json *j)
{
        ScoreDrawn d = score_drawn(score);

        if (d.first == 0)
                return;
        json_line(j, 2);
        json_put_open(j, "drawn", '{');
        json_put_count(j, "first", d.first);
        json_put_count(j, "true", d.true_drawn);
        json_put_count(j, "true_found", d.true_found);
        json_put_number(j, "overlap", d.overlap_drawn, "%.6g");
        json_put_number(j, "overlap_found", d.overlap_found, "%.6g");
        json_close(j, '}');
}

/* Calls, then parents and roots, a line each. */
static void put_parents(const Score *score, Json *j)
{
        const ScoreParents *p = score_parents(score);
        static const guint lines[] = { 0, 1, 6, G_N_ELEMENTS(parent_fields) };

        for (guint i = 0; i + 1 < G_N_ELEMENTS(lines); i++) {
                json_line(j, 2);
                fields_put(j, parent_fields + lines[i], lines[i + 1] - lines[i], p);
        }
}

void score_write_json(const Score *score, const GArray *tops, GString *out)
{
        g_autoptr(GArray) rows = score_rows(score, tops);
        Json j = JSON_IN(out);

        json_open_document(&j, "ravel score");
        put_parents(score, &j);
        score_text_put_drawn(score, &j);
        json_line(&j, 2);
        json_put_open(&j, "rows", '[');
        for (guint k = 0; k < rows->len; k++)
                score_text_put_row(&j, &g_array_index(rows, TopRow, k));
        json_close(&j, ']');
        g_string_append_c(out, '\n');
        json_close(&j, '}');
        g_string_append_c(out, '\n');
}

/* --- text ------------------------------------------------------------------ */

/* "98.7 %"; all or nothing only where it is. */
static char *score_text_format_share(guint64 part, guint64 whole)
{
        guint64 permille;

        if (whole == 0)
                return g_strdup("-");
        permille = (guint64)(((gint128)part * 2000 + whole) / ((gint128)whole * 2));
        if (part > 0 && part < whole)
                permille = CLAMP(permille, 1, 999);
        return g_strdup_printf("%" G_GUINT64_FORMAT ".%" G_GUINT64_FORMAT " %%", permille / 10,
                               permille % 10);
}

static void append_store(GString *out, const char *role, const StoreReader *reader,
                         guint64 instances, guint64 patterns, guint64 calls)
{
        g_string_append_printf(out, "%s  ", role);
        text_append_count(out, instances, "path instances of ");
        text_append_count(out, patterns, "patterns, ");
        text_append_count(out, calls, "calls");
        g_string_append_printf(out, " (%s, method %s)\n", store_reader_name(reader),
                               store_reader_run(reader)->method);
}

static void append_parents(GString *out, const Score *score, const ScoreRow *all)
{
        const ScoreParents *p = score_parents(score);
        g_autofree char *parents = score_text_format_share(p->right, p->children);
        g_autofree char *roots = score_text_format_share(p->right_roots, p->roots);
        g_autofree char *instances =
                score_text_format_share(all->right_instances, all->true_instances);

        g_string_append_printf(out, "\nparents    %s right: ", parents);
        text_append_count(out, p->right, "of ");
        text_append_count(out, p->children, "calls that have one; ");
        text_append_count(out, p->other, "were given another, ");
        text_append_count(out, p->none, "none, ");
        text_append_count(out, p->gone, "were not found");
        g_string_append_printf(out, "\nroots      %s right: ", roots);
        text_append_count(out, p->right_roots, "of ");
        text_append_count(out, p->roots, "calls without a parent");
        g_string_append_printf(out, "\ninstances  %s right in every call: ", instances);
        text_append_count(out, all->right_instances, "of ");
        text_append_count(out, all->true_instances, "path instances\n");
        if (p->in_both < all->true_calls || p->in_both < all->found_calls) {
                g_string_append(out, "calls      ");
                text_append_count(out, p->in_both, "in both; ");
                text_append_count(out, all->true_calls - p->in_both, "only among the true ones, ");
                text_append_count(out, all->found_calls - p->in_both, "only among those found\n");
        }
}

static char *format_top(const TopRow *r)
{
        return r->top == ALL_PATTERNS ? g_strdup("all") : path_format_count(r->top);
}

static void score_text_append_patterns(GString *out, const GArray *rows)
{
        static const char *const headings[] = { "top",    "true",  "FN", "FN 2 %",
                                                "FN 6 %", "found", "FP", NULL };
        g_autoptr(TextTable) table = text_table_new_headed(TEXT_RIGHT, headings);

        EACH (const TopRow, r, rows) {
                text_table_add(table, format_top(r));
                text_table_add(table, path_format_count(r->row.true_patterns));
                for (guint i = 0; i < SCORE_TOLERANCES; i++)
                        text_table_add(table, path_format_count(r->row.fn_patterns[i]));
                text_table_add(table, path_format_count(r->row.found_patterns));
                text_table_add(table, path_format_count(r->row.fp_patterns));
        }
        g_string_append(out, "\nPath patterns, the N most frequent ones\n");
        text_table_write(table, "", out);
}

/* Where the found store has counts by drawings. */
static void score_text_append_drawn(GString *out, const Score *score)
{
        ScoreDrawn d = score_drawn(score);

        if (d.first == 0)
                return;
        g_string_append_printf(
                out,
                "\nBy drawings: of the first %u patterns %u true, by the paths found "
                "%u; counts agree in %.1f %% of all paths, by the paths found in %.1f %%\n",
                d.first, d.true_drawn, d.true_found, 100 * d.overlap_drawn, 100 * d.overlap_found);
}

static void append_instances(GString *out, const GArray *rows)
{
        static const char *const headings[] = { "top",           "instances", "FN", "FP",
                                                "right",         "calls",     "FN", "FP",
                                                "parents right", NULL };
        g_autoptr(TextTable) table = text_table_new_headed(TEXT_RIGHT, headings);

        EACH (const TopRow, r, rows) {
                const ScoreRow *row = &r->row;

                text_table_add(table, format_top(r));
                text_table_add(table, path_format_count(row->true_instances));
                text_table_add(table, path_format_count(row->fn_instances));
                text_table_add(table, path_format_count(row->fp_instances));
                text_table_add(table,
                               score_text_format_share(row->right_instances, row->true_instances));
                text_table_add(table, path_format_count(row->true_calls));
                text_table_add(table, path_format_count(row->fn_calls));
                text_table_add(table, path_format_count(row->fp_calls));
                text_table_add(table, score_text_format_share(row->right_parents, row->children));
        }
        g_string_append(out, "\nTheir path instances and calls\n");
        text_table_write(table, "", out);
}

static void append_delays(GString *out, const GArray *rows)
{
        static const char *const headings[] = {
                "top", "latency mean", "", "p99", "", "own time mean", "", "p99", "", NULL
        };
        g_autoptr(TextTable) table = text_table_new_headed(TEXT_RIGHT, headings);

        EACH (const TopRow, r, rows) {
                text_table_add(table, format_top(r));
                for (guint i = 0; i < G_N_ELEMENTS(delays); i++) {
                        gint64 ns;
                        double share;

                        if (row_error(&r->row, i, &ns, &share)) {
                                text_table_add(table, path_format_duration(ns));
                                text_table_add(table, g_strdup_printf("%.1f %%", 100 * share));
                        } else {
                                text_table_add(table, g_strdup("-"));
                                text_table_add(table, g_strdup(""));
                        }
                }
        }
        g_string_append(out,
                        "\nError of the delays of nodes, on those true patterns that were found\n");
        text_table_write(table, "", out);
}

void score_write_text(const Score *score, const GArray *tops, const StoreReader *truth,
                      const StoreReader *found, GString *out)
{
        g_autoptr(GArray) rows = score_rows(score, tops);
        const ScoreRow *all = &g_array_index(rows, TopRow, rows->len - 1).row;

        append_store(out, "true ", truth, all->true_instances, all->true_patterns, all->true_calls);
        append_store(out, "found", found, all->found_instances, all->found_patterns,
                     all->found_calls);
        append_parents(out, score, all);
        score_text_append_patterns(out, rows);
        score_text_append_drawn(out, score);
        append_instances(out, rows);
        append_delays(out, rows);
}

/* --- methods compared ------------------------------------------------------- */

static void append_methods(GString *out, const ScoredMethod *methods, guint n)
{
        static const char *const headings[] = { "method",         "parents right",  "roots right",
                                                "requests right", "patterns found", "made up",
                                                "sure",           "of these right", NULL };
        g_autoptr(TextTable) table = text_table_new_headed(TEXT_LEFT, headings);

        for (guint i = 0; i < n; i++) {
                const ScoreParents *p = score_parents(methods[i].score);
                guint64 sure = p->said[0].calls + p->said[1].calls;
                ScoreRow all;

                score_row(methods[i].score, ALL_PATTERNS, &all);
                text_table_add(table, g_strdup(methods[i].name));
                text_table_add(table, score_text_format_share(p->right, p->children));
                text_table_add(table, score_text_format_share(p->right_roots, p->roots));
                text_table_add(table,
                               score_text_format_share(all.right_instances, all.true_instances));
                text_table_add(table, g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT,
                                                      all.true_patterns - all.fn_patterns[0],
                                                      all.true_patterns));
                text_table_add(table, path_format_count(all.fp_patterns));
                text_table_add(table, score_text_format_share(sure, p->children));
                text_table_add(table,
                               score_text_format_share(p->said[0].right + p->said[1].right, sure));
        }
        text_table_write(table, "", out);
}

/* What each method says of its parents, and how right that is: of calls of about one probability.
 */
static void append_classes(GString *out, const ScoredMethod *methods, guint n)
{
        static const char *const classes[] = { "0.99 to 1", "0.9 to 0.99", "0.5 to 0.9",
                                               "below 0.5" };
        g_autoptr(TextTable) table = text_table_new();

        text_table_add_column(table, "probability", TEXT_LEFT, 0);
        for (guint i = 0; i < n; i++) {
                text_table_add_column(table, methods[i].name, TEXT_RIGHT, 0);
                text_table_add_column(table, "right", TEXT_RIGHT, 0);
        }
        for (guint k = 0; k < SCORE_CLASSES; k++) {
                text_table_add(table, g_strdup(classes[k]));
                for (guint i = 0; i < n; i++) {
                        const ScoreClass *said = &score_parents(methods[i].score)->said[k];

                        text_table_add(table, path_format_count(said->calls));
                        text_table_add(table, score_text_format_share(said->right, said->calls));
                }
        }
        g_string_append(out, "\nCalls by the probability of their parents\n");
        text_table_write(table, "", out);
}

static int compare_node_names(gconstpointer a, gconstpointer b, gpointer nodes)
{
        return node_table_compare(a, b, nodes);
}

/* Whose calls' parents can be trusted. */
static void append_nodes(GString *out, const ScoredMethod *method, NodeTable *names)
{
        static const char *const headings[] = { "node", "calls", "right", "said", NULL };
        g_autoptr(TextTable) table = text_table_new_headed(TEXT_LEFT, headings);
        g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));

        for (NodeId i = 0; i < node_table_size(names); i++)
                if (score_node(method->score, i).calls > 0)
                        g_array_append_val(nodes, i);
        g_array_sort_with_data(nodes, compare_node_names, names);
        for (guint i = 0; i < nodes->len; i++) {
                NodeId node = g_array_index(nodes, NodeId, i);
                ScoreNode n = score_node(method->score, node);

                text_table_add(table, printable_new(node_table_name(names, node), PRINTABLE_TEXT));
                text_table_add(table, path_format_count(n.calls));
                text_table_add(table, score_text_format_share(n.right, n.calls));
                text_table_add(table, score_text_format_share((guint64)(n.said + 0.5), n.calls));
        }
        g_string_append_printf(
                out,
                "\nCalls that have a parent, by the node that makes them: right, and "
                "right by what %s says\n",
                method->name);
        text_table_write(table, "", out);
}

void score_write_methods(const ScoredMethod *methods, guint n, NodeTable *nodes, GString *out)
{
        ScoreRow all;

        score_row(methods->score, ALL_PATTERNS, &all);
        text_append_count(out, all.true_calls, "calls of ");
        text_append_count(out, all.true_instances, "requests of ");
        text_append_count(out, all.true_patterns, "patterns are known\n\n");
        append_methods(out, methods, n);
        append_classes(out, methods, n);
        append_nodes(out, methods, nodes);
}
