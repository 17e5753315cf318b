/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Spikes: local maxima N deviations above the mean, with a point below S between them.
 */
#include "convolution/spike.h"

#include <math.h>

enum { N = 1000 };

/* Noise between -1 and 1 around 10, always the same. */
static void make_noise(float *c)
{
        for (guint i = 0; i < N; i++)
                c[i] = 10 + (float)((i * 7919 + i * i * 31) % 2001) / 1000 - 1;
}

static GArray *find(const float *c, double spike, double between)
{
        Moments moments;

        return spikes_find(c, N, spike, between, &moments);
}

static void test_moments(void)
{
        const float c[] = { 1, 1, 1, 5 };
        Moments m;
        g_autoptr(GArray) spikes = spikes_find(c, 4, 1.5, 1, &m);

        g_assert_cmpfloat(m.mean, ==, 2);
        g_assert_cmpfloat(fabs(m.deviation - sqrt(3)), <, 1e-12);
        g_assert_cmpuint(spikes->len, ==, 1);
        g_assert_cmpfloat(fabs(g_array_index(spikes, Spike, 0).height - sqrt(3)), <, 1e-12);
}

static void test_none(void)
{
        float flat[N], noise[N];
        g_autoptr(GArray) a = NULL;
        g_autoptr(GArray) b = NULL;

        for (guint i = 0; i < N; i++)
                flat[i] = 3;
        make_noise(noise);
        a = find(flat, 4, 3);
        b = find(noise, 4, 3);
        g_assert_cmpuint(a->len, ==, 0);
        g_assert_cmpuint(b->len, ==, 0);
}

/* At both ends of the lags, and one that is only N deviations high is none. */
static void test_places(void)
{
        float c[N];
        g_autoptr(GArray) spikes = NULL;

        make_noise(c);
        c[0] = 100;
        c[500] = 90;
        c[N - 1] = 95;
        spikes = find(c, 4, 3);
        g_assert_cmpuint(spikes->len, ==, 3);
        g_assert_cmpuint(g_array_index(spikes, Spike, 0).at, ==, 0);
        g_assert_cmpuint(g_array_index(spikes, Spike, 1).at, ==, 500);
        g_assert_cmpuint(g_array_index(spikes, Spike, 2).at, ==, N - 1);
        g_assert_cmpuint(g_array_index(spikes, Spike, 2).from, ==, N - 1);
        g_assert_cmpuint(g_array_index(spikes, Spike, 2).end, ==, N);
}

/* Two peaks are one spike, the larger, unless they come down below S between. */
static void test_between(void)
{
        float c[N];
        g_autoptr(GArray) one = NULL;
        g_autoptr(GArray) two = NULL;
        g_autoptr(GArray) low = NULL;

        make_noise(c);
        c[300] = c[303] = 100;
        c[304] = 110;
        c[301] = c[302] = 70;
        one = find(c, 4, 3);
        g_assert_cmpuint(one->len, ==, 1);
        g_assert_cmpuint(g_array_index(one, Spike, 0).at, ==, 304);
        g_assert_cmpuint(g_array_index(one, Spike, 0).from, ==, 300);
        g_assert_cmpuint(g_array_index(one, Spike, 0).end, ==, 305);
        c[301] = 10;
        two = find(c, 4, 3);
        g_assert_cmpuint(two->len, ==, 2);
        g_assert_cmpuint(g_array_index(two, Spike, 0).at, ==, 300);
        g_assert_cmpuint(g_array_index(two, Spike, 1).at, ==, 304);
        c[301] = 40; /* above 3 deviations or below: S decides */
        low = find(c, 4, 0.1);
        g_assert_cmpuint(low->len, ==, 1);
}

/* Of equal ones the first. */
static void test_equal(void)
{
        float c[N];
        g_autoptr(GArray) spikes = NULL;

        make_noise(c);
        c[200] = c[201] = c[202] = 100;
        spikes = find(c, 4, 3);
        g_assert_cmpuint(spikes->len, ==, 1);
        g_assert_cmpuint(g_array_index(spikes, Spike, 0).at, ==, 200);
}

/* The least number of points is what it takes, and clearly fewer are too few. */
static void test_least_points(void)
{
        static const gsize widths[] = { 1, 3, 10 };

        for (guint i = 0; i < G_N_ELEMENTS(widths); i++) {
                gsize width = widths[i], least = spike_least_points(width, 4);
                g_autofree float *c = g_new0(float, least);
                g_autoptr(GArray) enough = NULL;
                g_autoptr(GArray) few = NULL;
                Moments m;

                for (gsize k = 0; k < width; k++)
                        c[k] = 1;
                enough = spikes_find(c, least, 4, 3, &m);
                few = spikes_find(c, least - 1 - width, 4, 3, &m);
                g_assert_cmpuint(enough->len, ==, 1);
                g_assert_cmpuint(few->len, ==, 0);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/spike/moments", test_moments);
        g_test_add_func("/spike/none", test_none);
        g_test_add_func("/spike/places", test_places);
        g_test_add_func("/spike/between", test_between);
        g_test_add_func("/spike/equal", test_equal);
        g_test_add_func("/spike/least-points", test_least_points);
        return g_test_run();
}
