/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which nodes make the latency of an entry vary: its variance, divided exactly among the places in
 * which nodes work (docs/analysis.md has the formulas). After the variance trees of VProfiler
 * (Huang and others, EuroSys 2017), for own times. These do not overlap: no parent contains its
 * child, so leaves need no greater weight.
 *
 * An *entry* is a client, the node that it calls, and the operation, where the store has any. A
 * *factor* is the own time at a slot (paths/place-slots.h), the time that what is sent there lay in
 * a queue, or the network. For each request they add up to its time, so their covariances with it
 * add up to its variance.
 */
#pragma once

#include "analysis/variance/variance-rows.h"
#include "store/store-reader.h"

#define VARIANCE_FEWEST 100 /* requests of an entry that has a table */

typedef struct {
        NodeId client, root;
        char *label;      /* the operation; NULL: none */
        gboolean goes_on; /* some work is not nested */
        guint64 count;    /* requests */
        double mean, deviation;
        gint64 p50, p99, tail; /* of the time, ns; tail: the quantile that slow requests begin at */
        guint64 half;          /* so few requests have half of the variance */
        GArray *rows;  /* of VarianceRow, the greatest share of all first; empty where there are
                          fewer than that are asked for, or all take the same time */
        GArray *pairs; /* of VariancePair that have VARIANCE_PAIR of the variance, that first */
        double which;  /* the sum over the rows */
} VarianceEntry;

typedef struct {
        guint64 fewest;      /* an entry with fewer requests has no rows */
        double tail;         /* quantile that slow requests begin at, between 0.6 and 1 */
        gboolean completion; /* the time until all is done instead of the latency */
        const char *entry;   /* "client>lb", written; NULL: all */
        const char *label;   /* the operation; NULL: all */
} VarianceOptions;

typedef struct {
        GPtrArray *entries; /* of VarianceEntry, the one with most time in all first */
        gboolean completion;
        gboolean has_labels;
        guint64 left_out; /* requests whose time is above 39 hours */
} Variance;

/* Reads all of the store. NULL and error set where it has no requests, or no entry is as the
 * options say (RAVEL_ERROR_USAGE). Memory: 16 bytes a request, the calls that are open at one time,
 * and 16 bytes for each pair of at most 256 slots of an entry. */
Variance *variance_new(StoreReader *reader, const NodeTable *nodes, const VarianceOptions *options,
                       GError **error);
void variance_free(Variance *variance);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Variance, variance_free)
