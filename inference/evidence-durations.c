/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Splits callees by the durations of calls, where that makes parents likelier.
 */
#include "base/exact-log.h"
#include "base/fill.h"
#include "base/hash.h"
#include "inference/assignment.h"
#include "inference/beliefs.h"
#include "inference/evidence-table.h"
#include "inference/kinds.h"
#include "inference/rounds.h"
#include "inference/trellis.h"
#include "inference/tuning.h"

/* A hash of what a parent does before and after a child. same counts its earlier children with the
 * same callee. */
static guint16 context_of(const Joint *j, guint32 child, guint32 before, guint32 same)
{
        guint32 after = j->assignment->next[child];
        guint64 h = hash_word(HASH_SEED, j->kinds->kind[j->assignment->parent[child]]);

        h = hash_word(h, before == NO_PARENT ? NO_PARENT : j->kinds->calls[before].callee);
        h = hash_word(h, after == NO_PARENT ? NO_PARENT : j->kinds->calls[after].callee);
        return hash_word(h, MIN(same, 3)) % DURATION_CONTEXTS;
}

/* Collects the durations of calls. Takes only calls with a single candidate if there are enough of
 * them, as their parents are certain. */
static guint32 sample_durations(const Joint *j, DurationSample *samples)
{
        g_autofree guint32 *same = g_new(guint32, j->model->n_callees);
        gboolean certain = j->problem->n_sole >= j->problem->n_choice / (CERTAIN_SHARE - 1);
        guint32 n = 0;

        for (guint32 p = 0; p < j->problem->node->n_in; p++) {
                guint32 before = NO_PARENT;

                fill(same, 0, j->model->n_callees * sizeof *same);
                for (guint32 k = j->assignment->first[p]; k != NO_PARENT;
                     before = k, k = j->assignment->next[k]) {
                        guint16 context =
                                context_of(j, k, before, same[j->kinds->calls[k].callee]++);

                        if (!certain || n_candidates(j->problem, k) == 1)
                                samples[n++] = (DurationSample){ j->kinds->calls[k].callee, context,
                                                                 density_bin(duration_of(
                                                                         &j->kinds->calls[k])) };
                }
        }
        return n;
}

static void set_limits(Joint *j, DurationLimits *limits)
{
        kinds_split_callees(j->kinds, j->problem, j->model, limits);
        trellis_begin(j->trellis, j->model);
}

/* The log likelihood of the split callees themselves, for the children of every other parent, by
 * their frequencies among the children of the rest. A split must pay for it. */
static double log_of_kinds(const Joint *j)
{
        const NodeModel *h = j->model;
        g_autofree double *learned = g_new0(double, h->n_callees);
        g_autofree double *tested = g_new0(double, h->n_callees);
        g_autofree double *all = g_new0(double, h->n_whole);
        double log = 0;

        for (guint32 i = 0; i < j->problem->node->n_out; i++) {
                guint32 callee = j->kinds->calls[i].callee;

                if (j->assignment->parent[i] == NO_PARENT ||
                    !is_training_parent(j->problem, j->assignment->parent[i]))
                        continue;
                if (j->assignment->parent[i] % 2) {
                        tested[callee]++;
                } else {
                        learned[callee]++;
                        all[h->whole[callee]]++;
                }
        }
        for (guint32 k = 0; k < h->n_callees; k++)
                log += tested[k] * exact_log((learned[k] + 1) / (all[h->whole[k]] + 2));
        return log;
}

/* The log likelihood of every other parent, by walks learned from the rest. */
static double log_of_others(Joint *j)
{
        return (double)joint_judge_all(j, 1) / LOG_UNIT;
}

static guint32 find_limits(const Joint *j, DurationLimits *limits)
{
        g_autofree DurationSample *samples = g_new(DurationSample, j->problem->node->n_out);

        if (j->model->n_whole > MOST_ORDERED)
                return 0;
        return duration_limits_find(limits, j->model->n_whole, samples,
                                    sample_durations(j, samples));
}

/* Takes limits, or none if limits is NULL. Resets the walks. */
static void take_limits(Joint *j, const DurationLimits *limits)
{
        guint32 n = j->model->n_whole;

        set_limits(j, limits ? g_memdup2(limits, n * sizeof *limits) : g_new0(DurationLimits, n));
}

/* Takes limits if the parents that calls have are likelier with them. Resets the walks. */
static gboolean try_limits(Joint *j, const DurationLimits *limits)
{
        double whole = log_of_others(j);

        take_limits(j, limits);
        if (log_of_others(j) - log_of_kinds(j) > whole) {
                take_limits(j, limits);
                return TRUE;
        }
        take_limits(j, NULL);
        return FALSE;
}

static void tell_apart(Evidence *e G_GNUC_UNUSED, Joint *j)
{
        g_autofree DurationLimits *limits = g_new0(DurationLimits, j->model->n_whole);

        if (find_limits(j, limits) > 0)
                try_limits(j, limits);
}

/* Learns from the parents that calls have, with new limits. Returns by how many nats an output walks
 * are likelier by the parents that this comes to than they were. */
static double learn_with_limits(Joint *j, gint64 before)
{
        joint_learn_from_assigned(j, G_MAXUINT64);
        joint_start_beliefs(j);
        joint_learn_later_rounds(j);
        return joint_gain_put_back(j, before);
}

/* Where many parents are in doubt, the first assignment hides what durations tell of them. */
static void tell_apart_again(Evidence *e G_GNUC_UNUSED, Joint *j)
{
        g_autofree DurationLimits *limits = g_new0(DurationLimits, j->model->n_whole);
        JointState *before;
        gint64 log;

        if (j->model->n_callees > j->model->n_whole || find_limits(j, limits) == 0)
                return;
        before = joint_save(j);
        log = joint_judge_all(j, 2);
        if (!try_limits(j, limits) || learn_with_limits(j, log) < LATE_LIMITS_GAIN) {
                take_limits(j, NULL);
                joint_restore(j, before);
        }
        joint_state_free(before);
}

const EvidenceKind evidence_durations = {
        .name = "durations",
        .try_first = tell_apart,
        .try_again = tell_apart_again,
};
