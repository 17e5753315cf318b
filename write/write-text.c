/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The answer for a person at a terminal: what was read, then the ranked table of the patterns
 * (section 5.4 sorts by frequency or total latency). The first few have a tree with each node's
 * share of the time.
 */
#include "base/compare.h"
#include "paths/path-text.h"
#include "write/path-write.h"

#include <math.h>
#include <string.h>

#include "base/printable.h"
#include "paths/collapsed-tree.h"
#include "paths/misassigned.h"
#include "paths/pattern-text.h"
#include "paths/verdict.h"
#include "write/text-parts.h"
#include "write/text-table.h"
#include "write/way-times.h"

enum {
        TREES = 3,       /* patterns drawn as trees */
        TREE_ROWS = 40,  /* nodes drawn of one; json and tsv have them all */
        TREE_DEPTH = 16, /* deeper nodes are no further to the right */
        NAME_WIDTH = 24, /* of a node's name in the ranked table */
        OPERATION_WIDTH = 32,
        SIGNATURE_LINES = 6, /* of a signature on a terminal that is narrower */
        LEGEND_WIDTH = 100,  /* where there is no terminal */
        DOUBTFUL = 3,        /* nodes whose calls' parents are trusted least, by name */
};

#define BOLD   "\033[1m"
#define MARKED "\033[1;31m" /* seen on white and on black */
#define PLAIN  "\033[0m"

static const char *const SIGNATURE_BREAKS = "(,>";

static gboolean any_doubt(const PathSet *set, const PathWriteOptions *options)
{
        if (!path_set_shows_probability(set))
                return FALSE;
        for (guint32 i = 0; i < options->n_patterns; i++)
                if (path_set_outline(set, options->rank[i])->probability < 1)
                        return TRUE;
        return FALSE;
}

static gboolean any_mark(const PathSet *set, const PathWriteOptions *options)
{
        for (guint32 i = 0; i < options->n_patterns; i++)
                if (path_set_find_doubt(set, path_set_pattern(set, options->rank[i])) >= 0)
                        return TRUE;
        return FALSE;
}

/* "catalog 64 %", "web > db (resent) 77 %" */
static char *format_slowest(const PathSet *set, const PathPattern *p)
{
        g_autoptr(CollapsedTree) tree = collapsed_tree_new(p, G_MAXUINT32);
        const CollapsedCall *v = &tree->vertices[collapsed_tree_slowest(tree)];
        g_autoptr(GArray) ways = way_times_find(tree);
        const WayTime *way = ways->len > 0 ? &g_array_index(ways, WayTime, 0) : NULL;
        gint128 queued = path_pattern_sum(p, NODE_QUEUED);

        if (way && way->sum > MAX(v->all.own.sum, queued)) {
                g_autofree char *edge = way_time_format(way, set, p, tree, NAME_WIDTH);
                g_autofree char *share = path_format_share(way->sum, path_pattern_total(p));

                return g_strdup_printf("%s %s", edge, share);
        }
        if (queued > v->all.own.sum) {
                g_autofree char *share = path_format_share(queued, path_pattern_total(p));

                return g_strdup_printf("(queued) %s", share);
        }
        gboolean waits = v->all.own_queued.sum > v->all.serving.sum;
        gint128 most = waits ? v->all.own_queued.sum : v->all.own.sum;
        g_autofree char *share = path_format_share(most, path_pattern_total(p));
        const char *name = node_table_written(path_set_nodes(set), v->all.node);
        g_autofree char *short_name = text_shorten(name, NAME_WIDTH);
        g_autofree char *times = collapsed_call_times(v);

        return g_strdup_printf("%s%s %s%s", short_name, times, waits ? "(queued) " : "", share);
}

static char *format_operation(const char *label)
{
        g_autofree char *text = label ? printable_new(label, PRINTABLE_TEXT) : g_strdup("");

        return text_shorten(text, OPERATION_WIDTH);
}

