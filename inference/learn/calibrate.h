/* SPDX-License-Identifier: BSD-2-Clause
 *
 * From beliefs and drawings to scores and probabilities.
 */
#ifndef RAVEL_CALIBRATE_H
#define RAVEL_CALIBRATE_H

#include "inference/model/problem.h"
#include "inference/search/sampler.h"

typedef struct Scores {
        float *share;      /* by candidate: the share of its belief; later its probability */
        float *score;      /* by candidate: the greatest decides */
        Drawings *drawn;   /* by candidate, or NULL; no bits for calls the chain skips */
        guint32 *learned;  /* by call out: the parents that learning ended with, where the chain
                              finds better ones than beliefs; or NULL */
        double prior;      /* what beliefs are worth in drawings, as a part of what is usual */
        double astray;     /* so many calls are in error whatever their shares are, 0 to 1 */
        gboolean rejected; /* the parents found are not consistent with what was supposed */
} Scores;

/* All candidates alike. */
void scores_init(Scores *s, const Problem *p);
void scores_clear(Scores *s);

/* Finds shares and scores by belief propagation, from beliefs that began, and the Markov chain; and
 * calibrates the shares. done(): is told how much is done, 0 to 1. */
void joint_settle(Joint *j);

#endif
