/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A path pattern: the shape of many path instances, and the distributions of their delays,
 * node by node.
 */
#pragma once

#include "base/outcome.h"
#include "paths/histogram.h"
#include "paths/way-cause.h"
#include "tracefmt/node-table.h"
#include "tracefmt/parent.h"

/* The distributions that a node of a pattern has. */
typedef enum {
        NODE_LATENCY,    /* start to end, as the caller sees it; includes callees */
        NODE_CALL_DELAY, /* from entry into the parent to this call's start */
        NODE_OWN,        /* own time (path_own_times()) */
        NODE_NETWORK,    /* own time of the network on the way to this node and back */
        NODE_CONNECTING, /* the part of network before the first call of a new connection */
        NODE_QUEUED,     /* time at the caller before the call was sent */
        NODE_OWN_QUEUED, /* the part of own before a worker took the call; empty without a queue */
        NODE_SERVING,    /* the rest of own; empty without a queue */
        N_NODE_TIMES
} NodeTime;

/* What went wrong with the calls at a node of a pattern (paths/path-failure.h). */
typedef struct {
        guint64 errors;   /* calls in error */
        gint128 own;      /* own time of these, ns */
        Outcome outcome;  /* of the first of these */
        guint64 culprits; /* how many failed paths have their culprit here */
        guint64 retries;  /* calls that try an earlier one again */
        gint128 lost;     /* from the start of a call in error to the start of its retry, ns */
} NodeFaults;

typedef struct {
        NodeId node;
        guint32 parent;    /* index into the pattern's nodes; NO_PARENT for node 0 */
        guint32 depth;     /* 0 for node 0 */
        guint32 n_labels;  /* operations that calls here had */
        const char *label; /* the operation of most calls, the first of several; NULL: none */
        union {
                Histogram times[N_NODE_TIMES];
                struct {
                        Histogram latency, call_delay, own, network, connecting, queued, own_queued,
                                serving;
                };
        };
        Histogram *causes; /* N_WAY_CAUSES: parts of network, of the calls that have them; NULL:
                              none */
        guint32 workers;   /* workers that serve the queue; 0: no bound, or not known */
        guint8 continues;  /* WorkContinues */
        NodeFaults faults;
} PatternNode;

typedef struct {
        char *signature;    /* client>lb(web1(auth(redis),catalog)) in written names, or linear:
                               client>A>B>A>C */
        const char *label;  /* the root's operation; NULL: none */
        guint64 id;         /* path_pattern_id(); 16 hex digits in outputs */
        NodeId client;      /* who called the root */
        guint64 count;      /* path instances, or messages at the end of a linear path;
                               nodes[0].latency is their total latency */
        double probability; /* mean over the instances of the product of their calls' families */
        double drawn, drawn_error; /* by drawings, where the set has them: how many instances, and
                                      a standard error of that */
        gboolean goes_on;          /* some work is not nested: there is a completion time */
        guint64 failed;            /* path instances that failed, by their root's outcome */
        Histogram good;            /* latencies of the others; empty if none failed */
        Histogram completion;      /* time until all work is done; empty if nothing goes on */
        guint32 n_nodes;
        PatternNode *nodes; /* pre-order; siblings in the order of the signature */
} PathPattern;

/* "goes on", "queued", "late" or "no answer"; NULL of a call whose caller got its return. */
const char *path_continues_name(guint continues);

/* What a signature has after the name: '!' for no answer, '*' for late; 0: nothing. */
char path_continues_mark(guint continues);

/* A node more, last in pre-order, its distributions empty. Nodes may move. */
PatternNode *path_pattern_append(PathPattern *pattern, NodeId node, guint32 parent);

/* The part of a node's network that has a cause, for writing. */
Histogram *pattern_node_cause(PatternNode *node, WayCause cause);

/* The whole time of a cause at a node, ns. */
static inline gint128 pattern_node_cause_sum(const PatternNode *node, WayCause cause)
{
        return node->causes ? node->causes[cause].sum : 0;
}

/* Frees the nodes, distributions and signature. */
void path_pattern_clear(PathPattern *pattern);
void pattern_node_clear(PatternNode *node);

void pattern_node_merge(PatternNode *into, const PatternNode *from);

/* The sum over all nodes of a pattern, ns. */
gint128 path_pattern_sum(const PathPattern *pattern, NodeTime time);

/* The sum of own, network and queued times, which is the total latency, or completion time. */
gint128 path_pattern_total(const PathPattern *pattern);

/* The completion times of its instances; their latencies where it does not go on. */
const Histogram *path_pattern_completion(const PathPattern *pattern);

/* The latencies of the instances that did not fail. */
const Histogram *path_pattern_good(const PathPattern *pattern);

/* The mean own time of a node's calls that are not in error, ns; 0: there is none. */
gint64 pattern_node_good_own(const PatternNode *node);

/* The node of the pattern with the most own time in all: the one to blame. Ties
 * go to the first. */
guint32 path_pattern_slowest(const PathPattern *pattern);

/* The pattern id: 64-bit FNV-1a of the bytes of the signature, where there is a label of
 * the label, a blank and the signature (docs/paths.md). */
guint64 path_pattern_id(const char *label, const char *signature);
