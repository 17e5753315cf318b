/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The changes between two runs, and which are beyond chance. docs/analysis.md has the method.
 * Intervals are by order statistics, which assume nothing about the distributions. Paths that come
 * in bursts count for fewer. All intervals hold together: of twenty pairs of equal runs nineteen
 * differ in nothing.
 */
#ifndef RAVEL_DIFF_H
#define RAVEL_DIFF_H

#include "paths/collapsed-tree.h"
#include "store/store-reader.h"
#include "tracefmt/output-file.h"

enum {
        DIFF_A,
        DIFF_B,
        N_SIDES,
        DIFF_TESTED = 100, /* patterns whose delays are compared, by total latency in both */
};

/* A quantile of a delay in both runs, ns. */
typedef struct {
        gint64 value[N_SIDES];
        gboolean bounded; /* there were enough paths for an interval */
        gint64 low, high; /* it changed by that much */
        gboolean beyond;  /* which is not 0 */
} DiffDelay;

typedef enum { DIFF_P50, DIFF_P99, N_DIFF_QUANTILES } DiffQuantile;
extern const double diff_quantiles[N_DIFF_QUANTILES];
extern const char *const diff_quantile_names[N_DIFF_QUANTILES];

/* A node, on all paths or in one place of a pattern. */
typedef struct {
        NodeId node;
        guint32 parent;    /* index into the nodes of the pattern, or NO_PARENT */
        guint32 repeats;   /* how many calls of the pattern it is */
        const char *label; /* borrowed; NULL: none, or of all paths */
        guint64 calls[N_SIDES];
        gint64 mean[N_SIDES]; /* own time */
        DiffDelay own[N_DIFF_QUANTILES];
} DiffNode;

typedef struct {
        char *key; /* stored_pattern_key() */
        char *signature;
        char *label; /* of the root; NULL: none, or not compared */
        guint64 id;
        NodeId client;
        guint64 count[N_SIDES];                 /* 0: only in the other run */
        double number[N_SIDES], error[N_SIDES]; /* by drawings where a run has them, and a standard
                                                   error of that; else the count, and 0 */
        gint64 total[N_SIDES], mean[N_SIDES];
        double low, high;           /* its share of all paths changed by that much, in 1 */
        gboolean beyond;            /* which is not 0 */
        gboolean tested;            /* it has what follows */
        double dependence[N_SIDES]; /* number of paths that count as one independent path */
        DiffDelay latency[N_DIFF_QUANTILES];
        CollapsedTree *tree; /* of run A */
        GArray *nodes;       /* of DiffNode: the tree's vertices */
} DiffPattern;

typedef struct {
        NodeTable *nodes;
        gboolean has_labels[N_SIDES]; /* patterns are compared by label where both have */
        guint64 paths[N_SIDES], patterns[N_SIDES];
        double dependence[N_SIDES];
        gboolean is_drawn[N_SIDES];  /* it has counts by drawings: most paths are probably wrong */
        double probability[N_SIDES]; /* the mean of a path's */
        gboolean has_paths[N_SIDES]; /* else the dependence is a guess */
        DiffDelay latency[N_DIFF_QUANTILES]; /* of all paths */
        GArray *by_node;    /* of DiffNode, by NodeId; without calls where there are none */
        GArray *queued;     /* likewise: how long what is sent there lay in queues before */
        GArray *by_pattern; /* of DiffPattern: most latency in both runs first */
} Diff;

/* Reads both to their ends; nodes is the table both readers were made with. NULL and
 * error set where one cannot be read. */
Diff *diff_new(StoreReader *a, StoreReader *b, NodeTable *nodes, GError **error);
void diff_free(Diff *diff);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Diff, diff_free)

#endif
