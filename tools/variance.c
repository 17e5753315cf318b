/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel variance STORE: which nodes make latency vary.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/printable.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "paths/variance/variance.h"
#include "paths/write/json.h"
#include "paths/write/text-table.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"

#define FEWEST 100 /* requests of an entry that has a table */

enum {
        MAX_WIDTH = 60, /* of a name where lines have no limit */
        MIN_NAME = 20,  /* narrower, nothing is told apart */
        MEANING_WIDTH = 100,
        MAX_ROWS = 15,
        MAX_PAIRS = 3,
        HANDFUL = 10
};

/* Text leaves out what has less of the variance, and of what slow requests take longer. */
#define LEAST_SHARE 0.01
#define LEAST_TAIL  0.05

/* Load is told where it has this part of the variance of a call, and the place this share of all.
 */
#define LEAST_EXPLAINED 0.05
#define LEAST_FOR_LOAD  0.05

#define LEAST_BY_REPLICA 0.05 /* so much of the variance is worth a line */

#define MUCH_WHICH 0.5 /* so much of the variance makes operations worth having */
#define MUCH_DOUBT 0.2 /* so much of the first row's */

static struct {
        char *format, *output, *entry, *label;
        gboolean completion;
        double tail;
        int entries;
} options = { .tail = 0.99, .entries = 10 };

static const char *const formats[] = { "text", "tsv", "json", NULL };
static const ToolChoice choices[] = { { "--format", &options.format, formats },
                                      { .option = NULL } };

static const GOptionEntry entries[] = { { "completion", 0, 0, G_OPTION_ARG_NONE,
                                          &options.completion,
                                          "Use the time until all is done, not the latency", NULL },
                                        { "entry", 0, 0, G_OPTION_ARG_STRING, &options.entry,
                                          "Only this entry, such as client>lb", "ENTRY" },
                                        { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
                                          "text, tsv or json (default text)", "FORMAT" },
                                        { "label", 0, 0, G_OPTION_ARG_STRING, &options.label,
                                          "Only requests with this operation", "OPERATION" },
                                        { "entries", 'n', 0, G_OPTION_ARG_INT, &options.entries,
                                          "Write the first N (default 10; 0: all)", "N" },
                                        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
                                          "Write to FILE instead of standard output", "FILE" },
                                        { "tail", 0, 0, G_OPTION_ARG_DOUBLE, &options.tail,
                                          "Slow requests: from quantile Q on (default 0.99)", "Q" },
                                        G_OPTION_ENTRY_NULL };

static const char *const kind_names[] = { "own", "queued", "connecting", "network", "elsewhere" };

/* --- names and numbers ----------------------------------------------------- */

static char *entry_name(const VarianceEntry *e, const NodeTable *nodes)
{
        return g_strdup_printf("%s>%s", node_table_written(nodes, e->client),
                               node_table_written(nodes, e->root));
}

static char *format_share(double share)
{
        double percent = 100 * share;

        return g_strdup_printf("%.0f %%", fabs(percent) < 0.5 ? 0.0 : percent);
}

/* For people. */
static char *row_title(const VarianceRow *row)
{
        g_autofree char *where = row->where ? printable_new(row->where, PRINTABLE_TEXT) : NULL;

        switch (row->kind) {
        case FACTOR_NETWORK:
                return g_strdup("the network");
        case FACTOR_ELSEWHERE:
                return g_strdup("all smaller places");
        case FACTOR_QUEUED:
                return g_strdup_printf("%s, queued", where);
        case FACTOR_CONNECTING:
                return g_strdup_printf("%s, connecting", where);
        case FACTOR_OWN:
        default:
                return g_steal_pointer(&where);
        }
}

static const VarianceRow *row_at(const VarianceEntry *e, guint i)
{
        return &g_array_index(e->rows, VarianceRow, i);
}

/* --- text ------------------------------------------------------------------ */

