/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Serving order as evidence: what the trellis and the chain find of outputs goes to
 * serving-order.h, whose factors of inversions come back. Order is first supposed; it stays where
 * inversions then are rare. Threads seldom end in
 * the order in which they began, but often begin in that order, so what calls into the node trigger
 * is tried by itself where outputs as a whole show none.
 */
#include <math.h>

#include "inference/evidence/event-loop.h"
#include "inference/evidence/evidence-table.h"
#include "inference/evidence/serving-order.h"
#include "inference/learn/rounds.h"
#include "inference/model/kinds.h"
#include "inference/model/tuning.h"
#include "inference/search/assignment.h"
#include "inference/search/beliefs.h"

typedef struct {
        Evidence evidence;
        ServingOrder order; /* has no classes if there are more than MOST_ORDERED callees */
        float *said;        /* by candidate: its ratio by an event loop, while order is supposed of
                               one; NULL: nothing is said */
        gint32 *logs;       /* of its factors, while a chain runs */
        guint32 n_before;
        struct {
                guint32 output;
                Output was;
        } before[2 * (MOST_CHILDREN + 1)]; /* the outputs that the latest put() replaced */
} OrderEvidence;

static inline ServingOrder *order_of(Evidence *e)
{
        return &((OrderEvidence *)e)->order;
}

static void set_in_use(Evidence *e)
{
        e->in_use = order_of(e)->in_use;
}

/* --- what it learns ---------------------------------------------------------- */

static Evidence *make(const NodeModel *model)
{
        OrderEvidence *x = g_new0(OrderEvidence, 1);
        guint32 n = model->n_callees;

        serving_order_init(&x->order, n > MOST_ORDERED ? 0 : (2 * n + 1) * (n + 1));
        return &x->evidence;
}

static void clear_order(Evidence *e)
{
        serving_order_clear(order_of(e));
        g_free(((OrderEvidence *)e)->logs);
        g_free(((OrderEvidence *)e)->said);
}

static void keep(Evidence *e, gboolean half)
{
        serving_order_keep(order_of(e), half);
}

static void bytes(Evidence *e, Bytes *b)
{
        serving_order_bytes(order_of(e), b);
        bytes_bool(b, &e->by_chain);
        bytes_expect(b, e->in_use == order_of(e)->in_use, "the same use twice");
}

/* --- outputs ----------------------------------------------------------------- */

/* The outputs of the node are its calls and its replies, in order of time. */
static void begin(Evidence *e, const Joint *j)
{
        guint32 n_in = j->problem->node->n_in, n_out = j->problem->node->n_out;
        Output *outputs = g_new0(Output, n_out + n_in);

        for (guint32 i = 0; i < n_out; i++)
                outputs[j->problem->output[i]].time = j->kinds->calls[i].start;
        for (guint32 p = 0; p < n_in; p++)
                outputs[j->problem->output[n_out + p]].time = j->problem->node->in[p].reply;
        serving_order_take(order_of(e), outputs, n_out + n_in);
}

static void end(Evidence *e)
{
        serving_order_take(order_of(e), NULL, 0);
}

static void forget(Evidence *e)
{
        serving_order_forget(order_of(e));
}

static void watch(Evidence *e, const Joint *j)
{
        e->watched = j->model->n_callees <= MOST_ORDERED;
}

/* --- what an event loop says ------------------------------------------------- */

/* Order is much of what the loop went by, so its chances count by their power. */
static void say(Evidence *e, const Problem *p, float *chance)
{
        for (guint32 i = 0; i < p->node->n_out; i++)
                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++)
                        chance[k] = powf(chance[k] * n_candidates(p, i) + tuning.loop_least_said,
                                         tuning.loop_says);
        ((OrderEvidence *)e)->said = chance;
}

static void unsay(Evidence *e)
{
        g_clear_pointer(&((OrderEvidence *)e)->said, g_free);
}

static double said_by_loop(const Evidence *e, const Joint *j, guint32 parent, guint32 call,
                           EvidenceBasis basis)
{
        const float *said = ((const OrderEvidence *)e)->said;
        gsize k;

        if (!said || basis != BY_BELIEFS)
                return 1;
        k = problem_find_candidate(j->problem, call, parent);
        return k == G_MAXSIZE ? 1 : (double)said[k];
}

/* --- the trellis ------------------------------------------------------------- */

