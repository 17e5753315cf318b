/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sizes in classes: rounding is stable, near enough, and in order.
 */
#include "base/size-class.h"

static void test_size_classes(void)
{
        static const guint64 some[][2] = { { 0, 0 },     { 7, 7 },     { 8, 8 },      { 9, 10 },
                                           { 11, 12 },   { 15, 16 },   { 17, 16 },    { 100, 96 },
                                           { 119, 112 }, { 120, 128 }, { 1460, 1536 } };
        guint last = 0;
        for (guint i = 0; i < G_N_ELEMENTS(some); i++)
                g_assert_cmpuint(size_round(some[i][0]), ==, some[i][1]);
        for (guint64 n = 0; n < 100000; n++) {
                guint64 round = size_round(n);
                g_assert_cmpuint(size_round(round), ==, round);
                g_assert_cmpuint(MAX(n, round) - MIN(n, round), <=, n / 8);
                g_assert_cmpuint(size_class(n), ==, size_class(round));
                g_assert_true(size_class(n) == last || size_class(n) == last + 1);
                last = size_class(n);
        }
        g_assert_cmpuint(size_class(G_MAXUINT64), <, 256);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/size-class/classes", test_size_classes);
        return g_test_run();
}
