/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The sums of all windows as metrics: a file for node_exporter, or served to Prometheus.
 *
 * Counters rise as long as the process lives. Gauges are of the last window. The first MOST_SERIES
 * operations and nodes by time have series of their own, which stay; all others share "other".
 */
#include <math.h>

#include "base/error.h"
#include "paths/path-text.h"
#include "tracefmt/output-file.h"
#include "watch/consumers.h"
#include "watch/metrics-server.h"

enum { MOST_SERIES = 200 };

static struct {
        char *file, *address;
} options;

static const GOptionEntry entries[] = { { "metrics-file", 0, 0, G_OPTION_ARG_FILENAME,
                                          &options.file,
                                          "Write metrics into FILE, for node_exporter", "FILE" },
                                        { "metrics", 0, 0, G_OPTION_ARG_STRING, &options.address,
                                          "Serve metrics on loopback, or unix:PATH", "ADDRESS" },
                                        G_OPTION_ENTRY_NULL };

/* --- what there is --------------------------------------------------------------- */

typedef enum { COUNTER, GAUGE } MetricType;

typedef struct {
        const char *name; /* without "ravel_" and "_total" */
        const char *unit; /* the name ends in it; NULL: none */
        MetricType type;
        const char *help;
} Metric;

enum {
        ALL_WINDOWS,
        ALL_WINDOWS_LATE,
        ALL_PACKETS,
        ALL_DROPPED,
        ALL_HOLES,
        ALL_LATE,
        ALL_LONE_CALLS,
        ALL_LONE_RETURNS,
        ALL_CUT,
        ALL_LOST,
        ALL_CPU,
        ALL_PARALLELISM,
        ALL_FIT,
        ALL_ANSWER,
        ALL_LENGTH,
        ALL_END,
        N_ALL
};

static const Metric all_metrics[N_ALL] = {
        [ALL_WINDOWS] = { "windows", NULL, COUNTER, "Windows of time that were closed." },
        [ALL_WINDOWS_LATE] = { "windows_late", NULL, COUNTER,
                               "Windows that were answered after the next one had ended." },
        [ALL_PACKETS] = { "packets", NULL, COUNTER, "Packets that came in." },
        [ALL_DROPPED] = { "packets_dropped", NULL, COUNTER,
                          "Packets that the kernel or the interface dropped." },
        [ALL_HOLES] = { "connection_holes", NULL, COUNTER, "Holes in connections." },
        [ALL_LATE] = { "messages_late", NULL, COUNTER,
                       "Messages that came too late for their window." },
        [ALL_LONE_CALLS] = { "calls_unmatched", NULL, COUNTER, "Calls without a return." },
        [ALL_LONE_RETURNS] = { "returns_unmatched", NULL, COUNTER, "Returns without a call." },
        [ALL_CUT] = { "requests_cut", NULL, COUNTER,
                      "Requests that began before the capture did." },
        [ALL_LOST] = { "requests_lost", NULL, COUNTER,
                       "Requests that were open when the last watch was killed." },
        [ALL_CPU] = { "cpu_seconds", "seconds", COUNTER, "CPU time to find paths." },
        [ALL_PARALLELISM] = { "parallelism", NULL, GAUGE,
                              "Mean number of candidate parents of a call." },
        [ALL_FIT] = { "fit", NULL, GAUGE, "Whether the capture is fit for nesting." },
        [ALL_ANSWER] = { "answer_seconds", "seconds", GAUGE,
                         "Time from the end of the last window to its answer." },
        [ALL_LENGTH] = { "window_seconds", "seconds", GAUGE, "Length of the last window." },
        [ALL_END] = { "window_end_timestamp_seconds", "seconds", GAUGE,
                      "When the last window ended." },
};

/* Of a series: an operation or a node. */
enum {
        ONE_COUNT,
        ONE_ERRORS,
        ONE_P50,
        ONE_P99,
        N_OPERATION, /* what follows, nodes alone have */
        ONE_OWN = N_OPERATION,
        ONE_QUEUED,
        ONE_NETWORK,
        ONE_GUESSED,
        ONE_WRONG,
        ONE_WORKERS,
        ONE_BUSY,
        N_NODE
};

