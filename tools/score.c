/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel score TRUE FOUND: how right the paths of a store are, given another that
 * has the true ones; or --import FILE...: how right those are that are inferred of spans.
 */
#include <string.h>

#include "base/error.h"
#include "paths/path-text.h"
#include "paths/score.h"
#include "paths/write/json.h"
#include "paths/write/path-write.h"
#include "paths/write/text-table.h"
#include "tools/run-files.h"
#include "tools/score-import.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"

#define ALL_PATTERNS G_MAXUINT32

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
                    last - first >= MAX_TOPS - tops->len || (*end && *end != ',')) {
                        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                                    "found \"%s\", expected up to %d numbers from 1, such as "
                                    "1,5,10-20",
                                    value, MAX_TOPS);
                        return FALSE;
                }
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

/* --- rows ------------------------------------------------------------------ */

typedef struct {
        guint32 top;
        ScoreRow row;
} TopRow;

/* Those asked for, and all at the end. */
static GArray *score_rows(const Score *score)
{
        static const guint32 usual[] = { 1, 2, 5, 10, 20, 50, 100 };
        GArray *rows = g_array_new(FALSE, FALSE, sizeof(TopRow));
        const guint32 *tops = options.tops ? (const guint32 *)options.tops->data : usual;
        guint n = options.tops ? options.tops->len : G_N_ELEMENTS(usual);
        TopRow all = { .top = ALL_PATTERNS };

        score_row(score, ALL_PATTERNS, &all.row);
        for (guint i = 0; i < n; i++) {
                TopRow r = { .top = tops[i] };

                if (!options.tops && r.top >= all.row.true_patterns &&
                    r.top >= all.row.found_patterns)
                        break;
                score_row(score, r.top, &r.row);
                g_array_append_val(rows, r);
        }
        g_array_append_val(rows, all);
        return rows;
}

/* The counts of a row by name, in the order of writing. */
static const struct {
        const char *name;
        gsize offset;
} counts[] = {
        { "true_patterns", G_STRUCT_OFFSET(ScoreRow, true_patterns) },
        { "fn_patterns", G_STRUCT_OFFSET(ScoreRow, fn_patterns[0]) },
        { "fn_patterns_2", G_STRUCT_OFFSET(ScoreRow, fn_patterns[1]) },
        { "fn_patterns_6", G_STRUCT_OFFSET(ScoreRow, fn_patterns[2]) },
        { "found_patterns", G_STRUCT_OFFSET(ScoreRow, found_patterns) },
        { "fp_patterns", G_STRUCT_OFFSET(ScoreRow, fp_patterns) },
        { "true_instances", G_STRUCT_OFFSET(ScoreRow, true_instances) },
        { "right_instances", G_STRUCT_OFFSET(ScoreRow, right_instances) },
        { "fn_instances", G_STRUCT_OFFSET(ScoreRow, fn_instances) },
        { "found_instances", G_STRUCT_OFFSET(ScoreRow, found_instances) },
        { "fp_instances", G_STRUCT_OFFSET(ScoreRow, fp_instances) },
        { "true_calls", G_STRUCT_OFFSET(ScoreRow, true_calls) },
        { "fn_calls", G_STRUCT_OFFSET(ScoreRow, fn_calls) },
        { "found_calls", G_STRUCT_OFFSET(ScoreRow, found_calls) },
        { "fp_calls", G_STRUCT_OFFSET(ScoreRow, fp_calls) },
        { "children", G_STRUCT_OFFSET(ScoreRow, children) },
        { "right_parents", G_STRUCT_OFFSET(ScoreRow, right_parents) },
};

static const struct {
        const char *name;
        gsize offset;
} delays[] = {
        { "latency_mean_error", G_STRUCT_OFFSET(ScoreRow, latency_mean) },
        { "latency_p99_error", G_STRUCT_OFFSET(ScoreRow, latency_p99) },
        { "own_mean_error", G_STRUCT_OFFSET(ScoreRow, own_mean) },
        { "own_p99_error", G_STRUCT_OFFSET(ScoreRow, own_p99) },
};

static guint64 row_count(const ScoreRow *row, guint i)
{
        return G_STRUCT_MEMBER(guint64, row, counts[i].offset);
}

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

