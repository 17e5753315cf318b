/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which nodes make latency vary, for people.
 */
#include <math.h>

#include "base/printable.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "write/text-table.h"
#include "write/write-variance.h"

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

/* --- names and numbers ----------------------------------------------------- */

static char *variance_text_format_share(double share)
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
        case FACTOR_WAY:
        case FACTOR_OWN:
        default:
                return g_steal_pointer(&where);
        }
}

static const VarianceRow *variance_text_row_at(const VarianceEntry *e, guint i)
{
        return &g_array_index(e->rows, VarianceRow, i);
}

/* --- text ------------------------------------------------------------------ */

static void variance_text_append_head(const Variance *v, const VarianceEntry *e,
                                      const NodeTable *nodes, guint width, GString *out)
{
        g_autofree char *name = variance_entry_name(e, nodes);
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
                        ", mean %s%s, deviation %s, p99 %s. Half of the variance is in %s of them "
                        "(%s)%s",
                        v->completion ? "completion time " : "", mean, deviation, p99, half, part,
                        e->half < HANDFUL ? ": a handful, which ravel why tells more about." : ".");
        }
        text_append_wrapped(out, line->str, " ", 0, width);
}

static TextTable *variance_text_new_table(void)
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

static void variance_text_add_row(TextTable *table, const VarianceRow *row, char *title)
{
        const double shares[] = { row->all, row->same, row->which, row->mean, row->tail };

        text_table_add(table, title);
        for (guint i = 0; i < G_N_ELEMENTS(shares); i++)
                text_table_add(table, variance_text_format_share(shares[i]));
        text_table_add(table, tells_load(row) ? variance_text_format_share(row->load.explained)
                                              : g_strdup(""));
}

/* Whether it is worth a line: not what may as well be none. */
static gboolean is_shown(const VarianceRow *row)
{
        return (fabs(row->all) >= LEAST_SHARE || fabs(row->tail) >= LEAST_TAIL) &&
               (row->error < 0 || fabs(row->all) > row->error);
}

