/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The patterns with all their nodes as JSON (docs/paths.md has the schema).
 */
#include "base/each.h"
#include "paths/misassigned.h"
#include "paths/path-clocks.h"
#include "paths/verdict.h"
#include "write/json.h"
#include "write/path-write.h"

/* null where it is none. */
static void put_index(Json *j, const char *key, guint32 i, guint32 none)
{
        json_key(j, key);
        if (i == none)
                json_null(j);
        else
                json_count(j, i);
}

/* --- patterns --------------------------------------------------------------- */

/* An empty histogram has no extremes; 0 stands for them. */
static void put_statistics(Json *j, const Histogram *h)
{
        json_put_time(j, "total", h->sum);
        json_put_time(j, "mean", histogram_mean(h));
        json_put_time(j, "deviation", histogram_deviation(h));
        json_put_time(j, "p50", histogram_quantile(h, 0.5));
        json_put_time(j, "p90", histogram_quantile(h, 0.9));
        json_put_time(j, "p99", histogram_quantile(h, 0.99));
        json_put_time(j, "min", h->min);
        json_put_time(j, "max", h->max);
}

/* Nothing where there is no operation, as of most traces. */
static void put_label(Json *j, const char *label)
{
        if (label)
                json_put_string(j, "label", label);
}

static void put_part(Json *j, const char *key, const Histogram *h)
{
        json_line(j, 9);
        json_put_open(j, key, '{');
        put_statistics(j, h);
        json_close(j, '}');
}

static void put_faults(Json *j, const PatternNode *node)
{
        const NodeFaults *f = &node->faults;
        char outcome[OUTCOME_TEXT + 1];

        outcome_write(f->outcome, outcome);
        json_line(j, 9);
        json_put_count(j, "errors", f->errors);
        json_put_string(j, "outcome", *outcome ? outcome : NULL);
        json_put_time(j, "good_own", pattern_node_good_own(node));
        json_put_count(j, "culprits", f->culprits);
        json_put_count(j, "retries", f->retries);
        json_put_time(j, "lost", f->lost);
}

/* Parts of network, of the calls that have them. */
static void put_causes(Json *j, const PatternNode *node)
{
        if (!node->causes)
                return;
        json_line(j, 9);
        json_put_open(j, "causes", '{');
        for (guint i = 0; i < N_WAY_CAUSES; i++) {
                const Histogram *h = &node->causes[i];

                if (h->count == 0)
                        continue;
                json_line(j, 10);
                json_put_open(j, way_cause_name(i), '{');
                json_put_count(j, "calls", h->count);
                put_statistics(j, h);
                json_close(j, '}');
        }
        json_close(j, '}');
}

static void put_node(Json *j, const PathSet *set, const PathPattern *p, guint32 i)
{
        const PatternNode *node = &p->nodes[i];
        const struct {
                const char *key;
                const Histogram *histogram;
        } parts[] = { { "latency", &node->latency },
                      { "call_delay", &node->call_delay },
                      { "own", &node->own },
                      { "network", &node->network },
                      { "queued", &node->queued } };
        /* Of a set in which nothing goes on nothing lies in queues. */
        gsize n_parts = G_N_ELEMENTS(parts) - !path_set_goes_on(set);

        json_line(j, 8);
        json_open(j, '{');
        json_put_count(j, "index", i);
        put_index(j, "parent", node->parent, NO_PARENT);
        json_put_count(j, "depth", node->depth);
        json_put_string(j, "name", node_table_name(path_set_nodes(set), node->node));
        put_label(j, node->label);
        if (node->label)
                json_put_count(j, "labels", node->n_labels);
        if (path_set_goes_on(set) || work_is_missed(node->continues))
                json_put_string(j, "continues", path_continues_name(node->continues));
        for (gsize k = 0; k < n_parts; k++)
                put_part(j, parts[k].key, parts[k].histogram);
        if (node->connecting.count > 0)
                put_part(j, "connecting", &node->connecting);
        put_causes(j, node);
        if (node->workers > 0) {
                json_line(j, 9);
                json_put_count(j, "workers", node->workers);
                put_part(j, "own_queued", &node->own_queued);
                put_part(j, "serving", &node->serving);
        }
        if (node->faults.errors + node->faults.retries > 0)
                put_faults(j, node);
        json_close(j, '}');
}

/* null where what was captured is not fit: the summary says why. */
static void paths_json_put_probability(Json *j, const PathSet *set, double p)
{
        json_key(j, "probability");
        if (path_set_shows_probability(set))
                json_number(j, p, "%.6g");
        else
                json_null(j);
}

/* By drawings, where most instances are probably wrong. */
static void paths_json_put_drawn(Json *j, const PathPattern *p)
{
        json_put_number(j, "drawn", p->drawn, "%.6g");
        json_put_number(j, "drawn_error", p->drawn_error, "%.6g");
}

