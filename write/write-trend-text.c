/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What changed over many stores, for people.
 */
#include <math.h>

#include "base/each.h"
#include "base/printable.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "write/text-table.h"
#include "write/write-trend.h"

enum {
        MAX_WIDTH = 60,   /* of a name where lines have no limit */
        MIN_NAME = 20,    /* narrower, nothing is told apart */
        MAX_FOLLOWING = 5 /* latencies and rates that only say again what others say */
};

static const TrendPoint *trend_text_point_at(const Trend *t, guint i)
{
        return &g_array_index(t->points, TrendPoint, i);
}

/* Decimals by which a number has three digits. */
static int decimals_of(double size)
{
        return size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
}

/* "+0.36 %": a share, to hundredths below 10 %. */
static char *trend_text_format_percent(double share, gboolean sign)
{
        double percent = 100 * share;

        return g_strdup_printf("%s%.*f %%", sign && percent > 0 ? "+" : "",
                               decimals_of(fabs(percent)), percent);
}

static char *format_value(const TrendSeries *s, double value)
{
        if (s->kind == TREND_OWN || s->kind == TREND_LATENCY)
                return path_format_duration((gint64)CLAMP(value, 0, 9e18));
        if (s->kind == TREND_SHARE)
                return trend_text_format_percent(value, FALSE);
        return g_strdup_printf("%.*f/s", decimals_of(value), value);
}

/* The mean of the points from..to without odd points. */
static double level_between(const TrendSeries *s, guint from, guint to)
{
        double sum = 0, weight = 0;

        for (guint i = from; i < to; i++) {
                double n = s->kind == TREND_RATE ? 1 : (double)s->values[i].count;
                gboolean odd = FALSE;

                EACH (const SeriesChange, c, s->changes)
                        odd |= c->kind == SERIES_ODD && c->at == i;
                if (odd || s->values[i].count == 0)
                        continue;
                sum += n * s->values[i].value;
                weight += n;
        }
        return weight > 0 ? sum / weight : 0;
}

/* "2026-11-21 13:00"; with seconds where points are closer. */
static char *trend_text_format_time(const Trend *t, gint64 time)
{
        g_autoptr(GDateTime) utc =
                time == NO_TIME ? NULL : g_date_time_new_from_unix_utc(time / 1000000000);

        return utc ? g_date_time_format(utc, t->timed && t->spacing < 120e9 ? "%Y-%m-%d %H:%M:%S"
                                                                            : "%Y-%m-%d %H:%M")
                   : g_strdup("-");
}

/* "store 7 (s7.sqlite, 2026-11-21 13:00)" */
static char *format_point(const Trend *t, guint i)
{
        const TrendPoint *p = trend_text_point_at(t, i);
        g_autofree char *base = g_path_get_basename(p->name);
        g_autofree char *name = printable_new(base, PRINTABLE_TEXT);
        g_autofree char *time = t->timed ? trend_text_format_time(t, p->first) : NULL;

        if (t->by != TREND_BY_STORE)
                return g_strdup_printf("%s %u (%s)", trend_unit_names[t->by], i + 1, time);
        return g_strdup_printf("store %u (%s%s%s)", i + 1, name, time ? ", " : "",
                               time ? time : "");
}

static const char *unit_of(const Trend *t)
{
        static const char *const names[] = { "a store", "an hour", "a day" };

        return names[t->by];
}

static const char *const kind_words[] = { "own time", "latency", "rate", "share" };

typedef struct {
        TextTable *table;
        guint name_width;
} Table;

static Table trend_text_new_table(guint width)
{
        static const struct {
                const char *heading;
                TextAlign align;
                guint drop;
        } columns[] = { { "", TEXT_LEFT, 0 },        { "of", TEXT_LEFT, 0 },
                        { "", TEXT_LEFT, 0 },        { "mean", TEXT_RIGHT, 1 },
                        { "change", TEXT_RIGHT, 0 }, { "+-", TEXT_RIGHT, 2 },
                        { "in all", TEXT_RIGHT, 3 }, { "", TEXT_LEFT, 0 } };
        Table t = { text_table_new(), width > 0 ? MAX(width / 3, MIN_NAME) : MAX_WIDTH };

        for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
                text_table_add_column(t.table, columns[i].heading, columns[i].align,
                                      columns[i].drop);
        return t;
}

static void add_change(const Trend *t, const TrendSeries *s, const SeriesChange *c,
                       const Table *table)
{
        static const char *const words[] = { "creeps", "steps", "odd" };
        g_autofree char *title = trend_series_title(s), *at = format_point(t, c->at);
        double error = (expm1(c->change + c->error) - expm1(c->change - c->error)) / 2;

        text_table_add(table->table, g_strdup(words[c->kind]));
        text_table_add(table->table, text_shorten(title, table->name_width));
        text_table_add(table->table, g_strdup(kind_words[s->kind]));
        if (c->kind == SERIES_STEP) {
                g_autofree char *a = format_value(s, level_between(s, c->from, c->at));
                g_autofree char *b = format_value(s, level_between(s, c->at, c->to));

                text_table_add(table->table, g_strdup_printf("%s to %s", a, b));
        } else {
                text_table_add(table->table,
                               format_value(s, c->kind == SERIES_ODD
                                                       ? s->values[c->at].value
                                                       : level_between(s, c->from, c->to)));
        }
        g_autofree char *size = trend_text_format_percent(expm1(c->change), TRUE);
        text_table_add(table->table, c->kind == SERIES_CREEP
                                             ? g_strdup_printf("%s %s", size, unit_of(t))
                                             : g_strdup(size));
        text_table_add(table->table, trend_text_format_percent(error, FALSE));
        text_table_add(table->table,
                       c->kind == SERIES_CREEP
                               ? trend_text_format_percent(trend_change_in_all(t, c), TRUE)
                               : g_strdup(""));
        if (c->kind != SERIES_CREEP)
                text_table_add(table->table, g_strdup_printf("at %s", at));
        else if (c->from == 0 && c->to == t->points->len)
                text_table_add(table->table, g_strdup(""));
        else
                text_table_add(table->table,
                               g_strdup_printf("from %s %u to %u", trend_unit_names[t->by],
                                               c->from + 1, c->to));
}