static void append_head(const Variance *v, const VarianceEntry *e, const NodeTable *nodes,
                        guint width, GString *out)
{
        g_autofree char *name = entry_name(e, nodes);
        g_autofree char *title = path_pattern_title(e->label, name);
        g_autofree char *count = path_format_count(e->count), *half = path_format_count(e->half);
        g_autofree char *mean = path_format_duration((gint64)round(e->mean));
        g_autofree char *deviation = path_format_duration((gint64)round(e->deviation));
        g_autofree char *p99 = path_format_duration(e->p99);
        g_autofree char *part = path_format_share((gint128)e->half, (gint128)e->count);
        g_autoptr(GString) line = g_string_new(NULL);

        g_string_append_printf(line, "%s: %s requests", title, count);
        if (e->rows->len == 0) {
                g_string_append_printf(line, ", and all take the same time, %s.", mean);
        } else {
                g_string_append_printf(
                        line,
                        ", mean %s%s, deviation %s, p99 %s. Half of the variance "
                        "is in %s of them (%s)%s",
                        v->completion ? "completion time " : "", mean, deviation, p99, half, part,
                        e->half < HANDFUL ? ": a handful, which ravel why tells more about." : ".");
        }
        text_append_wrapped(out, line->str, " ", 0, width);
}

static TextTable *new_table(void)
{
        static const struct {
                const char *heading;
                guint drop;
        } columns[] = { { "all", 0 },  { "same path", 0 }, { "which path", 0 },
                        { "mean", 2 }, { "tail", 1 },      { "busy", 3 } };
        TextTable *table = text_table_new();

        text_table_add_column(table, "where", TEXT_LEFT, 0);
        for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
                text_table_add_column(table, columns[i].heading, TEXT_RIGHT, columns[i].drop);
        return table;
}

/* Whether load tells anything of a row. */
static gboolean tells_load(const VarianceRow *row)
{
        return row->load.calls > 0 && row->load.explained >= LEAST_EXPLAINED &&
               row->all >= LEAST_FOR_LOAD;
}

static void add_row(TextTable *table, const VarianceRow *row, char *title)
{
        const double shares[] = { row->all, row->same, row->which, row->mean, row->tail };

        text_table_add(table, title);
        for (guint i = 0; i < G_N_ELEMENTS(shares); i++)
                text_table_add(table, format_share(shares[i]));
        text_table_add(table, tells_load(row) ? format_share(row->load.explained) : g_strdup(""));
}

/* Whether it is worth a line: not what may as well be none. */
static gboolean is_shown(const VarianceRow *row)
{
        return (fabs(row->all) >= LEAST_SHARE || fabs(row->tail) >= LEAST_TAIL) &&
               (row->error < 0 || fabs(row->all) > row->error);
}

static void append_rows(const VarianceEntry *e, guint width, GString *out)
{
        g_autoptr(TextTable) table = new_table();
        guint name_width = width > 0 ? MAX(width / 2, MIN_NAME) : MAX_WIDTH, shown = 0;
        VarianceRow rest = { .all = 0 };

        for (guint i = 0; i < e->rows->len; i++) {
                const VarianceRow *row = row_at(e, i);

                if (shown < MAX_ROWS && is_shown(row)) {
                        g_autofree char *title = row_title(row);

                        add_row(table, row, text_shorten(title, name_width));
                        shown++;
                        continue;
                }
                rest.all += row->all;
                rest.same += row->same;
                rest.which += row->which;
                rest.mean += row->mean;
                rest.tail += row->tail;
        }
        if (shown < e->rows->len)
                add_row(table, &rest, g_strdup("all else"));
        text_table_fit(table, width > 2 ? width - 2 : 0);
        for (int i = -1; i < (int)text_table_rows(table); i++) {
                g_string_append(out, "  ");
                text_table_write_row(table, i, out);
                g_string_append_c(out, '\n');
        }
}