static const Metric operation_metrics[N_OPERATION] = {
        [ONE_COUNT] = { "requests", NULL, COUNTER, "Requests by operation." },
        [ONE_ERRORS] = { "requests_failed", NULL, COUNTER, "Requests that failed." },
        [ONE_P50] = { "request_p50_seconds", "seconds", GAUGE,
                      "Median latency of requests in the last window." },
        [ONE_P99] = { "request_p99_seconds", "seconds", GAUGE,
                      "99th percentile of the latency of requests in the last window." },
};
static const Metric operation_latency = { "request_duration_seconds", "seconds", COUNTER,
                                          "Latency of requests." };

static const Metric node_metrics[N_NODE] = {
        [ONE_COUNT] = { "calls", NULL, COUNTER, "Calls into a node." },
        [ONE_ERRORS] = { "call_errors", NULL, COUNTER, "Calls into a node that failed." },
        [ONE_P50] = { "call_p50_seconds", "seconds", GAUGE,
                      "Median latency of calls in the last window, as callers see it." },
        [ONE_P99] = { "call_p99_seconds", "seconds", GAUGE,
                      "99th percentile of the latency of calls in the last window." },
        [ONE_OWN] = { "own_seconds", "seconds", COUNTER, "Own time of a node." },
        [ONE_QUEUED] = { "queued_seconds", "seconds", COUNTER,
                         "The part of own time before a worker took the call." },
        [ONE_NETWORK] = { "network_seconds", "seconds", COUNTER,
                          "Time of calls on the way to a node and back." },
        [ONE_GUESSED] = { "calls_guessed", NULL, COUNTER,
                          "Calls of a node whose parent is not certain." },
        [ONE_WRONG] = { "calls_doubtful", NULL, COUNTER,
                        "Calls of a node that are expected to have a wrong parent." },
        [ONE_WORKERS] = { "workers", NULL, GAUGE, "Workers of a node with a queue before them." },
        [ONE_BUSY] = { "busy_ratio", "ratio", GAUGE,
                       "Mean share of these workers that served in the last window." },
};
static const Metric node_latency = { "call_duration_seconds", "seconds", COUNTER,
                                     "Latency of calls into a node, as callers see it." };

/* The upper bounds of buckets: ns, and seconds as text. */
static const struct {
        gint64 ns;
        const char *seconds;
} buckets[] = { { 100000, "0.0001" },    { 250000, "0.00025" },   { 500000, "0.0005" },
                { 1000000, "0.001" },    { 2500000, "0.0025" },   { 5000000, "0.005" },
                { 10000000, "0.01" },    { 25000000, "0.025" },   { 50000000, "0.05" },
                { 100000000, "0.1" },    { 250000000, "0.25" },   { 500000000, "0.5" },
                { 1000000000, "1.0" },   { 2500000000, "2.5" },   { 5000000000, "5.0" },
                { 10000000000, "10.0" }, { 30000000000, "30.0" }, { G_MAXINT64, "+Inf" } };

enum { N_BUCKETS = G_N_ELEMENTS(buckets) };

/* An operation, a node, or all the others. */
typedef struct {
        char *name;   /* UTF-8 */
        char *labels; /* node="web", for a sample */
        double values[N_NODE];
        guint64 counts[N_BUCKETS]; /* in each bucket alone */
        double seconds;            /* the sum of all latencies */
        Histogram latest;          /* of the current window, ns */
        WorkerLoad load;           /* likewise */
} Series;

typedef struct {
        const char *label; /* "operation" or "node" */
        const Metric *metrics, *latency;
        guint n_metrics;
        GHashTable *by_name; /* to its Series, borrowed */
        GPtrArray *series;   /* of Series, owned */
} SeriesTable;

