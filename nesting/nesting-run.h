/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parts of a run of nesting, for the two files that drive one: nesting.c the whole trace,
 * windows.c step by step. Each part belongs to the file that is named after it.
 */
#pragma once

#include "nesting/find-call-paths.h"
#include "nesting/find-nested-pairs.h"
#include "nesting/find-true-parents.h"
#include "nesting/nodes-search.h"
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
        GArray *offsets;      /* of ClockOffset; NULL: not looked for */
        guint32 *true_parent; /* oracle: by call, or NO_PARENT */
        DrawnParents drawn;
        TruthCounts truth;
        LogLikelihood log;
        gboolean whole;  /* see nesting_set_whole() */
        gboolean ended;  /* no more calls come */
        gboolean cycles; /* clocks may disagree, so a call may lie within itself */
} Nesting;

void nesting_run_init(Nesting *run, NodeTable *nodes, const NestingOptions *options);
void nesting_run_clear(Nesting *run); /* frees what it holds */

/* Updates edges, nodes and the size of the scoreboard from the messages so far. all: every node
 * that is called may also make calls. */
void nesting_run_find_roles(Nesting *run, gboolean all);

/* After nesting_run_find_roles(): finds the calls that continue other calls. */
void nesting_run_find_links(Nesting *run);

/* The inputs of find_parents_at_nodes() and find_nested_pairs(). */
NodesSearch nesting_run_nodes_search(Nesting *run);
PairSearch nesting_run_pair_search(Nesting *run);