static void append_replica(const VarianceRow *row, guint width, GString *out)
{
        g_autofree char *title = row_title(row), *same = format_share(row->same);
        g_autofree char *replica = NULL, *share = NULL, *line = NULL;

        if (!row->replica)
                return;
        replica = printable_new(row->replica, PRINTABLE_TEXT);
        share = format_share(row->replica_share);
        line = g_strdup_printf("%s: %s has %s of the %s on the same path.", title, replica, share,
                               same);
        text_append_wrapped(out, line, " ", 2, width);
}

static void append_means(const VarianceRow *row, guint width, GString *out)
{
        g_autofree char *title = row_title(row), *share = format_share(row->by_replica);
        g_autofree char *slow_mean = path_format_duration((gint64)round(row->slow_mean));
        g_autofree char *quick_mean = path_format_duration((gint64)round(row->quick_mean));
        g_autofree char *slow = NULL, *quick = NULL, *line = NULL;

        if (row->by_replica < LEAST_BY_REPLICA)
                return;
        slow = printable_new(row->slow, PRINTABLE_TEXT);
        quick = printable_new(row->quick, PRINTABLE_TEXT);
        line = g_strdup_printf("%s: %s is which one: %s takes %s in the mean, %s %s.", title, share,
                               slow, slow_mean, quick, quick_mean);
        text_append_wrapped(out, line, " ", 2, width);
}

static void append_load(const VarianceRow *row, guint width, GString *out)
{
        g_autofree char *title = row_title(row), *part = format_share(row->load.explained);
        g_autofree char *slope = path_format_duration((gint64)round(fabs(row->load.slope)));
        g_autofree char *idle = path_format_duration((gint64)round(row->load.idle));
        g_autofree char *line = NULL;

        if (!tells_load(row))
                return;
        line = g_strdup_printf("%s: %s of the variance of a call goes with how many others the "
                               "node serves when it comes: %s%s%s%s for each.",
                               title, part, row->load.idle < 0 ? "" : idle,
                               row->load.idle < 0 ? "" : " with none, ",
                               row->load.slope < 0 ? "-" : "+", slope);
        text_append_wrapped(out, line, " ", 2, width);
}

static void append_pair(const VarianceEntry *e, const VariancePair *pair, guint width, GString *out)
{
        g_autofree char *a = row_title(row_at(e, pair->a)), *b = row_title(row_at(e, pair->b));
        g_autofree char *share = format_share(pair->share);
        g_autofree char *line = g_strdup_printf(
                "%s and %s vary together (r %.2f): %s of the variance is only that.", a, b, pair->r,
                share);

        text_append_wrapped(out, line, " ", 2, width);
}

static void append_pairs(const VarianceEntry *e, guint width, GString *out)
{
        guint shown = 0;

        for (guint i = 0; i < e->pairs->len && shown < MAX_PAIRS; i++) {
                const VariancePair *p = &g_array_index(e->pairs, VariancePair, i);

                if (!is_shown(row_at(e, p->a)) || !is_shown(row_at(e, p->b)))
                        continue;
                append_pair(e, p, width, out);
                shown++;
        }
}

static void append_advice(const Variance *v, const VarianceEntry *e, guint width, GString *out)
{
        const VarianceRow *first = row_at(e, 0);
        double by_replica = 0;
        g_autofree char *which = format_share(e->which), *title = row_title(first);
        g_autofree char *all = format_share(first->all), *doubt = format_share(first->doubtful);
        g_autofree char *line = NULL;

        for (guint i = 0; i < e->rows->len; i++)
                by_replica += row_at(e, i)->by_replica;
        if (!v->has_labels && e->which - by_replica >= MUCH_WHICH) {
                line = g_strdup_printf("%s is which path requests take: they may be of several "
                                       "kinds. Operations (capture --labels) tell them apart.",
                                       which);
                text_append_wrapped(out, line, " ", 2, width);
        }
        if (e->goes_on && !v->completion)
                text_append_wrapped(out,
                                    "What goes on after the reply (~>) is no part of the latency: "
                                    "--completion has it.",
                                    " ", 2, width);
        if (first->doubtful >= MUCH_DOUBT * first->all) {
                g_autofree char *doubtful = g_strdup_printf(
                        "Of the %s of %s %s is from calls that are less than 90 %% sure to be "
                        "there.",
                        all, title, doubt);
                text_append_wrapped(out, doubtful, " ", 2, width);
        }
}

