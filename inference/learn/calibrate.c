/* SPDX-License-Identifier: BSD-2-Clause
 *
 * calibrate.h lists the steps; docs/model.md, "How probabilities come out", explains them.
 */
#include "inference/learn/calibrate.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "inference/model/kinds.h"
#include "inference/model/node-model.h"
#include "inference/model/tuning.h"
#include "inference/search/assignment.h"
#include "inference/search/beliefs.h"
#include "inference/search/family.h"

void scores_init(Scores *s, const Problem *p)
{
        gsize n = problem_n_all(p);

        s->share = g_new(float, n + 1);
        s->score = g_new(float, n + 1);
        s->prior = 1;
        s->error_rate = 0;
        for (gsize k = 0; k < n; k++)
                s->share[k] = s->score[k] = 1;
}

void scores_clear(Scores *s)
{
        g_clear_pointer(&s->share, g_free);
        g_clear_pointer(&s->score, g_free);
        g_clear_pointer(&s->drawn, g_free);
        g_clear_pointer(&s->learned, g_free);
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

static double squares_of(const Problem *p, guint32 call, const float *share)
{
        double sum = 0;

        for (gsize k = p->candidates[call]; k < p->candidates[call + 1]; k++)
                sum += (double)share[k] * share[k];
        return sum;
}

/* Runs belief propagation again from the second best parent of each call. second: the shares it
 * comes to, by candidate. both: a mean of these and the first shares. */
static void ask_again(Joint *j, float *second, float *both)
{
        assignment_take_best(j->assignment, j->problem, j->scores->score, TRUE);
        joint_start_beliefs(j);
        for (guint round = 0; round < tuning.settle_rounds; round++)
                joint_update_all(j, FALSE);
        joint_get_shares(j, second);
        for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                double sum = 0;

                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++) {
                        double odds = odds_of(tuning.first_opinion * j->scores->share[k] +
                                              (1 - tuning.first_opinion) * second[k]);

                        if (odds > tuning.sure_odds)
                                odds = tuning.sure_odds *
                                       sqrt(fourth_root(odds / tuning.sure_odds));
                        sum += both[k] = odds / (1 + odds);
                }
                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++)
                        both[k] /= sum;
        }
}

/* --- calibration -------------------------------------------------------------- */

/* Odds beyond the usual ones first count by their power of 3/4. Then all odds count by their power
 * of 7/8. Drawings of one chain are surer than is right. */
static double temper(double odds)
{
        if (odds > tuning.usual_odds)
                odds /= fourth_root(odds / tuning.usual_odds);
        return odds > 0 ? odds / sqrt(fourth_root(odds)) : 0;
}

/* The means over all calls with a choice that show how far shares can be trusted. */
typedef struct {
        double excess;  /* by how much the first shares exceed the second ones of the same parents,
                           in the mean; 0 where the second ones do not count */
        double unsure;  /* 1 less the share of the best candidate, in the mean */
        double n_alike; /* candidates that are about as good by beliefs, in the mean */
        double dependence; /* of calls into the node; see find_dependence() */
} Trust;

/* The time that a call into the node takes, ns. */
typedef struct {
        gint64 time;
        guint32 kind, call;
} TakenTime;

COMPARISON(compare_times, TakenTime,
           a->kind != b->kind ? COMPARE(a->kind, b->kind) : COMPARE(a->time, b->time))

/* Ranks ordered times of one kind by call, -1 to 1. Equal times have their mean rank. */
static void rank_kind(const TakenTime *taken, guint32 n, double *rank)
{
        for (guint32 i = 0, end; i < n; i = end) {
                for (end = i; end < n && taken[end].time == taken[i].time;)
                        end++;
                for (guint32 k = i; k < end && n > 1; k++)
                        rank[taken[k].call] = (double)(i + end - 1) / (n - 1) - 1;
        }
}

/* By call into the node: the rank of its time among the calls of its kind. */
static double *rank_times(const Joint *j)
{
        const NodeProblem *node = j->problem->node;
        g_autofree TakenTime *taken = g_new(TakenTime, node->n_in + 1);
        double *rank = g_new0(double, node->n_in + 1);

        for (guint32 p = 0; p < node->n_in; p++)
                taken[p] =
                        (TakenTime){ node->in[p].reply - node->in[p].enter, j->kinds->kind[p], p };
        qsort(taken, node->n_in, sizeof *taken, compare_times);
        for (guint32 i = 0, end; i < node->n_in; i = end) {
                for (end = i; end < node->n_in && taken[end].kind == taken[i].kind;)
                        end++;
                rank_kind(taken + i, end - i, rank);
        }
        return rank;
}

