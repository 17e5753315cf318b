/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/map.h"
#include "analysis/report/report-calls.h"
#include "base/compare.h"
#include "base/each.h"
#include "base/hash.h"
#include "store/stored-patterns.h"
#include "store/stored-set.h"

enum {
        ROW_BINS = 24,           /* of the small distribution of a row */
        MAX_SAMPLE_CALLS = 2000, /* a longer path is no picture */
};

/* One path of a pattern that is shown in full. */
typedef struct {
        StoredPath path;
        guint64 number;
        guint32 bucket;
} PathOfPattern;

/* What is needed only while the store is read. */
typedef struct {
        Report *report;
        StoreReader *reader;
        GArray *patterns; /* of StoredPattern, by number */
        guint32 *row_of;  /* by pattern: its row, or NO_ROW */
        PathPattern hand; /* the pattern in hand, for the map */
        GArray *nodes;    /* of NodeId, by place: of the pattern in hand */
        GArray *stack;    /* of guint32: the places that are open in its shape */
        GHashTable *own;  /* by node: its own time in the pattern, gint64, ns */
        GHashTable *edges;
        GPtrArray *paths; /* by detail: GArray of PathOfPattern */
        GArray *all;      /* of ReportPath: every path */
} Loading;

#define NO_ROW G_MAXUINT32

static ReportRow *report_row_at(const Report *r, guint32 i)
{
        return &g_array_index(r->rows, ReportRow, i);
}

/* --- numbers --------------------------------------------------------------- */

void report_append_rounded(GString *out, gint64 n)
{
        guint64 size = n < 0 ? -(guint64)n : (guint64)n, scale = 1;
        guint exponent = 0;

        while ((size + scale / 2) / scale >= 10000) {
                scale *= 10;
                exponent++;
        }
        size = (size + scale / 2) / scale;
        for (; exponent > 0 && size % 10 == 0 && size > 0; exponent++)
                size /= 10;
        g_string_append_printf(out, "%s%" G_GUINT64_FORMAT, n < 0 ? "-" : "", size);
        if (exponent == 1)
                g_string_append_c(out, '0');
        else if (exponent > 1)
                g_string_append_printf(out, "e%u", exponent);
}

static void append_base36(GString *out, guint64 n)
{
        char digits[16], *at = digits + sizeof digits;

        *--at = 0;
        do {
                *--at = "0123456789abcdefghijklmnopqrstuvwxyz"[n % 36];
                n /= 36;
        } while (n > 0);
        g_string_append(out, at);
}

/* How many bins hold values at a resolution of 64 >> coarser bins to an octave. */
static guint report_count_used(const guint64 *counts, guint32 first, guint32 n, guint coarser)
{
        guint used = 0;
        guint32 last = G_MAXUINT32;

        for (guint32 i = 0; i < n; i++) {
                guint32 bin = (MAX(first + i, 1) - 1) >> coarser;
                if (counts[i] > 0 && bin != last) {
                        used++;
                        last = bin;
                }
        }
        return used;
}

void report_append_distribution(GString *out, const Histogram *h, guint max_bins)
{
        guint32 first, n;
        g_autofree guint64 *counts = histogram_counts(h, &first, &n);
        guint coarser = 0;

        if (!counts)
                return;
        while (coarser < 3 && report_count_used(counts, first, n, coarser) > max_bins)
                coarser++;
        guint32 bin = (MAX(first, 1) - 1) >> coarser;
        char separator = ':';
        g_string_append_printf(out, "%u:", 6 - coarser);
        append_base36(out, bin);
        for (guint32 i = 0; i < n;) {
                guint64 count = 0;
                guint32 at = (MAX(first + i, 1) - 1) >> coarser;

                for (; i < n && (MAX(first + i, 1) - 1) >> coarser == at; i++)
                        count += counts[i];
                if (count == 0)
                        continue;
                if (at > bin) {
                        g_string_append(out, ",-");
                        append_base36(out, at - bin);
                }
                g_string_append_c(out, separator);
                separator = ',';
                append_base36(out, count);
                bin = at + 1;
        }
}

/* --- patterns -------------------------------------------------------------- */

/* By drawings, of as many paths as they count. */
static gint64 report_total_of(const StoredPattern *p)
{
        return p->is_drawn ? llround((double)p->completion.mean * p->drawn) : p->completion.total;
}

