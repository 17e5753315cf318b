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

void workers_try(Joint *j)
{
        guint32 n = j->problem->node->n_in;
        guint32 n_workers = workers_count(j->problem->node->in, n);
        g_autofree gint64 *before = NULL, *log = NULL;

        if (n_workers == 0)
                return;
        before = g_new(gint64, n);
        log = g_new(gint64, n);
        joint_judge(j, 2, before);
        start_by(j, n_workers);
        joint_assign_first(j);
        joint_judge(j, 2, log);
        if (gain_of_waiting(j, log, before) > 0)
                return;
        start_by(j, 0);
        joint_assign_first(j);
}