static void variance_text_append_rows(const VarianceEntry *e, guint width, GString *out)
{
        g_autoptr(TextTable) table = variance_text_new_table();
        guint name_width = width > 0 ? MAX(width / 2, MIN_NAME) : MAX_WIDTH, shown = 0;
        VarianceRow rest = { .all = 0 };

        for (guint i = 0; i < e->rows->len; i++) {
                const VarianceRow *row = variance_text_row_at(e, i);

                if (shown < MAX_ROWS && is_shown(row)) {
                        g_autofree char *title = row_title(row);

                        variance_text_add_row(table, row, text_shorten(title, name_width));
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
                variance_text_add_row(table, &rest, g_strdup("all else"));
        text_table_fit(table, width > 2 ? width - 2 : 0);
        text_table_write(table, "  ", out);
}

static void append_replica(const VarianceRow *row, guint width, GString *out)
{
        g_autofree char *title = row_title(row), *same = variance_text_format_share(row->same);
        g_autofree char *replica = NULL, *share = NULL;

        if (!row->replica)
                return;
        replica = printable_new(row->replica, PRINTABLE_TEXT);
        share = variance_text_format_share(row->replica_share);
        text_append_line(out, " ", 2, width, "%s: %s has %s of the %s on the same path.", title,
                         replica, share, same);
}

static void append_means(const VarianceRow *row, guint width, GString *out)
{
        g_autofree char *title = row_title(row),
                        *share = variance_text_format_share(row->by_replica);
        g_autofree char *slow_mean = path_format_duration((gint64)round(row->slow_mean));
        g_autofree char *quick_mean = path_format_duration((gint64)round(row->quick_mean));
        g_autofree char *slow = NULL, *quick = NULL;

        if (row->by_replica < LEAST_BY_REPLICA)
                return;
        slow = printable_new(row->slow, PRINTABLE_TEXT);
        quick = printable_new(row->quick, PRINTABLE_TEXT);
        text_append_line(out, " ", 2, width, "%s: %s is which one: %s takes %s in the mean, %s %s.",
                         title, share, slow, slow_mean, quick, quick_mean);
}

static void variance_text_append_load(const VarianceRow *row, guint width, GString *out)
{
        g_autofree char *title = row_title(row),
                        *part = variance_text_format_share(row->load.explained);
        g_autofree char *slope = path_format_duration((gint64)round(fabs(row->load.slope)));
        g_autofree char *idle = path_format_duration((gint64)round(row->load.idle));

        if (!tells_load(row))
                return;
        text_append_line(out, " ", 2, width,
                         "%s: %s of the variance of a call goes with how many others the "
                         "node serves when it comes: %s%s%s%s for each.",
                         title, part, row->load.idle < 0 ? "" : idle,
                         row->load.idle < 0 ? "" : " with none, ", row->load.slope < 0 ? "-" : "+",
                         slope);
}

static void append_pair(const VarianceEntry *e, const VariancePair *pair, guint width, GString *out)
{
        g_autofree char *a = row_title(variance_text_row_at(e, pair->a)),
                        *b = row_title(variance_text_row_at(e, pair->b));
        g_autofree char *share = variance_text_format_share(pair->share);
        text_append_line(out, " ", 2, width,
                         "%s and %s vary together (r %.2f): %s of the variance is only that.", a, b,
                         pair->r, share);
}

static void append_pairs(const VarianceEntry *e, guint width, GString *out)
{
        guint shown = 0;

        for (guint i = 0; i < e->pairs->len && shown < MAX_PAIRS; i++) {
                const VariancePair *p = &g_array_index(e->pairs, VariancePair, i);

                if (!is_shown(variance_text_row_at(e, p->a)) ||
                    !is_shown(variance_text_row_at(e, p->b)))
                        continue;
                append_pair(e, p, width, out);
                shown++;
        }
}

static void append_advice(const Variance *v, const VarianceEntry *e, guint width, GString *out)
{
        const VarianceRow *first = variance_text_row_at(e, 0);
        double by_replica = 0;
        g_autofree char *which = variance_text_format_share(e->which), *title = row_title(first);
        g_autofree char *all = variance_text_format_share(first->all),
                        *doubt = variance_text_format_share(first->doubtful);

        for (guint i = 0; i < e->rows->len; i++)
                by_replica += variance_text_row_at(e, i)->by_replica;
        if (!v->has_labels && e->which - by_replica >= MUCH_WHICH) {
                text_append_line(out, " ", 2, width,
                                 "%s is which path requests take: they may be of several "
                                 "kinds. Operations (capture --labels) tell them apart.",
                                 which);
        }
        if (e->goes_on && !v->completion)
                text_append_wrapped(out,
                                    "What goes on after the reply (~>) is no part of the latency: "
                                    "--completion has it.",
                                    " ", 2, width);
        if (first->doubtful >= MUCH_DOUBT * first->all) {
                text_append_line(out, " ", 2, width,
                                 "Of the %s of %s %s is from calls that "
                                 "are less than 90 %% sure to be there.",
                                 all, title, doubt);
        }
}

static void variance_text_append_entry(const Variance *v, const VarianceEntry *e,
                                       const NodeTable *nodes, guint width, GString *out)
{
        g_autoptr(GString) notes = g_string_new(NULL);

        variance_text_append_head(v, e, nodes, width, out);
        if (e->rows->len == 0)
                return;
        g_string_append_c(out, '\n');
        variance_text_append_rows(e, width, out);
        for (guint i = 0; i < e->rows->len; i++)
                if (is_shown(variance_text_row_at(e, i))) {
                        append_means(variance_text_row_at(e, i), width, notes);
                        append_replica(variance_text_row_at(e, i), width, notes);
                        variance_text_append_load(variance_text_row_at(e, i), width, notes);
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
        "others the node serves. web1|web2: one of them each time. Below 0: shorter where the "
        "whole is longer.";

/* Those of which too few requests are known. */
static void append_few(const Variance *v, guint n, const NodeTable *nodes, guint width,
                       GString *out)
{
        g_autoptr(GString) line = g_string_new(NULL);

        for (guint i = 0; i < n; i++) {
                const VarianceEntry *e = g_ptr_array_index(v->entries, i);
                g_autofree char *name = variance_entry_name(e, nodes);
                g_autofree char *title = path_pattern_title(e->label, name);

                if (e->count >= VARIANCE_FEWEST)
                        continue;
                g_string_append_printf(line, "%s%s (%" G_GUINT64_FORMAT ")", line->len ? ", " : "",
                                       title, e->count);
        }
        if (line->len == 0)
                return;
        g_string_prepend(line, "Too few requests to say anything, " G_STRINGIFY(
                                       VARIANCE_FEWEST) " are needed: ");
        text_append_wrapped(out, line->str, " ", 0, width);
        g_string_append_c(out, '\n');
}

void variance_write_text(const Variance *v, const NodeTable *nodes, guint n, guint width,
                         GString *out)
{
        gboolean tables = FALSE;

        for (guint i = 0; i < n; i++) {
                const VarianceEntry *e = g_ptr_array_index(v->entries, i);

                if (e->count < VARIANCE_FEWEST)
                        continue;
                variance_text_append_entry(v, e, nodes, width, out);
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
