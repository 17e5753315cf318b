/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel trend STORE... | DIR: since when a system is slower.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/printable.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "paths/trend/trend-condition.h"
#include "paths/write/json.h"
#include "paths/write/text-table.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/file-kind.h"

enum {
        MAX_WIDTH = 60, /* of a name where lines have no limit */
        MIN_NAME = 20,  /* narrower, nothing is told apart */
        MAX_FAILURES = 10,
        MAX_FOLLOWING = 5 /* latencies and rates that only say again what others say */
};

typedef struct {
        const char *text;
        TrendCondition condition;
} FailOn;

static struct {
        char *format, *output, *by;
        GArray *conditions; /* of FailOn */
} options;

static gboolean parse_fail_on(const char *option, const char *value, gpointer data, GError **error)
{
        FailOn f = { .text = value };

        (void)option;
        (void)data;
        if (!trend_condition_parse(value, strlen(value), &f.condition, error))
                return FALSE;
        if (!options.conditions)
                options.conditions = g_array_new(FALSE, FALSE, sizeof(FailOn));
        f.text = g_strdup(value);
        g_array_append_val(options.conditions, f);
        return TRUE;
}

static const char *const formats[] = { "text", "tsv", "json", "html", NULL };
static const char *const units[] = { "store", "hour", "day", NULL };
static const ToolChoice choices[] = { { "--format", &options.format, formats },
                                      { "--by", &options.by, units },
                                      { .option = NULL } };

static const GOptionEntry entries[] = {
        { "by", 0, 0, G_OPTION_ARG_STRING, &options.by,
          "Compare each store, hour or day (default store)", "UNIT" },
        { "fail-on", 0, 0, G_OPTION_ARG_CALLBACK, parse_fail_on,
          "Exit 1 if a change exceeds it: own>+3%/week", "CONDITION" },
        { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
          "text, tsv, json or html (default text)", "FORMAT" },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
          "Write to FILE instead of standard output", "FILE" },
        G_OPTION_ENTRY_NULL
};

/* --- stores ---------------------------------------------------------------- */

/* "s2" before "s10": digits by their number. */
static int compare_names(const void *va, const void *vb)
{
        const char *a = *(char *const *)va, *b = *(char *const *)vb;

        while (*a && *b) {
                gsize n_a, n_b;
                int order;

                if (!g_ascii_isdigit(*a) || !g_ascii_isdigit(*b)) {
                        if (*a != *b)
                                return (guchar)*a < (guchar)*b ? -1 : 1;
                        a++;
                        b++;
                        continue;
                }
                for (; *a == '0' && g_ascii_isdigit(a[1]); a++)
                        ;
                for (; *b == '0' && g_ascii_isdigit(b[1]); b++)
                        ;
                n_a = strspn(a, "0123456789");
                n_b = strspn(b, "0123456789");
                order = n_a != n_b ? (n_a < n_b ? -1 : 1) : strncmp(a, b, n_a);
                if (order)
                        return order;
                a += n_a;
                b += n_b;
        }
        return *a ? 1 : *b ? -1 : strcmp(*(char *const *)va, *(char *const *)vb);
}

/* All stores in a folder, by name. */
static gboolean add_folder(GPtrArray *paths, const char *folder, GError **error)
{
        g_autoptr(GPtrArray) found = g_ptr_array_new();
        g_autoptr(GError) reason = NULL;
        g_autoptr(GDir) dir = g_dir_open(folder, 0, &reason);
        const char *name;

        if (!dir) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s", reason->message);
                return FALSE;
        }
        while ((name = g_dir_read_name(dir))) {
                char *path = g_build_filename(folder, name, NULL);

                if (g_file_test(path, G_FILE_TEST_IS_REGULAR) && file_kind_read(path) == FILE_STORE)
                        g_ptr_array_add(found, path);
                else
                        g_free(path);
        }
        g_ptr_array_sort(found, compare_names);
        if (found->len == 0) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: no store in it, expected such as ravel nesting -o makes", folder);
                return FALSE;
        }
        for (guint i = 0; i < found->len; i++)
                g_ptr_array_add(paths, found->pdata[i]);
        return TRUE;
}

static gboolean find_stores(int argc, char **argv, GPtrArray *paths, GError **error)
{
        for (int i = 1; i < argc; i++) {
                if (!g_file_test(argv[i], G_FILE_TEST_IS_DIR))
                        g_ptr_array_add(paths, g_strdup(argv[i]));
                else if (!add_folder(paths, argv[i], error))
                        return FALSE;
        }
        if (paths->len < SERIES_FEWEST) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                            "stores named: %u, expected %d or more, or a folder of them",
                            paths->len, SERIES_FEWEST);
                return FALSE;
        }
        for (guint i = 0; i < paths->len; i++)
                if (!run_files_read_store(paths->pdata[i], error))
                        return FALSE;
        return TRUE;
}

