/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Verbs with the same options and results in another program, which goes another way in between.
 */
#ifndef RAVEL_ELSEWHERE_H
#define RAVEL_ELSEWHERE_H

#include "base/peers.h"
#include "calls/find-call-pairs.h"
#include "nesting/nesting-options.h"
#include "paths/histogram.h"
#include "paths/path-call.h"
#include "tracefmt/trace-reader.h"

/* What ravel nesting was asked for, after the options were checked and the trace was opened. */
typedef struct {
        const NestingOptions *nesting;
        SiblingOrder siblings;
        const char *calls; /* the file of --calls, or NULL */
        gboolean no_requests;
        const char *path, *arguments;
        const char *other;   /* an option that is for one process */
        const Peers **peers; /* to be set where all do it in the usual way, and in step */
} NestingJob;

/* Does it in another way. FALSE: it is to be done in the usual one. */
typedef gboolean (*NestingElsewhere)(const NestingJob *job, int *status);
int tool_nesting_with(int argc, char **argv, NestingElsewhere elsewhere);

/* What ravel stats counts. */
typedef struct {
        CallMatcher *matcher;
        GPtrArray *latencies; /* of Histogram, by edge */
        guint64 ops[N_MESSAGE_OPS];
        guint64 both_ends, too_early; /* calls: see Fitness */
} Stats;

void stats_free(Stats *stats);

/* Counts in another way: the result is *stats, to be printed with *nodes and *reader, at its end,
 * all three the caller's to free; or NULL, and *status is what to exit with. FALSE: it is to be
 * done in the usual way. */
typedef gboolean (*StatsElsewhere)(const char *path, Stats **stats, NodeTable **nodes,
                                   TraceReader **reader, int *status);
int tool_stats_with(int argc, char **argv, StatsElsewhere elsewhere);

#endif
