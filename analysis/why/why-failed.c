/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/why/why-failed.h"

#include "base/compare.h"
#include "base/each.h"
#include "paths/path-text.h"
#include "store/stored-patterns.h"

typedef struct {
        StoreReader *reader;
        const NodeTable *nodes;
        WhyFailures *result;
        GHashTable *failures, *retries; /* by a text that tells one from another */
        Histogram good, failed;         /* times of requests */
} Search;

static void failure_free(gpointer data)
{
        WhyFailure *f = data;

        g_free(f->where);
        g_free(f->outcome);
        g_free(f->label);
        g_array_unref(f->requests);
        g_free(f);
}

static void retry_free(gpointer data)
{
        WhyRetry *r = data;

        g_free(r->caller);
        g_free(r->node);
        g_free(r->outcome);
        g_free(r->label);
        g_free(r);
}

void why_failures_free(WhyFailures *w)
{
        if (!w)
                return;
        g_ptr_array_unref(w->failures);
        g_ptr_array_unref(w->retries);
        g_free(w);
}

static void search_clear(Search *s)
{
        g_hash_table_unref(s->failures);
        g_hash_table_unref(s->retries);
        histogram_clear(&s->good);
        histogram_clear(&s->failed);
        why_failures_free(s->result);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Search, search_clear)

static char *outcome_text(Outcome outcome)
{
        char text[OUTCOME_TEXT + 1];

        outcome_write(outcome, text);
        return g_strdup(text);
}

/* "web1>auth>redis": the callees from the root to a call. */
static char *name_chain(const NodeTable *nodes, const PathCall *calls, guint32 call)
{
        GString *text = g_string_new(NULL);

        for (guint32 i = call; i != NO_PARENT; i = calls[i].parent) {
                g_string_prepend(text, node_table_written(nodes, calls[i].callee));
                if (calls[i].parent != NO_PARENT)
                        g_string_prepend_c(text, '>');
        }
        return g_string_free(text, FALSE);
}

/* The row with a key, which is freed. A new one has a count of 0. */
static gpointer find_row(GHashTable *by_key, GPtrArray *rows, char *key, gsize size)
{
        gpointer row = g_hash_table_lookup(by_key, key);

        if (row) {
                g_free(key);
                return row;
        }
        row = g_malloc0(size);
        g_hash_table_insert(by_key, key, row);
        g_ptr_array_add(rows, row);
        return row;
}

static void add_failure(Search *s, const PathCall *calls, guint32 culprit, guint64 request)
{
        Outcome seen = path_outcome_of_culprit(&calls[culprit]);
        g_autofree char *where = name_chain(s->nodes, calls, culprit);
        g_autofree char *outcome = outcome_text(seen);
        const char *label = store_reader_label(s->reader, calls[culprit].label);
        char *key = g_strjoin("\t", where, outcome, label ? label : "", NULL);
        WhyFailure *f = find_row(s->failures, s->result->failures, key, sizeof *f);

        if (f->count++ == 0) {
                f->where = g_steal_pointer(&where);
                f->outcome = g_steal_pointer(&outcome);
                f->class = outcome_class_name(outcome_class(seen));
                f->label = g_strdup(label);
                f->request = request;
                f->requests = g_array_new(FALSE, FALSE, sizeof(guint64));
        }
        g_array_append_val(f->requests, request);
}

static void add_retry(Search *s, const PathCall *calls, const PathRetry *retry, guint64 request)
{
        const PathCall *first = &calls[retry->first];
        const char *label = store_reader_label(s->reader, first->label);
        g_autofree char *outcome = outcome_text(retry->outcome);
        char *key = g_strdup_printf("%u %u %u %u %s %s", first->caller, first->callee,
                                    retry->attempts, retry->errors, outcome, label ? label : "");
        WhyRetry *r = find_row(s->retries, s->result->retries, key, sizeof *r);

        if (r->count++ == 0) {
                r->caller = g_strdup(node_table_written(s->nodes, first->caller));
                r->node = g_strdup(node_table_written(s->nodes, first->callee));
                r->outcome = g_steal_pointer(&outcome);
                r->label = g_strdup(label);
                r->attempts = retry->attempts;
                r->errors = retry->errors;
                r->request = request;
        }
        r->failed += path_retry_failed(retry);
        r->lost += retry->lost; /* the sum, until all are read */
}

