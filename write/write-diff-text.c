/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What changed between two runs, for people.
 */
#include <math.h>

#include "analysis/diff-rows.h"
#include "base/each.h"
#include "base/printable.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "write/text-table.h"
#include "write/write-diff.h"

enum {
        MAX_WIDTH = 60, /* of a path or a name where lines have no limit */
        MIN_NAME = 20   /* narrower, nothing is told apart */
};

static char *format_signed(gint64 ns)
{
        g_autofree char *text = path_format_duration(ns);

        return g_strdup_printf("%s%s", ns > 0 ? "+" : "", text);
}

static char *diff_text_format_percent(double part, const char *unit)
{
        return g_strdup_printf("%s%.*f %s", part > 0 ? "+" : "", fabs(part) < 0.0995, 100 * part,
                               unit);
}

/* A column, and which go first where a terminal is too narrow: the greatest drop. */
typedef struct {
        const char *heading;
        guint drop;
} Heading;

static TextTable *diff_text_new_table(const Heading *headings, guint n)
{
        TextTable *table = text_table_new();

        for (guint i = 0; i < n; i++)
                text_table_add_column(table, headings[i].heading, i == 0 ? TEXT_LEFT : TEXT_RIGHT,
                                      headings[i].drop);
        return table;
}

typedef struct {
        TextTable *nodes, *edges, *patterns, *shares;
        GArray *starts;            /* of guint: the row of patterns that each pattern begins with */
        GPtrArray *paths;          /* the DiffPattern of each */
        const DiffPattern *latest; /* borrowed */
        guint width, name_width;   /* of lines, 0: no limit; of the first column */
} Tables;

/* by_path: with a line for each path before its rows. */
static void diff_text_append_table(GString *out, const char *title, TextTable *table,
                                   const Tables *t, gboolean by_path)
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

static void add_quantile_cells(TextTable *table, const DiffRow *row)
{
        const DiffDelay *d = row->delay;
        gint64 change = d->value[DIFF_B] - d->value[DIFF_A];
        g_autofree char *low = format_signed(d->low), *high = format_signed(d->high);

        text_table_add(table, g_strdup(diff_quantile_names[row->quantile]));
        text_table_add(table, path_format_duration(d->value[DIFF_A]));
        text_table_add(table, path_format_duration(d->value[DIFF_B]));
        text_table_add(table, format_signed(change));
        text_table_add(table, d->value[DIFF_A] > 0
                                      ? diff_text_format_percent(
                                                (double)change / (double)d->value[DIFF_A], "%")
                                      : g_strdup("-"));
        text_table_add(table, d->bounded ? g_strdup_printf("%s to %s", low, high)
                                         : g_strdup_printf("needs %" G_GUINT64_FORMAT, d->needed));
}

/* ">50.0 ms  0.0 %  11 %  +11 pp" */
static void add_tail_cells(TextTable *table, const DiffRow *row)
{
        const DiffTail *t = row->tail;
        g_autofree char *limit = path_format_duration(t->limit),
                        *low = diff_text_format_percent(t->low, "pp"),
                        *high = diff_text_format_percent(t->high, "pp");

        text_table_add(table, g_strdup_printf(">%s", limit));
        for (int side = 0; side < N_SIDES; side++)
                text_table_add(table,
                               path_format_share(llround(t->share[side] * (double)row->count[side]),
                                                 (gint128)row->count[side]));
        text_table_add(table, diff_text_format_percent(t->share[DIFF_B] - t->share[DIFF_A], "pp"));
        text_table_add(table, g_strdup(""));
        text_table_add(table, g_strdup_printf("%s to %s", low, high));
}

