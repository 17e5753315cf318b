/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A Markov chain of assignments (Metropolis and others, 1953; Hastings, 1970). An assignment is as
 * likely as the walks of its parents and, where the node works in order, its inversions make it. A
 * step gives one call, or a few, to another parent.
 *
 * The chain corrects belief propagation, which takes the beliefs on a call as independent, and may
 * choose parents for two calls that do not go together.
 */
#include "base/hash.h"
#include "inference/joint.h"

enum {
        MOST_CHILDREN = 48, /* a parent with more children keeps them */
        HOPELESS = 24,      /* nats; order cannot make up for a step that loses more */
        WARM_UP = 20,       /* sweeps before drawings of the warm chain count */
        COOL_DOWN = 10,     /* sweeps before drawings of the cold chain count */
        COLD = 2,           /* the cold chain raises likelihoods to this power */

        /* The beliefs on a call are worth PRIOR_DRAWINGS drawings where they leave no doubt, and
         * more where they leave more. A call whose beliefs would be worth more than
         * MOST_PRIOR_DRAWINGS is left out of the chain. */
        PRIOR_DRAWINGS = 20,
        MOST_PRIOR_DRAWINGS = 480,

        FIRST = 8, /* being the parent when the chain starts is worth this many drawings */
};

/* A parent is proposed with its chance plus this, so that each candidate is proposed at times. */
#define LEAST_CHANCE 0.002

/* A call with a candidate of a greater chance is certain, and left out of the chain. */
#define CERTAIN 0.9999

/* An output of a parent. Its delay counts since the trigger, an earlier event of the same parent.
 * row is its row of delay densities. */
typedef struct {
        guint32 output, class, row;
        gint64 trigger;
} Step;

/* A parent and its children, in order of start. */
typedef struct {
        guint32 parent, n;
        guint32 child[MOST_CHILDREN];
        gint32 log; /* the log likelihood of its walk, in 1/LOG_UNIT */
        Step step[MOST_CHILDREN + 1];
} Family;

struct Sampler {
        Joint *j;
        const float *chance; /* by candidate */
        guint64 random;      /* state of the xorshift generator */
        gboolean learns;     /* only training parents take part */
        gboolean ordered;    /* the node works in order, so inversions count */
        guint power;         /* likelihoods are raised to it */
        gint32 *log;         /* by parent: the log likelihood of its walk */
        gint32 *inversion;   /* by class, then by pair of classes: log of an inversion's factor */
        guint32 *open;       /* the open calls, which may get another parent */
        guint32 n_open;
};

/* --- chance ----------------------------------------------------------------- */

static inline guint64 next_random(Sampler *c)
{
        c->random ^= c->random << 13;
        c->random ^= c->random >> 7;
        c->random ^= c->random << 17;
        return c->random;
}

/* A random number between 0 and 1, both excluded. */
static inline double uniform(Sampler *c)
{
        return ((double)(next_random(c) >> 11) + 0.5) / 9007199254740992.0;
}

/* A random number less than n. */
static inline guint32 below(Sampler *c, guint32 n)
{
        return (next_random(c) >> 32) * n >> 32;
}

/* The weight of a candidate among the proposals for its call. */
static inline double chance_of(const Sampler *c, gsize k)
{
        return c->chance[k] + LEAST_CHANCE;
}

/* Draws a candidate of the call by chance. */
static gsize draw_candidate(Sampler *c, guint32 call)
{
        gsize k = c->j->candidates[call], last = c->j->candidates[call + 1] - 1;
        double at = uniform(c) * (1 + LEAST_CHANCE * n_candidates(c->j, call));

        for (; k < last && (at -= chance_of(c, k)) >= 0; k++)
                ;
        return k;
}

/* --- walks ------------------------------------------------------------------- */

/* Finds the log likelihood of a family, and the outputs of its parent. */
static void walk(Sampler *c, Family *f)
{
        Joint *j = c->j;
        ParentWalk *w = &j->model->walk;
        const CallIn *in = &j->node->in[f->parent];
        WalkPlace at = parent_walk_start(w, j->kind[f->parent], in->enter);
        guint32 event = 2 * w->n_callees, under_way[MOST_CHILDREN], n = 0;

        f->log = 0;
        for (guint32 i = 0; i <= f->n; i++) {
                const WalkCall *call = i < f->n ? &j->calls[f->child[i]] : NULL;
                gint64 time = call ? call->start : in->reply;
                guint32 next = call ? call->callee : 2 * w->n_callees, k, step;

                for (k = 0; k < n && (!call || j->calls[under_way[k]].end <= time); k++) {
                        const WalkCall *done = &j->calls[under_way[k]];

                        event = w->n_callees + done->callee;
                        step = parent_walk_step(w, at.state, event);
                        f->log += w->steps[step].log;
                        at = (WalkPlace){ w->steps[step].next, done->end };
                }
                n -= k;
                memmove(under_way, under_way + k, n * sizeof *under_way);
                step = parent_walk_step(w, at.state, next);
                f->log += w->steps[step].log +
                          w->delays.log[w->steps[step].row][density_bin(time - at.latest)];
                f->step[i] = (Step){ j->output[call ? f->child[i] : j->node->n_out + f->parent],
                                     trellis_class(&j->trellis, w, event, next), w->steps[step].row,
                                     at.latest };
                if (!call)
                        break;
                event = next;
                at = (WalkPlace){ w->steps[step].next, call->start };
                for (k = n++; k > 0 && j->calls[under_way[k - 1]].end > call->end; k--)
                        under_way[k] = under_way[k - 1];
                under_way[k] = f->child[i];
        }
}

