/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether a share of values, such as of the calls above 50 ms, differs between two runs beyond
 * chance. The test is Fisher's exact one with mid-p, and does not take values for
 * independent. A run is cut
 * into batches, and the share's variance between batches is compared with that of independent
 * values. docs/analysis.md has the formulas.
 */
#pragma once

#include "analysis/trend/trend-series.h"

enum { SHARE_BATCHES = 16 };

/* A share in one run. The batches are borrowed. */
typedef struct {
        double n, counted;       /* values, and the counted ones among them */
        const guint32 *all, *in; /* the same by batch, in order of time; NULL: unknown */
        double least; /* values that are worth one independent value, at least; 1 or more */
} ShareRun;

/* How a share varies between batches. */
typedef struct {
        SeriesPrior variance; /* as a multiple of that of independent values */
        double correlation;   /* of neighbouring batches, 0 in the mean of independent values */
} ShareScatter;

/* No degrees of freedom if there are too few values. */
ShareScatter share_scatter(const ShareRun *run);

/* What shares have in common; scatters: of ShareScatter, each with degrees of freedom. */
ShareScatter share_prior(const GArray *scatters);

/* How many values are worth one independent value. prior: share_prior(). *freedom is set to the
 * degrees of freedom of the answer. */
double share_dependence(const ShareRun *run, ShareScatter prior, double *freedom);

/* The probability that chance makes the shares of two runs differ so much in either direction. */
double share_test(const ShareRun runs[2], ShareScatter prior);

/* Where the change of the share from run 0 to run 1 lies with a probability of 95 %. */
void share_change(const ShareRun runs[2], ShareScatter prior, double *low, double *high);
