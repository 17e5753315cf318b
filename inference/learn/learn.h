/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Learning the model of a node by expectation maximisation (Dempster, Laird and Rubin, 1977):
 * assign, count what parents do, assign again.
 */
#pragma once

#include "inference/learn/learning.h"
#include "inference/model/joint.h"

/* Learns the model of the node from its calls alone, from the first assignment on. The concurrency
 * of parents, and which of them are calm, must be known. */
void joint_learn(Joint *j);

/* Learn in a further step of --window; and from the true parents, for the oracle. */
void joint_go_on(Joint *j);
void joint_learn_from_truth(Joint *j);

/* Learns from an assignment that is certain. */
void joint_go_on_from_assignment(Joint *j);

/* Keeps what was learned for the next step of --window. Counts the bounds by the assignment. */
void joint_keep_model(Joint *j);
