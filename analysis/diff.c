/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/binomial.h"
#include "store/stored-patterns.h"

enum {
        MAX_VERTICES = 150, /* of a tree */
        N_BATCHES = 50,     /* of consecutive paths */
        SMALLEST_BATCH = 8, /* of paths, of which a variance says something */
};

/* What one path counts for is measured with batches of these many. */
static const guint batch_widths[] = { 1, 2, 5 };

/* The probability that an interval is wrong; delays and counts have half each. */
#define CHANCE 0.05

/* Without single paths it cannot be measured how much they come in bursts. */
#define GUESSED_DEPENDENCE 4

const double diff_quantiles[N_DIFF_QUANTILES] = { 0.5, 0.99 };
const char *const diff_quantile_names[N_DIFF_QUANTILES] = { "p50", "p99" };

typedef struct {
        gint64 start, latency;
        guint32 pattern; /* index into Diff.by_pattern */
} Moment;

/* One run, while both are compared. */
typedef struct {
        StoreReader *reader;
        GArray *pattern_of;  /* of guint32: by the store's pattern, index into Diff.by_pattern */
        GArray *medians;     /* of Medians: the same */
        PathPattern *tested; /* by index into Diff.by_pattern, DIFF_TESTED at most */
        Histogram all;
        GArray *own;        /* of Histogram, by NodeId */
        GArray *queued;     /* likewise, of what goes on to it */
        GArray *node_paths; /* of guint64, by NodeId: paths that it is on */
        GArray *moments;
        double *count_dependence; /* by index into Diff.by_pattern */
        double drawn_error;       /* of counts by drawings, the mean of a path's: a share of 1 */
} Run;

/* Of a pattern of the store; several are one of Diff.by_pattern where labels are not compared. */
typedef struct {
        gint64 quantiles[N_DIFF_QUANTILES];
        guint64 count;
} Medians;

static DiffPattern *diff_pattern_at(const Diff *d, guint32 i)
{
        return &g_array_index(d->by_pattern, DiffPattern, i);
}

/* --- reading --------------------------------------------------------------- */

static gboolean diff_add_patterns(Diff *d, Run *run, int side, GHashTable *by_key, GError **error)
{
        gboolean labels = d->has_labels[DIFF_A] && d->has_labels[DIFF_B];
        g_autoptr(GArray) patterns = stored_patterns_load(run->reader, error);

        for (guint32 k = 0; patterns && k < patterns->len; k++) {
                const StoredPattern *stored = stored_pattern_at(patterns, k);
                Medians medians = { { stored->completion.p50, stored->completion.p99 },
                                    stored->count };
                g_autofree char *key = stored_pattern_key(stored, labels);
                gpointer known;
                guint32 i = d->by_pattern->len;

                if (g_hash_table_lookup_extended(by_key, key, NULL, &known)) {
                        i = GPOINTER_TO_UINT(known);
                } else {
                        const char *label = labels ? stored->label : NULL;
                        DiffPattern p = { .key = g_steal_pointer(&key),
                                          .signature = g_strdup(stored->signature),
                                          .label = g_strdup(label),
                                          .id = path_pattern_id(label, stored->signature),
                                          .client = stored->client };

                        g_array_append_val(d->by_pattern, p);
                        g_hash_table_insert(by_key, p.key, GUINT_TO_POINTER(i));
                }
                DiffPattern *p = diff_pattern_at(d, i);
                p->count[side] += stored->count;
                p->number[side] += stored->is_drawn ? stored->drawn : (double)stored->count;
                p->error[side] += stored->drawn_error; /* all of one thing learned */
                run->drawn_error += stored->drawn_error;
                d->is_drawn[side] |= stored->is_drawn;
                d->probability[side] += stored->probability * (double)stored->count;
                if (__builtin_add_overflow(p->total[side], stored->completion.total,
                                           &p->total[side]))
                        p->total[side] = G_MAXINT64;
                p->mean[side] = p->count[side] == stored->count
                                        ? stored->completion.mean
                                        : p->total[side] / (gint64)p->count[side];
                d->paths[side] += stored->count;
                d->patterns[side]++;
                g_array_append_val(run->pattern_of, i);
                g_array_append_val(run->medians, medians);
        }
        run->drawn_error /= (double)MAX(d->paths[side], 1);
        d->probability[side] /= (double)MAX(d->paths[side], 1);
        return patterns != NULL;
}

