/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/each.h"
#include "base/hash.h"
#include "store/stored-patterns.h"

enum { MAX_VERTICES = 150 }; /* of a tree */

/* Tests are in four families, lest many patterns hide a node. This is the mean share of
 * findings that are by chance, in all families together. */
#define CHANCE 0.05

typedef enum {
        FAMILY_OWN,      /* own times of nodes */
        FAMILY_ALL,      /* other times on all paths */
        FAMILY_PATTERNS, /* times of patterns */
        FAMILY_COUNTS,   /* shares of patterns */
        N_FAMILIES
} Family;

/* The times that a call of a pattern counts in: indexes into Comparison.times. */
typedef enum {
        PLACE_OWN,       /* of its node */
        PLACE_OPERATION, /* own time of its operation at its node */
        PLACE_VERTEX,    /* own time of its vertex in the pattern */
        PLACE_EDGE,      /* latency between two nodes */
        PLACE_QUEUED,    /* time in queues before its node */
        N_PLACE_TIMES
} PlaceTimes;

#define NO_TIMES ((guint32)-1)

/* The calls of an edge, whoever waits for them. */
typedef struct {
        NodeId caller, callee;
        guint64 calls[N_SIDES];
        guint32 times[N_WAY_CAUSES]; /* by cause, or NO_TIMES */
} Way;

typedef struct {
        guint32 times[N_PLACE_TIMES]; /* or NO_TIMES */
        guint32 way;                  /* index into ways */
} Place;

/* One run, while both are compared. */
typedef struct {
        StoreReader *reader;
        GArray *pattern_of;  /* of guint32: by the store's pattern, index into Diff.by_pattern */
        GArray *first_place; /* of guint32: by the store's pattern, index into places */
        GArray *places;      /* of Place */
        PathPattern *tested; /* by index into Diff.by_pattern, DIFF_TESTED at most */
        GArray *paths;       /* of StoredPath */
        guint32 *batches;    /* paths, by batch */
        guint32 *counts;     /* paths of each of Diff.by_pattern, by batch */
        double drawn_error;  /* of counts by drawings, the mean of a path's: a share of 1 */
} Run;

typedef struct {
        Diff *d;
        Run runs[N_SIDES];
        GPtrArray *times;       /* of ComparedTimes, as Diff.times */
        GArray *own, *queued;   /* of guint32: index into times, by NodeId */
        GHashTable *operations; /* node and operation to index into Diff.operations, + 1 */
        GHashTable *edges;      /* caller and callee to index into Diff.edges, + 1 */
        GArray *n_operations;   /* of guint32: by NodeId */
        gboolean has_causes;    /* both runs have */
        GArray *ways;           /* of Way */
        GHashTable *way_of;     /* caller and callee to index into ways, + 1 */
} Comparison;

static DiffPattern *diff_pattern_at(const Diff *d, guint32 i)
{
        return &g_array_index(d->by_pattern, DiffPattern, i);
}

static ComparedTimes *times_at(const Comparison *c, guint32 i)
{
        return g_ptr_array_index(c->times, i);
}

static guint32 times_new(Comparison *c)
{
        g_ptr_array_add(c->times, g_new0(ComparedTimes, 1));
        return c->times->len - 1;
}

/* --- reading --------------------------------------------------------------- */

