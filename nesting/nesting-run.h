/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a run of nesting consists of, for the two files that drive one: nesting.c the whole trace,
 * windows.c step by step. Every part belongs to the file that is named after it.
 */
#ifndef RAVEL_NESTING_RUN_H
#define RAVEL_NESTING_RUN_H

#include "nesting/calls-at-nodes.h"
#include "nesting/find-call-paths.h"
#include "nesting/find-nested-pairs.h"
#include "nesting/find-true-parents.h"
#include "paths/path-set.h"
#include "tracefmt/trace-clocks.h"

typedef struct Nesting {
        NestingOptions options;
        TraceClocks clocks; /* see nesting_set_clocks() */
        KnownCalls calls;
        CallOrder order;
        Scoreboard board;
        CallPaths paths;
        GArray *explanations; /* of Explanation */
        GArray *offsets;      /* of ClockOffset; NULL where not looked for */
        gint64 *offset;       /* these by NodeId; NULL where there are none */
        guint32 *true_parent; /* oracle: by call, or NO_PARENT */
        DrawnParents drawn;
        TruthCounts truth;
        LogLikelihood log;
        gboolean ended;  /* there are no more calls to come */
        gboolean cycles; /* clocks may disagree, so that a call may lie within itself */
} Nesting;

void nesting_run_init(Nesting *run, NodeTable *nodes, const NestingOptions *options);
void nesting_run_clear(Nesting *run); /* frees what it holds */

/* Brings what is known of edges and nodes, and the room on the scoreboard, up to what was read.
 * all: any node that is called may yet call. */
void nesting_run_find_roles(Nesting *run, gboolean all);

/* After it: finds what continues what, and how long the work lasts that messages start. */
void nesting_run_find_links(Nesting *run);

/* For find_parents_at_nodes() and find_nested_pairs(). */
NodesSearch nesting_run_nodes_search(Nesting *run);
PairSearch nesting_run_pair_search(Nesting *run);

/* What is known of the trace's messages and calls, into the summary of a set. */
void nesting_run_summarise(const Nesting *run, PathSet *set);

#endif
