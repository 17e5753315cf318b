/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Kinds of parents: by node and label, and whether labels mean anything.
 */
#include "inference/model/kinds.h"
#include "tests/unit/inference/crowd.h"

/* A kind is a node and a label that was not rare until then, or without one. */
static void test_kinds(void)
{
        enum { N = 1000 };
        static const guint16 labels[][2] = { { 1, 2 }, { 2, 1 } }; /* often, and five times */
        guint32 kind[2][N];
        CallKinds k;

        call_kinds_init(&k);
        for (guint round = 0; round < 2; round++) {
                guint16 label[N];

                for (guint i = 0; i < N; i++) {
                        kind[round][i] = 7;
                        label[i] = labels[round][i % 200 == 199];
                }
                call_kinds_find(&k, kind[round], label, NULL, N);
        }
        g_assert_cmpuint(k.n, ==, 3);
        g_assert_cmpuint(kind[0][0], ==, 0);
        g_assert_cmpuint(kind[0][199], ==, 1); /* the node without a label */
        g_assert_cmpuint(kind[1][0], ==, 2);
        g_assert_cmpuint(kind[1][199], ==, 0);
        call_kinds_clear(&k);
}

/* A crowd whose calls have no labels, or any of twelve. */
static guint right_with_labels(guint seed, gboolean any, guint *n)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
        g_autofree Crowd *p = g_new(Crowd, 1);

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
        g_autofree Crowd *p = g_new(Crowd, 1);

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

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/kinds/kinds", test_kinds);
        g_test_add_func("/kinds/labels", test_labels);
        g_test_add_func("/kinds/labels-of-candidates", test_labels_of_candidates);
        return g_test_run();
}