static void append_entry(const Variance *v, const VarianceEntry *e, const NodeTable *nodes,
                         guint width, GString *out)
{
        g_autoptr(GString) notes = g_string_new(NULL);

        append_head(v, e, nodes, width, out);
        if (e->rows->len == 0)
                return;
        g_string_append_c(out, '\n');
        append_rows(e, width, out);
        for (guint i = 0; i < e->rows->len; i++)
                if (is_shown(row_at(e, i))) {
                        append_means(row_at(e, i), width, notes);
                        append_replica(row_at(e, i), width, notes);
                        append_load(row_at(e, i), width, notes);
                }
        append_pairs(e, width, notes);
        append_advice(v, e, width, notes);
        if (notes->len > 0)
                g_string_append_printf(out, "\n%s", notes->str);
}

static const char meaning[] =
        "all: this much of the variance is the place's, by how its own time goes with the whole; "
        "the rows add up to 100 %. same path: among requests of one pattern; which path: by which "
        "pattern they are. mean: share of the mean. tail: share of what the slow requests take "
        "longer than those in the middle. busy: how much of a call's variance goes with how many "
        "others the node serves. web1|web2: one of them each time. Below 0: shorter "
        "where the whole is longer.";

/* Those of which too few requests are known. */
static void append_few(const Variance *v, guint n, const NodeTable *nodes, guint width,
                       GString *out)
{
        g_autoptr(GString) line = g_string_new(NULL);

        for (guint i = 0; i < n; i++) {
                const VarianceEntry *e = g_ptr_array_index(v->entries, i);
                g_autofree char *name = entry_name(e, nodes);
                g_autofree char *title = path_pattern_title(e->label, name);

                if (e->count >= FEWEST)
                        continue;
                g_string_append_printf(line, "%s%s (%" G_GUINT64_FORMAT ")", line->len ? ", " : "",
                                       title, e->count);
        }
        if (line->len == 0)
                return;
        g_string_prepend(line,
                         "Too few requests to say anything, " G_STRINGIFY(FEWEST) " are needed: ");
        text_append_wrapped(out, line->str, " ", 0, width);
        g_string_append_c(out, '\n');
}

static guint shown_entries(const Variance *v)
{
        return options.entries > 0 ? MIN((guint)options.entries, v->entries->len) : v->entries->len;
}

static void write_text(const Variance *v, const NodeTable *nodes, GString *out)
{
        guint width = options.output ? 0 : tool_columns(), n = shown_entries(v);
        gboolean tables = FALSE;

        for (guint i = 0; i < n; i++) {
                const VarianceEntry *e = g_ptr_array_index(v->entries, i);

                if (e->count < FEWEST)
                        continue;
                append_entry(v, e, nodes, width, out);
                g_string_append_c(out, '\n');
                tables |= e->rows->len > 0;
        }
        append_few(v, n, nodes, width, out);
        if (n < v->entries->len)
                g_string_append_printf(out, "And %u more (-n 0: all).\n\n", v->entries->len - n);
        if (v->entries->len == 0)
                g_string_append(out, "No requests.\n");
        if (tables)
                text_append_wrapped(out, meaning, " ", 0, width > 0 ? width : MEANING_WIDTH);
}

/* --- tsv and json ---------------------------------------------------------- */

static void append_number(GString *out, double number)
{
        path_append_number(out, number, "%.6g");
        g_string_append_c(out, '\t');
}

static void append_cell(GString *out, const char *text)
{
        path_append_label_cell(out, text);
        g_string_append_c(out, '\t');
}

