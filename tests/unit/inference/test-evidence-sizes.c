/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sizes that go with operations reveal parents.
 */
#include "tests/unit/inference/crowd.h"

/* Each call (0), or return (1), has one at random. */
static void add_random_sizes(Crowd *p, GRand *rand, guint which)
{
        for (guint32 i = 0; i < p->node.n_in; i++)
                p->in[i].size[which] = 20 + g_rand_int_range(rand, 0, 3);
        for (guint32 i = 0; i < p->node.n_out; i++)
                p->out[i].size[which] = 20 + g_rand_int_range(rand, 0, 3);
}

/* All calls of an edge have the same label. */
static void add_one_label(Crowd *p)
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
        g_autofree Crowd *p = g_new(Crowd, 1);

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

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/evidence-sizes/sizes", test_sizes);
        return g_test_run();
}
