/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Scores against the paper's example and others worked out by hand, and on random
 * forests against a second implementation that looks everything up the long way.
 */
#include "analysis/score.h"

#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "tests/unit/scratch.h"

enum { MAX_CALLS = 400, MAX_ROOTS = MAX_CALLS };

typedef struct {
        char caller, callee; /* names of nodes: one letter */
        char id;             /* 0: none */
        gint64 start, end;
        int parent; /* -1: root; children come after their parents */
} TestCall;

/* One side: what is written to a store. */
typedef struct {
        TestCall calls[MAX_CALLS];
        int n;
} Forest;

static void add_call(Forest *f, char caller, char callee, gint64 start, gint64 end, int parent)
{
        g_assert_cmpint(f->n, <, MAX_CALLS);
        f->calls[f->n++] = (TestCall){ caller, callee, 0, start, end, parent };
}

/* A chain of calls, "abcd" being a > b > c > d, n times; each has its own times from
 * *now on, 10 apart, and all end together. */
static void add_chains(Forest *f, const char *nodes, int n, gint64 *now)
{
        for (; n > 0; n--, *now += 1000)
                for (int i = 0; nodes[i + 1]; i++)
                        add_call(f, nodes[i], nodes[i + 1], *now + 10 * i, *now + 500,
                                 i ? f->n - 1 : -1);
}

/* --- writing it ------------------------------------------------------------ */

static void gather(const Forest *f, int call, guint32 parent, const NodeId *nodes, PathCall *path,
                   guint32 *n)
{
        const TestCall *c = &f->calls[call];
        guint32 place = (*n)++;

        path[place] = (PathCall){ .parent = parent,
                                  .caller = nodes[(int)c->caller],
                                  .callee = nodes[(int)c->callee],
                                  .start = c->start,
                                  .enter = c->start,
                                  .reply = c->end,
                                  .end = c->end,
                                  .stamps = 1 << CALL_SENT | 1 << RET_SENT,
                                  .probability = 1,
                                  .family = 1,
                                  .id = &c->id,
                                  .id_length = c->id != 0 };
        for (int i = call + 1; i < f->n; i++)
                if (f->calls[i].parent == call)
                        gather(f, i, place, nodes, path, n);
}

static char *write_store(const char *name, const Forest *f)
{
        static const StoreRun run = { .arguments = "", .parameters = "" };
        g_autoptr(NodeTable) table = node_table_new();
        g_autoptr(PathSet) set = path_set_new(table, SIBLINGS_MULTISET);
        char *path = scratch_path(name);
        Store *store = store_new(path, set, &run, NULL);
        PathCall calls[MAX_CALLS];
        NodeId nodes[128];

        path_set_summary(set)->method = "by hand";
        /* Each side numbers nodes in its own order. */
        for (int i = 0; i < f->n; i++) {
                nodes[(int)f->calls[i].callee] = node_table_add(table, &f->calls[i].callee, 1);
                nodes[(int)f->calls[i].caller] = node_table_add(table, &f->calls[i].caller, 1);
        }
        for (int i = 0; i < f->n; i++) {
                guint32 n = 0;

                if (f->calls[i].parent >= 0)
                        continue;
                gather(f, i, NO_PARENT, nodes, calls, &n);
                g_assert_true(path_set_add(set, calls, n, NULL));
        }
        g_assert_true(store_finish(store, NULL));
        return path;
}

static Score *score_forests(const Forest *truth, const Forest *found)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autofree char *t = write_store("true.sqlite", truth);
        g_autofree char *f = write_store("found.sqlite", found);
        g_autoptr(StoreReader) true_reader = store_reader_new(t, nodes, NULL);
        g_autoptr(StoreReader) found_reader = store_reader_new(f, nodes, NULL);
        g_autoptr(GError) error = NULL;
        Score *score = score_new(true_reader, found_reader, &error);

        g_assert_no_error(error);
        return score;
}

/* --- by hand --------------------------------------------------------------- */

#define ASSERT_PATTERNS(row, is, fn, fn2, fn6, found, fp)                                          \
        G_STMT_START                                                                               \
        {                                                                                          \
                g_assert_cmpuint((row).true_patterns, ==, is);                                     \
                g_assert_cmpuint((row).fn_patterns[0], ==, fn);                                    \
                g_assert_cmpuint((row).fn_patterns[1], ==, fn2);                                   \
                g_assert_cmpuint((row).fn_patterns[2], ==, fn6);                                   \
                g_assert_cmpuint((row).found_patterns, ==, found);                                 \
                g_assert_cmpuint((row).fp_patterns, ==, fp);                                       \
        }                                                                                          \
        G_STMT_END

