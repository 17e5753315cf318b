/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/search/assign.h"

#include "base/fill.h"
#include "inference/model/kinds.h"
#include "inference/model/tuning.h"
#include "inference/search/assignment.h"
#include "inference/search/family.h"

/* --- bounds: the delays from a parent's entry and to its reply -------------- */

/* Weighs the candidates of each call by the densities of the delays since their entry and until
 * their reply. The best one has the weight MOST_WEIGHT + 1, the others between that and 1.
 * weight[k] is the sum of the weights of a call up to candidate k. */
static void weigh_candidates(const Joint *j, guint32 *weight)
{
        double power[128] = { MOST_WEIGHT };

        for (guint i = 1; i < G_N_ELEMENTS(power); i++)
                power[i] = power[i - 1] * 0.939413062813476; /* e^(-1/16) */
        for (guint32 child = 0; child < j->problem->node->n_out; child++) {
                guint32 sum = 0;
                const WalkCall *call = &j->kinds->calls[child];
                DelayDensities *bounds = &j->model->bounds;
                guint32 since = j->model->enter_row[call->callee],
                        until = j->model->reply_row[call->callee];
                gsize first = j->problem->candidates[child],
                      end = j->problem->candidates[child + 1];
                gint32 best = G_MININT32;

                for (gsize k = first; k < end; k++) {
                        guint32 p = j->problem->candidate[k];
                        const CallIn *in = &j->problem->node->in[p];
                        gint32 log = delay_densities_log(bounds, until,
                                                         density_bin(in->reply - call->end));

                        if (call->start >= j->problem->start[p])
                                log += delay_densities_log(
                                        bounds, since,
                                        density_bin(call->start - j->problem->start[p]));
                        else
                                log += delay_densities_log(bounds, since,
                                                           density_bin(call->start - in->enter)) -
                                       (tuning.out_of_turn * LOG_UNIT);
                        weight[k] = (guint32)log;
                        best = MAX(best, log);
                }
                for (gsize k = first; k < end; k++) {
                        guint32 below = (guint32)(best - (gint32)weight[k]) / (LOG_UNIT / 16);

                        sum += 1 + (guint32)power[MIN(below, G_N_ELEMENTS(power) - 1)];
                        weight[k] = sum;
                }
        }
}

/* The weight of one candidate, from these sums. */
static inline guint32 weight_of(const Joint *j, const guint32 *weight, guint32 child, gsize k)
{
        return weight[k] - (k > j->problem->candidates[child] ? weight[k - 1] : 0);
}

/* --- the first assignment --------------------------------------------------- */

/* Learns bounds by expectation maximisation, before any parent is known: each call counts for all
 * its candidates, first alike, then by their weights. */
static void learn_bounds(Joint *j, guint32 *weight, guint rounds)
{
        for (guint32 i = 0; i < j->problem->node->n_out; i++)
                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++)
                        weight[k] = 1 + k - j->problem->candidates[i];
        for (guint round = 0; round < rounds; round++) {
                delay_densities_fade(&j->model->bounds);
                for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                        gsize end = j->problem->candidates[i + 1];

                        for (gsize k = j->problem->candidates[i]; k < end; k++)
                                joint_count_bounds(j, i, j->problem->candidate[k],
                                                   weight_of(j, weight, i, k) * DENSITY_COUNT /
                                                           weight[end - 1]);
                }
                delay_densities_learn(&j->model->bounds);
                weigh_candidates(j, weight);
        }
}

/* How much the children that a parent has so far weigh against one child more. Each child to the
 * same callee counts two. A child that has not returned yet adds one in all. last is by parent: its
 * latest child. before is by child: the previous child of the same parent. */
static guint32 count_against(const Joint *j, guint32 child, guint32 parent, const guint32 *last,
                             const guint32 *before)
{
        guint32 k = last[parent], same = 0;
        gboolean waits = FALSE;

        for (guint32 i = 0; i < REMEMBERED && k != NO_PARENT; i++, k = before[k]) {
                same += kinds_same_callee(j->kinds, j->model, j->problem->node, k, child);
                waits |= j->kinds->calls[k].end > j->kinds->calls[child].start;
        }
        return 2 * same + waits;
}

/* Gives each call, in order of start, to the candidate with the greatest weight. The weight is
 * discounted by count_against(). */
