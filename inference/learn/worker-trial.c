/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/learn/worker-trial.h"

#include "inference/learn/learning.h"
#include "inference/learn/rounds.h"
#include "inference/learn/worker-count.h"
#include "inference/model/kinds.h"
#include "inference/model/node-model.h"
#include "inference/model/problem.h"
#include "inference/model/tuning.h"
#include "inference/search/assign.h"
#include "inference/search/assignment.h"
#include "inference/search/family.h"

/* The gain in likelihood of the waiting parents by their starts. Each side has the assignment that
 * goes with it. */
static gint64 gain_of_waiting(const Joint *j, const gint64 *log, const gint64 *before)
{
        gint64 gain = 0;

        for (guint32 p = 0; p < j->problem->node->n_in; p++)
                if (problem_waited(j->problem, p))
                        gain += log[p] - before[p];
        return gain;
}

/* Supposes a number of workers, and that parents start accordingly. */
static void start_by(Joint *j, guint32 n_workers)
{
        workers_suppose(&j->model->evidence.workers, j->problem->node, n_workers);
        joint_find_starts(j);
}

/* The number of workers, unless a queue of as many was rejected; 0: there is none. */
static guint32 find_number(const Joint *j)
{
        guint32 k = workers_count(j->problem->node->in, j->problem->node->n_in);

        return k > j->learning->rejected_k ? k : 0;
}

void workers_try(Joint *j)
{
        guint32 n = j->problem->node->n_in, k = find_number(j);
        g_autofree gint64 *before = NULL, *log = NULL;

        j->model->evidence.workers.rejected = j->learning->rejected_k > 0 && k == 0;
        if (k == 0)
                return;
        before = g_new(gint64, n);
        log = g_new(gint64, n);
        joint_judge(j, 2, before);
        start_by(j, k);
        joint_assign_first(j);
        joint_judge(j, 2, log);
        if (gain_of_waiting(j, log, before) > 0)
                return;
        start_by(j, 0);
        joint_assign_first(j);
}

/* --- whether it was right --------------------------------------------------------- */

/* The time of a parent's first call, or else of its reply. */
static gint64 first_output(const Joint *j, guint32 parent)
{
        guint32 child = j->assignment->first[parent];

        return child == NO_PARENT ? j->problem->node->in[parent].reply
                                  : j->kinds->calls[child].start;
}

/* The share of waiting parents that make calls before their start. */
static double early_share(const Joint *j)
{
        guint32 n = 0, n_early = 0;

        for (guint32 p = 0; p < j->problem->node->n_in; p++) {
                if (!is_training_parent(j->problem, p) || !problem_waited(j->problem, p))
                        continue;
                n++;
                n_early += first_output(j, p) < j->problem->start[p];
        }
        return (double)n_early / MAX(n, 1);
}

/* Whether hardly a call comes while all its candidates still wait. */
static gboolean can_have_made_calls(const Problem *p)
{
        guint32 n_contested = 0, n_unmade = 0;

        for (guint32 i = 0; i < p->node->n_out; i++) {
                guint32 n_waiting = 0;

                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++)
                        n_waiting += p->start[p->candidate[k]] > p->node->out[i].start;
                n_contested += n_waiting > 0;
                n_unmade += n_waiting > 0 && n_waiting == n_candidates(p, i);
        }
        return n_unmade <= MAX(tuning.few_unmade, tuning.most_unmade * n_contested);
}

/* A queue is credible if few parents make calls before their start, and some served parent could
 * have made each call. If nearly all parents make calls before their start, evidence that ties
 * families together may have found them. The queue does no harm then. */
gboolean workers_are_consistent(const Joint *j)
{
        const EvidenceSet *evidence = &j->model->evidence;
        double early;

        if (evidence->workers.n == 0)
                return TRUE;
        early = early_share(j);
        if (early > tuning.overruled && evidence_swaps(evidence))
                return TRUE;
        return early <= tuning.most_early && can_have_made_calls(j->problem);
}
