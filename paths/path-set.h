/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The answer that both algorithms give: path instances gathered into ranked path
 * patterns (the paper's FindCallPaths and T_paths, section 5.1.1.4).
 *
 * A *path instance* is one tree of calls that happened. A *path pattern* is the shape of many
 * instances: node names, and the operation of the root where the trace has one. The children of a
 * node are a multiset (Figure 4 builds sets), or in call order with SIBLINGS_STRICT.
 */
#pragma once

#include "paths/path-call.h"
#include "paths/path-graph.h"
#include "paths/path-pattern.h"

/* How busy the workers of a node are, and how many calls a second they can serve. */

/* Sums over the calls into a node. A call holds its worker until it replies, calls below
 * included. */
typedef struct {
        guint32 workers; /* 0: no queue before workers is known */
        guint64 calls;
        gint64 served, waited; /* ns */
} WorkerLoad;

static inline void worker_load_add(WorkerLoad *load, guint32 workers, gint64 stay, gint64 wait)
{
        load->workers = workers;
        load->calls++;
        load->served += stay - wait;
        load->waited += wait;
}

/* The mean share of the workers that serve, in a time in ns. */
static inline double worker_load_busy(const WorkerLoad *load, gint64 time)
{
        return (double)load->served / load->workers / (double)time;
}

/* Calls a second with all workers busy all the time. */
static inline double worker_load_most(const WorkerLoad *load)
{
        return 1e9 * (double)load->calls * load->workers / (double)load->served;
}

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

PathSet *path_set_new(const NodeTable *nodes, SiblingOrder order);
void path_set_free(PathSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PathSet, path_set_free)

/* Clients that are folded into one (tracefmt/fold-clients.h): the node that stands
 * for each as the caller of a root. Borrowed, by NodeId; NULL folds nothing. */
void path_set_set_fold(PathSet *set, const NodeId *fold);

/* The operations that calls name by number, from 1: texts, borrowed. More may be appended. */
void path_set_set_labels(PathSet *set, const GPtrArray *labels);
const GPtrArray *path_set_labels(const PathSet *set); /* NULL: none were set */

/* Likewise the tags that calls name by number: the values of tags= as written in the trace. */
void path_set_set_tags(PathSet *set, const GPtrArray *tags);
const GPtrArray *path_set_tags(const PathSet *set); /* NULL: none were set */

/* The instances to come are from a store, with own times and all that path_set_add() would set. */
void path_set_keep_times(PathSet *set);

/* Called for each instance that is added, with own, network and queued filled in. pattern is an
 * index for path_set_pattern(); number counts instances from 0. slot[i] is the index of calls[i] in
 * the nodes of the pattern. FALSE with error set stops path_set_add(). */
typedef gboolean (*PathSink)(gpointer data, guint64 number, guint32 pattern, const PathCall *calls,
                             const guint32 *slot, guint32 n, double probability, GError **error);
void path_set_set_sink(PathSet *set, PathSink sink, gpointer data);
PathSink path_set_sink(const PathSet *set, gpointer *data); /* NULL: none was set */

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
 * the network and the stay add up to it; distributions are scaled to count. probability: of the
 * whole path. The hops are emptied. */
void path_set_add_linear(PathSet *set, NodeId client, PathHop *hops, guint32 n, guint64 count,
                         double probability);

/* --- what a store has of a set (store/stored-set.h) ------------------------- */

/* Adds a pattern whole: its id, signature, nodes and distributions are taken, its label borrowed.
 * No instance is added to it any more. */
void path_set_add_pattern(PathSet *set, const PathPattern *pattern);

void path_set_set_trust(PathSet *set, NodeId node, const PathTrust *trust);
void path_set_set_workers(PathSet *set, NodeId node, const WorkerLoad *load);

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

/* By NodeId, n of them; nodes beyond have no workers. Borrowed, until an instance is added. */
const WorkerLoad *path_set_workers(const PathSet *set, guint32 *n);

/* The caller's to fill in; no strings are copied. */
PathSetSummary *path_set_summary(const PathSet *set);

/* The indices of all patterns, best first; ties by signature. Patterns that go on are ranked by
 * their completion times. The caller's to free. */
guint32 *path_set_rank(const PathSet *set, RankBy by);
