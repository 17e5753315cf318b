/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Inference through its door. A problem, a model and an answer go to bytes and back, and give the
 * same solution. Unexpected bytes are refused, and never do harm.
 */
#include "inference/inference.h"
#include "inference/model/delay-density.h"
#include "inference/model/weights.h"

#include <string.h>

enum { PARENTS = 400, EACH = 3, MANY = PARENTS * EACH };

#define MS G_GINT64_CONSTANT(1000000)

typedef struct {
        CallIn in[MANY];
        CallOut out[MANY];
        NodeProblem node;
        guint32 made_by[MANY]; /* by call out, less PARENTS: its parent */
        guint32 lists[1 + 4 * MANY], n_lists;
} Problem;

/* With RAVEL_LONG, more seeds and more hostile bytes. */
static gboolean is_long(void)
{
        return g_getenv("RAVEL_LONG") != NULL;
}

static int compare_outs(const void *a, const void *b)
{
        const CallOut *x = a, *y = b;

        return (x->start > y->start) - (x->start < y->start);
}

/* Parents that overlap, from two callers; each makes two or three calls, one of which takes long or
 * not. */
static void make_crowd(Problem *p, GRand *rand, gint64 begin, gint64 gap)
{
        guint32 n = 0;

        memset(p, 0, sizeof *p);
        for (guint32 i = 0; i < PARENTS; i++) {
                gint64 at = begin + i * gap;
                guint kind = g_rand_int_range(rand, 0, 2);

                p->in[i] = (CallIn){ .enter = at, .call = i, .caller = kind, .label = i % 2 };
                for (guint k = 0; k < EACH - kind; k++) {
                        gint64 start = at + g_rand_int_range(rand, 500000, 1500000);

                        at = start + (k == 1 && i % 3 ? 4 : 1) * MS +
                             g_rand_int_range(rand, 0, 100000);
                        p->out[n] = (CallOut){ .start = start,
                                               .end = at,
                                               .call = PARENTS + n,
                                               .callee = k == 1 ? 1 : 2,
                                               .parent = NO_PARENT,
                                               .connection = n % 7 };
                        p->made_by[n] = i;
                        n++;
                }
                p->in[i].reply = at + 300000;
        }
        qsort(p->out, n, sizeof *p->out, compare_outs);
        p->node = (NodeProblem){ .in = p->in,
                                 .out = p->out,
                                 .n_in = PARENTS,
                                 .n_out = n,
                                 .from = begin,
                                 .decide = begin + PARENTS * 10 * MS };
}

static void make_problem(Problem *p, GRand *rand, gint64 begin)
{
        make_crowd(p, rand, begin, 3 * MS);
}

/* --- identifiers --------------------------------------------------------------- */

typedef enum { OWN, RANDOM, COUNTED, SHARED } Values;

/* A list of one value that only few calls have, and of one that half of them have. */
static guint32 add_list(Problem *p, guint32 value)
{
        guint32 at = p->n_lists;

        p->lists[at] = 2;
        p->lists[at + 1] = 1 + value % 2;
        p->lists[at + 2] = 3 + value;
        p->n_lists += 3;
        return at;
}

/* Gives all calls identifiers: the parent's to its children; at random; numbers of calls, in and
 * out apart; or one for all. */
static void add_identifiers(Problem *p, GRand *rand, Values values)
{
        p->n_lists = 1;
        p->lists[0] = 0;
        for (guint32 i = 0; i < p->node.n_in; i++)
                p->in[i].identifiers =
                        add_list(p, values == RANDOM   ? (guint32)g_rand_int_range(rand, 0, 50)
                                    : values == SHARED ? 7
                                                       : i);
        for (guint32 i = 0; i < p->node.n_out; i++)
                p->out[i].identifiers =
                        add_list(p, values == RANDOM    ? (guint32)g_rand_int_range(rand, 0, 50)
                                    : values == SHARED  ? 7
                                    : values == COUNTED ? i
                                                        : p->made_by[p->out[i].call - PARENTS]);
        p->node.identifiers = p->lists;
}

/* Finds parents; *bytes are those of the answer, if not NULL. */
static guint find_right(Problem *p, GBytes **bytes)
{
        NodeAnswer answer;
        guint right = 0;

        find_parents_jointly(&p->node, NULL, &answer);
        if (bytes)
                *bytes = node_answer_to_bytes(&answer);
        for (guint32 i = 0; i < answer.n_out; i++) {
                gsize best = answer.first[i];

                for (gsize k = best; k < answer.first[i + 1]; k++)
                        if (answer.score[k] > answer.score[best])
                                best = k;
                right += answer.first[i + 1] > best &&
                         answer.parent[best] == p->made_by[answer.call[i] - PARENTS];
        }
        node_answer_clear(&answer);
        return right;
}

static guint count_right(Problem *p)
{
        return find_right(p, NULL);
}