static void append_share(GString *out, double share)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append(out, g_ascii_formatd(text, sizeof text, "%.6g", share));
}

static void write_tsv(const GArray *rows, GString *out)
{
        g_string_append(out, "top");
        for (guint i = 0; i < G_N_ELEMENTS(counts); i++)
                g_string_append_printf(out, "\t%s", counts[i].name);
        for (guint i = 0; i < G_N_ELEMENTS(delays); i++)
                g_string_append_printf(out, "\t%s\t%s_share", delays[i].name, delays[i].name);
        for (guint k = 0; k < rows->len; k++) {
                const TopRow *r = &g_array_index(rows, TopRow, k);

                if (r->top == ALL_PATTERNS)
                        g_string_append(out, "\nall");
                else
                        g_string_append_printf(out, "\n%u", r->top);
                for (guint i = 0; i < G_N_ELEMENTS(counts); i++)
                        g_string_append_printf(out, "\t%" G_GUINT64_FORMAT, row_count(&r->row, i));
                for (guint i = 0; i < G_N_ELEMENTS(delays); i++) {
                        gint64 ns;
                        double share;

                        if (row_error(&r->row, i, &ns, &share)) {
                                g_string_append_printf(out, "\t%" G_GINT64_FORMAT "\t", ns);
                                append_share(out, share);
                        } else {
                                g_string_append(out, "\t-\t-");
                        }
                }
        }
        g_string_append_c(out, '\n');
}

static void put_row(Json *j, const TopRow *r)
{
        json_line(j, 4);
        json_open(j, '{');
        json_key(j, "top");
        if (r->top == ALL_PATTERNS)
                json_null(j);
        else
                json_count(j, r->top);
        for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
                json_put_count(j, counts[i].name, row_count(&r->row, i));
        }
        for (guint i = 0; i < G_N_ELEMENTS(delays); i++) {
                g_autofree char *share_key = g_strdup_printf("%s_share", delays[i].name);
                gint64 ns;
                double share;
                gboolean known = row_error(&r->row, i, &ns, &share);

                json_key(j, delays[i].name);
                if (known)
                        json_time(j, ns);
                else
                        json_null(j);
                json_key(j, share_key);
                if (known)
                        json_number(j, share, "%.6g");
                else
                        json_null(j);
        }
        json_close(j, '}');
}

static void put_drawn(const Score *score, Json *j)
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

static void write_json(const Score *score, const GArray *rows, GString *out)
{
        const ScoreParents *p = score_parents(score);
        const struct {
                const char *key;
                guint64 n;
                gboolean line; /* it begins one */
        } parents[] = {
                { "calls_in_both", p->in_both, TRUE }, { "children", p->children, TRUE },
                { "right_parents", p->right, FALSE },  { "other_parents", p->other, FALSE },
                { "no_parents", p->none, FALSE },      { "not_found", p->gone, FALSE },
                { "roots", p->roots, TRUE },           { "right_roots", p->right_roots, FALSE },
        };
        Json j = JSON_IN(out);

        json_open(&j, '{');
        json_line(&j, 2);
        json_put_string(&j, "format", "ravel score");
        json_put_count(&j, "version", 1);
        for (guint i = 0; i < G_N_ELEMENTS(parents); i++) {
                if (parents[i].line)
                        json_line(&j, 2);
                json_put_count(&j, parents[i].key, parents[i].n);
        }
        put_drawn(score, &j);
        json_line(&j, 2);
        json_put_open(&j, "rows", '[');
        for (guint k = 0; k < rows->len; k++)
                put_row(&j, &g_array_index(rows, TopRow, k));
        json_close(&j, ']');
        g_string_append_c(out, '\n');
        json_close(&j, '}');
        g_string_append_c(out, '\n');
}

/* --- text ------------------------------------------------------------------ */

/* "98.7 %"; all or nothing only where it is. */
static char *format_share(guint64 part, guint64 whole)
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

static void append_count(GString *out, guint64 n, const char *what)
{
        g_autofree char *text = path_format_count(n);

        g_string_append_printf(out, "%s %s", text, what);
}