static int report_compare_patterns(gconstpointer va, gconstpointer vb, gpointer data)
{
        const StoredPattern *patterns = data;
        const StoredPattern *a = &patterns[*(const guint32 *)va],
                            *b = &patterns[*(const guint32 *)vb];
        gint64 total_a = report_total_of(a), total_b = report_total_of(b);

        return COMPARE(total_b, total_a) ?: strcmp(a->signature, b->signature);
}

static gboolean report_sum_patterns(Loading *l, GError **error)
{
        Report *r = l->report;
        double probability = 0;

        if (!(l->patterns = stored_patterns_load(l->reader, error)))
                return FALSE;
        EACH (StoredPattern, p, l->patterns) {
                if (p->doubt >= (int)r->doubts->len)
                        p->doubt = -1;
                r->n_paths += p->count;
                r->n_failed += p->failed;
                r->total += p->completion.total;
                r->goes_on |= p->goes_on;
                r->is_drawn |= p->is_drawn;
                r->drawn += p->drawn;
                probability += p->probability * (double)p->count;
        }
        r->n_patterns = l->patterns->len;
        r->probability = r->n_paths > 0 ? probability / (double)r->n_paths : 1;
        return TRUE;
}

static ReportDetail *detail_new(guint32 row, const StoredPattern *p)
{
        ReportDetail *d = g_new0(ReportDetail, 1);

        d->row = row;
        d->pattern.id = p->id;
        d->pattern.client = p->client;
        d->pattern.count = p->count;
        d->pattern.probability = p->probability;
        d->buckets = g_array_new(FALSE, FALSE, sizeof(ReportBucket));
        d->samples = g_ptr_array_new();
        return d;
}

static void report_rank_patterns(Loading *l)
{
        Report *r = l->report;
        guint32 n = l->patterns->len;
        g_autofree guint32 *order = g_new(guint32, n);

        l->row_of = g_new(guint32, n);
        for (guint32 i = 0; i < n; i++) {
                order[i] = i;
                l->row_of[i] = NO_ROW;
        }
        g_qsort_with_data(order, (gint)n, sizeof *order, report_compare_patterns,
                          l->patterns->data);
        for (guint32 i = 0; i < MIN(n, REPORT_ROWS); i++) {
                StoredPattern *p = &g_array_index(l->patterns, StoredPattern, order[i]);
                ReportRow row = { .stored = *p,
                                  .shape = g_string_new(NULL),
                                  .latency = g_string_new(NULL) };

                row.stored.signature = NULL;
                g_array_append_val(r->rows, row);
                l->row_of[order[i]] = i;
                if (i >= REPORT_DETAILS)
                        continue;
                g_ptr_array_add(r->details, detail_new(i, p));
                g_ptr_array_add(l->paths, g_array_new(FALSE, FALSE, sizeof(PathOfPattern)));
        }
}

/* --- their nodes ----------------------------------------------------------- */

/* Appends a place to the shape: "(", or ")"s and ",", and the node. */
static void report_append_place(Loading *l, GString *shape, NodeId client,
                                const StoredPatternNode *n)
{
        guint32 closed = 0;

        if (n->place == 0) {
                g_array_set_size(l->stack, 0);
                append_base36(shape, client);
                g_string_append_c(shape, '>');
        } else {
                while (l->stack->len > 1 &&
                       g_array_index(l->stack, guint32, l->stack->len - 1) != n->parent) {
                        g_array_set_size(l->stack, l->stack->len - 1);
                        closed++;
                }
                if (closed == 0) {
                        g_string_append_c(shape, '(');
                } else {
                        for (; closed > 1; closed--)
                                g_string_append_c(shape, ')');
                        g_string_append_c(shape, ',');
                }
        }
        if (work_goes_on(n->continues))
                g_string_append_c(shape, '~');
        append_base36(shape, n->node);
        if (work_is_missed(n->continues))
                g_string_append_c(shape, path_continues_mark(n->continues));
        g_array_append_val(l->stack, n->place);
}

static void count_edge(Loading *l, NodeId caller, NodeId callee)
{
        gint64 key = (gint64)((guint64)caller << 32 | callee);

        if (!g_hash_table_contains(l->edges, &key))
                g_hash_table_add(l->edges, g_memdup2(&key, sizeof key));
}

