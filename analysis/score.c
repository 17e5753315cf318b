/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/score.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/grow.h"
#include "base/hash.h"
#include "store/stored-patterns.h"

const guint score_tolerances[SCORE_TOLERANCES] = { 0, 2, 6 };
const double score_classes[SCORE_CLASSES] = { 0.99, 0.9, 0.5, 0 };

typedef enum { TRUE_ONE, FOUND_ONE, N_SIDES } Side;

#define NOT_FOUND G_MAXUINT32

/* What makes a call the same in both stores. */
typedef struct {
        gint64 start;
        guint64 what; /* a hash of caller, callee and id */
        gboolean has_id;
        gint64 end;
        guint32 call;
} Key;

/* The calls and paths of one store, while they are compared. */
typedef struct {
        guint32 *pattern_of;   /* by pattern of the store: index into Score.patterns */
        guint32 *path_pattern; /* by path: the same */
        guint32 *path_calls;   /* by path: how many */
        guint32 n_paths;
        struct {
                guint32 parent, path;
                NodeId caller;
                float probability;
        } * calls;
        Key *keys;
        guint32 n_calls;
} Paths;

typedef struct {
        char *key; /* stored_pattern_key() */
        guint64 instances[N_SIDES], calls[N_SIDES];
        double drawn;       /* instances by drawings, of the found ones */
        guint64 same_calls; /* calls that are of this pattern in both */
        guint64 children, right_parents, right_instances; /* of the true ones */
        guint32 rank[N_SIDES];  /* from 0; meaningless without instances */
        GArray *nodes[N_SIDES]; /* of Delays, by place */
} Pattern;

/* Of a node of a pattern. Where labels are not compared, several patterns of a store may be one
 * here, and their distributions are merged. */
typedef struct {
        gint64 latency_mean, latency_p99, own_mean, own_p99;
        Histogram latency, own; /* empty where labels are compared */
} Delays;

struct Score {
        GArray *patterns;      /* of Pattern */
        GArray *rank[N_SIDES]; /* of guint32: patterns with instances, most first */
        ScoreParents parents;
        GArray *nodes;     /* of ScoreNode, by NodeId */
        gboolean labels;   /* patterns are compared by them, too */
        gboolean is_drawn; /* the found ones are counted by drawings, too */
};

static Pattern *score_pattern_at(const Score *s, guint32 i)
{
        return &g_array_index(s->patterns, Pattern, i);
}

/* --- reading --------------------------------------------------------------- */

static void delays_clear(gpointer data)
{
        Delays *d = data;

        histogram_clear(&d->latency);
        histogram_clear(&d->own);
}

static gboolean score_add_node(const Score *s, GArray *nodes, StoreReader *reader,
                               const StoredPatternNode *node, GError **error)
{
        Delays *d;

        if (node->place >= nodes->len)
                g_array_set_size(nodes, node->place + 1);
        d = &g_array_index(nodes, Delays, node->place);
        if (s->labels) {
                d->latency_mean = node->latency_mean;
                d->latency_p99 = node->latency_p99;
                d->own_mean = node->own_mean;
                d->own_p99 = node->own_p99;
                return TRUE;
        }
        if (!store_reader_histogram(reader, &node->latency, &d->latency, error) ||
            !store_reader_histogram(reader, &node->own, &d->own, error))
                return FALSE;
        d->latency_mean = histogram_mean(&d->latency);
        d->latency_p99 = histogram_quantile(&d->latency, 0.99);
        d->own_mean = histogram_mean(&d->own);
        d->own_p99 = histogram_quantile(&d->own, 0.99);
        return TRUE;
}

