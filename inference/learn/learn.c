/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/learn/learn.h"

#include <stdlib.h>
#include <string.h>

#include "inference/learn/calibrate.h"
#include "inference/learn/order-trials.h"
#include "inference/learn/order.h"
#include "inference/learn/rounds.h"
#include "inference/learn/splits.h"
#include "inference/learn/worker-trial.h"
#include "inference/model/tuning.h"
#include "inference/search/assign.h"
#include "inference/search/assignment.h"
#include "inference/search/beliefs.h"
#include "inference/search/family.h"

/* --- learning -------------------------------------------------------------- */

/* The mean share of the best parent, over calls with a choice that a training parent has. */
static double mean_best_share(const Joint *j)
{
        double sum = 0;
        guint32 n = 0;

        for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                if (n_candidates(j->problem, i) <= 1 ||
                    !is_training_parent(j->problem, j->assignment->parent[i]))
                        continue;
                sum += j->scores->score[problem_best_candidate(j->problem, i, j->scores->score)];
                n++;
        }
        return n > 0 ? sum / n : 1;
}

/* Learns from assignments of a chain, where no kind of evidence has done so. */
static void learn_by_chain(Joint *j)
{
        g_autofree float *chance = g_new(float, problem_n_all(j->problem));
        Sampler *chain;

        joint_begin_chain(j, chance);
        chain = sampler_new(j, chance, TRUE);
        for (guint round = 0; round < tuning.chain_rounds; round++)
                joint_learn_from_chain(j, chain);
        sampler_free(chain);
}

/* Learns by a chain; where evidence ties calls together, also by one without that evidence. Pools
 * that deal connections last in, first out look like leases. Walks know nothing about leases. If
 * they are much less likely by the parents found with leases, leases are rejected. */
static void learn_by_chains(Joint *j)
{
        EvidenceSet *evidence = &j->model->evidence;
        JointState *before, *with, *without;
        gboolean rejected;
        gint64 log;

        if (!evidence_blocks(evidence)) {
                learn_by_chain(j);
                return;
        }
        before = joint_save(j);
        learn_by_chain(j);
        with = joint_save(j);
        log = joint_judge_all(j, 2);
        joint_restore(j, before);
        evidence_reject_blocks(evidence, TRUE);
        learn_by_chain(j);
        without = joint_save(j);
        rejected = joint_gain_of_walks(j, log) > tuning.blocks_lost;
        evidence_reject_blocks(evidence, rejected);
        joint_restore(j, rejected ? without : with);
        joint_state_free(without);
        joint_state_free(with);
        joint_state_free(before);
}

/* Whether ties between calls cost walks much. It compares the parents found with ties to the
 * parents of beliefs. A chain that learns without ties may still show that ties are right. */
static gboolean may_reject_blocks(Joint *j)
{
        g_autofree float *chance = NULL;
        JointState *before;
        double gain;
        gint64 log;

        if (!evidence_blocks(&j->model->evidence))
                return FALSE;
        chance = g_new(float, problem_n_all(j->problem));
        before = joint_save(j);
        log = joint_judge_all(j, 2);
        joint_begin_chain(j, chance);
        gain = joint_gain_of_walks(j, log);
        joint_restore(j, before);
        joint_state_free(before);
        return -gain > tuning.blocks_lost;
}

/* Whether order shows. Once there is order, ties between calls are not tested. So where they may be
 * rejected, order is tried without them. */
static gboolean learn_by_order(Joint *j, gboolean without_blocks)
{
        EvidenceSet *evidence = &j->model->evidence;

        evidence_reject_blocks(evidence, without_blocks);
        if (order_try(j))
                return TRUE;
        evidence_reject_blocks(evidence, FALSE);
        return FALSE;
}

/* --- what is supposed first ------------------------------------------------ */

/* The assignment is the first one, and walks have learned nothing. Kinds by sizes begin everything
 * anew, so they come first. */
static void try_first(Joint *j)
{
        split_by_sizes(j);
        split_by_numbers(j);
        workers_try(j);
        evidence_learn(&j->model->evidence, j, FIRST_PARENTS);
}

/* Beliefs have nearly settled, or a model goes on. */
static void near_beliefs(Joint *j)
{
        evidence_learn(&j->model->evidence, j, NEAR_BELIEFS);
        serving_order_watch(&j->model->evidence.order);
}

/* --- all of it ------------------------------------------------------------- */

/* The rounds of one start. The first ones assign in order of time, from the first assignment on;
 * the others learn from beliefs. */
static void learn_first_rounds(Joint *j)
{
        for (guint round = 0; round < tuning.fresh_rounds; round++) {
                joint_learn_from_assigned(j, joint_calm_until(j, round));
                joint_assign_in_time(j);
                evidence_learn(&j->model->evidence, j, ROUND_PARENTS);
        }
        joint_learn_from_assigned(j, joint_calm_until(j, 0));
        joint_start_beliefs(j);
        for (guint round = 0; round < tuning.start_rounds; round++)
                joint_learn_from_beliefs(j, joint_calm_until(j, round));
}

