/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/calibrate.h"

#include <math.h>

#include "inference/assignment.h"
#include "inference/beliefs.h"
#include "inference/node-model.h"
#include "inference/tuning.h"

void scores_init(Scores *s, const Problem *p)
{
        gsize n = problem_n_all(p);

        s->share = g_new(float, n + 1);
        s->score = g_new(float, n + 1);
        for (gsize k = 0; k < n; k++)
                s->share[k] = s->score[k] = 1;
}

void scores_clear(Scores *s)
{
        g_clear_pointer(&s->share, g_free);
        g_clear_pointer(&s->score, g_free);
        g_clear_pointer(&s->drawn, g_free);
}

/* --- shares ---------------------------------------------------------------------- */

static double odds_of(double share)
{
        return share / MAX(1 - share, 1e-9);
}

static double fourth_root(double x)
{
        return sqrt(sqrt(x));
}

/* Runs belief propagation again from the second best parent of each call. second: the shares it
 * comes to, by candidate. both: a mean of these and the first shares. */
static void ask_again(Joint *j, float *second, float *both)
{
        assignment_take_best(j->assignment, j->problem, j->scores->score, TRUE);
        joint_start_beliefs(j);
        for (guint round = 0; round < SETTLE; round++)
                joint_update_all(j, FALSE);
        joint_get_shares(j, second);
        for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                double sum = 0;

                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++) {
                        double odds = odds_of(FIRST_OPINION * j->scores->share[k] +
                                              (1 - FIRST_OPINION) * second[k]);

                        if (odds > SURE_ODDS)
                                odds = SURE_ODDS * sqrt(fourth_root(odds / SURE_ODDS));
                        sum += both[k] = odds / (1 + odds);
                }
                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++)
                        both[k] /= sum;
        }
}

/* --- calibration -------------------------------------------------------------- */

/* How much surer the first shares are than the second: the mean share of the best candidate of each
 * call with a choice, less the mean share of the same candidates by `other`. */
static double overconfidence(const Joint *j, const float *other)
{
        double excess = 0;

        for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                gsize best;

                if (n_candidates(j->problem, i) <= 1)
                        continue;
                best = problem_best_candidate(j->problem, i, j->scores->share);
                excess += j->scores->share[best] - other[best];
        }
        return MAX(excess, 0) / j->problem->n_choice;
}

/* Calibration: turns shares into probabilities. The less the second shares agree, the lower these
 * are. */
static void calibrate(Joint *j, const float *second)
{
        double excess = overconfidence(j, second), doubt = DOUBT * excess * sqrt(excess);

        for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                guint32 n = n_candidates(j->problem, i);

                for (gsize k = j->problem->candidates[i];
                     n > 1 && k < j->problem->candidates[i + 1]; k++) {
                        double odds = odds_of(j->scores->share[k]);

                        if (odds > USUAL_ODDS)
                                odds = USUAL_ODDS * fourth_root(odds / USUAL_ODDS);
                        if (odds > 0)
                                odds /= sqrt(fourth_root(odds)) * (1 + doubt * (n - 2));
                        j->scores->share[k] = odds / (1 + odds);
                }
        }
}

/* --- shares and scores ------------------------------------------------------- */

/* Draws JOINT_DRAWN assignments, a sweep apart, with the bits from `first` on. */
static void draw(Sampler *chain, Drawings *drawn, Drawings first)
{
        for (guint i = 0; i < JOINT_DRAWN; i++) {
                sampler_run(chain, 1);
                sampler_note(chain, drawn, (Drawings){ first.warm << i, first.cold << i });
        }
}

/* Finds shares and scores from drawings of the chain and from beliefs, and calibrates the shares.
 * The more candidates of a call are about as good, the more the beliefs weigh, since the drawings
 * tell many candidates apart badly. */
static void find_scores(Joint *j)
{
        gsize n = problem_n_all(j->problem);
        g_autofree float *second = g_new(float, n), *both = g_new(float, n);
        g_autofree guint32 *first = NULL;
        Sampler *chain;

        j->scores->drawn = g_new0(Drawings, n);
        ask_again(j, second, both);
        assignment_take_best(j->assignment, j->problem, j->scores->score, FALSE);
        first = g_memdup2(j->assignment->parent, j->problem->node->n_out * sizeof *first);
        chain = sampler_new(j, both, FALSE);
        sampler_run(chain, WARM_UP);
        draw(chain, j->scores->drawn, (Drawings){ .warm = 1 });
        sampler_cool(chain, COLD);
        sampler_run(chain, COOL_DOWN);
        draw(chain, j->scores->drawn, (Drawings){ .cold = 1 });
        sampler_free(chain);
        for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                double squares = 0, prior;
                guint drawn = 0;

                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++) {
                        squares += (double)both[k] * both[k];
                        drawn += drawings_count(j->scores->drawn[k]);
                }
                prior = sampler_prior(squares);
                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++)
                        j->scores->share[k] = j->scores->score[k] =
                                (drawings_count(j->scores->drawn[k]) + prior * both[k] +
                                 FIRST_DRAWINGS * (j->problem->candidate[k] == first[i])) /
                                (drawn + prior + FIRST_DRAWINGS);
        }
        calibrate(j, second);
}

void joint_settle(Joint *j)
{
        evidence_unwatch_unused(&j->model->evidence);
        for (guint round = 0; round < SETTLE; round++) {
                joint_update_all(j, FALSE);
                problem_done(j->problem, LEARNT + (1 - LEARNT) * (round + 1) / (SETTLE + DECIDE));
        }
        joint_get_shares(j, j->scores->share);
        for (guint round = 0; round < DECIDE; round++) {
                joint_update_all(j, TRUE);
                problem_done(j->problem,
                             LEARNT + (1 - LEARNT) * (SETTLE + round + 1) / (SETTLE + DECIDE));
        }
        joint_get_shares(j, j->scores->score);
        find_scores(j);
}
