/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The state of a run of --method auto, shared by its steps.
 */
#pragma once

#include "convolution/convolution.h"
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