static void append_tsv_row(const VarianceEntry *e, const char *entry, const VarianceRow *row,
                           GString *out)
{
        const double shares[] = { row->all,  row->same, row->which,   row->error,
                                  row->mean, row->tail, row->doubtful };

        append_cell(out, entry);
        append_cell(out, e->label);
        append_cell(out, row->where);
        append_cell(out, kind_names[row->kind]);
        for (guint i = 0; i < G_N_ELEMENTS(shares); i++)
                append_number(out, shares[i]);
        append_number(out, row->load.explained);
        append_number(out, row->load.slope);
        append_number(out, row->load.idle);
        append_cell(out, row->replica);
        append_number(out, row->replica_share);
        append_number(out, row->by_replica);
        append_cell(out, row->slow);
        append_cell(out, row->quick);
        out->str[out->len - 1] = '\n';
}

static void write_tsv(const Variance *v, const NodeTable *nodes, GString *out)
{
        g_string_append(out, "entry\tlabel\twhere\tkind\tall\tsame\twhich\terror\tmean\ttail\t"
                             "doubtful\tbusy\tslope\tidle\treplica\treplica_share\t"
                             "by_replica\tslow\tquick\n");
        for (guint i = 0; i < shown_entries(v); i++) {
                const VarianceEntry *e = g_ptr_array_index(v->entries, i);
                g_autofree char *name = entry_name(e, nodes);

                for (guint k = 0; k < e->rows->len; k++)
                        append_tsv_row(e, name, row_at(e, k), out);
        }
}

static void add_number(Json *j, const char *key, double number)
{
        json_put_number(j, key, number, "%.9g");
}

static void write_json_load(const LoadEffect *load, Json *j)
{
        json_key(j, "busy");
        if (load->calls == 0) {
                json_null(j);
                return;
        }
        json_open(j, '{');
        json_put_count(j, "calls", load->calls);
        add_number(j, "others", load->others);
        add_number(j, "explained", load->explained);
        add_number(j, "slope", load->slope);
        json_key(j, "idle");
        if (load->idle < 0)
                json_null(j);
        else
                json_number(j, load->idle, "%.9g");
        json_close(j, '}');
}

static void write_json_means(const VarianceRow *row, Json *j)
{
        add_number(j, "by_replica", row->by_replica);
        json_put_string(j, "slow", row->slow);
        add_number(j, "slow_mean", row->slow_mean);
        json_put_string(j, "quick", row->quick);
        add_number(j, "quick_mean", row->quick_mean);
}

static void write_json_row(const VarianceRow *row, Json *j)
{
        json_line(j, 6);
        json_open(j, '{');
        json_put_string(j, "where", row->where);
        json_put_string(j, "kind", kind_names[row->kind]);
        json_put_count(j, "depth", row->depth);
        add_number(j, "all", row->all);
        add_number(j, "same", row->same);
        add_number(j, "which", row->which);
        json_key(j, "error");
        if (row->error < 0)
                json_null(j);
        else
                json_number(j, row->error, "%.9g");
        add_number(j, "mean", row->mean);
        add_number(j, "tail", row->tail);
        add_number(j, "doubtful", row->doubtful);
        write_json_load(&row->load, j);
        json_put_string(j, "replica", row->replica);
        if (row->replica)
                add_number(j, "replica_share", row->replica_share);
        if (row->slow)
                write_json_means(row, j);
        json_close(j, '}');
}

