/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Models in bytes: what is learned of a node once, and decided by then. What is decided depends on
 * the model and the calls at hand alone, in parts that begin at moments that the model sets: calls
 * far from each other know nothing of each other.
 */
#ifndef RAVEL_GIVEN_MODEL_H
#define RAVEL_GIVEN_MODEL_H

#include "inference/inference.h"

/* The same as find_parents_jointly() without a model. Returns what was learned. */
GBytes *learn_parents_jointly(NodeProblem *problem, NodeAnswer *answer);

/* Finds parents by a model that node_model_may_decide() said TRUE of. It learns nothing. Nodes and
 * operations of the problem have the numbers that they had when it was learned. */
void find_parents_by_model(NodeProblem *problem, GBytes *model, NodeAnswer *answer);

/* Whether these are the bytes of a model to decide by. Errors (G_FILE_ERROR) say what is wrong. */
gboolean node_model_may_decide(GBytes *model, GError **error);

/* A model that has learned nothing: any delay is as likely as another. */
GBytes *node_model_of_nothing(void);

#endif