static gboolean diff_add_patterns(Diff *d, Run *run, int side, GHashTable *by_key, GError **error)
{
        gboolean labels = d->has_labels[DIFF_A] && d->has_labels[DIFF_B];
        g_autoptr(GArray) patterns = stored_patterns_load(run->reader, error);

        for (guint32 k = 0; patterns && k < patterns->len; k++) {
                const StoredPattern *stored = stored_pattern_at(patterns, k);
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
                p->wrong[side] += (1 - stored->probability) * (double)stored->count;
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
static void diff_rank_patterns(Diff *d, const Run *runs)
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
                EACH (guint32, at, runs[side].pattern_of) {
                        *at = GPOINTER_TO_UINT(g_hash_table_lookup(place, keys[*at]));
                }
}

/* --- the times of the places ------------------------------------------------ */

static guint32 times_of_node(Comparison *c, GArray *by_node, NodeId node)
{
        while (by_node->len <= node) {
                guint32 times = times_new(c);
                g_array_append_val(by_node, times);
        }
        return g_array_index(by_node, guint32, node);
}

/* Index into times of one of several nodes, which is added if it is new. */
static guint32 times_of_one(Comparison *c, GHashTable *known, GArray *nodes, guint64 key,
                            const DiffNode *node)
{
        gpointer value = g_hash_table_lookup(known, &key);

        if (!value) {
                DiffNode added = *node;

                added.times = times_new(c);
                g_array_append_val(nodes, added);
                value = GUINT_TO_POINTER(nodes->len);
                g_hash_table_insert(known, g_memdup2(&key, sizeof key), value);
        }
        return g_array_index(nodes, DiffNode, GPOINTER_TO_UINT(value) - 1).times;
}

static guint32 times_of_operation(Comparison *c, const StoredPatternNode *stored)
{
        DiffNode node = { .node = stored->node,
                          .caller = NO_NODE,
                          .parent = NO_PARENT,
                          .repeats = 1,
                          .label = g_intern_string(stored->label) };
        guint64 key = hash_word(hash_word(HASH_SEED, node.node), (guint64)(gsize)node.label);
        guint before = c->d->operations->len;
        guint32 times = times_of_one(c, c->operations, c->d->operations, key, &node);

        if (c->n_operations->len <= node.node)
                g_array_set_size(c->n_operations, node.node + 1);
        g_array_index(c->n_operations, guint32, node.node) += c->d->operations->len - before;
        return times;
}

static guint32 times_of_edge(Comparison *c, NodeId caller, NodeId callee)
{
        DiffNode node = { .node = callee, .caller = caller, .parent = NO_PARENT, .repeats = 1 };
        guint64 key = (guint64)caller << 32 | callee;

        return times_of_one(c, c->edges, c->d->edges, key, &node);
}

static guint32 way_of(Comparison *c, NodeId caller, NodeId callee)
{
        guint64 key = (guint64)caller << 32 | callee;
        gpointer value = g_hash_table_lookup(c->way_of, &key);

        if (!value) {
                Way way = { .caller = caller, .callee = callee };

                memset(way.times, 0xff, sizeof way.times);
                g_array_append_val(c->ways, way);
                value = GUINT_TO_POINTER(c->ways->len);
                g_hash_table_insert(c->way_of, g_memdup2(&key, sizeof key), value);
        }
        return GPOINTER_TO_UINT(value) - 1;
}

/* Only causes that occur are compared. */
static void add_cause(Comparison *c, int side, Way *way, WayCause cause, const Histogram *times)
{
        if (times->count == 0)
                return;
        if (way->times[cause] == NO_TIMES) {
                DiffNode node = { .node = way->callee,
                                  .caller = way->caller,
                                  .parent = NO_PARENT,
                                  .repeats = 1,
                                  .label = way_cause_name(cause),
                                  .times = times_new(c) };

                way->times[cause] = node.times;
                g_array_append_val(c->d->causes, node);
        }
        histogram_merge(&times_at(c, way->times[cause])->times[side], times);
}

static gboolean add_causes(Comparison *c, int side, const StoredPatternNode *n, guint32 way,
                           GError **error)
{
        Histogram causes[N_WAY_CAUSES] = { 0 }, network = HISTOGRAM_INIT;
        StoreReader *reader = c->runs[side].reader;
        Way *w = &g_array_index(c->ways, Way, way);
        gboolean ok = store_reader_histogram(reader, &n->network, &network, error) &&
                      store_reader_causes(reader, n, causes, error);

        w->calls[side] += network.count;
        histogram_clear(&network);
        for (guint i = 0; i < N_WAY_CAUSES; i++) {
                add_cause(c, side, w, i, &causes[i]);
                histogram_clear(&causes[i]);
        }
        return ok;
}

/* Whether calls that lack the cause have 0 ns. Their round trip is unknown. */
static gboolean lacks_without(WayCause cause)
{
        return cause != WAY_ROUND_TRIP;
}

static void complete_causes(const Comparison *c)
{
        EACH (const Way, way, c->ways) {
                for (guint k = 0; k < 2 * N_WAY_CAUSES; k++) {
                        guint32 times = way->times[k / 2];
                        Histogram *h = times == NO_TIMES || !lacks_without(k / 2)
                                               ? NULL
                                               : &times_at(c, times)->times[k % 2];

                        if (h && way->calls[k % 2] > h->count)
                                histogram_add_zeros(h, way->calls[k % 2] - h->count);
                }
        }
}

/* The time of a path: its completion time if it goes on. */
static const StoredHistogram *time_of(const StoredPatternNode *node)
{
        return node->completion.n > 0 ? &node->completion : &node->latency;
}

static gboolean add_tested(const Run *run, PathPattern *p, const StoredPatternNode *stored,
                           gboolean labels, GError **error)
{
        PatternNode *node;

        if (stored->place == p->n_nodes)
                path_pattern_append(p, stored->node, stored->parent)->label =
                        labels ? g_intern_string(stored->label) : NULL;
        node = &p->nodes[stored->place];
        return store_reader_histogram(run->reader, &stored->call_delay, &node->call_delay, error) &&
               store_reader_histogram(run->reader, &stored->own, &node->own, error);
}

/* client: the caller of the pattern's root; callees: by place of the pattern so far, its node. */
static gboolean add_place(Comparison *c, Run *run, int side, const StoredPatternNode *n,
                          NodeId client, const GArray *callees, GError **error)
{
        const StoredHistogram *const stored[N_PLACE_TIMES] = { &n->own, &n->own, NULL, &n->latency,
                                                               &n->queued };
        NodeId caller = n->parent == NO_PARENT ? client : g_array_index(callees, NodeId, n->parent);
        Place place = { { times_of_node(c, c->own, n->node), NO_TIMES, NO_TIMES, NO_TIMES,
                          NO_TIMES },
                        way_of(c, caller, n->node) };

        if (n->label && c->d->has_labels[DIFF_A] && c->d->has_labels[DIFF_B])
                place.times[PLACE_OPERATION] = times_of_operation(c, n);
        if (n->parent != NO_PARENT && n->continues == WORK_NESTED)
                place.times[PLACE_EDGE] = times_of_edge(c, caller, n->node);
        if (n->queued.n > 0 && n->continues == WORK_QUEUED)
                place.times[PLACE_QUEUED] = times_of_node(c, c->queued, n->node);
        g_array_append_val(run->places, place);
        for (guint i = 0; i < N_PLACE_TIMES; i++)
                if (place.times[i] != NO_TIMES &&
                    !store_reader_histogram(run->reader, stored[i],
                                            &times_at(c, place.times[i])->times[side], error))
                        return FALSE;
        return !c->has_causes || add_causes(c, side, n, place.way, error);
}

static gboolean diff_read_nodes(Comparison *c, int side, GError **error)
{
        Diff *d = c->d;
        Run *run = &c->runs[side];
        g_autoptr(GArray) callees = g_array_new(FALSE, FALSE, sizeof(NodeId));
        gboolean labels = d->has_labels[DIFF_A] && d->has_labels[DIFF_B];
        StoredPatternNode n;
        int status;

        while ((status = store_reader_next_pattern_node(run->reader, &n, error)) > 0) {
                guint32 pattern = g_array_index(run->pattern_of, guint32, n.pattern);
                const DiffPattern *p = diff_pattern_at(d, pattern);

                if (n.place == 0) {
                        g_array_set_size(callees, 0);
                        while (run->first_place->len <= n.pattern)
                                g_array_append_val(run->first_place, run->places->len);
                }
                g_array_append_val(callees, n.node);
                if (!add_place(c, run, side, &n, p->client, callees, error) ||
                    (n.place == 0 &&
                     (!store_reader_histogram(run->reader, time_of(&n),
                                              &times_at(c, d->latency)->times[side], error) ||
                      (p->tested &&
                       !store_reader_histogram(run->reader, time_of(&n),
                                               &times_at(c, p->latency)->times[side], error)))) ||
                    (p->tested && !add_tested(run, &run->tested[pattern], &n, labels, error)))
                        return FALSE;
        }
        while (run->first_place->len <= run->pattern_of->len)
                g_array_append_val(run->first_place, run->places->len);
        return status == 0;
}

/* The trees of the tested patterns, and the times of their vertices. */
static void make_trees(Comparison *c)
{
        for (guint i = 0; i < c->d->by_pattern->len; i++) {
                DiffPattern *p = diff_pattern_at(c->d, i);
                const PathPattern *patterns[N_SIDES] = { &c->runs[DIFF_A].tested[i],
                                                         &c->runs[DIFF_B].tested[i] };

                /* A store that is corrupt may have other nodes of the same signature. */
                p->tested = p->tested && patterns[DIFF_A]->n_nodes > 0 &&
                            patterns[DIFF_A]->n_nodes == patterns[DIFF_B]->n_nodes;
                if (!p->tested)
                        continue;
                p->tree = collapsed_tree_new(patterns[DIFF_A], MAX_VERTICES);
                p->nodes = g_array_new(FALSE, FALSE, sizeof(DiffNode));
                for (guint32 k = 0; k < p->tree->n_vertices; k++) {
                        const CollapsedCall *v = &p->tree->vertices[k];
                        DiffNode n = { .node = v->all.node,
                                       .caller = NO_NODE,
                                       .parent = v->parent,
                                       .repeats = v->n,
                                       .label = v->all.label,
                                       .times = times_new(c) };

                        for (int side = 0; side < N_SIDES; side++)
                                for (guint32 at = v->first; at < v->first + v->n; at++)
                                        histogram_merge(
                                                &times_at(c, n.times)->times[side],
                                                &patterns[side]->nodes[p->tree->places[at]].own);
                        g_array_append_val(p->nodes, n);
                }
        }
}

/* Of each place of a run's patterns, the times of its vertex. */
static void place_vertices(Comparison *c, int side)
{
        Run *run = &c->runs[side];

        for (guint i = 0; i < run->pattern_of->len; i++) {
                const DiffPattern *p =
                        diff_pattern_at(c->d, g_array_index(run->pattern_of, guint32, i));
                guint32 first = g_array_index(run->first_place, guint32, i),
                        end = g_array_index(run->first_place, guint32, i + 1);

                for (guint32 k = 0; p->tested && k < p->tree->n_vertices; k++) {
                        const CollapsedCall *v = &p->tree->vertices[k];

                        for (guint32 at = v->first; at < v->first + v->n; at++)
                                if (first + p->tree->places[at] < end)
                                        g_array_index(run->places, Place,
                                                      first + p->tree->places[at])
                                                .times[PLACE_VERTEX] =
                                                g_array_index(p->nodes, DiffNode, k).times;
                }
        }
}

/* --- the values by batch ---------------------------------------------------- */

static gboolean read_paths(Run *run, GError **error)
{
        StoredPath path;
        int status;

        while ((status = store_reader_next_path(run->reader, &path, error)) > 0)
                g_array_append_val(run->paths, path);
        return status == 0;
}

/* By start, then in the order of the store. */
static int compare_starts(gconstpointer va, gconstpointer vb, gpointer paths)
{
        guint32 a = *(const guint32 *)va, b = *(const guint32 *)vb;
        gint64 start_a = g_array_index((GArray *)paths, StoredPath, a).start,
               start_b = g_array_index((GArray *)paths, StoredPath, b).start;

        return COMPARE(start_a, start_b) ?: COMPARE(a, b);
}

/* The batch of each path: batches have equal numbers of paths, in order of time. */
static guint8 *batches_of_paths(const Run *run)
{
        guint n = run->paths->len;
        g_autoptr(GArray) order = g_array_sized_new(FALSE, FALSE, sizeof(guint32), n);
        guint8 *batch = g_new(guint8, MAX(n, 1));

        for (guint32 i = 0; i < n; i++)
                g_array_append_val(order, i);
        g_array_sort_with_data(order, compare_starts, run->paths);
        for (guint i = 0; i < n; i++)
                batch[g_array_index(order, guint32, i)] = (guint8)((guint64)i * SHARE_BATCHES / n);
        return batch;
}

static void count_call(const Comparison *c, int side, const Place *place, const PathCall *call,
                       guint batch)
{
        const gint64 values[N_PLACE_TIMES] = { call->own, call->own, call->own,
                                               call->end - call->start, call->queued };

        for (guint i = 0; i < N_PLACE_TIMES; i++)
                if (place->times[i] != NO_TIMES)
                        compared_times_count(times_at(c, place->times[i]), side, values[i], batch);
        const Way *way = &g_array_index(c->ways, Way, place->way);
        for (guint i = 0; i < N_WAY_CAUSES; i++) {
                gint64 time = call->network != 0 ? call->cause[i] : 0;

                if (way->times[i] != NO_TIMES && (time != 0 || lacks_without(i)))
                        compared_times_count(times_at(c, way->times[i]), side, time, batch);
        }
}

static gboolean count_path(const Comparison *c, int side, const StoredPath *path, guint batch,
                           GArray *calls, GArray *places, GError **error)
{
        const Run *run = &c->runs[side];
        guint32 pattern = g_array_index(run->pattern_of, guint32, path->pattern),
                first = g_array_index(run->first_place, guint32, path->pattern),
                end = g_array_index(run->first_place, guint32, path->pattern + 1);
        const DiffPattern *p = diff_pattern_at(c->d, pattern);

        run->batches[batch]++;
        run->counts[(gsize)pattern * SHARE_BATCHES + batch]++;
        compared_times_count(times_at(c, c->d->latency), side, path->completion, batch);
        if (p->tested)
                compared_times_count(times_at(c, p->latency), side, path->completion, batch);
        if (!store_reader_path_calls(run->reader, path, calls, places, error))
                return FALSE;
        for (guint i = 0; i < calls->len; i++) {
                guint32 place = g_array_index(places, guint32, i);

                if (place >= end - first)
                        return store_reader_fail(run->reader, error,
                                                 "a call has no place in its pattern");
                count_call(c, side, &g_array_index(run->places, Place, first + place),
                           &g_array_index(calls, PathCall, i), batch);
        }
        return TRUE;
}

static gboolean count_batches(const Comparison *c, int side, GError **error)
{
        const Run *run = &c->runs[side];
        g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(PathCall));
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_autofree guint8 *batch = batches_of_paths(run);

        for (guint i = 0; i < run->paths->len; i++)
                if (!count_path(c, side, &g_array_index(run->paths, StoredPath, i), batch[i], calls,
                                places, error))
                        return FALSE;
        return TRUE;
}

