/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The answer that both algorithms give: path instances gathered into ranked path
 * patterns (the paper's FindCallPaths and T_paths, section 5.1.1.4).
 *
 * A *path instance* is one tree of calls that happened. A *path pattern* is the
 * shape that many instances share: node names, the children of a node as a
 * multiset (Figure 4 builds sets), or in call order with SIBLINGS_STRICT; and the
 * operation of the root, where the trace says it.
 */
#ifndef RAVEL_PATH_SET_H
#define RAVEL_PATH_SET_H

#include "paths/histogram.h"
#include "paths/path-call.h"
#include "paths/path-graph.h"

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
        guint32 workers;  /* workers that serve the queue; 0: no bound, or not known */
        guint8 continues; /* WorkContinues */
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
        gboolean goes_on;          /* not all of it is nested: it has a completion time */
        Histogram completion;      /* until all of it is done; empty where it does not go on */
        guint32 n_nodes;
        PatternNode *nodes; /* pre-order; siblings in the order of the signature */
} PathPattern;

typedef enum { RANK_TOTAL, RANK_COUNT, RANK_MEAN, RANK_P99 } RankBy;

typedef struct PathSet PathSet;

typedef struct _Verdict Verdict; /* paths/verdict.h */

/* Facts about a run that outputs carry. */
typedef struct {
        const char *method;      /* "paper" */
        const char *model;       /* names the model that was given; NULL: none was */
        guint64 messages;        /* read */
        guint64 calls;           /* call pairs */
        guint64 unmatched_calls; /* calls without a return */
        guint64 unmatched_returns;
        guint64 cut_instances;  /* cut by the capture's start or end; not in the patterns */
        gint64 first, last;     /* stamps of the trace; NO_TIME where empty */
        double parallelism;     /* mean number of candidate parents of a call that has any, the
                                   paper's mean per-node parallelism (Table 1); 0: unknown */
        const GArray *clocks;   /* of ClockOffset, borrowed; NULL: none is off */
        const Verdict *verdict; /* borrowed; NULL: nothing is known */
} PathSetSummary;

/* How far to trust the parents of the calls that a node makes, in all instances of a set. */
typedef struct {
        guint64 calls;   /* that have a parent */
        guint64 guessed; /* of them, those whose parent has a probability below 1 */
        double right;    /* the sum of all their probabilities: how many should be right */
} PathTrust;

/* "goes on" or "queued"; NULL of what is nested. */
const char *path_continues_name(guint continues);

PathSet *path_set_new(const NodeTable *nodes, SiblingOrder order);
void path_set_free(PathSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PathSet, path_set_free)

/* Clients that are folded into one (tracefmt/fold-clients.h): the node that stands
 * for each as the caller of a root. Borrowed, by NodeId; NULL folds nothing. */
void path_set_set_fold(PathSet *set, const NodeId *fold);

/* The operations that calls name by number, from 1: texts, borrowed. More may be appended. */
void path_set_set_labels(PathSet *set, const GPtrArray *labels);
const GPtrArray *path_set_labels(const PathSet *set); /* NULL: none were set */

/* Called for each instance that is added, with own, network and queued filled in:
 * pattern is an index for path_set_pattern(), number counts instances from 0,
 * and slot[i] is the index in the pattern's nodes that calls[i] belongs to.
 * FALSE with error set stops path_set_add(). */
typedef gboolean (*PathSink)(gpointer data, guint64 number, guint32 pattern, const PathCall *calls,
                             const guint32 *slot, guint32 n, double probability, GError **error);
void path_set_set_sink(PathSet *set, PathSink sink, gpointer data);

/* Adds one instance of n >= 1 calls: pre-order, siblings in call order. Linear in
 * n once its shape is known. */
gboolean path_set_add(PathSet *set, PathCall *calls, guint32 n, GError **error);

/* --- drawings --------------------------------------------------------------- *
 *
 * Where parents are in doubt, patterns are counted by drawings of all instances (docs/paths.md),
 * beside the instances that were found. Latencies are of the latter alone. */

/* Whether most instances are probably wrong. */
gboolean path_set_is_in_doubt(const PathSet *set);

/* After all instances: one of a drawing, as path_set_add() takes it; its times are not looked at. A
 * drawing has as many as there are. */
void path_set_draw(PathSet *set, const PathCall *calls, guint32 n);

/* A drawing is complete. */
void path_set_end_drawing(PathSet *set);

/* Whether patterns have counts by drawings; ranks are by these then. */
gboolean path_set_is_drawn(const PathSet *set);
void path_set_set_drawn(PathSet *set); /* of a store: its patterns have them */

/* How many instances of a drawing have a pattern that none of those found has, in the mean. */
double path_set_drawn_elsewhere(const PathSet *set);

/* --- linear patterns ------------------------------------------------------- *
 *
 * Convolution finds no instances, but how many messages took a path of nodes, and by what
 * delays. Its patterns are *linear*: client>A>B>A>C, each node's only child being the
 * next one. A set has either kind. */

