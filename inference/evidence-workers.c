/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Workers as evidence: where a node has so many and the others wait, a parent starts when a worker
 * takes it (workers.h).
 */
#include "inference/assign.h"
#include "inference/evidence-table.h"
#include "inference/family.h"
#include "inference/problem.h"
#include "inference/rounds.h"
#include "inference/workers.h"

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

static void try_workers(Evidence *e, Joint *j)
{
        WorkersEvidence *w = (WorkersEvidence *)e;
        guint32 n = j->problem->node->n_in, n_workers = workers_find(j);
        g_autofree gint64 *before = NULL, *log = NULL;

        if (n_workers == 0)
                return;
        before = g_new(gint64, n);
        log = g_new(gint64, n);
        joint_judge(j, 2, before);
        suppose(w, j, n_workers);
        joint_find_starts(j);
        joint_assign_first(j);
        joint_judge(j, 2, log);
        if (gain_of_waiting(j, log, before) > 0)
                return;
        suppose(w, j, 0);
        joint_find_starts(j);
        joint_assign_first(j);
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
        .start = start_of,
};
