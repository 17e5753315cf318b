/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The calls of one node, whose parents are found together (joint.c): what its parts share.
 */
#ifndef RAVEL_JOINT_H
#define RAVEL_JOINT_H

#include "inference/node-problem.h"
#include "inference/trellis.h"
#include "paths/path-set.h"

/* A parent's on a call. */
typedef struct {
        guint32 child;
        float rate; /* per ns */
} Belief;

/* The drawings of a chain in which a candidate is its call's parent, a bit each: as likely as
 * assignments are, and when the chain is cold. */
typedef struct {
        guint64 warm, cold;
} Drawings;

typedef struct {
        NodeProblem *node;
        gint64 from, before; /* when the parents replied that are learned from */
        gboolean keeps;      /* what is learned is kept for the next stretch */
        gboolean counts;     /* these are counted alone, and learned from later */
        guint32 n_stretches; /* parents of one stretch in so many teach */
        NodeModel *model;
        Trellis trellis;

        /* By call out of the node. */
        WalkCall *calls;
        guint32 *parent;   /* in an assignment: index of a call into the node, or NO_PARENT */
        guint32 *next;     /* child of that parent, or NO_PARENT */
        guint32 *output;   /* its number among calls out of the node and replies */
        gsize *candidates; /* where they begin; those of the next one end them */
        double *total;     /* the sum of beliefs */

        /* By call into the node. */
        guint32 *first;       /* child, or NO_PARENT */
        gsize *first_belief;  /* where they begin; those of the next one end them */
        guint32 *kind;        /* by caller and label, and context where that is told apart; */
        guint32 *fine;        /* or always */
        guint64 *concurrency; /* see concurrency.h */

        guint32 *candidate; /* indices of calls into the node, ascending by call */
        Belief *beliefs;    /* of parents, each one's in order of start */
        float *share;       /* by candidate: of its belief, then its probability; */
        float *score;       /* the same, once it is decided */
        Drawings *drawn; /* by candidate; none of calls that a chain leaves as they are; or NULL */
        double negligible; /* a belief with a smaller share is given up */
        guint32 n_choice;  /* calls with more than one candidate, */
        guint32 n_sole;    /* and with one */
        double true_log;

        TrellisCall *offered; /* room for those of one parent */
        guint32 offered_room;
} Joint;

static inline guint joint_count_drawings(Drawings d)
{
        return (guint)(__builtin_popcountll(d.warm) + __builtin_popcountll(d.cold));
}

static inline guint32 n_candidates(const Joint *j, guint32 child)
{
        return j->candidates[child + 1] - j->candidates[child];
}

/* The candidate of a call with the greatest score, of equal ones the first; it has one. */
static inline gsize joint_best_candidate(const Joint *j, guint32 call, const float *score)
{
        gsize best = j->candidates[call];

        for (gsize k = best + 1; k < j->candidates[call + 1]; k++)
                if (score[k] > score[best])
                        best = k;
        return best;
}

/* Whatever their durations. */
static inline gboolean joint_same_callee(const Joint *j, guint32 call, guint32 other)
{
        const guint32 *whole = j->model->whole;

        return whole[j->calls[call].callee] == whole[j->calls[other].callee];
}

enum {
        STRETCH = 1024, /* parents that follow each other teach, where not all do */
        SETTLE = 3,     /* rounds of beliefs until they agree about as well as they will */
        JOINT_DRAWN =
                60, /* drawings of a chain that count, and of a cold one: a word has as many bits */
};

/* Whether a call out of the node is given a parent in this stretch. */
static inline gboolean joint_decides(const Joint *j, guint32 call)
{
        const CallOut *out = &j->node->out[call];

        return !(out->flags & OUT_DECIDED) && out->start < j->node->decide - j->node->window;
}

/* The share of a node's time that learning takes, on the testbed at concurrency 8; only for
 * showing how far it is. */
#define LEARNT 0.7

/* Of many parents it is enough to learn from some, in stretches all over the trace. */
static inline gboolean teaches(const Joint *j, guint32 parent)
{
        return parent / STRETCH % j->n_stretches == 0;
}

/* Those that are known to their end, and were not learned from already. */
static inline gboolean is_new(const Joint *j, guint32 parent)
{
        gint64 reply = j->node->in[parent].reply;

        return reply >= j->from && reply < j->before;
}

/* What a parent may have done, for the trellis. */
TrellisParent joint_trellis_parent(const Joint *j, guint32 parent);

/* An empty trellis, for the kinds of calls that the model know. */
void joint_begin_trellis(Joint *j);

/* Room to offer one parent so many calls. */
void joint_make_room(Joint *j, guint32 n);

/* --- assignments (assignment.c) --------------------------------------------- */

/* Lines up the children of each parent. */
void joint_link_children(Joint *j);