/* Values that are passed on reveal parents. Values without meaning change nothing. */
static void test_identifiers(void)
{
        for (guint seed = 20; seed < (is_long() ? 23 : 21); seed++) {
                guint right[5], n = 0;

                for (guint values = 0; values < 5; values++) {
                        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
                        g_autofree Problem *p = g_new(Problem, 1);

                        make_crowd(p, rand, 0, 4 * MS / 5);
                        for (guint32 i = 0; i < p->node.n_out; i++)
                                p->out[i].connection = 0; /* they go together */
                        if (values > 0)
                                add_identifiers(p, rand, values - 1);
                        n = p->node.n_out;
                        right[values] = count_right(p);
                        g_test_message("%u: %u of %u", values, right[values], n);
                }
                g_assert_cmpuint(right[1 + OWN], ==, n);
                g_assert_cmpuint(right[0], <, n * 97 / 100);
                for (guint values = 1 + RANDOM; values < 5; values++)
                        g_assert_cmpuint(right[values], ==, right[0]);
        }
}

/* --- connections of one process ----------------------------------------------------- */

typedef enum { DEALT, BY_CALLER, BY_CALLEE, POOLS, POOLS_DEALT } Kept;

enum { WORKERS = 8, PROCESSES = 2, POOL = 6 };

/* Gives all calls connections of pools, to each callee one of each process; parents come by one of
 * a few connections of their process; or any of all. */
static void add_pools(Problem *p, GRand *rand, gboolean dealt)
{
        guint8 process[PARENTS];

        for (guint32 i = 0; i < p->node.n_in; i++) {
                process[i] = (guint8)g_rand_int_range(rand, 0, PROCESSES);
                p->in[i].connection =
                        1 + process[i] + PROCESSES * (guint)g_rand_int_range(rand, 0, POOL);
        }
        for (guint32 i = 0; i < p->node.n_out; i++) {
                guint of = dealt ? (guint)g_rand_int_range(rand, 0, PROCESSES)
                                 : process[p->made_by[p->out[i].call - PARENTS]];
                guint one = (guint)g_rand_int_range(rand, 0, POOL);

                p->out[i].connection = 1 + PROCESSES * (POOL * p->out[i].callee + one) + of;
        }
}

/* Gives all calls connections, as workers keep them that take parents at random: one to each
 * callee; and one that parents come by; or dealt at random. */
static void add_connections(Problem *p, GRand *rand, Kept kept)
{
        guint8 worker[PARENTS];

        if (kept == POOLS || kept == POOLS_DEALT) {
                add_pools(p, rand, kept == POOLS_DEALT);
                return;
        }
        for (guint32 i = 0; i < p->node.n_in; i++) {
                worker[i] = (guint8)g_rand_int_range(rand, 0, WORKERS);
                p->in[i].connection = kept == BY_CALLER ? 1 + worker[i] : 0;
        }
        for (guint32 i = 0; i < p->node.n_out; i++) {
                guint of = kept == DEALT ? (guint)g_rand_int_range(rand, 0, WORKERS)
                                         : worker[p->made_by[p->out[i].call - PARENTS]];

                p->out[i].connection = 1 + WORKERS * p->out[i].callee + of;
        }
}

/* A connection into the node, or one to another callee, reveals parents if a worker keeps it, or
 * one of two processes with pools. If connections are dealt at random nothing changes. */
static void test_processes(void)
{
        guint right[6] = { 0 }, seeds = is_long() ? 2 : 1;

        for (guint seed = 51; seed < 51 + seeds; seed++)
                for (guint kept = 0; kept < 6; kept++) {
                        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
                        g_autofree Problem *p = g_new(Problem, 1);

                        make_crowd(p, rand, 0, MS / 3);
                        for (guint32 i = 0; i < p->node.n_out; i++)
                                p->out[i].connection = 0;
                        if (kept > 0)
                                add_connections(p, rand, kept - 1);
                        right[kept] += count_right(p);
                }
        g_test_message("without %u, dealt %u, by caller %u, by callee %u, pools %u, dealt %u",
                       right[0], right[1], right[2], right[3], right[4], right[5]);
        g_assert_cmpuint(right[1 + DEALT], ==, right[0]);
        g_assert_cmpuint(right[1 + POOLS_DEALT], ==, right[0]);
        g_assert_cmpuint(right[1 + POOLS], >, right[0] + 50 * seeds);
        g_assert_cmpuint(right[1 + BY_CALLER], >, right[0] + 150 * seeds);
        g_assert_cmpuint(right[1 + BY_CALLEE], >, right[0] + 100 * seeds);
}

/* --- leases --------------------------------------------------------------------- */

typedef enum { RANDOM_LEASES, WHOLE, TRANSACTIONS, UNTOLD } LeaseKind;

