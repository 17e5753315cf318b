/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Workers as evidence: where a node has so many and the others wait, a parent starts when a worker
 * takes it (workers.h).
 */
#include "inference/evidence/evidence-table.h"
#include "inference/evidence/workers.h"
#include "inference/learn/learn.h"
#include "inference/learn/rounds.h"
#include "inference/model/kinds.h"
#include "inference/model/problem.h"
#include "inference/model/tuning.h"
#include "inference/search/assign.h"
#include "inference/search/assignment.h"
#include "inference/search/family.h"

typedef struct {
        Evidence evidence;
        guint32 n_workers; /* 0: no bound */
        gint64 *start;     /* by call into the node, if there is a bound */
} WorkersEvidence;

static Evidence *make(const NodeModel *model G_GNUC_UNUSED)
{
        WorkersEvidence *w = g_new0(WorkersEvidence, 1);

        return &w->evidence;
}

static void clear_starts(Evidence *e)
{
        g_clear_pointer(&((WorkersEvidence *)e)->start, g_free);
}

/* Takes a number of workers for the truth; 0: no bound. */
static void suppose(WorkersEvidence *w, const Joint *j, guint32 n_workers)
{
        guint32 n = j->problem->node->n_in;

        w->n_workers = n_workers;
        w->evidence.watched = w->evidence.in_use = n_workers > 0;
        clear_starts(&w->evidence);
        if (n_workers == 0)
                return;
        w->start = g_new(gint64, n);
        workers_find_starts(j->problem->node->in, n, n_workers, w->start);
}

static void begin(Evidence *e, const Joint *j)
{
        WorkersEvidence *w = (WorkersEvidence *)e;

        suppose(w, j, w->n_workers);
}

static gint64 start_of(const Evidence *e, const Joint *j G_GNUC_UNUSED, guint32 parent)
{
        return ((const WorkersEvidence *)e)->start[parent];
}

static void bytes(Evidence *e, Bytes *b)
{
        WorkersEvidence *w = (WorkersEvidence *)e;

        bytes_u32(b, &w->n_workers);
        bytes_expect(b, e->in_use == (w->n_workers > 0), "workers where they are in use");
}

static guint32 n_workers_of(const Evidence *e)
{
        return ((const WorkersEvidence *)e)->n_workers;
}

/* How much likelier the parents that wait are by their starts, on the assignments that go with
 * them, than without. */
static gint64 gain_of_waiting(const Joint *j, const gint64 *log, const gint64 *before)
{
        gint64 gain = 0;

        for (guint32 p = 0; p < j->problem->node->n_in; p++)
                if (problem_waited(j->problem, p))
                        gain += log[p] - before[p];
        return gain;
}

/* Supposes so many workers, and that parents start accordingly. */
static void start_by(WorkersEvidence *w, Joint *j, guint32 n_workers)
{
        suppose(w, j, n_workers);
        joint_find_starts(j);
}

/* The likeliest number of workers. Where most calls wait, rates tell too many from the true number
 * badly, as these take calls in nearly the same order a little earlier. So fewer are judged by what
 * walks do, too, with the parents that calls then have first. */
static guint32 choose(WorkersEvidence *w, Joint *j, const GArray *guesses)
{
        WorkersGuess best = { .log = -G_MAXDOUBLE };

        if (guesses->len == 1)
                return g_array_index(guesses, WorkersGuess, 0).k;
        for (guint i = 0; i < guesses->len; i++) {
                WorkersGuess guess = g_array_index(guesses, WorkersGuess, i);

                start_by(w, j, guess.k);
                joint_assign_anew(j, tuning.bounds_rounds);
                guess.log += (double)joint_judge_all(j, 2) / LOG_UNIT;
                if (guess.log > best.log)
                        best = guess;
        }
        start_by(w, j, 0); /* bounds are learned without a queue first */
        joint_assign_anew(j, tuning.bounds_rounds);
        return best.k;
}

/* The numbers that there may be, but for those up to one that was refuted; NULL if there is none.
 */
static GArray *find_guesses(const Joint *j)
{
        g_autoptr(GArray) guesses = workers_find(j);
        guint n = 0;

        if (!guesses)
                return NULL;
        while (n < guesses->len &&
               g_array_index(guesses, WorkersGuess, n).k <= j->learning->refuted_k)
                n++;
        g_array_remove_range(guesses, 0, n);
        return guesses->len ? g_steal_pointer(&guesses) : NULL;
}

static void try_workers(Evidence *e, Joint *j)
{
        WorkersEvidence *w = (WorkersEvidence *)e;
        guint32 n = j->problem->node->n_in;
        g_autofree gint64 *before = NULL, *log = NULL;
        g_autoptr(GArray) guesses = find_guesses(j);

        e->refuted = j->learning->refuted_k > 0 && !guesses;
        if (!guesses)
                return;
        before = g_new(gint64, n);
        log = g_new(gint64, n);
        joint_judge(j, 2, before);
        start_by(w, j, choose(w, j, guesses));
        joint_assign_first(j);
        joint_judge(j, 2, log);
        if (gain_of_waiting(j, log, before) > 0)
                return;
        start_by(w, j, 0);
        joint_assign_first(j);
}

/* --- whether it was right --------------------------------------------------------- */

/* When a parent made its first call, or replied. */
static gint64 first_output(const Joint *j, guint32 parent)
{
        guint32 child = j->assignment->first[parent];

        return child == NO_PARENT ? j->problem->node->in[parent].reply
                                  : j->kinds->calls[child].start;
}

/* Of the parents that wait, the share that makes calls before its start. */
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

/* Whether hardly a call comes when all that may have made it still wait. */
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

/* A queue is credible if few parents make calls before their start, and if some served parent could
 * have made each call. If nearly all parents make calls before their start, and evidence that ties
 * families together says so, then that evidence has found the parents, and the queue does no harm.
 */
static gboolean borne_out(const Evidence *e G_GNUC_UNUSED, Joint *j)
{
        double early = early_share(j);

        if (early > tuning.overruled && evidence_ties(&j->model->evidence))
                return TRUE;
        return early <= tuning.most_early && can_have_made_calls(j->problem);
}

const EvidenceKind evidence_workers = {
        .name = "workers",
        .make = make,
        .free = clear_starts,
        .bytes = bytes,
        .begin = begin,
        .end = clear_starts,
        .try_first = try_workers,
        .n_workers = n_workers_of,
        .borne_out = borne_out,
        .start = start_of,
};
