/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The paper's Figure 4 a second time, for the tests to agree with. Every search is a loop over
 * everything; nothing is sorted, indexed or packed without need. Each procedure of the figure is a
 * function with its name. The other words (message, node, options) are those of the program.
 *
 * The figure leaves some things open, which are read as follows. A call has four moments (the
 * stamps of call-pair.h). A call into a node and a call of that node are compared by the moments
 * taken at the node. Candidates of a child are the calls into its caller that entered strictly
 * before it started, and were not replied to before it was over. Both are widened by the skew
 * window; candidates are in order of entry. Children are visited in order of start. Nothing becomes
 * the child of its own descendant. Of equal scores the earliest candidate has the child. A
 * penalty's count of 0 is a factor of 1.
 *
 * Nothing here gives up waiting: for traces in which all stamps of a call lie
 * within a second.
 */
#pragma once

#include "nesting/nesting.h"

/* A line of a trace. */
typedef struct {
        gint64 time;
        MessageOp op;
        NodeId sender, receiver;
        char id[8]; /* "" for none */
} TraceEntry;

typedef struct {
        NodeId caller, callee;
        char id[8];
        gint64 stamp[4];                 /* by MessageOp; NO_TIME where there is none */
        gint64 start, enter, reply, end; /* the four moments */
        guint32 parent;                  /* index of a call, or NO_PARENT */
        double probability;
        double family; /* that it has the children it has, and no others */
        guint candidates;
} FigureCall;

typedef struct {
        guint n_nodes;
        NestingOptions options;
        SiblingOrder order;
        GArray *calls;        /* of FigureCall: T_callpairs, in the order in which they opened */
        GArray *unmatched;    /* of LoneMessage */
        GArray *edges;        /* of Edge, with caller, callee and longest set */
        gboolean *is_client;  /* by NodeId: folded into the node "client" */
        GHashTable *patterns; /* T_paths: signature to FigurePattern */
        guint64 cut;
} Figure4;

/* Latencies and call delays are those of the root and of everything below it. */
typedef struct {
        guint64 count;
        gint64 latency, call_delay; /* sums over all nodes of all instances */
        gint64 root_latency;        /* sum */
        double probability;         /* sum */
} FigurePattern;

/* Runs all four procedures. Node n of n_nodes is called "n" and its number. */
Figure4 *figure4_new(const TraceEntry *entries, guint n, guint n_nodes,
                     const NestingOptions *options, SiblingOrder order);
void figure4_free(Figure4 *f);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Figure4, figure4_free)