/* --- tests ------------------------------------------------------------------ */

/* The values that are worth one if chance changes a count as much as its error by drawings. A
 * pattern that is rare or absent here may be as frequent as in the other run. It then has the mean
 * error of the counts here. */
static double drawn_dependence(const Diff *d, const Run *run, const DiffPattern *p, int side)
{
        double expected =
                p->number[!side] * (double)d->paths[side] / (double)MAX(d->paths[!side], 1);
        double learned = run->drawn_error * expected;

        if (!d->is_drawn[side] || MAX(expected, p->number[side]) <= 0)
                return 1;
        return MAX(learned * learned, p->error[side] * p->error[side]) /
               MAX(expected, p->number[side]);
}

/* The same for the paths that are probably of other patterns, in the worse run: errors of inference
 * are alike. */
static double wrong_dependence(const DiffPattern *p)
{
        double dependence = 1;

        for (int side = 0; side < N_SIDES; side++)
                if (p->count[side] > 0)
                        dependence = MAX(dependence,
                                         p->wrong[side] * p->wrong[side] / (double)p->count[side]);
        return dependence;
}

static void count_shares(const Comparison *c, guint32 pattern, ShareRun shares[N_SIDES])
{
        const DiffPattern *p = diff_pattern_at(c->d, pattern);

        for (int side = 0; side < N_SIDES; side++) {
                const Run *run = &c->runs[side];
                double n = (double)c->d->paths[side];
                gboolean known = c->d->has_paths[side];

                shares[side] = (ShareRun){
                        .n = n,
                        .counted = MIN(p->number[side], n),
                        .all = known ? run->batches : NULL,
                        .in = known ? run->counts + (gsize)pattern * SHARE_BATCHES : NULL,
                        .least = MAX(MAX(known ? 1 : DIFF_GUESSED_DEPENDENCE, wrong_dependence(p)),
                                     drawn_dependence(c->d, run, p, side))
                };
        }
}