static gboolean any_operation(const PathSet *set, const PathWriteOptions *options)
{
        for (guint32 i = 0; i < options->n_patterns; i++)
                if (path_set_outline(set, options->rank[i])->label)
                        return TRUE;
        return FALSE;
}

/* With the mark of a doubtful pattern; a blank keeps the numbers of others in line. */
static char *format_rank(const PathSet *set, const PathPattern *p, guint32 i, gboolean mark)
{
        g_autofree char *rank = path_format_count(i + 1);

        if (!mark)
                return g_steal_pointer(&rank);
        return g_strconcat(rank, path_set_find_doubt(set, p) >= 0 ? DOUBT_MARK : " ", NULL);
}

/* The patterns that have rows of their own, in order; the others are told of in one. */
typedef struct {
        guint32 *rank, *place; /* pattern; its place among all, from 0 */
        guint32 n, n_left_out;
        guint64 paths_left_out;
} Rows;

static void rows_clear(Rows *r)
{
        g_free(r->rank);
        g_free(r->place);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Rows, rows_clear)

static Rows find_rows(const PathSet *set, const PathWriteOptions *options)
{
        guint32 size = path_set_size(set);
        Rows r = { .rank = g_new(guint32, size + (gsize)1),
                   .place = g_new(guint32, size + (gsize)1) };
        g_autofree gboolean *misassigned = options->all ? NULL : misassigned_find(set);

        for (guint32 i = 0; i < size; i++) {
                guint32 pattern = options->rank[i];

                if (misassigned && misassigned[pattern]) {
                        r.n_left_out++;
                        r.paths_left_out += path_set_outline(set, pattern)->count;
                } else if (r.n < options->n_patterns) {
                        r.rank[r.n] = pattern;
                        r.place[r.n++] = i;
                }
        }
        return r;
}

/* The row of the patterns that have none. */
static void write_left_out(const Rows *r, const PathWriteOptions *options, GString *out)
{
        g_autofree char *patterns = path_format_count(r->n_left_out),
                        *paths = path_format_count(r->paths_left_out);
        g_autofree char *text = g_strdup_printf(
                "%s %s of %d paths or fewer, %s %s, probably misassigned: -n 0 shows them.",
                patterns, r->n_left_out == 1 ? "pattern" : "patterns", MISASSIGNED_PATHS, paths,
                r->paths_left_out == 1 ? "path" : "paths");

        if (r->n_left_out > 0)
                text_append_wrapped(out, text, " ", 6, options->columns);
}

/* By drawings, of as many instances as they count. */
static gint64 text_total_of(const PathSet *set, const PathPattern *p)
{
        const Histogram *latency = &p->nodes[0].latency;

        if (path_set_is_drawn(set))
                return llround((double)histogram_mean(latency) * p->drawn);
        return (gint64)CLAMP(latency->sum, G_MININT64, G_MAXINT64);
}

static gboolean any_failed(const PathSet *set, const PathWriteOptions *options)
{
        for (guint32 i = 0; i < options->n_patterns; i++)
                if (path_set_outline(set, options->rank[i])->failed > 0)
                        return TRUE;
        return FALSE;
}

/* The median of the paths that did not fail. */
static char *format_good(const PathPattern *p)
{
        const Histogram *good = path_pattern_good(p);

        return good->count > 0 ? path_format_duration(histogram_quantile(good, 0.5)) : g_strdup("");
}