/* One step of a linear path. The distributions are of any number of messages that stand
 * for all; all of a path of the same number. */
typedef struct {
        NodeId node;
        Histogram latency; /* from the sending of the message to node until the path ends */
        Histogram network; /* until it is at node */
        Histogram stay;    /* from then until node sends the next; empty for the last */
} PathHop;

/* The set of linear patterns that belongs to a graph, which it takes. */
PathSet *path_set_new_linear(const NodeTable *nodes, PathGraph *graph);

/* NULL where the set is of instances. */
const PathGraph *path_set_graph(const PathSet *set);

/* Adds count messages (1 or more) that went the way of the n >= 1 hops and no further; to
 * the pattern if it is there already. Hop i's latency is the path's time from then on,
 * the network and the stay add up to it; distributions are scaled to count. probability:
 * that all of it is right. The hops are emptied. */
void path_set_add_linear(PathSet *set, NodeId client, PathHop *hops, guint32 n, guint64 count,
                         double probability);

/* --- what a store has of a set (store/stored-set.h) ------------------------- */

/* Adds a pattern whole: its id, signature, nodes and distributions are taken, its label borrowed.
 * No instance is added to it any more. */
void path_set_add_pattern(PathSet *set, const PathPattern *pattern);

void path_set_set_trust(PathSet *set, NodeId node, const PathTrust *trust);

/* The pattern that the last instance was added to, and whether that goes on. */
guint32 path_set_latest(const PathSet *set);
gboolean path_set_latest_goes_on(const PathSet *set);

guint64 path_set_instances(const PathSet *set);  /* path instances added */
double path_set_probability(const PathSet *set); /* the mean of an instance */
gboolean path_set_goes_on(const PathSet *set);   /* one of its patterns does */
gboolean path_set_waits(const PathSet *set);    /* a node of a pattern has a queue before workers */
gboolean path_set_connects(const PathSet *set); /* a caller waited for a connection to one */
guint32 path_set_size(const PathSet *set);      /* patterns */
const PathPattern *path_set_pattern(const PathSet *set, guint32 pattern);

/* The same without its nodes and distributions, which take most of the memory of rare ones. */
const PathPattern *path_set_outline(const PathSet *set, guint32 pattern);

const NodeTable *path_set_nodes(const PathSet *set);

/* By NodeId, n of them; nodes beyond made no calls. Borrowed, until an instance is added. */
const PathTrust *path_set_trust(const PathSet *set, guint32 *n);

/* The caller's to fill in; no strings are copied. */
PathSetSummary *path_set_summary(const PathSet *set);

/* Indices of the patterns, best first, path_set_size() of them, those that go on by their
 * completion times; ties by signature. The caller's to free. */
guint32 *path_set_rank(const PathSet *set, RankBy by);

/* A node more, last in pre-order, its distributions empty. Nodes may move. */
PatternNode *path_pattern_append(PathPattern *pattern, NodeId node, guint32 parent);

/* Frees the nodes, distributions and signature. */
void path_pattern_clear(PathPattern *pattern);
void pattern_node_clear(PatternNode *node);

/* Adds the distributions of one node to those of another. */
void pattern_node_merge(PatternNode *into, const PatternNode *from);

/* The sum over all nodes of a pattern, ns. */
gint128 path_pattern_sum(const PathPattern *pattern, NodeTime time);

/* The sum of own, network and queued times, which is the total latency, or completion time. */
gint128 path_pattern_total(const PathPattern *pattern);

/* The completion times of its instances; their latencies where it does not go on. */
const Histogram *path_pattern_completion(const PathPattern *pattern);

/* The node of the pattern with the most own time in all: the one to blame. Ties
 * go to the first. */
guint32 path_pattern_slowest(const PathPattern *pattern);

/* The pattern id: 64-bit FNV-1a of the bytes of the signature, where there is a label of
 * the label, a blank and the signature (docs/paths.md). */
guint64 path_pattern_id(const char *label, const char *signature);

/* Fills in own, network, queued, own_queued and connecting of the n calls of one instance. Walk
 * back from the root's end along the child that ended last: each moment of the root's latency
 * belongs to exactly one call's own time or network, so that they add up to it
 * exactly (a root that ends before it starts has none). A child counts as far as
 * it lies within its parent; children after the reply add nothing. What goes on after the
 * root's end is walked back in the same way from where the last of it ends, so that own, network
 * and queued add up exactly to the completion time. own_queued is the part of own that lies in the
 * callee's time before enter + wait. Network is also what would be the caller's own time since a
 * connection was opened for a call (connecting), and the callee's while the call or its return was
 * held up (stall, ret_stall). Times must be within PATH_TIME_LIMIT. O(n log n) at worst. */
void path_own_times(PathCall *calls, guint32 n);

/* The sum of all three: how long an instance takes until all of it is done. */
gint64 path_completion(const PathCall *calls, guint32 n);

#endif