static gboolean count_is_tested(const DiffPattern *p)
{
        return p->number[DIFF_A] + p->number[DIFF_B] >= DIFF_SMALLEST_TAIL;
}

static ShareScatter prior_of_counts(const Comparison *c)
{
        g_autoptr(GArray) scatters = g_array_new(FALSE, FALSE, sizeof(ShareScatter));
        ShareRun shares[N_SIDES];

        for (guint i = 0; i < c->d->by_pattern->len; i++) {
                if (!count_is_tested(diff_pattern_at(c->d, i)))
                        continue;
                count_shares(c, i, shares);
                for (int side = 0; side < N_SIDES; side++) {
                        ShareScatter scatter = share_scatter(&shares[side]);
                        if (scatter.variance.freedom > 0)
                                g_array_append_val(scatters, scatter);
                }
        }
        return share_prior(scatters);
}

static ShareScatter prior_of_times(const Comparison *c)
{
        g_autoptr(GArray) scatters = g_array_new(FALSE, FALSE, sizeof(ShareScatter));

        for (guint i = 0; i < c->times->len; i++)
                compared_times_scatter(times_at(c, i), scatters);
        return share_prior(scatters);
}

/* Benjamini and Hochberg 1995: the p up to which tests of a family count. ps get sorted. */
static double family_level(GArray *ps)
{
        double level = 0;

        g_array_sort(ps, compare_doubles);
        for (guint i = 0; i < ps->len; i++) {
                double bound = CHANCE / N_FAMILIES * (i + 1) / ps->len;

                if (g_array_index(ps, double, i) <= bound)
                        level = bound;
        }
        return level;
}