/* Gets the family of a parent in the assignment. FALSE if it has too many children. */
static gboolean gather(const Joint *j, guint32 parent, Family *f)
{
        f->parent = parent;
        f->n = 0;
        for (guint32 k = j->first[parent]; k != NO_PARENT; k = j->next[k]) {
                if (f->n == MOST_CHILDREN)
                        return FALSE;
                f->child[f->n++] = k;
        }
        return TRUE;
}

/* Makes a family part of the assignment. */
static void settle(Sampler *c, const Family *f)
{
        Joint *j = c->j;
        guint32 *at = &j->first[f->parent];

        for (guint32 i = 0; i < f->n; i++) {
                *at = f->child[i];
                j->parent[f->child[i]] = f->parent;
                at = &j->next[f->child[i]];
        }
        *at = NO_PARENT;
        c->log[f->parent] = f->log;
}

/* --- order ------------------------------------------------------------------- */

/* The log likelihood of the inversions of an output with others. */
static gint64 log_of_inversions(const Sampler *c, guint32 output)
{
        const ServingOrder *order = &c->j->model->order;

        return order->outputs[output].class == NO_CLASS
                       ? 0
                       : serving_order_log(order, output, c->inversion);
}

/* Sets an output. Returns by how much that changes the log likelihood of all outputs. */
static gint64 note(Sampler *c, guint32 output, const Output *say)
{
        Output *o = &c->j->model->order.outputs[output];
        gint64 log;

        if (o->class == say->class && o->trigger == say->trigger && o->parent == say->parent)
                return 0;
        log = -log_of_inversions(c, output);
        *o = *say;
        return log + log_of_inversions(c, output);
}

/* The output that a step of a family makes. */
static Output output_of(const Sampler *c, const Family *f, const Step *s)
{
        gint64 time = c->j->model->order.outputs[s->output].time;

        return (Output){ time, s->trigger, s->class, f->parent, s->row, 1 };
}

/* Sets the outputs of a family. Returns the change of the log likelihood of all outputs. */
static gint64 note_family(Sampler *c, const Family *f)
{
        gint64 log = 0;

        for (guint32 i = 0; i <= f->n; i++) {
                Output say = output_of(c, f, &f->step[i]);

                log += note(c, f->step[i].output, &say);
        }
        return log;
}

/* Sets the outputs of two families. If that changes the log likelihood by less than the threshold,
 * sets them back and returns FALSE. */
static gboolean accept_order(Sampler *c, const Family *f, gint64 threshold)
{
        Output before[2 * (MOST_CHILDREN + 1)];
        guint32 n = 0;

        for (guint32 m = 0; m < 2; m++)
                for (guint32 i = 0; i <= f[m].n; i++)
                        before[n++] = c->j->model->order.outputs[f[m].step[i].output];
        if (note_family(c, &f[0]) + note_family(c, &f[1]) >= threshold)
                return TRUE;
        n = 0;
        for (guint32 m = 0; m < 2; m++)
                for (guint32 i = 0; i <= f[m].n; i++)
                        note(c, f[m].step[i].output, &before[n++]);
        return FALSE;
}

/* --- steps ------------------------------------------------------------------- */

/* The index of a parent among the candidates of a call; G_MAXSIZE if it is none. */
static gsize find_candidate(const Joint *j, guint32 call, guint32 parent)
{
        gsize from = j->candidates[call], to = j->candidates[call + 1];

        while (from < to) {
                gsize middle = from + (to - from) / 2;

                if (j->candidate[middle] < parent)
                        from = middle + 1;
                else
                        to = middle;
        }
        return from < j->candidates[call + 1] && j->candidate[from] == parent ? from : G_MAXSIZE;
}

