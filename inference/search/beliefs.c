/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/search/beliefs.h"

#include <math.h>

#include "base/fill.h"
#include "inference/model/kinds.h"
#include "inference/model/tuning.h"
#include "inference/search/assignment.h"
#include "inference/search/family.h"

void joint_make_beliefs(Joint *j)
{
        guint32 n_in = j->problem->node->n_in, n_out = j->problem->node->n_out;
        gsize n = j->problem->candidates[n_out], *end;

        j->beliefs->first_belief = g_new0(gsize, n_in + 2);
        end = j->beliefs->first_belief + 1;
        for (gsize k = 0; k < n; k++)
                end[j->problem->candidate[k] + 1]++;
        for (guint32 p = 0; p < n_in; p++)
                end[p + 1] += end[p];
        j->beliefs->beliefs = g_new(Belief, n);
        for (guint32 i = 0; i < n_out; i++)
                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++)
                        j->beliefs->beliefs[end[j->problem->candidate[k]]++].child = i;
        j->beliefs->total = g_new(double, n_out);
}

/* --- beliefs --------------------------------------------------------------- */

/* Whether a call was sent together with the previous call of the same parent: on the same
 * connection, with the same stamp. */
static gboolean comes_along(const Joint *j, guint32 before, guint32 call, guint32 parent)
{
        const CallOut *out = j->problem->node->out;

        return before != NO_PARENT && j->assignment->parent[before] == parent &&
               j->assignment->parent[call] == parent && out[call].connection != 0 &&
               out[before].connection == out[call].connection &&
               out[before].start == out[call].start;
}

/* A belief begins as one call per lifetime of the parent, more for its assigned children. */
void joint_start_beliefs(Joint *j)
{
        j->beliefs->negligible = tuning.negligible_at_first;
        fill(j->beliefs->total, 0, j->problem->node->n_out * sizeof *j->beliefs->total);
        for (guint32 p = 0; p < j->problem->node->n_in; p++) {
                const CallIn *in = &j->problem->node->in[p];
                double rate = 1.0 / (double)(MAX(in->reply - in->enter, 0) + 1000);
                double at_once = 1.0 / (double)MAX(density_bin_width(0), j->problem->resolution);
                guint32 before = NO_PARENT;

                for (gsize k = j->beliefs->first_belief[p]; k < j->beliefs->first_belief[p + 1];
                     k++) {
                        Belief *belief = &j->beliefs->beliefs[k];

                        belief->rate =
                                rate *
                                (j->assignment->parent[belief->child] == p ? tuning.assigned : 1);
                        if (comes_along(j, before, belief->child, p))
                                belief->rate = MAX(belief->rate, at_once);
                        before = belief->child;
                        j->beliefs->total[belief->child] += belief->rate;
                }
        }
}

/* The share of a belief among the beliefs on its call. */
static inline double taken_by(const Joint *j, const Belief *belief)
{
        if (n_candidates(j->problem, belief->child) == 1)
                return 1;
        return MIN(belief->rate / j->beliefs->total[belief->child], tuning.most_taken);
}

/* The ratio of a candidate by an event loop, while the node is supposed to be one. */
static double said_by_loop(const Joint *j, guint32 parent, guint32 child)
{
        const ServingOrder *order = &j->model->evidence.order;
        gsize k;

        if (!order->said || !serving_order_counts(order))
                return 1;
        k = problem_find_candidate(j->problem, child, parent);
        return k == G_MAXSIZE ? 1 : (double)order->said[k];
}

/* The sum of the messages on a call, divided by the ratio of other evidence for this parent. */
static inline double total_of(const Joint *j, guint32 parent, guint32 child, gboolean has_calls)
{
        if (!has_calls)
                return j->beliefs->total[child];
        return j->beliefs->total[child] /
               (evidence_call(&j->model->evidence, j, parent, child, BY_BELIEFS, FALSE) *
                said_by_loop(j, parent, child));
}

/* Updates the messages of one parent (formula 3 of docs/model.md). The likelihood of a family is
 * that of the model times what the other parents' messages leave to this parent. Gives up beliefs
 * with shares below negligible. decide: sharpens the messages. */