typedef struct {
        double all[N_ALL];
        SeriesTable operations, nodes;
        MetricsServer *server; /* NULL: none */
        GString *plain, *open;
        gboolean unwritten; /* the file could not be written the last time */
} Metrics;

/* --- sums -------------------------------------------------------------------------- */

static void series_free(gpointer data)
{
        Series *s = data;

        histogram_clear(&s->latest);
        g_free(s->name);
        g_free(s->labels);
        g_free(s);
}

static void series_table_init(SeriesTable *t, const char *label, const Metric *metrics, guint n,
                              const Metric *latency)
{
        *t = (SeriesTable){ .label = label,
                            .metrics = metrics,
                            .latency = latency,
                            .n_metrics = n,
                            .by_name = g_hash_table_new(g_str_hash, g_str_equal),
                            .series = g_ptr_array_new_with_free_func(series_free) };
}

static void series_table_clear(SeriesTable *t)
{
        g_hash_table_unref(t->by_name);
        g_ptr_array_unref(t->series);
}

static char *write_labels(const char *label, const char *name)
{
        GString *text = g_string_new(label);

        g_string_append(text, "=\"");
        for (; *name; name++)
                if (*name == '\n')
                        g_string_append(text, "\\n");
                else if (*name == '"' || *name == '\\')
                        g_string_append_printf(text, "\\%c", *name);
                else
                        g_string_append_c(text, *name);
        g_string_append_c(text, '"');
        return g_string_free(text, FALSE);
}

static Series *series_of(SeriesTable *t, const char *raw)
{
        g_autofree char *name = g_utf8_make_valid(raw, -1);
        Series *s = g_hash_table_lookup(t->by_name, name);

        if (!s && t->series->len >= MOST_SERIES) {
                g_free(name);
                name = g_strdup("other");
                s = g_hash_table_lookup(t->by_name, name);
        }
        if (s)
                return s;
        s = g_new0(Series, 1);
        s->labels = write_labels(t->label, name);
        s->name = g_steal_pointer(&name);
        s->values[ONE_P50] = s->values[ONE_P99] = NAN;
        g_ptr_array_add(t->series, s);
        g_hash_table_insert(t->by_name, s->name, s);
        return s;
}

static void add_requests(Metrics *m, const WatchOperation *o)
{
        Series *s = series_of(&m->operations, o->name);

        s->values[ONE_COUNT] += o->requests;
        s->values[ONE_ERRORS] += o->failed;
        histogram_merge(&s->latest, &o->latency);
}

static double in_seconds(gint128 ns)
{
        return (double)ns / 1e9;
}

static void add_calls(Metrics *m, const WatchWindow *w, NodeId node)
{
        const WatchNode *n = &w->nodes[node];
        Series *s = series_of(&m->nodes, node_table_name(path_set_nodes(w->set), node));
        guint32 n_trust;
        const PathTrust *trust = path_set_trust(w->set, &n_trust);

        s->values[ONE_COUNT] += n->calls;
        s->values[ONE_ERRORS] += n->errors;
        s->values[ONE_OWN] += in_seconds(n->own);
        s->values[ONE_QUEUED] += in_seconds(n->queued);
        s->values[ONE_NETWORK] += in_seconds(n->network);
        if (node < n_trust) {
                s->values[ONE_GUESSED] += trust[node].guessed;
                s->values[ONE_WRONG] += MAX(trust[node].calls - trust[node].right, 0);
        }
        histogram_merge(&s->latest, &n->latency);
        s->load.workers += n->load.workers;
        s->load.served += n->load.served;
}

/* A bin belongs to the bucket that has its middle. */
static void fill_buckets(Series *s)
{
        guint32 first, n;
        g_autofree guint64 *counts = histogram_counts(&s->latest, &first, &n);
        guint bucket = 0;

        for (guint32 i = 0; counts && i < n; i++) {
                gint64 low, high;

                histogram_bin_range(first + i, &low, &high);
                while (low / 2 + high / 2 > buckets[bucket].ns)
                        bucket++;
                s->counts[bucket] += counts[i];
        }
}

