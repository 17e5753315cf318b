/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Windows of delay in correlations made up of accidents, and of what is put on them.
 */
#include "convolution/joint/delay-window.h"

enum { N = 1200, ZERO = 300 }; /* lags; where 0 is among them */

static const Lags lags = { -ZERO, N };
static const DelayWindowOptions options = { 4, 5 };

/* The same in each run: a window is found by chance, too, once in a while. */
static GRand *chance;

/* A Poisson number, as the events of many small chances. */
static float accidents(double mean)
{
        guint n = 0;

        for (guint i = 0; i < 1000; i++)
                n += g_rand_double(chance) < mean / 1000;
        return (float)n;
}

static void make_flat(float *c, double mean)
{
        for (guint i = 0; i < N; i++)
                c[i] = accidents(mean);
}

static void put(float *c, guint from, guint to, double mean)
{
        for (guint i = from; i < to; i++)
                c[i] += accidents(mean);
}

static GArray *find(const float *c)
{
        float background[N];

        return delay_windows_find(c, &lags, N - ZERO, &options, background);
}

static const DelayWindow *window(const GArray *windows, guint i)
{
        g_assert_cmpuint(windows->len, >, i);
        return &g_array_index(windows, DelayWindow, i);
}

/* Accidents alone, also where they become more frequent with the lag. */
static void test_none(void)
{
        float c[N];
        guint found = 0;

        for (guint round = 0; round < 20; round++) {
                g_autoptr(GArray) flat = NULL, slope = NULL;

                make_flat(c, round);
                flat = find(c);
                for (guint i = 0; i < N; i++)
                        c[i] = accidents(10 + 20.0 * i / N);
                slope = find(c);
                found += flat->len + slope->len;
        }
        g_assert_cmpuint(found, <=, 4); /* of 40 */
}

/* One lag, forty, and both. */
static void test_widths(void)
{
        float c[N];
        g_autoptr(GArray) narrow = NULL, both = NULL;

        make_flat(c, 2);
        c[ZERO + 50] += 30;
        narrow = find(c);
        g_assert_cmpuint(window(narrow, 0)->from, <=, ZERO + 50);
        g_assert_cmpuint(window(narrow, 0)->to, >, ZERO + 50);
        g_assert_cmpuint(window(narrow, 0)->to - window(narrow, 0)->from, <=, 4);
        g_assert_cmpfloat(window(narrow, 0)->excess, >, 20);
        put(c, ZERO + 400, ZERO + 440, 4);
        both = find(c);
        g_assert_cmpuint(window(both, 1)->from, >=, ZERO + 380);
        g_assert_cmpuint(window(both, 1)->to, <=, ZERO + 460);
        g_assert_cmpfloat(window(both, 1)->excess, >, 100);
        g_assert_cmpfloat(window(both, 1)->excess, <, 220);
}

/* An effect before its cause is none. */
static void test_before(void)
{
        float c[N];
        g_autoptr(GArray) windows = NULL;

        make_flat(c, 2);
        c[ZERO - 20] += 100;
        windows = find(c);
        for (guint i = 0; i < windows->len; i++)
                g_assert_cmpuint(window(windows, i)->from, >=, ZERO);
}

/* Hardly any messages: a few at one lag are no accident. */
static void test_sparse(void)
{
        float c[N] = { 0 };
        g_autoptr(GArray) few = NULL, enough = NULL;

        c[100] = c[700] = c[1100] = 1;
        c[ZERO] = 4; /* fewer than an edge needs */
        few = find(c);
        g_assert_cmpuint(few->len, ==, 0);
        c[ZERO] = 7;
        enough = find(c);
        g_assert_cmpuint(enough->len, ==, 1);
        g_assert_cmpuint(window(enough, 0)->from, ==, ZERO);
        g_assert_cmpuint(window(enough, 0)->to, ==, ZERO + 1);
}

int main(int argc, char **argv)
{
        int status;

        g_test_init(&argc, &argv, NULL);
        chance = g_rand_new_with_seed(1);
        g_test_add_func("/delay-window/none", test_none);
        g_test_add_func("/delay-window/widths", test_widths);
        g_test_add_func("/delay-window/before", test_before);
        g_test_add_func("/delay-window/sparse", test_sparse);
        status = g_test_run();
        g_rand_free(chance);
        return status;
}