static ReportBlame *blame_at(const Report *r, guint32 i)
{
        if (r->blame->len <= i)
                g_array_set_size(r->blame, i + 1);
        return &g_array_index(r->blame, ReportBlame, i);
}

/* The exact sums, which stand at the start of a packed histogram, would need it
 * unpacked; only the means are rounded. */
static void add_blame(Report *r, const StoredPattern *p, const StoredPatternNode *n)
{
        ReportBlame *b = blame_at(r, n->node);

        b->own += (gint128)n->own_mean * p->count;
        b->calls += p->count;
        if (n->workers == 0)
                return;
        b->own_queued += (gint128)n->own_queued_mean * p->count;
        b->workers = MAX(b->workers, n->workers);
        r->waits = TRUE;
}

/* Times of all places of the node in the pattern are its own. */
static void blame_row(Loading *l, const StoredPatternNode *n, ReportRow *row)
{
        gpointer node = GUINT_TO_POINTER(n->node);
        gint64 *own;

        if (n->place == 0)
                g_hash_table_remove_all(l->own);
        if (!(own = g_hash_table_lookup(l->own, node))) {
                own = g_new0(gint64, 1);
                g_hash_table_insert(l->own, node, own);
        }
        if (__builtin_add_overflow(*own, n->own_mean, own))
                *own = G_MAXINT64;
        if (n->place > 0 && *own <= row->slowest_own)
                return;
        row->slowest = n->node;
        row->slowest_own = *own;
}

static gboolean read_row_latency(const Loading *l, const StoredPatternNode *n, ReportRow *row,
                                 GError **error)
{
        Histogram latency = HISTOGRAM_INIT, good = HISTOGRAM_INIT;
        gboolean ok = store_reader_histogram(l->reader, &n->latency, &latency, error) &&
                      store_reader_histogram(l->reader, &n->good, &good, error);

        if (ok)
                report_append_distribution(row->latency, &latency, ROW_BINS);
        row->good_p50 = good.count > 0 ? histogram_quantile(&good, 0.5) : 0;
        histogram_clear(&latency);
        histogram_clear(&good);
        return ok;
}

/* Puts the pattern in hand on the map, and takes the next one, if there is one. */
static void report_map_pattern(Loading *l, const StoredPattern *next)
{
        if (l->hand.n_nodes > 0)
                map_add(l->report->map, &l->hand);
        path_pattern_clear(&l->hand);
        l->hand = (PathPattern){ .count = 0 };
        if (!next)
                return;
        l->hand.client = next->client;
        l->hand.count = next->count;
        l->hand.label = next->label;
}

static gboolean report_read_node(Loading *l, const StoredPatternNode *n, GError **error)
{
        const StoredPattern *p = &g_array_index(l->patterns, StoredPattern, n->pattern);
        Report *r = l->report;
        guint32 row = l->row_of[n->pattern];

        if (n->place == 0) {
                g_array_set_size(l->nodes, 0);
                report_map_pattern(l, p);
        }
        g_array_append_val(l->nodes, n->node);
        count_edge(l, n->place == 0 ? p->client : g_array_index(l->nodes, NodeId, n->parent),
                   n->node);
        r->most_places = MAX(r->most_places, n->place + 1);
        add_blame(r, p, n);
        if (!store_reader_append_node(l->reader, n, &l->hand, error))
                return FALSE;
        if (row == NO_ROW)
                return TRUE;
        report_append_place(l, report_row_at(r, row)->shape, p->client, n);
        blame_row(l, n, report_row_at(r, row));
        if (n->place == 0 && !read_row_latency(l, n, report_row_at(r, row), error))
                return FALSE;
        if (row >= r->details->len)
                return TRUE;
        ReportDetail *d = g_ptr_array_index(r->details, row);
        return store_reader_append_node(l->reader, n, &d->pattern, error);
}

/* Closes what is open; each must have had a node. */
static gboolean finish_shape(const Loading *l, GString *shape, GError **error)
{
        int depth = 0;

        if (shape->len == 0)
                return store_reader_fail(l->reader, error,
                                         "a pattern without a row of pattern_node");
        for (gsize i = 0; i < shape->len; i++)
                depth += (shape->str[i] == '(') - (shape->str[i] == ')');
        for (; depth > 0; depth--)
                g_string_append_c(shape, ')');
        return TRUE;
}

