/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Belief propagation (Pearl, 1982; for data association Williams and Lau, 2014) between the parents
 * of a node's calls. Each parent sends a message to each child that it may have made. The message
 * is the rate at which the parent would make that child then, given the other parents' messages.
 * Messages depend on messages, so they are updated in rounds, parent by parent.
 */
#pragma once

#include "inference/model/joint.h"
#include "inference/search/trellis.h"

/* A message of belief propagation: the rate (per ns) at which a candidate would make this call. */
typedef struct {
        guint32 child; /* index of a call out of the node */
        float rate;    /* per ns */
} Belief;

typedef struct Beliefs {
        Belief *beliefs;     /* by parent, and for each by start of the child */
        gsize *first_belief; /* by parent: index of its first; one more entry ends the last's */
        double *total;       /* by call out: the sum of its candidates' messages, per ns */
        double negligible;   /* a belief with a smaller share is given up */
} Beliefs;

/* joint_make_beliefs() makes one belief for each candidate, ordered by parent.
 * joint_start_beliefs() sets the beliefs from the assignment. */
void joint_make_beliefs(Joint *j);
void joint_start_beliefs(Joint *j);
void beliefs_clear(Beliefs *b);

/* Sums up the beliefs of each call again, so that rounding errors do not add up. */
void joint_sum_beliefs(Joint *j);

/* Updates the beliefs of training parents. The model counts the steps of new parents with a
 * concurrency of at most calm. */
void joint_update_to_learn(Joint *j, guint64 calm);

/* Updates the beliefs of all parents and gives up negligible ones. The model counts nothing.
 * decide: sharpens the beliefs, so that larger shares grow. */
void joint_update_all(Joint *j, gboolean decide);

/* Sets the share of each candidate's belief among the beliefs on its call. */
void joint_get_shares(const Joint *j, float *share);
