/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One time, such as the own time of a node, in both runs: whether its distribution changed beyond
 * chance. The values of both runs together give limits: quantiles from the lowest to the highest
 * that chance does not decide. At each limit the shares of values above it are compared
 * (analysis/share-test.h).
 */
#pragma once

#include "analysis/share-test.h"
#include "paths/histogram.h"

enum { DIFF_A, DIFF_B, N_SIDES };

/* A quantile of a time in both runs, ns. */
typedef struct {
        gint64 value[N_SIDES];
        gboolean bounded; /* there are enough values for an interval */
        gint64 low, high; /* 95 % interval of the change */
        guint64 needed;   /* values in each run that an interval needs */
        gboolean beyond;  /* it changed beyond chance */
} DiffDelay;

typedef enum { DIFF_P50, DIFF_P99, N_DIFF_QUANTILES } DiffQuantile;
extern const double diff_quantiles[N_DIFF_QUANTILES];
extern const char *const diff_quantile_names[N_DIFF_QUANTILES];

/* The share of values of at least a limit, where it changed most beyond chance. */
typedef struct {
        gint64 limit; /* ns; 0: too few values for any test */
        double share[N_SIDES];
        double low, high; /* 95 % interval of the change, as a share of 1 */
        gboolean beyond;
} DiffTail;

/* A time in both runs. */
typedef struct {
        guint64 count[N_SIDES]; /* values */
        gint64 mean[N_SIDES];   /* ns */
        DiffDelay quantiles[N_DIFF_QUANTILES];
        DiffTail tail;
} DiffTimes;

enum {
        DIFF_SMALLEST_TAIL = 8, /* values of both runs beyond a limit; fewer prove nothing */
        DIFF_MAX_LIMITS = 48,
};

/* Without single paths it cannot be measured how much values depend on each other. */
#define DIFF_GUESSED_DEPENDENCE 4

typedef struct {
        Histogram times[N_SIDES];
        guint n_limits;
        guint32 limits[DIFF_MAX_LIMITS]; /* histogram_bin(), rising: values of later bins are above
                                          */
        guint64 above[N_SIDES][DIFF_MAX_LIMITS]; /* values above each */
        double p[DIFF_MAX_LIMITS]; /* of the change of the share above each; the least one counts */
        gboolean has_batches[N_SIDES];
        guint32 *batches[N_SIDES]; /* values above fewer than 1, 2, ... limits, by batch; NULL:
                                      unknown */
} ComparedTimes;

/* Takes the limits from the histograms, which are complete. has_batches: whose values will be
 * counted by batch. */
void compared_times_limit(ComparedTimes *times, const gboolean has_batches[N_SIDES]);

/* Counts one value of a run whose values are counted by batch. */
void compared_times_count(ComparedTimes *times, int side, gint64 value, guint batch);

/* Appends the scatter of the share above each limit in each run: ShareScatter. Once, after all
 * values are counted. */
void compared_times_scatter(ComparedTimes *times, GArray *scatters);

/* Tests all limits. The least p of all, corrected for their number; 1 without any. */
double compared_times_test(ComparedTimes *times, ShareScatter prior);

/* Sets the result. level: changes of this p or less are beyond chance. */
void compared_times_result(const ComparedTimes *times, ShareScatter prior, double level,
                           DiffTimes *result);

/* How many values of a run are worth one independent value, at the limit nearest to a quantile of
 * both runs. */
double compared_times_dependence(const ComparedTimes *times, int side, double quantile,
                                 ShareScatter prior);

void compared_times_free(ComparedTimes *times);