static double factor(const Evidence *e, const PlacedOutput *o)
{
        return serving_order_factor(&((const OrderEvidence *)e)->order, o->output, o->class,
                                    o->trigger, o->parent);
}

/* Lets a later note replace what this parent noted of an output before. */
static void clear_output(Evidence *e, guint32 output, guint32 parent)
{
        Output *o = &order_of(e)->outputs[output];

        if (o->class != NO_CLASS && o->parent == parent)
                o->share = 0;
}

static void set_output(Output *o, const PlacedOutput *placed, float share)
{
        o->trigger = placed->trigger;
        o->class = placed->class;
        o->parent = placed->parent;
        o->row = placed->row;
        o->share = share;
}

/* Notes the trigger of an output if its share is greater than the share noted so far. */
static void note(Evidence *e, const PlacedOutput *placed, double share)
{
        Output *o = &order_of(e)->outputs[placed->output];

        if (o->class == NO_CLASS || share > o->share)
                set_output(o, placed, share);
}

/* --- the chain --------------------------------------------------------------- */

static void begin_chain(Evidence *e)
{
        OrderEvidence *x = (OrderEvidence *)e;

        if (e->in_use) {
                x->logs = g_renew(gint32, x->logs, serving_order_n_counts(&x->order));
                serving_order_get_logs(&x->order, x->logs);
        }
        serving_order_forget(&x->order);
}

static void seat(Evidence *e, const Family *f)
{
        for (guint32 i = 0; i <= f->n; i++)
                set_output(&order_of(e)->outputs[f->made[i].output], &f->made[i], 1);
}

/* The log likelihood of the inversions of an output with others. */
static gint64 log_of_inversions(const OrderEvidence *x, guint32 output)
{
        return x->order.outputs[output].class == NO_CLASS
                       ? 0
                       : serving_order_log(&x->order, output, x->logs);
}

/* Sets an output. Returns by how much that changes the log likelihood of all outputs. */
static gint64 put_output(OrderEvidence *x, const PlacedOutput *placed)
{
        Output *o = &x->order.outputs[placed->output];
        gint64 log;

        if (o->class == placed->class && o->trigger == placed->trigger &&
            o->parent == placed->parent)
                return 0;
        x->before[x->n_before].output = placed->output;
        x->before[x->n_before++].was = *o;
        log = -log_of_inversions(x, placed->output);
        set_output(o, placed, 1);
        return log + log_of_inversions(x, placed->output);
}

static gint64 put(Evidence *e, const Family f[2])
{
        OrderEvidence *x = (OrderEvidence *)e;
        gint64 log = 0;

        x->n_before = 0;
        for (guint32 m = 0; m < 2; m++)
                for (guint32 i = 0; i <= f[m].n; i++)
                        log += put_output(x, &f[m].made[i]);
        return log;
}

static void back(Evidence *e)
{
        OrderEvidence *x = (OrderEvidence *)e;

        while (x->n_before > 0) {
                x->n_before--;
                x->order.outputs[x->before[x->n_before].output] = x->before[x->n_before].was;
        }
}

/* --- going back ---------------------------------------------------------------- */

static gpointer save(const Evidence *e)
{
        return serving_order_save(&((const OrderEvidence *)e)->order);
}

static void restore(Evidence *e, gconstpointer saved)
{
        serving_order_restore(order_of(e), saved);
        set_in_use(e);
}

/* --- learning ---------------------------------------------------------------- */

/* Supposes that the node works in order, and learns from beliefs how far they bear that out. */
static void suppose(Evidence *e, Joint *j)
{
        ServingOrder *order = order_of(e);
        DelayDensities *delays = &j->model->walk.delays;

        serving_order_suppose(order, delays);
        set_in_use(e);
        for (guint round = 0; round < tuning.order_rounds && order->in_use; round++) {
                joint_learn_from_beliefs(j, G_MAXUINT64);
                if (round < tuning.suppose_rounds)
                        serving_order_suppose(order, delays);
                else
                        serving_order_learn(order, delays);
                set_in_use(e);
        }
        unsay(e);
        if (!order->in_use)
                serving_order_set(order, tuning.maybe_factor);
        set_in_use(e);
}

/* Makes factors of counts of pairs. Returns the ratio of the odds of inversions to the odds by
 * delays alone. */
