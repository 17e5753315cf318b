/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/learn/order.h"

#include <math.h>

#include "inference/learn/rounds.h"
#include "inference/model/node-model.h"
#include "inference/model/problem.h"
#include "inference/model/tuning.h"

static inline ServingOrder *order_of(Joint *j)
{
        return &j->model->evidence.order;
}

/* The loop found these chances mostly by order. They count by a power, or order counts twice. */
void order_weigh_by_loop(Joint *j, float *chance)
{
        const Problem *p = j->problem;

        for (guint32 i = 0; i < p->node->n_out; i++)
                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++)
                        chance[k] = powf(chance[k] * n_candidates(p, i) + tuning.loop_least_said,
                                         tuning.loop_says);
        order_of(j)->said = chance;
}

void order_drop_loop_weights(Joint *j)
{
        g_clear_pointer(&order_of(j)->said, g_free);
}

static void allow(Joint *j, Ordered which)
{
        ServingOrder *order = order_of(j);
        guint32 n = j->model->n_callees;

        for (guint32 i = 0; i < order->n_classes; i++)
                serving_order_allow(order, i,
                                    which == ALL_OUTPUTS ||
                                            (i / (n + 1) == 2 * n && i % (n + 1) < n));
}

gboolean order_is_plainly_absent(Joint *j, Ordered which)
{
        ServingOrder *order = order_of(j);
        g_autofree ServedPairs *pairs = NULL;
        double sure = serving_order_sure(order);

        if (sure < tuning.plain_triggers)
                return FALSE;
        pairs = g_new0(ServedPairs, serving_order_n_counts(order));
        allow(j, which);
        serving_order_count(order, &j->model->walk.delays, pairs);
        return serving_order_odds(order, pairs) >=
               (sure < tuning.all_triggers ? tuning.plain_odds : tuning.in_order);
}

/* Supposes that the node works in order. Learns how far beliefs are consistent with that. */
static void suppose(Joint *j)
{
        ServingOrder *order = order_of(j);
        DelayDensities *delays = &j->model->walk.delays;

        serving_order_suppose(order, delays);
        for (guint round = 0; round < tuning.order_rounds && order->in_use; round++) {
                joint_learn_from_beliefs(j, G_MAXUINT64);
                if (round < tuning.suppose_rounds)
                        serving_order_suppose(order, delays);
                else
                        serving_order_learn(order, delays);
        }
        order_drop_loop_weights(j);
        if (!order->in_use)
                serving_order_set(order, tuning.maybe_factor);
}

/* Fits the factors of inversions to the assignments of some more rounds of a chain. Returns the
 * ratio of odds by these. */
static double fit_to_chain(Joint *j, Sampler *chain)
{
        ServingOrder *order = order_of(j);
        g_autofree ServedPairs *pairs = g_new0(ServedPairs, serving_order_n_counts(order));

        for (guint round = 0; round < tuning.stage_rounds; round++) {
                joint_learn_from_chain(j, chain);
                if (2 * round >= tuning.stage_rounds)
                        serving_order_count(order, &j->model->walk.delays, pairs);
        }
        serving_order_fit(order, pairs);
        sampler_take_model(chain);
        return serving_order_odds(order, pairs);
}

double order_learn(Joint *j, Ordered which)
{
        g_autofree float *chance = g_new(float, problem_n_all(j->problem));
        double odds;
        guint n = 0;
        Sampler *chain;

        allow(j, which);
        suppose(j);
        joint_begin_chain(j, chance);
        chain = sampler_new(j, chance, TRUE);
        do
                odds = fit_to_chain(j, chain);
        while (++n < tuning.order_stages && odds <= tuning.in_order);
        sampler_free(chain);
        return odds;
}

gboolean order_shows(double odds)
{
        return odds < tuning.order_odds;
}

/* Whether the outputs of true parents show order, by factors fitted to them. */
static gboolean true_parents_show(Joint *j, Ordered which)
{
        ServingOrder *order = order_of(j);
        g_autofree ServedPairs *pairs = g_new0(ServedPairs, serving_order_n_counts(order));

        allow(j, which);
        serving_order_count(order, &j->model->walk.delays, pairs);
        serving_order_fit(order, pairs);
        return order_shows(serving_order_odds(order, pairs));
}

void order_learn_truth(Joint *j)
{
        ServingOrder *order = order_of(j);

        serving_order_watch(order);
        if (!order->watched)
                return;
        joint_learn_from_assigned(j, G_MAXUINT64); /* the same walks: outputs are noted */
        if (!true_parents_show(j, ALL_OUTPUTS) && !true_parents_show(j, DISPATCHED))
                serving_order_drop(order);
        serving_order_forget(order);
}
