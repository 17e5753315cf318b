/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What changed over many stores, as TSV and as JSON (docs/trend.md).
 */
#include <math.h>

#include "base/each.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "write/fields.h"
#include "write/write-trend.h"

static const Field point_fields[] = {
        { "store", FIELD_TEXT, G_STRUCT_OFFSET(TrendPoint, name) },
        { "stores", FIELD_UINT, G_STRUCT_OFFSET(TrendPoint, stores) },
        { "first", FIELD_TIME, G_STRUCT_OFFSET(TrendPoint, first) },
        { "last", FIELD_TIME, G_STRUCT_OFFSET(TrendPoint, last) },
        { "seconds", FIELD_EXACT, G_STRUCT_OFFSET(TrendPoint, seconds) },
        { "parallelism", FIELD_NUMBER, G_STRUCT_OFFSET(TrendPoint, parallelism) },
        { "requests", FIELD_COUNT, G_STRUCT_OFFSET(TrendPoint, paths) },
};

static const Field pattern_fields[] = {
        { "count", FIELD_COUNT, G_STRUCT_OFFSET(TrendPattern, count) },
        { "others", FIELD_COUNT, G_STRUCT_OFFSET(TrendPattern, others) },
        { "entry", FIELD_COUNT, G_STRUCT_OFFSET(TrendPattern, entry) },
        { "p", FIELD_NUMBER, G_STRUCT_OFFSET(TrendPattern, p) },
};

/* A change as it is written: shares, and points from 1. */
typedef struct {
        double change, low, high, in_all;
        guint at, from, to;
} ChangeRow;

static const Field change_fields[] = {
        { "change", FIELD_NUMBER, G_STRUCT_OFFSET(ChangeRow, change) },
        { "low", FIELD_NUMBER, G_STRUCT_OFFSET(ChangeRow, low) },
        { "high", FIELD_NUMBER, G_STRUCT_OFFSET(ChangeRow, high) },
        { "in_all", FIELD_NUMBER, G_STRUCT_OFFSET(ChangeRow, in_all) },
        { "at", FIELD_UINT, G_STRUCT_OFFSET(ChangeRow, at) },
        { "from", FIELD_UINT, G_STRUCT_OFFSET(ChangeRow, from) },
        { "to", FIELD_UINT, G_STRUCT_OFFSET(ChangeRow, to) },
};

static ChangeRow change_row(const Trend *t, const SeriesChange *c)
{
        return (ChangeRow){ expm1(c->change),
                            expm1(c->change - c->error),
                            expm1(c->change + c->error),
                            trend_change_in_all(t, c),
                            c->at + 1,
                            c->from + 1,
                            c->to };
}

static const SeriesChange *change_at(const TrendSeries *s, guint i)
{
        return &g_array_index(s->changes, SeriesChange, i);
}

/* --- tsv ------------------------------------------------------------------- */

static void append_subject(GString *out, double p, guint64 id, const char *signature,
                           const char *label)
{
        path_append_number(out, p, "%.6g");
        if (id)
                g_string_append_printf(out, "\t%016" G_GINT64_MODIFIER "x\t", id);
        else
                g_string_append(out, "\t-\t");
        field_append_text(out, signature);
        path_append_label_cell(out, label);
        g_string_append_c(out, '\n');
}

/* c: NULL of a series without a change. */
static void trend_out_append_series(const Trend *t, const TrendSeries *s, const SeriesChange *c,
                                    GString *out)
{
        g_string_append_printf(out, "%s\t%s\t", trend_kind_names[s->kind],
                               c ? trend_change_names[c->kind] : "-");
        path_append_number(out, s->level, "%.6g");
        g_string_append_c(out, '\t');
        if (c) {
                ChangeRow row = change_row(t, c);

                fields_append_cells(out, change_fields, G_N_ELEMENTS(change_fields), &row);
        } else {
                g_string_append(out, "-\t-\t-\t-\t-\t-\t-\t");
        }
        g_string_append(out, c && s->follows ? "1\t" : "0\t");
        append_subject(out, s->p, s->id, s->subject, s->label);
}

