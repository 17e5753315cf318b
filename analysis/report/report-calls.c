/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/report/report-calls.h"

#include "analysis/variance/node-load.h"
#include "base/compare.h"
#include "base/each.h"
#include "base/hash.h"

enum {
        TREE_BYTES = 450000, /* of the calls of the slowest requests, about */
        CALL_BYTES = 80,     /* as the page has one, about */
};

static const ReportPath *path_at(const GArray *paths, guint i)
{
        return &g_array_index(paths, ReportPath, i);
}

gboolean report_check_places(const StoreReader *reader, const GArray *places, guint32 n,
                             GError **error)
{
        for (guint i = 0; i < places->len; i++)
                if (g_array_index(places, guint32, i) >= n)
                        return store_reader_fail(reader, error,
                                                 "a call at place %u, expected one of %u",
                                                 g_array_index(places, guint32, i), n);
        return TRUE;
}

/* --- all calls ------------------------------------------------------------------ */

static void spend(ReportDetail *d, guint8 part, guint32 place, const PathCall *c)
{
        ReportSpent *spent;

        if (!d->spent[part])
                d->spent[part] = g_new0(ReportSpent, d->pattern.n_nodes);
        spent = &d->spent[part][place];
        spent->own += c->own;
        spent->queued += c->queued;
        spent->network += c->network;
        for (guint i = 0; c->network && i < N_WAY_CAUSES; i++)
                spent->cause[i] += c->cause[i];
}

static void edge_free(gpointer data)
{
        ReportEdge *e = data;

        histogram_clear(&e->latency);
        g_free(e);
}

/* edges: of ReportEdge, by caller and callee. */
static ReportEdge *find_edge(Report *r, GHashTable *edges, const PathCall *c)
{
        gint64 key = (gint64)((guint64)c->caller << 32 | c->callee);
        ReportEdge *e = g_hash_table_lookup(edges, &key);

        if (e)
                return e;
        e = g_new0(ReportEdge, 1);
        e->caller = c->caller;
        e->callee = c->callee;
        g_hash_table_insert(edges, g_memdup2(&key, sizeof key), e);
        g_ptr_array_add(r->edges, e);
        return e;
}

static void report_calls_add_edge(ReportEdge *e, const PathCall *c)
{
        for (guint i = 0; c->network && i < N_WAY_CAUSES; i++)
                e->cause[i] += c->cause[i];
        if (path_call_is_message(c))
                return;
        e->calls++;
        e->errors += outcome_is_error(c->outcome);
        e->seen |= c->outcome != OUTCOME_OK || c->label != 0;
        e->late += c->continues == WORK_LATE;
        if (c->continues == WORK_UNANSWERED)
                e->unanswered++;
        else
                histogram_add(&e->latency, MAX(c->end - c->start, 0));
}

COMPARISON_OF_POINTERS(compare_edges, ReportEdge,
                       COMPARE(a->caller, b->caller) ?: COMPARE(a->callee, b->callee))

static void report_calls_add_load(Report *r, NodeLoad *load, const PathCall *c)
{
        ReportLoad *l = &g_array_index(r->loads, ReportLoad, c->callee);

        l->calls++;
        l->queued += c->queued;
        if (!path_call_is_message(c))
                node_load_add(load, c->callee, c->callee, c->enter, MAX(c->enter, c->reply), 0);
}

static gboolean report_calls_add_path(Report *r, StoreReader *reader, NodeLoad *load,
                                      GHashTable *edges, const ReportPath *p, const GArray *calls,
                                      const GArray *places, GError **error)
{
        ReportDetail *d = p->part ? g_ptr_array_index(r->details, p->row) : NULL;

        if (d && !report_check_places(reader, places, d->pattern.n_nodes, error))
                return FALSE;
        node_load_advance(load, p->path.start);
        for (guint i = 0; i < calls->len; i++) {
                const PathCall *c = &g_array_index(calls, PathCall, i);

                report_calls_add_load(r, load, c);
                report_calls_add_edge(find_edge(r, edges, c), c);
                if (d)
                        spend(d, p->part, g_array_index(places, guint32, i), c);
        }
        return TRUE;
}

static void take_loads(Report *r, NodeLoad *load)
{
        node_load_finish(load);
        for (guint32 i = 0; i < r->loads->len; i++) {
                ReportLoad *l = &g_array_index(r->loads, ReportLoad, i);

                if (l->calls == 0)
                        continue;
                l->p50 = node_load_quantile(load, i, 0.5) + 1;
                l->p95 = node_load_quantile(load, i, 0.95) + 1;
                l->most = node_load_quantile(load, i, 1) + 1;
        }
}