static void take_out(Family *f, guint32 call)
{
        guint32 kept = 0;

        for (guint32 i = 0; i < f->n; i++)
                if (f->child[i] != call)
                        f->child[kept++] = f->child[i];
        f->n = kept;
}

static void put_in(Family *f, guint32 call)
{
        guint32 i = f->n++;

        for (; i > 0 && f->child[i - 1] > call; i--)
                f->child[i] = f->child[i - 1];
        f->child[i] = call;
}

/* Exchanges the children of two parents from a call on. FALSE if one of them is no candidate of a
 * child that it would get. */
static gboolean exchange_rest(const Joint *j, Family *from, Family *to, guint32 call)
{
        guint32 rest[MOST_CHILDREN], i = 0, k = 0, n = 0;

        while (from->child[i] != call)
                i++;
        while (k < to->n && to->child[k] < call)
                k++;
        if (i + to->n - k > MOST_CHILDREN || k + from->n - i > MOST_CHILDREN)
                return FALSE;
        for (guint32 m = i; m < from->n; m++)
                if (find_candidate(j, from->child[m], to->parent) == G_MAXSIZE)
                        return FALSE;
        for (guint32 m = k; m < to->n; m++, n++) {
                if (find_candidate(j, to->child[m], from->parent) == G_MAXSIZE)
                        return FALSE;
                rest[n] = to->child[m];
        }
        memcpy(to->child + k, from->child + i, (from->n - i) * sizeof *rest);
        memcpy(from->child + i, rest, n * sizeof *rest);
        to->n = k + from->n - i;
        from->n = i + n;
        return TRUE;
}

/* The number of children in a family that go to the callee of a call. */
static guint32 count_same(const Joint *j, const Family *f, guint32 call)
{
        guint32 n = 0;

        for (guint32 i = 0; i < f->n; i++)
                n += joint_same_callee(j, f->child[i], call);
        return n;
}

/* Exchanges a call for a call of the other parent to the same callee. Returns the ratio of the
 * probabilities of the backward and the forward proposal; 0 if there is no such exchange. */
static double exchange_same(Sampler *c, Family *from, Family *to, guint32 call, gsize k)
{
        const Joint *j = c->j;
        guint32 n_from = count_same(j, from, call), n_to = count_same(j, to, call), pick, i;
        gsize other_from, back = find_candidate(j, call, from->parent);
        double ratio;

        if (n_to == 0)
                return 0;
        pick = below(c, n_to);
        for (i = 0; !joint_same_callee(j, to->child[i], call) || pick-- > 0; i++)
                ;
        pick = to->child[i];
        other_from = find_candidate(j, pick, from->parent);
        if (other_from == G_MAXSIZE)
                return 0;
        ratio = (chance_of(c, back) / n_from +
                 chance_of(c, find_candidate(j, pick, to->parent)) / n_to) /
                (chance_of(c, k) / n_to + chance_of(c, other_from) / n_from);
        take_out(from, call);
        take_out(to, pick);
        put_in(from, pick);
        put_in(to, call);
        return ratio;
}

/* Proposes another parent for a call, and moves to it with the probability of Metropolis and
 * Hastings. */
static void propose(Sampler *c, guint32 call)
{
        Joint *j = c->j;
        guint32 parent = j->parent[call];
        gsize k = draw_candidate(c, call);
        Family f[2];
        double ratio;
        gint32 chance;
        gint64 threshold;

        if (parent == NO_PARENT || j->candidate[k] == parent ||
            (c->learns && !is_training_parent(j, j->candidate[k])) || !gather(j, parent, &f[0]) ||
            !gather(j, j->candidate[k], &f[1]))
                return;
        ratio = chance_of(c, find_candidate(j, call, parent)) / chance_of(c, k);
        switch (below(c, 4)) {
        case 0: /* alone */
                if (f[1].n == MOST_CHILDREN)
                        return;
                take_out(&f[0], call);
                put_in(&f[1], call);
                break;
        case 1: /* with all later children, exchanged */
                if (!exchange_rest(j, &f[0], &f[1], call))
                        return;
                break;
        default: /* in exchange for a call to the same callee */
                ratio = exchange_same(c, &f[0], &f[1], call, k);
                if (ratio == 0)
                        return;
        }
        walk(c, &f[0]);
        walk(c, &f[1]);
        chance = fixed_log(uniform(c)) - fixed_log(ratio);
        threshold = (gint64)c->log[f[0].parent] + c->log[f[1].parent] - f[0].log - f[1].log +
                    chance / (gint32)c->power;
        if (c->ordered ? threshold > HOPELESS * LOG_UNIT || !accept_order(c, f, threshold)
                       : threshold > 0)
                return;
        settle(c, &f[0]);
        settle(c, &f[1]);
}

