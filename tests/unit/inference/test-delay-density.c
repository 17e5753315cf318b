/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Logarithms, and densities of delays.
 */
#include "tests/unit/inference/small-node.h"

static void test_log(void)
{
        for (double x = 1e-300; x < 1e300; x *= 1.0137)
                g_assert_cmpfloat_with_epsilon(fixed_log(x), log(x) * LOG_UNIT, 0.5001);
        g_assert_cmpint(fixed_log(1), ==, 0);
}

static void test_density_bins(void)
{
        gint64 edge = 0;

        for (guint bin = 0; bin < DENSITY_BINS; bin++) {
                g_assert_cmpuint(density_bin(edge), ==, bin);
                edge += density_bin_width(bin);
                g_assert_cmpuint(density_bin(edge - 1), ==, bin);
        }
        g_assert_cmpint(edge, ==, (gint64)1 << 44);
        g_assert_cmpuint(density_bin(edge), ==, DENSITY_BINS - 1);
        g_assert_cmpuint(density_bin(G_MAXINT64), ==, DENSITY_BINS - 1);
        g_assert_cmpuint(density_bin(-1), ==, 0);
}

static void test_density(void)
{
        DelayDensities d;
        guint32 general, rare, often;
        guint slow = density_bin(50000000), fast = density_bin(20000);

        delay_densities_init(&d);
        general = delay_densities_add_row(&d, 0);
        rare = delay_densities_add_row(&d, general);
        often = delay_densities_add_row(&d, general);
        for (guint i = 0; i < 5000; i++)
                delay_densities_count(&d, often, slow, DENSITY_COUNT);
        delay_densities_count(&d, rare, fast, DENSITY_COUNT);
        delay_densities_learn(&d);
        for (guint32 row = 0; row < d.n; row++)
                g_assert_cmpfloat_with_epsilon(mass(&d, row, 0, DENSITY_BINS), 1, 0.01);
        /* What was seen often is nearly all; what was seen once leans on the others. */
        g_assert_cmpfloat(mass(&d, often, slow - 4, slow + 5), >, 0.95);
        g_assert_cmpfloat(mass(&d, rare, slow - 4, slow + 5), >, 0.6);
        g_assert_cmpfloat(mass(&d, rare, fast - 20, fast + 21), >, 0.15);
        /* Halved thirteen times, 5,000 delays are less than one. */
        for (guint i = 0; i < 20; i++)
                delay_densities_fade(&d);
        delay_densities_learn(&d);
        g_assert_cmpfloat_with_epsilon(mass(&d, often, slow - 4, slow + 5),
                                       mass(&d, 0, slow - 4, slow + 5), 0.01);
        delay_densities_clear(&d);
}

#define MS G_GINT64_CONSTANT(1000000)

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

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/delay-density/log", test_log);
        g_test_add_func("/delay-density/density-bins", test_density_bins);
        g_test_add_func("/delay-density/density", test_density);
        g_test_add_func("/delay-density/coarse-delays", test_coarse_delays);
        return g_test_run();
}