static void close_series(SeriesTable *t, const WatchWindow *w)
{
        for (guint i = 0; i < t->series->len; i++) {
                Series *s = t->series->pdata[i];
                gboolean any = s->latest.count > 0;

                fill_buckets(s);
                s->seconds += in_seconds(s->latest.sum);
                s->values[ONE_P50] =
                        any ? in_seconds(histogram_quantile(&s->latest, 0.5)) : (double)NAN;
                s->values[ONE_P99] =
                        any ? in_seconds(histogram_quantile(&s->latest, 0.99)) : (double)NAN;
                if (s->load.workers) {
                        s->values[ONE_WORKERS] = s->load.workers;
                        s->values[ONE_BUSY] = worker_load_busy(&s->load, MAX(w->to - w->from, 1));
                } else
                        s->values[ONE_BUSY] = 0;
                s->load = (WorkerLoad){ 0 };
                histogram_clear(&s->latest);
        }
}

static void add_all(double *all, const WatchWindow *w)
{
        const PathSetSummary *s = path_set_summary(w->set);

        all[ALL_WINDOWS]++;
        all[ALL_WINDOWS_LATE] += !w->in_time;
        all[ALL_PACKETS] += w->counts.packets;
        all[ALL_DROPPED] += w->counts.dropped;
        all[ALL_HOLES] += w->counts.holes;
        all[ALL_LATE] += w->counts.late;
        all[ALL_LONE_CALLS] += s->unmatched_calls;
        all[ALL_LONE_RETURNS] += s->unmatched_returns;
        all[ALL_CUT] += s->cut_instances;
        all[ALL_LOST] += w->cut_before;
        all[ALL_CPU] += in_seconds(w->cpu);
        all[ALL_PARALLELISM] = s->parallelism;
        all[ALL_FIT] = !s->verdict || s->verdict->fit;
        all[ALL_ANSWER] = in_seconds(w->answered);
        all[ALL_LENGTH] = in_seconds(w->to - w->from);
        all[ALL_END] = in_seconds(w->to);
}

/* --- text --------------------------------------------------------------------------- */

/* In OpenMetrics the family of a counter has no "_total"; in Prometheus's older format it has. */
static void append_family(GString *text, const Metric *metric, const char *type, gboolean open)
{
        const char *total = !open && *type == 'c' ? "_total" : "";

        g_string_append_printf(text, "# TYPE ravel_%s%s %s\n", metric->name, total, type);
        if (open && metric->unit)
                g_string_append_printf(text, "# UNIT ravel_%s %s\n", metric->name, metric->unit);
        g_string_append_printf(text, "# HELP ravel_%s%s %s\n", metric->name, total, metric->help);
}

static void append_metric(GString *text, const Metric *metric, gboolean open)
{
        append_family(text, metric, metric->type == COUNTER ? "counter" : "gauge", open);
}

/* labels: as a series has them; NULL: none. */
static void append_sample(GString *text, const Metric *metric, const char *labels, double value)
{
        g_string_append_printf(text, "ravel_%s%s", metric->name,
                               metric->type == COUNTER ? "_total" : "");
        if (labels)
                g_string_append_printf(text, "{%s}", labels);
        g_string_append_c(text, ' ');
        if (isnan(value))
                g_string_append(text, "NaN");
        else
                path_append_number(text, value, "%.15g");
        g_string_append_c(text, '\n');
}

static void append_buckets(GString *text, const Metric *metric, const Series *s)
{
        guint64 below = 0;

        for (guint i = 0; i < N_BUCKETS; i++) {
                below += s->counts[i];
                g_string_append_printf(text,
                                       "ravel_%s_bucket{%s,le=\"%s\"} %" G_GUINT64_FORMAT "\n",
                                       metric->name, s->labels, buckets[i].seconds, below);
        }
        g_string_append_printf(text, "ravel_%s_sum{%s} ", metric->name, s->labels);
        path_append_number(text, s->seconds, "%.15g");
        g_string_append_printf(text, "\nravel_%s_count{%s} %" G_GUINT64_FORMAT "\n", metric->name,
                               s->labels, below);
}