static gboolean paths_json_put_pattern(Json *j, const PathSet *set, const PathPattern *p,
                                       guint32 rank, gboolean misassigned, OutputFile *file,
                                       GError **error)
{
        int doubt = path_set_find_doubt(set, p);

        json_line(j, 4);
        json_open(j, '{');
        json_put_count(j, "rank", rank + 1);
        json_put_id(j, "id", p->id);
        json_line(j, 5);
        json_put_string(j, "signature", p->signature);
        put_label(j, p->label);
        json_line(j, 5);
        json_put_string(j, "client", node_table_name(path_set_nodes(set), p->client));
        json_line(j, 5);
        json_put_count(j, "count", p->count);
        if (path_set_is_drawn(set))
                paths_json_put_drawn(j, p);
        paths_json_put_probability(j, set, p->probability);
        put_index(j, "doubt", (guint32)doubt, (guint32)-1);
        if (misassigned)
                json_put_boolean(j, "misassigned", TRUE);
        json_put_count(j, "slowest", path_pattern_slowest(p));
        json_line(j, 5);
        put_statistics(j, &p->nodes[0].latency);
        json_line(j, 5);
        if (path_set_goes_on(set)) {
                json_put_open(j, "completion", '{');
                put_statistics(j, path_pattern_completion(p));
                json_close(j, '}');
                json_line(j, 5);
        }
        if (p->failed > 0) {
                json_put_count(j, "failed", p->failed);
                json_put_open(j, "good", '{');
                put_statistics(j, &p->good);
                json_close(j, '}');
                json_line(j, 5);
        }
        json_put_open(j, "nodes", '[');
        for (guint32 i = 0; i < p->n_nodes; i++) {
                put_node(j, set, p, i);
                if (!output_file_take(file, j->text, error))
                        return FALSE;
        }
        json_close(j, ']');
        json_close(j, '}');
        return output_file_take(file, j->text, error);
}

/* --- the summary ------------------------------------------------------------- */

static void put_bound(Json *j, const char *key, gint64 ns, gint64 none)
{
        json_key(j, key);
        if (ns == none)
                json_null(j);
        else
                json_time(j, ns);
}

static void put_stamp(Json *j, const char *key, gint64 time)
{
        json_line(j, 4);
        put_bound(j, key, time, NO_TIME);
}

static void put_total(Json *j, const char *key, guint64 n)
{
        json_line(j, 4);
        json_put_count(j, key, n);
}

/* How far to trust parents, by the node that makes the calls. */
static void put_trust(Json *j, const PathSet *set)
{
        guint32 n;
        const PathTrust *trust = path_set_trust(set, &n);

        json_line(j, 4);
        json_put_open(j, "parents", '[');
        for (NodeId node = 0; node < n; node++) {
                if (trust[node].calls == 0)
                        continue;
                json_line(j, 6);
                json_open(j, '{');
                json_put_string(j, "name", node_table_name(path_set_nodes(set), node));
                json_put_count(j, "calls", trust[node].calls);
                json_put_count(j, "guessed", trust[node].guessed);
                paths_json_put_probability(j, set, trust[node].right / (double)trust[node].calls);
                json_close(j, '}');
        }
        json_close(j, ']');
}