/* With the change of the mean in the first row of a time. */
static void add_time_row(TextTable *table, char *name, const DiffRow *row)
{
        const DiffTimes *t = row->times;

        text_table_add(table, name);
        text_table_add(table, path_format_count(row->count[DIFF_A]));
        text_table_add(table, path_format_count(row->count[DIFF_B]));
        if (row->delay)
                add_quantile_cells(table, row);
        else
                add_tail_cells(table, row);
        text_table_add(table, row->delay && row->quantile == DIFF_P50
                                      ? format_signed(t->mean[DIFF_B] - t->mean[DIFF_A])
                                      : g_strdup(""));
}

/* Below a line that names the path, also where its latency did not change. */
static void add_path_row(const Diff *d, Tables *t, const DiffRow *row)
{
        guint at = text_table_rows(t->patterns);
        g_autofree char *name = NULL, *way = NULL;

        if (row->pattern != t->latest) {
                g_array_append_val(t->starts, at);
                g_ptr_array_add(t->paths, (gpointer)row->pattern);
                t->latest = row->pattern;
        }
        if (row->kind == DIFF_ROW_LATENCY) {
                name = g_strdup("  latency");
        } else {
                way = diff_vertex_name(d, row->pattern, (guint)row->vertex);
                name = shorten_way(way, t->name_width - 2);
        }
        add_time_row(t->patterns,
                     row->kind == DIFF_ROW_LATENCY ? g_steal_pointer(&name)
                                                   : g_strdup_printf("  %s", name),
                     row);
}

static void diff_text_add_row(const Diff *d, const DiffRow *row, gpointer data)
{
        Tables *t = data;

        /* A tail that goes with the median says nothing new. */
        if (!diff_row_beyond(row) || (row->tail && row->times->quantiles[DIFF_P50].beyond))
                return;
        if (row->kind == DIFF_ROW_SHARE) {
                const DiffPattern *p = row->pattern;
                g_autofree char *title = path_pattern_title(p->label, p->signature);
                g_autofree char *low = diff_text_format_percent(p->low, "pp"),
                                *high = diff_text_format_percent(p->high, "pp");

                text_table_add(t->shares, text_shorten(title, t->name_width));
                for (int side = 0; side < N_SIDES; side++)
                        text_table_add(t->shares,
                                       d->is_drawn[side]
                                               ? path_format_drawn(p->number[side], p->error[side])
                                               : path_format_count(p->count[side]));
                text_table_add(t->shares, g_strdup(!p->count[DIFF_A]   ? "new"
                                                   : !p->count[DIFF_B] ? "gone"
                                                                       : ""));
                text_table_add(t->shares, diff_text_format_percent(
                                                  row->share[DIFF_B] - row->share[DIFF_A], "pp"));
                text_table_add(t->shares, g_strdup_printf("%s to %s", low, high));
        } else if (!row->pattern) {
                g_autofree char *name =
                        row->node ? diff_node_name(d, row) : g_strdup("(latency of all paths)");

                add_time_row(row->node && row->node->caller != NO_NODE ? t->edges : t->nodes,
                             text_shorten(name, t->name_width), row);
        } else {
                add_path_row(d, t, row);
        }
}

static void count_tested(const Diff *d, guint *tested, guint only[N_SIDES])
{
        *tested = only[DIFF_A] = only[DIFF_B] = 0;
        EACH (const DiffPattern, p, d->by_pattern) {
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

        g_string_append_printf(line, "%c  ", 'A' + side);
        text_append_count(line, d->paths[side], d->paths[side] == 1 ? "path of " : "paths of ");
        text_append_count(line, d->patterns[side],
                          d->patterns[side] == 1 ? "pattern (" : "patterns (");
        g_string_append_printf(line, "%s)", printable);
        if (!d->has_paths[side] && d->paths[side])
                g_string_append_printf(line,
                                       "; taken for bursts of %g, as single paths are missing",
                                       d->dependence[side]);
        else if (d->dependence[side] > 1.05 && d->paths[side])
                g_string_append_printf(line, "; in bursts: %.1f count for one",
                                       d->dependence[side]);
        text_append_wrapped(out, line->str, " ", 0, width);
}

/* Where paths are counted by drawings: that they are. */
static void diff_text_append_trust(const Diff *d, GString *out, guint width)
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
        text_append_count(line, d->by_pattern->len,
                          d->by_pattern->len == 1 ? "pattern, of which " : "patterns, of which ");
        text_append_count(line, only[DIFF_A],
                          only[DIFF_A] == 1 ? "is in A only and " : "are in A only and ");
        text_append_count(line, only[DIFF_B], "in B only; the delays of ");
        text_append_count(line, tested, "that both have.");
        text_append_wrapped(out, line->str, " ", 0, width);
}

