/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel diff A B: what changed between two runs.
 */
#include <math.h>
#include <string.h>

#include "analysis/diff-rows.h"
#include "base/error.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "write/write-diff.h"

enum { MAX_FAILURES = 10 };

/* What a value of --fail-on asks. */
typedef struct {
        const char *text;
        gboolean own, share;   /* else latency */
        DiffQuantile quantile; /* not of a share */
        gboolean below, percent;
        double limit; /* percent, or ns */
} Condition;

static struct {
        char *format, *output;
        GArray *conditions; /* of Condition */
} options;

/* "p99>+10%", "own-p50>5ms", "share<-50%" */
static gboolean parse_fail_on(const char *option, const char *value, gpointer data, GError **error)
{
        Condition c = { .text = value };
        const char *at = value;

        (void)option;
        (void)data;
        if (g_str_has_prefix(at, "share")) {
                c.share = TRUE;
                at += strlen("share");
        } else {
                c.own = g_str_has_prefix(at, "own-");
                at += c.own ? strlen("own-") : 0;
                for (c.quantile = 0; c.quantile < N_DIFF_QUANTILES; c.quantile++)
                        if (g_str_has_prefix(at, diff_quantile_names[c.quantile]))
                                break;
                if (c.quantile == N_DIFF_QUANTILES)
                        goto wrong;
                at += strlen(diff_quantile_names[c.quantile]);
        }
        c.below = *at == '<';
        if (*at != '<' && *at != '>')
                goto wrong;
        at++;
        if (!tool_change(at, &c.limit, &c.percent) || (c.share && !c.percent))
                goto wrong;
        if (!options.conditions)
                options.conditions = g_array_new(FALSE, FALSE, sizeof(Condition));
        c.text = g_strdup(value);
        g_array_append_val(options.conditions, c);
        return TRUE;
wrong:
        return ravel_fail(error, RAVEL_ERROR_USAGE,
                          "found \"%s\", expected such as p99>+10%%, own-p50>+5ms or share<-50%%",
                          value);
}

static const char *const formats[] = { "text", "tsv", "json", "html", NULL };
static const ToolChoice choices[] = { { "--format", &options.format, formats },
                                      { .option = NULL } };

static const GOptionEntry entries[] = { { "fail-on", 0, 0, G_OPTION_ARG_CALLBACK, parse_fail_on,
                                          "Exit 1 if a change exceeds it: p99>+10%", "CONDITION" },
                                        { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
                                          "text, tsv, json or html (default text)", "FORMAT" },
                                        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
                                          "Write to FILE instead of standard output", "FILE" },
                                        G_OPTION_ENTRY_NULL };

/* --- the answer ------------------------------------------------------------ */

static gboolean condition_is_on(const Condition *c, const DiffRow *row)
{
        if (c->share)
                return row->kind == DIFF_ROW_SHARE;
        return row->kind == (c->own ? DIFF_ROW_OWN : DIFF_ROW_LATENCY) && row->delay &&
               row->quantile == c->quantile;
}

static gboolean meets(const Condition *c, const DiffRow *row)
{
        double a, b, change;

        if (!condition_is_on(c, row) || !diff_row_beyond(row))
                return FALSE;
        a = row->delay ? (double)row->delay->value[DIFF_A] : row->share[DIFF_A];
        b = row->delay ? (double)row->delay->value[DIFF_B] : row->share[DIFF_B];
        change = b - a;
        if (c->percent)
                change = a > 0        ? 100 * change / a
                         : change > 0 ? HUGE_VAL
                         : change < 0 ? -HUGE_VAL
                                      : 0;
        return c->below ? change < c->limit : change > c->limit;
}

/* What the conditions say of all rows. */
typedef struct {
        guint failures, unknown;
} ConditionCounts;

/* Says that a quantile on all paths cannot be told. Patterns may be rare. */
static void check_numbers(const Diff *d, const DiffRow *row, const Condition *c,
                          ConditionCounts *counts)
{
        g_autofree char *name = NULL;

        if (row->pattern || !condition_is_on(c, row) || row->delay->bounded || row->delay->beyond ||
            ++counts->unknown > MAX_FAILURES)
                return;
        name = row->node ? diff_node_name(d, row) : g_strdup("all paths");
        tool_warn("%s: %s: too few to tell: needs %" G_GUINT64_FORMAT
                  " %s in each run, has %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT,
                  c->text, name, row->delay->needed, row->node ? "calls" : "requests",
                  row->count[DIFF_A], row->count[DIFF_B]);
}