/* Gives the calls to callee 2 connections. WHOLE: each parent opens its own. TRANSACTIONS: a parent
 * takes one that is free, for a transaction from its first to its last call. UNTOLD: the same, but
 * no transaction is told. RANDOM_LEASES: any. */
static void add_leases(Problem *p, GRand *rand, LeaseKind kind)
{
        guint32 of[PARENTS] = { 0 }, last[PARENTS];
        gint64 until[PARENTS / 4] = { 0 };

        for (guint32 i = 0; i < p->node.n_out; i++)
                if (p->out[i].callee == 2)
                        last[p->made_by[p->out[i].call - PARENTS]] = i;
        for (guint32 i = 0; i < p->node.n_out; i++) {
                CallOut *out = &p->out[i];
                guint32 parent = p->made_by[out->call - PARENTS];
                guint k = 0;

                out->connection = 0;
                if (out->callee != 2)
                        continue;
                if (kind == RANDOM_LEASES) {
                        out->connection = 1 + g_rand_int_range(rand, 0, 8);
                        out->flags |= g_rand_int_range(rand, 0, 4) ? 0 : OUT_TRANSACTION;
                } else if (kind == WHOLE) {
                        out->lead = of[parent] ? 0 : 1000;
                        of[parent] = out->connection = 1 + parent;
                } else {
                        while (!of[parent] && until[k] > out->start)
                                k++;
                        of[parent] = out->connection = of[parent] ? of[parent] : 1 + k;
                        until[of[parent] - 1] = p->out[last[parent]].end;
                        if (i != last[parent] && kind == TRANSACTIONS)
                                out->flags |= OUT_TRANSACTION;
                }
        }
}

/* Who holds a connection, from its opening or while a transaction lasts, is known before anything
 * is learned; connections dealt at random change next to nothing. */
static void test_leases(void)
{
        guint right[4], n = 0;

        for (guint kind = 0; kind < 4; kind++) {
                g_autoptr(GRand) rand = g_rand_new_with_seed(61);
                g_autofree Problem *p = g_new(Problem, 1);

                make_crowd(p, rand, 0, MS / 3);
                for (guint32 i = 0; i < p->node.n_out; i++)
                        p->out[i].connection = 0;
                if (kind > 0)
                        add_leases(p, rand, kind - 1);
                right[kind] = count_right(p);
                n = p->node.n_out;
        }
        g_test_message("without %u, random %u, whole %u, transactions %u, of %u", right[0],
                       right[1], right[2], right[3], n);
        g_assert_cmpuint(right[1 + RANDOM_LEASES], >=, right[0] - n / 200);
        g_assert_cmpuint(right[1 + WHOLE], >, right[0] + n / 10);
        g_assert_cmpuint(right[1 + TRANSACTIONS], >, right[0] + n / 10);
}

/* The first parents and the last were under way when the capture began and ended, and are not in
 * it. Their calls are, and share connections with those of others, which have the same parents as
 * if they were not. */