static double fit(Evidence *e, const ServedPairs *pairs)
{
        serving_order_fit(order_of(e), pairs);
        set_in_use(e);
        return serving_order_odds(order_of(e), pairs);
}

/* Fits the factors of inversions to the assignments of some more rounds of a chain. Returns the
 * ratio of odds that they come to. */
static double fit_to_chain(Evidence *e, Joint *j, Sampler *chain)
{
        ServingOrder *order = order_of(e);
        g_autofree ServedPairs *pairs = g_new0(ServedPairs, serving_order_n_counts(order));
        double odds;

        for (guint round = 0; round < tuning.stage_rounds; round++) {
                joint_learn_from_chain(j, chain);
                if (2 * round >= tuning.stage_rounds)
                        serving_order_count(order, &j->model->walk.delays, pairs);
        }
        odds = fit(e, pairs);
        sampler_take_model(chain);
        return odds;
}

static void drop(Evidence *e)
{
        serving_order_drop(order_of(e));
        set_in_use(e);
}

/* Whether the node is small enough to be looked at, and stamps tell in which order inputs came. */
static gboolean may_loop(const Joint *j)
{
        gint64 outputs = (gint64)j->problem->node->n_out + j->problem->node->n_in;

        return outputs <= LOOP_MOST && j->problem->resolution == 0;
}

/* Whether walks are hardly less likely by the parents that calls have if the node is an event loop,
 * which it assigns, than by the parents that they have so far, by which they had this log. */
static gboolean is_by_event_loop(Joint *j, gint64 log, float *chance)
{
        EventLoop *loop = event_loop_new(j);

        for (guint round = 0; round < LOOP_ROUNDS; round++) {
                event_loop_round(loop, chance);
                problem_round_done(j->problem);
        }
        event_loop_free(loop);
        assignment_take_best(j->assignment, j->problem, chance, FALSE);
        return -joint_gain_of_walks(j, log) <= tuning.loop_loss;
}

/* The same, with walks of its own. Sets the log that walks had before. */
static gboolean may_be_event_loop(Evidence *e, Joint *j, float *chance, gint64 *log)
{
        ParentWalk walk = j->model->walk;
        gboolean may_be;

        if (!may_loop(j))
                return FALSE;
        e->watched = FALSE; /* what was noted of outputs stays */
        node_model_renew_walks(j->model);
        trellis_begin(j->trellis, j->model);
        *log = joint_judge_all(j, 2);
        may_be = is_by_event_loop(j, *log, chance);
        parent_walk_clear(&j->model->walk);
        j->model->walk = walk;
        e->watched = TRUE;
        trellis_begin(j->trellis, j->model);
        return may_be;
}

/* Begins with the parents of an event loop if the node may be one, and lets it say what it found
 * while order is supposed. Rounds of beliefs seldom find them from other parents, and seldom keep
 * to them by themselves. Returns whether it did. */
static gboolean begin_with_event_loop(Evidence *e, Joint *j, gint64 *log)
{
        g_autofree float *chance = g_new(float, problem_n_all(j->problem));
        g_autofree guint32 *parent = g_memdup2(
                j->assignment->parent, j->problem->node->n_out * sizeof *j->assignment->parent);

        if (!may_be_event_loop(e, j, chance, log)) {
                assignment_take(j->assignment, parent);
                return FALSE;
        }
        parent_walk_forget(&j->model->walk);
        joint_learn_from_assigned(j, G_MAXUINT64);
        joint_start_beliefs(j);
        say(e, j->problem, g_steal_pointer(&chance));
        return TRUE;
}

/* Begins with the beliefs of before another try: what was noted was of walks that are no more. */
static void begin_again(Evidence *e, Joint *j, const JointState *before)
{
        joint_restore(j, before);
        forget(e);
        joint_learn_from_beliefs(j, G_MAXUINT64);
}

/* Which outputs may be in order. */
typedef enum {
        ALL_OUTPUTS,
        DISPATCHED /* calls that a call into the node triggers: the first that each request makes */
} Ordered;

static gboolean shows_order(double odds)
{
        return odds < tuning.order_odds;
}

static void allow(Evidence *e, const Joint *j, Ordered which)
{
        ServingOrder *order = order_of(e);
        guint32 n = j->model->n_callees;

        for (guint32 i = 0; i < order->n_classes; i++)
                serving_order_allow(order, i,
                                    which == ALL_OUTPUTS ||
                                            (i / (n + 1) == 2 * n && i % (n + 1) < n));
}