static int diff_compare_patterns(const void *va, const void *vb)
{
        const DiffPattern *a = va, *b = vb;
        gint128 total_a = (gint128)a->total[DIFF_A] + a->total[DIFF_B];
        gint128 total_b = (gint128)b->total[DIFF_A] + b->total[DIFF_B];
        gboolean both_a = a->count[DIFF_A] && a->count[DIFF_B];
        gboolean both_b = b->count[DIFF_A] && b->count[DIFF_B];

        if (both_a != both_b)
                return both_a ? -1 : 1;
        if (total_a != total_b)
                return total_a > total_b ? -1 : 1;
        return strcmp(a->key, b->key);
}

/* Those in both runs first, and of these the ones to be tested. */
static void diff_rank_patterns(Diff *d, Run *runs)
{
        g_autoptr(GHashTable) place = g_hash_table_new(g_str_hash, g_str_equal);
        g_autofree char **keys = g_new(char *, d->by_pattern->len);

        for (guint i = 0; i < d->by_pattern->len; i++)
                keys[i] = diff_pattern_at(d, i)->key;
        g_array_sort(d->by_pattern, diff_compare_patterns);
        for (guint i = 0; i < d->by_pattern->len; i++) {
                DiffPattern *p = diff_pattern_at(d, i);

                p->tested = i < DIFF_TESTED && p->count[DIFF_A] && p->count[DIFF_B];
                g_hash_table_insert(place, p->key, GUINT_TO_POINTER(i));
        }
        for (int side = 0; side < N_SIDES; side++)
                for (guint i = 0; i < runs[side].pattern_of->len; i++) {
                        guint32 *at = &g_array_index(runs[side].pattern_of, guint32, i);
                        *at = GPOINTER_TO_UINT(g_hash_table_lookup(place, keys[*at]));
                }
}

static Histogram *own_of(Run *run, NodeId node)
{
        if (run->own->len <= node) {
                g_array_set_size(run->own, node + 1);
                g_array_set_size(run->queued, node + 1);
                g_array_set_size(run->node_paths, node + 1);
        }
        return &g_array_index(run->own, Histogram, node);
}

static Histogram *queued_of(Run *run, NodeId node)
{
        own_of(run, node);
        return &g_array_index(run->queued, Histogram, node);
}

/* The time of a path: its completion time if it goes on. */
static const StoredHistogram *time_of(const StoredPatternNode *node)
{
        return node->completion.n > 0 ? &node->completion : &node->latency;
}

static gboolean add_tested(Run *run, PathPattern *p, const StoredPatternNode *stored,
                           gboolean labels, GError **error)
{
        PatternNode *node;

        if (stored->place == p->n_nodes)
                path_pattern_append(p, stored->node, stored->parent)->label =
                        labels ? g_intern_string(stored->label) : NULL;
        node = &p->nodes[stored->place];
        return store_reader_histogram(run->reader, time_of(stored), &node->latency, error) &&
               store_reader_histogram(run->reader, &stored->call_delay, &node->call_delay, error) &&
               store_reader_histogram(run->reader, &stored->own, &node->own, error);
}

static gboolean diff_read_nodes(const Diff *d, Run *run, GError **error)
{
        g_autoptr(GArray) last = g_array_new(FALSE, TRUE, sizeof(guint32)); /* pattern + 1 */
        gboolean labels = d->has_labels[DIFF_A] && d->has_labels[DIFF_B];
        StoredPatternNode n;
        int status;

        while ((status = store_reader_next_pattern_node(run->reader, &n, error)) > 0) {
                guint32 pattern = g_array_index(run->pattern_of, guint32, n.pattern);
                const DiffPattern *p = diff_pattern_at(d, pattern);

                if (!store_reader_histogram(run->reader, &n.own, own_of(run, n.node), error) ||
                    (n.queued.n > 0 && n.continues == WORK_QUEUED &&
                     !store_reader_histogram(run->reader, &n.queued, queued_of(run, n.node),
                                             error)) ||
                    (n.place == 0 &&
                     !store_reader_histogram(run->reader, time_of(&n), &run->all, error)) ||
                    (p->tested && !add_tested(run, &run->tested[pattern], &n, labels, error)))
                        return FALSE;
                if (last->len <= n.node)
                        g_array_set_size(last, n.node + 1);
                if (g_array_index(last, guint32, n.node) != n.pattern + 1)
                        g_array_index(run->node_paths, guint64, n.node) +=
                                g_array_index(run->medians, Medians, n.pattern).count;
                g_array_index(last, guint32, n.node) = n.pattern + 1;
        }
        return status == 0;
}

