/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel diff A B: what changed between two runs.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/printable.h"
#include "paths/diff.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "paths/write/json.h"
#include "paths/write/path-write.h"
#include "paths/write/text-table.h"
#include "tools/run-files.h"
#include "tools/tool.h"

enum {
        MAX_WIDTH = 60, /* of a path or a name where lines have no limit */
        MIN_NAME = 20,  /* narrower, nothing is told apart */
        MAX_FAILURES = 10
};

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
        char *end;

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
        if (!strpbrk(at, "0123456789"))
                goto wrong;
        c.limit = g_ascii_strtod(at, &end);
        if (!strcmp(end, "%")) {
                c.percent = TRUE;
        } else {
                gboolean negative = *at == '-';
                gint64 ns;

                if (c.share || !tool_duration(at + (*at == '-' || *at == '+'), &ns, NULL))
                        goto wrong;
                c.limit = negative ? -(double)ns : (double)ns;
        }
        if (!isfinite(c.limit))
                goto wrong;
        if (!options.conditions)
                options.conditions = g_array_new(FALSE, FALSE, sizeof(Condition));
        c.text = g_strdup(value);
        g_array_append_val(options.conditions, c);
        return TRUE;
wrong:
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                    "found \"%s\", expected such as p99>+10%%, own-p50>+5ms or share<-50%%", value);
        return FALSE;
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

/* --- row by row ------------------------------------------------------------ */

typedef enum { ROW_LATENCY, ROW_OWN, ROW_SHARE, ROW_QUEUED } RowKind;
static const char *const row_kinds[] = { "latency", "own", "share", "queued" };

/* One number of both runs. */
typedef struct {
        RowKind kind;
        const DiffPattern *pattern; /* NULL: all paths */
        const DiffNode *node;       /* of own time, or of what lay in queues before it */
        int vertex;                 /* which of the pattern's; -1: none */
        DiffQuantile quantile;
        const DiffDelay *delay; /* NULL of a share */
        guint64 count[N_SIDES];
        double share[N_SIDES];
} Row;

typedef void (*RowSink)(const Diff *diff, const Row *row, gpointer data);

static void each_quantile(const Diff *d, Row row, const DiffDelay *delays, RowSink sink,
                          gpointer data)
{
        for (row.quantile = 0; row.quantile < N_DIFF_QUANTILES; row.quantile++) {
                row.delay = &delays[row.quantile];
                sink(d, &row, data);
        }
}

static void each_row(const Diff *d, RowSink sink, gpointer data)
{
        Row all = { .kind = ROW_LATENCY,
                    .vertex = -1,
                    .count = { d->paths[DIFF_A], d->paths[DIFF_B] } };

        each_quantile(d, all, d->latency, sink, data);
        for (guint i = 0; i < d->by_node->len; i++) {
                const DiffNode *n = &g_array_index(d->by_node, DiffNode, i);
                Row row = { .kind = ROW_OWN,
                            .node = n,
                            .vertex = -1,
                            .count = { n->calls[DIFF_A], n->calls[DIFF_B] } };

                if (n->calls[DIFF_A] || n->calls[DIFF_B])
                        each_quantile(d, row, n->own, sink, data);
        }
        for (guint i = 0; i < d->queued->len; i++) {
                const DiffNode *n = &g_array_index(d->queued, DiffNode, i);
                Row row = { .kind = ROW_QUEUED,
                            .node = n,
                            .vertex = -1,
                            .count = { n->calls[DIFF_A], n->calls[DIFF_B] } };

                if (n->calls[DIFF_A] || n->calls[DIFF_B])
                        each_quantile(d, row, n->own, sink, data);
        }
        for (guint i = 0; i < d->by_pattern->len; i++) {
                const DiffPattern *p = &g_array_index(d->by_pattern, DiffPattern, i);
                Row row = { .kind = ROW_SHARE,
                            .pattern = p,
                            .vertex = -1,
                            .count = { p->count[DIFF_A], p->count[DIFF_B] } };

                for (int side = 0; side < N_SIDES; side++)
                        row.share[side] = p->number[side] / (double)MAX(d->paths[side], 1);
                sink(d, &row, data);
                if (!p->tested)
                        continue;
                row.kind = ROW_LATENCY;
                each_quantile(d, row, p->latency, sink, data);
                row.kind = ROW_OWN;
                for (guint k = 0; k < p->nodes->len; k++) {
                        row.node = &g_array_index(p->nodes, DiffNode, k);
                        row.vertex = (int)k;
                        each_quantile(d, row, row.node->own, sink, data);
                }
        }
}

