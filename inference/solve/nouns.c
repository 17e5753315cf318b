/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/solve/nouns.h"

#include "inference/search/assign.h"
#include "inference/search/family.h"

void nouns_tie(Nouns *n, NodeModel *model)
{
        n->j = (Joint){ &n->problem, model,       &n->kinds,  &n->assignment,
                        &n->trellis, &n->beliefs, &n->scores, &n->learning };
}

void nouns_clear(Nouns *n)
{
        problem_clear(&n->problem);
        assignment_clear(&n->assignment);
        trellis_clear(&n->trellis);
        beliefs_clear(&n->beliefs);
        scores_clear(&n->scores);
}

void nouns_start(Joint *j)
{
        joint_make_beliefs(j);
        problem_order_outputs(j->problem);
        trellis_begin(j->trellis, j->model);
        j->trellis->budget = (guint64)(tuning.effort * LEARN_LOOKS) * j->problem->node->n_out /
                             j->problem->n_stretches;
        evidence_begin(&j->model->evidence, j);
        joint_find_starts(j);
}

void nouns_allow_deciding(Joint *j)
{
        j->trellis->budget = (guint64)(tuning.effort * DECIDE_LOOKS) * j->problem->node->n_out;
}

void nouns_begin_anew(Joint *j)
{
        joint_assign_in_time(j);
        joint_start_beliefs(j);
}

void nouns_assign_best(Joint *j)
{
        assignment_take_best(j->assignment, j->problem, j->scores->score, FALSE);
}