/* What was put right, and what only looks like a clock. */
static void put_clocks(Json *j, const PathSet *set)
{
        const GArray *clocks = path_set_summary(set)->clocks;

        json_line(j, 4);
        json_put_open(j, "clocks", '[');
        for (guint i = 0; clocks && i < clocks->len; i++) {
                const ClockOffset *c = &g_array_index(clocks, ClockOffset, i);

                json_line(j, 6);
                json_open(j, '{');
                json_put_string(j, "name", node_table_name(path_set_nodes(set), c->node));
                json_put_boolean(j, "put_right", !c->doubtful);
                json_put_time(j, "by", path_clock_by(c));
                put_bound(j, "least", path_clock_least(c), G_MININT64);
                put_bound(j, "most", path_clock_most(c), G_MAXINT64);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void put_doubt(Json *j, const Doubt *d, const NodeTable *nodes)
{
        g_autofree char *text = doubt_to_text(d, nodes, TRUE);

        json_line(j, 6);
        json_open(j, '{');
        json_put_string(j, "caller",
                        d->caller == NO_NODE ? NULL : node_table_name(nodes, d->caller));
        json_put_string(j, "callee", node_table_name(nodes, d->callee));
        json_put_string(j, "reason", doubt_word(d->reason));
        json_put_count(j, "count", d->count);
        json_put_count(j, "of", d->of);
        json_put_string(j, "kind", *d->kind ? d->kind : NULL);
        if (d->of_bytes) {
                json_put_time(j, "bytes", d->bytes);
                json_put_time(j, "of_bytes", d->of_bytes);
        }
        json_line(j, 7);
        json_put_string(j, "text", text);
        json_close(j, '}');
}

/* null where nobody judged. */
static void put_verdict(Json *j, const PathSet *set)
{
        const Verdict *v = path_set_summary(set)->verdict;

        json_line(j, 4);
        json_put_string(j, "judgement", v ? v->judgement : NULL);
        json_key(j, "fit");
        if (v)
                json_boolean(j, v->fit);
        else
                json_null(j);
        if (v)
                json_line(j, 4);
        json_put_open(j, "doubts", '[');
        for (guint i = 0; v && i < v->doubts->len; i++)
                put_doubt(j, &g_array_index(v->doubts, Doubt, i), path_set_nodes(set));
        json_close(j, ']');
}

/* Nodes with a queue before workers. */
static void put_workers(Json *j, const PathSet *set)
{
        const PathSetSummary *summary = path_set_summary(set);
        gint64 time = summary->last - summary->first;
        guint32 n;
        const WorkerLoad *load = path_set_workers(set, &n);

        json_line(j, 4);
        json_put_open(j, "workers", '[');
        for (NodeId id = 0; id < n && time > 0; id++) {
                if (load[id].served <= 0)
                        continue;
                json_line(j, 6);
                json_open(j, '{');
                json_put_string(j, "name", node_table_name(path_set_nodes(set), id));
                json_put_count(j, "workers", load[id].workers);
                json_put_number(j, "busy", worker_load_busy(&load[id], time), "%.4f");
                json_put_time(j, "served", load[id].served / (gint64)load[id].calls);
                json_put_time(j, "waited", load[id].waited / (gint64)load[id].calls);
                json_put_number(j, "full_at", worker_load_most(&load[id]), "%.6g");
                json_put_number(j, "now", 1e9 * (double)load[id].calls / (double)time, "%.6g");
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void paths_json_put_summary(Json *j, const PathSet *set)
{
        const PathSetSummary *summary = path_set_summary(set);

        json_put_open(j, "summary", '{');
        json_line(j, 4);
        json_put_string(j, "method", summary->method);
        if (summary->model) {
                json_line(j, 4);
                json_put_string(j, "model", summary->model);
        }
        put_total(j, "messages", summary->messages);
        put_total(j, "calls", summary->calls);
        put_total(j, "unmatched_calls", summary->unmatched_calls);
        put_total(j, "unmatched_returns", summary->unmatched_returns);
        put_total(j, "cut_paths", summary->cut_instances);
        json_line(j, 4);
        json_key(j, "parallelism");
        if (summary->parallelism > 0)
                json_number(j, summary->parallelism, "%.6f");
        else
                json_null(j);
        put_stamp(j, "first", summary->first);
        put_stamp(j, "last", summary->last);
        put_total(j, "paths", path_set_instances(set));
        put_total(j, "patterns", path_set_size(set));
        put_clocks(j, set);
        if (path_set_waits(set))
                put_workers(j, set);
        if (!path_set_graph(set))
                put_trust(j, set);
        put_verdict(j, set);
        json_close(j, '}');
}

/* --- the graph of linear patterns -------------------------------------------- */

static void put_vertex(Json *j, const PathSet *set, guint32 i)
{
        const PathVertex *v = path_graph_vertex(path_set_graph(set), i);

        json_line(j, 4);
        json_open(j, '{');
        json_put_count(j, "vertex", i);
        put_index(j, "parent", v->parent, NO_VERTEX);
        json_put_string(j, "name", node_table_name(path_set_nodes(set), v->node));
        json_put_count(j, "count", v->count);
        paths_json_put_probability(j, set, v->probability);
        json_put_string(j, "end", v->end == PATH_GOES_ON ? NULL : path_end_name(v->end));
        json_put_open(j, "delays", '[');
        EACH (const PathDelay, d, v->delays) {
                json_open(j, '{');
                json_put_time(j, "delay", d->delay);
                json_put_count(j, "count", d->count);
                json_close(j, '}');
        }
        json_close(j, ']');
        json_close(j, '}');
}

/* Nothing of others. */
static gboolean put_graph(Json *j, const PathSet *set, OutputFile *file, GError **error)
{
        const PathGraph *graph = path_set_graph(set);

        if (!graph)
                return TRUE;
        json_line(j, 2);
        json_put_open(j, "graph", '[');
        for (guint32 i = 0; i < path_graph_size(graph); i++) {
                put_vertex(j, set, i);
                if (!output_file_take(file, j->text, error))
                        return FALSE;
        }
        json_close(j, ']');
        return TRUE;
}

gboolean path_write_json(const PathSet *set, const PathWriteOptions *options, OutputFile *file,
                         GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree gboolean *misassigned = misassigned_find(set);
        Json j = JSON_IN(text);

        json_open_document(&j, "ravel paths");
        paths_json_put_summary(&j, set);
        json_line(&j, 2);
        json_put_open(&j, "patterns", '[');
        for (guint32 i = 0; i < options->n_patterns; i++)
                if (!paths_json_put_pattern(&j, set, path_set_pattern(set, options->rank[i]), i,
                                            misassigned && misassigned[options->rank[i]], file,
                                            error))
                        return FALSE;
        json_close(&j, ']');
        if (!put_graph(&j, set, file, error))
                return FALSE;
        g_string_append_c(text, '\n');
        json_close(&j, '}');
        g_string_append_c(text, '\n');
        return output_file_take(file, text, error);
}