static void test_leases_of_nobody(void)
{
        enum { CUT = 8 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(61);
        g_autofree Problem *p = g_new(Problem, 1);
        guint whole, cut, lost = 0;

        make_crowd(p, rand, 0, MS / 3);
        add_leases(p, rand, TRANSACTIONS);
        whole = count_right(p);
        p->node.in += CUT;
        p->node.n_in -= 2 * CUT;
        for (guint32 i = 0; i < p->node.n_out; i++) {
                guint32 by = p->made_by[p->out[i].call - PARENTS];

                lost += by < CUT || by >= PARENTS - CUT;
        }
        cut = count_right(p);
        g_test_message("%u, of which %u are of nobody; then %u", whole, lost, cut);
        g_assert_cmpuint(cut, >=, whole - lost - whole / 50);
}

/* --- weights of evidence -------------------------------------------------------- */

/* What the weights of all calls come to. */
typedef struct {
        guint n, left_out;
        guint true_left_out;   /* true parents */
        guint unable, against; /* candidates that came too late to have made the call before on the
                                  connection, which the parent made; and those of them that
                                  the connection speaks against */
} Explained;

/* Checks one candidate of a call, and counts it. before: the parent of the call before on the
 * connection, or NO_PARENT; start: when that was. */
static void count_weights(const Problem *p, const CandidateWeights *w, guint32 parent,
                          guint32 before, gint64 start, Explained *e)
{
        guint lease = weight_source("leases");
        const CallIn *in = &p->in[w->parent];

        e->n++;
        e->left_out += w->left_out;
        e->true_left_out += w->left_out && w->parent == p->made_by[w->call - PARENTS];
        for (guint i = 0; i < WEIGHTS_MOST; i++)
                g_assert_true((!w->left_out && w->parent != parent) || w->weight[i] == 0);
        if (before != parent || in->enter < start || w->left_out)
                return;
        e->unable++;
        e->against += w->weight[lease] < 0;
}

static guint32 best_parent(const NodeAnswer *answer, guint32 call)
{
        gsize best = answer->first[call];

        for (gsize k = best; k < answer->first[call + 1]; k++)
                if (answer->score[k] > answer->score[best])
                        best = k;
        return answer->parent[best];
}

/* Has all calls explained. */
static Explained explain_all(Problem *p)
{
        Explained e = { 0 };
        NodeAnswer answer;

        for (guint32 i = 0; i < p->node.n_out; i++)
                p->out[i].flags |= OUT_EXPLAIN;
        find_parents_jointly(&p->node, NULL, &answer);
        for (guint32 i = 0, at = 0; i < p->node.n_out; i++) {
                guint32 parent = best_parent(&answer, i), before = NO_PARENT, k = i;
                gint64 start = 0;

                while (p->out[i].connection && k > 0 && before == NO_PARENT)
                        if (p->out[--k].connection == p->out[i].connection) {
                                before = best_parent(&answer, k);
                                start = p->out[k].start;
                        }
                for (; at < answer.weights->len; at++) {
                        const CandidateWeights *w =
                                &g_array_index(answer.weights, CandidateWeights, at);

                        if (w->call != answer.call[i])
                                break;
                        count_weights(p, w, parent, before, start, &e);
                }
        }
        node_answer_clear(&answer);
        return e;
}

/* Those who do not span a lease are named, too, as left out, and the parent is not among them.
 * Where it is not told what connections are held for, they weigh against those who cannot have made
 * the call before. */
static void test_weights(void)
{
        Explained e[2];

        for (guint kind = 0; kind < 2; kind++) {
                g_autoptr(GRand) rand = g_rand_new_with_seed(61);
                g_autofree Problem *p = g_new(Problem, 1);

                make_crowd(p, rand, 0, 2 * MS / 3);
                add_leases(p, rand, kind ? UNTOLD : TRANSACTIONS);
                e[kind] = explain_all(p);
                g_test_message("%u, left out %u, true ones %u; unable %u, against them %u",
                               e[kind].n, e[kind].left_out, e[kind].true_left_out, e[kind].unable,
                               e[kind].against);
        }
        g_assert_cmpuint(e[0].left_out, >, e[0].n / 10);
        g_assert_cmpuint(e[0].true_left_out, ==, 0);
        g_assert_cmpuint(e[1].left_out, ==, 0);
        g_assert_cmpuint(e[1].unable, >, 100);
        g_assert_cmpuint(e[1].against, >, e[1].unable * 9 / 10);
}

/* --- labels --------------------------------------------------------------------- */

/* A crowd whose calls have no labels, or any of twelve. */
static guint right_with_labels(guint seed, gboolean any, guint *n)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
        g_autofree Problem *p = g_new(Problem, 1);

        make_crowd(p, rand, 0, 4 * MS / 5);
        *n = p->node.n_out;
        for (guint32 i = 0; i < p->node.n_in; i++)
                p->in[i].label = any ? 1 + g_rand_int_range(rand, 0, 12) : 0;
        for (guint32 i = 0; i < *n; i++) {
                p->out[i].label = any ? 1 + g_rand_int_range(rand, 0, 12) : 0;
                p->out[i].connection = 0;
        }
        return count_right(p);
}

/* A crowd with too many parents at a time for delays to tell them apart. Each call has the label of
 * its parent, which is one of three; or any of the three; or none. */
typedef enum { NO_LABELS, OF_PARENT, ANY_LABEL } Labelled;

static guint right_of_dense(guint seed, Labelled labelled)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
        g_autofree Problem *p = g_new(Problem, 1);

        make_crowd(p, rand, 0, 2 * MS / 5);
        for (guint32 i = 0; i < p->node.n_in; i++)
                p->in[i].label = labelled ? (guint16)g_rand_int_range(rand, 1, 4) : 0;
        for (guint32 i = 0; i < p->node.n_out; i++) {
                guint16 any = (guint16)g_rand_int_range(rand, 1, 4);

                p->out[i].connection = 0;
                p->out[i].label = labelled == OF_PARENT
                                          ? p->in[p->made_by[p->out[i].call - PARENTS]].label
                                  : labelled == ANY_LABEL ? any
                                                          : 0;
        }
        return count_right(p);
}

/* Without labels most parents are wrong. That labels mean something shows by the candidates then:
 * by the parents alone 226 more are right in three crowds, and not 494. */
static void test_labels_of_candidates(void)
{
        const guint first = is_long() ? 72 : 73, end = is_long() ? 75 : 74;
        guint right[3] = { 0 };

        for (guint seed = first; seed < end; seed++)
                for (guint labelled = 0; labelled < 3; labelled++)
                        right[labelled] += right_of_dense(seed, labelled);
        g_test_message("without %u, of parents %u, any %u", right[NO_LABELS], right[OF_PARENT],
                       right[ANY_LABEL]);
        g_assert_cmpuint(right[OF_PARENT], >, right[NO_LABELS] + (is_long() ? 400 : 250));
        g_assert_cmpuint(right[ANY_LABEL], ==, right[NO_LABELS]);
}