static gboolean row_beyond(const Row *row)
{
        return row->delay ? row->delay->beyond : row->pattern->beyond;
}

/* --- tsv and json ---------------------------------------------------------- */

/* Both runs' values and the interval of the change: A, B, low, high. */
static gint64 row_time(const Row *row, guint i)
{
        const DiffDelay *d = row->delay;

        return (const gint64[]){ d->value[DIFF_A], d->value[DIFF_B], d->low, d->high }[i];
}

static double row_share(const Row *row, guint i)
{
        return (const double[]){ row->share[DIFF_A], row->share[DIFF_B], row->pattern->low,
                                 row->pattern->high }[i];
}

/* The same, a column each. */
static void append_values(GString *out, const Row *row)
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

static void append_tsv(const Diff *d, const Row *row, gpointer data)
{
        GString *out = data;

        g_string_append_printf(out, "%s\t", row_kinds[row->kind]);
        if (row->pattern)
                g_string_append_printf(out, "%016" G_GINT64_MODIFIER "x\t", row->pattern->id);
        else
                g_string_append(out, "-\t");
        g_string_append_printf(out, "%s\t",
                               row->node ? node_table_written(d->nodes, row->node->node) : "-");
        if (row->vertex >= 0)
                g_string_append_printf(out, "%d\t", row->vertex);
        else
                g_string_append(out, "-\t");
        g_string_append_printf(out, "%s\t%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT "\t",
                               row->delay ? diff_quantile_names[row->quantile] : "-",
                               row->count[DIFF_A], row->count[DIFF_B]);
        append_values(out, row);
        g_string_append_printf(out, "\t%d\t%s\t", row_beyond(row),
                               row->pattern ? row->pattern->signature : "-");
        path_append_label_cell(out, row->pattern ? row->pattern->label : NULL);
        g_string_append_c(out, '\n');
}

static void put_values(Json *j, const Row *row)
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

static void put_pattern(Json *j, const DiffPattern *p)
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
static void put_drawn(const Diff *d, Json *j, const DiffPattern *p)
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

static void append_json(const Diff *d, const Row *row, gpointer data)
{
        Json *j = data;

        json_line(j, 4);
        json_open(j, '{');
        json_put_string(j, "kind", row_kinds[row->kind]);
        put_pattern(j, row->pattern);
        if (row->node)
                json_put_string(j, "node", node_table_name(d->nodes, row->node->node));
        if (row->vertex >= 0) {
                json_put_count(j, "vertex", (guint64)row->vertex);
                json_put_count(j, "repeats", row->node->repeats);
        }
        if (row->delay)
                json_put_string(j, "quantile", diff_quantile_names[row->quantile]);
        json_put_open(j, "count", '[');
        json_count(j, row->count[DIFF_A]);
        json_count(j, row->count[DIFF_B]);
        json_close(j, ']');
        if (row->kind == ROW_SHARE && (d->is_drawn[DIFF_A] || d->is_drawn[DIFF_B]))
                put_drawn(d, j, row->pattern);
        json_put_boolean(j, "beyond", row_beyond(row));
        json_line(j, 5);
        put_values(j, row);
        json_close(j, '}');
}

static void write_json(const Diff *d, GString *text)
{
        Json json = JSON_IN(text);

        json_open(&json, '{');
        json_line(&json, 2);
        json_put_string(&json, "format", "ravel diff");
        json_put_count(&json, "version", 1);
        json_line(&json, 2);
        json_put_open(&json, "changes", '[');
        each_row(d, append_json, &json);
        json_close(&json, ']');
        g_string_append(text, "\n}\n");
}

/* --- text ------------------------------------------------------------------ */