static gboolean diff_read_paths(Run *run, GError **error)
{
        StoredPath path;
        int status;

        while ((status = store_reader_next_path(run->reader, &path, error)) > 0) {
                const Medians *q = &g_array_index(run->medians, Medians, path.pattern);
                Moment m = { path.start, path.completion,
                             g_array_index(run->pattern_of, guint32, path.pattern) };

                /* How slow it was of its kind: 0, 1 above the median, 2 above the p99. */
                m.latency =
                        (m.latency > q->quantiles[DIFF_P50]) + (m.latency > q->quantiles[DIFF_P99]);
                g_array_append_val(run->moments, m);
        }
        return status == 0;
}

/* --- dependence ------------------------------------------------------------ */

static int compare_moments(const void *va, const void *vb)
{
        const Moment *a = va, *b = vb;

        if (a->start != b->start)
                return a->start < b->start ? -1 : 1;
        if (a->pattern != b->pattern)
                return a->pattern < b->pattern ? -1 : 1;
        return a->latency < b->latency ? -1 : a->latency > b->latency;
}

/* How much more the numbers in batches of size items vary than they would if each item
 * counted independently: the greatest factor over the widths of batches. 1 at least. */
static double batch_dependence(const guint32 *counts, double size)
{
        double dependence = 1, sum = 0;

        for (guint i = 0; i < N_BATCHES; i++)
                sum += counts[i];
        double share = sum / (N_BATCHES * size);
        for (guint w = 0; w < G_N_ELEMENTS(batch_widths); w++) {
                guint width = batch_widths[w], n = N_BATCHES / width;
                double mean = sum / n, squares = 0, chance = width * size * share * (1 - share);

                if (width * size < SMALLEST_BATCH || chance <= 0)
                        continue;
                for (guint i = 0; i < n; i++) {
                        double count = 0;
                        for (guint k = 0; k < width; k++)
                                count += counts[i * width + k];
                        squares += (count - mean) * (count - mean);
                }
                dependence = MAX(dependence, squares / (n - 1) / chance);
        }
        return dependence;
}

/* Of a sequence of paths in time: those above the median, and above the p99, come how
 * much in bursts? 0 where there are too few to tell. */
static double slow_dependence(const guint8 *slow, guint n)
{
        guint32 counts[N_DIFF_QUANTILES][N_BATCHES] = { { 0 } };
        double dependence = 1;

        if (n < SMALLEST_BATCH * (N_BATCHES / 5))
                return 0;
        for (guint i = 0; i < n; i++)
                for (guint q = 0; q < N_DIFF_QUANTILES; q++)
                        counts[q][(guint64)i * N_BATCHES / n] += slow[i] > q;
        for (guint q = 0; q < N_DIFF_QUANTILES; q++)
                dependence = MAX(dependence, batch_dependence(counts[q], (double)n / N_BATCHES));
        return dependence;
}

static void measure_dependence(Diff *d, Run *run, int side)
{
        guint n = run->moments->len, n_patterns = d->by_pattern->len;
        const Moment *m = (const Moment *)(void *)run->moments->data;
        g_autoptr(GPtrArray) slow =
                g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
        g_autoptr(GByteArray) all = g_byte_array_new();
        g_autofree guint32 *counts = g_new0(guint32, (gsize)n_patterns * N_BATCHES);

        run->count_dependence = g_new(double, MAX(n_patterns, 1));
        d->has_paths[side] = n > 0;
        d->dependence[side] = n > 0 ? 1 : GUESSED_DEPENDENCE;
        for (guint i = 0; i < MIN(n_patterns, DIFF_TESTED); i++)
                g_ptr_array_add(slow, g_byte_array_new());
        g_array_sort(run->moments, compare_moments);
        for (guint i = 0; i < n; i++) {
                guint8 how = (guint8)m[i].latency;

                g_byte_array_append(all, &how, 1);
                if (m[i].pattern < slow->len)
                        g_byte_array_append(g_ptr_array_index(slow, m[i].pattern), &how, 1);
                counts[(gsize)m[i].pattern * N_BATCHES + (guint64)i * N_BATCHES / n]++;
        }
        if (n > 0)
                d->dependence[side] = MAX(slow_dependence(all->data, all->len), 1);
        for (guint i = 0; i < n_patterns; i++) {
                DiffPattern *p = diff_pattern_at(d, i);
                double measured = 0;

                run->count_dependence[i] = n > 0 ? batch_dependence(counts + (gsize)i * N_BATCHES,
                                                                    (double)n / N_BATCHES)
                                                 : GUESSED_DEPENDENCE;
                if (i < slow->len) {
                        const GByteArray *mine = g_ptr_array_index(slow, i);
                        measured = slow_dependence(mine->data, mine->len);
                }
                p->dependence[side] = measured > 0 ? measured : d->dependence[side];
        }
}

