/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Connections that are held reveal parents, and their weights say so.
 */
#include "inference/model/weights.h"
#include "tests/unit/inference/crowd.h"

typedef enum { RANDOM_LEASES, WHOLE, TRANSACTIONS, UNTOLD } LeaseKind;

/* Gives the calls to callee 2 connections. WHOLE: each parent opens its own. TRANSACTIONS: a parent
 * takes one that is free, for a transaction from its first to its last call. UNTOLD: the same, but
 * no transaction is told. RANDOM_LEASES: any. */
static void add_leases(Crowd *p, GRand *rand, LeaseKind kind)
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
                g_autofree Crowd *p = g_new(Crowd, 1);

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
        g_autofree Crowd *p = g_new(Crowd, 1);
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
static void count_weights(const Crowd *p, const CandidateWeights *w, guint32 parent, guint32 before,
                          gint64 start, Explained *e)
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
static Explained explain_all(Crowd *p)
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
                g_autofree Crowd *p = g_new(Crowd, 1);

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

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/evidence-leases/leases", test_leases);
        g_test_add_func("/evidence-leases/leases of nobody", test_leases_of_nobody);
        g_test_add_func("/evidence-leases/weights", test_weights);
        return g_test_run();
}
