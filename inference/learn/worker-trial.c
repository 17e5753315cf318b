/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/learn/worker-trial.h"

#include "inference/learn/learning.h"
#include "inference/learn/rounds.h"
#include "inference/learn/worker-count.h"
#include "inference/model/problem.h"
#include "inference/model/tuning.h"
#include "inference/search/assign.h"
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

/* The likeliest number of workers. Where most calls wait, too many workers take calls in nearly the
 * same order as the true number, a little earlier. Rates tell such numbers apart badly. So fewer
 * are also judged by walks, with the first parents that they lead to. */
static guint32 choose(Joint *j, const GArray *guesses)
{
        WorkersGuess best = { .log = -G_MAXDOUBLE };

        if (guesses->len == 1)
                return g_array_index(guesses, WorkersGuess, 0).k;
        for (guint i = 0; i < guesses->len; i++) {
                WorkersGuess guess = g_array_index(guesses, WorkersGuess, i);

                start_by(j, guess.k);
                joint_assign_anew(j, tuning.bounds_rounds);
                guess.log += (double)joint_judge_all(j, 2) / LOG_UNIT;
                if (guess.log > best.log)
                        best = guess;
        }
        start_by(j, 0); /* bounds are learned without a queue first */
        joint_assign_anew(j, tuning.bounds_rounds);
        return best.k;
}

/* The possible numbers of workers, above any that was rejected; NULL: there is none. */
static GArray *find_guesses(const Joint *j)
{
        g_autoptr(GArray) guesses = workers_find(j);
        guint n = 0;

        if (!guesses)
                return NULL;
        while (n < guesses->len &&
               g_array_index(guesses, WorkersGuess, n).k <= j->learning->rejected_k)
                n++;
        g_array_remove_range(guesses, 0, n);
        return guesses->len ? g_steal_pointer(&guesses) : NULL;
}

void workers_try(Joint *j)
{
        guint32 n = j->problem->node->n_in;
        g_autofree gint64 *before = NULL, *log = NULL;
        g_autoptr(GArray) guesses = find_guesses(j);

        j->model->evidence.workers.rejected = j->learning->rejected_k > 0 && !guesses;
        if (!guesses)
                return;
        before = g_new(gint64, n);
        log = g_new(gint64, n);
        joint_judge(j, 2, before);
        start_by(j, choose(j, guesses));
        joint_assign_first(j);
        joint_judge(j, 2, log);
        if (gain_of_waiting(j, log, before) > 0)
                return;
        start_by(j, 0);
        joint_assign_first(j);
}
