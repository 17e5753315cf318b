/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The sums that divide the variance of an entry's time: of each factor, and of its products with
 * the time and with each other factor. They are over all requests, by pattern, and by batches in
 * order of time. What variance.c fills and variance-rows.c asks; nobody else should include it.
 */
#pragma once

#include "analysis/variance/exact-moments.h"

enum { N_BATCHES = 20 };

/* Of some requests. The factor n_factors is the time itself. */
typedef struct {
        guint64 n;
        gint128 *sum;     /* by factor */
        gint128 *by_time; /* the sum of its products with the time */
} FactorSums;

typedef struct {
        guint n_factors, n_groups;
        guint64 requests; /* that are to come */
        FactorSums all, slow, middle, doubtful, batches[N_BATCHES];
        FactorSums *groups;
        gint128 *products; /* of each two factors i <= j, at i * n_factors + j */
} VarianceSums;

/* One request, its factors cleared after it was added. Each value is below MOMENT_LIMIT in size. */
typedef struct {
        gint64 *value, *doubtful; /* by factor, ns; 0 of those not in used */
        guint32 *used;
        gboolean *is_used; /* by factor */
        guint n_used;
        gint64 time;
} RequestFactors;

RequestFactors *request_factors_new(guint n_factors); /* at most */
void request_factors_free(RequestFactors *request);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RequestFactors, request_factors_free)

/* Adds to a factor; doubtful: the call may be in a wrong place. FALSE where a value would be beyond
 * MOMENT_LIMIT, and value is not below it. */
gboolean request_factors_add(RequestFactors *request, guint32 factor, gint64 value,
                             gboolean doubtful);

VarianceSums *variance_sums_new(guint n_factors, guint n_groups, guint64 requests);
void variance_sums_free(VarianceSums *sums); /* NULL is allowed */

/* Adds the next request, of a group of patterns, and clears it. O(factors used, squared). */
void variance_sums_add(VarianceSums *sums, RequestFactors *request, guint group, gboolean slow,
                       gboolean middle);

/* n times the covariance of a factor with the time. */
double factor_sums_covariance(const FactorSums *sums, guint factor, guint time);

/* The same within groups, of all together; and of two factors i <= j with each other. */
double variance_sums_within(const VarianceSums *sums, guint factor);
double variance_sums_within_pair(const VarianceSums *sums, guint i, guint j);

/* The error of a factor's share of the variance with 95 %, by a jackknife that leaves out each
 * batch in turn, because of bursts. */
double variance_sums_error(const VarianceSums *sums, guint factor);