/* What no node's own time is. */
static void blame_network(const Report *r)
{
        gint128 own = 0, calls = 0;
        guint network = node_table_size(r->nodes);

        for (guint i = 0; i < r->blame->len; i++) {
                own += g_array_index(r->blame, ReportBlame, i).own;
                calls += g_array_index(r->blame, ReportBlame, i).calls;
        }
        /* Rounded means add up to a little more or less. */
        blame_at(r, network)->own = r->total - own > calls ? r->total - own : 0;
}

static gboolean report_read_nodes(Loading *l, GError **error)
{
        StoredPatternNode node;
        int status;

        while ((status = store_reader_next_pattern_node(l->reader, &node, error)) > 0)
                if (!report_read_node(l, &node, error))
                        return FALSE;
        if (status < 0)
                return FALSE;
        for (guint32 i = 0; i < l->report->rows->len; i++)
                if (!finish_shape(l, report_row_at(l->report, i)->shape, error))
                        return FALSE;
        l->report->n_edges = g_hash_table_size(l->edges);
        report_map_pattern(l, NULL);
        map_finish(l->report->map);
        blame_network(l->report);
        return TRUE;
}

/* --- paths ----------------------------------------------------------------- */

static gboolean report_read_paths(Loading *l, GError **error)
{
        Report *r = l->report;
        PathOfPattern p = { .number = 0 };
        int status;

        for (; (status = store_reader_next_path(l->reader, &p.path, error)) > 0; p.number++) {
                guint32 row = l->row_of[p.path.pattern];

                r->first = p.number > 0 ? MIN(r->first, p.path.start) : p.path.start;
                r->last = p.number > 0 ? MAX(r->last, p.path.start) : p.path.start;
                ReportPath one = { .path = p.path, .row = row };
                g_array_append_val(l->all, one);
                if (row < r->details->len)
                        g_array_append_val((GArray *)g_ptr_array_index(l->paths, row), p);
        }
        return status == 0;
}

COMPARISON(compare_latencies, PathOfPattern,
           COMPARE(a->path.latency, b->path.latency) ?: COMPARE(a->number, b->number))

static guint32 bucket_of(const Report *r, gint64 start)
{
        gint128 span = (gint128)r->last - r->first + 1;

        return (guint32)(((gint128)start - r->first) * REPORT_BUCKETS / span);
}

COMPARISON(compare_in_buckets, PathOfPattern,
           COMPARE(a->bucket, b->bucket) ?: compare_latencies(a, b))

static void fill_buckets(const Report *r, GArray *paths, GArray *buckets)
{
        PathOfPattern *p = (PathOfPattern *)(void *)paths->data;

        for (guint i = 0; i < paths->len; i++)
                p[i].bucket = bucket_of(r, p[i].path.start);
        g_array_sort(paths, compare_in_buckets);
        for (guint i = 0, end; i < paths->len; i = end) {
                for (end = i; end < paths->len && p[end].bucket == p[i].bucket;)
                        end++;
                ReportBucket b = { p[i].bucket, end - i, p[i + (end - i - 1) / 2].path.latency,
                                   p[end - 1].path.latency };
                g_array_append_val(buckets, b);
        }
}

static void fill_all_buckets(const Loading *l)
{
        const Report *r = l->report;

        EACH (ReportPath, p, l->all) {
                ReportBucket *b = &g_array_index(r->buckets, ReportBucket,
                                                 p->bucket = bucket_of(r, p->path.start));

                b->max = b->count++ > 0 ? MAX(b->max, p->path.latency) : p->path.latency;
                l->report->heat[p->bucket][report_octave(p->path.completion)]++;
        }
        for (guint i = 0; i < REPORT_BUCKETS; i++)
                g_array_index(r->buckets, ReportBucket, i).bucket = i;
}

static int take_sample(Loading *l, ReportDetail *d, const PathOfPattern *p, GError **error)
{
        ReportSample *s;

        for (guint i = 0; i < d->samples->len; i++)
                if (((ReportSample *)g_ptr_array_index(d->samples, i))->number == p->number)
                        return (int)i;
        s = g_new0(ReportSample, 1);
        s->path = p->path;
        s->number = p->number;
        s->calls = g_array_new(FALSE, FALSE, sizeof(PathCall));
        s->places = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_ptr_array_add(d->samples, s);
        if (!store_reader_path_calls(l->reader, &s->path, s->calls, s->places, error))
                return -1;
        if (!report_check_places(l->reader, s->places, d->pattern.n_nodes, error))
                return -1;
        return (int)d->samples->len - 1;
}

