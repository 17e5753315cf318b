/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/learn/order-trials.h"

#include <math.h>

#include "inference/learn/order.h"
#include "inference/learn/rounds.h"
#include "inference/model/node-model.h"
#include "inference/model/problem.h"
#include "inference/model/tuning.h"
#include "inference/search/assignment.h"
#include "inference/search/beliefs.h"
#include "inference/search/event-loop.h"
#include "inference/search/trellis.h"

/* The outcome of a trial. */
typedef struct {
        gboolean shows; /* there is order */
        double odds;    /* of inversions */
        double gain;    /* of walks, which know nothing of order: nats an output */
} Trial;

typedef struct {
        Joint *j;
        ServingOrder *order;
        JointState *before; /* all trials */
        gint64 log;         /* of walks then */
} OrderTrials;

/* --- event loops --------------------------------------------------------------- */

/* Whether the node is small enough to be looked at, and stamps show the order of inputs. */
static gboolean may_loop(const Joint *j)
{
        gint64 outputs = (gint64)j->problem->node->n_out + j->problem->node->n_in;

        return outputs <= LOOP_MOST && j->problem->resolution == 0;
}

/* Assigns as an event loop would. chance: by candidate. In a trial it returns what walks, learned
 * anew, lose by these parents, in nats an output. It ends after the first round if that is far too
 * much. */
static double assign_by_loop(Joint *j, float *chance, const OrderTrials *trial)
{
        EventLoop *loop = event_loop_new(j);
        double loss = 0, most = LOOP_HOPELESS * tuning.loop_loss;

        for (guint round = 0; round < LOOP_ROUNDS && loss <= most; round++) {
                event_loop_round(loop, chance);
                if (!trial)
                        continue;
                problem_round_done(j->problem);
                if (round > 0 && round + 1 < LOOP_ROUNDS)
                        continue;
                assignment_take_best(j->assignment, j->problem, chance, FALSE);
                loss = -joint_gain_of_walks(j, trial->log);
        }
        event_loop_free(loop);
        assignment_take_best(j->assignment, j->problem, chance, FALSE);
        return loss;
}

/* Assigns as an event loop would. Returns whether walks, learned anew, are hardly less likely by
 * these parents than by the parents that calls have so far. */
static gboolean may_be_event_loop(OrderTrials *t, float *chance)
{
        Joint *j = t->j;
        ParentWalk walk = j->model->walk;
        gboolean may_be;

        if (!may_loop(j))
                return FALSE;
        t->order->watched = FALSE; /* what was noted of outputs stays */
        node_model_renew_walks(j->model);
        trellis_begin(j->trellis, j->model);
        t->log = joint_judge_all(j, 2);
        may_be = assign_by_loop(j, chance, t) <= tuning.loop_loss;
        parent_walk_clear(&j->model->walk);
        j->model->walk = walk;
        t->order->watched = TRUE;
        trellis_begin(j->trellis, j->model);
        return may_be;
}

/* Begins with the parents of an event loop if the node may be one. Their chances then weigh on
 * beliefs while order is supposed. Rounds of beliefs seldom find these parents from others, and
 * seldom keep them by themselves. Returns whether it did so. */
static gboolean begin_with_loop(OrderTrials *t)
{
        Joint *j = t->j;
        g_autofree float *chance = g_new(float, problem_n_all(j->problem));
        g_autofree guint32 *parent = g_memdup2(
                j->assignment->parent, j->problem->node->n_out * sizeof *j->assignment->parent);

        if (!may_be_event_loop(t, chance)) {
                assignment_take(j->assignment, parent);
                return FALSE;
        }
        parent_walk_forget(&j->model->walk);
        joint_learn_from_assigned(j, G_MAXUINT64);
        joint_start_beliefs(j);
        order_weigh_by_loop(j, g_steal_pointer(&chance));
        return TRUE;
}

/* --- the trials ------------------------------------------------------------------ */

/* Begins another trial with the beliefs before all trials. The notes on outputs go, as they are
 * from other walks. */
static void begin_again(OrderTrials *t)
{
        joint_restore(t->j, t->before);
        serving_order_forget(t->order);
        joint_learn_from_beliefs(t->j, G_MAXUINT64);
}

/* Undoes what was learned with order. */
static void undo(OrderTrials *t)
{
        serving_order_drop(t->order);
        joint_restore(t->j, t->before);
}

/* Order among all outputs, from the present beliefs. */
static Trial try_all_outputs(OrderTrials *t)
{
        Trial trial = { .odds = order_learn(t->j, ALL_OUTPUTS) };

        trial.shows = order_shows(trial.odds);
        if (!trial.shows)
                return trial;
        t->order->watched = FALSE;
        trial.gain = joint_gain_then_restore(t->j, t->log);
        t->order->watched = TRUE;
        return trial;
}

/* Whether order is worth the likelihood that walks lose by the parents of an event loop. The rarer
 * inversions are, the more walks may lose. */
static gboolean is_worth_its_loss(const Trial *loop)
{
        return loop->shows && loop->gain >= tuning.loop_last_loss * log(loop->odds);
}

/* Tries order from the parents before the event loop's. Threads that serve in order may look like
 * an event loop, whose parents then hide their order. The parents of the loop stay if they show
 * order, unless the others show it with fewer inversions and likelier walks. */
