/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The inputs of joint inference at all nodes.
 */
#pragma once

#include "base/peers.h"
#include "base/work.h"
#include "calls/known-calls.h"
#include "inference/inference.h"
#include "nesting/drawn-paths.h"
#include "nesting/models.h"

/* Which calls one step of --window decides on. Without --window: all. */
typedef struct {
        gint64 from;   /* calls that returned before it get no more children, ns */
        gint64 decide; /* undecided calls that start before it get a parent, ns */
} View;

#define VIEW_ALL ((View){ G_MININT64, G_MAXINT64 })

/* All borrowed. */
typedef struct {
        KnownCalls *calls;
        CallOrder *order; /* of the calls in view */
        View view;
        gint64 window;              /* the skew window, ns */
        const guint32 *true_parent; /* oracle: by call, or NO_PARENT; NULL */
        Models *learn;              /* takes the learned models; NULL */
        const ModelNames *given;    /* decides instead of learning; NULL */
        NodeModel **models;         /* by NodeId: models that outlive a step of --window; NULL */
        GArray *explanations;       /* of Explanation */
        gboolean cycles;            /* clocks may disagree, so a call may lie within itself */
        DrawnParents *drawn;        /* takes the parents of drawings; NULL: not wanted */
        gboolean keep_log;          /* find the likelihoods */
        guint threads;              /* the number of threads; 0: one */
        const Peers *peers;         /* the processes that find parents together; NULL: one */
        void (*find_together)(NodeTasks *tasks); /* does all tasks by peers; NULL */
        WorkShow progress;                       /* may be NULL */
} NodesSearch;

/* The driver of joint inference. It makes a node problem (inference/inference.h) of the calls at
 * each node that is called and makes calls, has it solved, and takes the answer. */

/* The natural logarithms of the likelihoods of the answer and of the true parents, if these are
 * known. unknown: the number of nodes that the given model does not know. */
typedef struct {
        double found, truth;
        guint unknown;
} LogLikelihood;

/* Runs find_parents_jointly() for each node that is called and makes calls, and sets causes. The
 * answer does not depend on the number of threads. Adds to log. */
void find_parents_at_nodes(const NodesSearch *search, LogLikelihood *log);