gboolean report_read_calls(Report *r, StoreReader *reader, const GArray *paths, GError **error)
{
        g_autoptr(NodeLoad) load = node_load_new(node_table_size(r->nodes));
        g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(PathCall));
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint32));

        g_autoptr(GHashTable) edges =
                g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);

        r->edges = g_ptr_array_new_with_free_func(edge_free);
        g_array_set_size(r->loads, node_table_size(r->nodes));
        for (guint i = 0; i < paths->len; i++) {
                const ReportPath *p = path_at(paths, i);

                if (!store_reader_path_calls(reader, &p->path, calls, places, error) ||
                    !report_calls_add_path(r, reader, load, edges, p, calls, places, error))
                        return FALSE;
        }
        take_loads(r, load);
        g_ptr_array_sort(r->edges, compare_edges);
        return TRUE;
}

/* --- the slowest requests ---------------------------------------------------------- */

static int report_calls_compare_times(gconstpointer va, gconstpointer vb, gpointer paths)
{
        guint32 a = *(const guint32 *)va, b = *(const guint32 *)vb;
        gint64 x = path_at(paths, a)->path.completion, y = path_at(paths, b)->path.completion;

        return COMPARE(y, x) ?: COMPARE(a, b);
}

/* By path: 1 + which of the first failures it is of, or 0. The caller's to free. */
static guint8 *find_failed(Report *r, const GArray *paths)
{
        guint8 *failure = g_new0(guint8, paths->len);

        for (guint i = 0; r->failures && i < MIN(r->failures->failures->len, REPORT_FAILURES);
             i++) {
                const WhyFailure *f = r->failures->failures->pdata[i];

                EACH (const guint64, id, f->requests) {
                        failure[*id - 1] = (guint8)(i + 1);
                        r->failed_at[i][path_at(paths, (guint)*id - 1)->bucket]++;
                }
        }
        return failure;
}

/* Numbers of paths, of guint32, the slowest first: of all, of each bucket, of each octave in it,
 * and of each failure. */
static GArray *choose_slowest(const GArray *paths, const guint8 *failure)
{
        g_autofree guint64 *octaves = g_new0(guint64, REPORT_BUCKETS); /* a bit each: seen */
        guint of_failure[REPORT_FAILURES + 1] = { REPORT_FAILED };
        GArray *chosen = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_autofree guint32 *order = g_new(guint32, paths->len);
        guint of_bucket[REPORT_BUCKETS] = { 0 };

        for (guint32 i = 0; i < paths->len; i++)
                order[i] = i;
        g_qsort_with_data(order, (gint)paths->len, sizeof *order, report_calls_compare_times,
                          (gpointer)paths);
        for (guint32 i = 0; i < paths->len; i++) {
                const ReportPath *p = path_at(paths, order[i]);
                guint64 octave = (guint64)1 << report_octave(p->path.completion);
                gboolean of_failed = of_failure[failure[order[i]]] < REPORT_FAILED;

                if (of_bucket[p->bucket] < REPORT_SLOWEST_OF_BUCKET || i < REPORT_SLOWEST ||
                    !(octaves[p->bucket] & octave) || of_failed)
                        g_array_append_val(chosen, order[i]);
                of_bucket[p->bucket]++;
                octaves[p->bucket] |= octave;
                of_failure[failure[order[i]]] += of_failed;
        }
        return chosen;
}

/* How many there are, and how many bytes are left for calls. */
static gboolean take_calls(Report *r, StoreReader *reader, ReportRequest *q, gsize *left,
                           GError **error)
{
        gsize bytes = (gsize)q->path.n_calls * CALL_BYTES;
        g_autoptr(GArray) places = NULL;

        if (bytes > *left)
                return TRUE;
        *left -= bytes;
        places = g_array_new(FALSE, FALSE, sizeof(guint32));
        q->calls = g_array_new(FALSE, FALSE, sizeof(PathCall));
        q->ports = g_array_new(FALSE, FALSE, sizeof(guint));
        if (!store_reader_path_calls(reader, &q->path, q->calls, places, error))
                return FALSE;
        EACH (PathCall, c, q->calls) {
                guint port = why_call_port(r->why, c);

                g_array_append_val(q->ports, port);
                c->id = NULL; /* borrowed until the next time */
        }
        return TRUE;
}

