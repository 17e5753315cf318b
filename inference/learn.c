/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Learning the model of a node by expectation maximisation: assign, count what parents do, assign
 * again.
 */
#include <math.h>
#include <stdlib.h>

#include "inference/concurrency.h"
#include "inference/joint.h"

enum {
        FRESH_ROUNDS = 6,   /* rounds that assign in order of time */
        ROUNDS = 16,        /* rounds that learn from beliefs */
        CALM_ROUNDS = 14,   /* from this round on all parents are learned from */
        GO_ON_ROUNDS = 3,   /* rounds of a further step of --window */
        ORDER_ROUNDS = 8,   /* rounds that learn from beliefs whether the node works in order */
        SUPPOSE_ROUNDS = 5, /* the first of these rounds, which suppose that it does */
        CHAIN_ROUNDS = 8,   /* rounds that learn from assignments of the Markov chain */
        CHAIN_SWEEPS = 4,   /* sweeps of the chain before each of these rounds */
        ORDER_STAGES = 6,   /* of CHAIN_ROUNDS / 2 rounds each; a stage fits the order once */
};

/* The largest factor of an inversion that still counts as order: while learning goes on, and in its
 * last round. 1 would be the odds that delays alone give. */
#define MAYBE_ORDER 0.7
#define ORDER       0.4

/* If the mean share of the best parents is less, learning from a chain is skipped: it would learn
 * next to nothing. */
#define LEAST_BEST_SHARE 0.33

/* MAYBE_FACTOR is the factor of inversions supposed where beliefs show none. ORDER_ODDS is the
 * ratio of the odds of inversions to the odds by delays alone that a node in order has at most.
 * Nodes without order come to more than 0.4, since their delays are not known exactly. */
#define MAYBE_FACTOR 0.2
#define ORDER_ODDS   0.3

static int compare_concurrency(const void *a, const void *b)
{
        guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;

        return (x > y) - (x < y);
}

/* --- learning -------------------------------------------------------------- */

/* The greatest concurrency of a calm parent in this round. It rises from round to round, from the
 * lowest concurrencies to all. */
static guint64 calm_until(const guint64 *concurrencies, guint32 n, guint round)
{
        if (round >= CALM_ROUNDS)
                return G_MAXUINT64;
        return concurrencies[(guint64)(n - 1) * (CALM_ROUNDS + 9 * round) / (10 * CALM_ROUNDS)];
}

/* The number of new training parents. */
static guint32 n_new(const Joint *j)
{
        guint32 n = 0;

        for (guint32 p = 0; p < j->node->n_in; p++)
                n += is_training_parent(j, p) && is_new(j, p);
        return n;
}

/* Counts what calm parents do by the assignment. */
static void count_assigned(Joint *j, guint64 calm)
{
        for (guint32 p = 0; p < j->node->n_in; p++) {
                if (j->concurrency[p] > calm || !is_training_parent(j, p) || !is_new(j, p))
                        continue;
                joint_run_assigned(j, p, TRUE);
                for (guint32 k = j->first[p]; k != NO_PARENT; k = j->next[k])
                        joint_count_bounds(j, k, p, DENSITY_COUNT);
        }
}

/* Learns from the calm parents of the assignment. */
static void learn(Joint *j, guint64 calm)
{
        parent_walk_fade(&j->model->walk);
        delay_densities_fade(&j->model->bounds);
        count_assigned(j, calm);
        parent_walk_learn(&j->model->walk);
        delay_densities_learn(&j->model->bounds);
}

void joint_learn_every_other(Joint *j, guint32 first)
{
        parent_walk_forget(&j->model->walk);
        for (guint32 p = first; p < j->node->n_in; p += 2)
                if (is_training_parent(j, p))
                        joint_run_assigned(j, p, TRUE);
        parent_walk_learn(&j->model->walk);
}

double joint_log_of_assignment(Joint *j)
{
        gint64 log = 0;

        for (guint32 p = 0; p < j->node->n_in; p++) {
                joint_run_assigned(j, p, FALSE);
                log += j->trellis.log;
        }
        return (double)log / LOG_UNIT;
}

double joint_log_of_training_parents(Joint *j, guint32 first, guint32 step)
{
        gint64 log = 0;

        for (guint32 p = first; p < j->node->n_in; p += step) {
                if (!is_training_parent(j, p))
                        continue;
                joint_run_assigned(j, p, FALSE);
                log += j->trellis.log;
        }
        return (double)log / LOG_UNIT;
}

/* --- chains ------------------------------------------------------------------ */

/* Assigns each child to the parent with the greatest share of belief. */
static void assign_by_beliefs(Joint *j)
{
        joint_get_shares(j, j->score);
        joint_assign_best(j, FALSE);
}