static TextTable *rank_table(const PathSet *set, const PathWriteOptions *options,
                             const guint32 *place)
{
        TextTable *table = text_table_new();
        gboolean doubt = any_doubt(set, options), mark = any_mark(set, options);
        gboolean operation = any_operation(set, options), goes_on = path_set_goes_on(set);
        gboolean failed = any_failed(set, options);

        text_table_add_column(table, "rank", TEXT_RIGHT, 0);
        text_table_add_column(table, "count", TEXT_RIGHT, 0);
        if (path_set_is_drawn(set))
                text_table_add_column(table, "found", TEXT_RIGHT, 0);
        text_table_add_column(table, "total", TEXT_RIGHT, 0);
        text_table_add_column(table, "mean", TEXT_RIGHT, 0);
        text_table_add_column(table, "p50", TEXT_RIGHT, 3);
        text_table_add_column(table, "p99", TEXT_RIGHT, 1);
        text_table_add_column(table, failed ? "failed" : "", TEXT_RIGHT, 0);
        text_table_add_column(table, failed ? "p50 of good" : "", TEXT_RIGHT, 4);
        if (goes_on)
                text_table_add_column(table, "completion", TEXT_RIGHT, 2);
        text_table_add_column(table, doubt ? "prob" : "", TEXT_RIGHT, 4);
        text_table_add_column(table, "most time in", TEXT_LEFT, 2);
        text_table_add_column(table, operation ? "operation" : "", TEXT_LEFT, 0);
        text_table_add_column(table, "path", TEXT_LEFT, 5);
        for (guint32 i = 0; i < options->n_patterns; i++) {
                const PathPattern *p = path_set_pattern(set, options->rank[i]);
                const Histogram *latency = &p->nodes[0].latency;

                text_table_add(table, format_rank(set, p, place[i], mark));
                if (path_set_is_drawn(set))
                        text_table_add(table, path_format_drawn(p->drawn, p->drawn_error));
                text_table_add(table, path_format_count(p->count));
                text_table_add(table, path_format_duration(text_total_of(set, p)));
                text_table_add(table, path_format_duration(histogram_mean(latency)));
                text_table_add(table, path_format_duration(histogram_quantile(latency, 0.5)));
                text_table_add(table, path_format_duration(histogram_quantile(latency, 0.99)));
                text_table_add(table, failed ? path_format_count(p->failed) : g_strdup(""));
                text_table_add(table, failed ? format_good(p) : g_strdup(""));
                if (goes_on)
                        text_table_add(table, path_format_duration(
                                                      histogram_mean(path_pattern_completion(p))));
                text_table_add(table,
                               doubt ? path_format_probability(p->probability) : g_strdup(""));
                text_table_add(table, format_slowest(set, p));
                text_table_add(table, format_operation(p->label));
                text_table_add(table, path_short_signature(p->signature));
        }
        return table;
}

/* A signature as long as a screen helps nobody; it is cut where a terminal's
 * width is known, and says so. */
static void text_write_signature(GString *out, const PathPattern *p, guint indent, guint columns)
{
        guint room = columns > indent + 10 ? (columns - indent) * SIGNATURE_LINES : 0;
        g_autofree char *signature = path_short_signature(p->signature);

        if (columns == 0 || text_width(signature) <= room) {
                text_append_wrapped(out, signature, SIGNATURE_BREAKS, indent, columns);
                return;
        }
        g_autofree char *start = text_shorten(signature, MAX(room, 60));
        g_autofree char *count = path_format_count(p->n_nodes);
        text_append_line(out, SIGNATURE_BREAKS, indent, columns, "%s (%s calls in all)", start,
                         count);
}

static void write_heading(GString *out, const TextTable *table, const PathWriteOptions *options,
                          guint indent)
{
        g_string_append_printf(out, "%*s%s", (int)indent, "", options->colour ? BOLD : "");
        text_table_write_row(table, -1, out);
        g_string_append_printf(out, "%s\n", options->colour ? PLAIN : "");
}

static void write_rank_table(const PathSet *set, const PathWriteOptions *options,
                             const guint32 *place, GString *out)
{
        guint path_column = 11 + path_set_goes_on(set) + path_set_is_drawn(set);
        g_autoptr(TextTable) table = rank_table(set, options, place);

        text_table_fit(table, options->columns);
        write_heading(out, table, options, 0);
        for (guint32 i = 0; i < options->n_patterns; i++) {
                text_table_write_row(table, (int)i, out);
                g_string_append_c(out, '\n');
                if (!text_table_shows(table, path_column))
                        text_write_signature(out, path_set_pattern(set, options->rank[i]), 6,
                                             options->columns);
        }
}