static void append_count(GString *out, guint64 n, const char *what)
{
        g_autofree char *text = path_format_count(n);

        g_string_append_printf(out, "%s %s", text, what);
}

static char *format_signed(gint64 ns)
{
        g_autofree char *text = path_format_duration(ns);

        return g_strdup_printf("%s%s", ns > 0 ? "+" : "", text);
}

static char *format_percent(double part, const char *unit)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_ascii_formatd(text, sizeof text, fabs(part) < 0.0995 ? "%.1f" : "%.0f", 100 * part);
        return g_strdup_printf("%s%s %s", part > 0 ? "+" : "", text, unit);
}

/* A column, and which go first where a terminal is too narrow: the greatest drop. */
typedef struct {
        const char *heading;
        guint drop;
} Heading;

static TextTable *new_table(const Heading *headings, guint n)
{
        TextTable *table = text_table_new();

        for (guint i = 0; i < n; i++)
                text_table_add_column(table, headings[i].heading, i == 0 ? TEXT_LEFT : TEXT_RIGHT,
                                      headings[i].drop);
        return table;
}

typedef struct {
        TextTable *nodes, *patterns, *shares;
        GArray *starts;            /* of guint: the row of patterns that each pattern begins with */
        GPtrArray *paths;          /* the DiffPattern of each */
        const DiffPattern *latest; /* borrowed */
        guint width, name_width;   /* of lines, 0: no limit; of the first column */
} Tables;

/* by_path: with a line for each path before its rows. */
static void append_table(GString *out, const char *title, TextTable *table, const Tables *t,
                         gboolean by_path)
{
        guint next = 0;

        if (text_table_rows(table) == 0)
                return;
        text_table_fit(table, t->width);
        g_string_append_printf(out, "\n%s\n", title);
        for (int i = -1; i < (int)text_table_rows(table); i++) {
                if (by_path && i >= 0 && next < t->starts->len &&
                    g_array_index(t->starts, guint, next) == (guint)i) {
                        const DiffPattern *p = t->paths->pdata[next++];
                        g_autofree char *whole = path_pattern_title(p->label, p->signature);
                        g_autofree char *path =
                                text_shorten(whole, t->width > 0 ? MAX(t->width, 3) : MAX_WIDTH);

                        g_string_append_printf(out, "%s\n", path);
                }
                text_table_write_row(table, i, out);
                g_string_append_c(out, '\n');
        }
}

/* "lb>web1>auth>redis": the way from the root to a vertex of the pattern, and which of
 * several that is, where another goes there too. */
static char *vertex_way(const Diff *d, const DiffPattern *p, guint vertex)
{
        GString *way = g_string_new(NULL);

        for (guint i = vertex; i != NO_PARENT; i = g_array_index(p->nodes, DiffNode, i).parent) {
                g_string_prepend(way, way->len ? ">" : "");
                g_string_prepend(way, node_table_written(
                                              d->nodes, g_array_index(p->nodes, DiffNode, i).node));
        }
        return g_string_free(way, FALSE);
}

static char *vertex_name(const Diff *d, const DiffPattern *p, guint vertex)
{
        const DiffNode *n = &g_array_index(p->nodes, DiffNode, vertex);
        GString *name = g_string_new(NULL);
        g_autofree char *way = vertex_way(d, p, vertex);
        guint nth = 1;

        for (guint i = 0; i < vertex; i++) {
                g_autofree char *other = NULL;

                if (g_array_index(p->nodes, DiffNode, i).node != n->node)
                        continue;
                other = vertex_way(d, p, i);
                nth += !strcmp(way, other) &&
                       !g_strcmp0(n->label, g_array_index(p->nodes, DiffNode, i).label);
        }
        g_string_append(name, way);
        if (n->label) {
                g_string_append_c(name, ' ');
                printable_append(name, n->label, -1, PRINTABLE_TEXT);
        }
        if (nth > 1)
                g_string_append_printf(name, " #%u", nth);
        if (n->repeats > 1)
                g_string_append_printf(name, " x%u", n->repeats);
        return g_string_free(name, FALSE);
}

