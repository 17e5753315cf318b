/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The state of joint inference at one node (joint.c), and the functions that its parts offer each
 * other. docs/model.md has the model.
 */
#ifndef RAVEL_JOINT_H
#define RAVEL_JOINT_H

#include "inference/node-problem.h"
#include "inference/trellis.h"
#include "paths/path-set.h"

/* The rate (per ns) at which one candidate parent would make this call: a message of belief
 * propagation. */
typedef struct {
        guint32 child; /* index of a call out of the node */
        float rate;    /* per ns */
} Belief;

/* The drawings in which the Markov chain has a candidate as the parent of its call. A bit each. In
 * warm drawings an assignment is as likely as the model says; in cold ones its likelihood is raised
 * to a power, so that the best assignment stands out. */
typedef struct {
        guint64 warm, cold;
} Drawings;

struct Joint {
        NodeProblem *node;
        gint64 from, before; /* new parents reply from `from` on and before `before`, ns */
        gboolean keeps;      /* the model outlives this problem: --window calls again with it */
        gboolean counts;     /* new parents are only counted; a later step learns from them */
        guint32 n_stretches; /* one stretch of parents in n_stretches trains the model */
        NodeModel *model;
        Trellis trellis;

        /* By call out of the node. */
        WalkCall *calls;
        guint32 *parent;   /* the assignment: index of a call into the node, or NO_PARENT */
        guint32 *next;     /* the next child of the same parent, or NO_PARENT */
        guint32 *output;   /* its number among the outputs, by time; replies follow the calls */
        gsize *candidates; /* index of its first candidate; one more entry ends the last call's */
        double *total;     /* the sum of its candidates' messages, per ns */

        /* By call into the node. */
        gint64 *start;       /* when a worker took it: its entry, or later by evidence, ns */
        guint32 *first;      /* its first child in the assignment, or NO_PARENT */
        gsize *first_belief; /* index of its first belief; one more entry ends the last call's */
        guint32 *kind;       /* by caller and label, and by context where contexts are told apart */
        guint32 *fine;       /* by caller, label and context */
        guint64 *concurrency; /* see concurrency.h */

        guint32 *candidate; /* indices of calls into the node, ascending for each call */
        Belief *beliefs;    /* by parent, and for each by start of the child */
        float *share;       /* by candidate: the share of its belief; later its probability */
        float *score;       /* by candidate: the greatest decides */
        Drawings *drawn;    /* by candidate, or NULL; no bits for calls the chain skips */
        double negligible;  /* a belief with a smaller share is given up */
        guint32 n_choice;   /* calls with more than one candidate */
        guint32 n_sole;     /* calls with one candidate */
        double true_log;    /* the log likelihood of the true assignment, if it is told */

        TrellisCall *offered; /* room for the children offered to one parent */
        guint32 offered_room;
};

static inline guint joint_count_drawings(Drawings d)
{
        return (guint)(__builtin_popcountll(d.warm) + __builtin_popcountll(d.cold));
}

static inline guint32 n_candidates(const Joint *j, guint32 child)
{
        return j->candidates[child + 1] - j->candidates[child];
}

/* The candidate of a call with the greatest score; of equal ones the first. The call has at least
 * one. */
static inline gsize joint_best_candidate(const Joint *j, guint32 call, const float *score)
{
        gsize best = j->candidates[call];

        for (gsize k = best + 1; k < j->candidates[call + 1]; k++)
                if (score[k] > score[best])
                        best = k;
        return best;
}

/* Whether two calls go to the same node with the same label, ignoring the split of callees by
 * duration. */
static inline gboolean joint_same_callee(const Joint *j, guint32 call, guint32 other)
{
        const guint32 *whole = j->model->whole;

        return whole[j->calls[call].callee] == whole[j->calls[other].callee];
}

enum {
        STRETCH = 1024,   /* parents that follow each other and train the model, or not, together */
        SETTLE = 3,       /* rounds of belief propagation; more hardly change the beliefs */
        JOINT_DRAWN = 60, /* drawings of the warm chain and of the cold one; a guint64 holds them */
};

/* Whether this problem decides the parent of a call out of the node. */
static inline gboolean joint_decides(const Joint *j, guint32 call)
{
        const CallOut *out = &j->node->out[call];

        return !(out->flags & OUT_DECIDED) && out->start < j->node->decide - j->node->window;
}

/* The share of a node's time that learning takes. It was measured on the testbed at concurrency 8,
 * and only the progress display uses it. */
#define LEARNT 0.7

/* Whether a parent is one of the training parents. Where there are many parents, the model is
 * learned from stretches of them spread over the trace. */
static inline gboolean is_training_parent(const Joint *j, guint32 parent)
{
        return parent / STRETCH % j->n_stretches == 0;
}

/* Whether a parent has replied, and was not learned from in an earlier step of --window. */
static inline gboolean is_new(const Joint *j, guint32 parent)
{
        gint64 reply = j->node->in[parent].reply;

        return reply >= j->from && reply < j->before;
}

/* The index of a parent among the candidates of a call; G_MAXSIZE if it is none. */
gsize joint_find_candidate(const Joint *j, guint32 call, guint32 parent);