/* Whether beliefs show that there is no order: hardly a trigger is in doubt, and the odds of
 * inversions are so high that those in doubt cannot hide it. */
static gboolean is_plainly_unordered(Evidence *e, Joint *j, Ordered which)
{
        ServingOrder *order = order_of(e);
        g_autofree ServedPairs *pairs = NULL;

        if (serving_order_sure(order) < tuning.plain_triggers)
                return FALSE;
        pairs = g_new0(ServedPairs, serving_order_n_counts(order));
        allow(e, j, which);
        serving_order_count(order, &j->model->walk.delays, pairs);
        return serving_order_odds(order, pairs) >= tuning.plain_odds;
}

/* Supposes order, and lets the chain's assignments say how rare inversions are, by expectation
 * maximisation. The factor falls where there is order and rises where there is none. */
static double try_order(Evidence *e, Joint *j, Ordered which)
{
        g_autofree float *chance = g_new(float, problem_n_all(j->problem));
        double odds;
        guint n = 0;
        Sampler *chain;

        allow(e, j, which);
        suppose(e, j);
        joint_begin_chain(j, chance);
        chain = sampler_new(j, chance, TRUE);
        do
                odds = fit_to_chain(e, j, chain);
        while (++n < tuning.order_stages && odds < tuning.hopeless_odds);
        sampler_free(chain);
        return odds;
}

/* What was learned with order is undone. */
static void undo(Evidence *e, Joint *j, const JointState *before)
{
        drop(e);
        joint_restore(j, before);
}

/* Whether the reverse order, last in, first out, bears itself out about as well as this one did:
 * where parents are in doubt, rounds that suppose an order find parents that do, whatever it is.
 * Leaves all as it was. */
static gboolean is_reverse_as_good(Evidence *e, Joint *j, const JointState *before, double odds)
{
        JointState *found = joint_save(j);
        double reverse;

        begin_again(e, j, before);
        order_of(e)->last_first = TRUE;
        reverse = try_order(e, j, DISPATCHED);
        order_of(e)->last_first = FALSE;
        joint_restore(j, found);
        joint_state_free(found);
        return shows_order(reverse) && reverse < tuning.reverse_odds * odds;
}

/* So order counts only if walks, which know nothing of it, become likelier, and the reverse does
 * not show, too. */
static gboolean is_dispatched(Evidence *e, Joint *j, const JointState *before)
{
        gint64 log = joint_judge_all(j, 2);
        gboolean counts;
        double odds;

        begin_again(e, j, before);
        odds = try_order(e, j, DISPATCHED);
        counts = shows_order(odds) && joint_gain_put_back(j, log) >= tuning.dispatch_gain &&
                 !is_reverse_as_good(e, j, before, odds);
        if (!counts)
                undo(e, j, before);
        return counts;
}

/* A try of order among all outputs. */
typedef struct {
        gboolean shows; /* there is order */
        double odds;    /* of inversions */
        double gain;    /* of walks, which know nothing of order: nats an output */
} Try;

/* log: that of walks before. */
static Try try_all(Evidence *e, Joint *j, gint64 log)
{
        double odds = try_order(e, j, ALL_OUTPUTS);
        Try t = { .shows = shows_order(odds), .odds = odds };

        if (!t.shows)
                return t;
        e->watched = FALSE;
        t.gain = joint_gain_put_back(j, log);
        e->watched = TRUE;
        return t;
}

/* Tries order from the parents before instead of those of an event loop. These stay if they bore
 * out order, unless the others do by fewer inversions, and walks are likelier: threads that serve
 * in order may look like an event loop, whose parents then hide the order that those before show.
 */
static Try try_without_loop(Evidence *e, Joint *j, gint64 log, const JointState *before, Try loop)
{
        JointState *found = joint_save(j);
        Try other;

        drop(e);
        begin_again(e, j, before);
        other = try_all(e, j, log);
        if (loop.shows && !(other.shows && other.gain > loop.gain && other.odds < loop.odds)) {
                joint_restore(j, found);
                other = loop;
        }
        joint_state_free(found);
        return other;
}

/* Whether order makes up for what walks lose by the parents of an event loop: the rarer inversions
 * are, the more. */