static gboolean score_add_patterns(Score *s, GHashTable *by_key, Side side, StoreReader *reader,
                                   Paths *paths, GError **error)
{
        g_autoptr(GArray) pattern_of = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_autoptr(GArray) patterns = stored_patterns_load(reader, error);
        StoredPatternNode node;
        int status;

        for (guint32 n = 0; patterns && n < patterns->len; n++) {
                const StoredPattern *stored = stored_pattern_at(patterns, n);
                g_autofree char *key = stored_pattern_key(stored, s->labels);
                gpointer known;
                guint32 i = s->patterns->len;

                if (g_hash_table_lookup_extended(by_key, key, NULL, &known)) {
                        i = GPOINTER_TO_UINT(known);
                } else {
                        Pattern p = { .key = g_steal_pointer(&key) };

                        for (Side k = 0; k < N_SIDES; k++) {
                                p.nodes[k] = g_array_new(FALSE, TRUE, sizeof(Delays));
                                g_array_set_clear_func(p.nodes[k], delays_clear);
                        }
                        g_array_append_val(s->patterns, p);
                        g_hash_table_insert(by_key, p.key, GUINT_TO_POINTER(i));
                }
                g_array_append_val(pattern_of, i);
                if (side == FOUND_ONE && stored->is_drawn) {
                        score_pattern_at(s, i)->drawn += stored->drawn;
                        s->is_drawn = TRUE;
                }
        }
        paths->pattern_of = (guint32 *)g_array_free(g_steal_pointer(&pattern_of), FALSE);
        if (!patterns)
                return FALSE;
        while ((status = store_reader_next_pattern_node(reader, &node, error)) > 0)
                if (!score_add_node(
                            s, score_pattern_at(s, paths->pattern_of[node.pattern])->nodes[side],
                            reader, &node, error))
                        return FALSE;
        return status == 0;
}

static gboolean score_read_paths(Score *s, Side side, StoreReader *reader, Paths *paths,
                                 GError **error)
{
        g_autoptr(GArray) patterns = g_array_new(FALSE, FALSE, sizeof(guint32));
        StoredPath path;
        int status;

        while ((status = store_reader_next_path(reader, &path, error)) > 0) {
                guint32 pattern = paths->pattern_of[path.pattern];

                g_array_append_val(patterns, pattern);
                score_pattern_at(s, pattern)->instances[side]++;
        }
        paths->n_paths = patterns->len;
        paths->path_calls = g_new0(guint32, patterns->len);
        paths->path_pattern = (guint32 *)g_array_free(g_steal_pointer(&patterns), FALSE);
        return status == 0;
}

static gboolean score_read_calls(Score *s, Side side, StoreReader *reader, Paths *paths,
                                 GError **error)
{
        StoredCall call;
        gsize size = 0;
        int status;

        while ((status = store_reader_next_call(reader, &call, error)) > 0) {
                guint32 i = paths->n_calls++;

                if (i == size) {
                        GROW(paths->calls, size, 1024);
                        paths->keys = g_renew(Key, paths->keys, size);
                }
                paths->calls[i].parent = call.parent;
                paths->calls[i].path = call.path;
                paths->calls[i].caller = call.caller;
                paths->calls[i].probability = (float)call.probability;
                paths->keys[i] = (Key){
                        .start = call.start,
                        .what = hash_word(call.id ? hash_bytes(call.id, call.id_length) : 0,
                                          (guint64)call.caller << 32 | call.callee),
                        .has_id = call.id_length > 0,
                        .end = call.end,
                        .call = i,
                };
                paths->path_calls[call.path]++;
                score_pattern_at(s, paths->path_pattern[call.path])->calls[side]++;
        }
        return status == 0;
}

static void paths_clear(Paths *paths)
{
        g_free(paths->pattern_of);
        g_free(paths->path_pattern);
        g_free(paths->path_calls);
        g_free(paths->calls);
        g_free(paths->keys);
}

/* --- the same calls -------------------------------------------------------- */

/* By what makes calls the same alone. */
static int compare_same(const Key *a, const Key *b)
{
        return COMPARE(a->start, b->start) ?: COMPARE(a->what, b->what);
}

COMPARISON(compare_keys, Key,
           compare_same(a, b) ?:
           COMPARE(a->end, b->end) ?:
           COMPARE(a->call, b->call))

COMPARISON(compare_ids, Key, COMPARE(a->what, b->what) ?: COMPARE(a->call, b->call))

static void sort_keys(Paths *paths, int (*compare)(const void *, const void *))
{
        if (paths->n_calls > 0) /* or there is no array */
                qsort(paths->keys, paths->n_calls, sizeof *paths->keys, compare);
}

/* How many keys from the i-th on have its caller, callee and id. */
static guint32 count_same_id(const Paths *paths, guint32 i)
{
        guint32 n = 1;

        while (i + n < paths->n_calls && paths->keys[i + n].what == paths->keys[i].what)
                n++;
        return n;
}

/* Calls with an id that each store has once are the same, whatever their stamps: clocks may have
 * been put right in one store. */
static void match_unique_ids(Paths *truth, Paths *found, guint32 *found_of)
{
        guint32 t = 0, f = 0;

        sort_keys(truth, compare_ids);
        sort_keys(found, compare_ids);
        while (t < truth->n_calls && f < found->n_calls) {
                const Key *a = &truth->keys[t], *b = &found->keys[f];
                guint32 n_true = count_same_id(truth, t), n_found = count_same_id(found, f);

                if (a->what == b->what && a->has_id && b->has_id && n_true == 1 && n_found == 1)
                        found_of[a->call] = b->call;
                t += a->what <= b->what ? n_true : 0;
                f += a->what >= b->what ? n_found : 0;
        }
}