static void update_beliefs(Joint *j, guint32 parent, gboolean count, double negligible,
                           gboolean decide)
{
        TrellisParent trellis_parent;
        Belief *beliefs = &j->beliefs->beliefs[j->beliefs->first_belief[parent]];
        guint32 n = j->beliefs->first_belief[parent + 1] - j->beliefs->first_belief[parent],
                n_offered = 0;
        gboolean has_calls =
                evidence_has_calls(&j->model->evidence) || j->model->evidence.order.said;
        TrellisCall *offered;

        if (j->trellis->budget == 0)
                return;
        offered = trellis_room(j->trellis, n);
        trellis_parent = family_trellis_parent(j, parent);
        for (guint32 i = 0; i < n; i++) {
                double taken = beliefs[i].rate > 0 ? taken_by(j, &beliefs[i]) : 0;

                if (taken >= tuning.least_offered)
                        offered[n_offered++] =
                                (TrellisCall){ .call = j->kinds->calls[beliefs[i].child],
                                               .output = j->problem->output[beliefs[i].child],
                                               .belief = i,
                                               .total = total_of(j, parent, beliefs[i].child,
                                                                 has_calls),
                                               .taken = taken };
        }
        if (!trellis_find_shares(j->trellis, &j->model->walk, &trellis_parent, offered, n_offered,
                                 count))
                return;
        for (guint32 k = 0; k < n_offered; k++) {
                const TrellisCall *o = &offered[k];
                Belief *belief = &beliefs[o->belief];
                double *total = &j->beliefs->total[belief->child];
                double share = CLAMP(o->share, tuning.least_share, tuning.most_taken), rate;

                if (o->taken == 1)
                        continue;
                /* share : 1 - share is this rate : sum of the other candidates' messages. */
                rate = share / (1 - share) * *total * (1 - o->taken);
                if (decide)
                        rate *= sqrt(o->taken);
                rate = CLAMP(rate, LEAST_RATE, MOST_RATE);
                if (share < negligible && o->taken < tuning.kept_share)
                        rate = 0;
                *total = MAX(*total - belief->rate, 0);
                belief->rate = rate;
                *total += belief->rate;
        }
}

void joint_sum_beliefs(Joint *j)
{
        fill(j->beliefs->total, 0, j->problem->node->n_out * sizeof *j->beliefs->total);
        for (gsize k = 0; k < problem_n_all(j->problem); k++)
                j->beliefs->total[j->beliefs->beliefs[k].child] += j->beliefs->beliefs[k].rate;
}

void joint_update_to_learn(Joint *j, guint64 calm)
{
        for (guint32 p = 0; p < j->problem->node->n_in; p++)
                if (is_training_parent(j->problem, p))
                        update_beliefs(j, p,
                                       j->problem->concurrency[p] <= calm && is_new(j->problem, p),
                                       0, FALSE);
        joint_sum_beliefs(j);
}

/* Whether a parent's beliefs can change: not if it is the only candidate of all its calls. */
static gboolean is_contested(const Joint *j, guint32 parent)
{
        for (gsize k = j->beliefs->first_belief[parent]; k < j->beliefs->first_belief[parent + 1];
             k++)
                if (n_candidates(j->problem, j->beliefs->beliefs[k].child) > 1)
                        return TRUE;
        return FALSE;
}

/* A parent whose beliefs cannot change is still updated where evidence looks at outputs: the ratios
 * of the other outputs depend on it. */
void joint_update_all(Joint *j, gboolean decide)
{
        gboolean ordered = serving_order_counts(&j->model->evidence.order);

        for (guint32 p = 0; p < j->problem->node->n_in; p++)
                if (ordered || is_contested(j, p))
                        update_beliefs(j, p, FALSE, j->beliefs->negligible, decide);
        joint_sum_beliefs(j);
        j->beliefs->negligible = tuning.negligible;
}

void joint_get_shares(const Joint *j, float *share)
{
        g_autofree gsize *next =
                g_memdup2(j->problem->candidates, j->problem->node->n_out * sizeof *next);

        for (gsize k = 0; k < problem_n_all(j->problem); k++) {
                const Belief *belief = &j->beliefs->beliefs[k];

                share[next[belief->child]++] =
                        n_candidates(j->problem, belief->child) == 1
                                ? 1
                                : belief->rate / j->beliefs->total[belief->child];
        }
}

void beliefs_clear(Beliefs *b)
{
        g_clear_pointer(&b->beliefs, g_free);
        g_clear_pointer(&b->first_belief, g_free);
        g_clear_pointer(&b->total, g_free);
}
