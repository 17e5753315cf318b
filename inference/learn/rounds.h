/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Single rounds of learning, which learn.c and kinds of evidence put together; and the one test of
 * whether anything that was supposed of a node was worth it.
 */
#ifndef RAVEL_ROUNDS_H
#define RAVEL_ROUNDS_H

#include "inference/search/sampler.h"

/* Learn the walks: from the calm parents of the assignment, those with at most this concurrency;
 * from a round of beliefs; and from some sweeps of a chain. */
void joint_learn_from_assigned(Joint *j, guint64 calm);
void joint_learn_from_beliefs(Joint *j, guint64 calm);
void joint_learn_from_chain(Joint *j, Sampler *chain);

/* The greatest concurrency of a calm parent in this round. */
guint64 joint_calm_until(const Joint *j, guint round);

/* Rounds that learn from beliefs, after those of a start and but for the last. Assigns by beliefs. */
void joint_learn_later_rounds(Joint *j);

/* Prepares a chain: assigns by beliefs, and sets chance, by candidate, to the square roots of the
 * shares, scaled to a sum of 1 for each call. */
void joint_begin_chain(Joint *j, float *chance);

/* Keeps the parents of the assignment to go on from: Scores.learned. */
void joint_keep_parents(Joint *j);

/* Counts what calm parents do by the assignment. */
void joint_count_assigned(Joint *j, guint64 calm);

/* Assigns each child to the parent with the greatest share of belief. */
void joint_assign_by_beliefs(Joint *j);

/* The assignment, the beliefs and all that is learned at a time: a try that fails leaves no trace.
 */
typedef struct JointState JointState;

JointState *joint_save(const Joint *j);
void joint_restore(Joint *j, const JointState *state);
void joint_state_free(JointState *state);

/* The test: the log likelihood of each parent, in 1/LOG_UNIT, by walks learned from the other half
 * of the training parents, for the first assignment. n_halves: 1 judges the odd parents alone, 2
 * all. log, by parent, is 0 for the others. Compare the sums with what is supposed and without. */
void joint_judge(Joint *j, guint n_halves, gint64 *log);

/* The sum of that. */
gint64 joint_judge_all(Joint *j, guint n_halves);

/* By how many nats an output walks, of both halves, are likelier by the parents that calls have now
 * than they were, by this sum. Learns walks for that; or puts back what was learned. */
double joint_gain_of_walks(Joint *j, gint64 before);
double joint_gain_put_back(Joint *j, gint64 before);

#endif