/* --- numbers --------------------------------------------------------------- */

static const TrendPoint *point_at(const Trend *t, guint i)
{
        return &g_array_index(t->points, TrendPoint, i);
}

/* "+0.36 %": a share, to hundredths below 10 %. */
static char *format_percent(double share, gboolean sign)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];
        double percent = 100 * share, size = fabs(percent);

        g_ascii_formatd(text, sizeof text,
                        size < 9.995   ? "%.2f"
                        : size < 99.95 ? "%.1f"
                                       : "%.0f",
                        percent);
        return g_strdup_printf("%s%s %%", sign && percent > 0 ? "+" : "", text);
}

static char *format_value(const TrendSeries *s, double value)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        if (s->kind == TREND_OWN || s->kind == TREND_LATENCY)
                return path_format_duration((gint64)CLAMP(value, 0, 9e18));
        if (s->kind == TREND_SHARE)
                return format_percent(value, FALSE);
        g_ascii_formatd(text, sizeof text,
                        value < 9.995   ? "%.2f"
                        : value < 99.95 ? "%.1f"
                                        : "%.0f",
                        value);
        return g_strdup_printf("%s/s", text);
}

/* The mean of the points from..to, but not those that are odd. */
static double level_between(const TrendSeries *s, guint from, guint to)
{
        double sum = 0, weight = 0;

        for (guint i = from; i < to; i++) {
                double n = s->kind == TREND_RATE ? 1 : (double)s->values[i].count;
                gboolean odd = FALSE;

                for (guint k = 0; k < s->changes->len; k++) {
                        const SeriesChange *c = &g_array_index(s->changes, SeriesChange, k);
                        odd |= c->kind == SERIES_ODD && c->at == i;
                }
                if (odd || s->values[i].count == 0)
                        continue;
                sum += n * s->values[i].value;
                weight += n;
        }
        return weight > 0 ? sum / weight : 0;
}

/* "2026-11-21 13:00"; with seconds where points are closer. */
static char *format_time(const Trend *t, gint64 time)
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
        const TrendPoint *p = point_at(t, i);
        g_autofree char *base = g_path_get_basename(p->name);
        g_autofree char *name = printable_new(base, PRINTABLE_TEXT);
        g_autofree char *time = t->timed ? format_time(t, p->first) : NULL;

        if (t->by != TREND_BY_STORE)
                return g_strdup_printf("%s %u (%s)", units[t->by], i + 1, time);
        return g_strdup_printf("store %u (%s%s%s)", i + 1, name, time ? ", " : "",
                               time ? time : "");
}

static const char *unit_of(const Trend *t)
{
        static const char *const names[] = { "a store", "an hour", "a day" };

        return names[t->by];
}

static const char *const kind_words[] = { "own time", "latency", "rate", "share" };

/* --- text ------------------------------------------------------------------ */

typedef struct {
        TextTable *table;
        guint name_width;
} Table;

static Table new_table(guint width)
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
        g_autofree char *size = format_percent(expm1(c->change), TRUE);
        text_table_add(table->table, c->kind == SERIES_CREEP
                                             ? g_strdup_printf("%s %s", size, unit_of(t))
                                             : g_strdup(size));
        text_table_add(table->table, format_percent(error, FALSE));
        text_table_add(table->table, c->kind == SERIES_CREEP
                                             ? format_percent(trend_change_in_all(t, c), TRUE)
                                             : g_strdup(""));
        if (c->kind != SERIES_CREEP)
                text_table_add(table->table, g_strdup_printf("at %s", at));
        else if (c->from == 0 && c->to == t->points->len)
                text_table_add(table->table, g_strdup(""));
        else
                text_table_add(table->table, g_strdup_printf("from %s %u to %u", units[t->by],
                                                             c->from + 1, c->to));
}

