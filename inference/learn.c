/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a node does, learned in rounds from assignments and beliefs.
 */
#include <math.h>
#include <stdlib.h>

#include "inference/concurrency.h"
#include "inference/joint.h"

enum {
        FRESH_ROUNDS = 6,   /* that assign anew, in the order of time */
        ROUNDS = 16,        /* of learning from beliefs */
        CALM_ROUNDS = 14,   /* until all parents are learned from */
        GO_ON_ROUNDS = 3,   /* of learning, from what was learned before */
        ORDER_ROUNDS = 8,   /* of learning, where a node may work in order; */
        SUPPOSE_ROUNDS = 5, /* of these, those that suppose that it does */
        CHAIN_ROUNDS = 8,   /* of learning from assignments of a chain, */
        CHAIN_SWEEPS = 4,   /* each after so many sweeps */
        ORDER_STAGES = 6,   /* of half as many rounds, where a node may work in order */
};

/* How likely an inversion is, next to what delays alone say, where a node works in order: while it
 * is being found out, and then. */
#define MAYBE_ORDER 0.7
#define ORDER       0.4

/* Where the best parents have less of a share, in the mean, a chain would learn next to nothing. */
#define LEAST_BEST_SHARE 0.33

/* The factor that is supposed where beliefs show none; and the odds of inversions, next to those by
 * delays, that a node in order has at most. What has no order comes to more than 0.4, as delays
 * are not known exactly. */
#define MAYBE_FACTOR 0.2
#define ORDER_ODDS   0.3

static int compare_concurrency(const void *a, const void *b)
{
        guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;

        return (x > y) - (x < y);
}

/* --- learning -------------------------------------------------------------- */

/* The concurrency at which parents are no longer calm enough for a round. */
static guint64 calm_until(const guint64 *concurrencies, guint32 n, guint round)
{
        if (round >= CALM_ROUNDS)
                return G_MAXUINT64;
        return concurrencies[(guint64)(n - 1) * (CALM_ROUNDS + 9 * round) / (10 * CALM_ROUNDS)];
}

static guint32 n_new(const Joint *j)
{
        guint32 n = 0;

        for (guint32 p = 0; p < j->node->n_in; p++)
                n += teaches(j, p) && is_new(j, p);
        return n;
}

/* Counts what parents do by the assignment, as far as they are calm. */
static void count_assigned(Joint *j, guint64 calm)
{
        for (guint32 p = 0; p < j->node->n_in; p++) {
                if (j->concurrency[p] > calm || !teaches(j, p) || !is_new(j, p))
                        continue;
                joint_run_assigned(j, p, TRUE);
                for (guint32 k = j->first[p]; k != NO_PARENT; k = j->next[k])
                        joint_count_bounds(j, k, p, DENSITY_COUNT);
        }
}

/* Learns from the assignment, as far as parents are calm. */
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
                if (teaches(j, p))
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

double joint_log_of_teachers(Joint *j, guint32 first, guint32 step)
{
        gint64 log = 0;

        for (guint32 p = first; p < j->node->n_in; p += step) {
                if (!teaches(j, p))
                        continue;
                joint_run_assigned(j, p, FALSE);
                log += j->trellis.log;
        }
        return (double)log / LOG_UNIT;
}

/* --- chains ------------------------------------------------------------------ */

/* Makes the assignment by what is total. */
static void assign_by_beliefs(Joint *j)
{
        joint_get_shares(j, j->score);
        joint_assign_best(j, FALSE);
}

/* The same, and makes chances for a chain of beliefs. */
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

/* Rounds that learn from assignments of a chain. pairs, if not NULL, are those of the latter half.
 */
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

/* Learns again from an assignment, and beliefs as they were then. */
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

/* Supposes that the node works in order, as beliefs that suppose it then bear out. */
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

/* Fits the order to the assignment, or, if not NULL, to those that the chain comes to in some more
 * rounds. Returns the odds of inversions, next to those by delays. */
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

/* Whether the node works in order. That is supposed, and the factor of inversions then learned from
 * assignments of a chain, by expectation maximisation: it goes down from what was supposed where
 * there is order, and up where there is none. */
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

/* The mean share of the best parents, of calls that are learned from and have a choice. */
static double mean_best_share(const Joint *j)
{
        double sum = 0;
        guint32 n = 0;

        for (guint32 i = 0; i < j->node->n_out; i++) {
                if (n_candidates(j, i) <= 1 || !teaches(j, j->parent[i]))
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

/* Learning goes on: from what is new, if that is enough, and from what was kept. */
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
                        if (teaches(j, p) && is_new(j, p))
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
        learn(j, G_MAXUINT64); /* the same again; now it says its outputs */
        if (fit_order(j, NULL) >= ORDER_ODDS)
                serving_order_drop(&j->model->order);
        serving_order_forget(&j->model->order);
}
