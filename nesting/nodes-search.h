/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What joint inference finds parents from, at all nodes.
 */
#ifndef RAVEL_NODES_SEARCH_H
#define RAVEL_NODES_SEARCH_H

#include "base/peers.h"
#include "base/work.h"
#include "calls/known-calls.h"
#include "inference/inference.h"
#include "nesting/drawn-paths.h"
#include "nesting/models.h"

/* Which calls one step of --window decides on. Without --window: all. */
typedef struct {
        gint64 from;   /* calls that returned before it are given no children any more, ns */
        gint64 decide; /* calls that start before it, and were not, are given a parent, ns */
} View;

#define VIEW_ALL ((View){ G_MININT64, G_MAXINT64 })

/* What parents are found from; all borrowed. */
typedef struct {
        KnownCalls *calls;
        CallOrder *order; /* of the calls in view */
        View view;
        gint64 window;              /* the skew window, ns */
        const gint64 *offset;       /* by NodeId: by how much its clock is late, ns; NULL */
        const guint32 *true_parent; /* oracle: by call, or NO_PARENT; NULL */
        Models *learn;              /* gets what is learned; NULL */
        const ModelNames *given;    /* decides, and nothing is learned; NULL */
        NodeModel **models;         /* by NodeId, what is learned outlives a step; NULL */
        GArray *explanations;       /* of Explanation */
        gboolean cycles;            /* clocks may disagree, so that a call may lie within itself */
        DrawnParents *drawn;        /* takes those of drawings; NULL: not wanted */
        gboolean keep_log;          /* find the likelihoods */
        guint threads;              /* so many at a time; 0: one */
        const Peers *peers;         /* find parents together, of which the first gets all; NULL */
        void (*find_together)(NodeTasks *tasks); /* by peers: does all tasks; NULL */
        WorkShow progress;                       /* may be NULL */
} NodesSearch;

#endif
