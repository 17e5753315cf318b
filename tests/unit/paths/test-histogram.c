/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "paths/histogram.h"

static gint64 random_delay(GRand *rand)
{
        /* All sizes are equally likely, and some are negative. */
        guint64 bits = (guint64)g_rand_int(rand) << 32 | g_rand_int(rand);
        gint64 delay = (gint64)(bits >> g_rand_int_range(rand, 1, 64));

        return g_rand_int_range(rand, 0, 10) == 0 ? -delay : delay;
}

static int compare_delays(const void *a, const void *b)
{
        gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;

        return (x > y) - (x < y);
}

static void assert_same(const Histogram *a, const Histogram *b)
{
        g_autoptr(GBytes) packed_a = histogram_pack(a), packed_b = histogram_pack(b);

        g_assert_cmpuint(a->count, ==, b->count);
        g_assert_true(g_bytes_equal(packed_a, packed_b));
        for (double q = 0; q <= 1; q += 0.125)
                g_assert_cmpint(histogram_quantile(a, q), ==, histogram_quantile(b, q));
}

static void test_bins(void)
{
        gint64 last = G_MININT64, low, high;

        for (guint32 bin = 0; bin < HISTOGRAM_BINS; bin++) {
                histogram_bin_range(bin, &low, &high);
                g_assert_cmpint(low, ==, last); /* no gap */
                g_assert_cmpint(low, <, high);
                g_assert_cmpuint(histogram_bin(low), ==, bin);
                g_assert_cmpuint(histogram_bin(high - 1), ==, bin);
                if (bin > 0)
                        g_assert_cmpint(high - low, <=, MAX(1, low / 64));
                last = high;
        }
        g_assert_cmpint(last, ==, G_MAXINT64);
        g_assert_cmpuint(histogram_bin(G_MAXINT64), ==, HISTOGRAM_BINS - 1);
        g_assert_cmpuint(histogram_bin(G_MININT64), ==, 0);
        g_assert_cmpuint(histogram_bin(63), ==, 64);
}

static void test_empty(void)
{
        Histogram h = HISTOGRAM_INIT;
        g_autoptr(GBytes) packed = histogram_pack(&h);

        g_assert_cmpint(histogram_mean(&h), ==, 0);
        g_assert_cmpint(histogram_deviation(&h), ==, 0);
        g_assert_cmpint(histogram_quantile(&h, 0.5), ==, 0);
        g_assert_cmpuint(g_bytes_get_size(packed), ==, 0);
        g_assert_true(histogram_unpack(&h, (const guint8 *)"", 0));
        g_assert_true(histogram_unpack(&h, NULL, 0)); /* as SQLite has it */
        histogram_clear(&h);
}

static void test_moments(void)
{
        Histogram h = HISTOGRAM_INIT;

        histogram_add(&h, 1);
        histogram_add(&h, 2);
        g_assert_cmpint(histogram_mean(&h), ==, 2); /* 1.5 */
        histogram_add(&h, -6);
        g_assert_cmpint(histogram_mean(&h), ==, -1);
        histogram_add(&h, -3);
        g_assert_cmpint(histogram_mean(&h), ==, -2); /* -1.5 */
        histogram_clear(&h);
        /* A small spread on a large mean is not lost. */
        for (int i = 0; i < 1000; i++)
                histogram_add(&h, G_GINT64_CONSTANT(1000000000000000) + (i % 2 ? 3 : -3));
        g_assert_cmpint(histogram_deviation(&h), ==, 3);
        histogram_clear(&h);
        /* What only broken clocks yield does not overflow. */
        for (int i = 0; i < 5; i++)
                histogram_add(&h, G_MAXINT64);
        g_assert_cmpint(histogram_mean(&h), ==, G_MAXINT64);
        histogram_clear(&h);
}

/* Against the values themselves, sorted. */
static void test_quantiles(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);

        for (int round = 0; round < 200; round++) {
                Histogram h = HISTOGRAM_INIT;
                int n = g_rand_int_range(rand, 1, 300);
                g_autofree gint64 *values = g_new(gint64, n);
                for (int i = 0; i < n; i++)
                        histogram_add(&h, values[i] = random_delay(rand));
                qsort(values, (gsize)n, sizeof *values, compare_delays);
                g_assert_cmpint(h.min, ==, values[0]);
                g_assert_cmpint(h.max, ==, values[n - 1]);
                g_assert_cmpint(histogram_quantile(&h, 0), ==, values[0]);
                g_assert_cmpint(histogram_quantile(&h, 1), ==, values[n - 1]);
                for (double q = 0.01; q < 1; q += 0.07) {
                        gint64 value = values[(int)ceil(q * n) - 1];
                        gint64 found = histogram_quantile(&h, q);
                        g_assert_cmpuint(histogram_bin(found), ==, histogram_bin(value));
                        g_assert_cmpint(found, >=, h.min);
                        g_assert_cmpint(found, <=, h.max);
                }
                for (int i = 0; i < n; i++)
                        g_assert_cmpuint(histogram_bin_count(&h, histogram_bin(values[i])), >, 0);
                histogram_clear(&h);
        }
}