/* --- intervals ------------------------------------------------------------- */

/* The range of delays that the value of rank (1 to count) may be anywhere in. */
static void rank_range(const Histogram *h, guint64 rank, gint64 *low, gint64 *high)
{
        guint32 first, n, bin = 0;
        g_autofree guint64 *counts = histogram_counts(h, &first, &n);

        for (guint64 below = counts[0]; below < rank && bin + 1 < n; below += counts[bin])
                bin++;
        histogram_bin_range(first + bin, low, high);
        *low = MAX(*low, h->min);
        *high = MIN(*high, h->max);
}

/* Between which values the quantile lies but for a probability tail on either side, if
 * n of the values are independent. FALSE where n are too few. */
static gboolean quantile_interval(const Histogram *h, double q, double n, double tail, gint64 *low,
                                  gint64 *high)
{
        gint64 unused;
        double from, to;

        /* The greatest rank whose value is, with probability 1 - tail, at most the quantile ... */
        for (from = 0, to = floor(n) + 1; to - from > 1;) {
                double k = floor((from + to) / 2);
                *(binomial_tail(n, k, q) >= 1 - tail ? &from : &to) = k;
        }
        if (from < 1)
                return FALSE;
        guint64 rank = (guint64)(from / n * (double)h->count);
        rank_range(h, CLAMP(rank, 1, h->count), low, &unused);
        /* ... and the least rank whose value is likewise at least the quantile. */
        for (from = 0, to = floor(n) + 1; to - from > 1;) {
                double k = floor((from + to) / 2);
                *(binomial_tail(n, k, q) > tail ? &from : &to) = k;
        }
        if (to > n)
                return FALSE;
        rank = (guint64)ceil(to / n * (double)h->count);
        rank_range(h, CLAMP(rank, 1, h->count), &unused, high);
        return TRUE;
}

/* paths: how many independent ones the delays are of, in each run. */
static DiffDelay diff_compare_delays(const Histogram *a, const Histogram *b, double q,
                                     const double paths[N_SIDES], double tail)
{
        DiffDelay d = { .value = { histogram_quantile(a, q), histogram_quantile(b, q) } };
        gint64 low_a, high_a, low_b, high_b;

        d.bounded = a->count > 0 && b->count > 0 &&
                    quantile_interval(a, q, paths[DIFF_A], tail, &low_a, &high_a) &&
                    quantile_interval(b, q, paths[DIFF_B], tail, &low_b, &high_b);
        if (d.bounded) {
                d.low = low_b - high_a;
                d.high = high_b - low_a;
                d.beyond = d.low > 0 || d.high < 0;
        }
        return d;
}

/* --- what changed ---------------------------------------------------------- */

static DiffNode diff_compare_nodes(NodeId node, const Histogram *a, const Histogram *b,
                                   const double paths[N_SIDES], double tail)
{
        DiffNode n = { .node = node,
                       .parent = NO_PARENT,
                       .repeats = 1,
                       .calls = { a->count, b->count },
                       .mean = { histogram_mean(a), histogram_mean(b) } };

        for (guint q = 0; q < N_DIFF_QUANTILES; q++)
                n.own[q] = diff_compare_delays(a, b, diff_quantiles[q], paths, tail);
        return n;
}

static void compare_pattern(DiffPattern *p, const PathPattern *a, const PathPattern *b, double tail)
{
        double paths[N_SIDES];

        for (int side = 0; side < N_SIDES; side++)
                paths[side] = (double)p->count[side] / p->dependence[side];
        for (guint q = 0; q < N_DIFF_QUANTILES; q++)
                p->latency[q] = diff_compare_delays(&a->nodes[0].latency, &b->nodes[0].latency,
                                                    diff_quantiles[q], paths, tail);
        for (guint32 i = 0; i < p->tree->n_vertices; i++) {
                const CollapsedCall *v = &p->tree->vertices[i];
                Histogram own = HISTOGRAM_INIT;

                for (guint32 k = 0; k < v->n; k++)
                        histogram_merge(&own, &b->nodes[p->tree->places[v->first + k]].own);
                DiffNode n = diff_compare_nodes(v->all.node, &v->all.own, &own, paths, tail);
                n.parent = v->parent;
                n.label = v->all.label;
                n.repeats = v->n;
                histogram_clear(&own);
                g_array_append_val(p->nodes, n);
        }
}

