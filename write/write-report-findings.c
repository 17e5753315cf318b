/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/write-report-findings.h"

#include <string.h>

#include "base/each.h"
#include "write/page-data.h"
#include "write/write-advise.h"
#include "write/write-why-shared.h"
#include "write/write-why.h"

enum {
        MAX_SHARED = 2, /* kinds that say what their slow requests share */
        MAX_ADVICE = 2, /* findings of ravel advise */
        MAX_RETRIES = 5,
        MAX_PAUSES = 8,  /* of different nodes */
        MAX_TIMES = 100, /* of one of them */
};

static void append_lines(Json *j, const char *text)
{
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines; *line; line++)
                if (**line)
                        json_string(j, *line);
}

/* Who held what requests waited for, in words. */
static void append_held(Json *j, const Report *r)
{
        g_autoptr(GString) text = g_string_new(NULL);

        json_put_open(j, "held", '[');
        if (r->waiting)
                why_append_held(text, r->waiting, 0);
        append_lines(j, text->str);
        json_close(j, ']');
}

/* "POST /order: tenant=acme: 27 of the 27 slowest, 10 % of all." What the slow requests of a kind
 * share; without the kind where it is the only one. */
static void append_shared(Json *j, const Report *r)
{
        guint kinds = 0;

        json_put_open(j, "shared", '[');
        for (guint i = 0; r->kinds && i < r->kinds->len && kinds < MAX_SHARED; i++) {
                const WhyKind *k = r->kinds->pdata[i];
                g_autoptr(GString) text = g_string_new(NULL);

                if (k->shared->len == 0)
                        continue;
                kinds++;
                if (r->kinds->len > 1)
                        g_string_append_printf(text, "%s: ", k->label ? k->label : k->entry);
                why_shared_append_text(text, 0, k->shared, 0);
                *strchr(text->str, '\n') = 0;
                json_string(j, text->str);
        }
        json_close(j, ']');
}

static void append_advice(Json *j, const Report *r)
{
        json_put_open(j, "advice", '[');
        for (guint i = 0; r->advice && i < MIN(r->advice->findings->len, MAX_ADVICE); i++) {
                g_autofree char *text = finding_sentence(r->advice->findings->pdata[i], r->nodes);

                json_string(j, text);
        }
        json_close(j, ']');
}

/* The sentence; slow requests in one, of how many; from and to of each, after the first request;
 * nodes, how often. */
static void append_pauses(Json *j, const Report *r)
{
        json_put_open(j, "pauses", '[');
        for (guint i = 0; r->pauses && i < MIN(r->pauses->len, MAX_PAUSES); i++) {
                const WhyPause *p = &g_array_index(r->pauses, WhyPause, i);
                g_autofree char *text = why_pause_sentence(p);

                json_open(j, '[');
                json_string(j, text);
                page_numbers(j, (gint64)p->slow, (gint64)p->slow_of);
                json_open(j, '[');
                for (guint t = 0; t < MIN(p->times->len, MAX_TIMES); t++) {
                        const WhyStandstill *time = &g_array_index(p->times, WhyStandstill, t);

                        page_numbers(j, time->from - r->first, time->to - r->first);
                }
                json_close(j, ']');
                json_string(j, p->everywhere ? "all nodes" : p->nodes);
                json_integer(j, p->count);
                json_close(j, ']');
        }
        json_close(j, ']');
}

/* Culprit, outcome, operation; requests, the first; bucket, requests, bucket, ... */
static void append_failure(Json *j, const WhyFailure *f, const guint32 *at)
{
        json_open(j, '[');
        json_string(j, f->where);
        json_string(j, f->outcome);
        json_string(j, f->label ? f->label : "");
        page_numbers(j, (gint64)f->count, (gint64)f->request);
        json_open(j, '[');
        for (guint b = 0; b < REPORT_BUCKETS; b++)
                if (at[b] > 0)
                        page_numbers(j, b, at[b]);
        json_close(j, ']');
        json_close(j, ']');
}

static void append_failures(Json *j, const Report *r)
{
        const WhyFailures *w = r->failures;

        json_put_open(j, "failures", '[');
        for (guint i = 0; w && i < MIN(w->failures->len, REPORT_FAILURES); i++)
                append_failure(j, w->failures->pdata[i], r->failed_at[i]);
        json_close(j, ']');
        if (!w)
                return;
        json_put_integer(j, "failedRequests", (gint64)w->failed);
        json_put_integer(j, "moreFailures",
                         (gint64)w->failures->len - MIN(w->failures->len, REPORT_FAILURES));
        json_key(j, "failedTimes"); /* medians: of the failed, of the others */
        page_record(j, w->failed_p50, w->good_p50);
        json_put_open(j, "retries", '['); /* in words, operation, times, in vain, first request */
        for (guint i = 0; i < MIN(w->retries->len, MAX_RETRIES); i++) {
                const WhyRetry *retry = w->retries->pdata[i];
                g_autofree char *text = why_retry_text(retry->node, retry->attempts, retry->errors,
                                                       retry->outcome, retry->lost);

                json_open(j, '[');
                json_string(j, text);
                json_string(j, retry->label ? retry->label : "");
                page_numbers(j, (gint64)retry->count, (gint64)retry->failed,
                             (gint64)retry->request);
                json_close(j, ']');
        }
        json_close(j, ']');
}

/* Bucket, octave, requests, bucket, ... */
static void append_heat(Json *j, const Report *r)
{
        json_put_open(j, "heat", '[');
        for (guint b = 0; b < REPORT_BUCKETS; b++)
                for (guint o = 0; o < REPORT_OCTAVES; o++)
                        if (r->heat[b][o] > 0)
                                page_numbers(j, b, o, r->heat[b][o]);
        json_close(j, ']');
}

void write_report_findings(Json *j, const Report *r)
{
        append_held(j, r);
        append_shared(j, r);
        append_advice(j, r);
        append_pauses(j, r);
        append_failures(j, r);
        append_heat(j, r);
}
