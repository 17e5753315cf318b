/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The state of a run of --method auto, shared by its steps, and the steps of files of their own.
 */
#pragma once

#include "convolution/convolution.h"
#include "convolution/edge-trace.h"
#include "convolution/joint/message-causes.h"
#include "convolution/joint/node-causes.h"

typedef struct {
        Convolution *run;
        const EdgeTraces *traces; /* of the run, or a sample of them */
        Quanta quanta;
        Lags lags;
        gsize search; /* windows lie at lags from 0 to below this */
        DelayWindowOptions windows;
        MessageCauses *messages;
        NodeCauses **nodes;       /* by node; NULL if it passes nothing on */
        GAsyncQueue *correlators; /* one for each thread */
        gboolean first;           /* the threads are finding causes for the first time */
        Work work;
} JointSearch;

/* The paths that messages end, from the causes that were found: a pattern for each prefix of nodes
 * at which enough messages end. Counts how paths end in run->ends. The caller owns the set. */
PathSet *collect_joint_paths(JointSearch *search);

/* Moves causes: a message out of a node follows the last earlier message into it of the same work.
 * O(n log n) in the messages of a node, times MOST_VISITS. */
void put_work_in_order(MessageCauses *causes);

/* Samples about `most` messages of traces, which have more, in stretches of at least `shortest` ns,
 * if possible. Keeps all nodes and edges; an edge may be empty. The time from first to last is the
 * length of all stretches together. Linear in the sample, but for both stamps. Freed by
 * edge_traces_free(). */
EdgeTraces *trace_sample_new(const EdgeTraces *traces, guint64 most, gint64 shortest);