/* Those that follow from others apart. */
static void append_changes(const Trend *t, gboolean follows, const char *title, guint width,
                           GString *out)
{
        static const SeriesKind order[] = { SERIES_CREEP, SERIES_STEP, SERIES_ODD };
        Table table = new_table(width);
        g_autoptr(TextTable) owned = table.table;
        guint more = 0;

        for (guint k = 0; k < G_N_ELEMENTS(order); k++)
                for (guint i = 0; i < t->series->len; i++) {
                        const TrendSeries *s = g_ptr_array_index(t->series, i);

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
        for (int i = -1; i < (int)text_table_rows(owned); i++) {
                text_table_write_row(owned, i, out);
                g_string_append_c(out, '\n');
        }
        if (more > 0)
                g_string_append_printf(out, "and %u more\n", more);
}

static void append_patterns(const Trend *t, guint width, GString *out)
{
        for (guint i = 0; i < t->patterns->len; i++) {
                const TrendPattern *p = &g_array_index(t->patterns, TrendPattern, i);
                g_autofree char *title = path_pattern_title(p->label, p->signature);
                g_autofree char *name =
                        text_shorten(title, width > 0 ? MAX(width / 2, MIN_NAME) : 2 * MAX_WIDTH);
                g_autofree char *at = format_point(t, p->at);
                g_autofree char *count = path_format_count(p->count);
                g_autofree char *entry = path_format_count(p->entry);
                g_autofree char *share =
                        format_percent((double)p->count / (double)MAX(p->entry, 1), FALSE);
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

static void append_head(const Trend *t, guint width, GString *out)
{
        guint n = t->points->len, stores = 0;
        g_autofree char *first = format_time(t, point_at(t, 0)->first);
        g_autofree char *last = format_time(t, point_at(t, n - 1)->last);
        g_autoptr(GString) line = g_string_new(NULL);
        guint64 paths = 0;

        for (guint i = 0; i < n; i++) {
                stores += point_at(t, i)->stores;
                paths += point_at(t, i)->paths;
        }
        g_autofree char *requests = path_format_count(paths);
        g_string_append_printf(line, "%u stores", stores);
        if (t->by != TREND_BY_STORE)
                g_string_append_printf(line, " of %u %ss", n, units[t->by]);
        if (t->timed)
                g_string_append_printf(line, ", %s to %s", first, last);
        g_string_append_printf(line, ", %s requests; %u series compared.", requests, t->tests);
        text_append_wrapped(out, line->str, " ", 0, width);
}

static void write_text(const Trend *t, GString *out)
{
        guint width = options.output ? 0 : tool_columns();

        append_head(t, width, out);
        append_changes(t, FALSE, "", width, out);
        append_patterns(t, width, out);
        append_changes(t, TRUE, "What follows from these:\n", width, out);
        if (count_changes(t) == 0)
                g_string_append(out, "\nNo change beyond chance.\n");
        g_string_append(out, t->notes->len ? "\n" : "");
        for (guint i = 0; i < t->notes->len; i++)
                text_append_wrapped(out, g_ptr_array_index(t->notes, i), " ", 0, width);
}

/* --- tsv and json ---------------------------------------------------------- */

static void append_cell(GString *out, const char *text)
{
        printable_append(out, text, -1, PRINTABLE_TSV);
        g_string_append_c(out, '\t');
}

static void append_tsv_pattern(GString *out, guint64 id, const char *signature, const char *label)
{
        if (id)
                g_string_append_printf(out, "\t%016" G_GINT64_MODIFIER "x\t", id);
        else
                g_string_append(out, "\t-\t");
        append_cell(out, signature);
        path_append_label_cell(out, label);
}

/* A row for each change, or one for a series without. */
static void append_tsv_series(const Trend *t, const TrendSeries *s, GString *out)
{
        for (guint k = 0; k < MAX(s->changes->len, 1); k++) {
                const SeriesChange *c =
                        k < s->changes->len ? &g_array_index(s->changes, SeriesChange, k) : NULL;
                double numbers[4] = { 0 };

                g_string_append_printf(out, "%s\t%s\t", trend_kind_names[s->kind],
                                       c ? trend_change_names[c->kind] : "-");
                path_append_number(out, s->level, "%.6g");
                if (c) {
                        numbers[0] = expm1(c->change);
                        numbers[1] = expm1(c->change - c->error);
                        numbers[2] = expm1(c->change + c->error);
                        numbers[3] = trend_change_in_all(t, c);
                }
                for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
                        g_string_append_c(out, '\t');
                        if (c)
                                path_append_number(out, numbers[i], "%.6g");
                        else
                                g_string_append_c(out, '-');
                }
                if (c)
                        g_string_append_printf(out, "\t%u\t%u\t%u\t%d\t", c->at + 1, c->from + 1,
                                               c->to, s->follows);
                else
                        g_string_append(out, "\t-\t-\t-\t0\t");
                path_append_number(out, s->p, "%.6g");
                append_tsv_pattern(out, s->id, s->subject, s->label);
                g_string_append_c(out, '\n');
        }
}

static void write_tsv(const Trend *t, GString *out)
{
        g_string_append(out,
                        "kind\tfound\tlevel\tchange\tlow\thigh\tin_all\tat\tfrom\tto\tfollows\t"
                        "p\tpattern\tsubject\tlabel\n");
        for (guint i = 0; i < t->series->len; i++)
                append_tsv_series(t, g_ptr_array_index(t->series, i), out);
        for (guint i = 0; i < t->patterns->len; i++) {
                const TrendPattern *p = &g_array_index(t->patterns, TrendPattern, i);

                g_string_append_printf(
                        out, "pattern\t%s\t%" G_GUINT64_FORMAT "\t-\t-\t-\t-\t%u\t%u\t%u\t0\t",
                        p->gone ? "gone" : "new", p->count, p->at + 1, p->gone ? 1 : p->at + 1,
                        p->gone ? p->at : t->points->len);
                path_append_number(out, p->p, "%.6g");
                append_tsv_pattern(out, p->id, p->signature, p->label);
                g_string_append_c(out, '\n');
        }
}

static void add_pattern_keys(Json *j, guint64 id, const char *signature, const char *label)
{
        json_put_string(j, "subject", signature);
        if (id)
                json_put_id(j, "pattern", id);
        if (label) {
                json_put_string(j, "label", label);
        }
}

static void write_json_points(const Trend *t, Json *j)
{
        json_line(j, 2);
        json_put_open(j, "points", '[');
        for (guint i = 0; i < t->points->len; i++) {
                const TrendPoint *p = point_at(t, i);

                json_line(j, 4);
                json_open(j, '{');
                json_put_string(j, "store", p->name);
                json_put_count(j, "stores", p->stores);
                json_put_time(j, "first", p->first);
                json_put_time(j, "last", p->last);
                json_put_number(j, "seconds", p->seconds, "%.9g");
                json_put_number(j, "parallelism", p->parallelism, "%.6g");
                json_put_count(j, "requests", p->paths);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void write_json_changes(const Trend *t, const TrendSeries *s, Json *j)
{
        json_put_open(j, "changes", '[');
        for (guint k = 0; k < s->changes->len; k++) {
                const SeriesChange *c = &g_array_index(s->changes, SeriesChange, k);

                json_open(j, '{');
                json_put_string(j, "found", trend_change_names[c->kind]);
                json_put_number(j, "change", expm1(c->change), "%.6g");
                json_put_number(j, "low", expm1(c->change - c->error), "%.6g");
                json_put_number(j, "high", expm1(c->change + c->error), "%.6g");
                json_put_number(j, "in_all", trend_change_in_all(t, c), "%.6g");
                json_put_count(j, "at", c->at + 1);
                json_put_count(j, "from", c->from + 1);
                json_put_count(j, "to", c->to);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void write_json_series(const Trend *t, const TrendSeries *s, Json *j)
{
        json_line(j, 4);
        json_open(j, '{');
        json_put_string(j, "kind", trend_kind_names[s->kind]);
        add_pattern_keys(j, s->id, s->subject, s->label);
        json_put_number(j, "level", s->level, "%.6g");
        json_put_number(j, "p", s->p, "%.6g");
        json_put_boolean(j, "follows", s->follows);
        write_json_changes(t, s, j);
        json_line(j, 5);
        json_key(j, "values"); /* count, value, exact; p99 of a latency */
        json_open(j, '[');
        for (guint i = 0; i < t->points->len; i++) {
                const TrendValue *v = &s->values[i];

                if (v->count == 0) {
                        json_null(j);
                        continue;
                }
                json_open(j, '[');
                json_count(j, v->count);
                json_number(j, v->value, "%.9g");
                json_number(j, v->exact, "%.9g");
                if (s->kind == TREND_LATENCY)
                        json_time(j, v->p99);
                json_close(j, ']');
        }
        json_close(j, ']');
        json_close(j, '}');
}

static void write_json_patterns(const Trend *t, Json *j)
{
        json_line(j, 2);
        json_put_open(j, "patterns", '[');
        for (guint i = 0; i < t->patterns->len; i++) {
                const TrendPattern *p = &g_array_index(t->patterns, TrendPattern, i);

                json_line(j, 4);
                json_open(j, '{');
                json_put_string(j, "found", p->gone ? "gone" : "new");
                add_pattern_keys(j, p->id, p->signature, p->label);
                json_put_count(j, "at", p->at + 1);
                json_put_count(j, "count", p->count);
                json_put_count(j, "others", p->others);
                json_put_count(j, "entry", p->entry);
                json_put_number(j, "p", p->p, "%.6g");
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void write_json(const Trend *t, GString *out)
{
        Json json = JSON_IN(out), *j = &json;

        json_open(j, '{');
        json_line(j, 2);
        json_put_string(j, "format", "ravel trend");
        json_put_count(j, "version", 1);
        json_line(j, 2);
        json_put_count(j, "compared", t->tests);
        json_put_boolean(j, "timed", t->timed);
        json_put_boolean(j, "hours", t->hours);
        json_put_time(j, "spacing", (gint128)t->spacing);
        json_line(j, 2);
        json_put_open(j, "notes", '[');
        for (guint i = 0; i < t->notes->len; i++)
                json_string(j, g_ptr_array_index(t->notes, i));
        json_close(j, ']');
        write_json_points(t, j);
        json_line(j, 2);
        json_put_open(j, "series", '[');
        for (guint i = 0; i < t->series->len; i++)
                write_json_series(t, g_ptr_array_index(t->series, i), j);
        json_close(j, ']');
        write_json_patterns(t, j);
        json_line(j, 0);
        json_close(j, '}');
        g_string_append_c(out, '\n');
}

/* --- the answer ------------------------------------------------------------ */

static gboolean wants_page(void)
{
        return options.format ? !strcmp(options.format, "html")
                              : options.output && g_str_has_suffix(options.output, ".html");
}

static gboolean write_trend(const Trend *t, GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(OutputFile) out =
                output_file_new(options.output ? options.output : "-", FALSE, error);

        if (!out)
                return FALSE;
        if (wants_page())
                return trend_write_page(t, out, error) &&
                       output_file_close(g_steal_pointer(&out), error);
        if (!options.format || !strcmp(options.format, "text"))
                write_text(t, text);
        else if (!strcmp(options.format, "tsv"))
                write_tsv(t, text);
        else
                write_json(t, text);
        return output_file_write(out, text->str, text->len, error) &&
               output_file_close(g_steal_pointer(&out), error);
}

static gboolean check_conditions(const Trend *t, GError **error)
{
        for (guint i = 0; options.conditions && i < options.conditions->len; i++)
                if (!trend_condition_check(&g_array_index(options.conditions, FailOn, i).condition,
                                           t, error))
                        return FALSE;
        return TRUE;
}

/* Says which changes meet a condition; how many do. */
static guint count_failures(const Trend *t, const FailOn *f, guint failures)
{
        for (guint i = 0; i < t->series->len; i++) {
                const TrendSeries *s = g_ptr_array_index(t->series, i);

                for (guint k = 0; k < s->changes->len; k++) {
                        const SeriesChange *c = &g_array_index(s->changes, SeriesChange, k);

                        if (!trend_condition_meets(&f->condition, t, s, c) ||
                            ++failures > MAX_FAILURES)
                                continue;
                        g_autofree char *title = trend_series_title(s);
                        g_autofree char *size = format_percent(expm1(c->change), TRUE);
                        g_autofree char *at = format_point(t, c->at);
                        tool_warn("%s: %s of %s: %s %s", f->text, kind_words[s->kind], title, size,
                                  c->kind == SERIES_STEP ? at : unit_of(t));
                }
        }
        for (guint i = 0; i < t->patterns->len; i++) {
                const TrendPattern *p = &g_array_index(t->patterns, TrendPattern, i);

                if (!trend_condition_meets_pattern(&f->condition, p) || ++failures > MAX_FAILURES)
                        continue;
                g_autofree char *title = path_pattern_title(p->label, p->signature);
                g_autofree char *at = format_point(t, p->at);
                tool_warn("%s: %s: %s", f->text, title, at);
        }
        return failures;
}

int tool_trend(int argc, char **argv)
{
        g_autoptr(GOptionContext) context =
                g_option_context_new("STORE... | FOLDER - what changed over many stores");
        g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(Trend) trend = NULL;
        GError *error = NULL;
        guint failures = 0;
        int status;

        g_option_context_add_main_entries(context, entries, NULL);
        tool_add_choices(choices);
        if (!tool_parse(context, &argc, &argv, &status))
                return status;
        if (!find_stores(argc, argv, paths, &error) ||
            !run_files_write("-o", options.output, &error) ||
            !(trend = trend_new((char *const *)paths->pdata, paths->len,
                                tool_choice_index(options.by, units), &error)) ||
            !check_conditions(trend, &error) || !write_trend(trend, &error))
                return tool_fail(error);
        for (guint i = 0; options.conditions && i < options.conditions->len; i++)
                failures = count_failures(trend, &g_array_index(options.conditions, FailOn, i),
                                          failures);
        if (failures > MAX_FAILURES)
                tool_warn("and %u more", failures - MAX_FAILURES);
        return failures ? EXIT_DIFFERS : EXIT_DONE;
}
