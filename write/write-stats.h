/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is in a trace, as text.
 */
#pragma once

#include "calls/find-call-pairs.h"
#include "tracefmt/trace-reader.h"

typedef struct {
        CallMatcher *matcher;
        GPtrArray *latencies; /* of Histogram, by edge */
        guint64 ops[N_MESSAGE_OPS];
        guint64 both_ends, too_early; /* calls: see Fitness */
        char *judgement;              /* fitness_judge() */
        char **doubts;                /* a line each */
} TraceStats;

/* Appends the statistics, and the facts that reader found. Tables are at most columns wide (0: no
 * limit). */
void stats_write(const TraceStats *stats, const TraceReader *reader, const NodeTable *nodes,
                 guint columns, GString *out);
