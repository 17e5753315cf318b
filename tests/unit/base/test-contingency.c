/* SPDX-License-Identifier: BSD-2-Clause
 *
 * By how much one value tells another.
 */
#include "base/contingency.h"

/* Two rows and two columns, each pair so often. */
static double gain(guint a, guint b, guint c, guint d)
{
        const guint n[4] = { a, b, c, d };
        Contingency t;
        double gain;

        contingency_init(&t);
        for (guint i = 0; i < 4; i++)
                for (guint k = 0; k < n[i]; k++)
                        contingency_add(&t, i / 2, 10 + i % 2);
        gain = contingency_gain(&t);
        contingency_clear(&t);
        return gain;
}

static void test_gain(void)
{
        g_assert_cmpfloat_with_epsilon(gain(0, 0, 0, 0), 0, 1e-9);
        g_assert_cmpfloat_with_epsilon(gain(20, 20, 20, 20), -0.5, 1e-9);
        g_assert_cmpfloat_with_epsilon(gain(10, 30, 20, 60), -0.5, 1e-9);
        g_assert_cmpfloat_with_epsilon(gain(50, 0, 0, 50), 100 * G_LN2 - 0.5, 1e-9);
        g_assert_cmpfloat_with_epsilon(gain(0, 50, 50, 0), 100 * G_LN2 - 0.5, 1e-9);
        g_assert_cmpfloat_with_epsilon(gain(30, 10, 0, 0), 0, 1e-9); /* one row */
        /* By hand: 30 ln 1.5 + 10 ln 0.5, twice. */
        g_assert_cmpfloat_with_epsilon(gain(30, 10, 10, 30), 10.46496288 - 0.5, 1e-6);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/contingency/gain", test_gain);
        return g_test_run();
}
