/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The patterns with all their nodes as JSON (docs/paths.md has the schema). Ids
 * and times are strings: a reader whose numbers are doubles would round them.
 */
#include "paths/path-clocks.h"
#include "paths/verdict.h"
#include "paths/write/path-text.h"
#include "paths/write/path-write.h"

static void append_time(GString *out, const char *key, gint128 ns)
{
        char digits[PATH_INTEGER_SIZE];

        g_string_append_printf(out, "\"%s\": \"%s\"", key, path_format_integer(ns, digits));
}

/* An empty histogram has no extremes; 0 stands for them. */
static void append_statistics(GString *out, const Histogram *h)
{
        append_time(out, "total", h->sum);
        g_string_append(out, ", ");
        append_time(out, "mean", histogram_mean(h));
        g_string_append(out, ", ");
        append_time(out, "deviation", histogram_deviation(h));
        g_string_append(out, ", ");
        append_time(out, "p50", histogram_quantile(h, 0.5));
        g_string_append(out, ", ");
        append_time(out, "p90", histogram_quantile(h, 0.9));
        g_string_append(out, ", ");
        append_time(out, "p99", histogram_quantile(h, 0.99));
        g_string_append(out, ", ");
        append_time(out, "min", h->min);
        g_string_append(out, ", ");
        append_time(out, "max", h->max);
}

static void append_node(GString *out, const PathSet *set, const PathPattern *p, guint32 i)
{
        const PatternNode *node = &p->nodes[i];
        const struct {
                const char *key;
                const Histogram *histogram;
        } parts[] = { { "latency", &node->latency },
                      { "call_delay", &node->call_delay },
                      { "own", &node->own },
                      { "network", &node->network } };

        g_string_append_printf(out, "%s\n        {\"index\": %u, \"parent\": ", i > 0 ? "," : "",
                               i);
        if (node->parent == NO_PARENT)
                g_string_append(out, "null");
        else
                g_string_append_printf(out, "%u", node->parent);
        g_string_append_printf(out, ", \"depth\": %u, \"name\": ", node->depth);
        path_append_json_string(out, node_table_name(path_set_nodes(set), node->node));
        for (gsize k = 0; k < G_N_ELEMENTS(parts); k++) {
                g_string_append_printf(out, ",\n         \"%s\": {", parts[k].key);
                append_statistics(out, parts[k].histogram);
                g_string_append_c(out, '}');
        }
        g_string_append_c(out, '}');
}