static guint have_both(const GArray *a, const GArray *b, NodeId node)
{
        return g_array_index(a, Histogram, node).count > 0 &&
               g_array_index(b, Histogram, node).count > 0;
}

/* The trees, which say how many intervals there will be. */
static guint make_trees(Diff *d, const Run *runs)
{
        guint n = N_DIFF_QUANTILES; /* of all paths */

        for (NodeId i = 0; i < MIN(runs[DIFF_A].own->len, runs[DIFF_B].own->len); i++)
                n += N_DIFF_QUANTILES * (have_both(runs[DIFF_A].own, runs[DIFF_B].own, i) +
                                         have_both(runs[DIFF_A].queued, runs[DIFF_B].queued, i));
        for (guint i = 0; i < d->by_pattern->len; i++) {
                DiffPattern *p = diff_pattern_at(d, i);

                /* A store that is corrupt may have other nodes of the same signature. */
                p->tested = p->tested && runs[DIFF_A].tested[i].n_nodes > 0 &&
                            runs[DIFF_A].tested[i].n_nodes == runs[DIFF_B].tested[i].n_nodes;
                if (!p->tested)
                        continue;
                p->tree = collapsed_tree_new(&runs[DIFF_A].tested[i], MAX_VERTICES);
                p->nodes = g_array_new(FALSE, FALSE, sizeof(DiffNode));
                n += N_DIFF_QUANTILES * (1 + p->tree->n_vertices);
        }
        return n;
}

static void compare_all_delays(Diff *d, Run *runs)
{
        /* Each change is of two quantiles, and each of these has two tails. */
        double tail = CHANCE / 2 / make_trees(d, runs) / 4;
        NodeId n = MAX(runs[DIFF_A].own->len, runs[DIFF_B].own->len);
        double paths[N_SIDES];

        for (int side = 0; side < N_SIDES; side++)
                paths[side] = (double)d->paths[side] / d->dependence[side];
        for (guint q = 0; q < N_DIFF_QUANTILES; q++)
                d->latency[q] = diff_compare_delays(&runs[DIFF_A].all, &runs[DIFF_B].all,
                                                    diff_quantiles[q], paths, tail);
        for (NodeId i = 0; i < n; i++) {
                const Histogram *own[N_SIDES];

                for (int side = 0; side < N_SIDES; side++) {
                        own[side] = own_of(&runs[side], i);
                        paths[side] = (double)g_array_index(runs[side].node_paths, guint64, i) /
                                      d->dependence[side];
                }
                DiffNode node = diff_compare_nodes(i, own[DIFF_A], own[DIFF_B], paths, tail);
                g_array_append_val(d->by_node, node);
                node = diff_compare_nodes(i, queued_of(&runs[DIFF_A], i),
                                          queued_of(&runs[DIFF_B], i), paths, tail);
                g_array_append_val(d->queued, node);
        }
        for (guint i = 0; i < d->by_pattern->len; i++)
                if (diff_pattern_at(d, i)->tested)
                        compare_pattern(diff_pattern_at(d, i), &runs[DIFF_A].tested[i],
                                        &runs[DIFF_B].tested[i], tail);
}

/* The dependence at which chance changes a count as much as its error by drawings. A pattern that
 * is rare or absent here may be as frequent as in the other run. It then has the mean error of the
 * counts here. */
static double drawn_dependence(const Diff *d, const Run *runs, const DiffPattern *p, int side)
{
        double expected =
                p->number[!side] * (double)d->paths[side] / (double)MAX(d->paths[!side], 1);
        double learned = runs[side].drawn_error * expected;

        if (!d->is_drawn[side] || MAX(expected, p->number[side]) <= 0)
                return 1;
        return MAX(learned * learned, p->error[side] * p->error[side]) /
               MAX(expected, p->number[side]);
}

