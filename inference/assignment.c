/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Assignments: each call out of a node gets one parent at most.
 */
#include "base/fill.h"
#include "inference/joint.h"

enum {
        BOUNDS_ROUNDS = 12,         /* rounds that learn bounds before the first assignment */
        MOST_WEIGHT = 255,          /* the weight of the best candidate of a call, less 1 */
        OUT_OF_TURN = 4 * LOG_UNIT, /* a parent makes calls before its start as much more rarely */
        REMEMBERED = 16, /* latest children of a parent that the first assignment looks at */
};

/* --- bounds: the delays from a parent's entry and to its reply -------------- */

void joint_count_bounds(Joint *j, guint32 child, guint32 parent, guint32 count)
{
        const WalkCall *call = &j->calls[child];
        const CallIn *in = &j->node->in[parent];

        if (call->start >= j->start[parent])
                delay_densities_count(&j->model->bounds, j->model->enter_row[call->callee],
                                      density_bin(call->start - j->start[parent]), count);
        delay_densities_count(&j->model->bounds, j->model->reply_row[call->callee],
                              density_bin(in->reply - call->end), count);
}

/* Weighs the candidates of each call by the densities of the delays since their entry and until
 * their reply. The best one has the weight MOST_WEIGHT + 1, the others between that and 1.
 * weight[k] is the sum of the weights of a call up to candidate k. */
static void weigh_candidates(const Joint *j, guint32 *weight)
{
        double power[128] = { MOST_WEIGHT };

        for (guint i = 1; i < G_N_ELEMENTS(power); i++)
                power[i] = power[i - 1] * 0.939413062813476; /* e^(-1/16) */
        for (guint32 child = 0; child < j->node->n_out; child++) {
                guint32 sum = 0;
                const WalkCall *call = &j->calls[child];
                const gint16 *since = j->model->bounds.log[j->model->enter_row[call->callee]];
                const gint16 *until = j->model->bounds.log[j->model->reply_row[call->callee]];
                gsize first = j->candidates[child], end = j->candidates[child + 1];
                gint32 best = G_MININT32;

                for (gsize k = first; k < end; k++) {
                        guint32 p = j->candidate[k];
                        gint32 log = until[density_bin(j->node->in[p].reply - call->end)];

                        if (call->start >= j->start[p])
                                log += since[density_bin(call->start - j->start[p])];
                        else
                                log += since[density_bin(call->start - j->node->in[p].enter)] -
                                       OUT_OF_TURN;
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
        return weight[k] - (k > j->candidates[child] ? weight[k - 1] : 0);
}

/* --- assignments ------------------------------------------------------------ */

void joint_link_children(Joint *j)
{
        fill(j->first, 0xff, j->node->n_in * sizeof *j->first);
        for (guint32 i = j->node->n_out; i-- > 0;) {
                guint32 parent = j->parent[i];

                j->next[i] = NO_PARENT;
                if (parent != NO_PARENT) {
                        j->next[i] = j->first[parent];
                        j->first[parent] = i;
                }
        }
}

/* --- the first assignment --------------------------------------------------- */

/* Learns bounds by expectation maximisation, before any parent is known: each call counts for all
 * its candidates, first alike, then by their weights. */
static void learn_bounds(Joint *j, guint32 *weight)
{
        for (guint32 i = 0; i < j->node->n_out; i++)
                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++)
                        weight[k] = 1 + k - j->candidates[i];
        for (guint round = 0; round < BOUNDS_ROUNDS; round++) {
                delay_densities_fade(&j->model->bounds);
                for (guint32 i = 0; i < j->node->n_out; i++) {
                        gsize end = j->candidates[i + 1];

                        for (gsize k = j->candidates[i]; k < end; k++)
                                joint_count_bounds(j, i, j->candidate[k],
                                                   weight_of(j, weight, i, k) * DENSITY_COUNT /
                                                           weight[end - 1]);
                }
                delay_densities_learn(&j->model->bounds);
                weigh_candidates(j, weight);
        }
}

/* How much the children that a parent was given so far speak against one child more: two for each
 * child to the same callee, and one if a child has not returned yet. last is by parent: its latest
 * child. before is by child: the previous child of the same parent. */
static guint32 count_against(const Joint *j, guint32 child, guint32 parent, const guint32 *last,
                             const guint32 *before)
{
        guint32 k = last[parent], same = 0;
        gboolean waits = FALSE;

        for (guint32 i = 0; i < REMEMBERED && k != NO_PARENT; i++, k = before[k]) {
                same += j->calls[k].callee == j->calls[child].callee;
                waits |= j->calls[k].end > j->calls[child].start;
        }
        return 2 * same + waits;
}

/* Gives each call, in order of start, to the candidate with the greatest weight, discounted by what
 * speaks against it. */
void joint_assign_first(Joint *j)
{
        guint32 n_out = j->node->n_out, n_in = j->node->n_in;
        g_autofree guint32 *last = g_new(guint32, n_in), *before = g_new(guint32, n_out);
        g_autofree guint32 *weight = g_new(guint32, j->candidates[n_out]);

        learn_bounds(j, weight);
        fill(last, 0xff, n_in * sizeof *last);
        for (guint32 i = 0; i < n_out; i++) {
                guint32 parent = NO_PARENT;
                double best = 0;

                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++) {
                        guint32 against = count_against(j, i, j->candidate[k], last, before);
                        double score = weight_of(j, weight, i, k) / (1.0 + 4 * against);

                        if (score > best) {
                                best = score;
                                parent = j->candidate[k];
                        }
                }
                j->parent[i] = parent;
                if (parent == NO_PARENT)
                        continue;
                before[i] = last[parent];
                last[parent] = i;
        }
        joint_link_children(j);
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

        if (joint_waited(j, p))
                return (Way){ parent_walk_wait(w, j->kind[p], j->node->in[p].enter), NO_PARENT,
                              j->start[p] };
        return (Way){ parent_walk_start(w, j->kind[p], j->start[p]), NO_PARENT, G_MAXINT64 };
}

