/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The changes between two runs, and which are beyond chance. docs/analysis.md has the method.
 * Whole distributions are compared, which sees tails. Values that come in bursts count for fewer.
 * Of twenty pairs of equal runs nineteen differ in nothing.
 */
#pragma once

#include "analysis/diff-times.h"
#include "paths/collapsed-tree.h"
#include "store/store-reader.h"
#include "tracefmt/output-file.h"

enum { DIFF_TESTED = 100 }; /* patterns whose times are compared, by total latency in both */

/* A node, on all paths or in one place of a pattern. */
typedef struct {
        NodeId node;
        NodeId caller;     /* of an edge or a cause; else NO_NODE */
        guint32 parent;    /* index into the nodes of the pattern, or NO_PARENT */
        guint32 repeats;   /* how many calls of the pattern it is */
        const char *label; /* interned; NULL: none, or all operations */
        guint32 times;     /* diff_times(): its own time, the latency of an edge, or time queued */
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
        double wrong[N_SIDES];                  /* paths that are probably of another pattern */
        gint64 total[N_SIDES], mean[N_SIDES];
        double low, high;    /* 95 % interval of the change of its share of all paths, in 1 */
        gboolean beyond;     /* that changed beyond chance */
        gboolean tested;     /* it has what follows */
        guint32 latency;     /* diff_times() */
        CollapsedTree *tree; /* of run A */
        GArray *nodes;       /* of DiffNode: the tree's vertices */
} DiffPattern;

typedef struct {
        NodeTable *nodes;
        gboolean has_labels[N_SIDES]; /* patterns are compared by label where both have */
        guint64 paths[N_SIDES], patterns[N_SIDES];
        double dependence[N_SIDES];  /* paths that are worth one independent path, by the share of
                                        the slower half */
        gboolean is_drawn[N_SIDES];  /* it has counts by drawings: most paths are probably wrong */
        double probability[N_SIDES]; /* the mean of a path's */
        gboolean has_paths[N_SIDES]; /* else the dependence is a guess */
        GArray *times;               /* of DiffTimes: diff_times() */
        guint32 latency;             /* of all paths: diff_times() */
        GArray *by_node;             /* of DiffNode, by NodeId; times without values: no calls */
        GArray *queued;     /* likewise: how long what is sent there lay in queues before */
        GArray *operations; /* of DiffNode: of nodes with several */
        GArray *edges;      /* of DiffNode: calls between two nodes that the caller waits for */
        GArray *causes;     /* of DiffNode: time of an edge's calls on the way, by its cause, the
                               label; none if a store is older than causes */
        GArray *by_pattern; /* of DiffPattern: most latency in both runs first */
} Diff;

static inline const DiffTimes *diff_times(const Diff *diff, guint32 times)
{
        return &g_array_index(diff->times, DiffTimes, times);
}

/* Reads both to their ends; nodes is the table both readers were made with. NULL and
 * error set where one cannot be read. */
Diff *diff_new(StoreReader *a, StoreReader *b, NodeTable *nodes, GError **error);
void diff_free(Diff *diff);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Diff, diff_free)