static void add_request(Search *s, const StoredPath *path, const GArray *calls)
{
        const PathCall *c = (const PathCall *)(gconstpointer)calls->data;
        guint64 request = ++s->result->requests;
        guint32 culprit = path_culprit(c, calls->len);
        g_autoptr(GArray) retries = path_retries(c, calls->len);

        histogram_add(culprit == NO_PARENT ? &s->good : &s->failed, path->completion);
        if (culprit != NO_PARENT) {
                s->result->failed++;
                add_failure(s, c, culprit, request);
        }
        for (guint i = 0; i < retries->len; i++)
                add_retry(s, c, &g_array_index(retries, PathRetry, i), request);
}

COMPARISON_OF_POINTERS(compare_failures, WhyFailure,
                       a->count != b->count ? COMPARE(b->count, a->count)
                                            : COMPARE(a->request, b->request))

COMPARISON_OF_POINTERS(compare_retries, WhyRetry,
                       COMPARE(b->lost, a->lost) ?: COMPARE(a->request, b->request))

static gboolean read_all(Search *s, GError **error)
{
        g_autoptr(GArray) patterns = NULL;
        g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(PathCall));
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint32));
        StoredPath path;
        int status;

        if (!store_reader_expect_requests(s->reader, error) ||
            !(patterns = stored_patterns_load(s->reader, error)))
                return FALSE;
        while ((status = store_reader_next_path(s->reader, &path, error)) > 0) {
                if (!store_reader_path_calls(s->reader, &path, calls, places, error))
                        return FALSE;
                add_request(s, &path, calls);
        }
        return status == 0;
}

WhyFailures *why_failures_new(StoreReader *reader, const NodeTable *nodes, GError **error)
{
        g_auto(Search)
                s = { .reader = reader,
                      .nodes = nodes,
                      .result = g_new0(WhyFailures, 1),
                      .failures = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                      .retries = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) };
        WhyFailures *w = s.result;

        w->failures = g_ptr_array_new_with_free_func(failure_free);
        w->retries = g_ptr_array_new_with_free_func(retry_free);
        if (!read_all(&s, error))
                return NULL;
        w->good_p50 = histogram_quantile(&s.good, 0.5);
        w->failed_p50 = histogram_quantile(&s.failed, 0.5);
        g_ptr_array_sort(w->failures, compare_failures);
        g_ptr_array_sort(w->retries, compare_retries);
        EACH_OF (WhyRetry, r, w->retries)
                r->lost /= (gint64)r->count;
        return g_steal_pointer(&s.result);
}

char *why_retry_text(const char *node, guint attempts, guint errors, const char *outcome,
                     gint64 lost)
{
        g_autofree char *time = path_format_duration(lost);

        return g_strdup_printf("%s x%u, %u of them %s, %s lost", node, attempts, errors, outcome,
                               time);
}

char *why_faults_text(const NodeTable *nodes, const PathCall *calls, guint32 n)
{
        guint32 culprit = path_culprit(calls, n);
        g_autoptr(GArray) retries = path_retries(calls, n);
        GString *text = g_string_new(NULL);

        if (culprit != NO_PARENT) {
                g_autofree char *where = name_chain(nodes, calls, culprit);
                g_autofree char *outcome = outcome_text(path_outcome_of_culprit(&calls[culprit]));

                g_string_append_printf(text, "Failed by %s %s.", where, outcome);
        }
        EACH (const PathRetry, r, retries) {
                g_autofree char *outcome = outcome_text(r->outcome);
                g_autofree char *what =
                        why_retry_text(node_table_written(nodes, calls[r->first].callee),
                                       r->attempts, r->errors, outcome, r->lost);

                g_string_append_printf(text, "%sTried again: %s.", text->len ? " " : "", what);
        }
        return g_string_free(text, text->len == 0);
}