static void append_store(GString *out, const char *role, const StoreReader *reader,
                         guint64 instances, guint64 patterns, guint64 calls)
{
        g_string_append_printf(out, "%s  ", role);
        append_count(out, instances, "path instances of ");
        append_count(out, patterns, "patterns, ");
        append_count(out, calls, "calls");
        g_string_append_printf(out, " (%s, method %s)\n", store_reader_name(reader),
                               store_reader_run(reader)->method);
}

static void append_parents(GString *out, const Score *score, const ScoreRow *all)
{
        const ScoreParents *p = score_parents(score);
        g_autofree char *parents = format_share(p->right, p->children);
        g_autofree char *roots = format_share(p->right_roots, p->roots);
        g_autofree char *instances = format_share(all->right_instances, all->true_instances);

        g_string_append_printf(out, "\nparents    %s right: ", parents);
        append_count(out, p->right, "of ");
        append_count(out, p->children, "calls that have one; ");
        append_count(out, p->other, "were given another, ");
        append_count(out, p->none, "none, ");
        append_count(out, p->gone, "were not found");
        g_string_append_printf(out, "\nroots      %s right: ", roots);
        append_count(out, p->right_roots, "of ");
        append_count(out, p->roots, "calls without a parent");
        g_string_append_printf(out, "\ninstances  %s right in every call: ", instances);
        append_count(out, all->right_instances, "of ");
        append_count(out, all->true_instances, "path instances\n");
        if (p->in_both < all->true_calls || p->in_both < all->found_calls) {
                g_string_append(out, "calls      ");
                append_count(out, p->in_both, "in both; ");
                append_count(out, all->true_calls - p->in_both, "only among the true ones, ");
                append_count(out, all->found_calls - p->in_both, "only among those found\n");
        }
}

static char *format_top(const TopRow *r)
{
        return r->top == ALL_PATTERNS ? g_strdup("all") : path_format_count(r->top);
}

static void append_table(GString *out, TextTable *table)
{
        for (int i = -1; i < (int)text_table_rows(table); i++) {
                text_table_write_row(table, i, out);
                g_string_append_c(out, '\n');
        }
}

static TextTable *new_table(const char *const *headings)
{
        TextTable *table = text_table_new();

        for (; *headings; headings++)
                text_table_add_column(table, *headings, TEXT_RIGHT, 0);
        return table;
}

static void append_patterns(GString *out, const GArray *rows)
{
        static const char *const headings[] = { "top",    "true",  "FN", "FN 2 %",
                                                "FN 6 %", "found", "FP", NULL };
        g_autoptr(TextTable) table = new_table(headings);

        for (guint k = 0; k < rows->len; k++) {
                const TopRow *r = &g_array_index(rows, TopRow, k);

                text_table_add(table, format_top(r));
                text_table_add(table, path_format_count(r->row.true_patterns));
                for (guint i = 0; i < SCORE_TOLERANCES; i++)
                        text_table_add(table, path_format_count(r->row.fn_patterns[i]));
                text_table_add(table, path_format_count(r->row.found_patterns));
                text_table_add(table, path_format_count(r->row.fp_patterns));
        }
        g_string_append(out, "\nPath patterns, the N most frequent ones\n");
        append_table(out, table);
}

/* Where the found store has counts by drawings. */
static void append_drawn(GString *out, const Score *score)
{
        ScoreDrawn d = score_drawn(score);
        char drawn[G_ASCII_DTOSTR_BUF_SIZE], found[G_ASCII_DTOSTR_BUF_SIZE];

        if (d.first == 0)
                return;
        g_ascii_formatd(drawn, sizeof drawn, "%.1f", 100 * d.overlap_drawn);
        g_ascii_formatd(found, sizeof found, "%.1f", 100 * d.overlap_found);
        g_string_append_printf(
                out,
                "\nBy drawings: of the first %u patterns %u true, by the paths found "
                "%u; counts agree in %s %% of all paths, by the paths found in %s %%\n",
                d.first, d.true_drawn, d.true_found, drawn, found);
}