/* Changes that follow from others stand apart. */
static void trend_text_append_changes(const Trend *t, gboolean follows, const char *title,
                                      guint width, GString *out)
{
        static const SeriesKind order[] = { SERIES_CREEP, SERIES_STEP, SERIES_ODD };
        Table table = trend_text_new_table(width);
        g_autoptr(TextTable) owned = table.table;
        guint more = 0;

        for (guint k = 0; k < G_N_ELEMENTS(order); k++)
                EACH_OF (const TrendSeries, s, t->series) {
                        for (guint n = 0; n < s->changes->len && s->follows == follows; n++) {
                                const SeriesChange *c = &g_array_index(s->changes, SeriesChange, n);
                                if (c->kind != order[k])
                                        continue;
                                if (follows && text_table_rows(owned) >= MAX_FOLLOWING)
                                        more++;
                                else
                                        add_change(t, s, c, &table);
                        }
                }
        if (text_table_rows(owned) == 0)
                return;
        text_table_fit(owned, width);
        g_string_append_printf(out, "\n%s", title);
        text_table_write(owned, "", out);
        if (more > 0)
                g_string_append_printf(out, "and %u more\n", more);
}

static void trend_text_append_patterns(const Trend *t, guint width, GString *out)
{
        for (guint i = 0; i < t->patterns->len; i++) {
                const TrendPattern *p = &g_array_index(t->patterns, TrendPattern, i);
                g_autofree char *title = path_pattern_title(p->label, p->signature);
                g_autofree char *name =
                        text_shorten(title, width > 0 ? MAX(width / 2, MIN_NAME) : 2 * MAX_WIDTH);
                g_autofree char *at = format_point(t, p->at);
                g_autofree char *count = path_format_count(p->count);
                g_autofree char *entry = path_format_count(p->entry);
                g_autofree char *share = trend_text_format_percent(
                        (double)p->count / (double)MAX(p->entry, 1), FALSE);
                g_autofree char *line = g_strdup_printf(
                        "%s  %s  %s %s: %s of %s requests of its entry %s (%s), %" G_GUINT64_FORMAT
                        " %s",
                        p->gone ? "gone" : "new ", name, p->gone ? "from" : "since", at, count,
                        entry, p->gone ? "before" : "from there on", share, p->others,
                        p->gone ? "after" : "before");

                g_string_append(out, i == 0 ? "\n" : "");
                text_append_wrapped(out, line, " ", 0, width);
        }
}

static guint count_changes(const Trend *t)
{
        guint n = t->patterns->len;

        for (guint i = 0; i < t->series->len; i++)
                n += ((const TrendSeries *)g_ptr_array_index(t->series, i))->changes->len;
        return n;
}

static void trend_text_append_head(const Trend *t, guint width, GString *out)
{
        guint n = t->points->len, stores = 0;
        g_autofree char *first = trend_text_format_time(t, trend_text_point_at(t, 0)->first);
        g_autofree char *last = trend_text_format_time(t, trend_text_point_at(t, n - 1)->last);
        g_autoptr(GString) line = g_string_new(NULL);
        guint64 paths = 0;

        for (guint i = 0; i < n; i++) {
                stores += trend_text_point_at(t, i)->stores;
                paths += trend_text_point_at(t, i)->paths;
        }
        g_autofree char *requests = path_format_count(paths);
        g_string_append_printf(line, "%u stores", stores);
        if (t->by != TREND_BY_STORE)
                g_string_append_printf(line, " of %u %ss", n, trend_unit_names[t->by]);
        if (t->timed)
                g_string_append_printf(line, ", %s to %s", first, last);
        g_string_append_printf(line, ", %s requests; %u series compared.", requests, t->tests);
        text_append_wrapped(out, line->str, " ", 0, width);
}

void trend_write_text(const Trend *t, guint width, GString *out)
{
        trend_text_append_head(t, width, out);
        trend_text_append_changes(t, FALSE, "", width, out);
        trend_text_append_patterns(t, width, out);
        trend_text_append_changes(t, TRUE, "What follows from these:\n", width, out);
        if (count_changes(t) == 0)
                g_string_append(out, "\nNo change beyond chance.\n");
        g_string_append(out, t->notes->len ? "\n" : "");
        for (guint i = 0; i < t->notes->len; i++)
                text_append_wrapped(out, g_ptr_array_index(t->notes, i), " ", 0, width);
}

char *trend_change_words(const Trend *t, const TrendSeries *s, const SeriesChange *c)
{
        g_autofree char *title = trend_series_title(s);
        g_autofree char *size = trend_text_format_percent(expm1(c->change), TRUE);
        g_autofree char *at = format_point(t, c->at);

        return g_strdup_printf("%s of %s: %s %s", kind_words[s->kind], title, size,
                               c->kind == SERIES_STEP ? at : unit_of(t));
}

char *trend_pattern_words(const Trend *t, const TrendPattern *p)
{
        g_autofree char *title = path_pattern_title(p->label, p->signature);
        g_autofree char *at = format_point(t, p->at);

        return g_strdup_printf("%s: %s", title, at);
}