static void compare_counts(const Comparison *c)
{
        ShareScatter prior = prior_of_counts(c);
        g_autoptr(GArray) ps = g_array_new(FALSE, FALSE, sizeof(double));
        g_autofree double *p_of = g_new(double, MAX(c->d->by_pattern->len, 1));
        ShareRun shares[N_SIDES];

        for (guint i = 0; i < c->d->by_pattern->len; i++) {
                p_of[i] = 1;
                if (!count_is_tested(diff_pattern_at(c->d, i)))
                        continue;
                count_shares(c, i, shares);
                p_of[i] = share_test(shares, prior);
                g_array_append_val(ps, p_of[i]);
        }
        double level = family_level(ps);
        for (guint i = 0; i < c->d->by_pattern->len; i++) {
                DiffPattern *p = diff_pattern_at(c->d, i);

                count_shares(c, i, shares);
                share_change(shares, prior, &p->low, &p->high);
                /* A rare count by drawings errs by more than its share tells the test. */
                p->beyond = p_of[i] <= level && (p->low > 0 || p->high < 0);
        }
}

/* Which family each of the times is of; N_FAMILIES: none, as it says the same as others. */
static guint8 *families(const Comparison *c)
{
        guint8 *family = g_new(guint8, c->times->len);

        memset(family, FAMILY_ALL, c->times->len);
        for (guint i = 0; i < c->own->len; i++)
                family[g_array_index(c->own, guint32, i)] = FAMILY_OWN;
        for (guint i = 0; i < c->d->by_pattern->len; i++) {
                const DiffPattern *p = diff_pattern_at(c->d, i);

                if (p->tested)
                        family[p->latency] = FAMILY_PATTERNS;
                for (guint k = 0; p->tested && k < p->nodes->len; k++)
                        family[g_array_index(p->nodes, DiffNode, k).times] = FAMILY_PATTERNS;
        }
        for (guint i = c->d->operations->len; i > 0; i--) {
                const DiffNode *n = &g_array_index(c->d->operations, DiffNode, i - 1);

                if (g_array_index(c->n_operations, guint32, n->node) > 1)
                        continue;
                family[n->times] = N_FAMILIES;
                g_array_remove_index(c->d->operations, i - 1);
        }
        return family;
}

