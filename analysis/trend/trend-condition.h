/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What ravel trend --fail-on asks: "own>+3%/week", "latency>10%", "rate<-50%", "new".
 */
#pragma once

#include "analysis/trend/trend.h"

typedef enum { TREND_IN_ALL, TREND_A_STORE, TREND_AN_HOUR, TREND_A_DAY, TREND_A_WEEK } TrendUnit;

typedef struct {
        gboolean pattern, gone; /* of a pattern that is new, or gone */
        TrendKind kind;         /* else of these series */
        gboolean below;
        double limit; /* a share: 0.03 is +3 % */
        TrendUnit unit;
} TrendCondition;

/* FALSE and error set where text, n bytes, is none. */
gboolean trend_condition_parse(const char *text, gsize n, TrendCondition *c, GError **error);

/* Whether it can be asked: units of time need stores in the order of time. */
gboolean trend_condition_check(const TrendCondition *c, const Trend *trend, GError **error);

/* Whether a change meets it: a creep by what it is in the unit, a step as it is. Never where only
 * single stores are odd. */
gboolean trend_condition_meets(const TrendCondition *c, const Trend *trend,
                               const TrendSeries *series, const SeriesChange *change);

/* Whether a pattern that is new or gone meets it. */
gboolean trend_condition_meets_pattern(const TrendCondition *c, const TrendPattern *pattern);
