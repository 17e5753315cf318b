/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A tracelet: the template of an ordered sequence of messages between nodes,
 * with delays (paper, section 7.1.1), as a tree of steps.
 *
 * It is written as the signature of the path pattern, with the steps of each node between its
 * parentheses, in order:
 *
 *   client > WS2( 5ms~1ms AUTH( 3ms ) { AP1( 3ms ) | AP2( 2ms ) } >>log 1ms )
 *
 *   path    = node ( ">" step | message ) { step }
 *   step    = delay | call | message | block | mark | wait
 *   call    = node [ "?" PROBABILITY ] [ "*" count ] [ "(" { step } ")" ]
 *   message = ">>" call
 *   block   = "{" step { step } { "|" step { step } } "}" [ "?" ... ] [ "*" ... ]
 *   mark    = "!" NAME
 *   wait    = "@" NAME
 *   node    = NAME | "[" NAME { NAME } "]" | "[" NAME { "," NAME } "]"
 *   count   = INTEGER | "poisson(" MEAN ")"
 *
 * Commas between steps may be left out. ravel-maketrace(1) explains the syntax.
 */
#pragma once

#include "maketrace/delay-law.h"
#include "tracefmt/node-table.h"

typedef enum {
        STEP_DELAY,   /* the node is at work for a delay */
        STEP_CALL,    /* it calls another node and waits for the return */
        STEP_MESSAGE, /* it sends a one-way message and goes on */
        STEP_BLOCK,   /* it does several lists of steps at once and waits for all */
        STEP_BRANCH,  /* one of these lists; first holds it */
        STEP_MARK,    /* it sets a mark */
        STEP_WAIT,    /* it waits for a mark of another path of the tracelet */
} StepKind;

typedef struct Step Step;

struct Step {
        StepKind kind;
        Step *next;  /* the next step or branch; NULL: none */
        Step *first; /* the first step of the callee; the first branch of a block */
        DelayLaw delay;
        NodeId *nodes; /* the nodes that a callee is chosen from */
        guint n_nodes;
        int turn;           /* the number of the turn that chooses; -1: at random */
        double probability; /* the probability that the step is done at all, in (0, 1] */
        guint repeat;       /* times in a row; 0: Poisson distributed with repeat_mean */
        double repeat_mean;
        guint mark; /* 0 .. TRACELET_MARKS - 1 */
};

enum {
        TRACELET_DEPTH = 64, /* calls within calls */
        TRACELET_MARKS = 64, /* names of marks */
};

typedef struct {
        char *name;
        guint number;     /* among the tracelets of the scenario */
        GPtrArray *paths; /* of Step: STEP_CALL, whose nodes are the root */
        guint n_turns;    /* callees that take turns, each counted from 0 */
        guint depth;      /* most calls within calls, 1 at least */
        guint parallel;   /* sequences at the same time; 0: the mix runs it */
        double weight;    /* its share of the mix */
        guint64 count;    /* times that it is done in all; 0: no limit */
        DelayLaw think;   /* the delay between one end and the next beginning in a sequence */
        GPtrArray *steps; /* owns them */
        GPtrArray *marks; /* their names, by number */
        guint64 marked, awaited; /* bit i: some step sets, or waits for, mark i */
} Tracelet;

Tracelet *tracelet_new(const char *name);
void tracelet_free(Tracelet *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Tracelet, tracelet_free)

/* Parses a path and adds it. Adds names of nodes, in the written form, to nodes. FALSE and error
 * set if the text is no path. */
gboolean tracelet_add_path(Tracelet *t, TextCursor *c, NodeTable *nodes, GError **error);