/* All four of a pattern as long as each that follows can have its median. */
static gboolean take_samples(Loading *l, guint32 detail, guint *left, GError **error)
{
        static const double quantiles[N_SAMPLES] = { 0, 0.5, 0.99, 1 };
        ReportDetail *d = g_ptr_array_index(l->report->details, detail);
        GArray *paths = g_ptr_array_index(l->paths, detail);
        gboolean all = *left >= N_SAMPLES + l->report->details->len - detail - 1;

        for (SampleKind k = 0; k < N_SAMPLES; k++)
                d->sample[k] = -1;
        g_array_sort(paths, compare_latencies);
        for (SampleKind k = 0; k < N_SAMPLES && paths->len > 0; k++) {
                guint rank = (guint)(quantiles[k] * paths->len + 0.999999);
                const PathOfPattern *p =
                        &g_array_index(paths, PathOfPattern, CLAMP(rank, 1, paths->len) - 1);
                guint before = d->samples->len;

                if ((!all && k != SAMPLE_MEDIAN) || p->path.n_calls > MAX_SAMPLE_CALLS)
                        continue;
                if ((d->sample[k] = take_sample(l, d, p, error)) < 0)
                        return FALSE;
                *left -= d->samples->len - before;
        }
        return TRUE;
}

COMPARISON(compare_completions, PathOfPattern,
           COMPARE(a->path.completion, b->path.completion) ?: COMPARE(a->number, b->number))

/* Says of each path in which part of its pattern it is. */
static void report_find_parts(const Loading *l, ReportDetail *d, GArray *paths)
{
        guint n = paths->len;

        if (n < REPORT_FEWEST)
                return;
        g_array_sort(paths, compare_completions);
        for (guint i = 0; i < n; i++) {
                const PathOfPattern *p = &g_array_index(paths, PathOfPattern, i);
                ReportPart part = i >= n - (n + 99) / 100               ? PART_SLOW
                                  : i >= n / 5 * 2 && i < n - n / 5 * 2 ? PART_MIDDLE
                                                                        : PART_NONE;

                g_array_index(l->all, ReportPath, (guint)p->number).part = part;
                d->n_of_part[part]++;
                d->time_of_part[part] += p->path.completion;
        }
}

static gboolean take_details(Loading *l, GError **error)
{
        Report *r = l->report;
        guint left = REPORT_SAMPLES;

        for (guint32 i = 0; i < r->details->len; i++) {
                ReportDetail *d = g_ptr_array_index(r->details, i);

                if (!take_samples(l, i, &left, error))
                        return FALSE;
                report_find_parts(l, d, g_ptr_array_index(l->paths, i));
                fill_buckets(r, g_ptr_array_index(l->paths, i), d->buckets);
        }
        fill_all_buckets(l);
        return TRUE;
}

/* --- together --------------------------------------------------------------- */

static gboolean read_captures(Loading *l, GError **error)
{
        StoredCapture c;
        int status;

        while ((status = store_reader_next_capture(l->reader, &c, error)) > 0) {
                c.name = g_strdup(c.name);
                c.sha256 = g_strdup(c.sha256);
                c.facts = g_strdup(c.facts);
                g_array_append_val(l->report->captures, c);
        }
        return status == 0;
}

static gboolean report_read_trust(Loading *l, GError **error)
{
        StoredTrust trust;
        int status;

        while ((status = store_reader_next_trust(l->reader, &trust, error)) > 0)
                g_array_append_val(l->report->trust, trust);
        return status == 0;
}

static gboolean report_read_workers(Loading *l, GError **error)
{
        StoredWorkers workers;
        int status;

        while ((status = store_reader_next_workers(l->reader, &workers, error)) > 0)
                if (workers.load.calls > 0 && workers.load.served > 0)
                        g_array_append_val(l->report->workers, workers);
        return status == 0;
}

static gboolean read_doubts(Loading *l, GError **error)
{
        StoredDoubt d;
        int status;

        while ((status = store_reader_next_doubt(l->reader, &d, error)) > 0) {
                d.reason = g_strdup(d.reason);
                d.text = g_strdup(d.text);
                g_array_append_val(l->report->doubts, d);
        }
        return status == 0;
}