/* By true call: the found one, or NOT_FOUND. The keys are used up. */
static guint32 *match_calls(Paths *truth, Paths *found, guint64 *n_same)
{
        guint32 *found_of = g_new(guint32, truth->n_calls);
        guint32 t = 0, f = 0;

        for (guint32 i = 0; i < truth->n_calls; i++)
                found_of[i] = NOT_FOUND;
        match_unique_ids(truth, found, found_of);
        sort_keys(truth, compare_keys);
        sort_keys(found, compare_keys);
        while (t < truth->n_calls && f < found->n_calls) {
                int order = compare_same(&truth->keys[t], &found->keys[f]);

                if (order == 0 && found_of[truth->keys[t].call] == NOT_FOUND)
                        found_of[truth->keys[t].call] = found->keys[f].call;
                t += order <= 0;
                f += order >= 0;
        }
        for (guint32 i = 0; i < truth->n_calls; i++)
                *n_same += found_of[i] != NOT_FOUND;
        g_clear_pointer(&truth->keys, g_free);
        g_clear_pointer(&found->keys, g_free);
        return found_of;
}

/* --- comparing ------------------------------------------------------------- */

/* Whether a call that was found is found with its true parent. */
static gboolean has_true_parent(const Paths *truth, const Paths *found, const guint32 *found_of,
                                guint32 call)
{
        guint32 parent = truth->calls[call].parent;
        guint32 found_parent = found->calls[found_of[call]].parent;

        return parent == NO_PARENT ? found_parent == NO_PARENT
                                   : found_parent != NO_PARENT && found_of[parent] == found_parent;
}

static void count_said(ScoreParents *p, float probability, gboolean is_right)
{
        guint i = 0;

        while (i + 1 < SCORE_CLASSES && probability < (float)score_classes[i])
                i++;
        p->said[i].calls++;
        p->said[i].right += is_right;
}

static void count_node(Score *s, NodeId node, gboolean is_right, float probability)
{
        ScoreNode *n;

        if (node >= s->nodes->len)
                g_array_set_size(s->nodes, node + 1);
        n = &g_array_index(s->nodes, ScoreNode, node);
        n->calls++;
        n->right += is_right;
        n->said += (double)probability;
}

/* right: by true path, how many of its calls are found with their true parents. */
static void score_count_call(Score *s, const Paths *truth, const Paths *found,
                             const guint32 *found_of, guint32 call, guint32 *right)
{
        ScoreParents *p = &s->parents;
        guint32 pattern = truth->path_pattern[truth->calls[call].path];
        guint32 f = found_of[call];
        gboolean is_root = truth->calls[call].parent == NO_PARENT;
        gboolean is_right = f != NOT_FOUND && has_true_parent(truth, found, found_of, call);

        right[truth->calls[call].path] += is_right;
        if (f != NOT_FOUND)
                score_pattern_at(s, pattern)->same_calls +=
                        found->path_pattern[found->calls[f].path] == pattern;
        if (f != NOT_FOUND && found->calls[f].parent != NO_PARENT)
                count_said(p, found->calls[f].probability, is_right);
        if (is_root) {
                p->roots++;
                p->right_roots += is_right;
                return;
        }
        p->children++;
        if (f == NOT_FOUND)
                p->gone++;
        else if (is_right)
                p->right++;
        else if (found->calls[f].parent == NO_PARENT)
                p->none++;
        else
                p->other++;
        count_node(s, truth->calls[call].caller, is_right,
                   f == NOT_FOUND ? 0 : found->calls[f].probability);
        score_pattern_at(s, pattern)->children++;
        score_pattern_at(s, pattern)->right_parents += is_right;
}

/* An instance is right if all its calls have their true parents: they are one instance in the found
 * store too, without other calls. */
static void score_compare_calls(Score *s, const Paths *truth, const Paths *found,
                                const guint32 *found_of)
{
        g_autofree guint32 *right = g_new0(guint32, truth->n_paths);

        for (guint32 i = 0; i < truth->n_calls; i++)
                score_count_call(s, truth, found, found_of, i, right);
        for (guint32 i = 0; i < truth->n_calls; i++) {
                guint32 path = truth->calls[i].path;

                if (truth->calls[i].parent == NO_PARENT && right[path] == truth->path_calls[path] &&
                    right[path] == found->path_calls[found->calls[found_of[i]].path])
                        score_pattern_at(s, truth->path_pattern[path])->right_instances++;
        }
}

