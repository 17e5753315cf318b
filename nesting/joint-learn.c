/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a node does, learned in rounds from assignments and claims.
 */
#include <stdlib.h>

#include "nesting/crowds.h"
#include "nesting/joint.h"

enum {
        FRESH_ROUNDS = 6,   /* that assign anew, in the order of time */
        ROUNDS = 16,        /* of learning from beliefs */
        CALM_ROUNDS = 14,   /* until all parents are learned from */
        GO_ON_ROUNDS = 3,   /* of learning, from what was learned before */
        ORDER_ROUNDS = 8,   /* of learning, where a node may work in order; */
        SUPPOSE_ROUNDS = 5, /* of these, those that suppose that it does */
};

/* How likely an inversion is, next to what delays alone say, where a node works in order: while it
 * is being found out, and then. */
#define MAYBE_ORDER 0.7
#define ORDER       0.4

/* Order may make a node's parents less likely by so much, in nats a call out of it. */
#define ORDER_PRICE (1.0 / 64)

static int compare_crowds(const void *a, const void *b)
{
        guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;

        return (x > y) - (x < y);
}

/* --- learning -------------------------------------------------------------- */

/* The crowd at which parents are no longer calm enough for a round. */
static guint64 calm_until(const guint64 *crowds, guint32 n, guint round)
{
        if (round >= CALM_ROUNDS)
                return G_MAXUINT64;
        return crowds[(guint64)(n - 1) * (CALM_ROUNDS + 9 * round) / (10 * CALM_ROUNDS)];
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
                if (j->crowd[p] > calm || !teaches(j, p) || !is_new(j, p))
                        continue;
                joint_run_assigned(j, p, TRUE);
                for (guint32 k = j->first[p]; k != NO_PARENT; k = j->next[k])
                        joint_count_bounds(j, k, p, DENSITY_COUNT);
        }
}

/* Learns from the assignment, as far as parents are calm. */
static void learn(Joint *j, guint64 calm)
{
        parent_walk_fade(&j->habits->walk);
        delay_densities_fade(&j->habits->bounds);
        count_assigned(j, calm);
        parent_walk_learn(&j->habits->walk);
        delay_densities_learn(&j->habits->bounds);
}

double joint_log_of_assignment(Joint *j)
{
        gint64 log = 0;

        for (guint32 p = 0; p < j->node->n_in; p++) {
                joint_run_assigned(j, p, FALSE);
                log += j->lattice.log;
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
                log += j->lattice.log;
        }
        return (double)log / LOG_UNIT;
}

/* --- order ------------------------------------------------------------------- */

/* The logarithm of how likely the best parents are, of those that teach, whatever the order. */
static double log_of_best(Joint *j)
{
        ServingOrder *order = j->lattice.order;
        double log;

        joint_get_shares(j, j->score);
        joint_assign_best(j, FALSE);
        j->lattice.order = NULL;
        log = joint_log_of_teachers(j, 0, 1);
        j->lattice.order = order;
        return log;
}

/* Learns again from an assignment, and claims as they were then. */
static void go_back(Joint *j, const guint32 *parent, const Claim *claims)
{
        ParentWalk *walk = &j->habits->walk;

        memcpy(j->parent, parent, j->node->n_out * sizeof *parent);
        joint_link_children(j);
        parent_walk_forget(walk);
        learn(j, G_MAXUINT64);
        memcpy(j->claims, claims, j->candidates[j->node->n_out] * sizeof *claims);
        joint_sum_claims(j);
        parent_walk_forget(walk);
        joint_claim_to_learn(j, G_MAXUINT64);
        parent_walk_learn(walk);
}

/* More rounds, which suppose that the node works in order. Where it does, that makes its parents
 * about as likely as they were, or likelier, and shows in what claims agree on; else it is given
 * up again. */
static void learn_order(Joint *j)
{
        ServingOrder *order = &j->habits->order;
        ParentWalk *walk = &j->habits->walk;
        double before = log_of_best(j), price = j->node->n_out * ORDER_PRICE / j->n_stretches;
        g_autofree guint32 *parent = g_memdup2(j->parent, j->node->n_out * sizeof *parent);
        g_autofree Claim *claims =
                g_memdup2(j->claims, j->candidates[j->node->n_out] * sizeof *claims);

        serving_order_suppose(order, &walk->delays);
        if (!order->in_use)
                return;
        for (guint round = 0; round < ORDER_ROUNDS && order->in_use; round++) {
                parent_walk_forget(walk);
                joint_claim_to_learn(j, G_MAXUINT64);
                parent_walk_learn(walk);
                if (round < SUPPOSE_ROUNDS)
                        serving_order_suppose(order, &walk->delays);
                else
                        serving_order_learn(order, &walk->delays,
                                            round + 1 < ORDER_ROUNDS ? MAYBE_ORDER : ORDER);
        }
        if (log_of_best(j) < before - (order->in_use ? price : 0)) {
                serving_order_drop(order);
                go_back(j, parent, claims);
        }
}