/* When the call with the most own time came to its node. */
static void add_moment(Report *r, ReportRequest *q)
{
        WhyMoment moment = { .request = q->number + 1 };

        q->moment = G_MAXUINT;
        if (!q->calls || q->calls->len == 0)
                return;
        for (guint i = 1; i < q->calls->len; i++)
                if (g_array_index(q->calls, PathCall, i).own >
                    g_array_index(q->calls, PathCall, moment.call).own)
                        moment.call = i;
        q->moment = r->moments->len;
        g_array_append_val(r->moments, moment);
}

static void request_free(gpointer data)
{
        ReportRequest *q = data;

        why_request_free(q->why);
        g_clear_pointer(&q->calls, g_array_unref);
        g_clear_pointer(&q->ports, g_array_unref);
        g_free(q);
}

static gboolean take_slowest(Report *r, StoreReader *reader, const GArray *paths, GError **error)
{
        g_autofree guint8 *failure = find_failed(r, paths);
        g_autoptr(GArray) chosen = choose_slowest(paths, failure);
        gsize left = TREE_BYTES;

        for (guint i = 0; i < chosen->len; i++) {
                guint32 number = g_array_index(chosen, guint32, i);
                const ReportPath *p = path_at(paths, number);
                ReportRequest *q = g_new0(ReportRequest, 1);

                *q = (ReportRequest){ .path = p->path,
                                      .number = number,
                                      .row = p->row,
                                      .failure = failure[number],
                                      .why = why_request(r->why, (guint64)number + 1) };
                g_ptr_array_add(r->slowest, q);
                if (!take_calls(r, reader, q, &left, error))
                        return FALSE;
                add_moment(r, q);
        }
        why_find_beside(r->why, r->moments);
        return TRUE;
}

/* The variance of each entry, by a reader of its own: rows come once. */
static gboolean read_variance(Report *r, const char *store, GError **error)
{
        g_autoptr(StoreReader) reader = store_reader_new(store, r->nodes, error);
        VarianceOptions options = { .fewest = REPORT_FEWEST,
                                    .tail = 0.99,
                                    .completion = r->goes_on };

        return reader && (r->variance = variance_new(reader, r->nodes, &options, error));
}

static gboolean read_failures(Report *r, const char *store, GError **error)
{
        g_autoptr(StoreReader) reader = NULL;

        return r->n_failed == 0 || ((reader = store_reader_new(store, r->nodes, error)) &&
                                    (r->failures = why_failures_new(reader, r->nodes, error)));
}

static gboolean read_advice(Report *r, const char *store, GError **error)
{
        g_autoptr(StoreReader) reader = store_reader_new(store, r->nodes, error);

        return reader && (!store_reader_run(reader)->fit ||
                          (r->advice = advice_new(reader, r->nodes, error)));
}

static gboolean read_waiting(Report *r, const char *store, GError **error)
{
        g_autoptr(StoreReader) reader = store_reader_new(store, r->nodes, error);

        return reader && (r->waiting = why_waiting_new(reader, r->nodes, error));
}

gboolean report_read_slowest(Report *r, StoreReader *reader, const GArray *paths, GError **error)
{
        const char *store = store_reader_name(reader);
        WhyBurst burst;

        r->slowest = g_ptr_array_new_with_free_func(request_free);
        if (paths->len == 0 || r->most_places > REPORT_PLACES)
                return TRUE;
        r->moments = g_array_new(FALSE, FALSE, sizeof(WhyMoment));
        if (!read_failures(r, store, error) ||
            !(r->of_why = store_reader_new(store, r->nodes, error)) ||
            !(r->why = why_new(r->of_why, r->nodes, error)) ||
            !take_slowest(r, reader, paths, error))
                return FALSE;
        r->pauses = why_pauses(r->why);
        r->kinds = why_kinds(r->why, &burst);
        return read_variance(r, store, error) && read_advice(r, store, error) &&
               read_waiting(r, store, error);
}

void report_clear_slowest(Report *r)
{
        g_clear_pointer(&r->slowest, g_ptr_array_unref);
        g_clear_pointer(&r->failures, why_failures_free);
        g_clear_pointer(&r->pauses, g_array_unref);
        g_clear_pointer(&r->kinds, g_ptr_array_unref);
        g_clear_pointer(&r->moments, g_array_unref);
        g_clear_pointer(&r->variance, variance_free);
        g_clear_pointer(&r->advice, advice_free);
        g_clear_pointer(&r->waiting, why_waiting_free);
        g_clear_pointer(&r->why, why_free);
        g_clear_pointer(&r->of_why, store_reader_free);
}
