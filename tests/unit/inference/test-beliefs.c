/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Belief propagation, against all assignments.
 */
#include "tests/unit/inference/small-node.h"

/* Three calls into a node and five calls out. Two have a choice, so there are four assignments.
 * Where choices make no cycle, belief propagation is exact. */
static void test_beliefs(void)
{
        static const gsize candidates[] = { 0, 2, 3, 5, 6, 7 };
        static const guint32 candidate[] = { 0, 1, 1, 1, 2, 2, 0 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(9);

        for (guint round = 0; round < 50; round++) {
                SmallJoint small;
                double likely[4], all = 0, first, second;
                float found[7];

                begin_small(&small, rand, 3, 5, candidates, candidate);
                if (round % 2)
                        add_small_evidence(&small);
                for (guint a = 0; a < 4; a++)
                        all += likely[a] = likelihood_of(&small.j, (a & 1) | (a >> 1) << 2);
                joint_start_beliefs(&small.j);
                for (guint i = 0; i < 30; i++)
                        if (round % 2)
                                joint_update_to_learn(&small.j, 0); /* gives up no belief */
                        else
                                joint_update_all(&small.j, FALSE);
                joint_get_shares(&small.j, found);
                first = (likely[0] + likely[2]) / all;
                second = (likely[0] + likely[1]) / all;
                g_assert_cmpfloat_with_epsilon(found[0], first, 0.01);
                g_assert_cmpfloat_with_epsilon(found[1], 1 - first, 0.01);
                g_assert_cmpfloat_with_epsilon(found[3], second, 0.01);
                g_assert_cmpfloat(found[2], ==, 1);
                end_small(&small);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/beliefs/beliefs", test_beliefs);
        return g_test_run();
}
