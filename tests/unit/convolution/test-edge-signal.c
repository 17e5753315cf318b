/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Edge signals: which slot a time lies in, what a slot holds, and lags and delays.
 */
#include "convolution/edge-signal.h"

#include <math.h>

static void test_slots(void)
{
        const Quanta q = { .origin = 1000, .quantum = 10 };
        const gint64 times[] = { 1000, 1009, 1009, 1009, 1010, 1029, 5000 };
        g_autoptr(EdgeSignal) root = edge_signal_new(times, G_N_ELEMENTS(times), &q, SIGNAL_ROOT);
        g_autoptr(EdgeSignal) count = edge_signal_new(times, G_N_ELEMENTS(times), &q, SIGNAL_COUNT);
        const gint64 slots[] = { 0, 1, 2, 400 };
        const float counts[] = { 4, 1, 1, 1 }, roots[] = { 2, 1, 1, 1 };

        g_assert_cmpmem(root->slot, root->n * sizeof *slots, slots, sizeof slots);
        g_assert_cmpmem(root->value, root->n * sizeof *roots, roots, sizeof roots);
        g_assert_cmpmem(count->slot, count->n * sizeof *slots, slots, sizeof slots);
        g_assert_cmpmem(count->value, count->n * sizeof *counts, counts, sizeof counts);
}

/* All the time that there can be, in quanta of a nanosecond. */
static void test_extremes(void)
{
        const gint64 last = (gint64)1 << 61;
        const Quanta q = { .origin = -last, .quantum = 1 };
        const gint64 times[] = { -last, 0, last };
        g_autoptr(EdgeSignal) s = edge_signal_new(times, 3, &q, SIGNAL_ROOT);

        g_assert_cmpuint(s->n, ==, 3);
        g_assert_cmpint(s->slot[2], ==, 2 * last);
}

static void test_empty(void)
{
        const Quanta q = { .origin = 0, .quantum = 1 };
        g_autoptr(EdgeSignal) s = edge_signal_new(NULL, 0, &q, SIGNAL_ROOT);

        g_assert_cmpuint(s->n, ==, 0);
}

static void test_lags(void)
{
        const Quanta q = { .origin = 7, .quantum = 10 };

        g_assert_cmpint(quanta_lag(&q, 0), ==, 0);
        g_assert_cmpint(quanta_lag(&q, 9), ==, 0);
        g_assert_cmpint(quanta_lag(&q, 10), ==, 1);
        g_assert_cmpint(quanta_lag(&q, -1), ==, -1);
        g_assert_cmpint(quanta_lag(&q, -10), ==, -1);
        g_assert_cmpint(quanta_lag(&q, -11), ==, -2);
        g_assert_cmpint(quanta_delay(&q, 3), ==, 30);
        g_assert_cmpint(quanta_slot(&q, 7), ==, 0);
        g_assert_cmpint(quanta_slot(&q, 26), ==, 1);
}

/* Messages that are d apart lie d / quantum slots apart on average. */
static void test_unbiased(void)
{
        const Quanta q = { .origin = 0, .quantum = 100 };
        double sum = 0;

        for (gint64 t = 0; t < 10000; t++)
                sum += (double)(quanta_slot(&q, t + 237) - quanta_slot(&q, t));
        g_assert_cmpfloat(fabs(sum / 10000 - 2.37), <, 1e-9);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/edge-signal/slots", test_slots);
        g_test_add_func("/edge-signal/extremes", test_extremes);
        g_test_add_func("/edge-signal/empty", test_empty);
        g_test_add_func("/edge-signal/lags", test_lags);
        g_test_add_func("/edge-signal/unbiased", test_unbiased);
        return g_test_run();
}
