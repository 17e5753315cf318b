/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The Markov chain visits assignments as often as they are likely.
 */
#include "tests/unit/inference/small-node.h"

/* How often a chain visits each of eight assignments, next to their likelihoods. Three calls have
 * two candidates each. Two of the calls are to the same callee, so that all steps are made. */
static void test_chain(void)
{
        enum { RUN = 300000 };
        static const gsize candidates[] = { 0, 2, 4, 6, 7, 8 };
        static const guint32 candidate[] = { 0, 1, 0, 1, 1, 2, 2, 0 };
        static const float chance[] = { 0.7, 0.3, 0.7, 0.3, 0.7, 0.3, 1, 1 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(11);

        for (guint round = 0; round < 20; round++) {
                SmallJoint small;
                Sampler *chain;
                double likely[8], all = 0;
                guint drawn[8] = { 0 };
                Drawings seen[8] = { { 0 } };

                begin_small(&small, rand, 3, 5, candidates, candidate);
                if (round % 2)
                        add_small_evidence(&small);
                for (guint a = 0; a < 8; a++)
                        all += likely[a] = likelihood_of(&small.j, a);
                chain = sampler_new(&small.j, chance, FALSE);
                for (guint i = 0; i < RUN; i++) {
                        guint a = 0;

                        sampler_run(chain, 1);
                        if (i < JOINT_DRAWN)
                                sampler_note(chain, seen, (Drawings){ .cold = 1ULL << i });
                        for (guint k = 0; k < 3; k++)
                                a |= (small.assignment.parent[k] != candidate[candidates[k]]) << k;
                        drawn[a]++;
                }
                for (guint a = 0; a < 8; a++)
                        g_assert_cmpfloat_with_epsilon((double)drawn[a] / RUN, likely[a] / all,
                                                       0.03);
                for (guint i = 0; i < 3; i++)
                        g_assert_cmpuint(seen[2 * i].cold ^ seen[2 * i + 1].cold, ==,
                                         (1ULL << JOINT_DRAWN) - 1);
                g_assert_cmpuint(seen[6].cold | seen[7].cold, ==, 0); /* they have no choice */
                sampler_free(chain);
                end_small(&small);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/sampler/chain", test_chain);
        return g_test_run();
}