void trend_write_tsv(const Trend *t, GString *out)
{
        g_string_append(out, "kind\tfound\tlevel\t");
        fields_append_names(out, change_fields, G_N_ELEMENTS(change_fields));
        g_string_append(out, "follows\tp\tpattern\tsubject\tlabel\n");
        EACH_OF (const TrendSeries, s, t->series) {
                if (s->changes->len == 0)
                        trend_out_append_series(t, s, NULL, out);
                for (guint k = 0; k < s->changes->len; k++)
                        trend_out_append_series(t, s, change_at(s, k), out);
        }
        EACH (const TrendPattern, p, t->patterns) {
                g_string_append_printf(
                        out, "pattern\t%s\t%" G_GUINT64_FORMAT "\t-\t-\t-\t-\t%u\t%u\t%u\t0\t",
                        p->gone ? "gone" : "new", p->count, p->at + 1, p->gone ? 1 : p->at + 1,
                        p->gone ? p->at : t->points->len);
                append_subject(out, p->p, p->id, p->signature, p->label);
        }
}

/* --- json ------------------------------------------------------------------ */

static void put_subject(Json *j, guint64 id, const char *signature, const char *label)
{
        json_put_string(j, "subject", signature);
        if (id)
                json_put_id(j, "pattern", id);
        if (label)
                json_put_string(j, "label", label);
}

static void put_changes(const Trend *t, const TrendSeries *s, Json *j)
{
        json_put_open(j, "changes", '[');
        for (guint k = 0; k < s->changes->len; k++) {
                ChangeRow row = change_row(t, change_at(s, k));

                json_open(j, '{');
                json_put_string(j, "found", trend_change_names[change_at(s, k)->kind]);
                fields_put(j, change_fields, G_N_ELEMENTS(change_fields), &row);
                json_close(j, '}');
        }
        json_close(j, ']');
}

/* Of a point: count, value, exact; p99 of a latency. */
static void trend_out_put_value(Json *j, const TrendValue *v, gboolean latency)
{
        if (v->count == 0) {
                json_null(j);
                return;
        }
        json_open(j, '[');
        json_count(j, v->count);
        json_number(j, v->value, "%.9g");
        json_number(j, v->exact, "%.9g");
        if (latency)
                json_time(j, v->p99);
        json_close(j, ']');
}

static void put_series(const Trend *t, const TrendSeries *s, Json *j)
{
        json_line(j, 4);
        json_open(j, '{');
        json_put_string(j, "kind", trend_kind_names[s->kind]);
        put_subject(j, s->id, s->subject, s->label);
        json_put_number(j, "level", s->level, "%.6g");
        json_put_number(j, "p", s->p, "%.6g");
        json_put_boolean(j, "follows", s->follows);
        put_changes(t, s, j);
        json_line(j, 5);
        json_put_open(j, "values", '[');
        for (guint i = 0; i < t->points->len; i++)
                trend_out_put_value(j, &s->values[i], s->kind == TREND_LATENCY);
        json_close(j, ']');
        json_close(j, '}');
}

static void put_patterns(const Trend *t, Json *j)
{
        json_line(j, 2);
        json_put_open(j, "patterns", '[');
        EACH (const TrendPattern, p, t->patterns) {
                json_line(j, 4);
                json_open(j, '{');
                json_put_string(j, "found", p->gone ? "gone" : "new");
                put_subject(j, p->id, p->signature, p->label);
                json_put_count(j, "at", p->at + 1);
                fields_put(j, pattern_fields, G_N_ELEMENTS(pattern_fields), p);
                json_close(j, '}');
        }
        json_close(j, ']');
}

void trend_write_json(const Trend *t, GString *out)
{
        Json json = JSON_IN(out), *j = &json;

        json_open_document(j, "ravel trend");
        json_put_count(j, "compared", t->tests);
        json_put_boolean(j, "timed", t->timed);
        json_put_boolean(j, "hours", t->hours);
        json_put_time(j, "spacing", (gint128)t->spacing);
        json_line(j, 2);
        json_put_open(j, "notes", '[');
        for (guint i = 0; i < t->notes->len; i++)
                json_string(j, g_ptr_array_index(t->notes, i));
        json_close(j, ']');
        json_line(j, 2);
        fields_put_list(j, "points", 4, point_fields, G_N_ELEMENTS(point_fields), t->points);
        json_line(j, 2);
        json_put_open(j, "series", '[');
        for (guint i = 0; i < t->series->len; i++)
                put_series(t, g_ptr_array_index(t->series, i), j);
        json_close(j, ']');
        put_patterns(t, j);
        json_line(j, 0);
        json_close(j, '}');
        g_string_append_c(out, '\n');
}
