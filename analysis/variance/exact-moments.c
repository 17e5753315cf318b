/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/variance/exact-moments.h"

/* The quotient rounded down: the rest is of 0 to n - 1. */
static gint128 divide(gint128 sum, gint128 n, gint128 *rest)
{
        gint128 quotient = sum / n;

        if (sum % n < 0)
                quotient--;
        *rest = sum - quotient * n;
        return quotient;
}

/* The product itself may need more than 128 bits: (n a + b) (n c + d) / n. */
MomentQuotient moment_product(guint64 n, gint128 sum_x, gint128 sum_y)
{
        gint128 count = (gint128)n, b, d, a = divide(sum_x, count, &b),
                c = divide(sum_y, count, &d);
        gint128 last = b * d;

        return (MomentQuotient){ count * a * c + a * d + b * c + last / count,
                                 (double)(last % count) };
}

double moment_covariance(guint64 n, gint128 sum_x, gint128 sum_y, gint128 products)
{
        MomentQuotient q;

        if (n == 0)
                return 0;
        q = moment_product(n, sum_x, sum_y);
        return (double)(products - q.whole) - q.rest / (double)n;
}