typedef struct {
        const Score *score;
        Side side;
} Ranking;

static int compare_ranks(const void *a, const void *b, void *data)
{
        const Ranking *r = data;
        const Pattern *x = score_pattern_at(r->score, *(const guint32 *)a);
        const Pattern *y = score_pattern_at(r->score, *(const guint32 *)b);

        return COMPARE(y->instances[r->side], x->instances[r->side]) ?: strcmp(x->key, y->key);
}

static void score_rank_patterns(Score *s, Side side)
{
        Ranking ranking = { s, side };
        GArray *rank = s->rank[side] = g_array_new(FALSE, FALSE, sizeof(guint32));

        for (guint32 i = 0; i < s->patterns->len; i++)
                if (score_pattern_at(s, i)->instances[side] > 0)
                        g_array_append_val(rank, i);
        if (rank->len > 0)
                qsort_r(rank->data, rank->len, sizeof(guint32), compare_ranks, &ranking);
        for (guint32 i = 0; i < rank->len; i++)
                score_pattern_at(s, g_array_index(rank, guint32, i))->rank[side] = i;
}

Score *score_new(StoreReader *truth, StoreReader *found, GError **error)
{
        g_autoptr(Score) s = g_new0(Score, 1);
        g_autoptr(GHashTable) by_key = g_hash_table_new(g_str_hash, g_str_equal);
        StoreReader *readers[N_SIDES] = { truth, found };
        Paths paths[N_SIDES] = { 0 };
        gboolean ok = TRUE;

        s->patterns = g_array_new(FALSE, FALSE, sizeof(Pattern));
        s->nodes = g_array_new(FALSE, TRUE, sizeof(ScoreNode));
        s->labels = store_reader_has_labels(truth) && store_reader_has_labels(found);
        for (Side k = 0; ok && k < N_SIDES; k++)
                ok = score_add_patterns(s, by_key, k, readers[k], &paths[k], error) &&
                     score_read_paths(s, k, readers[k], &paths[k], error) &&
                     score_read_calls(s, k, readers[k], &paths[k], error);
        if (ok) {
                g_autofree guint32 *found_of =
                        match_calls(&paths[TRUE_ONE], &paths[FOUND_ONE], &s->parents.in_both);

                score_compare_calls(s, &paths[TRUE_ONE], &paths[FOUND_ONE], found_of);
                for (Side k = 0; k < N_SIDES; k++)
                        score_rank_patterns(s, k);
        }
        for (Side k = 0; k < N_SIDES; k++)
                paths_clear(&paths[k]);
        return ok ? g_steal_pointer(&s) : NULL;
}

void score_free(Score *s)
{
        if (!s)
                return;
        for (guint32 i = 0; i < s->patterns->len; i++) {
                Pattern *p = score_pattern_at(s, i);

                g_free(p->key);
                for (Side k = 0; k < N_SIDES; k++)
                        g_array_free(p->nodes[k], TRUE);
        }
        g_array_free(s->patterns, TRUE);
        g_array_free(s->nodes, TRUE);
        for (Side k = 0; k < N_SIDES; k++)
                if (s->rank[k])
                        g_array_free(s->rank[k], TRUE);
        g_free(s);
}

const ScoreParents *score_parents(const Score *s)
{
        return &s->parents;
}

static int compare_drawn(const void *a, const void *b, void *data)
{
        const Pattern *x = score_pattern_at(data, *(const guint32 *)a);
        const Pattern *y = score_pattern_at(data, *(const guint32 *)b);

        return COMPARE(y->drawn, x->drawn) ?: strcmp(x->key, y->key);
}