/* Indented by depth, unless they are a line; the root with its client. */
static char *tree_name(const PathSet *set, const PathPattern *p, const CollapsedCall *v,
                       guint width)
{
        const PatternNode *node = &v->all;
        gboolean is_root = v->parent == NO_PARENT;
        const char *name = node_table_written(path_set_nodes(set), node->node);
        g_autofree char *times = collapsed_call_times(v);
        g_autofree char *text = NULL, *shortened = NULL;

        if (!is_root && path_set_graph(set))
                return text_shorten(name, width);
        const char *sign = work_goes_on(node->continues) ? "~> " : "";
        g_autofree char *marked =
                work_is_missed(node->continues)
                        ? g_strdup_printf("%s (%s)", name, path_continues_name(node->continues))
                        : g_strdup(name);
        if (is_root) {
                const char *client = node_table_written(path_set_nodes(set), p->client);
                g_autofree char *edge = text_shorten_edge(client, name, width);

                if (node->continues == WORK_UNANSWERED)
                        return g_strconcat(edge, " (no answer)", NULL);
                if (!work_goes_on(node->continues))
                        return g_steal_pointer(&edge);
                char *from = strstr(edge, " > "); /* no name has a blank */
                return g_strdup_printf("%.*s ~> %s", (int)(from - edge), edge, from + 3);
        }
        if (node->depth <= MIN(TREE_DEPTH, width / 4)) {
                text = g_strdup_printf("%*s%s%s", 2 * (int)node->depth, "", sign, marked);
        } else {
                text = g_strdup_printf("%*s%s%s (%u deep)", 2 * (int)MIN(TREE_DEPTH, width / 4), "",
                                       sign, marked, node->depth);
        }
        shortened = text_shorten(text, MAX(width, strlen(times) + 3) - strlen(times));
        return g_strconcat(shortened, times, NULL);
}

static const char *slowest_mark(guint columns)
{
        return columns > 0 && columns < 60 ? "<-" : "<- most time";
}

/* What a node's name may take beside the columns that a terminal has room for. */
static guint tree_name_width(guint columns)
{
        enum { INDENT = 4, OWN = 10, SHARE = 7, MARK = 14, SHORT_MARK = 4, OTHERS = 20 };

        if (columns == 0)
                return 200;
        if (columns >= 72)
                return columns - (INDENT + OWN + SHARE + MARK + OTHERS);
        if (columns >= 60)
                return columns - (INDENT + OWN + SHARE + MARK);
        return MAX(columns, 35) - (INDENT + OWN + SHARE + SHORT_MARK);
}

/* When a message of a linear path is at a node, from the path's start. */
static gint64 arrival(const PathPattern *p, const PatternNode *node)
{
        return histogram_mean(&p->nodes[0].latency) - histogram_mean(&node->latency) +
               histogram_mean(&node->network);
}

/* Nothing where nothing is known. */
static char *format_if(const PathPattern *p, const CollapsedCall *v, const Histogram *h)
{
        return h->count > 0 ? path_format_duration(collapsed_call_mean(v, p, h)) : g_strdup("");
}

/* Own time of a call that is not in error, where others are. */
static char *format_good_own(const CollapsedCall *v)
{
        gint64 own = pattern_node_good_own(&v->all);

        return v->all.faults.errors > 0 && own > 0 ? path_format_duration(own) : g_strdup("");
}

