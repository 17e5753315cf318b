/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The methods by which nesting finds parents, and the options of a run.
 */
#pragma once

#include "base/peers.h"
#include "base/work.h"

typedef enum {
        METHOD_JOINT,
        METHOD_PAPER,
        METHOD_ORACLE,
        METHOD_CHEAT,
        N_NESTING_METHODS
} NestingMethod;

/* How a method finds parents. */
typedef enum {
        PARENTS_JOINT,  /* joint: the parents of all calls of a node together (inference/) */
        PARENTS_SCORED, /* paper: call by call, from a scoreboard of delays (section 5.1.1) */
        PARENTS_READ,   /* from path= in the trace (section 7.5.1) */
} ParentsFrom;

typedef struct {
        const char *name;
        const char *option; /* the option that chooses it, if --method does not; NULL */
        ParentsFrom parents;
        gboolean truth; /* it reads path=, to take parents from it or to learn */
} NestingMethodInfo;

/* By NestingMethod. The methods of --method come first. */
extern const NestingMethodInfo nesting_methods[N_NESTING_METHODS];

/* The names of --method, with NULL at the end. */
void nesting_list_methods(const char *names[N_NESTING_METHODS + 1]);

typedef struct Models Models;       /* models.h */
typedef struct NodeTasks NodeTasks; /* node-tasks.h */

typedef struct {
        NestingMethod method;
        double overlap, same, any; /* exponents of the penalties: x, y, z (5.1.1.3) */
        gint64 window;             /* skew window, ns */
        gint64 max_offset;   /* joint: the largest clock offset that is looked for, ns; 0: none */
        gint64 max_call;     /* the longest duration of a call, ns; 0: no limit */
        gint64 span;         /* the length of a window of time, ns; 0: no windows */
        double smooth;       /* standard deviation of the Gaussian, bins; 0: none */
        gboolean fold;       /* fold clients */
        gboolean keep;       /* ids, causes and numbers of candidates are wanted */
        gboolean places;     /* the places of calls are wanted */
        Models *learn;       /* joint: takes the learned models; NULL */
        const Models *model; /* joint: decides instead of learning; NULL */
        guint threads;       /* joint: the number of threads; 0: one */
        const Peers *peers;  /* joint: processes that find parents together; the first gets all
                                answers. NULL: one process */
        void (*find_together)(NodeTasks *tasks); /* does all tasks by peers (ranks/); NULL */
        WorkShow progress; /* joint: shows the progress of finding parents and paths; NULL */
} NestingOptions;

/* Near-optimal on all of the paper's workloads (section 5.1.1.3). */
#define NESTING_DEFAULTS                                                                           \
        {                                                                                          \
                .overlap = 2, .max_offset = G_GINT64_CONSTANT(1000000000), .fold = TRUE            \
        }

static inline ParentsFrom nesting_parents_from(const NestingOptions *options)
{
        return nesting_methods[options->method].parents;
}