/* Prepares a chain: assigns by beliefs, and sets chance to the square roots of the shares, scaled
 * to a sum of 1 for each call. */
static void begin_chain(Joint *j, float *chance)
{
        assign_by_beliefs(j);
        for (guint32 i = 0; i < j->node->n_out; i++) {
                double sum = 0;

                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++)
                        sum += chance[k] = sqrt(j->score[k]);
                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++)
                        chance[k] /= sum;
        }
}

/* Learns from assignments of a chain. pairs, if not NULL, gets the pairs of outputs of the latter
 * half of the rounds. */
static void learn_from_chain(Joint *j, Sampler *chain, guint rounds, ServedPairs *pairs)
{
        for (guint round = 0; round < rounds; round++) {
                sampler_run(chain, CHAIN_SWEEPS);
                learn(j, G_MAXUINT64);
                sampler_take_model(chain);
                if (pairs && 2 * round >= rounds)
                        serving_order_count(&j->model->order, &j->model->walk.delays, pairs);
        }
}

/* --- order ------------------------------------------------------------------- */

/* Undoes learning: learns again from an assignment and from the beliefs of that time. */
static void go_back(Joint *j, const guint32 *parent, const Belief *beliefs)
{
        ParentWalk *walk = &j->model->walk;

        memcpy(j->parent, parent, j->node->n_out * sizeof *parent);
        joint_link_children(j);
        parent_walk_forget(walk);
        learn(j, G_MAXUINT64);
        memcpy(j->beliefs, beliefs, j->candidates[j->node->n_out] * sizeof *beliefs);
        joint_sum_beliefs(j);
        parent_walk_forget(walk);
        joint_update_to_learn(j, G_MAXUINT64);
        parent_walk_learn(walk);
}

/* Supposes that the node works in order, and learns from beliefs how far they bear that out. */
static void suppose_order(Joint *j)
{
        ServingOrder *order = &j->model->order;
        ParentWalk *walk = &j->model->walk;

        serving_order_suppose(order, &walk->delays);
        for (guint round = 0; round < ORDER_ROUNDS && order->in_use; round++) {
                parent_walk_forget(walk);
                joint_update_to_learn(j, G_MAXUINT64);
                parent_walk_learn(walk);
                if (round < SUPPOSE_ROUNDS)
                        serving_order_suppose(order, &walk->delays);
                else
                        serving_order_learn(order, &walk->delays,
                                            round + 1 < ORDER_ROUNDS ? MAYBE_ORDER : ORDER);
        }
        if (!order->in_use)
                serving_order_set(order, MAYBE_FACTOR);
}

/* Fits the factors of inversions to the assignment, or, if there is a chain, to the assignments
 * of some more rounds of it. Returns the ratio of the odds of inversions to the odds by delays
 * alone. */
static double fit_order(Joint *j, Sampler *chain)
{
        ServingOrder *order = &j->model->order;
        g_autofree ServedPairs *pairs = g_new0(ServedPairs, serving_order_n_counts(order));

        if (chain)
                learn_from_chain(j, chain, CHAIN_ROUNDS / 2, pairs);
        else
                serving_order_count(order, &j->model->walk.delays, pairs);
        serving_order_fit(order, pairs);
        if (chain)
                sampler_take_model(chain);
        return serving_order_odds(order, pairs);
}

/* Finds whether the node works in order. First order is supposed; then the chain's assignments say
 * how rare inversions are, by expectation maximisation. The factor falls where there is order and
 * rises where there is none; then what was learned with order is undone. */
static gboolean learn_order(Joint *j)
{
        ServingOrder *order = &j->model->order;
        gsize n = j->candidates[j->node->n_out];
        g_autofree guint32 *parent = NULL;
        g_autofree Belief *beliefs = g_memdup2(j->beliefs, n * sizeof *beliefs);
        g_autofree float *chance = g_new(float, n);
        double odds = 1;
        Sampler *chain;

        parent = g_memdup2(j->parent, j->node->n_out * sizeof *parent);
        suppose_order(j);
        begin_chain(j, chance);
        chain = sampler_new(j, chance, TRUE);
        for (guint stage = 0; stage < ORDER_STAGES; stage++)
                odds = fit_order(j, chain);
        sampler_free(chain);
        if (odds < ORDER_ODDS)
                return TRUE;
        serving_order_drop(order);
        go_back(j, parent, beliefs);
        return FALSE;
}

/* The mean share of the best parent, over calls that have a choice and whose assigned parent is a
 * training parent. */
static double mean_best_share(const Joint *j)
{
        double sum = 0;
        guint32 n = 0;

        for (guint32 i = 0; i < j->node->n_out; i++) {
                if (n_candidates(j, i) <= 1 || !is_training_parent(j, j->parent[i]))
                        continue;
                sum += j->score[joint_best_candidate(j, i, j->score)];
                n++;
        }
        return n > 0 ? sum / n : 1;
}