static void test_merge(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(2);

        for (int round = 0; round < 300; round++) {
                Histogram all = HISTOGRAM_INIT, parts[3] = { HISTOGRAM_INIT };
                int n = g_rand_int_range(rand, 0, round % 2 ? 30 : 600);
                for (int i = 0; i < n; i++) {
                        gint64 delay = round % 3 ? random_delay(rand) : 1000000;
                        histogram_add(&all, delay);
                        histogram_add(&parts[g_rand_int_range(rand, 0, 3)], delay);
                }
                histogram_merge(&parts[0], &parts[1]);
                histogram_merge(&parts[0], &parts[2]);
                assert_same(&all, &parts[0]);
                for (int i = 0; i < 3; i++)
                        histogram_clear(&parts[i]);
                histogram_clear(&all);
        }
}

/* As many values as asked for, of the same shape; and all of them as they were. */
static void test_scale(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(4);

        for (int round = 0; round < 300; round++) {
                Histogram h = HISTOGRAM_INIT, same = HISTOGRAM_INIT, many = HISTOGRAM_INIT;
                int n = g_rand_int_range(rand, 1, round % 2 ? 30 : 600);
                guint64 wanted = (guint64)g_rand_int_range(rand, 1, 5000);

                for (int i = 0; i < n; i++)
                        histogram_add(&h, round % 3 ? random_delay(rand) : 1000000);
                histogram_scale(&same, &h, h.count);
                assert_same(&h, &same);
                histogram_scale(&many, &h, wanted);
                g_assert_cmpuint(many.count, ==, wanted);
                g_assert_cmpint(many.min, ==, h.min);
                g_assert_cmpint(many.max, ==, h.max);
                g_assert_cmpint(ABS(histogram_mean(&many) - histogram_mean(&h)), <=, 1);
                for (guint32 bin = 0; bin < HISTOGRAM_BINS; bin++) {
                        double share = (double)histogram_bin_count(&h, bin) / n * (double)wanted;

                        g_assert_cmpfloat(ABS((double)histogram_bin_count(&many, bin) - share), <=,
                                          1);
                }
                histogram_clear(&h);
                histogram_clear(&same);
                histogram_clear(&many);
        }
}

/* More values in a bin than 32 bits count. */
static void test_many(void)
{
        enum { DOUBLINGS = 40 };
        Histogram h = HISTOGRAM_INIT, sum = HISTOGRAM_INIT, back = HISTOGRAM_INIT;
        guint64 many = (guint64)1 << DOUBLINGS;

        for (gint64 delay = 100; delay < 10000; delay += 20)
                histogram_add(&h, delay);
        histogram_add(&h, 100);
        for (guint i = 0; i < DOUBLINGS; i++) {
                histogram_merge(&sum, &h);
                histogram_merge(&sum, &h);
                histogram_clear(&h);
                h = sum;
                sum = (Histogram)HISTOGRAM_INIT;
        }
        g_assert_cmpuint(histogram_bin_count(&h, histogram_bin(100)), ==, 2 * many);
        g_assert_cmpuint(histogram_bin_count(&h, histogram_bin(9980)), >=, many);
        g_assert_cmpint(histogram_quantile(&h, 1.5 / 496), ==, 100);
        histogram_add(&h, 5000000); /* the bins grow, the counts stay */
        g_assert_cmpuint(histogram_bin_count(&h, histogram_bin(100)), ==, 2 * many);
        g_assert_cmpuint(h.count, ==, 496 * many + 1);

        g_autoptr(GBytes) packed = histogram_pack(&h);
        gsize size;
        const guint8 *data = g_bytes_get_data(packed, &size);
        g_assert_true(histogram_unpack(&back, data, size));
        assert_same(&h, &back);
        histogram_clear(&back);
        histogram_clear(&h);
}

static void test_pack(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(3);

        for (int round = 0; round < 300; round++) {
                Histogram h = HISTOGRAM_INIT, back = HISTOGRAM_INIT;
                int n = g_rand_int_range(rand, 1, 50);
                for (int i = 0; i < n; i++)
                        histogram_add(&h, random_delay(rand));
                g_autoptr(GBytes) packed = histogram_pack(&h);
                gsize size;
                const guint8 *data = g_bytes_get_data(packed, &size);
                g_assert_true(histogram_unpack(&back, data, size));
                assert_same(&h, &back);
                g_assert_cmpint(histogram_deviation(&h), ==, histogram_deviation(&back));
                histogram_clear(&back);
                for (gsize cut = 1; cut < size; cut++)
                        g_assert_false(histogram_unpack(&back, data, cut));
                histogram_clear(&h);
        }
}

/* Bytes from anywhere are refused or understood, and never more. */
static void test_unpack_garbage(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(4);

        for (int round = 0; round < 100000; round++) {
                Histogram h = HISTOGRAM_INIT;
                guint8 bytes[16];
                gsize n = (gsize)g_rand_int_range(rand, 0, sizeof bytes);
                for (gsize i = 0; i < n; i++)
                        bytes[i] = (guint8)(g_rand_int(rand) & g_rand_int(rand));
                if (histogram_unpack(&h, bytes, n))
                        histogram_quantile(&h, 0.5);
                else
                        g_assert_cmpuint(h.count, ==, 0);
                histogram_clear(&h);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/histogram/bins", test_bins);
        g_test_add_func("/histogram/empty", test_empty);
        g_test_add_func("/histogram/moments", test_moments);
        g_test_add_func("/histogram/quantiles", test_quantiles);
        g_test_add_func("/histogram/merge", test_merge);
        g_test_add_func("/histogram/scale", test_scale);
        g_test_add_func("/histogram/many", test_many);
        g_test_add_func("/histogram/pack", test_pack);
        g_test_add_func("/histogram/unpack-garbage", test_unpack_garbage);
        return g_test_run();
}