/* Moves p over its start and the returns up to a time. later[i] is the open child of the same
 * parent that returns next after child i. */
static void advance(Joint *j, Way *p, const guint32 *later, gint64 time)
{
        if (p->start <= time) {
                p->at = parent_walk_take(&j->model->walk, p->at, p->start);
                p->start = G_MAXINT64;
        }
        for (; p->open != NO_PARENT && j->calls[p->open].end <= time; p->open = later[p->open])
                p->at = parent_walk_return(&j->model->walk, p->at, j->calls[p->open].callee,
                                           j->calls[p->open].end);
}

/* Gives each call, in order of start, to the candidate with the greatest hazard of making it now,
 * given the children that it got before, times the density of the delay until its reply. */
void joint_assign_in_time(Joint *j)
{
        guint32 n_in = j->node->n_in, n_out = j->node->n_out;
        gboolean has_calls = evidence_has_calls(&j->model->evidence);
        g_autofree guint32 *later = g_new(guint32, n_out);
        g_autofree Way *ways = g_new(Way, n_in);

        parent_walk_learn_survival(&j->model->walk);
        for (guint32 p = 0; p < n_in; p++)
                ways[p] = begin_way(j, p);
        for (guint32 i = 0; i < n_out; i++) {
                const WalkCall *call = &j->calls[i];
                const gint16 *rest = j->model->bounds.log[j->model->reply_row[call->callee]];
                gint32 best = G_MININT32;
                guint32 parent = NO_PARENT, *open;
                Way *way;

                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++) {
                        guint32 p = j->candidate[k];
                        gint32 log;

                        advance(j, &ways[p], later, call->start);
                        log = parent_walk_hazard(&j->model->walk, ways[p].at, call->callee,
                                                 call->start) +
                              rest[density_bin(j->node->in[p].reply - call->end)];
                        if (has_calls)
                                log += fixed_log(evidence_call(&j->model->evidence, j, p, i,
                                                               BY_EARLIER_CALLS, FALSE));
                        if (log > best) {
                                best = log;
                                parent = p;
                        }
                }
                j->parent[i] = parent;
                if (parent == NO_PARENT)
                        continue;
                way = &ways[parent];
                way->start = G_MAXINT64;
                way->at = parent_walk_call(&j->model->walk, way->at, call->callee, call->start);
                for (open = &way->open; *open != NO_PARENT && j->calls[*open].end <= call->end;)
                        open = &later[*open];
                later[i] = *open;
                *open = i;
        }
        joint_link_children(j);
}

void joint_assign_truth(Joint *j)
{
        for (guint32 i = 0; i < j->node->n_out; i++) {
                j->parent[i] = NO_PARENT;
                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++)
                        if (j->node->in[j->candidate[k]].call == j->node->truth[i])
                                j->parent[i] = j->candidate[k];
        }
        joint_link_children(j);
}

void joint_run_assigned(Joint *j, guint32 parent, gboolean count)
{
        TrellisParent trellis_parent = joint_trellis_parent(j, parent);
        gboolean has_calls = evidence_has_calls(&j->model->evidence);
        guint32 n = 0;

        for (guint32 k = j->first[parent]; k != NO_PARENT; k = j->next[k])
                n++;
        joint_make_room(j, n);
        n = 0;
        for (guint32 k = j->first[parent]; k != NO_PARENT; k = j->next[k])
                j->offered[n++] = (TrellisCall){
                        .call = j->calls[k],
                        .output = j->output[k],
                        .total = 1 / (has_calls ? evidence_call(&j->model->evidence, j, parent, k,
                                                                BY_ASSIGNMENT, FALSE)
                                                : 1),
                        .taken = 1
                };
        trellis_run(&j->trellis, &j->model->walk, &trellis_parent, j->offered, n, count);
}