#define ASSERT_COUNTS(is, fn, found, fp, e_is, e_fn, e_found, e_fp)                                \
        G_STMT_START                                                                               \
        {                                                                                          \
                g_assert_cmpuint(is, ==, e_is);                                                    \
                g_assert_cmpuint(fn, ==, e_fn);                                                    \
                g_assert_cmpuint(found, ==, e_found);                                              \
                g_assert_cmpuint(fp, ==, e_fp);                                                    \
        }                                                                                          \
        G_STMT_END
#define ASSERT_INSTANCES(row, ...)                                                                 \
        ASSERT_COUNTS((row).true_instances, (row).fn_instances, (row).found_instances,             \
                      (row).fp_instances, __VA_ARGS__)
#define ASSERT_CALLS(row, ...)                                                                     \
        ASSERT_COUNTS((row).true_calls, (row).fn_calls, (row).found_calls, (row).fp_calls,         \
                      __VA_ARGS__)

/* Section 7.5.1: A > B > C > D twice. Found were one such path, A > B and C > D. */
static void test_paper(void)
{
        g_autofree Forest *truth = g_new0(Forest, 1), *found = g_new0(Forest, 1);
        g_autoptr(Score) score = NULL;
        gint64 now = 0;
        ScoreRow row;

        add_chains(truth, "abcd", 2, &now);
        now = 0;
        add_chains(found, "abcd", 1, &now);
        add_call(found, 'a', 'b', 1000, 1500, -1);
        add_call(found, 'c', 'd', 1020, 1500, -1);
        score = score_forests(truth, found);
        score_row(score, G_MAXUINT32, &row);
        ASSERT_PATTERNS(row, 1, 0, 0, 0, 3, 2);
        ASSERT_INSTANCES(row, 2, 1, 3, 2);
        ASSERT_CALLS(row, 6, 3, 5, 2);
        g_assert_cmpuint(row.right_instances, ==, 1);
        g_assert_cmpuint(score_parents(score)->in_both, ==, 5);
        g_assert_cmpuint(score_parents(score)->children, ==, 4);
        g_assert_cmpuint(score_parents(score)->right, ==, 2);
        g_assert_cmpuint(score_parents(score)->other, ==, 0);
        g_assert_cmpuint(score_parents(score)->none, ==, 1);
        g_assert_cmpuint(score_parents(score)->gone, ==, 1);
        g_assert_cmpuint(score_parents(score)->roots, ==, 2);
        g_assert_cmpuint(score_parents(score)->right_roots, ==, 2);
}

/* True are 100 of ab, 60 of ac and 50 of ad; found are 53 of ac and 50 + n of ad, which
 * got calls that are not there. So of the first two ac is missing; it would have needed
 * as many as ad has. */
static void assert_near_tie(int n, guint fn2, guint fn6)
{
        g_autofree Forest *truth = g_new0(Forest, 1), *found = g_new0(Forest, 1);
        g_autoptr(Score) score = NULL;
        gint64 now = 0;
        ScoreRow row;

        add_chains(truth, "ab", 100, &now);
        add_chains(truth, "ac", 60, &now);
        add_chains(truth, "ad", 50, &now);
        now = 0;
        add_chains(found, "ab", 100, &now);
        add_chains(found, "ac", 53, &now);
        now += 7 * 1000;
        add_chains(found, "ad", 50 + n, &now);
        score = score_forests(truth, found);
        score_row(score, 1, &row);
        ASSERT_PATTERNS(row, 1, 0, 0, 0, 1, 0);
        score_row(score, 2, &row);
        ASSERT_PATTERNS(row, 2, 1, fn2, fn6, 2, 0);
        score_row(score, 3, &row);
        ASSERT_PATTERNS(row, 3, 0, 0, 0, 3, 0);
        ASSERT_INSTANCES(row, 210, 7, 203 + n, n);
}

static void test_near_ties(void)
{
        assert_near_tie(4, 0, 0); /* 53 of 54: 1.9 % are missing */
        assert_near_tie(5, 1, 0); /* 53 of 55: 3.6 % */
        assert_near_tie(6, 1, 0); /* 53 of 56: 5.4 % */
        assert_near_tie(7, 1, 1); /* 53 of 57: 7.0 % */
}

