/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Claims of parents on calls, and what follows from them: shares, the best parents, and
 * probabilities.
 */
#include <math.h>

#include "base/fill.h"
#include "inference/joint.h"

/* The weight of the first of two opinions. Claims that agree in a circle are surer of each other
 * than they should be: what goes beyond some odds counts by the eighth root. */
#define FIRST_OPINION (2.0 / 3)
#define SURE_ODDS     2.0

/* Probabilities: odds to the power of 7/8, before that beyond some by the fourth root, divided by
 * doubt; as they came out on generated systems (docs/evaluation.md). */
#define USUAL_ODDS 9.0
#define DOUBT      4.0

/* The belief of a call's parent in an assignment, as a multiple of those of its other
 * candidates, where beliefs begin. */
#define ASSIGNED 100

/* No belief has a larger share, but that of the only candidate: it can be lost. */
#define MOST_TAKEN  (1 - 1e-6)
#define LEAST_SHARE 1e-8

/* A parent is not offered what it has less of than this. */
#define LEAST_OFFERED 1e-9

/* A belief of a smaller share by the trellis is given up, in the first round after beliefs began
 * and later, unless it had a share of KEPT: so each call keeps one. */
#define NEGLIGIBLE_AT_FIRST 1e-3
#define NEGLIGIBLE          1e-2
#define KEPT                0.1

/* Per ns. */
#define LEAST_RATE 1e-20
#define MOST_RATE  1e10

/* Gives each candidate a belief, in the order of parents. */
void joint_make_beliefs(Joint *j)
{
        guint32 n_in = j->node->n_in, n_out = j->node->n_out;
        gsize n = j->candidates[n_out], *end;

        j->first_belief = g_new0(gsize, n_in + 2);
        end = j->first_belief + 1;
        for (gsize k = 0; k < n; k++)
                end[j->candidate[k] + 1]++;
        for (guint32 p = 0; p < n_in; p++) {
                joint_make_room(j, end[p + 1]);
                end[p + 1] += end[p];
        }
        j->beliefs = g_new(Belief, n);
        for (guint32 i = 0; i < n_out; i++)
                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++)
                        j->beliefs[end[j->candidate[k]]++].child = i;
        j->total = g_new(double, n_out);
}

/* --- beliefs --------------------------------------------------------------- */

/* Claims as an assignment makes them: alike in a parent's life, but for its children. */
void joint_start_beliefs(Joint *j)
{
        j->negligible = NEGLIGIBLE_AT_FIRST;
        fill(j->total, 0, j->node->n_out * sizeof *j->total);
        for (guint32 p = 0; p < j->node->n_in; p++) {
                const CallIn *in = &j->node->in[p];
                double rate = 1.0 / (double)(MAX(in->reply - in->enter, 0) + 1000);

                for (gsize k = j->first_belief[p]; k < j->first_belief[p + 1]; k++) {
                        Belief *belief = &j->beliefs[k];

                        belief->rate = rate * (j->parent[belief->child] == p ? ASSIGNED : 1);
                        j->total[belief->child] += belief->rate;
                }
        }
}

/* The share that a belief has. */
static inline double taken_by(const Joint *j, const Belief *belief)
{
        if (n_candidates(j, belief->child) == 1)
                return 1;
        return MIN(belief->rate / j->total[belief->child], MOST_TAKEN);
}

/* A parent beliefs again, what it may have done being as likely as the others leave it that, and
 * gives up beliefs of shares less than negligible. decide: a belief counts for more the larger a
 * share it had. */
static void update_beliefs(Joint *j, guint32 parent, gboolean count, double negligible,
                           gboolean decide)
{
        TrellisParent trellis_parent = joint_trellis_parent(j, parent);
        Belief *beliefs = &j->beliefs[j->first_belief[parent]];
        guint32 n = j->first_belief[parent + 1] - j->first_belief[parent], n_offered = 0;

        for (guint32 i = 0; i < n; i++) {
                double taken = beliefs[i].rate > 0 ? taken_by(j, &beliefs[i]) : 0;

                if (taken >= LEAST_OFFERED)
                        j->offered[n_offered++] =
                                (TrellisCall){ .call = j->calls[beliefs[i].child],
                                               .output = j->output[beliefs[i].child],
                                               .belief = i,
                                               .total = j->total[beliefs[i].child],
                                               .taken = taken };
        }
        if (!trellis_find_shares(&j->trellis, &j->model->walk, &trellis_parent, j->offered,
                                 n_offered, count))
                return;
        for (guint32 k = 0; k < n_offered; k++) {
                const TrellisCall *o = &j->offered[k];
                Belief *belief = &beliefs[o->belief];
                double *total = &j->total[belief->child];
                double share = CLAMP(o->share, LEAST_SHARE, MOST_TAKEN), rate;

                if (o->taken == 1)
                        continue;
                /* It is made at this rate if share : 1 - share is rate : what others belief. */
                rate = share / (1 - share) * o->total * (1 - o->taken);
                if (decide)
                        rate *= sqrt(o->taken);
                rate = CLAMP(rate, LEAST_RATE, MOST_RATE);
                if (share < negligible && o->taken < KEPT)
                        rate = 0;
                *total = MAX(*total - belief->rate, 0);
                belief->rate = rate;
                *total += belief->rate;
        }
}

