/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What changed over many stores as the JSON that write/page.js draws, for that script
 * alone, as write/write-report.c's is.
 */
#include "write/write-trend.h"
#include "base/each.h"
#include "write/page-data.h"

/* Store, stores, first, last, requests, mean parallelism. */
static void append_points(Json *j, const Trend *t)
{
        json_put_open(j, "points", '[');
        EACH (const TrendPoint, p, t->points) {
                g_autofree char *base = g_path_get_basename(p->name);

                json_open(j, '[');
                page_string(j, base);
                json_integer(j, p->stores);
                json_time(j, p->first);
                json_time(j, p->last);
                json_integer(j, (gint64)p->paths);
                page_exact(j, p->parallelism);
                json_close(j, ']');
        }
        json_close(j, ']');
}

/* Kind, from, to, at, change, error: the last two of the logarithm. */
static void trend_page_append_changes(Json *j, const TrendSeries *s)
{
        json_put_open(j, "changes", '[');
        EACH (const SeriesChange, c, s->changes) {
                json_open(j, '[');
                json_string(j, trend_change_names[c->kind]);
                page_numbers(j, c->from, c->to, c->at);
                page_exact(j, c->change);
                page_exact(j, c->error);
                json_close(j, ']');
        }
        json_close(j, ']');
}

static void trend_page_append_series(Json *j, const Trend *t, const TrendSeries *s)
{
        g_autofree char *title = trend_series_title(s);

        json_open(j, '{');
        json_put_string(j, "kind", trend_kind_names[s->kind]);
        page_text(j, "title", title);
        json_key(j, "level");
        page_exact(j, s->level);
        json_put_integer(j, "follows", s->follows);
        trend_page_append_changes(j, s);
        json_put_open(j, "values", '['); /* count, value; p99 of a latency */
        for (guint i = 0; i < t->points->len; i++) {
                const TrendValue *v = &s->values[i];

                if (v->count == 0) {
                        json_null(j);
                        continue;
                }
                json_open(j, '[');
                json_integer(j, (gint64)v->count);
                page_exact(j, v->value);
                if (s->kind == TREND_LATENCY)
                        json_integer(j, v->p99);
                json_close(j, ']');
        }
        json_close(j, ']');
        json_close(j, '}');
}

/* Title, gone, at, requests with it and without, of its entry. */
static void trend_page_append_patterns(Json *j, const Trend *t)
{
        json_put_open(j, "patterns", '[');
        EACH (const TrendPattern, p, t->patterns) {
                g_autofree char *title = p->label ? g_strconcat(p->label, " ", p->signature, NULL)
                                                  : g_strdup(p->signature);

                json_open(j, '[');
                page_string(j, title);
                page_numbers(j, p->gone, p->at, p->count, p->others, p->entry);
                json_close(j, ']');
        }
        json_close(j, ']');
}

void trend_write_page(const Trend *t, GString *out)
{
        g_autoptr(GString) text = g_string_new(NULL);
        Json json = JSON_TIGHT_IN(text), *j = &json;

        json_open(j, '{');
        json_put_string(j, "kind", "trend");
        json_put_string(j, "unit", trend_unit_names[t->by]);
        json_put_integer(j, "timed", t->timed);
        json_put_integer(j, "hours", t->hours);
        json_put_integer(j, "tests", t->tests);
        json_key(j, "spacing");
        page_exact(j, t->spacing);
        json_put_open(j, "notes", '[');
        for (guint i = 0; i < t->notes->len; i++)
                page_string(j, g_ptr_array_index(t->notes, i));
        json_close(j, ']');
        append_points(j, t);
        json_put_open(j, "series", '[');
        for (guint i = 0; i < t->series->len; i++)
                trend_page_append_series(j, t, g_ptr_array_index(t->series, i));
        json_close(j, ']');
        trend_page_append_patterns(j, t);
        json_close(j, '}');
        page_append(out, "ravel trend", text);
}
