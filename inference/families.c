/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The probability of a family: that a call into the node made exactly the children that it was
 * given.
 *
 * The probabilities of the single children depend on each other. The drawings of the Markov chain
 * say how: the share of drawings that have the whole family, divided by the product of the shares
 * of its members. The drawings are surer of each member than is right, so this ratio multiplies the
 * product of the calibrated probabilities. Without drawings the product stands alone.
 */
#include "inference/families.h"

#include <stdlib.h>

#include "inference/assignment.h"
#include "inference/calibrate.h"
#include "inference/kinds.h"

/* The likelihood of one parent's family, while calls are counted in. Members are the calls that are
 * in the family and the calls that are not. */
typedef struct {
        Drawings drawn;  /* drawings in which all members are as they are */
        double product;  /* of the probabilities of its members */
        double separate; /* of the members' shares of the drawings */
        double least;    /* the least probability of a member: no family is likelier */
} Likelihood;

/* Rescales the probabilities of the other candidates of a call, so that all add up to 1: each is
 * multiplied by factor, then `even` is added. Calibration lowers the parent's probability without
 * saying who gets the difference. */
typedef struct {
        double factor, even;
} Remainder;

static Remainder find_remainder(const Joint *j, guint32 call)
{
        double own = 0, others = 0;
        guint32 n = 0;

        for (gsize k = j->problem->candidates[call]; k < j->problem->candidates[call + 1]; k++)
                if (j->problem->candidate[k] == j->assignment->parent[call]) {
                        own = (double)j->scores->share[k];
                } else {
                        others += (double)j->scores->share[k];
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

/* Counts a call into the families of its candidates. */
static void count_call(const Joint *j, guint32 call, Likelihood *likelihoods)
{
        Remainder remainder = find_remainder(j, call);
        Drawings all = all_drawings(j, call);
        guint n_all = drawings_count(all);

        for (gsize k = j->problem->candidates[call]; k < j->problem->candidates[call + 1]; k++) {
                Likelihood *l = &likelihoods[j->problem->candidate[k]];
                gboolean is_parent = j->problem->candidate[k] == j->assignment->parent[call];
                double share = (double)j->scores->share[k], p;

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
                l->separate *= drawings_count(as_it_is) / (double)n_all;
        }
}

static double probability_of(const Likelihood *l)
{
        guint n_drawn = drawings_count(l->drawn);

        if (l->drawn.warm == G_MAXUINT64) /* no member was drawn */
                return l->product;
        if (n_drawn == 0)
                return 0;
        return MIN(l->product * n_drawn / (JOINT_DRAWN * 2.0) / l->separate, l->least);
}

/* --- twins ------------------------------------------------------------------- */

static int compare_calls(const void *a, const void *b, void *data)
{
        const Joint *j = data;
        guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
        const CallIn *in = j->problem->node->in;

        if (in[x].reply != in[y].reply)
                return in[x].reply < in[y].reply ? -1 : 1;
        return (j->kinds->kind[x] > j->kinds->kind[y]) - (j->kinds->kind[x] < j->kinds->kind[y]);
}

/* Nothing tells n twins apart: calls into the node of one kind with the same enter and reply. Each
 * may as well have the family of another, so each gets the mean probability. */
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
        for (guint32 p = 0; p < n_in; p++)
                probability[p] = probability_of(&likelihoods[p]);
        find_all_twins(j, probability);
        for (guint32 p = 0; p < n_in; p++)
                family[p] *= (float)probability[p];
}
