/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The map of a system: its paths merged into one probabilistic graph (paper, section 8). A vertex
 * is a node. An edge has the probability that a call which the caller serves makes this call.
 *
 * Calls to one node may behave in different ways, by their caller and operation. Such calls are a
 * *context*. As in ALERGIA (Carrasco and Oncina 1994), contexts become one *state* where no
 * probability of a callee differs by more than Hoeffding's bound, at 1 %. Nodes that stand in for
 * each other are *alike* by the same bound. Patterns that differ only in nodes that are alike, or
 * in how often a call is repeated, are one *abstract path*.
 */
#pragma once

#include "paths/path-set.h"

#define MAP_MOST 0.99 /* of requests: the rest is too rare to look at */

typedef struct {
        NodeId caller, callee;
        guint64 calls;
        guint64 makers;     /* calls served by the caller, or requests of a client, that make it */
        guint64 errors;     /* calls in error */
        Outcome outcome;    /* of the first of these */
        gboolean goes_on;   /* callers wait for none of them */
        double probability; /* makers, of the calls that the caller serves */
        double mean;        /* calls, of one that the caller serves */
        NodeId after; /* the callee whose answer most often comes last before; NO_NODE: none */
        double given_after;          /* the probability where that was called */
        double more;                 /* latency of a call that makes this or one alike, over that of
                                        others in its context: the mean, ns */
        gboolean more_known;         /* some context has both */
        Histogram latency;           /* as the caller sees it */
        gint128 cause[N_WAY_CAUSES]; /* time on the way, ns */
} MapEdge;

typedef struct {
        NodeId node;
        NodeId alike;     /* the first of the nodes that it is alike; often itself */
        guint64 requests; /* paths with the node */
        guint64 calls;    /* that it serves; 0: a client */
        guint64 errors;   /* of these */
        guint32 n_states;
        guint32 workers; /* 0: no bound, or not known */
        double busy;     /* the mean share of workers that serve; 0 where not known */
        Histogram own;   /* own time of a call */
} MapNode;

/* Calls to a node by caller and operation. */
typedef struct {
        NodeId node, caller; /* caller: NO_NODE where node is the client */
        char *label;         /* NULL: none */
        guint32 state;       /* index */
        guint64 calls;
        gint128 latency;  /* of these, ns */
        GArray *branches; /* of MapBranch, by callee */
} MapContext;

/* The calls served that call a callee. */
typedef struct {
        NodeId callee;
        guint64 makers;
        gint128 latency; /* of these, ns */
} MapBranch;

typedef struct {
        NodeId node;
        guint64 calls;
        GArray *branches; /* of MapBranch; callees that are alike are one */
} MapState;

typedef struct {
        const NodeTable *table;
        GPtrArray *nodes;    /* of MapNode, by NodeId; NULL where it has no part in a path */
        GPtrArray *edges;    /* of MapEdge, by caller and callee */
        GPtrArray *contexts; /* of MapContext, by node and state, the most calls first */
        GPtrArray *states;   /* of MapState, by node */
        guint64 requests;
        guint32 patterns, abstract_paths; /* the fewest that have MAP_MOST of the requests */
        gint64 time;                      /* of the trace, ns; 0: unknown */
        struct MapLoading *loading;
} SystemMap;
