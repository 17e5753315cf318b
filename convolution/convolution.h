/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The convolution algorithm (paper, section 5.2): from the messages of each edge to the
 * graph of causal paths from each root. It needs no calls, returns or ids.
 *
 * --method paper is Figure 6, a file a procedure:
 *
 *     FindPathsFromRoot   find-paths-from-root.c
 *     ProcessNode         process-node.c
 *     FindCausedMessages  find-caused-messages.c; its spikes in spike.c
 *     FindCorrelation     correlation.c
 *
 * --method auto finds the causes of all messages that leave a node together:
 * find-joint-paths.c.
 */
#pragma once

#include "base/work.h"
#include "convolution/correlation.h"
#include "convolution/edge-trace.h"
#include "convolution/spike.h"
#include "paths/path-set.h"
#include "tracefmt/clock-offset.h"

typedef struct {
        gint64 quantum;       /* ns; 0: to be chosen */
        gint64 max_delay;     /* ns: lags go from 0 to less than this; 0: to be chosen */
        gint64 tolerance;     /* ns: how far from a spike a delay may be, v; -1: a quantum */
        double spike;         /* N: deviations above the mean */
        double between;       /* S: deviations below which two spikes are separate */
        guint64 min_messages; /* edges with fewer are left out; 0: to be chosen */
        guint max_depth;      /* edges of the longest path */
        guint max_vertices;   /* vertices that follow from one edge of a root */
        CorrelateBy correlate;
        gsize cache; /* bytes of cached transforms, of all threads */
        guint threads;
        gboolean roots_guessed; /* whether the joint method may find roots again */
        guint without;          /* JointElements that the joint method does without */
        WorkShow progress;      /* of the joint method; may be NULL */
} ConvolutionOptions;

#define CONVOLUTION_DEFAULTS                                                                       \
        {                                                                                          \
                .tolerance = -1, .spike = 4, .between = 3, .max_depth = 24, .max_vertices = 8000,  \
                .cache = 64 << 20, .threads = 1                                                    \
        }

/* All messages out of a node together. */
typedef struct {
        guint32 n;
        gint64 *sent;   /* in order */
        guint32 *edge;  /* which of the node's edges, counted from first_out[node] */
        guint32 *index; /* into the edge's sent */
        EdgeSignal *signal;
} NodeTrace;

/* A run: what all procedures share and none changes. */
typedef struct {
        const EdgeTraces *traces; /* borrowed */
        ConvolutionOptions options;
        Quanta quanta;
        Lags lags;
        gint64 tolerance;          /* in lags */
        gboolean *is_root;         /* by node */
        GArray *roots;             /* of NodeId, in order */
        NodeTrace *out;            /* by node */
        guint64 ends[N_PATH_ENDS]; /* messages whose path ended this way */
        guint64 looked_at;         /* messages of the sample; 0: all were used */
        guint64 left_out;          /* messages not followed, since the graph was full */
} Convolution;

/* Chooses the quantum, the greatest delay and the least number of messages that are not set: see
 * delay-profile.h. */
void convolution_choose(const EdgeTraces *traces, const GArray *roots, ConvolutionOptions *options);

/* Finds the roots: nodes whose messages are not explained by messages into them, such as callers
 * that nobody calls. An array of NodeId in order of name, the caller's to free. */
GArray *convolution_find_roots(const EdgeTraces *traces);

/* Takes over roots, an array of NodeId. All options must be set. */
Convolution *convolution_new(const EdgeTraces *traces, const ConvolutionOptions *options,
                             GArray *roots);
/* Replaces the roots; is_root is by node. */
void convolution_set_roots(Convolution *convolution, const gboolean *is_root);
void convolution_free(Convolution *convolution);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Convolution, convolution_free)

/* Finds all paths from all roots. The same for any number of threads. */
PathSet *convolution_find_paths(Convolution *convolution);
PathSet *convolution_find_joint_paths(Convolution *convolution);

/* Finds the clock offset that explains most delays below 0 (paper, section 5.2.3: negative apparent
 * delays). FALSE if there is none. Edges stamped at both ends have none. Reads up to 4,000 messages
 * an edge. edge_traces_shift() by -offset corrects the clock; then another may be found. prove: the
 * trace may have one clock only, so an unproven offset is found only if there is no proven one. */
gboolean convolution_find_clock_offset(const Convolution *convolution, gboolean prove,
                                       ClockOffset *found);

/* --- between its files ---------------------------------------------------- */

/* A set of messages to one node. */
typedef struct {
        gint64 *received; /* when they arrive, in order; owned */
        guint32 n;
} Messages;

/* What FindCausedMessages finds: O_m. */
typedef struct {
        guint32 edge;  /* out-edge of the node, counted from first_out[node] */
        gint64 delay;  /* ns */
        double height; /* height of the spike, in deviations */
        Messages messages;
} CausedMessages;

/* A vertex of Figure 6, before equal paths are merged. */
typedef struct {
        NodeId node;
        guint32 parent; /* index of a vertex, or NO_VERTEX */
        guint32 n;      /* messages */
        gint64 delay;   /* ns */
        double probability;
        PathEnd end;
} FoundVertex;

/* One thread's search, from one edge of a root. */
typedef struct {
        Convolution *run;
        Correlator *correlator;
        float *c;         /* a correlation, lags.n numbers */
        GArray *vertices; /* of FoundVertex */
        guint64 left_out; /* messages left out by max_vertices */
} PathSearch;

/* Lines 10 to 16 for one vertex and all below it. */
void process_node(PathSearch *search, NodeId node, guint32 vertex, const Messages *messages,
                  guint depth);

/* Lines 17 to 27: an array of CausedMessages, whose messages are the caller's, in order of
 * declining number. */
GArray *find_caused_messages(PathSearch *search, NodeId node, const Messages *messages);