static Trial try_plain_after_loop(OrderTrials *t, const Trial *loop)
{
        JointState *found = joint_save(t->j);
        Trial plain;

        serving_order_drop(t->order);
        begin_again(t);
        plain = try_all_outputs(t);
        if (loop->shows && !(plain.shows && plain.gain > loop->gain && plain.odds < loop->odds)) {
                joint_restore(t->j, found);
                plain = *loop;
        }
        joint_state_free(found);
        return plain;
}

/* The first calls of requests. */
static Trial try_dispatched(OrderTrials *t)
{
        gint64 log = joint_judge_all(t->j, 2);
        Trial trial;

        begin_again(t);
        trial.odds = order_learn(t->j, DISPATCHED);
        trial.shows = order_shows(trial.odds);
        trial.gain = trial.shows ? joint_gain_then_restore(t->j, log) : 0;
        return trial;
}

/* Tries the reverse order, last in, first out, and leaves everything unchanged. Where parents are
 * uncertain, rounds that suppose an order find parents that keep it, right or wrong. */
static Trial try_reverse(OrderTrials *t)
{
        JointState *found = joint_save(t->j);
        Trial trial = { .shows = FALSE };

        begin_again(t);
        t->order->last_first = TRUE;
        trial.odds = order_learn(t->j, DISPATCHED);
        trial.shows = order_shows(trial.odds);
        t->order->last_first = FALSE;
        joint_restore(t->j, found);
        joint_state_free(found);
        return trial;
}

/* --- which of them holds ----------------------------------------------------------- */

static gboolean are_all_ordered(OrderTrials *t)
{
        gboolean may_be_loop = begin_with_loop(t);
        Trial trial = try_all_outputs(t);

        if (may_be_loop) {
                trial.shows = is_worth_its_loss(&trial);
                if (!trial.shows || trial.gain < 0)
                        trial = try_plain_after_loop(t, &trial);
        }
        t->order->by_chain = trial.shows && may_loop(t->j);
        return trial.shows;
}

/* Such order counts only if walks become likelier, and the reverse shows clearly less. */
static gboolean are_dispatched_in_order(OrderTrials *t)
{
        Trial trial = try_dispatched(t), reverse;

        if (!trial.shows || trial.gain < tuning.dispatch_gain)
                return FALSE;
        reverse = try_reverse(t);
        return !reverse.shows || reverse.odds >= tuning.reverse_odds * trial.odds;
}

/* Whether any order shows. If none does, everything is as it was before. */
static gboolean shows_any(OrderTrials *t, gboolean all, gboolean dispatched)
{
        if (all && are_all_ordered(t))
                return TRUE;
        if (all)
                undo(t);
        if (dispatched && are_dispatched_in_order(t))
                return TRUE;
        if (dispatched)
                undo(t);
        return FALSE;
}

/* Whether any order shows with some of the training parents, where there are many. If so, the
 * trials may begin with all of them. */
static gboolean shows_in_few(OrderTrials *t, gboolean all, gboolean dispatched)
{
        Problem *p = t->j->problem;
        guint32 n_stretches = p->n_stretches, times = problem_n_new(p) / ORDER_FEW;
        gboolean shows;

        if (times < 2)
                return TRUE;
        p->n_stretches *= times;
        begin_again(t);
        shows = shows_any(t, all, dispatched);
        p->n_stretches = n_stretches;
        if (shows) {
                undo(t);
                begin_again(t);
        }
        return shows;
}

gboolean order_try(Joint *j)
{
        OrderTrials t = { .j = j, .order = &j->model->evidence.order };
        gboolean all, dispatched, shows;

        if (!t.order->watched)
                return FALSE;
        all = !order_is_plainly_absent(j, ALL_OUTPUTS);
        dispatched = !order_is_plainly_absent(j, DISPATCHED);
        if (!all && !dispatched)
                return FALSE;
        t.before = joint_save(j);
        shows = shows_in_few(&t, all, dispatched) && shows_any(&t, all, dispatched);
        joint_state_free(t.before);
        return shows;
}

/* --- parts ---------------------------------------------------------------------------- */

/* Runs rounds of beliefs that weigh the chances of an event loop, and learn nothing. Only
 * inversions within a class count, as when order was supposed. Inversions between two classes would
 * hold beliefs to what they began with. */
static void believe_loop(Joint *j)
{
        ServingOrder *order = &j->model->evidence.order;
        float *mixed = g_steal_pointer(&order->mixed);
        float *chance = g_new(float, problem_n_all(j->problem));

        assign_by_loop(j, chance, NULL);
        joint_start_beliefs(j);
        order_weigh_by_loop(j, chance);
        for (guint round = 0; round < tuning.order_rounds; round++) {
                j->beliefs->negligible = 0;
                joint_update_all(j, FALSE);
        }
        order_drop_loop_weights(j);
        order->mixed = mixed;
}

void order_find(Joint *j)
{
        const ServingOrder *order = &j->model->evidence.order;
        g_autofree float *chance = NULL;
        Sampler *chain;

        if (!serving_order_counts(order) || !order->by_chain ||
            !may_loop(j)) /* a part may be larger than what was learned from */
                return;
        believe_loop(j);
        chance = g_new(float, problem_n_all(j->problem));
        joint_begin_chain(j, chance);
        chain = sampler_new(j, chance, FALSE);
        sampler_run(chain, tuning.order_stages * tuning.stage_rounds * tuning.chain_sweeps);
        sampler_free(chain);
        joint_keep_parents(j);
}