static void check_conditions(const Diff *d, const DiffRow *row, gpointer data)
{
        ConditionCounts *counts = data;

        for (guint i = 0; options.conditions && i < options.conditions->len; i++) {
                const Condition *c = &g_array_index(options.conditions, Condition, i);

                check_numbers(d, row, c, counts);
                if (!meets(c, row) || ++counts->failures > MAX_FAILURES)
                        continue;
                g_autofree char *node =
                        row->vertex >= 0 ? diff_vertex_name(d, row->pattern, (guint)row->vertex)
                        : row->node      ? diff_node_name(d, row)
                                         : NULL;
                g_autofree char *path = row->pattern ? path_pattern_title(row->pattern->label,
                                                                          row->pattern->signature)
                                                     : NULL;
                if (!row->delay) {
                        tool_warn("%s: %s: %" G_GUINT64_FORMAT " paths, before %" G_GUINT64_FORMAT,
                                  c->text, path, row->count[DIFF_B], row->count[DIFF_A]);
                        continue;
                }
                g_autofree char *a = path_format_duration(row->delay->value[DIFF_A]);
                g_autofree char *b = path_format_duration(row->delay->value[DIFF_B]);
                tool_warn("%s: %s%s%s: %s, before %s", c->text,
                          node   ? node
                          : path ? path
                                 : "all paths",
                          node && path ? " in " : "", node && path ? path : "", b, a);
        }
}

static gboolean write_diff(const Diff *d, const char *const names[N_SIDES], GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);

        if (options.format && !strcmp(options.format, "html")) {
                if (!diff_write_page(d, names, text, error))
                        return FALSE;
        } else if (!options.format || !strcmp(options.format, "text")) {
                diff_write_text(d, names, options.output ? 0 : tool_columns(), text);
        } else if (!strcmp(options.format, "tsv")) {
                diff_write_tsv(d, text);
        } else {
                diff_write_json(d, text);
        }
        return output_file_put(options.output ? options.output : "-", text, error);
}

static void say_what_is_compared(const Diff *d, char **names)
{
        if (run_files_same(names[DIFF_A], names[DIFF_B]))
                tool_warn("%s and %s are one store, compared with itself", names[DIFF_A],
                          names[DIFF_B]);
        if (d->has_labels[DIFF_A] != d->has_labels[DIFF_B])
                tool_warn("%s has no operations: patterns are compared by their signatures alone",
                          names[d->has_labels[DIFF_A] ? DIFF_B : DIFF_A]);
}

static gboolean check_arguments(int argc, GError **error)
{
        if (argc != 3)
                return ravel_fail(
                        error, RAVEL_ERROR_USAGE,
                        "stores named: %d, expected two: of the run before, and of the one after",
                        argc - 1);
        return TRUE;
}

int tool_diff(int argc, char **argv)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) a = NULL, b = NULL;
        g_autoptr(Diff) diff = NULL;
        GError *error = NULL;
        ConditionCounts counts = { 0 };
        int status;

        if (!tool_parse("A B - what changed between two runs", entries, choices, &argc, &argv,
                        &status))
                return status;
        if (!check_arguments(argc, &error) || !run_files_read_store(argv[1], &error) ||
            !run_files_read_store(argv[2], &error) ||
            !run_files_write("-o", options.output, &error) ||
            !run_files_confine_reader(!g_strcmp0(options.format, "html"), &error) ||
            !(a = store_reader_new(argv[1], nodes, &error)) ||
            !(b = store_reader_new(argv[2], nodes, &error)))
                return tool_fail(error);
        tool_compare_parameter(a, b, "method");
        tool_compare_parameter(a, b, "fold");
        tool_compare_parameter(a, b, "sibling_order");
        if (!(diff = diff_new(a, b, nodes, &error)))
                return tool_fail(error);
        say_what_is_compared(diff, argv + 1);
        if (!write_diff(diff, (const char *[]){ argv[1], argv[2] }, &error))
                return tool_fail(error);
        diff_each_row(diff, check_conditions, &counts);
        if (counts.failures > MAX_FAILURES)
                tool_warn("and %u more", counts.failures - MAX_FAILURES);
        return counts.failures ? EXIT_DIFFERS : counts.unknown ? EXIT_TOO_FEW : EXIT_DONE;
}
