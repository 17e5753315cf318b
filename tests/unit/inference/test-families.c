/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Families by the product of their members, and by drawings.
 */
#include "inference/solve/families.h"
#include "tests/unit/inference/small-node.h"

/* The families of calls into a small node, as they are found with these shares by candidate. */
static void find_small_families(SmallJoint *small, const float *share, float *family)
{
        NodeProblem *node = &small->s.node;

        node->decide = G_MAXINT64;
        for (guint32 p = 0; p < node->n_in; p++)
                family[p] = 1;
        memcpy(small->scores.share, share, problem_n_all(&small->problem) * sizeof *share);
        joint_find_families(&small->j, 0, node->n_out, family);
}

/* Three parents that enter one after the other, and five children. */
static void begin_three(SmallJoint *small, GRand *rand, const gsize *candidates,
                        const guint32 *candidate)
{
        begin_small(small, rand, 3, 5, candidates, candidate);
        for (guint32 p = 0; p < 3; p++)
                small->s.in[p].enter = 1000 + p;
}

/* Nothing drawn: the product over what a parent has of p, and of 1 - p over what it might have. A
 * call's parent was taken for less than its share: the others have the rest. */
static void test_families_by_product(void)
{
        static const gsize candidates[] = { 0, 2, 4, 6, 7, 8 };
        static const guint32 candidate[] = { 0, 1, 0, 1, 1, 2, 2, 0 };
        static const float share[] = { 0.75f, 0.25f, 0.5f, 0.25f, 0.875f, 0.25f, 1, 1 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(12);
        SmallJoint small;
        float family[3];

        begin_three(&small, rand, candidates, candidate);
        find_small_families(&small, share, family);
        g_assert_cmpfloat_with_epsilon(family[0], 0.75 * 0.5, 1e-6);
        g_assert_cmpfloat_with_epsilon(family[1], 0.75 * 0.5 * 0.875, 1e-6);
        g_assert_cmpfloat_with_epsilon(family[2], 0.875, 1e-6); /* it has one for certain */
        end_small(&small);
}

/* Two calls that are drawn together or not at all are as likely as one of them; two that are drawn
 * one or the other are hardly ever together. */
static void test_families_by_drawings(void)
{
        static const gsize candidates[] = { 0, 2, 4, 5, 6, 7 };
        static const guint32 candidate[] = { 0, 1, 0, 1, 1, 2, 2 };
        static const float share[] = { 0.5f, 0.5f, 0.5f, 0.5f, 1, 1, 1 };
        const guint64 all = (1ULL << JOINT_DRAWN) - 1, half = (1ULL << JOINT_DRAWN / 2) - 1;
        const Drawings first = { half, half }, last = { all ^ half, all ^ half };
        g_autoptr(GRand) rand = g_rand_new_with_seed(13);

        for (guint together = 0; together < 2; together++) {
                SmallJoint small;
                float family[3];

                begin_three(&small, rand, candidates, candidate);
                small.scores.drawn = g_new0(Drawings, 7);
                small.scores.drawn[0] = first;
                small.scores.drawn[1] = last;
                small.scores.drawn[2] = together ? first : last;
                small.scores.drawn[3] = together ? last : first;
                find_small_families(&small, share, family);
                g_assert_cmpfloat_with_epsilon(family[0], together ? 0.5 : 0.00530964, 1e-6);
                g_assert_cmpfloat_with_epsilon(family[1], together ? 0.5 : 0.00530964, 1e-6);
                g_assert_cmpfloat(family[2], ==, 1);
                end_small(&small);
        }
}

/* Calls that are drawn together are doubted together, too, where calibration doubts each more than
 * the drawings do; and what may have gone astray whatever the drawings say is so once. */
static void test_families_doubted(void)
{
        static const gsize candidates[] = { 0, 2, 4, 5, 6, 7 };
        static const guint32 candidate[] = { 0, 1, 0, 1, 1, 2, 2 };
        static const float share[] = { 0.8f, 0.2f, 0.8f, 0.2f, 1, 1, 1 };
        static const float astray[] = { 0.77f, 0.23f, 0.77f, 0.23f, 1, 1, 1 };
        const guint64 all = (1ULL << JOINT_DRAWN) - 1, most = (1ULL << JOINT_DRAWN * 9 / 10) - 1;
        const Drawings first = { most, most }, last = { all ^ most, all ^ most };
        g_autoptr(GRand) rand = g_rand_new_with_seed(13);
        SmallJoint small;
        float family[3];

        begin_three(&small, rand, candidates, candidate);
        small.scores.drawn = g_new0(Drawings, 7);
        small.scores.drawn[0] = small.scores.drawn[2] = first;
        small.scores.drawn[1] = small.scores.drawn[3] = last;
        find_small_families(&small, share, family);
        g_assert_cmpfloat_with_epsilon(family[0], 0.8, 0.01);
        g_assert_cmpfloat_with_epsilon(family[1], 0.8, 0.01);
        g_assert_cmpfloat(family[2], ==, 1);
        small.scores.error_rate = 0.1;
        find_small_families(&small, astray, family);
        g_assert_cmpfloat_with_epsilon(family[0], 0.9 * 0.8, 0.01);
        g_assert_cmpfloat(family[2], ==, 1);
        end_small(&small);
}

/* Two calls into a node that nothing tells apart: whatever is said of one, it may as well be the
 * other that made them all. */
static void test_families_of_twins(void)
{
        static const gsize candidates[] = { 0, 2, 4, 5, 6, 7 };
        static const guint32 candidate[] = { 0, 1, 0, 1, 2, 2, 2 };
        static const float share[] = { 1, 0, 1, 0, 1, 1, 1 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(14);
        SmallJoint small;
        float family[3];

        begin_small(&small, rand, 3, 5, candidates, candidate);
        for (guint32 p = 0; p < 3; p++) {
                small.s.in[p].enter = 1000;
                small.s.in[p].reply = p == 2 ? 3000 : 2000;
                small.kinds.kind[p] = 0;
        }
        find_small_families(&small, share, family);
        g_assert_cmpfloat_with_epsilon(family[0], 0.5, 1e-6);
        g_assert_cmpfloat_with_epsilon(family[1], 0.5, 1e-6);
        g_assert_cmpfloat(family[2], ==, 1);
        end_small(&small);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/families/families/product", test_families_by_product);
        g_test_add_func("/families/families/drawings", test_families_by_drawings);
        g_test_add_func("/families/families/doubted", test_families_doubted);
        g_test_add_func("/families/families/twins", test_families_of_twins);
        return g_test_run();
}
