/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/evidence/lease-chances.h"

#include <math.h>

#include "inference/evidence/lease-spans.h"
#include "inference/model/tuning.h"

#define SQRT2 1.4142135623730951

/* The ratio of the next call if another parent made it. open: whether the parent of the first call
 * may have made it. */
static double ratio_of_other(const LeaseTable *t, Before before, gboolean open)
{
        return t->other[situation(before, open)];
}

/* Sums by candidate of the next call: weight times ratio over the candidates of this call. */
static void step_forward(const Leases *l, guint32 call, guint32 next, const float *weight,
                         double *out)
{
        const Joint *j = l->j;
        const LeaseTable *t = table_of(l, next);
        Before before = before_of(l, next);
        gsize n = j->problem->candidates[next + 1], first = j->problem->candidates[next];
        double all = 0, open = 0;

        for (gsize k = first; k < n; k++)
                out[k - first] = 0;
        for (gsize k = j->problem->candidates[call]; k < j->problem->candidates[call + 1]; k++) {
                gsize same = problem_find_candidate(j->problem, next, j->problem->candidate[k]);

                all += weight[k];
                if (same == G_MAXSIZE)
                        continue;
                open += weight[k];
                out[same - first] = weight[k] * (t->ratio[situation(before, TRUE)][HOLDS] -
                                                 ratio_of_other(t, before, TRUE));
        }
        for (gsize k = first; k < n; k++)
                out[k - first] += open * ratio_of_other(t, before, TRUE) +
                                  MAX(all - open, 0) * ratio_of_other(t, before, FALSE);
}

/* Sums by candidate of a call: weight times ratio over the candidates of the next call. */
static void step_backward(const Leases *l, guint32 call, guint32 next, const float *weight,
                          double *out)
{
        const Joint *j = l->j;
        const LeaseTable *t = table_of(l, next);
        Before before = before_of(l, next);
        double all = 0;

        for (gsize k = j->problem->candidates[next]; k < j->problem->candidates[next + 1]; k++)
                all += weight[k];
        for (gsize k = j->problem->candidates[call]; k < j->problem->candidates[call + 1]; k++) {
                gsize same = problem_find_candidate(j->problem, next, j->problem->candidate[k]);

                out[k - j->problem->candidates[call]] =
                        same == G_MAXSIZE
                                ? all * ratio_of_other(t, before, FALSE)
                                : weight[same] * t->ratio[situation(before, TRUE)][HOLDS] +
                                          MAX(all - weight[same], 0) *
                                                  ratio_of_other(t, before, TRUE);
        }
}

/* Scales weights of the candidates of a call to a sum of 1. FALSE if they are 0. */
static gboolean scale(const Joint *j, guint32 call, float *weight)
{
        double sum = 0;

        for (gsize k = j->problem->candidates[call]; k < j->problem->candidates[call + 1]; k++)
                sum += weight[k];
        for (gsize k = j->problem->candidates[call];
             sum > 0 && k < j->problem->candidates[call + 1]; k++)
                weight[k] /= sum;
        return sum > 0;
}

/* Whether a call and the one before on its connection are evidence for each other. A call without
 * candidates is not: its parent was under way when the capture began or ended. */
static gboolean is_linked(const Leases *l, guint32 call)
{
        const Problem *p = l->j->problem;
        guint32 before = l->actual.before[call];

        return before != NO_PARENT && table_of(l, call)->in_use && n_candidates(p, call) > 0 &&
               n_candidates(p, before) > 0;
}

/* Finds by call the number of calls in a row that one parent made: the calls of its lease, or of a
 * mean run. To be freed with g_free(). */
static float *find_runs(const Leases *l)
{
        guint32 n_out = l->j->problem->node->n_out;
        float *run = g_new(float, n_out);
        g_autofree guint32 *first = g_new(guint32, n_out), *n = g_new0(guint32, n_out);

        for (guint32 i = 0; i < n_out; i++) {
                gboolean joined = lease_spans_join(l->j, &l->actual, i, table_of(l, i)->leased);

                first[i] = joined ? first[l->actual.before[i]] : i;
                n[first[i]]++;
        }
        for (guint32 i = 0; i < n_out; i++)
                run[i] = n[first[i]] > 1 || table_of(l, i)->leased == LEASED_WHOLE
                                 ? (float)n[first[i]]
                                 : (float)table_of(l, i)->run;
        return run;
}

/* Prepares the chances of a call by itself; a first call also counts the opening. The calls of a
 * run repeat the same evidence, as each of them was judged by the others. For a run of about 2^n
 * calls the root is taken n times, so that together they count as one. */
static void take_chances(const Leases *l, guint32 call, double run, float *chance)
{
        const Joint *j = l->j;
        const LeaseTable *t = table_of(l, call);
        gboolean opened = before_of(l, call) == OPENED;

        for (gsize k = j->problem->candidates[call]; k < j->problem->candidates[call + 1]; k++) {
                double root = MAX(chance[k], tuning.lease_least_chance);

                for (double n = run; n > SQRT2; n /= 2)
                        root = sqrt(root);
                chance[k] = (float)root;
                if (opened)
                        chance[k] *= t->ratio[situation(OPENED, FALSE)][standing_at_opening(
                                l, &l->actual, call, j->problem->candidate[k], FRESH)];
        }
        scale(j, call, chance);
}

void leases_refine(const Leases *l, float *chance)
{
        const Joint *j = l->j;
        guint32 n_out = j->problem->node->n_out, most = 1;
        g_autofree float *run = find_runs(l), *backward = NULL;
        g_autofree double *sum = NULL;

        for (guint32 i = 0; i < n_out; i++) {
                most = MAX(most, n_candidates(j->problem, i));
                if (table_of(l, i)->in_use)
                        take_chances(l, i, (double)run[i], chance);
        }
        backward = g_memdup2(chance, j->problem->candidates[n_out] * sizeof *chance);
        sum = g_new(double, most);
        for (guint32 i = 0; i < n_out; i++) {
                if (!is_linked(l, i))
                        continue;
                step_forward(l, l->actual.before[i], i, chance, sum);
                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++)
                        chance[k] *= sum[k - j->problem->candidates[i]];
                scale(j, i, chance);
        }
        for (guint32 i = n_out; i-- > 0;) {
                guint32 next = l->after[i];

                if (next == NO_PARENT || !is_linked(l, next))
                        continue;
                step_backward(l, i, next, backward, sum);
                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++) {
                        backward[k] *= sum[k - j->problem->candidates[i]];
                        chance[k] *= sum[k - j->problem->candidates[i]];
                }
                scale(j, i, backward);
                scale(j, i, chance);
        }
}