/* null where what was captured is not fit: the summary says why. */
static void append_probability(GString *out, const PathSet *set, double p)
{
        char probability[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append(out, path_set_shows_probability(set)
                                     ? g_ascii_formatd(probability, sizeof probability, "%.6g", p)
                                     : "null");
}

static gboolean write_pattern(const PathSet *set, const PathPattern *p, guint32 rank,
                              OutputFile *file, GError **error)
{
        g_autoptr(GString) out = g_string_new(rank > 0 ? ",\n    {" : "\n    {");
        int doubt = path_set_find_doubt(set, p);

        g_string_append_printf(out, "\"rank\": %u, \"id\": \"%016" G_GINT64_MODIFIER "x\",\n",
                               rank + 1, p->id);
        g_string_append(out, "     \"signature\": ");
        path_append_json_string(out, p->signature);
        g_string_append(out, ",\n     \"client\": ");
        path_append_json_string(out, node_table_name(path_set_nodes(set), p->client));
        g_string_append_printf(
                out, ",\n     \"count\": %" G_GUINT64_FORMAT ", \"probability\": ", p->count);
        append_probability(out, set, p->probability);
        if (doubt >= 0)
                g_string_append_printf(out, ", \"doubt\": %d", doubt);
        else
                g_string_append(out, ", \"doubt\": null");
        g_string_append_printf(out, ", \"slowest\": %u,\n     ", path_pattern_slowest(p));
        append_statistics(out, &p->nodes[0].latency);
        g_string_append(out, ",\n     \"nodes\": [");
        for (guint32 i = 0; i < p->n_nodes; i++) {
                append_node(out, set, p, i);
                if (out->len < 1 << 16)
                        continue;
                if (!output_file_write(file, out->str, out->len, error))
                        return FALSE;
                g_string_truncate(out, 0);
        }
        g_string_append(out, "]}");
        return output_file_write(file, out->str, out->len, error);
}

static void append_stamp(GString *out, const char *key, gint64 time)
{
        g_string_append(out, ",\n    ");
        if (time == NO_TIME)
                g_string_append_printf(out, "\"%s\": null", key);
        else
                append_time(out, key, time);
}

static void append_count(GString *out, const char *key, guint64 n)
{
        g_string_append_printf(out, ",\n    \"%s\": %" G_GUINT64_FORMAT, key, n);
}

/* How far to trust parents, by the node that makes the calls. */
static void append_trust(GString *out, const PathSet *set)
{
        guint32 n;
        const PathTrust *trust = path_set_trust(set, &n);
        const char *separator = "";

        g_string_append(out, ",\n    \"parents\": [");
        for (NodeId node = 0; node < n; node++) {
                if (trust[node].calls == 0)
                        continue;
                g_string_append_printf(out, "%s\n      {\"name\": ", separator);
                path_append_json_string(out, node_table_name(path_set_nodes(set), node));
                g_string_append_printf(out,
                                       ", \"calls\": %" G_GUINT64_FORMAT
                                       ", \"guessed\": %" G_GUINT64_FORMAT ", \"probability\": ",
                                       trust[node].calls, trust[node].guessed);
                append_probability(out, set, trust[node].right / (double)trust[node].calls);
                g_string_append_c(out, '}');
                separator = ",";
        }
        g_string_append_c(out, ']');
}

static void append_bound(GString *out, const char *key, gint64 ns, gint64 none)
{
        g_string_append(out, ", ");
        if (ns == none)
                g_string_append_printf(out, "\"%s\": null", key);
        else
                append_time(out, key, ns);
}

/* What was put right, and what only looks like a clock. */
static void append_clocks(GString *out, const PathSet *set)
{
        const GArray *clocks = path_set_summary(set)->clocks;

        g_string_append(out, ",\n    \"clocks\": [");
        for (guint i = 0; clocks && i < clocks->len; i++) {
                const ClockOffset *c = &g_array_index(clocks, ClockOffset, i);

                g_string_append_printf(out, "%s\n      {\"name\": ", i > 0 ? "," : "");
                path_append_json_string(out, node_table_name(path_set_nodes(set), c->node));
                g_string_append_printf(out, ", \"put_right\": %s, ",
                                       c->doubtful ? "false" : "true");
                append_time(out, "by", path_clock_by(c));
                append_bound(out, "least", path_clock_least(c), G_MININT64);
                append_bound(out, "most", path_clock_most(c), G_MAXINT64);
                g_string_append_c(out, '}');
        }
        g_string_append_c(out, ']');
}

static void append_doubt(GString *out, const Doubt *d, const NodeTable *nodes)
{
        g_autofree char *text = doubt_to_text(d, nodes, TRUE);

        g_string_append(out, "{\"caller\": ");
        if (d->caller == NO_NODE)
                g_string_append(out, "null");
        else
                path_append_json_string(out, node_table_name(nodes, d->caller));
        g_string_append(out, ", \"callee\": ");
        path_append_json_string(out, node_table_name(nodes, d->callee));
        g_string_append_printf(out,
                               ", \"reason\": \"%s\", \"count\": %" G_GUINT64_FORMAT
                               ", \"of\": %" G_GUINT64_FORMAT ", \"kind\": ",
                               doubt_word(d->reason), d->count, d->of);
        if (*d->kind)
                path_append_json_string(out, d->kind);
        else
                g_string_append(out, "null");
        if (d->of_bytes)
                g_string_append_printf(out,
                                       ", \"bytes\": \"%" G_GUINT64_FORMAT
                                       "\", \"of_bytes\": \"%" G_GUINT64_FORMAT "\"",
                                       d->bytes, d->of_bytes);
        g_string_append(out, ",\n       \"text\": ");
        path_append_json_string(out, text);
        g_string_append_c(out, '}');
}

/* null where nobody judged. */
static void append_verdict(GString *out, const PathSet *set)
{
        const Verdict *v = path_set_summary(set)->verdict;

        if (!v) {
                g_string_append(out, ",\n    \"judgement\": null, \"fit\": null, \"doubts\": []");
                return;
        }
        g_string_append(out, ",\n    \"judgement\": ");
        path_append_json_string(out, v->judgement);
        g_string_append_printf(out, ", \"fit\": %s,\n    \"doubts\": [", v->fit ? "true" : "false");
        for (guint i = 0; i < v->doubts->len; i++) {
                g_string_append(out, i > 0 ? ",\n      " : "\n      ");
                append_doubt(out, &g_array_index(v->doubts, Doubt, i), path_set_nodes(set));
        }
        g_string_append_c(out, ']');
}

static gboolean write_summary(const PathSet *set, OutputFile *file, GError **error)
{
        const PathSetSummary *summary = path_set_summary(set);
        g_autoptr(GString) out = g_string_new(NULL);

        g_string_append(out,
                        "{\n  \"format\": \"ravel paths\", \"version\": 1,\n  \"summary\": {\n");
        g_string_append(out, "    \"method\": ");
        path_append_json_string(out, summary->method);
        append_count(out, "messages", summary->messages);
        append_count(out, "calls", summary->calls);
        append_count(out, "unmatched_calls", summary->unmatched_calls);
        append_count(out, "unmatched_returns", summary->unmatched_returns);
        append_count(out, "cut_paths", summary->cut_instances);
        if (summary->parallelism > 0)
                g_string_append_printf(out, ",\n    \"parallelism\": %.6f", summary->parallelism);
        else
                g_string_append(out, ",\n    \"parallelism\": null");
        append_stamp(out, "first", summary->first);
        append_stamp(out, "last", summary->last);
        append_count(out, "paths", path_set_instances(set));
        append_count(out, "patterns", path_set_size(set));
        append_clocks(out, set);
        if (!path_set_graph(set))
                append_trust(out, set);
        append_verdict(out, set);
        g_string_append(out, "},\n  \"patterns\": [");
        return output_file_write(file, out->str, out->len, error);
}

static void append_vertex(GString *out, const PathSet *set, guint32 i)
{
        const PathVertex *v = path_graph_vertex(path_set_graph(set), i);

        g_string_append_printf(out, "%s\n    {\"vertex\": %u, \"parent\": ", i > 0 ? "," : "", i);
        if (v->parent == NO_VERTEX)
                g_string_append(out, "null");
        else
                g_string_append_printf(out, "%u", v->parent);
        g_string_append(out, ", \"name\": ");
        path_append_json_string(out, node_table_name(path_set_nodes(set), v->node));
        g_string_append_printf(out,
                               ", \"count\": %" G_GUINT64_FORMAT ", \"probability\": ", v->count);
        append_probability(out, set, v->probability);
        g_string_append(out, ", \"end\": ");
        if (v->end == PATH_GOES_ON)
                g_string_append(out, "null");
        else
                path_append_json_string(out, path_end_name(v->end));
        g_string_append(out, ", \"delays\": [");
        for (guint k = 0; k < v->delays->len; k++) {
                const PathDelay *d = &g_array_index(v->delays, PathDelay, k);

                g_string_append(out, k > 0 ? ", {" : "{");
                append_time(out, "delay", d->delay);
                g_string_append_printf(out, ", \"count\": %" G_GUINT64_FORMAT "}", d->count);
        }
        g_string_append(out, "]}");
}

/* Of linear patterns; nothing of others. */
static gboolean write_graph(const PathSet *set, OutputFile *file, GError **error)
{
        const PathGraph *graph = path_set_graph(set);
        g_autoptr(GString) out = g_string_new(",\n  \"graph\": [");

        if (!graph)
                return TRUE;
        for (guint32 i = 0; i < path_graph_size(graph); i++) {
                append_vertex(out, set, i);
                if (out->len < 1 << 16)
                        continue;
                if (!output_file_write(file, out->str, out->len, error))
                        return FALSE;
                g_string_truncate(out, 0);
        }
        g_string_append_c(out, ']');
        return output_file_write(file, out->str, out->len, error);
}

gboolean path_write_json(const PathSet *set, const PathWriteOptions *options, OutputFile *file,
                         GError **error)
{
        static const char end[] = "\n}\n";

        if (!write_summary(set, file, error))
                return FALSE;
        for (guint32 i = 0; i < options->n_patterns; i++)
                if (!write_pattern(set, path_set_pattern(set, options->rank[i]), i, file, error))
                        return FALSE;
        return output_file_write(file, "]", 1, error) && write_graph(set, file, error) &&
               output_file_write(file, end, sizeof end - 1, error);
}
