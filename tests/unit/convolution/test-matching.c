/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Matchings, against all of them one by one.
 */
#include "convolution/joint/matching.h"

#include <math.h>

enum { EFFECTS = 4, SLOTS = 4, ROUNDS = 60 };

typedef struct {
        double weight[EFFECTS][SLOTS]; /* 0: no pair */
        double none[SLOTS];            /* the chance to have no effect */
        double all;                    /* how likely all matchings are together */
        double belief[EFFECTS][SLOTS];
} Case;

/* Adds all matchings of the effects from this one on, given which slots are taken. */
static double add_matchings(Case *c, guint effect, guint taken, gint *slot_of, double likely)
{
        double sum;

        if (effect == EFFECTS) {
                for (guint s = 0; s < SLOTS; s++)
                        likely *= taken >> s & 1 ? 1 : c->none[s];
                for (guint z = 0; z < EFFECTS; z++)
                        if (slot_of[z] >= 0)
                                c->belief[z][slot_of[z]] += likely;
                return likely;
        }
        slot_of[effect] = -1;
        sum = add_matchings(c, effect + 1, taken, slot_of, likely);
        for (guint s = 0; s < SLOTS; s++)
                if (c->weight[effect][s] > 0 && !(taken >> s & 1)) {
                        slot_of[effect] = (gint)s;
                        sum += add_matchings(c, effect + 1, taken | 1U << s, slot_of,
                                             likely * c->weight[effect][s]);
                }
        return sum;
}

/* The greatest difference between the beliefs of Matching and those of all matchings. */
static double difference(Case *c)
{
        Matching m = { 0 };
        gint slot_of[EFFECTS];
        double sum[SLOTS], worst = 0, without = 0, expected = EFFECTS;

        c->all = add_matchings(c, 0, 0, slot_of, 1);
        matching_start(&m, EFFECTS);
        for (guint z = 0; z < EFFECTS; z++) {
                matching_next_effect(&m, z);
                for (guint s = 0; s < SLOTS; s++)
                        if (c->weight[z][s] > 0) {
                                matching_add(&m, s, 0);
                                m.weight[m.n - 1] = (float)c->weight[z][s];
                        }
        }
        matching_end(&m);
        for (guint round = 0; round < ROUNDS; round++) {
                for (guint s = 0; s < SLOTS; s++)
                        sum[s] = c->none[s];
                matching_sum_claims(&m, sum);
                without = matching_sweep(&m, 0, EFFECTS, sum, MATCH_LIMITED);
        }
        for (guint z = 0; z < EFFECTS; z++) {
                gsize i = m.first[z];

                for (guint s = 0; s < SLOTS; s++)
                        if (c->weight[z][s] > 0) {
                                double belief = c->belief[z][s] / c->all;

                                worst = MAX(worst, fabs(m.belief[i] - belief));
                                i++;
                                expected -= belief;
                        }
        }
        matching_clear(&m);
        return MAX(worst, fabs(without - expected));
}

static double random_between(double low, double high)
{
        static GRand *rand; /* the same numbers in each run: with circles the bound is no law */

        if (!rand)
                rand = g_rand_new_with_seed(1);
        return g_rand_double_range(rand, low, high);
}

/* Pairs that make no circle: z0-s0-z1-s1-z2-s2-z3-s3. */
static void test_line(void)
{
        for (guint i = 0; i < 100; i++) {
                Case c = { 0 };

                for (guint s = 0; s < SLOTS; s++) {
                        c.none[s] = random_between(0.05, 1);
                        c.weight[s][s] = random_between(0.1, 20);
                        if (s + 1 < EFFECTS)
                                c.weight[s + 1][s] = random_between(0.1, 20);
                }
                g_assert_cmpfloat(difference(&c), <, 1e-5);
        }
}

/* Four effects of one slot, and none: shares of the whole. */
static void test_star(void)
{
        Case c = { .none = { 0.25, 1, 1, 1 } };

        for (guint z = 0; z < EFFECTS; z++)
                c.weight[z][0] = z + 1;
        g_assert_cmpfloat(difference(&c), <, 1e-5);
}

/* With circles it is not exact. */
static void test_circles(void)
{
        for (guint i = 0; i < 100; i++) {
                Case c = { 0 };

                for (guint s = 0; s < SLOTS; s++) {
                        c.none[s] = random_between(0.05, 1);
                        for (guint z = 0; z < EFFECTS; z++)
                                c.weight[z][s] = random_between(0.1, 20);
                }
                g_assert_cmpfloat(difference(&c), <, 0.2);
        }
}

/* What each of the other ways leaves out. */
static void test_free(void)
{
        Matching m = { 0 };
        double sum[2] = { 0 };

        matching_start(&m, 1);
        matching_next_effect(&m, 0);
        for (guint s = 0; s < 2; s++) {
                matching_add(&m, s, 7);
                m.weight[s] = s + 1;
        }
        matching_end(&m);
        g_assert_cmpfloat(matching_sweep(&m, 0, 1, sum, MATCH_FREE), ==, 0.25);
        g_assert_cmpfloat(m.belief[0], ==, 0.25);
        g_assert_cmpfloat(m.belief[1], ==, 0.5);
        matching_sweep(&m, 0, 1, sum, MATCH_ALONE);
        g_assert_cmpfloat(m.belief[0], ==, 0.5);
        g_assert_cmpuint(m.kind[1], ==, 7);
        matching_clear(&m);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/matching/line", test_line);
        g_test_add_func("/matching/star", test_star);
        g_test_add_func("/matching/circles", test_circles);
        g_test_add_func("/matching/free", test_free);
        return g_test_run();
}