static void append_instances(GString *out, const GArray *rows)
{
        static const char *const headings[] = { "top",           "instances", "FN", "FP",
                                                "right",         "calls",     "FN", "FP",
                                                "parents right", NULL };
        g_autoptr(TextTable) table = new_table(headings);

        for (guint k = 0; k < rows->len; k++) {
                const TopRow *r = &g_array_index(rows, TopRow, k);
                const ScoreRow *row = &r->row;

                text_table_add(table, format_top(r));
                text_table_add(table, path_format_count(row->true_instances));
                text_table_add(table, path_format_count(row->fn_instances));
                text_table_add(table, path_format_count(row->fp_instances));
                text_table_add(table, format_share(row->right_instances, row->true_instances));
                text_table_add(table, path_format_count(row->true_calls));
                text_table_add(table, path_format_count(row->fn_calls));
                text_table_add(table, path_format_count(row->fp_calls));
                text_table_add(table, format_share(row->right_parents, row->children));
        }
        g_string_append(out, "\nTheir path instances and calls\n");
        append_table(out, table);
}

static void append_delays(GString *out, const GArray *rows)
{
        static const char *const headings[] = {
                "top", "latency mean", "", "p99", "", "own time mean", "", "p99", "", NULL
        };
        g_autoptr(TextTable) table = new_table(headings);

        for (guint k = 0; k < rows->len; k++) {
                const TopRow *r = &g_array_index(rows, TopRow, k);

                text_table_add(table, format_top(r));
                for (guint i = 0; i < G_N_ELEMENTS(delays); i++) {
                        gint64 ns;
                        double share;

                        if (row_error(&r->row, i, &ns, &share)) {
                                char text[G_ASCII_DTOSTR_BUF_SIZE];

                                text_table_add(table, path_format_duration(ns));
                                g_ascii_formatd(text, sizeof text, "%.1f", 100 * share);
                                text_table_add(table, g_strdup_printf("%s %%", text));
                        } else {
                                text_table_add(table, g_strdup("-"));
                                text_table_add(table, g_strdup(""));
                        }
                }
        }
        g_string_append(out,
                        "\nError of the delays of nodes, on those true patterns that were found\n");
        append_table(out, table);
}

static void write_text(const Score *score, const GArray *rows, const StoreReader *truth,
                       const StoreReader *found, GString *out)
{
        const ScoreRow *all = &g_array_index(rows, TopRow, rows->len - 1).row;

        append_store(out, "true ", truth, all->true_instances, all->true_patterns, all->true_calls);
        append_store(out, "found", found, all->found_instances, all->found_patterns,
                     all->found_calls);
        append_parents(out, score, all);
        append_patterns(out, rows);
        append_drawn(out, score);
        append_instances(out, rows);
        append_delays(out, rows);
}

static gboolean write_score(const Score *score, const StoreReader *truth, const StoreReader *found,
                            GError **error)
{
        g_autoptr(GArray) rows = score_rows(score);
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(OutputFile) out = output_file_new("-", FALSE, error);

        if (!options.format || !strcmp(options.format, "text"))
                write_text(score, rows, truth, found, text);
        else if (!strcmp(options.format, "tsv"))
                write_tsv(rows, text);
        else
                write_json(score, rows, text);
        return out && output_file_write(out, text->str, text->len, error) &&
               output_file_close(g_steal_pointer(&out), error);
}

static gboolean check_arguments(int argc, GError **error)
{
        if (argc != 3)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                            "stores named: %d, expected two: of the true paths, and of those found",
                            argc - 1);
        else
                return TRUE;
        return FALSE;
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
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                    argc > 1
                            ? "--import has a table of its own: expected neither --format nor --top"
                            : "--import: no file named, expected files of spans");
        return FALSE;
}

int tool_score(int argc, char **argv)
{
        g_autoptr(GOptionContext) context =
                g_option_context_new("TRUE FOUND - how right found paths are");
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) truth = NULL, found = NULL;
        g_autoptr(Score) score = NULL;
        GError *error = NULL;
        int status;

        g_option_context_add_main_entries(context, entries, NULL);
        tool_add_choices(choices);
        if (!tool_parse(context, &argc, &argv, &status))
                return status;
        if (options.import)
                return check_import(argc, &error) ? score_import(argv + 1, argc - 1)
                                                  : tool_fail(error);
        if (!check_arguments(argc, &error) || !run_files_read_store(argv[1], &error) ||
            !run_files_read_store(argv[2], &error) || !run_files_write("-w", NULL, &error) ||
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