static void append_series(GString *text, const SeriesTable *t, gboolean open)
{
        for (guint k = 0; k < t->n_metrics; k++) {
                append_metric(text, &t->metrics[k], open);
                for (guint i = 0; i < t->series->len; i++) {
                        const Series *s = t->series->pdata[i];

                        if ((k != ONE_WORKERS && k != ONE_BUSY) || s->values[ONE_WORKERS] > 0)
                                append_sample(text, &t->metrics[k], s->labels, s->values[k]);
                }
        }
        append_family(text, t->latency, "histogram", open);
        for (guint i = 0; i < t->series->len; i++)
                append_buckets(text, t->latency, t->series->pdata[i]);
}

static void append_all(GString *text, const Metrics *m, gboolean open)
{
        for (guint k = 0; k < N_ALL; k++) {
                append_metric(text, &all_metrics[k], open);
                append_sample(text, &all_metrics[k], NULL, m->all[k]);
        }
        append_series(text, &m->operations, open);
        append_series(text, &m->nodes, open);
        if (open)
                g_string_append(text, "# EOF\n");
}

/* Says it once if the file cannot be written. */
static gboolean publish(Metrics *m, GError **error)
{
        g_autoptr(GError) wrong = NULL;
        gboolean said = m->unwritten;

        g_string_truncate(m->plain, 0);
        append_all(m->plain, m, FALSE);
        m->unwritten = options.file && !output_file_put(options.file, m->plain, &wrong);
        if (m->server) {
                append_all(m->open, m, TRUE);
                metrics_server_put(m->server, m->plain, m->open);
        }
        if (wrong && !said)
                g_propagate_error(error, g_steal_pointer(&wrong));
        return !m->unwritten || said;
}

/* --- the consumer -------------------------------------------------------------------- */

static void metrics_free(Metrics *m)
{
        metrics_server_free(m->server);
        series_table_clear(&m->operations);
        series_table_clear(&m->nodes);
        g_string_free(m->plain, TRUE);
        g_string_free(m->open, TRUE);
        g_free(m);
}

static gboolean metrics_begin(const WatchSetup *setup, gpointer *self, GError **error)
{
        Metrics *m;

        (void)setup;
        if (!options.file && !options.address)
                return TRUE;
        m = g_new0(Metrics, 1);
        series_table_init(&m->operations, "operation", operation_metrics, N_OPERATION,
                          &operation_latency);
        series_table_init(&m->nodes, "node", node_metrics, N_NODE, &node_latency);
        m->plain = g_string_new(NULL);
        m->open = g_string_new(NULL);
        m->all[ALL_FIT] = 1;
        if ((options.address && !(m->server = metrics_server_new(options.address, error))) ||
            !publish(m, error)) {
                metrics_free(m);
                return FALSE;
        }
        *self = m;
        return TRUE;
}

static gboolean metrics_window(gpointer self, WatchWindow *w, GError **error)
{
        g_autoptr(GArray) ranked = watch_window_rank_nodes(w);
        Metrics *m = self;

        add_all(m->all, w);
        for (guint i = 0; i < w->operations->len; i++)
                add_requests(m, &g_array_index(w->operations, WatchOperation, i));
        for (guint i = 0; i < ranked->len; i++)
                add_calls(m, w, g_array_index(ranked, NodeId, i));
        close_series(&m->operations, w);
        close_series(&m->nodes, w);
        return publish(m, error);
}

static void metrics_end(gpointer self, gboolean whole)
{
        (void)whole;
        metrics_free(self);
}

const WatchConsumer watch_metrics = { .name = "metrics",
                                      .options = entries,
                                      .begin = metrics_begin,
                                      .window = metrics_window,
                                      .end = metrics_end };