/* Which quantiles of all paths cannot be told, and what they need. */
static void append_needed(const Diff *d, GString *out, guint width)
{
        const DiffTimes *all = diff_times(d, d->latency);

        for (guint q = 0; q < N_DIFF_QUANTILES; q++) {
                const DiffDelay *quantile = &all->quantiles[q];

                if (quantile->bounded || quantile->beyond || !d->paths[DIFF_A] || !d->paths[DIFF_B])
                        continue;
                text_append_line(out, " ", 0, width,
                                 "The %s of all paths needs %" G_GUINT64_FORMAT
                                 " paths in each run.",
                                 diff_quantile_names[q], quantile->needed);
        }
}

void diff_write_text(const Diff *d, const char *const names[N_SIDES], guint width, GString *out)
{
        static const Heading node_headings[] = {
                { "node", 0 },   { "calls A", 3 }, { "calls B", 3 },
                { "", 0 },       { "A", 0 },       { "B", 0 },
                { "change", 0 }, { "", 1 },        { "interval of the change", 2 },
                { "mean", 4 },
        };
        static const Heading edge_headings[] = {
                { "call", 0 },   { "calls A", 3 }, { "calls B", 3 },
                { "", 0 },       { "A", 0 },       { "B", 0 },
                { "change", 0 }, { "", 1 },        { "interval of the change", 2 },
                { "mean", 4 },
        };
        static const Heading pattern_headings[] = {
                { "path, and its nodes", 0 },
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
        g_autoptr(TextTable) nodes =
                diff_text_new_table(node_headings, G_N_ELEMENTS(node_headings));
        g_autoptr(TextTable) edges =
                diff_text_new_table(edge_headings, G_N_ELEMENTS(edge_headings));
        g_autoptr(TextTable) patterns =
                diff_text_new_table(pattern_headings, G_N_ELEMENTS(pattern_headings));
        g_autoptr(TextTable) shares =
                diff_text_new_table(share_headings, G_N_ELEMENTS(share_headings));
        g_autoptr(GArray) starts = g_array_new(FALSE, FALSE, sizeof(guint));
        g_autoptr(GPtrArray) paths = g_ptr_array_new();
        Tables tables = { .nodes = nodes,
                          .edges = edges,
                          .patterns = patterns,
                          .shares = shares,
                          .starts = starts,
                          .paths = paths,
                          .width = width,
                          .name_width = width > 0 ? MAX(width / 3, MIN_NAME) : MAX_WIDTH };

        for (int side = 0; side < N_SIDES; side++)
                append_side(d, side, names[side], out, width);
        diff_text_append_trust(d, out, width);
        diff_each_row(d, diff_text_add_row, &tables);
        diff_text_append_table(out, "Nodes: own time of a call, on all paths", nodes, &tables,
                               FALSE);
        diff_text_append_table(out,
                               "Edges: latency of a call, and its time on the way, on all paths",
                               edges, &tables, FALSE);
        diff_text_append_table(out, "Paths: latency, and own time of a call", patterns, &tables,
                               TRUE);
        diff_text_append_table(out, "Paths: share of all", shares, &tables, FALSE);
        if (!text_table_rows(nodes) && !text_table_rows(edges) && !text_table_rows(patterns) &&
            !text_table_rows(shares))
                g_string_append(out, "\nNo change beyond chance.\n");
        append_needed(d, out, width);
        g_string_append_c(out, '\n');
        append_compared(d, out, width);
}