/* A parent as the trellis takes it. */
TrellisParent joint_trellis_parent(const Joint *j, guint32 parent);

/* An empty trellis, for the kinds of callees that the model has. */
void joint_begin_trellis(Joint *j);

/* Makes room to offer n children to one parent. */
void joint_make_room(Joint *j, guint32 n);

/* Sets the starts of parents, by the evidence in use. */
void joint_find_starts(Joint *j);

/* Whether a parent waited until its start. */
static inline gboolean joint_waited(const Joint *j, guint32 parent)
{
        return j->start[parent] > j->node->in[parent].enter;
}

/* --- assignments (assignment.c) --------------------------------------------- */

/* Links the children of each parent, by the assignment. */
void joint_link_children(Joint *j);

/* Counts the delays from the parent's entry to the child's start and from the child's end to the
 * parent's reply. count is in units of DENSITY_COUNT. */
void joint_count_bounds(Joint *j, guint32 child, guint32 parent, guint32 count);

/* Assign each child: to the candidate that the bounds alone favour; in order of time, to the
 * candidate with the greatest hazard; or to its true parent, if that is a candidate. */
void joint_assign_first(Joint *j);
void joint_assign_in_time(Joint *j);
void joint_assign_truth(Joint *j);

/* Runs the trellis of one parent with the children that the assignment gives it, and no others.
 * count: the model counts what the parent did. */
void joint_run_assigned(Joint *j, guint32 parent, gboolean count);

/* --- contexts (evidence-contexts.c) ------------------------------------- */

/* Sets the contexts of calls out of the node, by the assignment. A call without a parent keeps its
 * 0. */
void joint_set_contexts(const Joint *j, guint32 *context);

/* --- beliefs (beliefs.c) --------------------------------------------------- */

/* Makes one belief for each candidate, ordered by parent; sets the beliefs to what the assignment
 * says. */
void joint_make_beliefs(Joint *j);
void joint_start_beliefs(Joint *j);

/* Sums up the beliefs of each call again, so that rounding errors do not add up. */
void joint_sum_beliefs(Joint *j);

/* Updates the beliefs of training parents. The model counts what new parents with a concurrency of
 * at most calm do. */
void joint_update_to_learn(Joint *j, guint64 calm);

/* Updates the beliefs of all parents and gives up negligible ones. The model counts nothing.
 * decide: sharpens the beliefs, so that larger shares grow. */
void joint_update_all(Joint *j, gboolean decide);

/* Sets the share of each candidate's belief among the beliefs on its call. */
void joint_get_shares(const Joint *j, float *share);

/* Assigns each child to the candidate with the best score, of equal ones the earliest. second: to
 * the second best, if there is one. */
void joint_assign_best(Joint *j, gboolean second);

/* Runs belief propagation again from the second best parent of each call. second: the shares it
 * comes to, by candidate. both: a mean of these and the first shares. */
void joint_ask_again(Joint *j, float *second, float *both);

/* Calibration: turns shares into probabilities. The less the second shares agree, the lower these
 * are. */
void joint_calibrate(Joint *j, const float *second);

/* --- chains (sampler.c) ----------------------------------------------------- */

typedef struct Sampler Sampler;

/* A Markov chain that begins with the assignment. It proposes a candidate as parent with a
 * probability of about chance (by candidate, borrowed). learns: only training parents take part. */
Sampler *sampler_new(Joint *j, const float *chance, gboolean learns);
void sampler_free(Sampler *c);

/* Takes over the likelihoods of the model; call it after the model has learned. */
void sampler_take_model(Sampler *c);

/* Runs the chain for some sweeps. A sweep is one proposal for each open call, a call whose parent
 * is in doubt. */
void sampler_run(Sampler *c, guint sweeps);

/* Sets the bits of `drawing` for the present parent of each open call. drawn is by candidate. */
void sampler_note(const Sampler *c, Drawings *drawn, Drawings drawing);

/* Finds shares and scores from drawings of the chain and from beliefs, and calibrates the shares.
 * The more candidates of a call are about as good, the more the beliefs weigh, since the drawings
 * tell many candidates apart badly. */
void joint_draw(Joint *j);

/* --- families (families.c) --------------------------------------------------- */

/* Multiplies family[p] by the probability that p made exactly the children that the assignment
 * gives it, among the decided calls from first to end - 1. */
void joint_find_families(const Joint *j, guint32 first, guint32 end, float *family);

/* --- learning (learn.c) --------------------------------------------------- */

/* Learns the model of the node from its calls alone, from the first assignment on. */
void joint_learn(Joint *j);

/* Reports progress at a node whose calls are all solved at once. A node solved in parts reports
 * after each part. */
void joint_done(const Joint *j, double share);

/* Learn in a further step of --window; and from the true parents, for the oracle. */
void joint_go_on(Joint *j);
void joint_learn_from_truth(Joint *j);

/* Learns from an assignment that is certain. */
void joint_go_on_from_assignment(Joint *j);

/* Keeps what was learned for the next step of --window. Counts the bounds by the assignment. */
void joint_keep_model(Joint *j);

/* The natural logarithm of the likelihood of the assignment. */
double joint_log_of_assignment(Joint *j);

#endif
