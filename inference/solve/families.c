/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The probability of a family: a call into the node made exactly the children that it was given.
 *
 * The probabilities of its members depend on each other. Where two parents swapped a call, four
 * members are wrong by one error. The drawings of the Markov chain show how much. The uncertainty
 * of a family is the negative logarithm of the share of drawings that have it whole. It is a part
 * of the sum of its members' uncertainties. Calibration makes members less certain than drawings
 * do, and the same part of that uncertainty is left. Some calls go astray whatever their shares
 * are. They do so together, so the probability of a family is lowered for them once.
 */
#include "inference/solve/families.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "inference/learn/calibrate.h"
#include "inference/model/kinds.h"
#include "inference/model/tuning.h"
#include "inference/search/assignment.h"

/* The likelihood of one parent's family, while calls are counted in. Its members are all calls that
 * it is a candidate of, in the family or not. */
typedef struct {
        Drawings drawn;  /* drawings in which all members are as they are */
        double product;  /* of the probabilities of its members, if they did not go astray */
        double separate; /* of the members' shares of the drawings */
        double least;    /* the least probability of a member, which no family exceeds */
} Likelihood;

/* The uncertainty of a family by drawings: as a whole, and as the sum of its members' own. */
typedef struct {
        double whole, separate; /* nats */
} Uncertainty;

/* The probability of a candidate, if the call did not go astray. */
static double without_error_rate(const Joint *j, guint32 call, gsize candidate)
{
        double error_rate = j->scores->error_rate;

        return MAX((double)j->scores->share[candidate] -
                           error_rate / n_candidates(j->problem, call),
                   0) /
               (1 - error_rate);
}

/* Rescales the probabilities of the other candidates of a call, so that all add up to 1. Each is
 * multiplied by factor, then `even` is added. Calibration lowers the parent's probability, but
 * gives the difference to nobody. */
typedef struct {
        double factor, even;
} Remainder;

static Remainder find_remainder(const Joint *j, guint32 call)
{
        double own = 0, others = 0;
        guint32 n = 0;

        for (gsize k = j->problem->candidates[call]; k < j->problem->candidates[call + 1]; k++)
                if (j->problem->candidate[k] == j->assignment->parent[call]) {
                        own = without_error_rate(j, call, k);
                } else {
                        others += without_error_rate(j, call, k);
                        n++;
                }
        if (others > 1 - own)
                return (Remainder){ MAX(1 - own, 0) / others, 0 };
        return (Remainder){ 1, n > 0 ? (1 - own - others) / n : 0 };
}

/* The drawings in which a call has any parent. */
static Drawings all_drawings(const Joint *j, guint32 call)
{
        Drawings all = { 0, 0 };

        for (gsize k = j->problem->candidates[call];
             j->scores->drawn && k < j->problem->candidates[call + 1]; k++) {
                all.warm |= j->scores->drawn[k].warm;
                all.cold |= j->scores->drawn[k].cold;
        }
        return all;
}

/* A share of drawings, never 0: what was not drawn may be rare. */
static double drawn_share(guint n, guint of)
{
        return (n + 0.5) / (of + 0.5);
}

/* Counts a call into the families of its candidates. */
static void count_call(const Joint *j, guint32 call, Likelihood *likelihoods)
{
        Remainder remainder = find_remainder(j, call);
        Drawings all = all_drawings(j, call);
        guint n_all = drawings_count(all);

        for (gsize k = j->problem->candidates[call]; k < j->problem->candidates[call + 1]; k++) {
                Likelihood *l = &likelihoods[j->problem->candidate[k]];
                gboolean is_parent = j->problem->candidate[k] == j->assignment->parent[call];
                double share = without_error_rate(j, call, k), p;

                p = is_parent ? share : MAX(1 - share * remainder.factor - remainder.even, 0);
                l->product *= p;
                l->least = MIN(l->least, p);
                if (n_all == 0)
                        continue;
                Drawings as_it_is = j->scores->drawn[k];

                if (!is_parent) {
                        as_it_is.warm ^= all.warm;
                        as_it_is.cold ^= all.cold;
                }
                l->drawn.warm &= as_it_is.warm;
                l->drawn.cold &= as_it_is.cold;
                l->separate *= drawn_share(drawings_count(as_it_is), n_all);
        }
}