/* Its end says which: the beginning goes where it is too wide. */
static char *shorten_way(const char *way, guint width)
{
        const char *rest = way;

        if (text_width(way) <= width)
                return g_strdup(way);
        while (text_width(rest) + 3 > width)
                rest = g_utf8_next_char(rest);
        return g_strdup_printf("...%s", rest);
}

static void add_delay_row(TextTable *table, char *name, const Row *row)
{
        const DiffDelay *d = row->delay;
        gint64 change = d->value[DIFF_B] - d->value[DIFF_A];
        g_autofree char *low = format_signed(d->low), *high = format_signed(d->high);

        text_table_add(table, name);
        text_table_add(table, path_format_count(row->count[DIFF_A]));
        text_table_add(table, path_format_count(row->count[DIFF_B]));
        text_table_add(table, g_strdup(diff_quantile_names[row->quantile]));
        text_table_add(table, path_format_duration(d->value[DIFF_A]));
        text_table_add(table, path_format_duration(d->value[DIFF_B]));
        text_table_add(table, format_signed(change));
        text_table_add(table,
                       d->value[DIFF_A] > 0
                               ? format_percent((double)change / (double)d->value[DIFF_A], "%")
                               : g_strdup("-"));
        text_table_add(table, g_strdup_printf("%s to %s", low, high));
        if (row->quantile != DIFF_P50 || (!row->node && !row->pattern))
                text_table_add(table, g_strdup(""));
        else if (row->node)
                text_table_add(table,
                               format_signed(row->node->mean[DIFF_B] - row->node->mean[DIFF_A]));
        else
                text_table_add(table, format_signed(row->pattern->mean[DIFF_B] -
                                                    row->pattern->mean[DIFF_A]));
}

/* Below a line that names the path, also where its latency did not change. */
static void add_path_row(const Diff *d, Tables *t, const Row *row)
{
        guint at = text_table_rows(t->patterns);
        g_autofree char *name = NULL, *way = NULL;

        if (row->pattern != t->latest) {
                g_array_append_val(t->starts, at);
                g_ptr_array_add(t->paths, (gpointer)row->pattern);
                t->latest = row->pattern;
        }
        if (row->kind == ROW_LATENCY) {
                name = g_strdup("  latency");
        } else {
                way = vertex_name(d, row->pattern, (guint)row->vertex);
                name = shorten_way(way, t->name_width - 2);
        }
        add_delay_row(t->patterns,
                      row->kind == ROW_LATENCY ? g_steal_pointer(&name)
                                               : g_strdup_printf("  %s", name),
                      row);
}

static void add_row(const Diff *d, const Row *row, gpointer data)
{
        Tables *t = data;

        if (!row_beyond(row))
                return;
        if (row->kind == ROW_SHARE) {
                const DiffPattern *p = row->pattern;
                g_autofree char *title = path_pattern_title(p->label, p->signature);
                g_autofree char *low = format_percent(p->low, "pp"),
                                *high = format_percent(p->high, "pp");

                text_table_add(t->shares, text_shorten(title, t->name_width));
                for (int side = 0; side < N_SIDES; side++)
                        text_table_add(t->shares,
                                       d->is_drawn[side]
                                               ? path_format_drawn(p->number[side], p->error[side])
                                               : path_format_count(p->count[side]));
                text_table_add(t->shares, g_strdup(!p->count[DIFF_A]   ? "new"
                                                   : !p->count[DIFF_B] ? "gone"
                                                                       : ""));
                text_table_add(t->shares,
                               format_percent(row->share[DIFF_B] - row->share[DIFF_A], "pp"));
                text_table_add(t->shares, g_strdup_printf("%s to %s", low, high));
        } else if (!row->pattern) {
                g_autofree char *queue =
                        row->kind == ROW_QUEUED
                                ? g_strdup_printf("(queued for %s)",
                                                  node_table_written(d->nodes, row->node->node))
                                : NULL;

                add_delay_row(t->nodes,
                              text_shorten(queue ? queue
                                           : row->node
                                                   ? node_table_written(d->nodes, row->node->node)
                                                   : "(latency of all paths)",
                                           t->name_width),
                              row);
        } else {
                add_path_row(d, t, row);
        }
}