static void compare_times(const Comparison *c)
{
        ShareScatter prior = prior_of_times(c);
        g_autofree guint8 *family = families(c);
        double level[N_FAMILIES + 1] = { 0 };

        for (guint f = 0; f < N_FAMILIES; f++) {
                g_autoptr(GArray) ps = g_array_new(FALSE, FALSE, sizeof(double));

                for (guint i = 0; i < c->times->len; i++) {
                        if (family[i] != f || times_at(c, i)->n_limits == 0)
                                continue;
                        double p = compared_times_test(times_at(c, i), prior);
                        g_array_append_val(ps, p);
                }
                level[f] = family_level(ps);
        }
        g_array_set_size(c->d->times, c->times->len);
        for (guint i = 0; i < c->times->len; i++)
                compared_times_result(times_at(c, i), prior, level[family[i]],
                                      &g_array_index(c->d->times, DiffTimes, i));
        for (int side = 0; side < N_SIDES; side++)
                c->d->dependence[side] =
                        compared_times_dependence(times_at(c, c->d->latency), side, 0.5, prior);
}

/* --- together --------------------------------------------------------------- */

static void comparison_init(Comparison *c, Diff *d, StoreReader *a, StoreReader *b)
{
        c->d = d;
        c->times = g_ptr_array_new_with_free_func((GDestroyNotify)compared_times_free);
        c->own = g_array_new(FALSE, FALSE, sizeof(guint32));
        c->queued = g_array_new(FALSE, FALSE, sizeof(guint32));
        c->n_operations = g_array_new(FALSE, TRUE, sizeof(guint32));
        c->operations = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        c->edges = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        c->has_causes = store_reader_has_causes(a) && store_reader_has_causes(b);
        c->ways = g_array_new(FALSE, FALSE, sizeof(Way));
        c->way_of = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        for (int side = 0; side < N_SIDES; side++) {
                Run *run = &c->runs[side];

                run->reader = side == DIFF_A ? a : b;
                run->pattern_of = g_array_new(FALSE, FALSE, sizeof(guint32));
                run->first_place = g_array_new(FALSE, FALSE, sizeof(guint32));
                run->places = g_array_new(FALSE, FALSE, sizeof(Place));
                run->tested = g_new0(PathPattern, DIFF_TESTED);
                run->paths = g_array_new(FALSE, FALSE, sizeof(StoredPath));
        }
}

