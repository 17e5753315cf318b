/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/write-why.h"

#include "base/printable.h"
#include "paths/path-text.h"
#include "write/fields.h"
#include "write/text-table.h"

static const Field failure_fields[] = {
        { "where", FIELD_TEXT, G_STRUCT_OFFSET(WhyFailure, where) },
        { "outcome", FIELD_TEXT, G_STRUCT_OFFSET(WhyFailure, outcome) },
        { "class", FIELD_TEXT, G_STRUCT_OFFSET(WhyFailure, class) },
        { "operation", FIELD_TEXT, G_STRUCT_OFFSET(WhyFailure, label) },
        { "count", FIELD_COUNT, G_STRUCT_OFFSET(WhyFailure, count) },
        { "request", FIELD_COUNT, G_STRUCT_OFFSET(WhyFailure, request) },
};

static const Field retry_fields[] = {
        { "caller", FIELD_TEXT, G_STRUCT_OFFSET(WhyRetry, caller) },
        { "node", FIELD_TEXT, G_STRUCT_OFFSET(WhyRetry, node) },
        { "operation", FIELD_TEXT, G_STRUCT_OFFSET(WhyRetry, label) },
        { "outcome", FIELD_TEXT, G_STRUCT_OFFSET(WhyRetry, outcome) },
        { "count", FIELD_COUNT, G_STRUCT_OFFSET(WhyRetry, count) },
        { "failed", FIELD_COUNT, G_STRUCT_OFFSET(WhyRetry, failed) },
        { "attempts", FIELD_UINT, G_STRUCT_OFFSET(WhyRetry, attempts) },
        { "errors", FIELD_UINT, G_STRUCT_OFFSET(WhyRetry, errors) },
        { "lost", FIELD_TIME, G_STRUCT_OFFSET(WhyRetry, lost) },
        { "request", FIELD_COUNT, G_STRUCT_OFFSET(WhyRetry, request) },
};

static const char BREAKS[] = " ,>(";

/* " (GET /query)", in print. */
static char *format_label(const char *label)
{
        g_autofree char *text = label ? printable_new(label, PRINTABLE_TEXT) : NULL;

        return text ? g_strdup_printf(" (%s)", text) : g_strdup("");
}

static void append_failure(GString *out, const WhyFailures *w, const WhyFailure *f, guint columns)
{
        g_autofree char *count = path_format_count(f->count), *of = path_format_count(w->failed);
        g_autofree char *label = format_label(f->label);

        text_append_line(out, BREAKS, 2, columns,
                         "%s of %s failed requests: %s %s%s, first in request %" G_GUINT64_FORMAT,
                         count, of, f->where, f->outcome, label, f->request);
}

/* "db x4, 3 of them 503, 90.1 ms lost (GET /query): 40 times, 2 in vain, first in request 4" */
static void append_retry(GString *out, const WhyRetry *r, guint columns)
{
        g_autofree char *count = path_format_count(r->count),
                        *failed = path_format_count(r->failed);
        g_autofree char *label = format_label(r->label);
        g_autofree char *what =
                why_retry_text(r->node, r->attempts, r->errors, r->outcome, r->lost);

        text_append_line(out, BREAKS, 2, columns,
                         "%s%s: %s %s%s%s%s, first in request %" G_GUINT64_FORMAT, what, label,
                         count, r->count == 1 ? "time" : "times", r->failed ? ", " : "",
                         r->failed ? failed : "", r->failed ? " in vain" : "", r->request);
}

static void write_failures_text(GString *out, const WhyFailures *w, guint columns)
{
        g_autofree char *failed = path_format_count(w->failed);
        g_autofree char *requests = path_format_count(w->requests);
        g_autofree char *share = path_format_share((gint128)w->failed, (gint128)w->requests);
        g_autofree char *slow = path_format_duration(w->failed_p50);
        g_autofree char *good = path_format_duration(w->good_p50);

        if (w->failed == 0)
                text_append_line(out, BREAKS, 0, columns,
                                 "None of %s requests failed, as far as outcomes were seen.",
                                 requests);
        else
                text_append_line(out, BREAKS, 0, columns,
                                 "%s of %s requests failed, %s: p50 %s; of the others %s.", failed,
                                 requests, share, slow, good);
        for (guint i = 0; i < w->failures->len; i++)
                append_failure(out, w, w->failures->pdata[i], columns);
        if (w->retries->len > 0)
                text_append_line(out, BREAKS, 0, columns, "Tried again:");
        for (guint i = 0; i < w->retries->len; i++)
                append_retry(out, w->retries->pdata[i], columns);
}

static void write_failures_tsv(GString *out, const WhyFailures *w)
{
        fields_append_names(out, failure_fields, G_N_ELEMENTS(failure_fields));
        out->str[out->len - 1] = '\n';
        for (guint i = 0; i < w->failures->len; i++) {
                fields_append_cells(out, failure_fields, G_N_ELEMENTS(failure_fields),
                                    w->failures->pdata[i]);
                out->str[out->len - 1] = '\n';
        }
}

static void put_rows(Json *json, const char *key, const GPtrArray *rows, const Field *fields,
                     guint n)
{
        json_put_open(json, key, '[');
        for (guint i = 0; i < rows->len; i++) {
                json_open(json, '{');
                fields_put(json, fields, n, rows->pdata[i]);
                json_close(json, '}');
        }
        json_close(json, ']');
}

static void write_failures_json(GString *out, const WhyFailures *w)
{
        Json json = JSON_IN(out);

        json_open(&json, '{');
        json_put_count(&json, "requests", w->requests);
        json_put_count(&json, "failed", w->failed);
        json_put_time(&json, "good_p50", w->good_p50);
        json_put_time(&json, "failed_p50", w->failed_p50);
        put_rows(&json, "failures", w->failures, failure_fields, G_N_ELEMENTS(failure_fields));
        put_rows(&json, "retries", w->retries, retry_fields, G_N_ELEMENTS(retry_fields));
        json_close(&json, '}');
        g_string_append_c(out, '\n');
}

void why_write_failures(GString *out, const WhyFailures *w, WhyFormat format, guint columns)
{
        switch (format) {
        case WHY_TEXT:
                write_failures_text(out, w, columns);
                break;
        case WHY_TSV:
                write_failures_tsv(out, w);
                break;
        case WHY_JSON:
                write_failures_json(out, w);
                break;
        }
}
