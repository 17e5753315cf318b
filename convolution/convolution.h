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
#ifndef RAVEL_CONVOLUTION_H
#define RAVEL_CONVOLUTION_H

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
        double between;       /* S: deviations below which two spikes come apart */
        guint64 min_messages; /* edges with fewer are left out; 0: to be chosen */
        guint max_depth;      /* edges of the longest path */
        guint max_vertices;   /* of what follows from one edge of a root */
        CorrelateBy correlate;
        gsize cache; /* bytes for transforms that are kept, of all threads */
        guint threads;
        gboolean roots_guessed; /* and may be found better */
        guint without;          /* JointElements that the joint method does without */
        WorkShow progress;      /* of the joint method; may be NULL */
} ConvolutionOptions;

#define CONVOLUTION_DEFAULTS                                                                       \
        {                                                                                          \
                .tolerance = -1, .spike = 4, .between = 3, .max_depth = 24, .max_vertices = 8000,  \
                .cache = 64 << 20, .threads = 1                                                    \
        }

/* What the messages out of a node look like from the node: all of them together. */
typedef struct {
        guint32 n;
        gint64 *sent;   /* in order */
        guint32 *edge;  /* which of the node's edges, counted from first_out[node] */
        guint32 *index; /* into the edge's sent */
        EdgeSignal *signal;
} NodeTrace;

/* A run: what all procedures look at and none changes. */
typedef struct {
        const EdgeTraces *traces; /* borrowed */
        ConvolutionOptions options;
        Quanta quanta;
        Lags lags;
        gint64 tolerance;          /* in lags */
        gboolean *is_root;         /* by node */
        GArray *roots;             /* of NodeId, in order */
        NodeTrace *out;            /* by node */
        guint64 ends[N_PATH_ENDS]; /* how many messages ended their path so */
        guint64 looked_at;         /* messages, where that is not all of them; else 0 */
        guint64 left_out;          /* how many were not followed, the graph being full */
} Convolution;

/* Fills in the quantum, the greatest delay and the least number of messages where they are
 * to be chosen: see delay-profile.h. */
void convolution_choose(const EdgeTraces *traces, const GArray *roots, ConvolutionOptions *options);

/* The nodes whose messages nothing explains that arrives: those that nobody calls. An array
 * of NodeId in order of name, the caller's to free. */
GArray *convolution_find_roots(const EdgeTraces *traces);

/* roots: of NodeId, taken. Options are complete. */
Convolution *convolution_new(const EdgeTraces *traces, const ConvolutionOptions *options,
                             GArray *roots);
/* By node: which are roots, instead of those so far. */
void convolution_set_roots(Convolution *convolution, const gboolean *is_root);
void convolution_free(Convolution *convolution);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Convolution, convolution_free)

/* Finds all paths from all roots. The same for any number of threads. */
PathSet *convolution_find_paths(Convolution *convolution);
PathSet *convolution_find_joint_paths(Convolution *convolution);

/* The clock that explains most delays below 0 (paper, section 5.2.3: negative apparent
 * delays); FALSE where none does. Stamps of both ends never make one. It looks at up to
 * 4,000 messages of an edge. edge_traces_shift() by -offset puts it right; then there may be
 * another. prove: nothing says that the trace has several clocks, so one that is not proven is
 * doubtful; it is found only where no other is. */
gboolean convolution_find_clock_offset(const Convolution *convolution, gboolean prove,
                                       ClockOffset *found);

/* --- between its files ---------------------------------------------------- */

/* A set of messages that go to one node: when they arrive there. */
typedef struct {
        gint64 *received; /* in order; owned */
        guint32 n;
} Messages;

/* What FindCausedMessages finds: O_m. */
typedef struct {
        guint32 edge;  /* of the node's edges, counted from first_out[node] */
        gint64 delay;  /* ns */
        double height; /* of the spike, in deviations */
        Messages messages;
} CausedMessages;

/* A vertex as Figure 6 has it, before equal paths are put together. */
typedef struct {
        NodeId node;
        guint32 parent; /* index of a vertex, or NO_VERTEX */
        guint32 n;      /* messages */
        gint64 delay;   /* ns */
        double probability;
        PathEnd end;
} FoundVertex;

/* One thread's work: what follows from one edge of a root. */
typedef struct {
        Convolution *run;
        Correlator *correlator;
        float *c;         /* lags.n numbers */
        GArray *vertices; /* of FoundVertex */
        guint64 left_out; /* messages, since max_vertices was reached */
} PathSearch;

/* Line 10 to 16 for one vertex, with what follows from it. */
void process_node(PathSearch *search, NodeId node, guint32 vertex, const Messages *messages,
                  guint depth);

/* Lines 17 to 27: an array of CausedMessages, whose messages are the caller's, in order of
 * declining number. */
GArray *find_caused_messages(PathSearch *search, NodeId node, const Messages *messages);

#endif