/* --- all of it ------------------------------------------------------------- */

void joint_learn(Joint *j)
{
        g_autofree guint64 *crowds = NULL;

        crowds_find(j->node->in, j->node->n_in, j->crowd);
        crowds = g_memdup2(j->crowd, j->node->n_in * sizeof *crowds);
        qsort(crowds, j->node->n_in, sizeof *crowds, compare_crowds);
        joint_assign_first(j);
        joint_tell_apart(j);
        for (guint round = 0; round < FRESH_ROUNDS; round++) {
                learn(j, calm_until(crowds, j->node->n_in, round));
                joint_assign_in_time(j);
        }
        learn(j, calm_until(crowds, j->node->n_in, 0));
        joint_start_claims(j);
        for (guint round = 0; round < ROUNDS; round++) {
                parent_walk_forget(&j->habits->walk);
                joint_claim_to_learn(j, calm_until(crowds, j->node->n_in, round));
                parent_walk_learn(&j->habits->walk);
                if (round + 2 == ROUNDS && j->habits->n_whole <= MOST_ORDERED)
                        j->lattice.order = &j->habits->order;
        }
        if (j->lattice.order)
                learn_order(j);
}

/* Learning goes on: from what is new, if that is enough, and from what was kept. */
static void go_on(Joint *j)
{
        if (j->habits->n_whole <= MOST_ORDERED)
                j->lattice.order = &j->habits->order;
        j->counts = j->from > G_MININT64 && !node_habits_are_stale(j->habits, n_new(j));
}

static void forget_new(Joint *j)
{
        parent_walk_forget(&j->habits->walk);
        delay_densities_forget(&j->habits->bounds);
}

static void learn_all(Joint *j, double most)
{
        NodeHabits *h = j->habits;

        if (!j->counts) {
                parent_walk_learn(&h->walk);
                delay_densities_learn(&h->bounds);
        }
        if (j->lattice.order)
                serving_order_learn(&h->order, &h->walk.delays, most);
}

void joint_go_on(Joint *j)
{
        guint rounds;

        go_on(j);
        rounds = j->counts ? 1 : GO_ON_ROUNDS;
        joint_assign_in_time(j);
        joint_start_claims(j);
        for (guint round = 0; round < rounds; round++) {
                parent_walk_forget(&j->habits->walk);
                joint_claim_to_learn(j, G_MAXUINT64);
                learn_all(j, round + 1 < rounds ? MAYBE_ORDER : ORDER);
        }
}

void joint_go_on_from_assignment(Joint *j)
{
        go_on(j);
        forget_new(j);
        count_assigned(j, G_MAXUINT64);
        learn_all(j, ORDER);
        serving_order_forget(&j->habits->order);
}

void joint_keep_habits(Joint *j)
{
        delay_densities_forget(&j->habits->bounds);
        for (guint32 p = 0; p < j->node->n_in; p++)
                for (guint32 k = j->first[p]; k != NO_PARENT; k = j->next[k])
                        if (teaches(j, p) && is_new(j, p))
                                joint_count_bounds(j, k, p, DENSITY_COUNT);
        if (!j->counts)
                delay_densities_learn(&j->habits->bounds);
        node_habits_keep(j->habits, n_new(j), !j->counts);
}

void joint_learn_from_truth(Joint *j, const guint32 *true_parent)
{
        joint_assign_truth(j, true_parent);
        if (j->from > G_MININT64) {
                joint_go_on_from_assignment(j);
                return;
        }
        joint_tell_apart(j);
        learn(j, G_MAXUINT64);
        j->true_log = joint_log_of_assignment(j);
        if (j->habits->n_whole > MOST_ORDERED)
                return;
        j->lattice.order = &j->habits->order;
        learn(j, G_MAXUINT64); /* the same again; now it says its outputs */
        serving_order_learn(&j->habits->order, &j->habits->walk.delays, ORDER);
        serving_order_forget(&j->habits->order);
}
