/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A Joint (model/joint.h) and its objects, for one problem or for a part.
 */
#pragma once

#include "inference/learn/calibrate.h"
#include "inference/learn/learn.h"
#include "inference/model/kinds.h"
#include "inference/search/assignment.h"
#include "inference/search/beliefs.h"

typedef struct {
        Joint j;
        Problem problem;
        Kinds kinds;
        Assignment assignment;
        Trellis trellis;
        Beliefs beliefs;
        Scores scores;
        Learning learning;
} Nouns;

/* Ties the nouns together. */
void nouns_tie(Nouns *n, NodeModel *model);

/* Frees all but the kinds and the model. */
void nouns_clear(Nouns *n);

/* Prepares to learn and to infer, with a budget for learning. The candidates must be known. */
void nouns_start(Joint *j);

/* Sets the budget for deciding. */
void nouns_allow_deciding(Joint *j);

/* Starts beliefs from an assignment in order of time, by the model. */
void nouns_begin_anew(Joint *j);

/* Assigns by the best scores. */
void nouns_assign_best(Joint *j);