/* Of equals the first by name: that is the same on both sides, and no error. */
static void test_ties(void)
{
        g_autofree Forest *truth = g_new0(Forest, 1), *found = g_new0(Forest, 1);
        g_autoptr(Score) score = NULL;
        gint64 now = 0;
        ScoreRow row;

        add_chains(truth, "ac", 5, &now);
        add_chains(truth, "ab", 5, &now);
        *found = *truth;
        score = score_forests(truth, found);
        score_row(score, 1, &row);
        ASSERT_PATTERNS(row, 1, 0, 0, 0, 1, 0);
        score_row(score, 10, &row);
        ASSERT_PATTERNS(row, 2, 0, 0, 0, 2, 0);
        g_assert_cmpuint(row.right_instances, ==, 10);
}

/* A pattern that is not found at all is no near tie, however few it is about, and one
 * that is only found takes the place of a true one. */
static void test_displaced(void)
{
        g_autofree Forest *truth = g_new0(Forest, 1), *found = g_new0(Forest, 1);
        g_autoptr(Score) score = NULL;
        gint64 now = 0;
        ScoreRow row;

        add_chains(truth, "ab", 5, &now);
        add_chains(truth, "ac", 3, &now);
        add_chains(truth, "ad", 1, &now);
        now = 0;
        add_chains(found, "ab", 5, &now);
        add_chains(found, "ax", 4, &now);
        add_chains(found, "ac", 3, &now);
        score = score_forests(truth, found);
        score_row(score, 2, &row);
        ASSERT_PATTERNS(row, 2, 1, 1, 1, 2, 1);
        score_row(score, 3, &row);
        ASSERT_PATTERNS(row, 3, 1, 1, 1, 3, 1);
        score_row(score, 4, &row);
        ASSERT_PATTERNS(row, 3, 1, 1, 1, 3, 1);
}

/* Two requests at once, each with two calls to the same callee. Where they swap one,
 * every pattern and its count is right, and no instance is. */
static void test_parallel(void)
{
        g_autofree Forest *truth = g_new0(Forest, 1), *found = g_new0(Forest, 1);
        g_autoptr(Score) score = NULL;
        ScoreRow row;

        add_call(truth, 'a', 'b', 0, 100, -1);
        add_call(truth, 'a', 'b', 1, 101, -1);
        for (int i = 0; i < 4; i++)
                add_call(truth, 'b', 'c', 10 + i, 50, i / 2);
        *found = *truth;
        found->calls[3].parent = 1;
        found->calls[4].parent = 0;
        score = score_forests(truth, found);
        score_row(score, 1, &row);
        ASSERT_PATTERNS(row, 1, 0, 0, 0, 1, 0);
        ASSERT_INSTANCES(row, 2, 0, 2, 0);
        ASSERT_CALLS(row, 6, 0, 6, 0);
        g_assert_cmpuint(row.right_instances, ==, 0);
        g_assert_cmpuint(row.children, ==, 4);
        g_assert_cmpuint(row.right_parents, ==, 2);
        g_assert_cmpuint(score_parents(score)->other, ==, 2);
}

/* Calls that only their ends, or nothing, tell apart. */
static void test_same_key(void)
{
        g_autofree Forest *truth = g_new0(Forest, 1), *found = g_new0(Forest, 1);
        g_autoptr(Score) score = NULL;
        ScoreRow row;

        add_call(truth, 'a', 'b', 0, 100, -1);
        add_call(truth, 'b', 'c', 10, 20, 0);
        add_call(truth, 'b', 'c', 10, 30, 0);
        add_call(truth, 'b', 'c', 10, 30, 0);
        add_call(truth, 'a', 'b', 1, 101, -1);
        add_call(truth, 'b', 'c', 10, 40, 4);
        found->n = truth->n;
        found->calls[0] = truth->calls[4]; /* in another order */
        found->calls[1] = truth->calls[5];
        found->calls[1].parent = 0;
        for (int i = 2; i < 6; i++) {
                found->calls[i] = truth->calls[i == 2 ? 0 : 6 - i];
                found->calls[i].parent = i == 2 ? -1 : 2;
        }
        score = score_forests(truth, found);
        score_row(score, 2, &row);
        g_assert_cmpuint(row.right_instances, ==, 2);
        g_assert_cmpuint(row.right_parents, ==, 4);
}

