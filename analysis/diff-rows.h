/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What changed between two runs, a number of both at a time, as all outputs have it.
 */
#pragma once

#include "analysis/diff.h"

typedef enum {
        DIFF_ROW_LATENCY,
        DIFF_ROW_OWN,
        DIFF_ROW_SHARE,
        DIFF_ROW_QUEUED,
        DIFF_ROW_EDGE,
        DIFF_ROW_CAUSE,
        N_DIFF_ROW_KINDS
} DiffRowKind;
extern const char *const diff_row_kinds[N_DIFF_ROW_KINDS];

/* One number of both runs: a quantile, the share of values of at least a limit, or the share of a
 * pattern among all paths. */
typedef struct {
        DiffRowKind kind;
        const DiffPattern *pattern; /* NULL: all paths */
        const DiffNode *node;   /* of own time, of an edge, a cause, or what lay in queues before */
        int vertex;             /* which of the pattern's; -1: none */
        const DiffTimes *times; /* NULL of the share of a pattern */
        DiffQuantile quantile;  /* if delay is set */
        const DiffDelay *delay; /* or NULL */
        const DiffTail *tail;   /* or NULL */
        guint64 count[N_SIDES];
        double share[N_SIDES]; /* if delay is NULL */
} DiffRow;

typedef void (*DiffRowSink)(const Diff *diff, const DiffRow *row, gpointer data);

/* All paths first, then by node, operation, queue, edge, cause and pattern. */
void diff_each_row(const Diff *diff, DiffRowSink sink, gpointer data);

/* Whether it changed beyond chance. */
gboolean diff_row_beyond(const DiffRow *row);

/* A node on all paths for people: "auth", "auth GET", "web1>auth", "web1>auth (resent)" or
 * "(queued for auth)". The caller's to free. */
char *diff_node_name(const Diff *diff, const DiffRow *row);

/* A vertex of a pattern for people: "lb>web1>auth>redis GET #2 x3". The caller's to free. */
char *diff_vertex_name(const Diff *diff, const DiffPattern *pattern, guint vertex);
