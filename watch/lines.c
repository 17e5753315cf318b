/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A line a window on standard output: JSON, or for people.
 */
#include <unistd.h>

#include "paths/path-text.h"
#include "tracefmt/output-file.h"
#include "watch/consumers.h"
#include "write/json.h"

enum {
        JSON_NODES = 20, /* in a line of JSON, by own time */
        TEXT_NODES = 3,  /* likewise, in a line for people */
};

typedef struct {
        OutputFile *out; /* NULL: its reader has gone */
        GString *text;
        gboolean json;
} Lines;

static gboolean lines_begin(const WatchSetup *setup, gpointer *self, GError **error)
{
        OutputFile *out;
        Lines *lines;

        if (setup->screen && isatty(STDOUT_FILENO))
                return TRUE;
        if (!(out = output_file_new("-", TRUE, error)))
                return FALSE;
        *self = lines = g_new0(Lines, 1);
        lines->out = out;
        lines->text = g_string_new(NULL);
        lines->json = setup->json;
        return TRUE;
}

static double watch_rate(const WatchWindow *w)
{
        return (double)w->requests * 1e9 / (double)MAX(w->to - w->from, 1);
}

/* --- JSON -------------------------------------------------------------------- */

static void put_moment(Json *j, const char *key, gint64 time)
{
        g_autofree char *moment = path_format_moment(time, 6);

        json_put_plain(j, key, moment);
}

static void put_latency(Json *j, const Histogram *latency)
{
        json_put_integer(j, "p50_ns", histogram_quantile(latency, 0.5));
        json_put_integer(j, "p99_ns", histogram_quantile(latency, 0.99));
        json_put_integer(j, "mean_ns", histogram_mean(latency));
        json_put_integer(j, "max_ns", latency->count ? latency->max : 0);
}

static void put_watch_node(Json *j, const char *name, const WatchNode *n)
{
        json_open(j, '{');
        json_put_string(j, "node", name);
        json_put_count(j, "calls", n->calls);
        json_put_count(j, "errors", n->errors);
        json_put_integer(j, "own_ns", (gint64)n->own);
        json_put_integer(j, "queued_ns", (gint64)n->queued);
        json_put_integer(j, "network_ns", (gint64)n->network);
        json_close(j, '}');
}

static void put_nodes(Json *j, const WatchWindow *w)
{
        g_autoptr(GArray) ranked = watch_window_rank_nodes(w);

        json_put_open(j, "nodes", '[');
        for (guint i = 0; i < MIN(ranked->len, JSON_NODES); i++) {
                NodeId node = g_array_index(ranked, NodeId, i);

                put_watch_node(j, node_table_name(path_set_nodes(w->set), node), &w->nodes[node]);
        }
        json_close(j, ']');
}

static void put_counts(Json *j, const WatchWindow *w)
{
        const PathSetSummary *s = path_set_summary(w->set);

        json_put_count(j, "calls", s->calls);
        json_put_count(j, "unmatched_calls", s->unmatched_calls);
        json_put_count(j, "unmatched_returns", s->unmatched_returns);
        json_put_count(j, "cut", s->cut_instances);
        json_put_count(j, "cut_before", w->cut_before);
        json_put_count(j, "packets", w->counts.packets);
        json_put_count(j, "dropped", w->counts.dropped);
        json_put_count(j, "holes", w->counts.holes);
        json_put_count(j, "late", w->counts.late);
}

static void put_work(Json *j, const WatchWindow *w)
{
        json_put_boolean(j, "in_time", w->in_time);
        json_put_boolean(j, "live", w->live);
        json_put_integer(j, "answered_ns", w->answered);
        json_put_integer(j, "cpu_ns", w->cpu);
        json_put_integer(j, "next_window_ns", w->span);
}

static void append_json(GString *text, const WatchWindow *w)
{
        const Verdict *verdict = path_set_summary(w->set)->verdict;
        Json j = JSON_IN(text);

        json_open(&j, '{');
        json_put_plain(&j, "format", "ravel-watch");
        json_put_count(&j, "version", 1);
        json_put_count(&j, "window", w->number);
        put_moment(&j, "from", w->from);
        put_moment(&j, "to", w->to);
        json_put_count(&j, "requests", w->requests);
        json_put_number(&j, "rate", watch_rate(w), "%.6g");
        json_put_count(&j, "failed", w->failed);
        put_latency(&j, &w->latency);
        put_counts(&j, w);
        json_put_string(&j, "judgement", verdict ? verdict->judgement : NULL);
        json_put_boolean(&j, "fit", !verdict || verdict->fit);
        json_put_string(&j, "store", w->store);
        put_work(&j, w);
        put_nodes(&j, w);
        json_close(&j, '}');
        g_string_append_c(text, '\n');
}

/* --- for people -------------------------------------------------------------- */

static void append_top_nodes(GString *text, const WatchWindow *w)
{
        g_autoptr(GArray) ranked = watch_window_rank_nodes(w);
        gint128 all = 0;

        for (NodeId i = 0; i < w->n_nodes; i++)
                all += w->nodes[i].own;
        for (guint i = 0; i < MIN(ranked->len, TEXT_NODES); i++) {
                NodeId node = g_array_index(ranked, NodeId, i);
                g_autofree char *share = path_format_share(w->nodes[node].own, all);

                g_string_append_printf(text, "%s%s %s", i ? ", " : "  ",
                                       node_table_written(path_set_nodes(w->set), node), share);
        }
}

static void append_text(GString *text, const WatchWindow *w)
{
        const Verdict *verdict = path_set_summary(w->set)->verdict;
        g_autofree char *moment = path_format_moment(w->from, 6);
        g_autofree char *p50 = path_format_duration(histogram_quantile(&w->latency, 0.5));
        g_autofree char *p99 = path_format_duration(histogram_quantile(&w->latency, 0.99));
        g_autofree char *requests = path_format_count(w->requests);

        g_string_append_printf(text, "%.8s  %s requests  %.3g/s  p50 %s  p99 %s", moment + 11,
                               requests, watch_rate(w), p50, p99);
        if (w->failed)
                g_string_append_printf(text, "  %" G_GUINT64_FORMAT " failed", w->failed);
        append_top_nodes(text, w);
        if (w->counts.dropped)
                g_string_append_printf(text, "  %" G_GUINT64_FORMAT " packets dropped",
                                       w->counts.dropped);
        if (!w->in_time)
                g_string_append(text, "  late");
        if (verdict && !verdict->fit)
                g_string_append_printf(text, "  %s", verdict->judgement);
        g_string_append_c(text, '\n');
}

static gboolean lines_window(gpointer self, WatchWindow *window, GError **error)
{
        Lines *lines = self;

        if (!lines->out)
                return TRUE;
        (lines->json ? append_json : append_text)(lines->text, window);
        if (output_file_take(lines->out, lines->text, error) &&
            output_file_flush(lines->out, error))
                return TRUE;
        g_clear_pointer(&lines->out, output_file_free);
        return FALSE;
}

static void lines_end(gpointer self, gboolean whole)
{
        Lines *lines = self;

        (void)whole;
        if (lines->out)
                output_file_close(lines->out, NULL);
        g_string_free(lines->text, TRUE);
        g_free(lines);
}

const WatchConsumer watch_lines = {
        .name = "lines", .begin = lines_begin, .window = lines_window, .end = lines_end
};
