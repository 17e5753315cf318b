/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel advise STORE: what to change, and what that would bring.
 */
#include <string.h>

#include "base/error.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"
#include "write/write-advise.h"

/* What a value of --fail-on asks. */
typedef struct {
        const char *text;
        FigureKind figure;
        gboolean percent;
        double limit; /* percent, or ns */
} Condition;

static struct {
        char *format, *output;
        GArray *conditions; /* of Condition */
} options;

/* "p99>10%", "mean>5ms" */
static gboolean parse_fail_on(const char *option, const char *value, gpointer data, GError **error)
{
        Condition c = { .text = g_strdup(value) };
        gsize n = strcspn(value, ">");

        (void)option;
        (void)data;
        for (c.figure = 0; c.figure < N_FIGURES; c.figure++)
                if (strlen(figure_names[c.figure]) == n &&
                    !strncmp(value, figure_names[c.figure], n))
                        break;
        if (c.figure == N_FIGURES || !value[n] || !tool_change(value + n + 1, &c.limit, &c.percent))
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "found \"%s\", expected such as p99>10%% or mean>5ms", value);
        if (!options.conditions)
                options.conditions = g_array_new(FALSE, FALSE, sizeof(Condition));
        g_array_append_val(options.conditions, c);
        return TRUE;
}

static const char *const formats[] = { "text", "tsv", "json", NULL };
static const ToolChoice choices[] = { { "--format", &options.format, formats },
                                      { .option = NULL } };

static const GOptionEntry entries[] = { { "fail-on", 0, 0, G_OPTION_ARG_CALLBACK, parse_fail_on,
                                          "Exit 1 if a finding gains more: p99>10%", "CONDITION" },
                                        { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
                                          "text, tsv or json (default text)", "FORMAT" },
                                        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
                                          "Write to FILE instead of standard output", "FILE" },
                                        G_OPTION_ENTRY_NULL };

static gboolean write_advice(const Advice *a, const NodeTable *nodes, const char *store,
                             GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);

        if (!options.format || !strcmp(options.format, "text"))
                advice_write_text(a, nodes, store, options.output ? 0 : tool_columns(), text);
        else if (!strcmp(options.format, "tsv"))
                advice_write_tsv(a, nodes, store, text);
        else
                advice_write_json(a, nodes, store, text);
        return output_file_put(options.output ? options.output : "-", text, error);
}

static gboolean finding_meets(const Finding *f, const Condition *c)
{
        const WhatIfFigure *figure = &f->figures[c->figure];
        double gain = figure->now - figure->then;

        if (c->percent)
                gain *= figure->now > 0 ? 100 / figure->now : 0;
        return figure->is_known && gain > c->limit;
}

/* Says which findings meet a condition, and returns their number. */
static guint check_conditions(const Advice *a, const NodeTable *nodes)
{
        guint met = 0;

        for (guint i = 0; i < a->findings->len; i++) {
                const Finding *f = a->findings->pdata[i];

                for (guint k = 0; options.conditions && k < options.conditions->len; k++) {
                        const Condition *c = &g_array_index(options.conditions, Condition, k);

                        if (!finding_meets(f, c))
                                continue;
                        g_autofree char *sentence = finding_sentence(f, nodes);
                        tool_warn("%s: %s", c->text, sentence);
                        met++;
                }
        }
        return met;
}

int tool_advise(int argc, char **argv)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = NULL;
        g_autoptr(Advice) advice = NULL;
        GError *error = NULL;
        int status;

        if (!tool_parse("STORE - what to change, and what that would bring", entries, choices,
                        &argc, &argv, &status))
                return status;
        if (argc != 2) {
                ravel_fail(&error, RAVEL_ERROR_USAGE, "%d stores named, expected one", argc - 1);
                return tool_fail(error);
        }
        if (!run_files_read_store(argv[1], &error) ||
            !run_files_write("-o", options.output, &error) ||
            !run_files_confine_reader(FALSE, &error) ||
            !(reader = store_reader_new(argv[1], nodes, &error)) ||
            !(advice = advice_new(reader, nodes, &error)))
                return tool_fail(error);
        if (!store_reader_run(reader)->fit)
                tool_warn("%s: not fit for paths (%s): do not rely on figures",
                          store_reader_name(reader), store_reader_run(reader)->judgement);
        if (!write_advice(advice, nodes, argv[1], &error))
                return tool_fail(error);
        return check_conditions(advice, nodes) ? EXIT_DIFFERS : EXIT_DONE;
}
