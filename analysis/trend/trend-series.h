/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether one number, such as the mean own time of a node, changed over many stores: by a creep, a
 * step between levels, or odd values in single stores. docs/analysis.md has the formulas, and where
 * they come from.
 */
#pragma once

#include <glib.h>

enum {
        SERIES_FEWEST = 6,   /* values of which a change is looked for */
        SERIES_GROUPS = 24,  /* hours of a day */
        SERIES_SHORTEST = 3, /* values of a level: fewer are odd */
};

/* The number in one store. */
typedef struct {
        double when;     /* in any unit, rising */
        double value;    /* its logarithm */
        double variance; /* of value, from the calls that it is of, were they independent: the least
                          * that it may have */
        guint32 group;   /* it is compared with those of its group; 0 to SERIES_GROUPS - 1 */
} SeriesValue;

typedef enum { SERIES_CREEP, SERIES_STEP, SERIES_ODD } SeriesKind;

typedef struct {
        SeriesKind kind;
        guint from, to; /* the values it is seen in: the first, and the one after the last */
        guint at;       /* STEP: the first of the new level; ODD: which */
        double change;  /* of value: CREEP in a unit of when; STEP to the new level; ODD from what
                         * it should be */
        double error;   /* it is that much more or less, with 95 % */
        double p;       /* as series_p() */
} SeriesChange;

/* How much a series varies between stores, from all series of the kind: as a multiple of the
 * variance by its calls, known with these degrees of freedom. All 0: nothing. */
typedef struct {
        double scatter, freedom;
} SeriesPrior;

/* The scatter of one series about the model that fits best, odd values apart, and its degrees of
 * freedom; 0 where there are too few values. */
SeriesPrior series_scatter(const SeriesValue *values, guint n);

/* What n of them have in common (Smyth's empirical Bayes): the less they differ, the surer. */
SeriesPrior series_prior(const SeriesPrior *scatters, guint n);

/* The probability that chance changes such a series as much: the least of a creep, a step and an
 * odd value, times the number of these tests. 1 where there are fewer than SERIES_FEWEST values.
 * O(n), and for each odd value again. */
double series_p(const SeriesValue *values, guint n, SeriesPrior prior);

/* Appends what changed, in the order of time: SeriesChange. level: the p up to which it counts. */
void series_find(const SeriesValue *values, guint n, SeriesPrior prior, double level,
                 GArray *changes);
