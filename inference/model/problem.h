/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The problem: which calls of a node are looked at, who may have made each of them, and which are
 * learned from.
 */
#ifndef RAVEL_PROBLEM_H
#define RAVEL_PROBLEM_H

#include "calls/candidates.h"
#include "inference/inference.h"
#include "inference/model/tuning.h"

typedef struct Problem {
        NodeProblem *node;
        gint64 from, before; /* new parents reply from `from` on and before `before`, ns */
        gint64 resolution;   /* of the stamps, ns; 0: they are exact */
        guint n_rounds;      /* of learning that were done */
        guint32 n_stretches; /* one stretch of parents in n_stretches trains the model */
        guint32 times;       /* the node has so many times the parents that train it, about */
        gint64 *start;       /* by call into the node: when a worker took it: its entry, or later by
                                evidence, ns. joint_find_starts() */
        guint64 *concurrency; /* by call into the node; see concurrency.h */
        guint32 *output;      /* by call out, then by call into the node: the number of its start or
                                 reply among the outputs, by time */
        guint64 calm[CALM_ROUNDS]; /* by round of learning: the greatest of a calm parent */

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

/* The candidate of a call with the greatest score; of equal ones the first. The call has at least
 * one. */
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

/* By how much a call into the node may come after a call out of it and still be its parent: stamps
 * that are equal since they are coarse are in no order, ns. */
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

/* Decides which calls are learned from. anew: all. Else those from node->from on, and older calls
 * are dropped from the problem. */
void problem_find_view(Problem *p, gboolean anew);

/* Finds the resolution of the stamps: the power of ten of which all times between two of them are
 * multiples. Below STAMPS_COARSE 0. Too few of them leave it
 * at what was known before. */
void problem_find_resolution(Problem *p, gint64 known);

/* Counts the candidates of each call. Returns how many they are together. */
gsize problem_count_candidates(const Problem *p, Candidates *open, guint32 *n_candidates);

/* Finds the candidates of calls from first to end - 1. Calls into the node before first_in have
 * replied by then. to_learn: only for calls with a training parent among their candidates. */
void problem_find_candidates(Problem *p, Candidates *open, guint32 first_in, guint32 first,
                             guint32 end, gboolean to_learn);
/* Leaves out the candidates that are not to be kept. keep: by candidate. */
void problem_keep_candidates(Problem *p, const guint8 *keep);
void problem_drop_candidates(Problem *p);

/* Finds the concurrency of each call into the node; and which is calm, by these or, where there is
 * no room for them in the problem, by their own. */
void problem_find_concurrency(Problem *p);
void problem_find_calm(Problem *p);

/* Reports progress at a node: the share of its time that has passed. */
void problem_done(const Problem *p, double share);

/* The share of a node's time that learning takes, for problem_done(): of a problem that is learned
 * from, or the whole one. */
double problem_learnt(const Problem *p);

/* Reports progress: one round of learning more is done. Nobody knows how many there will be, as
 * tries end when they are hopeless; so the share rises less and less. */
void problem_round_done(Problem *p);

/* Numbers the outputs of the node, its calls and its replies, in order of time. */
void problem_order_outputs(Problem *p);

/* Makes room for what is known by call. p->node is set, its calls are those looked at. */
void problem_init(Problem *p);

/* The problem of the calls from first to end - 1, whose candidates are found (first_in: as before),
 * and of their candidates. slice gets the node problem, a part of the whole one. */
Problem problem_narrow(const Problem *whole, NodeProblem *slice, Candidates *open, guint32 first_in,
                       guint32 first, guint32 end);
void problem_clear(Problem *p);

#endif
