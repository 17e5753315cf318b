/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Belief propagation between the parents of a node's calls; and from beliefs shares, the best
 * parents and probabilities.
 */
#include <math.h>

#include "base/fill.h"
#include "inference/joint.h"

/* The weight of the first shares in a mean with the second ones. Messages that go round in a circle
 * confirm each other and come out too sure, so odds beyond SURE_ODDS count by their eighth root. */
#define FIRST_OPINION (2.0 / 3)
#define SURE_ODDS     2.0

/* Calibration: odds beyond USUAL_ODDS count by their fourth root, then all are raised to 7/8 and
 * divided by a doubt that DOUBT scales. Fitted on generated systems and one captured one
 * (docs/evaluation.md). */
#define USUAL_ODDS 9.0
#define DOUBT      4.0

/* Where beliefs begin, the belief of the assigned parent is ASSIGNED times that of another
 * candidate. */
#define ASSIGNED 100

/* The largest share that a belief may have, unless its parent is the only candidate; and the least
 * share that the trellis may give it. A call may always turn out to be another parent's. */
#define MOST_TAKEN  (1 - 1e-6)
#define LEAST_SHARE 1e-8

/* A call on which a parent's belief has a smaller share is not offered to it. */
#define LEAST_OFFERED 1e-9

/* A belief is given up if its share by the trellis is less than NEGLIGIBLE, or NEGLIGIBLE_AT_FIRST
 * in the first round after beliefs began; but not if its share before was KEPT or more. So each
 * call keeps at least one belief. */
#define NEGLIGIBLE_AT_FIRST 1e-3
#define NEGLIGIBLE          1e-2
#define KEPT                0.1

/* Limits of a message, per ns. */
#define LEAST_RATE 1e-20
#define MOST_RATE  1e10

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

/* A belief begins as one call per lifetime of the parent, and is larger for its assigned
 * children. */
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

/* The share of a belief among the beliefs on its call. */
static inline double taken_by(const Joint *j, const Belief *belief)
{
        if (n_candidates(j, belief->child) == 1)
                return 1;
        return MIN(belief->rate / j->total[belief->child], MOST_TAKEN);
}

/* The sum of the messages on a call, divided by the ratio by which other evidence makes this parent
 * likelier. */
static inline double total_of(const Joint *j, guint32 parent, guint32 child, gboolean has_calls)
{
        if (!has_calls)
                return j->total[child];
        return j->total[child] /
               evidence_call(&j->model->evidence, j, parent, child, BY_BELIEFS, FALSE);
}

/* Updates the messages of one parent: its families are as likely as the model says and as the other
 * parents' messages leave its children to it (formula 3 of docs/model.md). Gives up beliefs with
 * shares below negligible. decide: sharpens the messages. */
static void update_beliefs(Joint *j, guint32 parent, gboolean count, double negligible,
                           gboolean decide)
{
        TrellisParent trellis_parent = joint_trellis_parent(j, parent);
        Belief *beliefs = &j->beliefs[j->first_belief[parent]];
        guint32 n = j->first_belief[parent + 1] - j->first_belief[parent], n_offered = 0;
        gboolean has_calls = evidence_has_calls(&j->model->evidence);

        for (guint32 i = 0; i < n; i++) {
                double taken = beliefs[i].rate > 0 ? taken_by(j, &beliefs[i]) : 0;

                if (taken >= LEAST_OFFERED)
                        j->offered[n_offered++] =
                                (TrellisCall){ .call = j->calls[beliefs[i].child],
                                               .output = j->output[beliefs[i].child],
                                               .belief = i,
                                               .total = total_of(j, parent, beliefs[i].child,
                                                                 has_calls),
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
                /* share : 1 - share is this rate : sum of the other candidates' messages. */
                rate = share / (1 - share) * *total * (1 - o->taken);
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

void joint_update_to_learn(Joint *j, guint64 calm)
{
        for (guint32 p = 0; p < j->node->n_in; p++)
                if (is_training_parent(j, p))
                        update_beliefs(j, p, j->concurrency[p] <= calm && is_new(j, p), 0, FALSE);
        joint_sum_beliefs(j);
}

/* Whether a parent's beliefs can change. They cannot where it is the only candidate of all its
 * calls. */
static gboolean is_contested(const Joint *j, guint32 parent)
{
        for (gsize k = j->first_belief[parent]; k < j->first_belief[parent + 1]; k++)
                if (n_candidates(j, j->beliefs[k].child) > 1)
                        return TRUE;
        return FALSE;
}

/* A parent whose beliefs cannot change is still updated where evidence looks at outputs, as the
 * ratios of the other outputs depend on it. */
void joint_update_all(Joint *j, gboolean decide)
{
        gboolean ordered = evidence_has_outputs(&j->model->evidence);

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

/* --- calibration -------------------------------------------------------------- */

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

/* How much surer the first shares are than the second: the mean share of the best candidate of each
 * call with a choice, less the mean share of the same candidates by `other`. */
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