/* Labels that mean nothing take nothing away. */
static void test_labels(void)
{
        guint right[2] = { 0 }, n = 0;

        for (guint seed = 71; seed < 73; seed++)
                for (guint any = 0; any < 2; any++)
                        right[any] += right_with_labels(seed, any, &n);
        g_test_message("without %u, any %u, of about %u", right[0], right[1], 2 * n);
        g_assert_cmpuint(right[1], >=, right[0] - n / 50);
}

/* --- sizes --------------------------------------------------------------------- */

/* Three operations: those of parents, which their children share. */
static void add_sizes(Problem *p, GRand *rand)
{
        guint8 size[PARENTS];

        for (guint32 i = 0; i < p->node.n_in; i++)
                p->in[i].size[0] = size[i] = 20 + g_rand_int_range(rand, 0, 3);
        for (guint32 i = 0; i < p->node.n_out; i++)
                p->out[i].size[0] = size[p->made_by[p->out[i].call - PARENTS]];
}

/* Each call (0), or return (1), has one at random. */
static void add_random_sizes(Problem *p, GRand *rand, guint which)
{
        for (guint32 i = 0; i < p->node.n_in; i++)
                p->in[i].size[which] = 20 + g_rand_int_range(rand, 0, 3);
        for (guint32 i = 0; i < p->node.n_out; i++)
                p->out[i].size[which] = 20 + g_rand_int_range(rand, 0, 3);
}

/* All calls of an edge have the same label. */
static void add_one_label(Problem *p)
{
        for (guint32 i = 0; i < p->node.n_in; i++)
                p->in[i].label = 1;
        for (guint32 i = 0; i < p->node.n_out; i++)
                p->out[i].label = 1;
}

enum { NO_SIZES, SIZES, RANDOM_SIZES, SIZES_AND_RANDOM_RETURNS, SIZES_AND_ONE_LABEL };

/* A crowd of one caller without labels: without sizes, with sizes of operations, with random ones,
 * with both; or with sizes of operations and one label for all. */
static guint right_with_sizes(guint seed, guint sizes, guint *n, GBytes **answer)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
        g_autofree Problem *p = g_new(Problem, 1);

        make_crowd(p, rand, 0, 4 * MS / 5);
        for (guint32 i = 0; i < p->node.n_in; i++)
                p->in[i].caller = p->in[i].label = 0;
        if (sizes == RANDOM_SIZES)
                add_random_sizes(p, rand, 0);
        else if (sizes != NO_SIZES)
                add_sizes(p, rand);
        if (sizes == SIZES_AND_RANDOM_RETURNS)
                add_random_sizes(p, rand, 1);
        if (sizes == SIZES_AND_ONE_LABEL)
                add_one_label(p);
        *n = p->node.n_out;
        return find_right(p, answer);
}

/* Sizes that go with the operation of the parent reveal parents. Random sizes change nothing. */
static void test_sizes(void)
{
        guint wrong = 0, wrong_without = 0;

        for (guint seed = is_long() ? 20 : 22; seed < (is_long() ? 26 : 23); seed++) {
                g_autoptr(GBytes) none = NULL, shared = NULL, random = NULL, returns = NULL;
                g_autoptr(GBytes) labelled = NULL;
                guint n, without = right_with_sizes(seed, NO_SIZES, &n, &none),
                         with = right_with_sizes(seed, SIZES, &n, &shared);

                right_with_sizes(seed, RANDOM_SIZES, &n, &random);
                right_with_sizes(seed, SIZES_AND_RANDOM_RETURNS, &n, &returns);
                right_with_sizes(seed, SIZES_AND_ONE_LABEL, &n, &labelled);
                g_test_message("%u, %u of %u", without, with, n);
                wrong += n - with;
                wrong_without += n - without;
                g_assert_cmpuint(with, >=, without);
                g_assert_true(g_bytes_equal(none, random));
                g_assert_true(g_bytes_equal(shared, returns));
                g_assert_true(g_bytes_equal(shared, labelled));
        }
        g_assert_cmpuint(3 * wrong, <, 2 * wrong_without);
}

/* --- requests that are dispatched in order -------------------------------------- */

/* Each parent makes one call, when it is its turn: the oldest that waits, or any. What it does
 * after the call takes long and varies, so parents end in no order. */
