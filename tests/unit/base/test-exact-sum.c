/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sums of probabilities: as a number of a thousand bits has them, in any order, in any parts.
 */
#include "base/exact-sum.h"

#include <math.h>
#include <string.h>

/* --- the reference: an unsigned number in units of 2^-1088, which any double is a multiple of ----
 */

enum { LIMBS = 37, FRACTION = 1088 };

typedef struct {
        guint32 limb[LIMBS];
} Big;

static void big_add(Big *into, const Big *from)
{
        guint64 carry = 0;

        for (guint i = 0; i < LIMBS; i++) {
                carry += (guint64)into->limb[i] + from->limb[i];
                into->limb[i] = (guint32)carry;
                carry >>= 32;
        }
        g_assert_true(carry == 0);
}

static Big big_of(double x)
{
        Big big = { { 0 } };
        int exponent;
        guint64 mantissa = (guint64)ldexp(frexp(x, &exponent), 53);

        for (gint i = 0; i < 53; i++) {
                gint at = FRACTION + exponent - 53 + i;

                if (mantissa >> i & 1)
                        big.limb[at / 32] |= (guint32)1 << at % 32;
        }
        return big;
}

static gboolean big_bit(const Big *big, gint at)
{
        return at >= 0 && big->limb[at / 32] >> at % 32 & 1;
}

/* Rounded bit by bit: half up, but for a tie to an even number. */
static double big_value(const Big *big)
{
        gint top = LIMBS * 32 - 1;
        guint64 mantissa = 0;
        gboolean below = FALSE;

        while (top >= 0 && !big_bit(big, top))
                top--;
        if (top < 0)
                return 0;
        for (gint i = top; i > top - 53; i--)
                mantissa = mantissa << 1 | big_bit(big, i);
        for (gint i = top - 54; i >= 0; i--)
                below |= big_bit(big, i);
        mantissa += big_bit(big, top - 53) && (below || mantissa & 1);
        return ldexp((double)mantissa, top - 52 - FRACTION);
}

/* --- numbers of all sizes
 * --------------------------------------------------------------------------- */

static double draw(GRand *random, gint kind)
{
        double x = g_rand_double(random);

        switch (kind) {
        case 0:
                return 1;
        case 1:
                return x;
        case 2:
                return (double)(float)x;
        case 3:
                return ldexp(x, -g_rand_int_range(random, 0, 120));
        case 4:
                return ldexp(x, -g_rand_int_range(random, 0, 1074));
        default:
                return ldexp(1, -g_rand_int_range(random, 0, 200));
        }
}

enum { KINDS = 6 };

static void assert_same(const ExactSum *a, const ExactSum *b)
{
        g_assert_cmpmem(a->word, sizeof a->word, b->word, sizeof b->word);
}

/* --- tests
 * -------------------------------------------------------------------------------------------- */

static void test_reference(void)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(23);

        for (guint round = 0; round < 200; round++) {
                ExactSum sum = { { 0 } };
                Big big = { { 0 } };
                guint n = g_rand_int_range(random, 1, 300);

                for (guint i = 0; i < n; i++) {
                        double x = draw(random, (gint)(round + i * (round % 2)) % KINDS);
                        Big part = big_of(x);

                        exact_sum_add(&sum, x);
                        big_add(&big, &part);
                        g_assert_true(exact_sum_value(&sum) == big_value(&big));
                }
        }
}

/* The reference itself: where doubles have all bits, they and it are the same. */
static void test_small(void)
{
        ExactSum sum = { { 0 } };
        double plain = 0;

        g_assert_true(exact_sum_value(&sum) == 0);
        for (guint i = 0; i < 1000; i++) {
                double x = (double)(i * 37 % 256) / 256;
                Big big = big_of(x);

                g_assert_true(big_value(&big) == x);
                exact_sum_add(&sum, x);
                plain += x;
                g_assert_true(exact_sum_value(&sum) == plain);
        }
}

static void test_order(void)
{
        enum { N = 1000 };
        g_autoptr(GRand) random = g_rand_new_with_seed(7);
        double x[N];
        ExactSum first = { { 0 } };

        for (guint i = 0; i < N; i++) {
                x[i] = draw(random, (gint)i % KINDS);
                exact_sum_add(&first, x[i]);
        }
        for (guint round = 0; round < 20; round++) {
                ExactSum sum = { { 0 } };

                for (guint i = N; i > 0; i--) {
                        guint k = (guint)g_rand_int_range(random, 0, (gint)i);
                        double y = x[k];

                        x[k] = x[i - 1];
                        x[i - 1] = y;
                        exact_sum_add(&sum, y);
                }
                assert_same(&sum, &first);
        }
}

static void test_times(void)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(13);

        for (guint round = 0; round < 600; round++) {
                double x = draw(random, (gint)round % KINDS);
                guint n = g_rand_int_range(random, 0, 50);
                ExactSum one = { { 0 } }, all = { { 0 } };

                for (guint i = 0; i < n; i++)
                        exact_sum_add(&one, x);
                exact_sum_add_times(&all, x, n);
                assert_same(&one, &all);
        }
}

/* As many as can be: 2^64 - 1 of the largest numbers, and of the least. */
static void test_range(void)
{
        const double less = 1 - ldexp(1, -53), least = ldexp(1, -1074);
        ExactSum sum = { { 0 } };

        exact_sum_add_times(&sum, 1, G_MAXUINT64);
        g_assert_cmpuint(sum.word[EXACT_SUM_ONES], ==, G_MAXUINT64);
        g_assert_true(exact_sum_value(&sum) == 0x1p64);
        memset(&sum, 0, sizeof sum);
        exact_sum_add_times(&sum, less, G_MAXUINT64);
        g_assert_true(exact_sum_value(&sum) == less * 0x1p64);
        memset(&sum, 0, sizeof sum);
        exact_sum_add_times(&sum, least, 3);
        g_assert_true(exact_sum_value(&sum) == 3 * least);
        exact_sum_add_times(&sum, least, G_MAXUINT64 - 3);
        g_assert_true(exact_sum_value(&sum) == ldexp(1, 64 - 1074));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/exact-sum/small", test_small);
        g_test_add_func("/exact-sum/reference", test_reference);
        g_test_add_func("/exact-sum/order", test_order);
        g_test_add_func("/exact-sum/times", test_times);
        g_test_add_func("/exact-sum/range", test_range);
        return g_test_run();
}
