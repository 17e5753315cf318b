/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The order in which a queue serves, and what inversions cost.
 */
#include "inference/model/serving-order.h"

#include <math.h>

/* A queue that serves one after the other, in order or at random, is told from one that does not.
 */
static void test_order(void)
{
        enum { N = 400 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(10);

        for (guint in_order = 0; in_order < 2; in_order++) {
                Output *outputs = g_new(Output, N);
                gint64 waiting[4];
                DelayDensities delays;
                guint32 row;
                ServingOrder order;

                for (guint i = 0; i < 4; i++)
                        waiting[i] = 1000000 * (gint64)i;
                for (guint i = 0; i < N; i++)
                        outputs[i].time = 1000000 * (gint64)(i + 4);
                delay_densities_init(&delays);
                row = delay_densities_add_row(&delays, 0);
                serving_order_init(&order, 2);
                serving_order_take(&order, outputs, N);
                for (guint i = 0; i < N; i++) {
                        guint next = in_order ? i % 4 : (guint)g_rand_int_range(rand, 0, 4);

                        outputs[i].class = 1;
                        outputs[i].parent = i;
                        outputs[i].row = row;
                        outputs[i].share = 1;
                        outputs[i].trigger = waiting[next];
                        delay_densities_count(&delays, row,
                                              density_bin(outputs[i].time - waiting[next]),
                                              DENSITY_COUNT);
                        waiting[next] = outputs[i].time;
                }
                delay_densities_learn(&delays);
                /* Where all waited for as long, the other way round is hardly as likely. */
                for (guint bin = 0; bin < DENSITY_BINS; bin++)
                        if (in_order && delay_densities_row(&delays, row))
                                delays.density[row][bin] = 1;
                serving_order_learn(&order, &delays);
                g_assert_cmpint(order.in_use, ==, in_order);
                if (in_order) {
                        gint64 early = outputs[100].trigger - 1, late = outputs[102].trigger + 1;

                        g_assert_cmpfloat(order.factor[1], <, 0.1);
                        g_assert_cmpfloat(order.factor[0], ==, 1);
                        g_assert_cmpfloat(serving_order_factor(&order, 100, 0, late, N), ==, 1);
                        /* A call of another parent, which is served before parents that wait
                         * longer, or after. */
                        g_assert_cmpfloat_with_epsilon(
                                serving_order_factor(&order, 100, 1, late, N),
                                order.factor[1] * order.factor[1], 1e-9);
                        g_assert_cmpfloat(serving_order_factor(&order, 100, 1, early, 100), ==, 1);
                }
                /* Order that is not ruled out can be supposed, and given up. */
                serving_order_suppose(&order, &delays);
                g_assert_cmpfloat(order.factor[0], ==, 1);
                g_assert_cmpfloat(order.factor[1], <=, 0.05);
                g_assert_true(order.in_use);
                serving_order_drop(&order);
                g_assert_cmpfloat(order.factor[1], ==, 1);
                g_assert_false(order.in_use);
                serving_order_learn(&order, &delays);
                serving_order_forget(&order);
                g_assert_cmpfloat(serving_order_factor(&order, 100, 1, 0, N), ==, 1);
                /* Kept counts are used without outputs, until they are too few. */
                serving_order_take(&order, NULL, 0);
                for (guint i = 0; i < 10; i++) {
                        double factor = order.factor[1];

                        serving_order_keep(&order, i > 0);
                        serving_order_learn(&order, &delays);
                        g_assert_true(i > 0 || order.factor[1] == factor);
                }
                g_assert_cmpfloat(order.factor[1], ==, 1);
                serving_order_clear(&order);
                delay_densities_clear(&delays);
        }
}

/* Outputs of two kinds of a queue that serves in order, and of one that serves at random: what is
 * learned of inversions, and what these cost, pair by pair. */
static void test_mixed_order(void)
{
        enum { N = 3000, WAITING = 4 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(12);

        for (guint in_order = 0; in_order < 2; in_order++) {
                Output *outputs = g_new0(Output, N);
                gint64 waiting[WAITING], sum = 0;
                DelayDensities delays;
                guint32 row;
                ServingOrder order;
                g_autofree ServedPairs *pairs = NULL;
                g_autofree gint32 *logs = NULL;
                double odds;

                for (guint i = 0; i < WAITING; i++)
                        waiting[i] = 1000000 * (gint64)i;
                delay_densities_init(&delays);
                row = delay_densities_add_row(&delays, 0);
                serving_order_init(&order, 2);
                for (guint i = 0; i < N; i++) {
                        guint next = in_order ? 0 : (guint)g_rand_int_range(rand, 0, WAITING);

                        outputs[i] = (Output){
                                1000000 * (gint64)(i + WAITING), waiting[next], 0, i, row, 0
                        };
                        /* Delays differ enough for the order to show. */
                        delay_densities_count(&delays, row,
                                              density_bin(1000000 * g_rand_int_range(rand, 1, 8)),
                                              DENSITY_COUNT);
                        memmove(waiting + next, waiting + next + 1,
                                (WAITING - 1 - next) * sizeof *waiting);
                        waiting[WAITING - 1] = outputs[i].time;
                }
                delay_densities_learn(&delays);
                serving_order_take(&order, outputs, N);
                for (guint i = 0; i < N; i++) {
                        outputs[i].class = i % 2;
                        outputs[i].share = 1;
                }
                pairs = g_new0(ServedPairs, serving_order_n_counts(&order));
                serving_order_count(&order, &delays, pairs);
                odds = serving_order_odds(&order, pairs);
                serving_order_fit(&order, pairs);
                if (in_order) {
                        g_assert_cmpfloat(odds, <, 0.1);
                        g_assert_cmpfloat(order.factor[0], <, 0.2);
                        g_assert_cmpfloat(order.mixed[1], <, 0.2);
                        g_assert_cmpfloat(order.mixed[1], ==, order.mixed[2]);
                } else {
                        g_assert_cmpfloat(odds, >, 0.5);
                        order.mixed[1] = order.mixed[2] = 0.5;
                        order.factor[0] = 0.25;
                }
                logs = g_new(gint32, serving_order_n_counts(&order));
                serving_order_get_logs(&order, logs);
                for (guint i = 100; i < 200; i++) {
                        sum = 0;
                        for (guint k = i - 20; k < i + 20; k++) {
                                const Output *a = &outputs[MIN(i, k)], *b = &outputs[MAX(i, k)];
                                double factor = a->class != b->class ? order.mixed[1]
                                                                     : order.factor[a->class];

                                if (a->trigger > b->trigger)
                                        sum += fixed_log(factor);
                        }
                        g_assert_cmpint(serving_order_log(&order, i, logs), ==, sum);
                        g_assert_cmpfloat_with_epsilon(
                                log(serving_order_factor(&order, i, outputs[i].class,
                                                         outputs[i].trigger, i)) *
                                        LOG_UNIT,
                                sum, 20);
                }
                serving_order_clear(&order);
                delay_densities_clear(&delays);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/serving-order/order", test_order);
        g_test_add_func("/serving-order/mixed-order", test_mixed_order);
        return g_test_run();
}
