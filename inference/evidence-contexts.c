/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a node does for a call may depend on why it is called, and what the caller does besides
 * shows that. A call after one to an authentication service may be an order, and a call without one
 * a search. So the parents found at the caller tell kinds of calls apart at the callee, as a label
 * does (call-labels.h).
 */
#include "inference/assignment.h"
#include "inference/evidence-table.h"
#include "inference/kinds.h"
#include "inference/rounds.h"
#include "inference/trellis.h"
#include "inference/tuning.h"

/* Adds sign times the log likelihoods of parents to log, by fine kind. Each half of the parents is
 * judged by walks learned from the other half. */
static void add_logs(Joint *j, double sign, double *log)
{
        g_autofree gint64 *judged = g_new(gint64, j->problem->node->n_in);

        joint_judge(j, 2, judged);
        for (guint32 p = 0; p < j->problem->node->n_in; p++)
                log[j->kinds->fine[p]] += sign * judged[p] / LOG_UNIT;
}

static void tell_contexts(Evidence *e G_GNUC_UNUSED, Joint *j)
{
        NodeModel *h = j->model;
        gsize size = j->problem->node->n_in * sizeof *j->kinds->kind;
        g_autofree double *gain = g_new0(double, h->in.n);
        g_autofree guint32 *n = g_new0(guint32, h->in.n);
        guint8 *told;

        if (!memcmp(j->kinds->kind, j->kinds->fine, size))
                return;
        for (guint32 p = 0; p < j->problem->node->n_in; p++)
                n[j->kinds->fine[p]] += is_training_parent(j->problem, p);
        add_logs(j, -1, gain);
        kinds_split_all_callers(j->kinds, j->problem);
        add_logs(j, 1, gain);
        told = g_new(guint8, h->in.n);
        for (guint32 k = 0; k < h->in.n; k++)
                told[k] = gain[k] >= MAX(LEAST_GAIN, LEAST_GAIN_EACH * n[k]);
        kinds_split_callers(j->kinds, j->problem, h, told);
        trellis_begin(j->trellis, h);
}

const EvidenceKind evidence_contexts = {
        .name = "contexts",
        .try_first = tell_contexts,
        .without_choice = TRUE,
};
