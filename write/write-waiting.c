/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/write-why.h"

#include "base/each.h"
#include "base/printable.h"
#include "paths/path-text.h"
#include "write/fields.h"
#include "write/text-table.h"

/* Text leaves out holders with less of a kind's wait, and kinds with less of all waits. */
#define LEAST_WAIT 0.02

/* Sentences about locks and pools, and the least share of these waits of which one tells. */
enum { MOST_HELD = 3 };
#define LEAST_HELD 0.1

static const Field wait_fields[] = {
        { "for", FIELD_TEXT, G_STRUCT_OFFSET(WhyWait, what) },
        { "node", FIELD_TEXT, G_STRUCT_OFFSET(WhyWait, node) },
        { "of", FIELD_TEXT, G_STRUCT_OFFSET(WhyWait, of) },
        { "workers", FIELD_UINT, G_STRUCT_OFFSET(WhyWait, workers) },
        { "waiting", FIELD_TEXT, G_STRUCT_OFFSET(WhyWait, waiting) },
        { "calls", FIELD_COUNT, G_STRUCT_OFFSET(WhyWait, calls) },
        { "waited", FIELD_COUNT, G_STRUCT_OFFSET(WhyWait, waited) },
        { "mean", FIELD_MEAN, G_STRUCT_OFFSET(WhyWait, mean) },
        { "holding", FIELD_TEXT, G_STRUCT_OFFSET(WhyWait, holding) },
        { "open", FIELD_MEAN, G_STRUCT_OFFSET(WhyWait, open) },
        { "time", FIELD_MEAN, G_STRUCT_OFFSET(WhyWait, time) },
        { "share", FIELD_DECIMAL, G_STRUCT_OFFSET(WhyWait, share) },
};

static const WhyWait *wait_at(const WhyWaiting *w, guint i)
{
        return &g_array_index(w->waits, WhyWait, i);
}

/* Where the rows of the next waiting kind begin. */
static guint next_kind(const WhyWaiting *w, guint first)
{
        guint i = first;

        while (i < w->waits->len && wait_at(w, i)->waiting == wait_at(w, first)->waiting &&
               wait_at(w, i)->node == wait_at(w, first)->node &&
               wait_at(w, i)->of == wait_at(w, first)->of)
                i++;
        return i;
}

static char *format_holder(const WhyWait *r)
{
        if (r->own)
                return g_strdup("its own kind");
        return r->holding               ? printable_new(r->holding, PRINTABLE_CELL)
               : r->type == WAIT_WORKER ? g_strdup("calls of no path")
                                        : g_strdup("nobody seen");
}

/* What helps, by the kind that is most in the way. */
static const char *wait_remedy(const WhyWait *r)
{
        if (r->own)
                return ": more workers help, or shorter calls";
        return r->holding && r->share >= 0.5 ? ": give it workers of its own" : "";
}

/* What the calls of a kind wait for, and behind whom most. */
static void append_worker_wait(GString *out, const WhyWait *r, guint columns)
{
        g_autofree char *waiting = printable_new(r->waiting, PRINTABLE_CELL),
                        *holding = format_holder(r), *waited = path_format_count(r->waited),
                        *calls = path_format_count(r->calls),
                        *mean = path_format_duration((gint64)r->mean);

        text_append_line(out, " ,>(", 0, columns, "%s waits %s at %s, %.0f %% of it behind %s%s.",
                         waiting, mean, r->node, 100 * r->share, holding, wait_remedy(r));
        text_append_line(out, " ", 2, columns, "%s of %s calls wait for one of %u workers.", waited,
                         calls, r->workers);
}

static void append_held(GString *out, const WhyWait *r, guint columns)
{
        g_autofree char *waiting = printable_new(r->waiting, PRINTABLE_CELL),
                        *holding = format_holder(r), *waited = path_format_count(r->waited),
                        *calls = path_format_count(r->calls),
                        *mean = path_format_duration(
                                (gint64)(r->mean * (double)r->calls / (double)r->waited)),
                        *open = path_format_duration((gint64)r->open);

        g_autoptr(GString) what = g_string_new(NULL);

        if (r->type == WAIT_LOCK)
                g_string_printf(what, "calls waited at %s for a transaction", r->node);
        else
                g_string_printf(what, "requests waited at %s for its %u %s to %s", r->node,
                                r->workers, r->workers == 1 ? "connection" : "connections", r->of);
        text_append_line(out, " ,>(", 0, columns,
                         "%s: %s of %s %s, %s in the mean. %.0f %% of this was for %s, %s %s.",
                         waiting, waited, calls, what->str, mean, 100 * r->share, holding,
                         r->type == WAIT_LOCK ? "open" : "held", open);
}