/* Judges what a start found, by halves. Leaves the assignment by beliefs and walks of a half. */
static gint64 judge_start(Joint *j, const JointState *found)
{
        joint_restore(j, found);
        joint_assign_by_beliefs(j);
        return joint_judge_all(j, 2);
}

/* Learning ends in one of many optima, and the first assignment decides in which. So it starts
 * twice, by bounds that learned for longer and for shorter. It goes on from the start whose parents
 * are likelier. */
static void learn_from_starts(Joint *j)
{
        gsize size = j->problem->node->n_out * sizeof *j->assignment->parent;
        g_autofree guint32 *parent = g_memdup2(j->assignment->parent, size);
        JointState *begun, *first, *second = NULL;

        joint_start_beliefs(j);
        begun = joint_save(j);
        learn_first_rounds(j);
        first = joint_save(j);
        joint_restore(j, begun);
        joint_assign_anew(j, tuning.other_bounds);
        if (memcmp(parent, j->assignment->parent, size) != 0) {
                learn_first_rounds(j);
                second = joint_save(j);
        }
        joint_restore(j, second && judge_start(j, second) > judge_start(j, first) ? second : first);
        g_clear_pointer(&second, joint_state_free);
        joint_state_free(first);
        joint_state_free(begun);
}

void joint_learn(Joint *j)
{
        EvidenceSet *evidence = &j->model->evidence;
        gboolean without_blocks;

        joint_assign_first(j);
        try_first(j);
        if (j->problem->node->truth) /* the oracle starts from it */
                learn_first_rounds(j);
        else
                learn_from_starts(j);
        joint_learn_later_rounds(j);
        without_blocks = may_reject_blocks(j);
        near_beliefs(j);
        joint_learn_from_beliefs(j, joint_calm_until(j, tuning.rounds - 1));
        joint_assign_by_beliefs(j);
        if (mean_best_share(j) >= tuning.least_best_share && !learn_by_order(j, without_blocks))
                learn_by_chains(j);
        if (serving_order_counts(&evidence->order) && evidence->order.by_chain)
                joint_keep_parents(j);
        serving_order_forget(&evidence->order);
        problem_done(j->problem, problem_learnt(j->problem));
}

/* Begins a further step. With enough new parents the model learns from them and from the kept
 * counts; else it only counts them. */
static void go_on(Joint *j)
{
        near_beliefs(j);
        j->learning->counts = j->problem->from > G_MININT64 &&
                              !node_model_are_stale(j->model, problem_n_new(j->problem));
}

static void forget_new(Joint *j)
{
        parent_walk_forget(&j->model->walk);
        delay_densities_forget(&j->model->bounds);
}

static void learn_all(Joint *j)
{
        NodeModel *h = j->model;

        if (!j->learning->counts) {
                parent_walk_learn(&h->walk);
                delay_densities_learn(&h->bounds);
        }
        if (serving_order_counts(&h->evidence.order))
                serving_order_learn(&h->evidence.order, &h->walk.delays);
}

void joint_go_on(Joint *j)
{
        guint rounds;

        go_on(j);
        rounds = j->learning->counts ? 1 : tuning.go_on_rounds;
        joint_assign_in_time(j);
        joint_start_beliefs(j);
        for (guint round = 0; round < rounds; round++) {
                parent_walk_forget(&j->model->walk);
                joint_update_to_learn(j, G_MAXUINT64);
                learn_all(j);
        }
}

void joint_go_on_from_assignment(Joint *j)
{
        go_on(j);
        forget_new(j);
        joint_count_assigned(j, G_MAXUINT64);
        learn_all(j);
        serving_order_forget(&j->model->evidence.order);
}

void joint_keep_model(Joint *j)
{
        delay_densities_forget(&j->model->bounds);
        for (guint32 p = 0; p < j->problem->node->n_in; p++)
                for (guint32 k = j->assignment->first[p]; k != NO_PARENT;
                     k = j->assignment->next[k])
                        if (is_training_parent(j->problem, p) && is_new(j->problem, p))
                                joint_count_bounds(j, k, p, DENSITY_COUNT);
        if (!j->learning->counts)
                delay_densities_learn(&j->model->bounds);
        node_model_keep(j->model, problem_n_new(j->problem), !j->learning->counts);
}

void joint_learn_from_truth(Joint *j)
{
        assignment_take_truth(j->assignment, j->problem);
        if (j->problem->from > G_MININT64) {
                joint_go_on_from_assignment(j);
                return;
        }
        try_first(j);
        joint_learn_from_assigned(j, G_MAXUINT64);
        j->learning->true_log = joint_log_of_assignment(j);
        evidence_learn(&j->model->evidence, j, TRUE_PARENTS);
        order_learn_truth(j);
}