static void count_tested(const Diff *d, guint *tested, guint only[N_SIDES])
{
        *tested = only[DIFF_A] = only[DIFF_B] = 0;
        for (guint i = 0; i < d->by_pattern->len; i++) {
                const DiffPattern *p = &g_array_index(d->by_pattern, DiffPattern, i);

                *tested += p->tested;
                only[DIFF_A] += !p->count[DIFF_B];
                only[DIFF_B] += !p->count[DIFF_A];
        }
}

/* "A  2 paths of 1 pattern (a.sqlite)" */
static void append_side(const Diff *d, int side, const char *name, GString *out, guint width)
{
        g_autoptr(GString) line = g_string_new(NULL);
        g_autofree char *printable = printable_new(name, PRINTABLE_TEXT);
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append_printf(line, "%c  ", 'A' + side);
        append_count(line, d->paths[side], d->paths[side] == 1 ? "path of " : "paths of ");
        append_count(line, d->patterns[side], d->patterns[side] == 1 ? "pattern (" : "patterns (");
        g_string_append_printf(line, "%s)", printable);
        if (!d->has_paths[side] && d->paths[side]) {
                g_string_append_printf(line,
                                       "; taken for bursts of %g, as single paths are missing",
                                       d->dependence[side]);
        } else if (d->dependence[side] > 1.05 && d->paths[side]) {
                g_ascii_formatd(text, sizeof text, "%.1f", d->dependence[side]);
                g_string_append_printf(line, "; in bursts: %s count for one", text);
        }
        text_append_wrapped(out, line->str, " ", 0, width);
}

/* Where paths are counted by drawings: that they are. */
static void append_trust(const Diff *d, GString *out, guint width)
{
        g_autofree char *text = diff_trust_in_counts(d);

        if (text)
                text_append_wrapped(out, text, " ", 0, width);
}

static void append_compared(const Diff *d, GString *out, guint width)
{
        g_autoptr(GString) line = g_string_new("Compared: the counts of ");
        guint tested, only[N_SIDES];

        count_tested(d, &tested, only);
        append_count(line, d->by_pattern->len,
                     d->by_pattern->len == 1 ? "pattern, of which " : "patterns, of which ");
        append_count(line, only[DIFF_A],
                     only[DIFF_A] == 1 ? "is in A only and " : "are in A only and ");
        append_count(line, only[DIFF_B], "in B only; the delays of ");
        append_count(line, tested, "that both have.");
        text_append_wrapped(out, line->str, " ", 0, width);
}

static void write_text(const Diff *d, const char *const names[N_SIDES], GString *out)
{
        static const Heading node_headings[] = {
                { "node", 0 },   { "calls A", 3 }, { "calls B", 3 },
                { "", 0 },       { "A", 0 },       { "B", 0 },
                { "change", 0 }, { "", 1 },        { "interval of the change", 2 },
                { "mean", 4 },
        };
        static const Heading pattern_headings[] = {
                { "path and own time on it", 0 },
                { "paths A", 3 },
                { "paths B", 3 },
                { "", 0 },
                { "A", 0 },
                { "B", 0 },
                { "change", 0 },
                { "", 1 },
                { "interval of the change", 2 },
                { "mean", 4 },
        };
        static const Heading share_headings[] = {
                { "path", 0 }, { "paths A", 0 }, { "paths B", 0 },
                { "", 0 },     { "change", 0 },  { "interval of the change", 1 },
        };
        g_autoptr(TextTable) nodes = new_table(node_headings, G_N_ELEMENTS(node_headings));
        g_autoptr(TextTable) patterns = new_table(pattern_headings, G_N_ELEMENTS(pattern_headings));
        g_autoptr(TextTable) shares = new_table(share_headings, G_N_ELEMENTS(share_headings));
        g_autoptr(GArray) starts = g_array_new(FALSE, FALSE, sizeof(guint));
        g_autoptr(GPtrArray) paths = g_ptr_array_new();
        guint width = options.output ? 0 : tool_columns();
        Tables tables = { .nodes = nodes,
                          .patterns = patterns,
                          .shares = shares,
                          .starts = starts,
                          .paths = paths,
                          .width = width,
                          .name_width = width > 0 ? MAX(width / 3, MIN_NAME) : MAX_WIDTH };

        for (int side = 0; side < N_SIDES; side++)
                append_side(d, side, names[side], out, width);
        append_trust(d, out, width);
        each_row(d, add_row, &tables);
        append_table(out, "Nodes: own time of a call, on all paths", nodes, &tables, FALSE);
        append_table(out, "Paths: latency, and own time of a call", patterns, &tables, TRUE);
        append_table(out, "Paths: share of all", shares, &tables, FALSE);
        if (!text_table_rows(nodes) && !text_table_rows(patterns) && !text_table_rows(shares))
                g_string_append(out, "\nNo change beyond chance.\n");
        g_string_append_c(out, '\n');
        append_compared(d, out, width);
}

