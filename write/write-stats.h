/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is in a trace, as text.
 */
#pragma once

#include "base/outcome.h"
#include "calls/find-call-pairs.h"
#include "tracefmt/trace-reader.h"

/* How the calls of an edge ended; CLASS_OK is not counted. */
typedef struct {
        guint64 of_class[N_OUTCOME_CLASSES];
} EdgeOutcomes;

typedef struct {
        CallMatcher *matcher;
        GArray *outcomes;     /* of EdgeOutcomes, by edge */
        GHashTable *waiting;  /* the outcome of an open call, by its number */
        GHashTable *parsed;   /* edges whose protocol is parsed: stats_edge_key() */
        GPtrArray *latencies; /* of Histogram, by edge */
        GArray *round_trips; /* of gint64, by edge: the least, ns; NO_TIME: no call was seen at both
                                ends */
        guint64 ops[N_MESSAGE_OPS];
        guint64 both_ends, too_early; /* calls: see Fitness */
        char *judgement;              /* fitness_judge() */
        char **doubts;                /* a line each */
} TraceStats;

static inline gint64 stats_edge_key(NodeId caller, NodeId callee)
{
        return (gint64)((guint64)caller << 32 | callee);
}

/* Appends the edges as an object of JSON. */
void stats_write_json(const TraceStats *stats, const NodeTable *nodes, GString *out);

/* Appends the statistics, and the facts that reader found. Tables are at most columns wide (0: no
 * limit). */
void stats_write(const TraceStats *stats, const TraceReader *reader, const NodeTable *nodes,
                 guint columns, GString *out);
