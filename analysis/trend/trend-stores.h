/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Many stores as they are read: what each pattern and each entry has in each of them. What
 * find-trend.c makes series of, and nobody else should include.
 */
#pragma once

#include "analysis/trend/trend-own.h"
#include "analysis/trend/trend.h"

#define TREND_HOUR (3600 * G_GINT64_CONSTANT(1000000000))
#define TREND_DAY  (24 * TREND_HOUR)

/* A pattern in a point. */
typedef struct {
        guint point;
        guint64 count;
        double number;      /* by drawings where the store has them, else count */
        double sum, square; /* of latency, ns */
        gint64 p99;
        Histogram *latency; /* where points are of several stores */
} MergedCell;

/* A call of a pattern. */
typedef struct {
        NodeId node;
        OwnSlot *slot;
        double own; /* in all stores */
} MergedPlace;

typedef struct {
        char *signature, *label;
        guint64 id, count;
        double total;
        guint entry;   /* index into TrendStores.entries: of the operation, or the whole where there
                        * is none */
        GArray *cells; /* of MergedCell, by point */
        GArray *places; /* of MergedPlace */
        gboolean moved; /* it is new or gone */
} MergedPattern;

/* client>node, and each of its operations. */
typedef struct {
        char *subject, *label;
        guint whole; /* the entry without an operation; itself */
        guint parts; /* of a whole: its operations */
        guint64 count;
        guint64 *counts; /* by point */
        guint64 *steady; /* the same without patterns that are new or gone */
} MergedEntry;

typedef struct {
        char *name, *likeness;
        gboolean compared, fit, has_labels;
        gint64 first, last;
        double parallelism;
        guint64 paths;
        gboolean is_drawn;  /* patterns are counted by drawings: most paths are probably wrong */
        double drawn_error; /* of such counts, of all patterns together */
} TrendStore;

/* All stores, while they are read. */
typedef struct {
        Trend *trend;
        const char *likeness; /* of the stores that are compared; NULL: of the first */
        gboolean labels;
        GArray *stores;      /* of TrendStore */
        GPtrArray *patterns; /* of MergedPattern */
        GHashTable *by_key;
        GPtrArray *entries; /* of MergedEntry */
        GHashTable *by_entry;
        OwnTimes *own;
} TrendStores;

/* Reads them, a point a store. stores is all 0, and to be cleared also after
 * an error. FALSE and error set where one cannot be read. */
gboolean trend_stores_read(TrendStores *stores, Trend *trend, char *const *paths, guint n,
                           GError **error);
void trend_stores_clear(TrendStores *stores);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TrendStores, trend_stores_clear)

/* Puts the stores that are compared into the points of trend, in the order of time, and all that
 * was read by store into the cells of points. */
void trend_stores_make_points(TrendStores *stores, Trend *trend);

/* Appends to the notes of trend which stores are not compared, and which not fit. */
void trend_stores_note(const TrendStores *stores, Trend *trend);

/* Appends a text to the notes of trend. */
void trend_add_note(Trend *trend, const char *format, ...) G_GNUC_PRINTF(2, 3);

MergedPattern *trend_stores_pattern(const TrendStores *stores, guint i);
MergedEntry *trend_stores_entry(const TrendStores *stores, guint i);

/* Time rounded down to a whole unit since the epoch. */
gint64 trend_floor(gint64 time, gint64 unit);

/* The middle of a stretch of time. */
double trend_middle(gint64 first, gint64 last);