ScoreDrawn score_drawn(const Score *s)
{
        const GArray *found = s->rank[FOUND_ONE];
        g_autoptr(GArray) by_drawings = g_array_copy((GArray *)found);
        double same_drawn = 0, same_found = 0, all = 0;
        ScoreDrawn d = { 0 };

        if (!s->is_drawn || found->len == 0)
                return d;
        qsort_r(by_drawings->data, found->len, sizeof(guint32), compare_drawn, (void *)s);
        d.first = MIN(found->len, SCORE_DRAWN_FIRST);
        for (guint i = 0; i < d.first; i++) {
                const Pattern *drawn = score_pattern_at(s, g_array_index(by_drawings, guint32, i));

                d.true_drawn += drawn->instances[TRUE_ONE] > 0;
                d.true_found +=
                        score_pattern_at(s, g_array_index(found, guint32, i))->instances[TRUE_ONE] >
                        0;
        }
        for (guint32 i = 0; i < s->patterns->len; i++) {
                const Pattern *p = score_pattern_at(s, i);
                double is = (double)p->instances[TRUE_ONE];

                all += is;
                same_drawn += MIN(p->drawn, is);
                same_found += MIN((double)p->instances[FOUND_ONE], is);
        }
        d.overlap_drawn = all > 0 ? same_drawn / all : 0;
        d.overlap_found = all > 0 ? same_found / all : 0;
        return d;
}

ScoreNode score_node(const Score *s, NodeId node)
{
        const ScoreNode none = { 0, 0, 0 };

        return node < s->nodes->len ? g_array_index(s->nodes, ScoreNode, node) : none;
}

/* --- the first N ----------------------------------------------------------- */

/* How many instances a found pattern needs to be among the first n; 0 where there
 * is room for more. */
static guint64 least_instances(const Score *s, guint32 n)
{
        const GArray *rank = s->rank[FOUND_ONE];

        if (n > rank->len)
                return 0;
        return score_pattern_at(s, g_array_index(rank, guint32, n - 1))->instances[FOUND_ONE];
}

static void add_delay(ScoreDelay *d, guint64 times, gint64 is, gint64 found)
{
        gint128 error = (gint128)found - is;

        d->error += (error < 0 ? -error : error) * (gint128)times;
        d->sum += (gint128)is * (gint128)times;
}

static void add_delays(ScoreRow *row, const Pattern *p)
{
        guint64 times = p->instances[TRUE_ONE];

        for (guint i = 0; i < MIN(p->nodes[TRUE_ONE]->len, p->nodes[FOUND_ONE]->len); i++) {
                const Delays *t = &g_array_index(p->nodes[TRUE_ONE], Delays, i);
                const Delays *f = &g_array_index(p->nodes[FOUND_ONE], Delays, i);

                row->delays += times;
                add_delay(&row->latency_mean, times, t->latency_mean, f->latency_mean);
                add_delay(&row->latency_p99, times, t->latency_p99, f->latency_p99);
                add_delay(&row->own_mean, times, t->own_mean, f->own_mean);
                add_delay(&row->own_p99, times, t->own_p99, f->own_p99);
        }
}

static void add_true_pattern(ScoreRow *row, const Pattern *p, guint32 n, guint64 least)
{
        guint64 is = p->instances[TRUE_ONE], found = p->instances[FOUND_ONE];

        row->true_patterns++;
        row->true_instances += is;
        row->fn_instances += is > found ? is - found : 0;
        row->true_calls += p->calls[TRUE_ONE];
        row->fn_calls += p->calls[TRUE_ONE] - p->same_calls;
        row->right_instances += p->right_instances;
        row->children += p->children;
        row->right_parents += p->right_parents;
        add_delays(row, p);
        if (found > 0 && p->rank[FOUND_ONE] < n)
                return;
        for (guint i = 0; i < SCORE_TOLERANCES; i++)
                row->fn_patterns[i] +=
                        found == 0 || score_tolerances[i] == 0 ||
                        (gint128)found * 100 < (gint128)least * (100 - score_tolerances[i]);
}

static void add_found_pattern(ScoreRow *row, const Pattern *p)
{
        guint64 is = p->instances[TRUE_ONE], found = p->instances[FOUND_ONE];

        row->found_patterns++;
        row->fp_patterns += is == 0;
        row->found_instances += found;
        row->fp_instances += found > is ? found - is : 0;
        row->found_calls += p->calls[FOUND_ONE];
        row->fp_calls += p->calls[FOUND_ONE] - p->same_calls;
}

void score_row(const Score *s, guint32 n, ScoreRow *row)
{
        guint64 least = least_instances(s, n);

        *row = (ScoreRow){ 0 };
        for (guint32 i = 0; i < MIN(n, s->rank[TRUE_ONE]->len); i++)
                add_true_pattern(row,
                                 score_pattern_at(s, g_array_index(s->rank[TRUE_ONE], guint32, i)),
                                 n, least);
        for (guint32 i = 0; i < MIN(n, s->rank[FOUND_ONE]->len); i++)
                add_found_pattern(
                        row, score_pattern_at(s, g_array_index(s->rank[FOUND_ONE], guint32, i)));
}