static void append_waiting_kind(GString *out, const WhyWaiting *w, guint first, guint columns)
{
        const WhyWait *r = wait_at(w, first);
        gboolean held = r->type != WAIT_WORKER;
        g_autoptr(TextTable) t = text_table_new();

        if (held)
                append_held(out, r, columns);
        else
                append_worker_wait(out, r, columns);
        text_table_add_column(t, "behind", TEXT_LEFT, 0);
        if (held)
                text_table_add_column(t, "open", TEXT_RIGHT, 1);
        text_table_add_column(t, "time", TEXT_RIGHT, 1);
        text_table_add_column(t, "share", TEXT_RIGHT, 0);
        for (guint i = first; i < next_kind(w, first); i++) {
                r = wait_at(w, i);
                if (r->share < LEAST_WAIT)
                        continue;
                text_table_add(t, format_holder(r));
                if (held)
                        text_table_add(t, r->holding ? path_format_duration((gint64)r->open)
                                                     : g_strdup("-"));
                text_table_add(t, path_format_duration((gint64)r->time));
                text_table_add(t, g_strdup_printf("%.0f %%", 100 * r->share));
        }
        text_table_fit(t, columns > 2 ? columns - 2 : 0);
        text_table_write(t, "  ", out);
}

void why_append_held(GString *out, const WhyWaiting *w, guint columns)
{
        guint shown = 0;

        for (guint i = 0; i < w->waits->len && shown < MOST_HELD; i = next_kind(w, i)) {
                const WhyWait *r = wait_at(w, i);

                if (r->type == WAIT_WORKER || r->mean * (double)r->calls < LEAST_HELD * w->held)
                        continue;
                if (shown++ == 0)
                        g_string_append_c(out, '\n');
                append_held(out, r, columns);
        }
}

void why_put_held(Json *json, const WhyWaiting *w, guint most)
{
        json_put_open(json, "held", '[');
        EACH (const WhyWait, r, w->waits) {
                if (r->type == WAIT_WORKER || most == 0)
                        continue;
                most--;
                json_open(json, '{');
                fields_put(json, wait_fields, G_N_ELEMENTS(wait_fields), r);
                json_close(json, '}');
        }
        json_close(json, ']');
}

static void write_waiting_text(GString *out, const WhyWaiting *w, guint columns)
{
        g_autofree char *waited = path_format_count(w->waited);
        g_autofree char *time = path_format_duration((gint64)w->time);

        if (w->nodes == 0)
                text_append_line(out, " ", 0, columns, "No node has a queue before its workers.");
        else
                text_append_line(out, " ", 0, columns,
                                 "%s calls waited for a worker of %u %s, %s in all.", waited,
                                 w->nodes, w->nodes == 1 ? "node" : "nodes", time);
        for (guint i = 0; i < w->waits->len; i = next_kind(w, i)) {
                const WhyWait *r = wait_at(w, i);

                if (r->mean * (double)r->calls <
                    LEAST_WAIT * (r->type == WAIT_WORKER ? w->time : w->held))
                        continue;
                g_string_append_c(out, '\n');
                append_waiting_kind(out, w, i, columns);
        }
}

static void write_waiting_tsv(GString *out, const WhyWaiting *w)
{
        fields_append_names(out, wait_fields, G_N_ELEMENTS(wait_fields));
        out->str[out->len - 1] = '\n';
        for (guint i = 0; i < w->waits->len; i++) {
                fields_append_cells(out, wait_fields, G_N_ELEMENTS(wait_fields), wait_at(w, i));
                out->str[out->len - 1] = '\n';
        }
}

static void write_waiting_json(GString *out, const WhyWaiting *w)
{
        Json json = JSON_IN(out);

        json_open(&json, '{');
        json_put_count(&json, "nodes", w->nodes);
        json_put_count(&json, "waited", w->waited);
        json_put_time(&json, "time", (gint64)w->time);
        json_put_time(&json, "held", (gint64)w->held);
        fields_put_list(&json, "waits", -1, wait_fields, G_N_ELEMENTS(wait_fields), w->waits);
        json_close(&json, '}');
        g_string_append_c(out, '\n');
}

void why_write_waiting(GString *out, const WhyWaiting *w, WhyFormat format, guint columns)
{
        switch (format) {
        case WHY_TEXT:
                write_waiting_text(out, w, columns);
                break;
        case WHY_TSV:
                write_waiting_tsv(out, w);
                break;
        case WHY_JSON:
                write_waiting_json(out, w);
                break;
        }
}