static void comparison_clear(Comparison *c)
{
        for (int side = 0; side < N_SIDES; side++) {
                Run *run = &c->runs[side];

                for (guint i = 0; i < DIFF_TESTED; i++)
                        path_pattern_clear(&run->tested[i]);
                g_free(run->tested);
                g_free(run->batches);
                g_free(run->counts);
                g_array_free(run->pattern_of, TRUE);
                g_array_free(run->first_place, TRUE);
                g_array_free(run->places, TRUE);
                g_array_free(run->paths, TRUE);
        }
        g_ptr_array_unref(c->times);
        g_array_free(c->own, TRUE);
        g_array_free(c->queued, TRUE);
        g_array_free(c->n_operations, TRUE);
        g_hash_table_unref(c->operations);
        g_hash_table_unref(c->edges);
        g_array_free(c->ways, TRUE);
        g_hash_table_unref(c->way_of);
}

/* The nodes by NodeId, those of one run only too. */
static GArray *nodes_by_id(Comparison *c, GArray *times)
{
        GArray *nodes = g_array_new(FALSE, FALSE, sizeof(DiffNode));

        for (NodeId i = 0; i < c->own->len; i++) {
                DiffNode n = { .node = i,
                               .caller = NO_NODE,
                               .parent = NO_PARENT,
                               .repeats = 1,
                               .times = times_of_node(c, times, i) };
                g_array_append_val(nodes, n);
        }
        return nodes;
}