static void make_dispatched(Problem *p, GRand *rand, gboolean in_order)
{
        guint32 waiting[MANY], n_waiting = 0, n_in = 0;
        gint64 at = 0;

        memset(p, 0, sizeof *p);
        for (guint32 i = 0; i < MANY; i++) {
                at += g_rand_int_range(rand, 0, 2 * MS);
                p->in[i] = (CallIn){ .enter = at, .call = i };
        }
        at = p->in[3].enter;
        for (guint32 k = 0; k < MANY; k++) {
                guint32 which, parent;

                at += g_rand_int_range(rand, 1, 8 * MS / 5);
                at = MAX(at, p->in[k].enter + 1);
                while (n_in < MANY && p->in[n_in].enter < at)
                        waiting[n_waiting++] = n_in++;
                which = in_order ? 0 : (guint32)g_rand_int_range(rand, 0, n_waiting);
                parent = waiting[which];
                n_waiting--;
                memmove(waiting + which, waiting + which + 1,
                        (n_waiting - which) * sizeof *waiting);
                p->out[k] = (CallOut){ .start = at,
                                       .end = at + MS / 10,
                                       .call = PARENTS + k,
                                       .callee = 1,
                                       .parent = NO_PARENT };
                p->made_by[k] = parent;
                p->in[parent].reply = at + g_rand_int_range(rand, 5 * MS, 30 * MS);
        }
        p->node = (NodeProblem){ .in = p->in,
                                 .out = p->out,
                                 .n_in = MANY,
                                 .n_out = MANY,
                                 .from = G_MININT64,
                                 .decide = G_MAXINT64 };
}

/* Order of first calls is not found where there is none. */
static void test_dispatch(void)
{
        guint in_order = 0, at_random = 0;

        for (guint seed = 40; seed < 43; seed++) {
                g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
                g_autofree Problem *p = g_new(Problem, 1);

                make_dispatched(p, rand, TRUE);
                if (is_long())
                        in_order += count_right(p);
                make_dispatched(p, rand, FALSE);
                at_random += count_right(p);
        }
        g_test_message("in order %u, at random %u", in_order, at_random);
        if (is_long())
                g_assert_cmpuint(in_order, >, 2550);
        /* 2466 if order is always supposed where it shows. */
        g_assert_cmpuint(at_random, >, 2500);
}

/* --- to bytes and back --------------------------------------------------------- */

static void assert_equal_bytes(GBytes *a, GBytes *b)
{
        g_assert_true(g_bytes_equal(a, b));
        g_bytes_unref(a);
        g_bytes_unref(b);
}

static NodeModel *copy_model(const NodeModel *model)
{
        g_autoptr(GBytes) bytes = node_model_to_bytes(model);
        gsize n;
        const guint8 *data = g_bytes_get_data(bytes, &n);
        g_autoptr(GError) error = NULL;
        NodeModel *copy = node_model_from_bytes(data, n, &error);

        g_assert_no_error(error);
        assert_equal_bytes(node_model_to_bytes(copy), g_bytes_ref(bytes));
        return copy;
}

/* Each of some steps is solved with the model that learned from the steps before, and with a copy
 * of that by bytes. */
static void test_model(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);
        NodeModel *model = node_model_new();

        for (guint step = 0; step < 4; step++) {
                NodeModel *copy = copy_model(model);
                Problem *p = g_new(Problem, 2);
                NodeAnswer answer[2];

                make_problem(&p[0], rand, (1000 + 2000 * step) * MS);
                add_identifiers(&p[0], rand, OWN);
                add_sizes(&p[0], rand);
                memcpy(&p[1], &p[0], sizeof *p);
                p[1].node.in = p[1].in;
                p[1].node.out = p[1].out;
                find_parents_jointly(&p[0].node, model, &answer[0]);
                find_parents_jointly(&p[1].node, copy, &answer[1]);
                assert_equal_bytes(node_answer_to_bytes(&answer[0]),
                                   node_answer_to_bytes(&answer[1]));
                assert_equal_bytes(node_model_to_bytes(model), node_model_to_bytes(copy));
                node_answer_clear(&answer[0]);
                node_answer_clear(&answer[1]);
                node_model_free(copy);
                g_free(p);
        }
        node_model_free(model);
}

static void test_problem_and_answer(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(2);
        g_autofree Problem *p = g_new(Problem, 1);
        g_autofree guint32 *truth = NULL;
        g_autoptr(GBytes) bytes = NULL, said = NULL;
        g_autoptr(GError) error = NULL;
        NodeProblem copy;
        NodeAnswer answer, again;
        const guint8 *data;
        gsize n;

        make_problem(p, rand, 0);
        add_identifiers(p, rand, OWN);
        truth = g_new0(guint32, p->node.n_out);
        p->node.truth = truth;
        bytes = node_problem_to_bytes(&p->node);
        data = g_bytes_get_data(bytes, &n);
        g_assert_true(node_problem_from_bytes(&copy, data, n, &error));
        assert_equal_bytes(node_problem_to_bytes(&copy), g_bytes_ref(bytes));
        g_assert_cmpuint(copy.out[5].connection, ==, p->out[5].connection);
        g_clear_pointer(&copy.truth, g_free);
        p->node.truth = NULL;
        find_parents_jointly(&copy, NULL, &answer);
        said = node_answer_to_bytes(&answer);
        data = g_bytes_get_data(said, &n);
        g_assert_true(node_answer_from_bytes(&again, data, n, &error));
        assert_equal_bytes(node_answer_to_bytes(&again), g_bytes_ref(said));
        node_answer_clear(&again);
        node_answer_clear(&answer);
        find_parents_jointly(&p->node, NULL, &answer);
        assert_equal_bytes(node_answer_to_bytes(&answer), g_bytes_ref(said));
        node_answer_clear(&answer);
        node_problem_clear(&copy);
}