/* How far calls into the node depend on each other. The model takes them as independent. The
 * result is the rank correlation between the times that one call and the next take, less its
 * standard deviation by chance, 0 to 1. Queues make neighbours wait alike. */
static double find_dependence(const Joint *j)
{
        g_autofree double *rank = rank_times(j);
        guint32 n = j->problem->node->n_in;
        double products = 0, squares = 0;

        for (guint32 p = 0; p < n; p++) {
                squares += rank[p] * rank[p];
                products += p > 0 ? rank[p] * rank[p - 1] : 0;
        }
        return squares > 0 ? MAX(products / squares - 1 / sqrt(n), 0) : 0;
}

/* How far the model does not fit, 0 to 1. */
static double find_misfit(const Trust *t)
{
        return MIN(t->dependence / tuning.dependent, 1);
}

/* Whether beliefs count against the first parents. They do not if walks are much less likely by the
 * best parents of beliefs: then beliefs only got stuck there. */
static gboolean beliefs_count(Joint *j, const float *beliefs, const float *first)
{
        double log, lost;

        assignment_take_best(j->assignment, j->problem, first, FALSE);
        log = joint_log_of_families(j);
        assignment_take_best(j->assignment, j->problem, beliefs, FALSE);
        lost = (log - joint_log_of_families(j)) / j->problem->n_choice;
        return lost < tuning.second_lost;
}

static Trust find_trust(const Joint *j, const float *second, gboolean counts, const float *beliefs)
{
        const Problem *p = j->problem;
        Trust t = { .dependence = find_dependence(j) };

        for (guint32 i = 0; i < p->node->n_out; i++) {
                gsize best;

                if (n_candidates(p, i) <= 1)
                        continue;
                best = problem_best_candidate(p, i, j->scores->share);
                t.excess += j->scores->share[best] - second[best];
                t.unsure += 1 - (double)j->scores->share[best];
                t.n_alike += 1 / squares_of(p, i, beliefs);
        }
        t.excess = counts ? MAX(t.excess, 0) / p->n_choice : 0;
        t.unsure = MAX(t.unsure, 0) / p->n_choice;
        t.n_alike /= p->n_choice;
        return t;
}

/* The number by which the odds of a call with n candidates are divided. Where order tells families
 * apart, the second shares know little about that order. So they seldom come to where the first
 * ones did, and count less against them. Where the model fits, drawings need no divisor. */
static double find_divisor(const Joint *j, const Trust *t, guint32 n)
{
        double divisor = 1 + tuning.calibration_scale * t->excess * sqrt(t->excess) * (n - 2);

        divisor /= fourth_root(divisor);
        if (serving_order_counts(&j->model->evidence.order))
                divisor = sqrt(divisor);
        divisor *= fourth_root(t->n_alike);
        return 1 + find_misfit(t) * (divisor - 1);
}

/* The part of the calls that look sure and are in error. Calls swap parents, so where many are
 * uncertain, wrong parents took sure ones, too. If the model fits, drawings know this themselves.
 * Leases tie calls together, which are then wrong together. */
static double find_error_rate(const Joint *j, const Trust *t)
{
        double rate =
                tuning.error_rate * t->unsure * sqrt(t->unsure) * (1 + t->dependence * t->unsure);
        double most = tuning.fit_error_rate +
                      (tuning.most_error_rate - tuning.fit_error_rate) * find_misfit(t);

        return MIN(rate, most) +
               (evidence_refines(&j->model->evidence) ? tuning.tied_error_rate : 0);
}

/* Calibration: turns shares into probabilities. */
static void calibrate(Joint *j, const Trust *t)
{
        double error_rate = j->scores->error_rate = find_error_rate(j, t);

        for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                guint32 n = n_candidates(j->problem, i);
                double divisor = n > 1 ? find_divisor(j, t, n) : 1;

                for (gsize k = j->problem->candidates[i];
                     n > 1 && k < j->problem->candidates[i + 1]; k++) {
                        double odds = odds_of(j->scores->share[k]);

                        odds = temper(odds) / divisor;
                        j->scores->share[k] =
                                (float)((1 - error_rate) * odds / (1 + odds) + error_rate / n);
                }
        }
}

/* --- shares and scores ------------------------------------------------------- */

/* Draws n assignments, a sweep apart, with the bits from `first` on. */
static void draw(Sampler *chain, Drawings *drawn, guint n, Drawings first)
{
        for (guint i = 0; i < n; i++) {
                sampler_run(chain, 1);
                sampler_note(chain, drawn, (Drawings){ first.warm << i, first.cold << i });
        }
}