/* Counts the bounds of a child of that parent: count times, in units of DENSITY_COUNT. */
void joint_count_bounds(Joint *j, guint32 child, guint32 parent, guint32 count);

/* Assigns each child by the bounds alone; in the order of time, by the walks that are
 * learned; or to its true parent, as far as that is a candidate. */
void joint_assign_first(Joint *j);
void joint_assign_in_time(Joint *j);
void joint_assign_truth(Joint *j);

/* Runs the trellis for what a parent did by the assignment: its children and no other calls are
 * on offer. count: learns that. */
void joint_run_assigned(Joint *j, guint32 parent, gboolean count);

/* --- kinds by duration (durations.c) ------------------------------------ */

/* Tells callees apart by the durations of calls, where by the assignment parents do different
 * things then, and if that makes parents likelier which were not learned from. Walks begin anew
 * if anything is tried. */
void joint_tell_apart(Joint *j);

/* --- kinds by context (contexts.c) ------------------------------------- */

/* Tells calls into the node apart by their contexts, where by the assignment parents do different
 * things then: where that makes those likelier which were not learned from. Walks begin anew if
 * anything is tried. */
void joint_tell_contexts(Joint *j);

/* By the assignment, sets the contexts of calls out of the node; of those without a parent, 0. */
void joint_set_contexts(const Joint *j, guint32 *context);

/* --- beliefs (beliefs.c) --------------------------------------------------- */

/* Gives each candidate a belief, in the order of parents; then as an assignment makes them. */
void joint_make_beliefs(Joint *j);
void joint_start_beliefs(Joint *j);

/* Sums up beliefs anew, so that what is rounded off does not add up. */
void joint_sum_beliefs(Joint *j);

/* Parents that teach belief again, and of the calm ones is counted what they do. */
void joint_update_to_learn(Joint *j, guint64 calm);

/* All parents belief again, for nothing to be learned, and give up what is negligible. decide: a
 * belief counts for more the larger a share it had. */
void joint_update_all(Joint *j, gboolean decide);

/* By candidate, the share of its belief. */
void joint_get_shares(const Joint *j, float *share);

/* Assigns each child to the candidate with the best score, of equal ones the earliest; or to the
 * second best, if there is one. */
void joint_assign_best(Joint *j, gboolean second);

/* A second opinion: what beliefs come to that begin with the second best parent of each call. By
 * candidate, its shares; and what comes of both opinions together. */
void joint_ask_again(Joint *j, float *second, float *both);

/* Shares become probabilities: by how far they agree with those of the second opinion. */
void joint_calibrate(Joint *j, const float *second);

/* --- chains (sampler.c) ----------------------------------------------------- */

typedef struct Sampler Sampler;

/* A chain that begins with the assignment. chance, borrowed: by candidate, about how likely it is
 * its call's parent; what is proposed. learns: only parents that teach take part. */
Sampler *sampler_new(Joint *j, const float *chance, gboolean learns);
void sampler_free(Sampler *c);

/* After learning. */
void sampler_take_model(Sampler *c);

/* The assignment moves on: so many proposals for each call that is in doubt. */
void sampler_run(Sampler *c, guint sweeps);

/* By candidate, of calls that are in doubt: those that are parents are in this drawing. */
void sampler_note(const Sampler *c, Drawings *drawn, Drawings drawing);

/* Shares and scores as what a chain comes to that begins with the best parents, beside beliefs:
 * these count for the more, the more parents they leave in doubt, since it would take so many more
 * drawings to tell these apart. Shares then become probabilities. */
void joint_draw(Joint *j);

/* --- families (families.c) --------------------------------------------------- */

/* By call into the node, multiplies family by the probability that it made, of the calls out of the
 * node from first to end - 1 that are decided on, those that the assignment gives it and no
 * others. */
void joint_find_families(const Joint *j, guint32 first, guint32 end, float *family);

/* --- learning (learn.c) --------------------------------------------------- */

/* Learns the model of the node from its calls alone, from the first assignment on; goes on
 * learning them, in a step of windows; or learns from the true parents: the oracle. */
void joint_learn(Joint *j);

/* Says how far a node is whose calls are all looked at at once; in parts, they say it. */
void joint_done(const Joint *j, double share);
void joint_go_on(Joint *j);
void joint_learn_from_truth(Joint *j);

/* Walks learn anew from the assignment: from every other parent, from first on, if it teaches. */
void joint_learn_every_other(Joint *j, guint32 first);

/* Goes on from an assignment that is no guess. */
void joint_go_on_from_assignment(Joint *j);

/* What was learned, of bounds by the assignment, is kept for the next calls. */
void joint_keep_model(Joint *j);

/* The natural logarithm of how likely the assignment is: all of it; or that of the parents that
 * teach, of every step-th from first on. */
double joint_log_of_assignment(Joint *j);
double joint_log_of_teachers(Joint *j, guint32 first, guint32 step);

#endif
