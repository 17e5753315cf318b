/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What changed between two runs, a row a number, as TSV and as JSON (docs/diff.md).
 */
#include "analysis/diff-rows.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "write/json.h"
#include "write/write-diff.h"

/* Both runs' values and the interval of the change: A, B, low, high. */
static gint64 row_time(const DiffRow *row, guint i)
{
        const DiffDelay *d = row->delay;

        return (const gint64[]){ d->value[DIFF_A], d->value[DIFF_B], d->low, d->high }[i];
}

static double row_share(const DiffRow *row, guint i)
{
        double low = row->tail ? row->tail->low : row->pattern->low,
               high = row->tail ? row->tail->high : row->pattern->high;

        return (const double[]){ row->share[DIFF_A], row->share[DIFF_B], low, high }[i];
}

/* The same, a column each. */
static void append_values(GString *out, const DiffRow *row)
{
        for (guint i = 0; i < 4; i++) {
                if (i > 0)
                        g_string_append_c(out, '\t');
                if (!row->delay)
                        path_append_number(out, row_share(row, i), "%.6g");
                else if (i < 2 || row->delay->bounded)
                        g_string_append_printf(out, "%" G_GINT64_FORMAT, row_time(row, i));
                else
                        g_string_append_c(out, '-');
        }
}

static const char *number_name(const DiffRow *row)
{
        return row->delay ? diff_quantile_names[row->quantile] : row->tail ? "tail" : NULL;
}

static const char *row_label(const DiffRow *row)
{
        return row->pattern ? row->pattern->label : row->node ? row->node->label : NULL;
}

static void append_tsv(const Diff *d, const DiffRow *row, gpointer data)
{
        GString *out = data;

        g_string_append_printf(out, "%s\t", diff_row_kinds[row->kind]);
        if (row->pattern)
                g_string_append_printf(out, "%016" G_GINT64_MODIFIER "x\t", row->pattern->id);
        else
                g_string_append(out, "-\t");
        if (row->node && row->node->caller != NO_NODE)
                g_string_append_printf(out, "%s>", node_table_written(d->nodes, row->node->caller));
        g_string_append_printf(out, "%s\t",
                               row->node ? node_table_written(d->nodes, row->node->node) : "-");
        if (row->vertex >= 0)
                g_string_append_printf(out, "%d\t", row->vertex);
        else
                g_string_append(out, "-\t");
        g_string_append_printf(out, "%s\t%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT "\t",
                               number_name(row) ? number_name(row) : "-", row->count[DIFF_A],
                               row->count[DIFF_B]);
        append_values(out, row);
        g_string_append_printf(out, "\t%d\t%s\t", diff_row_beyond(row),
                               row->pattern ? row->pattern->signature : "-");
        path_append_label_cell(out, row_label(row));
        if (row->tail)
                g_string_append_printf(out, "\t%" G_GINT64_FORMAT "\n", row->tail->limit);
        else
                g_string_append(out, "\t-\n");
}

static void put_values(Json *j, const DiffRow *row)
{
        static const char *const keys[] = { "a", "b", "low", "high" };

        for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
                json_key(j, keys[i]);
                if (!row->delay)
                        json_number(j, row_share(row, i), "%.6g");
                else if (i < 2 || row->delay->bounded)
                        json_time(j, row_time(row, i));
                else
                        json_null(j);
        }
}

static void diff_out_put_pattern(Json *j, const DiffPattern *p)
{
        json_key(j, "pattern");
        if (!p) {
                json_null(j);
                return;
        }
        json_id(j, p->id);
        json_put_string(j, "signature", p->signature);
        if (p->label)
                json_put_string(j, "label", p->label);
}

/* By drawings, in a run that has them: the count, and a standard error. */
static void diff_out_put_drawn(const Diff *d, Json *j, const DiffPattern *p)
{
        json_put_open(j, "drawn", '[');
        for (int side = 0; side < N_SIDES; side++) {
                if (!d->is_drawn[side]) {
                        json_null(j);
                        continue;
                }
                json_open(j, '[');
                json_number(j, p->number[side], "%.6g");
                json_number(j, p->error[side], "%.6g");
                json_close(j, ']');
        }
        json_close(j, ']');
}

static void append_json(const Diff *d, const DiffRow *row, gpointer data)
{
        Json *j = data;

        json_line(j, 4);
        json_open(j, '{');
        json_put_string(j, "kind", diff_row_kinds[row->kind]);
        diff_out_put_pattern(j, row->pattern);
        if (row->node && row->node->caller != NO_NODE)
                json_put_string(j, "caller", node_table_name(d->nodes, row->node->caller));
        if (row->node)
                json_put_string(j, "node", node_table_name(d->nodes, row->node->node));
        if (row->node && row->node->label && !row->pattern)
                json_put_string(j, "label", row->node->label);
        if (row->vertex >= 0) {
                json_put_count(j, "vertex", (guint64)row->vertex);
                json_put_count(j, "repeats", row->node->repeats);
        }
        if (number_name(row))
                json_put_string(j, "quantile", number_name(row));
        if (row->tail) {
                json_key(j, "limit");
                json_time(j, row->tail->limit);
        }
        json_put_open(j, "count", '[');
        json_count(j, row->count[DIFF_A]);
        json_count(j, row->count[DIFF_B]);
        json_close(j, ']');
        if (row->kind == DIFF_ROW_SHARE && (d->is_drawn[DIFF_A] || d->is_drawn[DIFF_B]))
                diff_out_put_drawn(d, j, row->pattern);
        json_put_boolean(j, "beyond", diff_row_beyond(row));
        json_line(j, 5);
        put_values(j, row);
        json_close(j, '}');
}

void diff_write_tsv(const Diff *d, GString *out)
{
        g_string_append(out, "kind\tpattern\tnode\tvertex\tquantile\tcount_a\tcount_b\ta\tb\t"
                             "low\thigh\tbeyond\tsignature\tlabel\tlimit\n");
        diff_each_row(d, append_tsv, out);
}

void diff_write_json(const Diff *d, GString *text)
{
        Json json = JSON_IN(text);

        json_open_document(&json, "ravel diff");
        json_put_open(&json, "changes", '[');
        diff_each_row(d, append_json, &json);
        json_close(&json, ']');
        g_string_append(text, "\n}\n");
}