/* Runs a chain from the assignment and draws from it, warm and cold. */
static void run_chain(Joint *j, const float *chance, guint n, Drawings *drawn)
{
        Sampler *chain = sampler_new(j, chance, FALSE);

        sampler_run(chain, tuning.warm_up);
        draw(chain, drawn, n, (Drawings){ .warm = 1 });
        sampler_cool(chain, tuning.cold_power);
        sampler_run(chain, tuning.cool_down);
        draw(chain, drawn, n, (Drawings){ .cold = 1 });
        sampler_free(chain);
}

/* Finds shares from beliefs and from drawings of a chain that began with the parents in first. Few
 * drawings tell many candidates apart badly. So the more candidates of a call are about as good,
 * the more the beliefs weigh. */
static void weigh_drawings(const Joint *j, const Drawings *drawn, const guint32 *first,
                           const float *beliefs, float *share)
{
        for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                double prior =
                        j->scores->prior * sampler_prior(j, squares_of(j->problem, i, beliefs));
                guint n = 0;

                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++)
                        n += drawings_count(drawn[k]);
                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++)
                        share[k] =
                                (drawings_count(drawn[k]) + prior * beliefs[k] +
                                 tuning.first_drawings * (j->problem->candidate[k] == first[i])) /
                                (n + prior + tuning.first_drawings);
        }
}

/* Finds the shares of a chain that begins with the best parents of start. */
static void find_shares(Joint *j, const float *start, const float *beliefs, guint n,
                        Drawings *drawn, float *share)
{
        g_autofree guint32 *first = NULL;

        assignment_take_best(j->assignment, j->problem, start, FALSE);
        first = g_memdup2(j->assignment->parent, j->problem->node->n_out * sizeof *first);
        run_chain(j, beliefs, n, drawn);
        weigh_drawings(j, drawn, first, beliefs, share);
}

/* Leases of connections refine chances. They also tie calls together, so that a chain may never
 * leave its start. A shorter chain that begins with the second shares shows how far that is so.
 * second becomes the shares of that chain. */
static void find_again(Joint *j, float *second, const float *beliefs)
{
        gsize n = problem_n_all(j->problem);
        g_autofree Drawings *drawn = g_new0(Drawings, n);

        evidence_refine(&j->model->evidence, second);
        find_shares(j, second, beliefs, tuning.again_drawn, drawn, second);
}

/* Lets the chain begin with the parents that learning ended with: their scores are 1 greater. Of
 * each chance 90 % stay, and the learned parent gets the other 10 %. Beliefs weigh less if they are
 * far less likely than the learned parents. */
static void begin_as_learned(Joint *j, float *chance)
{
        const Problem *p = j->problem;

        for (guint32 i = 0; i < p->node->n_out; i++)
                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++) {
                        gboolean learned = p->candidate[k] == j->scores->learned[i];

                        j->scores->score[k] = chance[k] + learned;
                }
        j->scores->prior = beliefs_count(j, chance, j->scores->score) ? 1 : tuning.least_prior;
        for (guint32 i = 0; i < p->node->n_out; i++)
                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++)
                        chance[k] =
                                (1 - tuning.learned_part) * chance[k] +
                                tuning.learned_part * (p->candidate[k] == j->scores->learned[i]);
}

/* Finds shares and scores, and calibrates the shares. */
static void find_scores(Joint *j)
{
        gsize n = problem_n_all(j->problem);
        g_autofree float *second = g_new(float, n), *both = g_new(float, n);
        gboolean refined = evidence_refines(&j->model->evidence), counts;
        Trust trust;

        j->scores->drawn = g_new0(Drawings, n);
        ask_again(j, second, both);
        if (refined) {
                evidence_refine(&j->model->evidence, both);
                memcpy(j->scores->score, both, n * sizeof *both);
        }
        if (j->scores->learned)
                begin_as_learned(j, both);
        find_shares(j, j->scores->score, both, JOINT_DRAWN, j->scores->drawn, j->scores->share);
        memcpy(j->scores->score, j->scores->share, n * sizeof *both);
        if (refined)
                find_again(j, second, both);
        counts = beliefs_count(j, second, j->scores->score);
        trust = find_trust(j, second, counts, both);
        calibrate(j, &trust);
}

void joint_settle(Joint *j)
{
        double learnt = problem_learnt(j->problem);
        guint n_rounds = tuning.settle_rounds + tuning.decide_rounds;

        evidence_unwatch_unused(&j->model->evidence);
        for (guint round = 0; round < n_rounds; round++) {
                joint_update_all(j, round >= tuning.settle_rounds);
                if (round + 1 == tuning.settle_rounds)
                        joint_get_shares(j, j->scores->share);
                problem_done(j->problem, learnt + (1 - learnt) * (round + 1) / n_rounds);
        }
        joint_get_shares(j, j->scores->score);
        find_scores(j);
}