static void diff_compare_counts(Diff *d, const Run *runs)
{
        double tail = CHANCE / 2 / MAX(d->by_pattern->len, 1) / 4;

        for (guint i = 0; i < d->by_pattern->len; i++) {
                DiffPattern *p = diff_pattern_at(d, i);
                double low[N_SIDES], high[N_SIDES];
                /* What comes in bursts in one run is likely to in the other. */
                double dependence =
                        MAX(runs[DIFF_A].count_dependence[i], runs[DIFF_B].count_dependence[i]);

                for (int side = 0; side < N_SIDES; side++)
                        dependence = MAX(dependence, drawn_dependence(d, runs, p, side));
                for (int side = 0; side < N_SIDES; side++)
                        binomial_interval((double)d->paths[side] / dependence,
                                          MIN(p->number[side], (double)d->paths[side]) / dependence,
                                          tail, &low[side], &high[side]);
                p->low = low[DIFF_B] - high[DIFF_A];
                p->high = high[DIFF_B] - low[DIFF_A];
                p->beyond = d->paths[DIFF_A] && d->paths[DIFF_B] && (p->low > 0 || p->high < 0);
        }
}

/* --- together --------------------------------------------------------------- */

static void run_init(Run *run, StoreReader *reader)
{
        run->reader = reader;
        run->pattern_of = g_array_new(FALSE, FALSE, sizeof(guint32));
        run->medians = g_array_new(FALSE, FALSE, sizeof(Medians));
        run->tested = g_new0(PathPattern, DIFF_TESTED);
        run->own = g_array_new(FALSE, TRUE, sizeof(Histogram));
        run->queued = g_array_new(FALSE, TRUE, sizeof(Histogram));
        run->node_paths = g_array_new(FALSE, TRUE, sizeof(guint64));
        run->moments = g_array_new(FALSE, FALSE, sizeof(Moment));
}

static void diff_run_clear(Run *run)
{
        for (guint i = 0; i < DIFF_TESTED; i++)
                path_pattern_clear(&run->tested[i]);
        for (guint i = 0; i < run->own->len; i++) {
                histogram_clear(&g_array_index(run->own, Histogram, i));
                histogram_clear(&g_array_index(run->queued, Histogram, i));
        }
        histogram_clear(&run->all);
        g_free(run->tested);
        g_free(run->count_dependence);
        g_array_free(run->pattern_of, TRUE);
        g_array_free(run->medians, TRUE);
        g_array_free(run->own, TRUE);
        g_array_free(run->queued, TRUE);
        g_array_free(run->node_paths, TRUE);
        g_array_free(run->moments, TRUE);
}

static gboolean read_runs(Diff *d, Run *runs, GError **error)
{
        g_autoptr(GHashTable) by_key = g_hash_table_new(g_str_hash, g_str_equal);

        for (int side = 0; side < N_SIDES; side++)
                d->has_labels[side] = store_reader_has_labels(runs[side].reader);
        for (int side = 0; side < N_SIDES; side++)
                if (!diff_add_patterns(d, &runs[side], side, by_key, error))
                        return FALSE;
        diff_rank_patterns(d, runs);
        for (int side = 0; side < N_SIDES; side++)
                if (!diff_read_nodes(d, &runs[side], error) || !diff_read_paths(&runs[side], error))
                        return FALSE;
        return TRUE;
}

Diff *diff_new(StoreReader *a, StoreReader *b, NodeTable *nodes, GError **error)
{
        g_autoptr(Diff) d = g_new0(Diff, 1);
        Run runs[N_SIDES] = { { .reader = NULL } };

        d->nodes = nodes;
        d->by_node = g_array_new(FALSE, FALSE, sizeof(DiffNode));
        d->queued = g_array_new(FALSE, FALSE, sizeof(DiffNode));
        d->by_pattern = g_array_new(FALSE, FALSE, sizeof(DiffPattern));
        run_init(&runs[DIFF_A], a);
        run_init(&runs[DIFF_B], b);
        gboolean ok = read_runs(d, runs, error);
        if (ok) {
                for (int side = 0; side < N_SIDES; side++)
                        measure_dependence(d, &runs[side], side);
                compare_all_delays(d, runs);
                diff_compare_counts(d, runs);
        }
        diff_run_clear(&runs[DIFF_A]);
        diff_run_clear(&runs[DIFF_B]);
        return ok ? g_steal_pointer(&d) : NULL;
}

void diff_free(Diff *d)
{
        if (!d)
                return;
        for (guint i = 0; i < d->by_pattern->len; i++) {
                DiffPattern *p = diff_pattern_at(d, i);

                g_free(p->key);
                g_free(p->signature);
                g_free(p->label);
                collapsed_tree_free(p->tree);
                if (p->nodes)
                        g_array_free(p->nodes, TRUE);
        }
        g_array_free(d->by_pattern, TRUE);
        g_array_free(d->by_node, TRUE);
        g_array_free(d->queued, TRUE);
        g_free(d);
}
