/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Models in bytes: a node is learned once, and its parents are later decided by that model. A
 * decision depends on the model and on nearby calls alone. Calls are decided in parts, which begin
 * at moments that the model sets. Calls far from each other have no influence on each other.
 */
#pragma once

#include "inference/inference.h"

/* The same as find_parents_jointly() without a model. Returns what was learned. */
GBytes *learn_parents_jointly(NodeProblem *problem, NodeAnswer *answer);

/* Finds parents by a model for which node_model_may_decide() returned TRUE. It learns nothing.
 * Nodes and operations of the problem have the numbers that they had when the model was learned. */
void find_parents_by_model(NodeProblem *problem, GBytes *model, NodeAnswer *answer);

/* Whether these are the bytes of a model to decide by. The error (G_FILE_ERROR) names the fault. */
gboolean node_model_may_decide(GBytes *model, GError **error);

/* A model that has learned nothing: any delay is as likely as another. */
GBytes *node_model_of_nothing(void);