/* --- coarse stamps ---------------------------------------------------------------- */

/* Parents of 20 ms, one after the other, each with one child that starts and ends when it does;
 * of stamps that are multiples of unit. */
static void make_ties(Problem *p, gint64 unit)
{
        p->node.n_in = p->node.n_out = 20;
        for (guint32 i = 0; i < 20; i++) {
                gint64 at = i * 30 * MS / unit * unit, end = at + 20 * MS / unit * unit;

                p->in[i] = (CallIn){ .enter = at, .reply = end, .call = 2 * i, .caller = 1 };
                p->out[i] = (CallOut){ .start = at, .end = end, .call = 2 * i + 1, .callee = 2 };
        }
}

/* What has the same coarse stamp as its parent may have come after it; of exact stamps it did not.
 */
static void test_ties(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(6);
        g_autofree Problem *p = g_new(Problem, 1);

        for (guint exact = 0; exact < 2; exact++) {
                NodeAnswer answer;

                make_problem(p, rand, 0);
                make_ties(p, MS);
                if (exact)
                        p->in[0].reply++;
                find_parents_jointly(&p->node, NULL, &answer);
                for (guint32 i = 0; i < answer.n_out; i++) {
                        g_assert_cmpuint(answer.n_candidates[i], ==, !exact);
                        g_assert_cmpuint(answer.first[i + 1] - answer.first[i], ==, !exact);
                }
                node_answer_clear(&answer);
        }
}

/* Of delays that are multiples of 1 ms, each is as probable as it was often seen, whatever the
 * width of its bin. */
static void test_coarse_delays(void)
{
        DelayDensities d;
        guint32 row;
        const float *density;
        static const guint32 seen[] = { 400, 200, 200, 100, 100 };
        double sum = 0;

        delay_densities_init(&d);
        delay_densities_set_resolution(&d, MS);
        row = delay_densities_add_row(&d, 0);
        for (guint k = 0; k < G_N_ELEMENTS(seen); k++)
                delay_densities_count(&d, row, density_bin(k * MS), seen[k] * DENSITY_COUNT);
        delay_densities_learn(&d);
        density = delay_densities_row(&d, row);
        for (guint k = 0; k < G_N_ELEMENTS(seen); k++) {
                double found = (double)density[density_bin(k * MS)] * MS;

                /* The last is smoothed into what was never seen. */
                g_assert_cmpfloat_with_epsilon(found, seen[k] / 1000.0,
                                               (k < 4 ? 0.12 : 0.3) * seen[k] / 1000.0);
                sum += found;
        }
        g_assert_cmpfloat_with_epsilon(sum, 1, 0.1);
        delay_densities_clear(&d);
}

/* --- hostile bytes ---------------------------------------------------------------- */

/* Reads and, if it is as expected, uses it. Returns whether it was. */
typedef gboolean (*Reader)(const guint8 *data, gsize n, GError **error);

static gboolean read_problem(const guint8 *data, gsize n, GError **error)
{
        NodeProblem problem;
        NodeAnswer answer;

        if (!node_problem_from_bytes(&problem, data, n, error))
                return FALSE;
        find_parents_jointly(&problem, NULL, &answer);
        node_answer_clear(&answer);
        node_problem_clear(&problem);
        return TRUE;
}

static gboolean read_model(const guint8 *data, gsize n, GError **error)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(3);
        g_autofree Problem *p = g_new(Problem, 1);
        NodeModel *model = node_model_from_bytes(data, n, error);
        NodeAnswer answer;

        if (!model)
                return FALSE;
        make_problem(p, rand, 5000 * MS);
        p->node.n_in = 20;
        p->node.n_out = 40;
        find_parents_jointly(&p->node, model, &answer);
        node_answer_clear(&answer);
        g_bytes_unref(node_model_to_bytes(model));
        node_model_free(model);
        return TRUE;
}

static gboolean read_answer(const guint8 *data, gsize n, GError **error)
{
        NodeAnswer answer;

        if (!node_answer_from_bytes(&answer, data, n, error))
                return FALSE;
        node_answer_clear(&answer);
        return TRUE;
}