/* --- the chain ---------------------------------------------------------------- */

/* Finds the open calls: calls that are not certain, and not so much in doubt that the few drawings
 * would tell nothing. */
static void find_open(Sampler *c)
{
        const Joint *j = c->j;

        for (guint32 i = 0; i < j->node->n_out; i++) {
                double squares = 0;
                float most = 0;

                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++) {
                        most = MAX(most, c->chance[k]);
                        squares += (double)c->chance[k] * c->chance[k];
                }
                if (n_candidates(j, i) > 1 && most < CERTAIN &&
                    (c->learns ? j->parent[i] != NO_PARENT && is_training_parent(j, j->parent[i])
                               : squares * squares * MOST_PRIOR_DRAWINGS >= PRIOR_DRAWINGS))
                        c->open[c->n_open++] = i;
        }
}

Sampler *sampler_new(Joint *j, const float *chance, gboolean learns)
{
        Sampler *c = g_new0(Sampler, 1);

        c->j = j;
        c->chance = chance;
        c->learns = learns;
        c->random = HASH_SEED;
        c->power = 1;
        c->log = g_new0(gint32, j->node->n_in);
        c->inversion = g_new0(gint32, serving_order_n_counts(&j->model->order));
        c->open = g_new(guint32, j->node->n_out);
        find_open(c);
        sampler_take_model(c);
        return c;
}

void sampler_free(Sampler *c)
{
        g_free(c->log);
        g_free(c->inversion);
        g_free(c->open);
        g_free(c);
}

void sampler_take_model(Sampler *c)
{
        Joint *j = c->j;
        ServingOrder *order = &j->model->order;

        c->ordered = j->trellis.order && order->in_use;
        if (c->ordered)
                serving_order_get_logs(order, c->inversion);
        serving_order_forget(order);
        for (guint32 p = 0; p < j->node->n_in; p++) {
                Family f;

                if ((c->learns && !is_training_parent(j, p)) || !gather(j, p, &f))
                        continue;
                walk(c, &f);
                c->log[p] = f.log;
                for (guint32 i = 0; j->trellis.order && i <= f.n; i++)
                        order->outputs[f.step[i].output] = output_of(c, &f, &f.step[i]);
        }
}

void sampler_run(Sampler *c, guint sweeps)
{
        for (guint64 n = (guint64)sweeps * c->n_open; n > 0; n--)
                propose(c, c->open[below(c, c->n_open)]);
}

void sampler_note(const Sampler *c, Drawings *drawn, Drawings drawing)
{
        for (guint32 i = 0; i < c->n_open; i++) {
                guint32 call = c->open[i];
                Drawings *d = &drawn[find_candidate(c->j, call, c->j->parent[call])];

                d->warm |= drawing.warm;
                d->cold |= drawing.cold;
        }
}

/* --- shares and scores ------------------------------------------------------- */

/* Draws JOINT_DRAWN assignments, a sweep apart, with the bits from `first` on. */
static void draw(Sampler *chain, Drawings *drawn, Drawings first)
{
        for (guint i = 0; i < JOINT_DRAWN; i++) {
                sampler_run(chain, 1);
                sampler_note(chain, drawn, (Drawings){ first.warm << i, first.cold << i });
        }
}

void joint_draw(Joint *j)
{
        gsize n = j->candidates[j->node->n_out];
        g_autofree float *second = g_new(float, n), *both = g_new(float, n);
        g_autofree guint32 *first = NULL;
        Sampler *chain;

        j->drawn = g_new0(Drawings, n);
        joint_ask_again(j, second, both);
        joint_assign_best(j, FALSE);
        first = g_memdup2(j->parent, j->node->n_out * sizeof *first);
        chain = sampler_new(j, both, FALSE);
        sampler_run(chain, WARM_UP);
        draw(chain, j->drawn, (Drawings){ .warm = 1 });
        chain->power = COLD;
        sampler_run(chain, COOL_DOWN);
        draw(chain, j->drawn, (Drawings){ .cold = 1 });
        sampler_free(chain);
        for (guint32 i = 0; i < j->node->n_out; i++) {
                double squares = 0, prior;
                guint drawn = 0;

                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++) {
                        squares += (double)both[k] * both[k];
                        drawn += joint_count_drawings(j->drawn[k]);
                }
                prior = PRIOR_DRAWINGS / (squares * squares);
                for (gsize k = j->candidates[i]; k < j->candidates[i + 1]; k++)
                        j->share[k] = j->score[k] =
                                (joint_count_drawings(j->drawn[k]) + prior * both[k] +
                                 FIRST * (j->candidate[k] == first[i])) /
                                (drawn + prior + FIRST);
        }
        joint_calibrate(j, second);
}