static void add_tree_row(TextTable *table, const PathSet *set, const PathPattern *p,
                         const CollapsedCall *v, gboolean slowest, guint columns)
{
        const PatternNode *node = &v->all;
        g_autofree char *operation = path_node_operation(node);

        text_table_add(table, tree_name(set, p, v, tree_name_width(columns)));
        text_table_add(table, operation ? text_shorten(operation, OPERATION_WIDTH) : g_strdup(""));
        if (path_set_graph(set)) {
                text_table_add(table, path_format_duration(arrival(p, node)));
        } else {
                text_table_add(table,
                               v->parent == NO_PARENT
                                       ? g_strdup("")
                                       : path_format_duration(histogram_mean(&node->call_delay)));
                text_table_add(table, path_format_duration(histogram_mean(&node->latency)));
        }
        text_table_add(table, path_format_duration(collapsed_call_mean(v, p, &node->own)));
        if (fault_text_has_errors(p)) {
                text_table_add(table, node->faults.errors ? path_format_count(node->faults.errors)
                                                          : g_strdup(""));
                text_table_add(table, format_good_own(v));
        }
        if (path_set_waits(set)) {
                text_table_add(table, format_if(p, v, &node->own_queued));
                text_table_add(table, format_if(p, v, &node->serving));
        }
        if (path_set_goes_on(set))
                text_table_add(table, node->queued.sum > 0 ? format_if(p, v, &node->queued)
                                                           : g_strdup(""));
        text_table_add(table, path_format_share(node->own.sum, path_pattern_total(p)));
        text_table_add(table, g_strdup(slowest ? slowest_mark(columns) : ""));
}

/* A row of time on the way, of all paths of the pattern. name is taken. */
static void add_way_row(TextTable *table, const PathSet *set, const PathPattern *p, char *name,
                        gint128 sum, gboolean slowest, guint columns)
{
        text_table_add(table, name);
        text_table_add(table, g_strdup(""));
        text_table_add(table, g_strdup(""));
        if (!path_set_graph(set))
                text_table_add(table, g_strdup(""));
        text_table_add(table, path_format_duration((gint64)(sum / (gint128)p->count)));
        for (guint i = 0;
             i < 2U * fault_text_has_errors(p) + 2U * path_set_waits(set) + path_set_goes_on(set);
             i++)
                text_table_add(table, g_strdup(""));
        text_table_add(table, path_format_share(sum, path_pattern_total(p)));
        text_table_add(table, g_strdup(slowest ? slowest_mark(columns) : ""));
}

/* A row for each edge and cause, and one for the rest. slowest: the first has the mark. */
static void add_way_rows(TextTable *table, const PathSet *set, const PathPattern *p,
                         const CollapsedTree *tree, const GArray *ways, gboolean slowest,
                         guint columns)
{
        gint128 rest = path_pattern_sum(p, NODE_NETWORK);

        for (guint i = 0; i < MIN(ways->len, TREE_ROWS); i++) {
                const WayTime *way = &g_array_index(ways, WayTime, i);

                if (!(slowest && i == 0) && !way_time_is_shown(p, way->cause, way->sum))
                        continue;
                add_way_row(table, set, p,
                            way_time_format(way, set, p, tree, tree_name_width(columns)), way->sum,
                            slowest && i == 0, columns);
                rest -= way->sum;
        }
        if (rest > 0)
                add_way_row(table, set, p, g_strdup("(network)"), rest, FALSE, columns);
}