static void report_loading_clear(Loading *l)
{
        g_clear_pointer(&l->patterns, g_array_unref);
        path_pattern_clear(&l->hand);
        g_array_free(l->nodes, TRUE);
        g_array_free(l->stack, TRUE);
        g_array_free(l->all, TRUE);
        g_ptr_array_free(l->paths, TRUE);
        g_hash_table_destroy(l->edges);
        g_hash_table_destroy(l->own);
        g_free(l->row_of);
}

Report *report_new(StoreReader *reader, NodeTable *nodes, GError **error)
{
        g_autoptr(Report) r = g_new0(Report, 1);
        Loading l = { .report = r, .reader = reader };

        r->nodes = nodes;
        r->map = map_new(nodes);
        r->first = r->last = NO_TIME;
        r->captures = g_array_new(FALSE, FALSE, sizeof(StoredCapture));
        r->trust = g_array_new(FALSE, FALSE, sizeof(StoredTrust));
        r->doubts = g_array_new(FALSE, FALSE, sizeof(StoredDoubt));
        r->rows = g_array_new(FALSE, FALSE, sizeof(ReportRow));
        r->details = g_ptr_array_new();
        r->blame = g_array_new(FALSE, TRUE, sizeof(ReportBlame));
        r->buckets = g_array_new(FALSE, TRUE, sizeof(ReportBucket));
        g_array_set_size(r->buckets, REPORT_BUCKETS);
        l.nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
        l.stack = g_array_new(FALSE, FALSE, sizeof(guint32));
        r->loads = g_array_new(FALSE, TRUE, sizeof(ReportLoad));
        r->workers = g_array_new(FALSE, FALSE, sizeof(StoredWorkers));
        l.all = g_array_new(FALSE, FALSE, sizeof(ReportPath));
        l.paths = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
        l.edges = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        l.own = g_hash_table_new_full(NULL, NULL, NULL, g_free);

        gboolean ok = read_captures(&l, error) && report_read_trust(&l, error) &&
                      report_read_workers(&l, error) && read_doubts(&l, error) &&
                      report_sum_patterns(&l, error);
        if (ok) {
                report_rank_patterns(&l);
                ok = report_read_nodes(&l, error) && report_read_paths(&l, error) &&
                     take_details(&l, error) && report_read_calls(r, reader, l.all, error) &&
                     report_read_slowest(r, reader, l.all, error) &&
                     stored_graph_load(reader, &r->graph, error);
        }
        report_loading_clear(&l);
        return ok ? g_steal_pointer(&r) : NULL;
}

static void sample_free(ReportSample *s)
{
        g_array_free(s->calls, TRUE);
        g_array_free(s->places, TRUE);
        g_free(s);
}

static void detail_free(ReportDetail *d)
{
        path_pattern_clear(&d->pattern);
        for (guint i = 0; i < N_PARTS; i++)
                g_free(d->spent[i]);
        for (guint i = 0; i < d->samples->len; i++)
                sample_free(g_ptr_array_index(d->samples, i));
        g_ptr_array_free(d->samples, TRUE);
        g_array_free(d->buckets, TRUE);
        g_free(d);
}

void report_free(Report *r)
{
        if (!r)
                return;
        EACH (StoredCapture, c, r->captures) {
                g_free((char *)c->name);
                g_free((char *)c->sha256);
                g_free((char *)c->facts);
        }
        for (guint i = 0; i < r->rows->len; i++) {
                g_string_free(report_row_at(r, i)->shape, TRUE);
                g_string_free(report_row_at(r, i)->latency, TRUE);
        }
        for (guint i = 0; i < r->details->len; i++)
                detail_free(g_ptr_array_index(r->details, i));
        g_array_free(r->captures, TRUE);
        g_array_free(r->trust, TRUE);
        EACH (StoredDoubt, d, r->doubts) {
                g_free((char *)d->reason);
                g_free((char *)d->text);
        }
        g_array_free(r->doubts, TRUE);
        g_array_free(r->rows, TRUE);
        g_ptr_array_free(r->details, TRUE);
        g_array_free(r->blame, TRUE);
        g_array_free(r->buckets, TRUE);
        g_array_free(r->loads, TRUE);
        g_array_free(r->workers, TRUE);
        g_clear_pointer(&r->edges, g_ptr_array_unref);
        report_clear_slowest(r);
        g_clear_pointer(&r->graph, path_graph_free);
        map_free(r->map);
        g_free(r);
}
