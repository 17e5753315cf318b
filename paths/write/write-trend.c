/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What changed over many stores as the JSON that paths/write/page.js draws, for that script
 * alone, as paths/write/write-report.c's is.
 */
#include "base/printable.h"
#include "paths/trend.h"
#include "paths/write/page.h"
#include "paths/write/path-text.h"

static void append_double(GString *out, double number)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append(out, g_ascii_formatd(text, sizeof text, "%.6g", number));
}

static void append_text(GString *out, const char *text)
{
        g_string_append_c(out, '"');
        printable_append(out, text, -1, PRINTABLE_PAGE);
        g_string_append_c(out, '"');
}

/* Store, stores, first, last, requests, mean parallelism. */
static void append_points(GString *out, const Trend *t)
{
        g_string_append(out, ",\"points\":[");
        for (guint i = 0; i < t->points->len; i++) {
                const TrendPoint *p = &g_array_index(t->points, TrendPoint, i);
                g_autofree char *base = g_path_get_basename(p->name);

                g_string_append(out, i ? ",[" : "[");
                append_text(out, base);
                g_string_append_printf(out,
                                       ",%u,\"%" G_GINT64_FORMAT "\",\"%" G_GINT64_FORMAT
                                       "\",%" G_GUINT64_FORMAT ",",
                                       p->stores, p->first, p->last, p->paths);
                append_double(out, p->parallelism);
                g_string_append_c(out, ']');
        }
        g_string_append_c(out, ']');
}

/* Kind, from, to, at, change, error: the last two of the logarithm. */
static void append_changes(GString *out, const TrendSeries *s)
{
        g_string_append(out, ",\"changes\":[");
        for (guint i = 0; i < s->changes->len; i++) {
                const SeriesChange *c = &g_array_index(s->changes, SeriesChange, i);

                g_string_append_printf(out, "%s[\"%s\",%u,%u,%u,", i ? "," : "",
                                       trend_change_names[c->kind], c->from, c->to, c->at);
                append_double(out, c->change);
                g_string_append_c(out, ',');
                append_double(out, c->error);
                g_string_append_c(out, ']');
        }
        g_string_append_c(out, ']');
}

static void append_series(GString *out, const Trend *t, const TrendSeries *s)
{
        g_string_append_printf(out, "{\"kind\":\"%s\",\"title\":", trend_kind_names[s->kind]);
        g_autofree char *title = trend_series_title(s);
        append_text(out, title);
        g_string_append(out, ",\"level\":");
        append_double(out, s->level);
        g_string_append_printf(out, ",\"follows\":%d", s->follows);
        append_changes(out, s);
        g_string_append(out, ",\"values\":["); /* count, value; p99 of a latency */
        for (guint i = 0; i < t->points->len; i++) {
                const TrendValue *v = &s->values[i];

                g_string_append(out, i ? "," : "");
                if (v->count == 0) {
                        g_string_append(out, "null");
                        continue;
                }
                g_string_append_printf(out, "[%" G_GUINT64_FORMAT ",", v->count);
                append_double(out, v->value);
                if (s->kind == TREND_LATENCY)
                        g_string_append_printf(out, ",%" G_GINT64_FORMAT, v->p99);
                g_string_append_c(out, ']');
        }
        g_string_append(out, "]}");
}

/* Title, gone, at, requests with it and without, of its entry. */
static void append_patterns(GString *out, const Trend *t)
{
        g_string_append(out, ",\"patterns\":[");
        for (guint i = 0; i < t->patterns->len; i++) {
                const TrendPattern *p = &g_array_index(t->patterns, TrendPattern, i);
                g_autofree char *title = p->label ? g_strconcat(p->label, " ", p->signature, NULL)
                                                  : g_strdup(p->signature);

                g_string_append(out, i ? ",[" : "[");
                append_text(out, title);
                g_string_append_printf(out,
                                       ",%d,%u,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
                                       ",%" G_GUINT64_FORMAT "]",
                                       p->gone, p->at, p->count, p->others, p->entry);
        }
        g_string_append_c(out, ']');
}

gboolean trend_write_page(const Trend *t, OutputFile *file, GError **error)
{
        static const char *const units[] = { "store", "hour", "day" };
        g_autoptr(GString) out = g_string_new("{\"kind\":\"trend\"");

        g_string_append_printf(out, ",\"unit\":\"%s\",\"timed\":%d,\"hours\":%d,\"tests\":%u",
                               units[t->by], t->timed, t->hours, t->tests);
        g_string_append(out, ",\"spacing\":");
        append_double(out, t->spacing);
        g_string_append(out, ",\"notes\":[");
        for (guint i = 0; i < t->notes->len; i++) {
                g_string_append(out, i ? "," : "");
                append_text(out, g_ptr_array_index(t->notes, i));
        }
        g_string_append_c(out, ']');
        append_points(out, t);
        g_string_append(out, ",\"series\":[");
        for (guint i = 0; i < t->series->len; i++) {
                g_string_append(out, i ? "," : "");
                append_series(out, t, g_ptr_array_index(t->series, i));
        }
        g_string_append_c(out, ']');
        append_patterns(out, t);
        g_string_append_c(out, '}');
        return page_write(file, "ravel trend", out, error);
}