/* The vertices that are shown: the first ones, and the slowest wherever it is. */
static TextTable *tree_table(const PathSet *set, const PathPattern *p, const CollapsedTree *tree,
                             guint32 n_shown, guint32 slowest, const GArray *ways,
                             gboolean way_is_slowest, guint columns)
{
        TextTable *table = text_table_new();
        gboolean operation = FALSE;

        for (guint32 i = 0; i < tree->n_vertices; i++)
                operation |= tree->vertices[i].all.label != NULL;
        text_table_add_column(table, "node", TEXT_LEFT, 0);
        text_table_add_column(table, operation ? "operation" : "", TEXT_LEFT, 4);
        if (path_set_graph(set)) {
                text_table_add_column(table, "at", TEXT_RIGHT, 3);
                text_table_add_column(table, "stay", TEXT_RIGHT, 0);
        } else {
                text_table_add_column(table, "after", TEXT_RIGHT, 3);
                text_table_add_column(table, "latency", TEXT_RIGHT, 2);
                text_table_add_column(table, "own time", TEXT_RIGHT, 0);
        }
        if (fault_text_has_errors(p)) {
                text_table_add_column(table, "errors", TEXT_RIGHT, 0);
                text_table_add_column(table, "own if good", TEXT_RIGHT, 2);
        }
        if (path_set_waits(set)) {
                text_table_add_column(table, path_set_goes_on(set) ? "own queued" : "queued",
                                      TEXT_RIGHT, 0);
                text_table_add_column(table, "serving", TEXT_RIGHT, 0);
        }
        if (path_set_goes_on(set))
                text_table_add_column(table, "queued", TEXT_RIGHT, 1);
        text_table_add_column(table, "share", TEXT_RIGHT, 0);
        text_table_add_column(table, "", TEXT_LEFT, 0);
        for (guint32 i = 0; i < n_shown; i++)
                add_tree_row(table, set, p, &tree->vertices[i], i == slowest && !way_is_slowest,
                             columns);
        if (slowest >= n_shown)
                add_tree_row(table, set, p, &tree->vertices[slowest], !way_is_slowest, columns);
        add_way_rows(table, set, p, tree, ways, way_is_slowest, columns);
        text_table_fit(table, columns == 0 ? 0 : MAX(columns, 5) - 4);
        return table;
}

static void write_tree(const PathSet *set, const PathWriteOptions *options, guint32 rank,
                       guint32 place, GString *out)
{
        const PathPattern *p = path_set_pattern(set, options->rank[rank]);
        g_autoptr(CollapsedTree) tree = collapsed_tree_new(p, G_MAXUINT32);
        guint32 n_shown = MIN(tree->n_vertices, TREE_ROWS), slowest = collapsed_tree_slowest(tree);
        g_autoptr(GArray) ways = way_times_find(tree);
        gboolean way = ways->len > 0 &&
                       g_array_index(ways, WayTime, 0).sum > tree->vertices[slowest].all.own.sum;
        g_autoptr(TextTable) table =
                tree_table(set, p, tree, n_shown, slowest, ways, way, options->columns);
        guint32 marked = way ? n_shown + (slowest >= n_shown) : MIN(slowest, n_shown); /* row */
        guint32 left = tree->n_vertices - n_shown - (slowest >= n_shown);

        g_string_append_printf(out, "\n%s%u.%s ", options->colour ? BOLD : "", place + 1,
                               options->colour ? PLAIN : "");
        if (p->label) {
                g_autofree char *label = printable_new(p->label, PRINTABLE_TEXT);

                g_string_append_printf(out, "%s\n", label);
        }
        gsize start = out->len;
        text_write_signature(out, p, 4, options->columns);
        if (!p->label)
                g_string_erase(out, (gssize)start, 3); /* where the rank is */
        write_heading(out, table, options, 4);
        for (guint row = 0; row < text_table_rows(table); row++) {
                gboolean mark = row == marked && options->colour;
                g_string_append_printf(out, "    %s", mark ? MARKED : "");
                text_table_write_row(table, (int)row, out);
                g_string_append_printf(out, "%s\n", mark ? PLAIN : "");
        }
        fault_text_append_missed(out, set, p, tree, options->columns);
        if (left > 0) {
                g_autofree char *count = path_format_count(left);
                text_append_line(out, " ", 4, options->columns,
                                 "... %s more %s; --format json has all", count,
                                 path_set_graph(set) ? "nodes" : "calls");
        }
        fault_text_append(out, set, p, tree, options->columns);
}

/* "2,250" or "16.5" */
static char *format_rate(double a_second)
{
        return a_second < 100 ? g_strdup_printf("%.3g", a_second)
                              : path_format_count((guint64)(a_second + 0.5));
}

