/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Identifiers that are passed on reveal parents.
 */
#include "tests/unit/inference/crowd.h"

/* Values that are passed on reveal parents. Values without meaning change nothing. */
static void test_identifiers(void)
{
        for (guint seed = 20; seed < (is_long() ? 23 : 21); seed++) {
                guint right[5], n = 0;

                for (guint values = 0; values < 5; values++) {
                        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
                        g_autofree Crowd *p = g_new(Crowd, 1);

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

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/evidence-identifiers/identifiers", test_identifiers);
        return g_test_run();
}