/* Cut anywhere, with a byte more, or with some bytes changed. */
static void attack(GBytes *bytes, Reader reader, guint rounds)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(4);
        gsize n;
        const guint8 *data = g_bytes_get_data(bytes, &n);
        g_autofree guint8 *bad = g_malloc(n + 1);

        g_assert_true(reader(data, n, NULL));
        for (gsize cut = 0; cut < n; cut += 1 + cut / 20) {
                g_autoptr(GError) error = NULL;

                g_assert_false(reader(data, cut, &error));
                g_assert_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL);
        }
        memcpy(bad, data, n);
        bad[n] = 0;
        g_assert_false(reader(bad, n + 1, NULL));
        for (guint round = 0; round < rounds; round++) {
                gsize early = round % 2 ? n : MIN(n, 400);

                memcpy(bad, data, n);
                for (guint k = 0; k < 1 + round % 3; k++)
                        bad[g_rand_int_range(rand, 0, early)] =
                                round % 4 ? g_rand_int_range(rand, 0, 256) : 0xff;
                reader(bad, n, NULL);
        }
}

static void test_hostile(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(5);
        g_autofree Problem *p = g_new(Problem, 1);
        NodeModel *model = node_model_new();
        g_autoptr(GBytes) problem = NULL, learned = NULL, said = NULL;
        NodeAnswer answer;

        make_problem(p, rand, 0);
        add_identifiers(p, rand, OWN);
        p->node.n_in = 30;
        p->node.n_out = 60;
        problem = node_problem_to_bytes(&p->node);
        find_parents_jointly(&p->node, model, &answer);
        learned = node_model_to_bytes(model);
        said = node_answer_to_bytes(&answer);
        attack(problem, read_problem, is_long() ? 100 : 50);
        attack(learned, read_model, is_long() ? 300 : 100);
        attack(said, read_answer, 1000);
        node_answer_clear(&answer);
        node_model_free(model);
}

/* --- threads -------------------------------------------------------------------- */

enum { LONG = 1 << 19 }; /* some parts */

/* The same problem again and again, one at a time, so that all threads do its parts. */
typedef struct {
        NodeProblem node;
        guint n;
        gboolean under_way;
} Repeated;

static CrewNext take_again(gpointer data, gpointer *work)
{
        Repeated *r = data;

        if (r->under_way)
                return CREW_WAIT;
        if (r->n == 0)
                return CREW_END;
        r->n--;
        r->under_way = TRUE;
        *work = r;
        return CREW_WORK;
}

static void find_again(gpointer data G_GNUC_UNUSED, gpointer work)
{
        NodeProblem node = ((const Repeated *)work)->node;
        NodeAnswer answer;

        find_parents_jointly(&node, NULL, &answer);
        for (guint32 i = 0; i < node.n_out; i++)
                g_assert_cmpuint(answer.parent[answer.first[i]], ==, i);
        node_answer_clear(&answer);
}

static void end_again(gpointer data, gpointer work G_GNUC_UNUSED)
{
        Repeated *r = data;

        r->under_way = FALSE;
}

/* One parent at a time, on connections: nothing is learned, and parts go to several threads. */
static void test_without_choice(void)
{
        g_autofree CallIn *in = g_new0(CallIn, LONG);
        g_autofree CallOut *out = g_new0(CallOut, LONG);
        const CrewList list = { take_again, find_again, end_again };
        Repeated r = { .node = { .in = in, .out = out, .n_in = LONG, .n_out = LONG }, .n = 10 };

        for (guint32 i = 0; i < LONG; i++) {
                gint64 at = i * 3 * MS;

                in[i] = (CallIn){ .enter = at, .reply = at + 2 * MS, .call = i };
                out[i] = (CallOut){ .start = at + MS / 2,
                                    .end = at + MS,
                                    .call = LONG + i,
                                    .parent = NO_PARENT,
                                    .connection = 1 + i % 8 };
        }
        r.node.decide = G_MAXINT64;
        r.node.crew = crew_new(4);
        crew_run(r.node.crew, &list, &r);
        crew_free(r.node.crew);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/inference/identifiers", test_identifiers);
        g_test_add_func("/inference/processes", test_processes);
        g_test_add_func("/inference/leases", test_leases);
        g_test_add_func("/inference/leases of nobody", test_leases_of_nobody);
        g_test_add_func("/inference/labels", test_labels);
        g_test_add_func("/inference/labels-of-candidates", test_labels_of_candidates);
        g_test_add_func("/inference/weights", test_weights);
        g_test_add_func("/inference/sizes", test_sizes);
        g_test_add_func("/inference/dispatch", test_dispatch);
        g_test_add_func("/inference/model", test_model);
        g_test_add_func("/inference/problem-and-answer", test_problem_and_answer);
        g_test_add_func("/inference/ties", test_ties);
        g_test_add_func("/inference/coarse-delays", test_coarse_delays);
        g_test_add_func("/inference/without-choice", test_without_choice);
        g_test_add_func("/inference/hostile", test_hostile);
        return g_test_run();
}