static Uncertainty uncertainty_of(const Likelihood *l)
{
        if (l->drawn.warm == G_MAXUINT64) /* no member was drawn */
                return (Uncertainty){ 0, 0 };
        return (Uncertainty){ -log(drawn_share(drawings_count(l->drawn), JOINT_DRAWN * 2)),
                              -log(l->separate) };
}

/* The probability of a family. usual is the ratio of whole to separate uncertainty over all
 * families. It counts where drawings leave little uncertainty. */
static double probability_of(const Likelihood *l, double usual, double error_rate)
{
        Uncertainty own = uncertainty_of(l);
        double part =
                (own.whole + tuning.family_doubt * usual) / (own.separate + tuning.family_doubt);

        return l->least < 1 ? (1 - error_rate) * MIN(pow(l->product, part), l->least) : 1;
}

static void find_probabilities(const Joint *j, const Likelihood *likelihoods, double *probability)
{
        Uncertainty all = { 0, 0 };
        double usual;

        for (guint32 p = 0; p < j->problem->node->n_in; p++) {
                Uncertainty own = uncertainty_of(&likelihoods[p]);

                all.whole += own.whole;
                all.separate += own.separate;
        }
        usual = all.whole < all.separate ? all.whole / all.separate : 1;
        for (guint32 p = 0; p < j->problem->node->n_in; p++)
                probability[p] = probability_of(&likelihoods[p], usual, j->scores->error_rate);
}

/* --- twins ------------------------------------------------------------------- */

static int compare_calls(const void *a, const void *b, void *data)
{
        const Joint *j = data;
        guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
        const CallIn *in = j->problem->node->in;

        return COMPARE(in[x].reply, in[y].reply) ?: COMPARE(j->kinds->kind[x], j->kinds->kind[y]);
}

/* Nothing tells n twins apart: calls into the node of one kind with the same enter and reply. Each
 * may as well have the family of another, so each gets at most the mean probability. */
static void share_among_twins(const Joint *j, double *probability, const guint32 *twin, guint32 n)
{
        double childless = 0,
               other = 0; /* sums of the probabilities of no child, and of another family */

        for (guint32 i = 0; i < n; i++) {
                double p = probability[twin[i]];

                other += 1 - p;
                childless += j->assignment->first[twin[i]] == NO_PARENT ? p : 1 - p;
        }
        for (guint32 i = 0; i < n; i++) {
                double *p = &probability[twin[i]];
                double sum =
                        j->assignment->first[twin[i]] == NO_PARENT ? childless : other + 2 * *p - 1;

                *p = MIN(*p, sum / n);
        }
}

/* Finds the twins among n calls that entered together. */
static void find_twins(const Joint *j, double *probability, guint32 *calls, guint32 n)
{
        guint32 end;

        qsort_r(calls, n, sizeof *calls, compare_calls, (void *)j);
        for (guint32 i = 0; i < n; i = end) {
                for (end = i + 1; end < n && compare_calls(&calls[i], &calls[end], (void *)j) == 0;)
                        end++;
                if (end > i + 1)
                        share_among_twins(j, probability, calls + i, end - i);
        }
}

static void find_all_twins(const Joint *j, double *probability)
{
        g_autofree guint32 *together = g_new(guint32, j->problem->node->n_in);
        guint32 n;

        for (guint32 p = 0; p < j->problem->node->n_in; p += n) {
                n = 0;
                do {
                        together[n] = p + n;
                        n++;
                } while (p + n < j->problem->node->n_in &&
                         j->problem->node->in[p].enter == j->problem->node->in[p + n].enter);
                if (n > 1)
                        find_twins(j, probability, together, n);
        }
}

void joint_find_families(const Joint *j, guint32 first, guint32 end, float *family)
{
        guint32 n_in = j->problem->node->n_in;
        g_autofree Likelihood *likelihoods = NULL;
        g_autofree double *probability = NULL;

        if (j->problem->n_choice == 0)
                return;
        likelihoods = g_new(Likelihood, n_in);
        probability = g_new(double, n_in);
        for (guint32 p = 0; p < n_in; p++)
                likelihoods[p] = (Likelihood){ { G_MAXUINT64, G_MAXUINT64 }, 1, 1, 1 };
        for (guint32 i = first; i < end; i++)
                if (n_candidates(j->problem, i) > 1 && problem_decides(j->problem, i))
                        count_call(j, i, likelihoods);
        find_probabilities(j, likelihoods, probability);
        find_all_twins(j, probability);
        for (guint32 p = 0; p < n_in; p++)
                family[p] *= (float)probability[p];
}
