/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Single rounds of learning, from which learn.c and kinds of evidence build theirs. There is also
 * the one test of whether anything supposed of a node was worth it.
 */
#pragma once

#include "inference/search/sampler.h"

/* Each function learns the walks from one source. The sources are the calm parents of the
 * assignment, a round of beliefs, and some sweeps of a chain. Parents with at most this concurrency
 * are calm. */
void joint_learn_from_assigned(Joint *j, guint64 calm);
void joint_learn_from_beliefs(Joint *j, guint64 calm);
void joint_learn_from_chain(Joint *j, Sampler *chain);

/* The greatest concurrency of a calm parent in this round. */
guint64 joint_calm_until(const Joint *j, guint round);

/* Runs the rounds that learn from beliefs, after a start and before the last. Assigns by them. */
void joint_learn_later_rounds(Joint *j);

/* Prepares a chain. Assigns by beliefs, and sets chance, by candidate, to the square roots of the
 * shares. They are scaled to a sum of 1 for each call. */
void joint_begin_chain(Joint *j, float *chance);

/* Keeps the parents of the assignment to go on from: Scores.learned. */
void joint_keep_parents(Joint *j);

/* Counts what calm parents do by the assignment. */
void joint_count_assigned(Joint *j, guint64 calm);

/* Assigns each child to the parent with the greatest share of belief. */
void joint_assign_by_beliefs(Joint *j);

/* A copy of the assignment, the beliefs and all that is learned, to undo a try that fails. */
typedef struct JointState JointState;

JointState *joint_save(const Joint *j);
void joint_restore(Joint *j, const JointState *state);
void joint_state_free(JointState *state);

/* The test: finds the log likelihood of each assigned parent, in 1/LOG_UNIT. Walks for it are
 * learned from the other half of the training parents. n_halves: 1 judges the odd parents alone, 2
 * all. log, by parent, is 0 for parents not judged. Compare its sum with a supposition to its sum
 * without. */
void joint_judge(Joint *j, guint n_halves, gint64 *log);

/* The sum of that. */
gint64 joint_judge_all(Joint *j, guint n_halves);

/* Return the gain of walks over the sum before, in nats an output of the training parents, by the
 * present parents. Both halves are judged. The first function leaves walks learned for that; the
 * second restores the walks. */
double joint_gain_of_walks(Joint *j, gint64 before);
double joint_gain_then_restore(Joint *j, gint64 before);
