/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The problem: which calls of a node are looked at, which candidates each has, and which calls are
 * learned from.
 */
#pragma once

#include "calls/candidates.h"
#include "inference/inference.h"
#include "inference/model/tuning.h"

typedef struct Problem {
        NodeProblem *node;
        gint64 from, before; /* new parents reply from `from` on and before `before`, ns */
        gint64 resolution;   /* of the stamps, ns; 0: they are exact */
        guint n_rounds;      /* of learning that were done */
        guint32 n_stretches; /* one stretch of parents in n_stretches trains the model */
        guint32 times;       /* all parents per training parent, about */
        gint64 *start;       /* by call into the node: when a worker took it: its entry, or later by
                                evidence, ns. joint_find_starts() */
        guint64 *concurrency; /* by call into the node; see concurrency.h */
        guint32 *output;      /* by call out, then by call into the node: the number of its start or
                                 reply among the outputs, by time */
        guint64 calm[CALM_ROUNDS]; /* by round: the greatest concurrency of a calm parent */

        gsize *candidates;  /* by call out: its first candidate; one more ends the last call's */
        guint32 *candidate; /* indices of calls into the node, ascending for each call */
        guint32 n_choice;   /* calls with more than one candidate */
        guint32 n_sole;     /* calls with one candidate */
} Problem;

static inline guint32 n_candidates(const Problem *p, guint32 call)
{
        return p->candidates[call + 1] - p->candidates[call];
}

/* The candidates of all calls. */
static inline gsize problem_n_all(const Problem *p)
{
        return p->candidates[p->node->n_out];
}

/* The candidate of a call with the greatest score; of equal ones the first. There must be one. */
static inline gsize problem_best_candidate(const Problem *p, guint32 call, const float *score)
{
        gsize best = p->candidates[call];

        for (gsize k = best + 1; k < p->candidates[call + 1]; k++)
                if (score[k] > score[best])
                        best = k;
        return best;
}

/* The index of a parent among the candidates of a call; G_MAXSIZE if it is none. */
gsize problem_find_candidate(const Problem *p, guint32 call, guint32 parent);

/* Whether this problem decides the parent of a call out of the node. */
static inline gboolean problem_decides(const Problem *p, guint32 call)
{
        const CallOut *out = &p->node->out[call];

        return !(out->flags & OUT_DECIDED) && out->start < p->node->decide - p->node->window;
}

/* Whether a parent is one of the training parents. Where there are many parents, the model is
 * learned from stretches of them spread over the trace. */
static inline gboolean is_training_parent(const Problem *p, guint32 parent)
{
        return parent / STRETCH % p->n_stretches == 0;
}

/* Whether a parent has replied, and was not learned from in an earlier step of --window. */
static inline gboolean is_new(const Problem *p, guint32 parent)
{
        gint64 reply = p->node->in[parent].reply;

        return reply >= p->from && reply < p->before;
}

/* The time by which a call into the node may come after a call out of the node and still be its
 * parent, ns. Equal stamps are in no order if stamps are coarse. */
static inline gint64 problem_tie(const Problem *p)
{
        return p->resolution > 0;
}

/* Whether a parent waited until its start. */
static inline gboolean problem_waited(const Problem *p, guint32 parent)
{
        return p->start[parent] > p->node->in[parent].enter;
}

/* The number of new training parents. */
guint32 problem_n_new(const Problem *p);

/* Decides which calls are learned from. anew: all. Otherwise the calls from node->from on, and
 * older calls are dropped from the problem. */
void problem_find_view(Problem *p, gboolean anew);

/* Finds the resolution of the stamps: the greatest power of ten that divides all times between
 * them. It is 0 below STAMPS_COARSE. If there are too few stamps, it stays as known. */
void problem_find_resolution(Problem *p, gint64 known);

/* Counts the candidates of each call. Returns their sum. */
gsize problem_count_candidates(const Problem *p, Candidates *open, guint32 *n_candidates);

/* Finds the candidates of calls from first to end - 1. Calls into the node before first_in have
 * replied by then. to_learn: only for calls with a training parent among their candidates. */
void problem_find_candidates(Problem *p, Candidates *open, guint32 first_in, guint32 first,
                             guint32 end, gboolean to_learn);
/* Drops the candidates for which keep is 0. keep: by candidate. */
void problem_keep_candidates(Problem *p, const guint8 *keep);

/* Finds the concurrency of each call into the node. problem_find_calm() finds which are calm. If
 * the problem has no room for concurrencies, it computes them for itself. */
void problem_find_concurrency(Problem *p);
void problem_find_calm(Problem *p);

/* Reports progress at a node: the share of its time that has passed. */
void problem_done(const Problem *p, double share);

/* The share of a node's time that learning takes, for problem_done(). The problem is the one that
 * is learned from, or the whole one. */
double problem_learnt(const Problem *p);

/* Reports one more round of learning. The number of rounds is not known in advance, as hopeless
 * tries end early. So the share rises less and less. */
void problem_round_done(Problem *p);

/* Numbers the outputs of the node, its calls and its replies, in order of time. */
void problem_order_outputs(Problem *p);

/* Makes room for what is known by call. p->node is set, its calls are those looked at. */
void problem_init(Problem *p);

/* The problem of the calls from first to end - 1, whose candidates are found, and of these
 * candidates. Calls into the node before first_in have replied by then. slice gets the node
 * problem, a part of the whole one. */
Problem problem_narrow(const Problem *whole, NodeProblem *slice, Candidates *open, guint32 first_in,
                       guint32 first, guint32 end);
void problem_clear(Problem *p);