/* "db: 2 workers, 61 % busy; a call is served 12.2 ms and waits 5.80 ms; full at 165 calls/s, now
 * 100." */
static void write_load(const char *written, const WorkerLoad *l, gint64 time, guint columns,
                       GString *out)
{
        g_autofree char *name = text_shorten(written, NAME_WIDTH);
        g_autofree char *served = path_format_duration(l->served / (gint64)l->calls);
        g_autofree char *waited = path_format_duration(l->waited / (gint64)l->calls);
        g_autofree char *most = format_rate(worker_load_most(l));
        g_autofree char *now = format_rate(1e9 * (double)l->calls / (double)time);
        text_append_line(
                out, " ", 0, columns,
                "%s: %u worker%s, %.0f %% busy; a call is served %s and waits %s; full at %s "
                "calls/s, now %s.",
                name, l->workers, l->workers == 1 ? "" : "s", 100 * worker_load_busy(l, time),
                served, waited, most, now);
}

static void write_workers(const PathSet *set, guint columns, GString *out)
{
        const PathSetSummary *summary = path_set_summary(set);
        guint32 n;
        const WorkerLoad *load = path_set_workers(set, &n);
        text_append_line(out, " ", 0, columns,
                         "%s: what of own time a call waited for a worker. serving: the "
                         "rest of it.",
                         path_set_goes_on(set) ? "own queued" : "queued");
        for (NodeId id = 0; id < n && summary->last > summary->first; id++)
                if (load[id].served > 0)
                        write_load(node_table_written(path_set_nodes(set), id), &load[id],
                                   summary->last - summary->first, columns, out);
}

/* What helps against the causes that have rows. */
static void write_remedies(const PathSet *set, const PathWriteOptions *options, guint columns,
                           GString *out)
{
        guint shown = 0;

        for (guint32 i = 0; i < options->n_patterns; i++)
                shown |= way_times_shown(path_set_pattern(set, options->rank[i]));
        for (guint cause = 0; cause < N_WAY_CAUSES; cause++) {
                const char *remedy = way_cause_remedy(cause);

                if (remedy && shown & 1U << cause) {
                        text_append_line(out, " ", 0, columns, "%s: %s.", way_cause_name(cause),
                                         remedy);
                }
        }
}

static void write_legend(const PathSet *set, const PathWriteOptions *options, GString *out)
{
        guint columns = options->columns ? options->columns : LEGEND_WIDTH;
        gboolean linear = path_set_graph(set) != NULL;

        text_append_wrapped(
                out,
                linear ? "Means of all messages that end the path. at: when the node gets the "
                         "message, from the start of the path. stay: from then until it sends the "
                         "next one; stays add up to the time of the path."
                       : "Means of all paths of the pattern. after: from when its caller was "
                         "called to this call. latency: what the caller waits, calls below "
                         "included. own time: what only this node accounts for; own times add up "
                         "to the latency of the path.",
                " ", 0, columns);
        if (path_set_waits(set))
                write_workers(set, columns, out);
        write_remedies(set, options, columns, out);
        if (path_set_goes_on(set))
                text_append_wrapped(out,
                                    "~>: its caller does not wait for it. completion: until all of "
                                    "that is done, too. queued: how long the message lay at its "
                                    "caller; own and queued times add up to the completion.",
                                    " ", 0, columns);
        if (any_operation(set, options))
                text_append_wrapped(out,
                                    "operation: what was asked of the node; +2: or one of 2 "
                                    "others, most often the one shown.",
                                    " ", 0, columns);
        if (any_doubt(set, options))
                text_append_wrapped(
                        out,
                        linear ? "prob: how probable it is that no edge of the path is an accident."
                               : "prob: how probable it is that a path is right, in the mean: each "
                                 "call made these calls and no others.",
                        " ", 0, columns);
        if (any_mark(set, options))
                text_append_wrapped(out, DOUBT_MARK ": " DOUBT_MEANING ".", " ", 0, columns);
}

