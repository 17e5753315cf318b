/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A line a pattern, fields separated by tabs, for other programs (docs/paths.md
 * names the columns). Times are whole nanoseconds; names and signatures are
 * written as in traces, so that no field holds a tab or a newline.
 */
#include "paths/misassigned.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "paths/verdict.h"
#include "write/path-write.h"
#include "write/way-times.h"

static const char HEADER[] = "rank\tid\tcount\ttotal\tmean\tdeviation\tp50\tp90\tp99\tmin\tmax\t"
                             "probability\tcalls\tslowest\tslowest_own\tnetwork\tsignature\tlabel";

/* Where a path goes on. */
static const char GOES_ON[] = "\tcompletion\tqueued";

/* Where a node has a queue before workers. */
static const char WAITS[] = "\town_queued\tslowest_queued";

/* Where a connection was opened for a call. */
static const char CONNECTS[] = "\tconnecting";

/* Where time on the way has causes. */
static const char WAYS[] = "\tway\tway_time";

/* Where a pattern is probably misassigned. */
static const char MISASSIGNED[] = "\tmisassigned";

/* Where most instances are probably wrong: counts by drawings. */
static const char DRAWN[] = "\tdrawn\tdrawn_error";

static void paths_tsv_append_number(GString *out, double x)
{
        g_string_append_printf(out, "\t%.6g", x);
}

static void append_time(GString *out, gint128 ns)
{
        path_append_integer(out, ns);
        g_string_append_c(out, '\t');
}

/* A time in the cell after the last one. */
static void append_next_time(GString *out, gint128 ns)
{
        g_string_append_c(out, '\t');
        path_append_integer(out, ns);
}

/* Windows are one table, which has the columns of its first. */
static gboolean has_completion(const PathSet *set, const PathWriteOptions *options)
{
        return options->later ? options->goes_on : path_set_goes_on(set);
}

/* All windows have one header, and only some may know of a queue. */
static gboolean shows_waits(const PathSet *set, const PathWriteOptions *options)
{
        return !options->windows && path_set_waits(set);
}

static gboolean shows_connecting(const PathSet *set, const PathWriteOptions *options)
{
        return !options->windows && path_set_connects(set);
}

static gboolean shows_ways(const PathSet *set, const PathWriteOptions *options)
{
        for (guint32 i = 0; !options->windows && i < options->n_patterns; i++) {
                const PathPattern *p = path_set_pattern(set, options->rank[i]);

                for (guint32 k = 0; k < p->n_nodes; k++)
                        if (p->nodes[k].causes)
                                return TRUE;
        }
        return FALSE;
}

/* The edge and cause with most time, and its mean over the paths. */
static void append_way(GString *out, const PathSet *set, const PathPattern *p)
{
        g_autoptr(CollapsedTree) tree = collapsed_tree_new(p, G_MAXUINT32);
        g_autoptr(GArray) ways = way_times_find(tree);
        const WayTime *way = ways->len > 0 ? &g_array_index(ways, WayTime, 0) : NULL;
        g_autofree char *name = way ? way_time_format(way, set, p, tree, G_MAXINT) : g_strdup("-");

        g_string_append_printf(out, "\t%s", name);
        append_next_time(out, way ? way->sum / (gint128)p->count : 0);
}

static void paths_tsv_append_pattern(GString *out, const PathSet *set, const PathPattern *p,
                                     guint32 rank, const PathWriteOptions *options,
                                     const gboolean *misassigned, gboolean ways)
{
        const Histogram *latency = &p->nodes[0].latency;
        const PatternNode *slowest = &p->nodes[path_pattern_slowest(p)];

        g_string_append_printf(out, "%u\t%016" G_GINT64_MODIFIER "x\t%" G_GUINT64_FORMAT "\t",
                               rank + 1, p->id, p->count);
        append_time(out, latency->sum);
        append_time(out, histogram_mean(latency));
        append_time(out, histogram_deviation(latency));
        append_time(out, histogram_quantile(latency, 0.5));
        append_time(out, histogram_quantile(latency, 0.9));
        append_time(out, histogram_quantile(latency, 0.99));
        append_time(out, latency->min);
        append_time(out, latency->max);
        if (path_set_shows_probability(set))
                g_string_append_printf(out, "%.6g", p->probability);
        else
                g_string_append_c(out, '-');
        g_string_append_printf(out, "\t%u\t%s\t", p->n_nodes,
                               node_table_written(path_set_nodes(set), slowest->node));
        append_time(out, histogram_mean(&slowest->own));
        append_time(out, path_pattern_sum(p, NODE_NETWORK) / (gint128)p->count);
        g_string_append_printf(out, "%s\t", p->signature);
        path_append_label_cell(out, p->label);
        if (has_completion(set, options)) {
                g_string_append_c(out, '\t');
                append_time(out, histogram_mean(path_pattern_completion(p)));
                path_append_integer(out, path_pattern_sum(p, NODE_QUEUED) / (gint128)p->count);
        }
        if (shows_waits(set, options)) {
                append_next_time(out, path_pattern_sum(p, NODE_OWN_QUEUED) / (gint128)p->count);
                append_next_time(out, histogram_mean(&slowest->own_queued));
        }
        if (path_set_is_drawn(set) && !options->windows) {
                paths_tsv_append_number(out, p->drawn);
                paths_tsv_append_number(out, p->drawn_error);
        }
        if (shows_connecting(set, options))
                append_next_time(out, path_pattern_sum(p, NODE_CONNECTING) / (gint128)p->count);
        if (ways)
                append_way(out, set, p);
        if (misassigned)
                g_string_append(out, misassigned[options->rank[rank]] ? "\t1" : "\t0");
        g_string_append_c(out, '\n');
}

gboolean path_write_tsv(const PathSet *set, const PathWriteOptions *options, OutputFile *file,
                        GError **error)
{
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree gboolean *misassigned = options->windows ? NULL : misassigned_find(set);
        gboolean ways = shows_ways(set, options);

        if (!options->later)
                g_string_append_printf(out, "%s%s%s%s%s%s%s%s\n",
                                       options->windows ? "window\t" : "", HEADER,
                                       has_completion(set, options) ? GOES_ON : "",
                                       shows_waits(set, options) ? WAITS : "",
                                       path_set_is_drawn(set) && !options->windows ? DRAWN : "",
                                       shows_connecting(set, options) ? CONNECTS : "",
                                       ways ? WAYS : "", misassigned ? MISASSIGNED : "");
        for (guint32 i = 0; i < options->n_patterns; i++) {
                if (options->windows)
                        append_time(out, path_set_summary(set)->first);
                paths_tsv_append_pattern(out, set, path_set_pattern(set, options->rank[i]), i,
                                         options, misassigned, ways);
                if (!output_file_take(file, out, error))
                        return FALSE;
        }
        return output_file_take(file, out, error);
}
