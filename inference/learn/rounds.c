/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/learn/rounds.h"

#include <math.h>

#include "inference/learn/calibrate.h"
#include "inference/model/tuning.h"
#include "inference/search/assignment.h"
#include "inference/search/beliefs.h"
#include "inference/search/family.h"

void joint_count_assigned(Joint *j, guint64 calm)
{
        for (guint32 p = 0; p < j->problem->node->n_in; p++) {
                if (j->problem->concurrency[p] > calm || !is_training_parent(j->problem, p) ||
                    !is_new(j->problem, p))
                        continue;
                family_learn(j, p, TRUE);
                for (guint32 k = j->assignment->first[p]; k != NO_PARENT;
                     k = j->assignment->next[k])
                        joint_count_bounds(j, k, p, DENSITY_COUNT);
        }
}

void joint_learn_from_assigned(Joint *j, guint64 calm)
{
        parent_walk_fade(&j->model->walk);
        delay_densities_fade(&j->model->bounds);
        joint_count_assigned(j, calm);
        parent_walk_learn(&j->model->walk);
        delay_densities_learn(&j->model->bounds);
        problem_round_done(j->problem);
}

void joint_learn_from_beliefs(Joint *j, guint64 calm)
{
        if (j->trellis->budget == 0) /* what was learned stays */
                return;
        parent_walk_forget(&j->model->walk);
        joint_update_to_learn(j, calm);
        parent_walk_learn(&j->model->walk);
        problem_round_done(j->problem);
}

void joint_learn_from_chain(Joint *j, Sampler *chain)
{
        sampler_run(chain, tuning.chain_sweeps);
        joint_learn_from_assigned(j, G_MAXUINT64);
        evidence_learn(&j->model->evidence, j, ROUND_PARENTS);
        sampler_take_model(chain);
}

void joint_assign_by_beliefs(Joint *j)
{
        joint_get_shares(j, j->scores->score);
        assignment_take_best(j->assignment, j->problem, j->scores->score, FALSE);
}

guint64 joint_calm_until(const Joint *j, guint round)
{
        return round < CALM_ROUNDS ? j->problem->calm[round] : G_MAXUINT64;
}

void joint_learn_later_rounds(Joint *j)
{
        for (guint round = tuning.start_rounds; round + 1 < tuning.rounds; round++)
                joint_learn_from_beliefs(j, joint_calm_until(j, round));
        joint_assign_by_beliefs(j);
}

void joint_begin_chain(Joint *j, float *chance)
{
        joint_assign_by_beliefs(j);
        for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                double sum = 0;

                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++)
                        sum += chance[k] = sqrt(j->scores->score[k]);
                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++)
                        chance[k] /= sum;
        }
        evidence_refine(&j->model->evidence, chance);
        memcpy(j->scores->score, chance, problem_n_all(j->problem) * sizeof *chance);
        assignment_take_best(j->assignment, j->problem, j->scores->score, FALSE);
}

void joint_keep_parents(Joint *j)
{
        g_free(j->scores->learned);
        j->scores->learned = g_memdup2(j->assignment->parent,
                                       j->problem->node->n_out * sizeof *j->assignment->parent);
}

/* --- going back --------------------------------------------------------------- */

struct JointState {
        guint32 *parent;
        Belief *beliefs;
        ParentWalk walk;
        SavedEvidence evidence;
};

JointState *joint_save(const Joint *j)
{
        JointState *state = g_new0(JointState, 1);

        state->parent = g_memdup2(j->assignment->parent,
                                  j->problem->node->n_out * sizeof *j->assignment->parent);
        state->beliefs = g_memdup2(j->beliefs->beliefs,
                                   problem_n_all(j->problem) * sizeof *j->beliefs->beliefs);
        parent_walk_copy(&state->walk, &j->model->walk);
        state->evidence = evidence_save(&j->model->evidence);
        return state;
}

void joint_restore(Joint *j, const JointState *state)
{
        assignment_take(j->assignment, state->parent);
        evidence_restore(&j->model->evidence, &state->evidence);
        parent_walk_clear(&j->model->walk);
        parent_walk_copy(&j->model->walk, &state->walk);
        trellis_begin(j->trellis, j->model);
        memcpy(j->beliefs->beliefs, state->beliefs,
               problem_n_all(j->problem) * sizeof *j->beliefs->beliefs);
        joint_sum_beliefs(j);
}

void joint_state_free(JointState *state)
{
        g_free(state->parent);
        g_free(state->beliefs);
        parent_walk_clear(&state->walk);
        saved_evidence_clear(&state->evidence);
        g_free(state);
}

/* --- the test ----------------------------------------------------------------- */

/* Relearns the walks from the assignment of every other training parent, from first on. */
static void learn_every_other(Joint *j, guint32 first)
{
        parent_walk_forget(&j->model->walk);
        for (guint32 p = first; p < j->problem->node->n_in; p += 2)
                if (is_training_parent(j->problem, p))
                        family_learn(j, p, TRUE);
        parent_walk_learn(&j->model->walk);
}

/* Parents are judged by what walks have learned from others alone, not by numbers of calls. Beliefs
 * take the best parent of each call by itself, so numbers would count against their parents. */
void joint_judge(Joint *j, guint n_halves, gint64 *log)
{
        parent_walk_hold(&j->model->walk, FALSE);
        memset(log, 0, j->problem->node->n_in * sizeof *log);
        for (guint32 half = 0; half < n_halves; half++) {
                learn_every_other(j, half);
                for (guint32 p = 1 - half; p < j->problem->node->n_in; p += 2) {
                        if (!is_training_parent(j->problem, p))
                                continue;
                        log[p] = family_learn(j, p, FALSE);
                }
        }
        parent_walk_hold(&j->model->walk, TRUE);
}

gint64 joint_judge_all(Joint *j, guint n_halves)
{
        g_autofree gint64 *log = g_new(gint64, j->problem->node->n_in);
        gint64 sum = 0;

        joint_judge(j, n_halves, log);
        for (guint32 p = 0; p < j->problem->node->n_in; p++)
                sum += log[p];
        return sum;
}

/* About the outputs of the training parents: their part of the parents has that of the outputs. */
static double n_judged_outputs(const Problem *p)
{
        guint32 n = 0;

        for (guint32 i = 0; i < p->node->n_in; i++)
                n += is_training_parent(p, i);
        return ((double)p->node->n_out + p->node->n_in) * n / p->node->n_in;
}

double joint_gain_of_walks(Joint *j, gint64 before)
{
        return (double)(joint_judge_all(j, 2) - before) / LOG_UNIT / n_judged_outputs(j->problem);
}

double joint_gain_then_restore(Joint *j, gint64 before)
{
        JointState *found = joint_save(j);
        double gain = joint_gain_of_walks(j, before);

        joint_restore(j, found);
        joint_state_free(found);
        return gain;
}
