/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Exact covariances of whole numbers from their sums. Integer sums have no rounding errors, which a
 * difference of two large sums would show, and do not depend on the order.
 */
#pragma once

#include "paths/histogram.h"

/* The greatest size of a value, and the most values, for which nothing below overflows. */
#define MOMENT_LIMIT ((gint64)1 << 47)
#define MOMENT_COUNT ((guint64)1 << 32)

/* whole + rest / n is the quotient. */
typedef struct {
        gint128 whole;
        double rest;
} MomentQuotient;

/* sum_x sum_y / n, of the sums of n >= 1 values each. rest lies between 0 and n. */
MomentQuotient moment_product(guint64 n, gint128 sum_x, gint128 sum_y);

/* n times the covariance of n values x and y (the population's): the sum of their products less
 * what moment_product() says. 0 where n is 0. */
double moment_covariance(guint64 n, gint128 sum_x, gint128 sum_y, gint128 products);