static gboolean is_worth_its_loss(const Try *t)
{
        return t->shows && t->gain >= tuning.loop_last_loss * log(t->odds);
}

/* Whether there is order among all outputs. */
static gboolean is_ordered(Evidence *e, Joint *j, const JointState *before)
{
        gint64 log = 0;
        gboolean loop = begin_with_event_loop(e, j, &log);
        Try t = try_all(e, j, log);

        if (loop) {
                t.shows = is_worth_its_loss(&t);
                if (!t.shows || t.gain < 0)
                        t = try_without_loop(e, j, log, before, t);
        }
        e->by_chain = t.shows && may_loop(j);
        if (!t.shows)
                undo(e, j, before);
        return t.shows;
}

static gboolean try_last(Evidence *e, Joint *j)
{
        gboolean all = !is_plainly_unordered(e, j, ALL_OUTPUTS),
                 dispatched = !is_plainly_unordered(e, j, DISPATCHED), shows;
        JointState *before;

        if (!all && !dispatched)
                return FALSE;
        before = joint_save(j);
        shows = (all && is_ordered(e, j, before)) || (dispatched && is_dispatched(e, j, before));
        joint_state_free(before);
        return shows;
}

/* Rounds of beliefs with what an event loop says, which learn nothing. Only inversions within a
 * class count, as when order was supposed: with those of two classes beliefs hold to what they
 * began with. */
static void believe_loop(Evidence *e, Joint *j)
{
        float *mixed = g_steal_pointer(&order_of(e)->mixed), *chance;
        EventLoop *loop = event_loop_new(j);

        chance = g_new(float, problem_n_all(j->problem));
        for (guint round = 0; round < LOOP_ROUNDS; round++)
                event_loop_round(loop, chance);
        event_loop_free(loop);
        assignment_take_best(j->assignment, j->problem, chance, FALSE);
        joint_start_beliefs(j);
        say(e, j->problem, chance);
        for (guint round = 0; round < tuning.order_rounds; round++) {
                j->beliefs->negligible = 0;
                joint_update_all(j, FALSE);
        }
        unsay(e);
        order_of(e)->mixed = mixed;
}

/* Finds the parents of a part of an event loop as they were found when it was learned, but learns
 * nothing. */
static void find(Evidence *e, Joint *j)
{
        g_autofree float *chance = NULL;
        Sampler *chain;

        if (!e->by_chain || !may_loop(j)) /* a part may be larger than what was learned from */
                return;
        believe_loop(e, j);
        chance = g_new(float, problem_n_all(j->problem));
        joint_begin_chain(j, chance);
        chain = sampler_new(j, chance, FALSE);
        sampler_run(chain, tuning.order_stages * tuning.stage_rounds * tuning.chain_sweeps);
        sampler_free(chain);
        joint_keep_parents(j);
}

/* What the counts of true parents' outputs come to. */
static double fit_to_truth(Evidence *e, Joint *j, Ordered which)
{
        ServingOrder *order = order_of(e);
        g_autofree ServedPairs *pairs = g_new0(ServedPairs, serving_order_n_counts(order));

        allow(e, j, which);
        serving_order_count(order, &j->model->walk.delays, pairs);
        return fit(e, pairs);
}

static void learn_truth(Evidence *e, Joint *j)
{
        watch(e, j);
        if (!e->watched)
                return;
        joint_learn_from_assigned(j, G_MAXUINT64); /* the same walks: outputs are noted */
        if (!shows_order(fit_to_truth(e, j, ALL_OUTPUTS)) &&
            !shows_order(fit_to_truth(e, j, DISPATCHED)))
                drop(e);
        forget(e);
}

static void learn_more(Evidence *e, Joint *j)
{
        serving_order_learn(order_of(e), &j->model->walk.delays);
        set_in_use(e);
}

const EvidenceKind evidence_order = {
        .name = "order",
        .make = make,
        .free = clear_order,
        .keep = keep,
        .bytes = bytes,
        .begin = begin,
        .end = end,
        .watch = watch,
        .try_last = try_last,
        .find = find,
        .learn_truth = learn_truth,
        .learn = learn_more,
        .save = save,
        .restore = restore,
        .forget = forget,
        .call = said_by_loop,
        .output = factor,
        .clear = clear_output,
        .note = note,
        .begin_chain = begin_chain,
        .seat = seat,
        .put = put,
        .back = back,
};