static gboolean read_patterns(Comparison *c, GError **error)
{
        g_autoptr(GHashTable) by_key = g_hash_table_new(g_str_hash, g_str_equal);
        Diff *d = c->d;

        for (int side = 0; side < N_SIDES; side++)
                d->has_labels[side] = store_reader_has_labels(c->runs[side].reader);
        for (int side = 0; side < N_SIDES; side++)
                if (!diff_add_patterns(d, &c->runs[side], side, by_key, error))
                        return FALSE;
        diff_rank_patterns(d, c->runs);
        d->latency = times_new(c);
        for (guint i = 0; i < d->by_pattern->len; i++)
                if (diff_pattern_at(d, i)->tested)
                        diff_pattern_at(d, i)->latency = times_new(c);
        for (int side = 0; side < N_SIDES; side++)
                if (!diff_read_nodes(c, side, error) || !read_paths(&c->runs[side], error))
                        return FALSE;
        return TRUE;
}

static gboolean compare_runs(Comparison *c, GError **error)
{
        Diff *d = c->d;

        if (!read_patterns(c, error))
                return FALSE;
        complete_causes(c);
        make_trees(c);
        d->by_node = nodes_by_id(c, c->own);
        d->queued = nodes_by_id(c, c->queued);
        for (int side = 0; side < N_SIDES; side++)
                d->has_paths[side] = c->runs[side].paths->len > 0;
        for (guint i = 0; i < c->times->len; i++)
                compared_times_limit(times_at(c, i), d->has_paths);
        for (int side = 0; side < N_SIDES; side++) {
                Run *run = &c->runs[side];

                run->batches = g_new0(guint32, SHARE_BATCHES);
                run->counts = g_new0(guint32, (gsize)d->by_pattern->len * SHARE_BATCHES);
                place_vertices(c, side);
                if (!count_batches(c, side, error))
                        return FALSE;
        }
        compare_times(c);
        compare_counts(c);
        return TRUE;
}

Diff *diff_new(StoreReader *a, StoreReader *b, NodeTable *nodes, GError **error)
{
        g_autoptr(Diff) d = g_new0(Diff, 1);
        Comparison c = { .d = NULL };

        d->nodes = nodes;
        d->times = g_array_new(FALSE, TRUE, sizeof(DiffTimes));
        d->operations = g_array_new(FALSE, FALSE, sizeof(DiffNode));
        d->edges = g_array_new(FALSE, FALSE, sizeof(DiffNode));
        d->causes = g_array_new(FALSE, FALSE, sizeof(DiffNode));
        d->by_pattern = g_array_new(FALSE, FALSE, sizeof(DiffPattern));
        comparison_init(&c, d, a, b);
        gboolean ok = compare_runs(&c, error);
        comparison_clear(&c);
        return ok ? g_steal_pointer(&d) : NULL;
}

static void free_array(GArray *array)
{
        if (array)
                g_array_free(array, TRUE);
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
                free_array(p->nodes);
        }
        free_array(d->by_pattern);
        free_array(d->by_node);
        free_array(d->queued);
        free_array(d->operations);
        free_array(d->edges);
        free_array(d->causes);
        free_array(d->times);
        g_free(d);
}