static void learn_without_order(Joint *j)
{
        g_autofree float *chance = g_new(float, j->candidates[j->node->n_out]);
        Sampler *chain;

        begin_chain(j, chance);
        chain = sampler_new(j, chance, TRUE);
        learn_from_chain(j, chain, CHAIN_ROUNDS, NULL);
        sampler_free(chain);
}

/* --- all of it ------------------------------------------------------------- */

void joint_learn(Joint *j)
{
        g_autofree guint64 *concurrencies = NULL;

        concurrency_find(j->node->in, j->node->n_in, j->concurrency);
        concurrencies = g_memdup2(j->concurrency, j->node->n_in * sizeof *concurrencies);
        qsort(concurrencies, j->node->n_in, sizeof *concurrencies, compare_concurrency);
        joint_assign_first(j);
        joint_tell_apart(j);
        joint_tell_contexts(j);
        for (guint round = 0; round < FRESH_ROUNDS; round++) {
                learn(j, calm_until(concurrencies, j->node->n_in, round));
                joint_assign_in_time(j);
        }
        learn(j, calm_until(concurrencies, j->node->n_in, 0));
        joint_start_beliefs(j);
        for (guint round = 0; round < ROUNDS; round++) {
                parent_walk_forget(&j->model->walk);
                joint_update_to_learn(j, calm_until(concurrencies, j->node->n_in, round));
                parent_walk_learn(&j->model->walk);
                joint_done(j, LEARNT * (round + 1) / (ROUNDS + 1));
                if (round + 2 == ROUNDS && j->model->n_whole <= MOST_ORDERED)
                        j->trellis.order = &j->model->order;
        }
        assign_by_beliefs(j);
        if (mean_best_share(j) >= LEAST_BEST_SHARE && (!j->trellis.order || !learn_order(j)))
                learn_without_order(j);
        serving_order_forget(&j->model->order);
        joint_done(j, LEARNT);
}

/* Begins a further step: if there are enough new parents the model learns from them and from the
 * kept counts; else it only counts them. */
static void go_on(Joint *j)
{
        if (j->model->n_whole <= MOST_ORDERED)
                j->trellis.order = &j->model->order;
        j->counts = j->from > G_MININT64 && !node_model_are_stale(j->model, n_new(j));
}

static void forget_new(Joint *j)
{
        parent_walk_forget(&j->model->walk);
        delay_densities_forget(&j->model->bounds);
}

static void learn_all(Joint *j, double most)
{
        NodeModel *h = j->model;

        if (!j->counts) {
                parent_walk_learn(&h->walk);
                delay_densities_learn(&h->bounds);
        }
        if (j->trellis.order && h->order.in_use)
                serving_order_learn(&h->order, &h->walk.delays, most);
}

void joint_go_on(Joint *j)
{
        guint rounds;

        go_on(j);
        rounds = j->counts ? 1 : GO_ON_ROUNDS;
        joint_assign_in_time(j);
        joint_start_beliefs(j);
        for (guint round = 0; round < rounds; round++) {
                parent_walk_forget(&j->model->walk);
                joint_update_to_learn(j, G_MAXUINT64);
                learn_all(j, round + 1 < rounds ? MAYBE_ORDER : ORDER);
        }
}

void joint_go_on_from_assignment(Joint *j)
{
        go_on(j);
        forget_new(j);
        count_assigned(j, G_MAXUINT64);
        learn_all(j, ORDER);
        serving_order_forget(&j->model->order);
}

void joint_keep_model(Joint *j)
{
        delay_densities_forget(&j->model->bounds);
        for (guint32 p = 0; p < j->node->n_in; p++)
                for (guint32 k = j->first[p]; k != NO_PARENT; k = j->next[k])
                        if (is_training_parent(j, p) && is_new(j, p))
                                joint_count_bounds(j, k, p, DENSITY_COUNT);
        if (!j->counts)
                delay_densities_learn(&j->model->bounds);
        node_model_keep(j->model, n_new(j), !j->counts);
}

void joint_learn_from_truth(Joint *j)
{
        joint_assign_truth(j);
        if (j->from > G_MININT64) {
                joint_go_on_from_assignment(j);
                return;
        }
        joint_tell_apart(j);
        joint_tell_contexts(j);
        learn(j, G_MAXUINT64);
        j->true_log = joint_log_of_assignment(j);
        if (j->model->n_whole > MOST_ORDERED)
                return;
        j->trellis.order = &j->model->order;
        learn(j, G_MAXUINT64); /* the walks are the same; this time the outputs are noted */
        if (fit_order(j, NULL) >= ORDER_ODDS)
                serving_order_drop(&j->model->order);
        serving_order_forget(&j->model->order);
}
