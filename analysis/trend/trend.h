/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Since when a system is slower: the changes beyond chance over many stores, in the order of time.
 * docs/analysis.md has the method.
 */
#pragma once

#include "analysis/trend/trend-series.h"
#include "store/store-reader.h"

/* All that is found holds together with this probability but one. */
#define TREND_CHANCE 0.01

typedef enum { TREND_BY_STORE, TREND_BY_HOUR, TREND_BY_DAY } TrendBy;
extern const char *const trend_unit_names[]; /* "store"; NULL after the last */

/* Own time of a node, mean latency of a pattern, requests a second of an entry, an operation or a
 * pattern, share of a pattern among the requests of its entry. */
typedef enum { TREND_OWN, TREND_LATENCY, TREND_RATE, TREND_SHARE, N_TREND_KINDS } TrendKind;
extern const char *const trend_kind_names[N_TREND_KINDS]; /* "own" */
extern const char *const trend_change_names[3];           /* by SeriesKind: "creep" */

/* A store; or all of an hour or a day. */
typedef struct {
        char *name; /* of the first */
        guint stores;
        gint64 first, last; /* stamps; NO_TIME where there are none */
        double seconds;     /* that were captured */
        double parallelism; /* 0: unknown */
        guint64 paths;
        double drawn_error; /* of counts of patterns by drawings, a share of 1; 0: of paths found */
        guint32 hour;       /* that it is compared with, of the day, UTC; 0 where with all */
} TrendPoint;

typedef struct {
        guint64 count; /* calls or requests; 0: none, and no numbers */
        double value;  /* ns, requests a second, or a share of 1 */
        double exact;  /* own time: the mean of all calls, however they are mixed; else value */
        gint64 p99;    /* of a latency, ns */
} TrendValue;

typedef struct {
        TrendKind kind;
        char *subject;      /* the node, the signature, or client>node */
        char *label;        /* the operation; NULL: none, or all */
        guint64 id;         /* of a pattern */
        TrendValue *values; /* by point */
        double level;       /* the mean of values */
        double p;           /* of all chance, before it is compared with others; 1: not tested */
        GArray *changes;    /* of SeriesChange, in the order of time; from, to and at are points */
        gboolean follows;   /* of a pattern: a latency that changed as own times make it; a rate, as
                             * that of its entry or its share do */
} TrendSeries;

/* A pattern that begins or ends. */
typedef struct {
        char *signature, *label;
        guint64 id;
        gboolean gone; /* else it is new */
        guint at;      /* the first point with it, or without it */
        guint64 count,
                others; /* requests of the pattern in the points with it, and in the others */
        guint64 entry;  /* requests of its entry in the points with it */
        double p;
} TrendPattern;

typedef struct {
        NodeTable *nodes;
        TrendBy by;
        GArray *points;    /* of TrendPoint */
        GPtrArray *series; /* of TrendSeries: own times by node, then by kind, the most first */
        GArray *patterns;  /* of TrendPattern that are new or gone */
        GPtrArray *notes;  /* texts: what could not be compared, and what to mind */
        guint tests;       /* series and patterns that were compared */
        gboolean timed;    /* points are in the order of time; else as they were named */
        gboolean hours;    /* compared with the same hour of other days */
        double spacing;    /* ns, the unit of creeps: from one point to the next, in the mean */
} Trend;

/* Reads the stores, in any order. NULL and error set where one cannot be read, or fewer than
 * SERIES_FEWEST can be compared. */
Trend *trend_new(char *const *paths, guint n, TrendBy by, GError **error);
void trend_free(Trend *trend);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Trend, trend_free)

/* The change from its first point to its last, as a share: 0.03 is +3 %. */
double trend_change_in_all(const Trend *trend, const SeriesChange *change);

/* What the series is of, for people: "AP1", "GET /cart client>web(db)". */
char *trend_series_title(const TrendSeries *series);