/* An instance that was cut is in one store only; what is below it may be in both. */
static void test_cut(void)
{
        g_autofree Forest *truth = g_new0(Forest, 1), *found = g_new0(Forest, 1);
        g_autoptr(Score) score = NULL;
        gint64 now = 0;
        ScoreRow row;

        add_chains(truth, "abc", 1, &now);
        add_chains(truth, "de", 1, &now);
        add_call(found, 'b', 'c', 10, 500, -1);
        score = score_forests(truth, found);
        score_row(score, G_MAXUINT32, &row);
        ASSERT_PATTERNS(row, 2, 2, 2, 2, 1, 1);
        ASSERT_CALLS(row, 3, 3, 1, 1);
        g_assert_cmpuint(score_parents(score)->in_both, ==, 1);
        g_assert_cmpuint(score_parents(score)->none, ==, 1);
        g_assert_cmpuint(score_parents(score)->right_roots, ==, 0);
        g_assert_cmpuint(row.delays, ==, 0);
}

/* Two of a > b > c, of which b needs 100 and 300; found is one of them, and a third
 * that needs 500. Of d > e, which takes 100, one was found that takes 60. */
static void test_delays(void)
{
        g_autofree Forest *truth = g_new0(Forest, 1), *found = g_new0(Forest, 1);
        g_autoptr(Score) score = NULL;
        gint64 now = 0;
        ScoreRow row;

        for (int i = 0; i < 3; i++) {
                Forest *f = i < 2 ? truth : found;

                add_call(f, 'a', 'b', 10000 * i, 10000 * i + 140 + 200 * i, -1);
                add_call(f, 'b', 'c', 10000 * i + 20, 10000 * i + 60, f->n - 1);
        }
        add_call(found, 'a', 'b', 0, 140, -1);
        add_call(found, 'b', 'c', 20, 60, 2);
        add_call(truth, 'd', 'e', 40000, 40100, -1);
        add_call(found, 'd', 'e', 41000, 41060, -1);
        now = 50000;
        add_chains(truth, "ax", 3, &now); /* not found: its delays do not count */
        score = score_forests(truth, found);
        score_row(score, G_MAXUINT32, &row);
        g_assert_cmpuint(row.delays, ==, 5); /* two nodes, two instances; one and one */
        /* Latencies: 140 and 340, found are 140 and 540; of c 40 always; of e 100. */
        g_assert_cmpint(row.latency_mean.error, ==, 2 * 100 + 40);
        g_assert_cmpint(row.latency_mean.sum, ==, 2 * 240 + 2 * 40 + 100);
        g_assert_cmpint(row.latency_p99.error, ==, 2 * 200 + 40);
        g_assert_cmpint(row.latency_p99.sum, ==, 2 * 340 + 2 * 40 + 100);
        g_assert_cmpint(row.own_mean.error, ==, 2 * 100 + 40);
        g_assert_cmpint(row.own_mean.sum, ==, 2 * 200 + 2 * 40 + 100);
        g_assert_cmpint(row.own_p99.error, ==, 2 * 200 + 40);
        g_assert_cmpint(row.own_p99.sum, ==, 2 * 300 + 2 * 40 + 100);
}

static void test_nothing(void)
{
        g_autofree Forest *truth = g_new0(Forest, 1);
        g_autoptr(Score) score = score_forests(truth, truth);
        ScoreRow row;

        score_row(score, 1, &row);
        ASSERT_PATTERNS(row, 0, 0, 0, 0, 0, 0);
        ASSERT_CALLS(row, 0, 0, 0, 0);
}

/* --- the long way ----------------------------------------------------------- */