/* --- how far to trust it ---------------------------------------------------- */

typedef struct {
        NodeId node;
        double right; /* the share of parents that should be */
} Doubtful;

COMPARISON(compare_doubtful, Doubtful, COMPARE(a->right, b->right) ?: COMPARE(a->node, b->node))

/* The nodes that make calls whose parents had to be guessed, least certain first; of Doubtful. */
static GArray *find_doubtful(const PathSet *set)
{
        GArray *doubtful = g_array_new(FALSE, FALSE, sizeof(Doubtful));
        guint32 n;
        const PathTrust *trust = path_set_trust(set, &n);

        for (NodeId node = 0; node < n; node++)
                if (trust[node].guessed > 0) {
                        Doubtful d = { node, trust[node].right / (double)trust[node].calls };
                        g_array_append_val(doubtful, d);
                }
        g_array_sort(doubtful, compare_doubtful);
        return doubtful;
}

static const double SURE = 0.95; /* a node whose calls are right so often needs no warning */

static char *format_right(double share)
{
        int percent = (int)floor(100 * share + 0.5);

        if (percent >= 100)
                return g_strdup("over 99 %");
        return percent < 1 ? g_strdup("under 1 %") : g_strdup_printf("about %d %%", percent);
}

/* Nothing where nothing had to be guessed: the table has no column prob then, either. */
static void write_trust(const PathSet *set, const PathWriteOptions *options, GString *out)
{
        g_autoptr(GArray) doubtful = find_doubtful(set);
        g_autoptr(GString) text = g_string_new(NULL);
        guint named = MIN(doubtful->len, DOUBTFUL);

        if (doubtful->len == 0 || !path_set_shows_probability(set))
                return;
        for (guint i = 0; i < named; i++) {
                const Doubtful *d = &g_array_index(doubtful, Doubtful, i);
                g_autofree char *right = format_right(d->right);
                g_autofree char *name =
                        text_shorten(node_table_written(path_set_nodes(set), d->node), NAME_WIDTH);

                g_string_append_printf(
                        text,
                        i == 0 ? "Of the parents of the calls that %s makes %s should be right"
                               : ", of %s's %s",
                        name, right);
        }
        if (doubtful->len > named)
                g_string_append_printf(text, ", of %u other %s more", doubtful->len - named,
                                       doubtful->len - named == 1 ? "node's" : "nodes'");
        if (named > 1 && g_array_index(doubtful, Doubtful, 0).right <= SURE) {
                g_autofree char *least =
                        text_shorten(node_table_written(path_set_nodes(set),
                                                        g_array_index(doubtful, Doubtful, 0).node),
                                     NAME_WIDTH);
                g_string_append_printf(text, ": trust what is below %s least", least);
        }
        g_string_append_c(text, '.');
        text_append_wrapped(out, text->str, " ", 0,
                            options->columns ? options->columns : LEGEND_WIDTH);
}

gboolean path_write_text(const PathSet *set, const PathWriteOptions *options, OutputFile *file,
                         GError **error)
{
        g_autoptr(GString) out = g_string_new(NULL);
        g_auto(Rows) rows = find_rows(set, options);
        PathWriteOptions shown = *options;

        shown.rank = rows.rank;
        shown.n_patterns = rows.n;
        text_write_summary(set, &shown, out);
        if (options->n_patterns == 0)
                return output_file_write(file, out->str, out->len, error);
        g_string_append_c(out, '\n');
        if (rows.n > 0)
                write_rank_table(set, &shown, rows.place, out);
        write_left_out(&rows, options, out);
        for (guint32 i = 0; i < MIN(rows.n, TREES); i++)
                write_tree(set, &shown, i, rows.place[i], out);
        g_string_append_c(out, '\n');
        write_legend(set, &shown, out);
        write_trust(set, options, out);
        return output_file_write(file, out->str, out->len, error);
}