/* --- the answer ------------------------------------------------------------ */

static gboolean meets(const Condition *c, const Row *row)
{
        double a, b, change;

        if (!row_beyond(row) || row->kind == ROW_QUEUED || c->share != (row->kind == ROW_SHARE) ||
            c->own != (row->kind == ROW_OWN))
                return FALSE;
        if (!c->share && c->quantile != row->quantile)
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

static void check_conditions(const Diff *d, const Row *row, gpointer data)
{
        guint *failures = data;

        for (guint i = 0; options.conditions && i < options.conditions->len; i++) {
                const Condition *c = &g_array_index(options.conditions, Condition, i);

                if (!meets(c, row) || ++*failures > MAX_FAILURES)
                        continue;
                g_autofree char *vertex =
                        row->vertex >= 0 ? vertex_name(d, row->pattern, (guint)row->vertex) : NULL;
                const char *node = vertex      ? vertex
                                   : row->node ? node_table_written(d->nodes, row->node->node)
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
        g_autoptr(OutputFile) out =
                output_file_new(options.output ? options.output : "-", FALSE, error);

        if (!out)
                return FALSE;
        if (options.format && !strcmp(options.format, "html"))
                return diff_write_page(d, names, out, error) &&
                       output_file_close(g_steal_pointer(&out), error);
        if (!options.format || !strcmp(options.format, "text")) {
                write_text(d, names, text);
        } else if (!strcmp(options.format, "tsv")) {
                g_string_append(text,
                                "kind\tpattern\tnode\tvertex\tquantile\tcount_a\tcount_b\ta\tb\t"
                                "low\thigh\tbeyond\tsignature\tlabel\n");
                each_row(d, append_tsv, text);
        } else {
                write_json(d, text);
        }
        return output_file_write(out, text->str, text->len, error) &&
               output_file_close(g_steal_pointer(&out), error);
}

static void say_what_is_compared(const Diff *d, char **names)
{
        if (d->has_labels[DIFF_A] != d->has_labels[DIFF_B])
                tool_warn("%s has no operations: patterns are compared by their signatures alone",
                          names[d->has_labels[DIFF_A] ? DIFF_B : DIFF_A]);
}

static gboolean check_arguments(int argc, GError **error)
{
        if (argc != 3)
                g_set_error(
                        error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                        "stores named: %d, expected two: of the run before, and of the one after",
                        argc - 1);
        else
                return TRUE;
        return FALSE;
}

int tool_diff(int argc, char **argv)
{
        g_autoptr(GOptionContext) context =
                g_option_context_new("A B - what changed between two runs");
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) a = NULL, b = NULL;
        g_autoptr(Diff) diff = NULL;
        GError *error = NULL;
        guint failures = 0;
        int status;

        g_option_context_add_main_entries(context, entries, NULL);
        tool_add_choices(choices);
        if (!tool_parse(context, &argc, &argv, &status))
                return status;
        if (!check_arguments(argc, &error) || !run_files_read_store(argv[1], &error) ||
            !run_files_read_store(argv[2], &error) ||
            !run_files_write("-o", options.output, &error) ||
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
        each_row(diff, check_conditions, &failures);
        if (failures > MAX_FAILURES)
                tool_warn("and %u more", failures - MAX_FAILURES);
        return failures ? EXIT_DIFFERS : EXIT_DONE;
}
