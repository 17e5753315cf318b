/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The binomial distribution against the sum that it is, and intervals against
 * tables.
 */
#include <glib.h>
#include <math.h>

#include "base/binomial.h"

static double tail_by_sum(int n, int k, double p)
{
        double sum = 0;

        for (int i = k; i <= n; i++) {
                double term = 1;
                for (int j = 1; j <= i; j++)
                        term *= (double)(n - i + j) / j * p;
                for (int j = 0; j < n - i; j++)
                        term *= 1 - p;
                sum += term;
        }
        return sum;
}

static void test_tail(void)
{
        const double shares[] = { 0.001, 0.01, 0.3, 0.5, 0.77, 0.99 };

        for (guint s = 0; s < G_N_ELEMENTS(shares); s++)
                for (int n = 1; n <= 60; n += 7)
                        for (int k = 0; k <= n + 1; k++)
                                g_assert_cmpfloat(fabs(binomial_tail(n, k, shares[s]) -
                                                       tail_by_sum(n, k, shares[s])),
                                                  <, 1e-11);
}

/* Of a million: by the normal distribution, to its error. */
static void test_many(void)
{
        double n = 1e6, deviation = sqrt(n) / 2;

        for (double z = -5; z <= 5; z += 0.5)
                g_assert_cmpfloat(fabs(binomial_tail(n, n / 2 + z * deviation + 0.5, 0.5) -
                                       erfc(z / sqrt(2)) / 2),
                                  <, 1e-5);
        g_assert_cmpfloat(binomial_tail(n, n, 0.99), <, 1e-300);
}

static void test_monotonous(void)
{
        for (double k = 0.5; k < 40; k += 0.25)
                g_assert_cmpfloat(binomial_tail(40.5, k, 0.4), >,
                                  binomial_tail(40.5, k + 0.25, 0.4));
}

static void test_interval(void)
{
        /* Clopper and Pearson's of 95 %. */
        const struct {
                double n, k, low, high;
        } cases[] = {
                { 10, 0, 0, 0.30850 },           { 10, 5, 0.18709, 0.81291 },
                { 10, 10, 0.69150, 1 },          { 100, 1, 0.00025, 0.05446 },
                { 1000, 500, 0.46855, 0.53145 },
        };

        for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
                double low, high;

                binomial_interval(cases[i].n, cases[i].k, 0.025, &low, &high);
                g_assert_cmpfloat(fabs(low - cases[i].low), <, 2e-5);
                g_assert_cmpfloat(fabs(high - cases[i].high), <, 2e-5);
        }
}

/* Fisher's exact test of tables, by sums over all tables. */
static void test_hypergeometric(void)
{
        const int n = 20, marked = 7, drawn = 9;
        double all = 0, terms[8];

        for (int k = 0; k <= marked; k++) {
                terms[k] = 1;
                for (int i = 0; i < k; i++)
                        terms[k] *= (double)(marked - i) / (i + 1);
                for (int i = 0; i < drawn - k; i++)
                        terms[k] *= (double)(n - marked - i) / (i + 1);
                all += terms[k];
        }
        for (int k = 0; k <= marked; k++) {
                double sum = 0;
                for (int i = k; i <= marked; i++)
                        sum += terms[i];
                g_assert_cmpfloat(
                        fabs(hypergeometric_log_tail(n, marked, drawn, k) - log(sum / all)), <,
                        1e-10);
        }
        g_assert_cmpfloat(hypergeometric_log_tail(n, marked, drawn, 8), ==, -HUGE_VAL);
        /* 30 of 265 calls, and 0 of 260. */
        g_assert_cmpfloat(fabs(exp(hypergeometric_log_tail(525, 30, 265, 30)) - 5.35e-10), <,
                          3e-10);
}

static void test_deviate(void)
{
        const double z[] = { -3, 0, 1.96, 8, 29, 31, 200 };

        for (guint i = 0; i < G_N_ELEMENTS(z); i++) {
                double tail = z[i] < 30 ? log(erfc(z[i] / sqrt(2)) / 2)
                                        : -z[i] * z[i] / 2 - log(z[i] * sqrt(2 * G_PI));
                g_assert_cmpfloat(fabs(normal_deviate(tail) - z[i]), <, 1e-6);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/binomial/tail", test_tail);
        g_test_add_func("/binomial/many", test_many);
        g_test_add_func("/binomial/monotonous", test_monotonous);
        g_test_add_func("/binomial/interval", test_interval);
        g_test_add_func("/binomial/hypergeometric", test_hypergeometric);
        g_test_add_func("/binomial/deviate", test_deviate);
        return g_test_run();
}
