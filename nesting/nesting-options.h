/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The methods by which nesting finds parents, and its parameters.
 */
#ifndef RAVEL_NESTING_OPTIONS_H
#define RAVEL_NESTING_OPTIONS_H

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
        PARENTS_JOINT,  /* those of all calls of a node together (inference/) */
        PARENTS_SCORED, /* call by call, from a scoreboard of delays (paper, section 5.1.1) */
        PARENTS_READ,   /* from the trace, that has path= (section 7.5.1) */
} ParentsFrom;

typedef struct {
        const char *name;
        const char *option; /* that chooses it where --method does not; NULL */
        ParentsFrom parents;
        gboolean truth; /* it reads path=: to take parents from it, or to learn */
} NestingMethodInfo;

/* By NestingMethod; first those that --method chooses. */
extern const NestingMethodInfo nesting_methods[N_NESTING_METHODS];

/* The names that --method takes, NULL behind them. */
void nesting_list_methods(const char *names[N_NESTING_METHODS + 1]);

typedef struct Models Models;       /* models.h */
typedef struct NodeTasks NodeTasks; /* node-tasks.h */

typedef struct {
        NestingMethod method;
        double overlap, same, any; /* exponents of the penalties: x, y, z (5.1.1.3) */
        gint64 window;             /* skew window, ns */
        gint64 max_offset;         /* joint: the largest that clocks are looked for, ns; 0: none */
        gint64 max_call;           /* the longest that a call may last, ns; 0: no limit */
        gint64 span;               /* of the windows of time that are reported on, ns; 0: none */
        double smooth;             /* standard deviation of the Gaussian, bins; 0: none */
        gboolean fold;             /* fold clients */
        gboolean keep;             /* ids, causes and numbers of candidates will be asked for */
        gboolean places;           /* calls.place will be */
        Models *learn;             /* joint: gets what is learned; NULL */
        const Models *model;       /* joint: decides, and nothing is learned; NULL */
        guint threads;             /* joint: of so many nodes at a time; 0: one */
        const Peers *peers; /* joint: they find parents together, each a thread; NULL. The first
                               alone knows them all in the end */
        void (*find_together)(NodeTasks *tasks); /* by peers: does all tasks (ranks/); NULL */
        WorkShow progress; /* of finding parents and paths with joint; may be NULL */
} NestingOptions;

/* Section 5.1.1.3: near-optimal on all of the paper's workloads. */
#define NESTING_DEFAULTS                                                                           \
        {                                                                                          \
                .overlap = 2, .max_offset = G_GINT64_CONSTANT(1000000000), .fold = TRUE            \
        }

static inline ParentsFrom nesting_parents_from(const NestingOptions *options)
{
        return nesting_methods[options->method].parents;
}

#endif