static int compare_texts(gconstpointer a, gconstpointer b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *below(const Forest *f, int call)
{
        g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *joined = NULL;

        for (int i = 0; i < f->n; i++)
                if (f->calls[i].parent == call)
                        g_ptr_array_add(parts, below(f, i));
        if (parts->len == 0)
                return g_strdup_printf("%c", f->calls[call].callee);
        g_ptr_array_sort(parts, compare_texts);
        g_ptr_array_add(parts, NULL);
        joined = g_strjoinv(",", (char **)parts->pdata);
        return g_strdup_printf("%c(%s)", f->calls[call].callee, joined);
}

static int root_of(const Forest *f, int call)
{
        while (f->calls[call].parent >= 0)
                call = f->calls[call].parent;
        return call;
}

/* By call: the signature of its path. */
static char **signatures(const Forest *f)
{
        char **all = g_new0(char *, f->n + 1);

        for (int i = 0; i < f->n; i++) {
                int root = root_of(f, i);
                g_autofree char *text = below(f, root);

                all[i] = g_strdup_printf("%c>%s", f->calls[root].caller, text);
        }
        return all;
}

typedef struct {
        const char *signature;
        guint count;
} Counted;

static int compare_counted(const void *a, const void *b)
{
        const Counted *x = a, *y = b;

        return x->count != y->count ? (int)y->count - (int)x->count
                                    : strcmp(x->signature, y->signature);
}

static guint count_of(const Counted *c, guint n, const char *signature)
{
        for (guint i = 0; i < n; i++)
                if (!strcmp(c[i].signature, signature))
                        return c[i].count;
        return 0;
}

/* The patterns, best first; returns how many. */
static guint rank(const Forest *f, char *const *all, Counted *c)
{
        guint n = 0;

        for (int i = 0; i < f->n; i++) {
                guint k = 0;

                if (f->calls[i].parent >= 0)
                        continue;
                while (k < n && strcmp(c[k].signature, all[i]))
                        k++;
                if (k == n)
                        c[n++] = (Counted){ all[i], 0 };
                c[k].count++;
        }
        qsort(c, n, sizeof *c, compare_counted);
        return n;
}

static int same_call(const Forest *f, const TestCall *c)
{
        for (int i = 0; i < f->n; i++) {
                const TestCall *o = &f->calls[i];

                if (o->start == c->start && o->caller == c->caller && o->callee == c->callee &&
                    o->id == c->id)
                        return i;
        }
        return -1;
}

static gboolean right_parent(const Forest *truth, const Forest *found, int call)
{
        int f = same_call(found, &truth->calls[call]), parent = truth->calls[call].parent;

        if (f < 0)
                return FALSE;
        if (parent < 0 || found->calls[f].parent < 0)
                return parent < 0 && found->calls[f].parent < 0;
        return same_call(found, &truth->calls[parent]) == found->calls[f].parent;
}

static gboolean right_instance(const Forest *truth, const Forest *found, int root)
{
        int n = 0, n_found = 0, found_root = same_call(found, &truth->calls[root]);

        for (int i = 0; i < truth->n; i++) {
                n += root_of(truth, i) == root;
                if (root_of(truth, i) == root && !right_parent(truth, found, i))
                        return FALSE;
        }
        for (int i = 0; i < found->n; i++)
                n_found += root_of(found, i) == found_root;
        return n == n_found;
}

static void add_expected_calls(const Forest *f, const Forest *other, char *const *all,
                               char *const *other_all, const Counted *first, guint n, guint64 *sum,
                               guint64 *wrong)
{
        for (int i = 0; i < f->n; i++) {
                int o = same_call(other, &f->calls[i]);

                if (!count_of(first, n, all[i]))
                        continue;
                ++*sum;
                *wrong += o < 0 || strcmp(other_all[o], all[i]) != 0;
        }
}

/* All of a row but the delays. */
static void expected_row(const Forest *truth, const Forest *found, guint top, ScoreRow *row)
{
        g_auto(GStrv) t_all = signatures(truth), f_all = signatures(found);
        Counted t[MAX_ROOTS], f[MAX_ROOTS];
        guint n_t = rank(truth, t_all, t), n_f = rank(found, f_all, f);
        guint first_t = MIN(top, n_t), first_f = MIN(top, n_f);

        *row = (ScoreRow){ .true_patterns = first_t, .found_patterns = first_f };
        for (guint i = 0; i < first_t; i++) {
                guint count = count_of(f, n_f, t[i].signature);
                guint least = top <= n_f ? f[top - 1].count : 0;

                row->true_instances += t[i].count;
                row->fn_instances += MAX(t[i].count, count) - count;
                if (count_of(f, first_f, t[i].signature))
                        continue;
                row->fn_patterns[0]++;
                row->fn_patterns[1] += count == 0 || count * 100 < least * 98;
                row->fn_patterns[2] += count == 0 || count * 100 < least * 94;
        }
        for (guint i = 0; i < first_f; i++) {
                guint count = count_of(t, n_t, f[i].signature);

                row->fp_patterns += count == 0;
                row->found_instances += f[i].count;
                row->fp_instances += MAX(f[i].count, count) - count;
        }
        add_expected_calls(truth, found, t_all, f_all, t, first_t, &row->true_calls,
                           &row->fn_calls);
        add_expected_calls(found, truth, f_all, t_all, f, first_f, &row->found_calls,
                           &row->fp_calls);
        for (int i = 0; i < truth->n; i++) {
                if (!count_of(t, first_t, t_all[i]))
                        continue;
                if (truth->calls[i].parent < 0) {
                        row->right_instances += right_instance(truth, found, i);
                } else {
                        row->children++;
                        row->right_parents += right_parent(truth, found, i);
                }
        }
}

/* Requests of a few shapes, so that there are ties and near ties. */
static void make_forest(Forest *f)
{
        int n_roots = g_test_rand_int_range(0, 60);

        f->n = 0;
        for (int i = 0; i < n_roots; i++) {
                int root = f->n, n = g_test_rand_int_range(1, 5);

                for (int k = 0; k < n; k++) {
                        int parent = k ? root + g_test_rand_int_range(0, k) : -1;

                        add_call(f, k ? f->calls[parent].callee : 'z',
                                 'a' + g_test_rand_int_range(0, 2), f->n / 4, f->n / 4 + 1000,
                                 parent);
                        /* Starts repeat; ids then tell apart what nothing else does. */
                        f->calls[f->n - 1].id = 'A' + f->n % 4;
                }
        }
}

/* Some calls with other parents, some without, some lost, and of those the children
 * are roots. */
static void spoil_forest(const Forest *truth, Forest *found)
{
        int place[MAX_CALLS], of_ten = g_test_rand_int_range(0, 4);

        found->n = 0;
        for (int i = 0; i < truth->n; i++) {
                TestCall c = truth->calls[i];
                int other = g_test_rand_int_range(0, i + 1);

                place[i] = -1;
                if (g_test_rand_int_range(0, 30) < of_ten)
                        continue;
                if (g_test_rand_int_range(0, 10) < of_ten && truth->calls[other].callee == c.caller)
                        c.parent = other < i ? other : -1;
                if (c.parent >= 0)
                        c.parent = place[c.parent];
                place[i] = found->n;
                found->calls[found->n++] = c;
        }
}

static void test_random(void)
{
        static const guint tops[] = { 1, 2, 3, 4, 5, 7, 10, 20, 100, G_MAXUINT32 };
        g_autofree Forest *truth = g_new0(Forest, 1), *found = g_new0(Forest, 1);
        const int rounds = g_getenv("RAVEL_LONG") ? 150 : 50;
        int forgiven = 0;

        for (int i = 0; i < rounds; i++) {
                g_autoptr(Score) score = NULL;

                make_forest(truth);
                spoil_forest(truth, found);
                /* Half the time the worse one is the truth. */
                score = i % 2 ? score_forests(truth, found) : score_forests(found, truth);
                for (guint k = 0; k < G_N_ELEMENTS(tops); k++) {
                        ScoreRow row, expected;

                        expected_row(i % 2 ? truth : found, i % 2 ? found : truth, tops[k],
                                     &expected);
                        score_row(score, tops[k], &row);
                        g_assert_cmpmem(&row, G_STRUCT_OFFSET(ScoreRow, delays), &expected,
                                        G_STRUCT_OFFSET(ScoreRow, delays));
                        forgiven += row.fn_patterns[0] > row.fn_patterns[2];
                }
        }
        g_assert_cmpint(forgiven, >, rounds / 7);
}

int main(int argc, char **argv)
{
        int status;

        g_test_init(&argc, &argv, NULL);
        scratch_make();
        g_test_add_func("/score/paper", test_paper);
        g_test_add_func("/score/near-ties", test_near_ties);
        g_test_add_func("/score/ties", test_ties);
        g_test_add_func("/score/displaced", test_displaced);
        g_test_add_func("/score/parallel", test_parallel);
        g_test_add_func("/score/same-key", test_same_key);
        g_test_add_func("/score/cut", test_cut);
        g_test_add_func("/score/delays", test_delays);
        g_test_add_func("/score/nothing", test_nothing);
        g_test_add_func("/score/random", test_random);
        status = g_test_run();
        scratch_remove();
        return status;
}