void joint_sum_beliefs(Joint *j)
{
        fill(j->total, 0, j->node->n_out * sizeof *j->total);
        for (gsize k = 0; k < j->candidates[j->node->n_out]; k++)
                j->total[j->beliefs[k].child] += j->beliefs[k].rate;
}

/* All parents belief again, or, learning, those that teach; of the calm ones is counted what they
 * do. */
void joint_update_to_learn(Joint *j, guint64 calm)
{
        for (guint32 p = 0; p < j->node->n_in; p++)
                if (teaches(j, p))
                        update_beliefs(j, p, j->concurrency[p] <= calm && is_new(j, p), 0, FALSE);
        joint_sum_beliefs(j);
}

/* Whether a parent's beliefs can change: not where they are the only ones on its calls. */
static gboolean is_contested(const Joint *j, guint32 parent)
{
        for (gsize k = j->first_belief[parent]; k < j->first_belief[parent + 1]; k++)
                if (n_candidates(j, j->beliefs[k].child) > 1)
                        return TRUE;
        return FALSE;
}

/* All belief again, for nothing to be learned. Those whose beliefs cannot change do so only for the
 * order of others. */
void joint_update_all(Joint *j, gboolean decide)
{
        gboolean ordered = j->trellis.order && j->trellis.order->in_use;

        for (guint32 p = 0; p < j->node->n_in; p++)
                if (ordered || is_contested(j, p))
                        update_beliefs(j, p, FALSE, j->negligible, decide);
        joint_sum_beliefs(j);
        j->negligible = NEGLIGIBLE;
}

void joint_get_shares(const Joint *j, float *share)
{
        g_autofree gsize *next = g_memdup2(j->candidates, j->node->n_out * sizeof *next);

        for (gsize k = 0; k < j->candidates[j->node->n_out]; k++) {
                const Belief *belief = &j->beliefs[k];

                share[next[belief->child]++] = n_candidates(j, belief->child) == 1
                                                       ? 1
                                                       : belief->rate / j->total[belief->child];
        }
}

void joint_assign_best(Joint *j, gboolean second)
{
        for (guint32 i = 0; i < j->node->n_out; i++) {
                guint32 best = NO_PARENT, next = NO_PARENT;
                float most = -1, less = -1;

                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++) {
                        guint32 p = j->candidate[k];

                        if (j->score[k] > most) {
                                less = most;
                                next = best;
                                most = j->score[k];
                                best = p;
                        } else if (j->score[k] > less) {
                                less = j->score[k];
                                next = p;
                        }
                }
                j->parent[i] = second && next != NO_PARENT ? next : best;
        }
        joint_link_children(j);
}

/* --- trust ------------------------------------------------------------------- */

static double odds_of(double share)
{
        return share / MAX(1 - share, 1e-9);
}

static double fourth_root(double x)
{
        return sqrt(sqrt(x));
}

void joint_ask_again(Joint *j, float *second, float *both)
{
        joint_assign_best(j, TRUE);
        joint_start_beliefs(j);
        for (guint round = 0; round < SETTLE; round++)
                joint_update_all(j, FALSE);
        joint_get_shares(j, second);
        for (guint32 i = 0; i < j->node->n_out; i++) {
                double sum = 0;

                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++) {
                        double odds = odds_of(FIRST_OPINION * j->share[k] +
                                              (1 - FIRST_OPINION) * second[k]);

                        if (odds > SURE_ODDS)
                                odds = SURE_ODDS * sqrt(fourth_root(odds / SURE_ODDS));
                        sum += both[k] = odds / (1 + odds);
                }
                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++)
                        both[k] /= sum;
        }
}

/* By how much a node is surer of its calls' parents than the other opinion bears out: the mean
 * share of the best ones of calls with a choice, less that of the same by the other. */
static double overconfidence(const Joint *j, const float *other)
{
        double excess = 0;

        for (guint32 i = 0; i < j->node->n_out; i++) {
                gsize best;

                if (n_candidates(j, i) <= 1)
                        continue;
                best = joint_best_candidate(j, i, j->share);
                excess += j->share[best] - other[best];
        }
        return MAX(excess, 0) / j->n_choice;
}

void joint_calibrate(Joint *j, const float *second)
{
        double excess = overconfidence(j, second), doubt = DOUBT * excess * sqrt(excess);

        for (guint32 i = 0; i < j->node->n_out; i++) {
                guint32 n = n_candidates(j, i);

                for (gsize k = j->candidates[i]; n > 1 && k < j->candidates[i + 1]; k++) {
                        double odds = odds_of(j->share[k]);

                        if (odds > USUAL_ODDS)
                                odds = USUAL_ODDS * fourth_root(odds / USUAL_ODDS);
                        if (odds > 0)
                                odds /= sqrt(fourth_root(odds)) * (1 + doubt * (n - 2));
                        j->share[k] = odds / (1 + odds);
                }
        }
}