static void assign_by_bounds(Joint *j, guint rounds)
{
        guint32 n_out = j->problem->node->n_out, n_in = j->problem->node->n_in;
        g_autofree guint32 *last = g_new(guint32, n_in), *before = g_new(guint32, n_out);
        g_autofree guint32 *weight = g_new(guint32, j->problem->candidates[n_out]);

        learn_bounds(j, weight, rounds);
        fill(last, 0xff, n_in * sizeof *last);
        for (guint32 i = 0; i < n_out; i++) {
                guint32 parent = NO_PARENT;
                double best = 0;

                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++) {
                        guint32 against =
                                count_against(j, i, j->problem->candidate[k], last, before);
                        double score = weight_of(j, weight, i, k) / (1.0 + 4 * against);

                        if (score > best) {
                                best = score;
                                parent = j->problem->candidate[k];
                        }
                }
                j->assignment->parent[i] = parent;
                if (parent == NO_PARENT)
                        continue;
                before[i] = last[parent];
                last[parent] = i;
        }
        assignment_link(j->assignment);
}

void joint_assign_first(Joint *j)
{
        if (j->problem->node->truth) /* the oracle: what is tried is judged by true parents */
                assignment_take_truth(j->assignment, j->problem);
        else
                assign_by_bounds(j, tuning.bounds_rounds);
}

void joint_assign_anew(Joint *j, guint rounds)
{
        delay_densities_forget(&j->model->bounds);
        delay_densities_learn(&j->model->bounds);
        assign_by_bounds(j, rounds);
}

/* --- assignment in the order of time --------------------------------------- */

/* A parent at the time that the assignment has come to. */
typedef struct {
        WalkPlace at;
        guint32 open; /* the child that returns next, or NO_PARENT */
        gint64 start; /* it waits until then; G_MAXINT64: no more */
} Way;

/* A parent before its first call. */
static Way begin_way(Joint *j, guint32 p)
{
        ParentWalk *w = &j->model->walk;
        gint64 enter = j->problem->node->in[p].enter;

        if (problem_waited(j->problem, p))
                return (Way){ parent_walk_wait(w, j->kinds->kind[p], enter), NO_PARENT,
                              j->problem->start[p] };
        return (Way){ parent_walk_start(w, j->kinds->kind[p], enter), NO_PARENT, G_MAXINT64 };
}

/* Moves p over its start and the returns up to a time. later[i] is the open child of the same
 * parent that returns next after child i. */
static void advance(Joint *j, Way *p, const guint32 *later, gint64 time)
{
        if (p->start <= time) {
                p->at = parent_walk_take(&j->model->walk, p->at, p->start);
                p->start = G_MAXINT64;
        }
        for (; p->open != NO_PARENT && j->kinds->calls[p->open].end <= time;
             p->open = later[p->open])
                p->at = parent_walk_return(&j->model->walk, p->at, j->kinds->calls[p->open].callee,
                                           j->kinds->calls[p->open].end);
}

/* Gives each call, in order of start, to the likeliest candidate. Its score is the hazard of making
 * the call now, given its earlier children, times the density of the delay until its reply. */
void joint_assign_in_time(Joint *j)
{
        guint32 n_in = j->problem->node->n_in, n_out = j->problem->node->n_out;
        gboolean has_calls = evidence_has_calls(&j->model->evidence);
        g_autofree guint32 *later = g_new(guint32, n_out);
        g_autofree Way *ways = g_new(Way, n_in);

        parent_walk_learn_survival(&j->model->walk);
        for (guint32 p = 0; p < n_in; p++)
                ways[p] = begin_way(j, p);
        for (guint32 i = 0; i < n_out; i++) {
                const WalkCall *call = &j->kinds->calls[i];
                guint32 rest = j->model->reply_row[call->callee];
                gint32 best = G_MININT32;
                guint32 parent = NO_PARENT, *open;
                Way *way;

                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++) {
                        guint32 p = j->problem->candidate[k];
                        gint32 log;

                        advance(j, &ways[p], later, call->start);
                        log = parent_walk_hazard(&j->model->walk, ways[p].at, call->callee,
                                                 call->start) +
                              delay_densities_log(
                                      &j->model->bounds, rest,
                                      density_bin(j->problem->node->in[p].reply - call->end));
                        if (has_calls)
                                log += fixed_log(evidence_call(&j->model->evidence, j, p, i,
                                                               BY_EARLIER_CALLS, FALSE));
                        if (log > best) {
                                best = log;
                                parent = p;
                        }
                }
                j->assignment->parent[i] = parent;
                if (parent == NO_PARENT)
                        continue;
                way = &ways[parent];
                way->start = G_MAXINT64;
                way->at = parent_walk_call(&j->model->walk, way->at, call->callee, call->start);
                for (open = &way->open;
                     *open != NO_PARENT && j->kinds->calls[*open].end <= call->end;)
                        open = &later[*open];
                later[i] = *open;
                *open = i;
        }
        assignment_link(j->assignment);
}