static void write_json_pairs(const VarianceEntry *e, Json *j)
{
        json_line(j, 5);
        json_put_open(j, "together", '[');
        for (guint i = 0; i < e->pairs->len; i++) {
                const VariancePair *p = &g_array_index(e->pairs, VariancePair, i);

                json_line(j, 6);
                json_open(j, '{');
                json_put_count(j, "a", p->a);
                json_put_count(j, "b", p->b);
                add_number(j, "share", p->share);
                add_number(j, "r", p->r);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void write_json_entry(const VarianceEntry *e, const NodeTable *nodes, Json *j)
{
        g_autofree char *name = entry_name(e, nodes);

        json_line(j, 4);
        json_open(j, '{');
        json_put_string(j, "entry", name);
        json_put_string(j, "label", e->label);
        json_put_count(j, "requests", e->count);
        add_number(j, "mean", e->mean);
        add_number(j, "deviation", e->deviation);
        json_put_time(j, "p50", e->p50);
        json_put_time(j, "p99", e->p99);
        json_put_time(j, "slow_from", e->tail);
        json_put_count(j, "half", e->half);
        add_number(j, "which", e->which);
        json_line(j, 5);
        json_put_open(j, "rows", '[');
        for (guint i = 0; i < e->rows->len; i++)
                write_json_row(row_at(e, i), j);
        json_close(j, ']');
        write_json_pairs(e, j);
        json_close(j, '}');
}

static void write_json(const Variance *v, const NodeTable *nodes, GString *out)
{
        Json json = JSON_IN(out), *j = &json;

        json_open(j, '{');
        json_line(j, 2);
        json_put_string(j, "format", "ravel variance");
        json_put_count(j, "version", 1);
        json_line(j, 2);
        json_put_string(j, "of", v->completion ? "completion" : "latency");
        json_put_number(j, "tail", options.tail, "%.9g");
        json_put_count(j, "left_out", v->left_out);
        json_line(j, 2);
        json_put_open(j, "entries", '[');
        for (guint i = 0; i < shown_entries(v); i++)
                write_json_entry(g_ptr_array_index(v->entries, i), nodes, j);
        json_close(j, ']');
        json_line(j, 0);
        json_close(j, '}');
        g_string_append_c(out, '\n');
}

/* --- the verb -------------------------------------------------------------- */

static gboolean write_variance(const Variance *v, const NodeTable *nodes, GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(OutputFile) out =
                output_file_new(options.output ? options.output : "-", FALSE, error);

        if (!out)
                return FALSE;
        if (!options.format || !strcmp(options.format, "text"))
                write_text(v, nodes, text);
        else if (!strcmp(options.format, "tsv"))
                write_tsv(v, nodes, text);
        else
                write_json(v, nodes, text);
        return output_file_write(out, text->str, text->len, error) &&
               output_file_close(g_steal_pointer(&out), error);
}

static gboolean check_arguments(int argc, GError **error)
{
        if (argc != 2)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE, "stores named: %d, expected one",
                            argc - 1);
        else if (!(options.tail >= 0.6 && options.tail < 1))
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                            "--tail %g: expected a quantile from 0.6 to below 1", options.tail);
        else
                return TRUE;
        return FALSE;
}

static void say_what_to_mind(const StoreReader *reader, const Variance *v)
{
        if (!store_reader_run(reader)->fit)
                tool_warn("%s: not fit for paths (%s): do not rely on places",
                          store_reader_name(reader), store_reader_run(reader)->judgement);
        if (v->left_out > 0)
                tool_warn("%" G_GUINT64_FORMAT " requests left out that take 39 hours or more",
                          v->left_out);
}

int tool_variance(int argc, char **argv)
{
        g_autoptr(GOptionContext) context =
                g_option_context_new("STORE - which nodes make latency vary");
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = NULL;
        g_autoptr(Variance) variance = NULL;
        GError *error = NULL;
        int status;

        g_option_context_add_main_entries(context, entries, NULL);
        tool_add_choices(choices);
        if (!tool_parse(context, &argc, &argv, &status))
                return status;
        VarianceOptions wanted = { FEWEST, options.tail, options.completion, options.entry,
                                   options.label };
        if (!check_arguments(argc, &error) || !run_files_read_store(argv[1], &error) ||
            !run_files_write("-o", options.output, &error) ||
            !(reader = store_reader_new(argv[1], nodes, &error)) ||
            !(variance = variance_new(reader, nodes, &wanted, &error)))
                return tool_fail(error);
        say_what_to_mind(reader, variance);
        if (!write_variance(variance, nodes, &error))
                return tool_fail(error);
        return EXIT_DONE;
}
