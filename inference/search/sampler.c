/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/search/sampler.h"

#include "base/hash.h"
#include "inference/model/kinds.h"
#include "inference/model/tuning.h"
#include "inference/search/assignment.h"
#include "inference/search/family.h"
#include "inference/search/moves.h"

struct Sampler {
        Joint *j;
        const float *chance;           /* by candidate */
        guint64 random;                /* state of the xorshift generator */
        gboolean learns;               /* only training parents take part */
        Evidence *swap[EVIDENCE_MOST]; /* evidence that depends on the other families */
        Evidence *ties[EVIDENCE_MOST]; /* evidence that knows calls that belong together */
        guint n_swap, n_ties;
        ServingOrder *order; /* NULL: it does not count */
        guint power;         /* likelihoods are raised to it */
        gint32 *log;         /* by parent: the log likelihood of its walk */
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
        return c->chance[k] + tuning.least_chance;
}

/* Draws a candidate of the call by chance. */
static gsize draw_candidate(Sampler *c, guint32 call)
{
        gsize k = c->j->problem->candidates[call], last = c->j->problem->candidates[call + 1] - 1;
        double at = uniform(c) * (1 + tuning.least_chance * n_candidates(c->j->problem, call));

        for (; k < last && (at -= chance_of(c, k)) >= 0; k++)
                ;
        return k;
}

/* --- families ---------------------------------------------------------------- */

/* Makes a family part of the assignment. */
static void settle(Sampler *c, const Family *f)
{
        assignment_set_children(c->j->assignment, f->parent, f->child, f->n);
        c->log[f->parent] = f->log;
}

/* Places two families in the other evidence. If that changes the log likelihood by less than the
 * threshold, undoes it and returns FALSE. */
static gboolean accept_evidence(Sampler *c, const Family *f, gint64 threshold)
{
        gint64 log = 0;

        for (guint i = 0; i < c->n_swap; i++)
                log += c->swap[i]->kind->swap(c->swap[i], f);
        if (c->order)
                log += serving_order_swap(c->order, f);
        if (log >= threshold)
                return TRUE;
        for (guint i = 0; i < c->n_swap; i++)
                c->swap[i]->kind->undo(c->swap[i]);
        if (c->order)
                serving_order_undo(c->order);
        return FALSE;
}

/* --- steps ------------------------------------------------------------------- */

/* The number of children in a family that go to the callee of a call. */
static guint32 count_same(const Joint *j, const Family *f, guint32 call)
{
        guint32 n = 0;

        for (guint32 i = 0; i < f->n; i++)
                n += kinds_same_callee(j->kinds, j->model, j->problem->node, f->child[i], call);
        return n;
}

/* Exchanges a call for a call of the other parent to the same callee. Returns the ratio of the
 * probabilities of the backward and the forward proposal; 0 if there is no such exchange. */
static double exchange_same(Sampler *c, Family f[2], guint32 call, gsize k)
{
        const Family *from = &f[0], *to = &f[1];
        const Joint *j = c->j;
        guint32 n_from = count_same(j, from, call), n_to = count_same(j, to, call), pick, i;
        gsize other_from, back = problem_find_candidate(j->problem, call, from->parent);
        double ratio;

        if (n_to == 0)
                return 0;
        pick = below(c, n_to);
        for (i = 0; !kinds_same_callee(j->kinds, j->model, j->problem->node, to->child[i], call) ||
                    pick-- > 0;
             i++)
                ;
        pick = to->child[i];
        other_from = problem_find_candidate(j->problem, pick, from->parent);
        if (other_from == G_MAXSIZE)
                return 0;
        ratio = (chance_of(c, back) / n_from +
                 chance_of(c, problem_find_candidate(j->problem, pick, to->parent)) / n_to) /
                (chance_of(c, k) / n_to + chance_of(c, other_from) / n_from);
        move_exchange(f, call, pick);
        return ratio;
}

/* --- blocks ------------------------------------------------------------------- */

/* The chance of a parent for a call; negative if it is no candidate. */
static double chance_for(const Sampler *c, guint32 call, guint32 parent)
{
        gsize k = problem_find_candidate(c->j->problem, call, parent);

        return k == G_MAXSIZE ? -1 : chance_of(c, k);
}

/* Exchanges the parents of all calls that belong together with one. Returns as exchange_same(). */
static double swap_block(Sampler *c, Evidence *e, Family f[2], guint32 call)
{
        double forward = 0, backward = 0;
        Block b;

        block_find(c->j, e, f, call, &b);
        for (guint32 i = 0; i < b.n; i++) {
                forward += chance_for(c, b.call[i], f[b.first[i]].parent);
                backward += chance_for(c, b.call[i], f[!b.first[i]].parent);
        }
        return b.n >= 2 && move_block(c->j, f, &b) ? backward / forward : 0;
}

/* The weight of the proposals that exchange one block, which the first family has, for the other.
 */
static double weight_of_exchange(const Sampler *c, const Family *has, const Family *other,
                                 const Block *a, const Block *b)
{
        double weight = 0;

        for (guint32 i = 0; i < a->n; i++) {
                guint32 same = 0;

                for (guint32 k = 0; k < b->n; k++)
                        same += kinds_same_callee(c->j->kinds, c->j->model, c->j->problem->node,
                                                  a->call[i], b->call[k]);
                if (same > 0)
                        weight += chance_for(c, a->call[i], other->parent) * same /
                                  count_same(c->j, other, a->call[i]);
        }
        for (guint32 i = 0; i < b->n; i++) {
                guint32 same = 0;

                for (guint32 k = 0; k < a->n; k++)
                        same += kinds_same_callee(c->j->kinds, c->j->model, c->j->problem->node,
                                                  b->call[i], a->call[k]);
                if (same > 0)
                        weight += chance_for(c, b->call[i], has->parent) * same /
                                  count_same(c->j, has, b->call[i]);
        }
        return weight;
}

/* Exchanges the block of a call for the block of a call of the other parent to the same callee. A
 * block is all calls that belong together. Returns the same ratio as exchange_same(). */
static double exchange_blocks(Sampler *c, Evidence *e, Family f[2], guint32 call)
{
        const Joint *j = c->j;
        guint32 n_to = count_same(j, &f[1], call), pick, i;
        double forward;
        Block a, b;

        if (n_to == 0)
                return 0;
        pick = below(c, n_to);
        for (i = 0; !kinds_same_callee(j->kinds, j->model, j->problem->node, f[1].child[i], call) ||
                    pick-- > 0;
             i++)
                ;
        block_find(j, e, f, call, &a);
        block_find(j, e, f, f[1].child[i], &b);
        if (!blocks_face(&a, &b))
                return 0;
        forward = weight_of_exchange(c, &f[0], &f[1], &a, &b);
        if (!move_block(j, f, &a) || !move_block(j, f, &b))
                return 0;
        return weight_of_exchange(c, &f[1], &f[0], &a, &b) / forward;
}

/* Proposes another parent for a call, and moves to it as Metropolis and Hastings do. */
static void propose(Sampler *c, guint32 call)
{
        Joint *j = c->j;
        guint32 parent = j->assignment->parent[call];
        gsize k = draw_candidate(c, call);
        Family f[2];
        double ratio;
        guint32 how;
        gint32 chance;
        gint64 threshold;

        if (parent == NO_PARENT || j->problem->candidate[k] == parent ||
            (c->learns && !is_training_parent(j->problem, j->problem->candidate[k])) ||
            !family_gather(j, parent, &f[0]) || !family_gather(j, j->problem->candidate[k], &f[1]))
                return;
        ratio = chance_of(c, problem_find_candidate(j->problem, call, parent)) / chance_of(c, k);
        how = below(c, 4 + 2 * c->n_ties);
        switch (how) {
        case 0: /* alone */
                if (!move_alone(f, call))
                        return;
                break;
        case 1: /* with all later children, exchanged */
                if (!move_rest(j, f, call))
                        return;
                break;
        case 2: /* in exchange for a call to the same callee */
        case 3:
                ratio = exchange_same(c, f, call, k);
                if (ratio == 0)
                        return;
                break;
        default: /* with all calls that belong together with it, alone or in exchange */
                ratio = how % 2 ? exchange_blocks(c, c->ties[how / 2 - 2], f, call)
                                : swap_block(c, c->ties[how / 2 - 2], f, call);
                if (ratio == 0)
                        return;
        }
        family_walk(j, &f[0]);
        family_walk(j, &f[1]);
        chance = fixed_log(uniform(c)) - fixed_log(ratio);
        threshold = (gint64)c->log[f[0].parent] + c->log[f[1].parent] - f[0].log - f[1].log +
                    chance / (gint32)c->power;
        if (c->n_swap > 0 || c->order
                    ? threshold > (how < 4 ? tuning.hopeless_loss : 5 * tuning.hopeless_loss) *
                                              LOG_UNIT ||
                              !accept_evidence(c, f, threshold)
                    : threshold > 0)
                return;
        settle(c, &f[0]);
        settle(c, &f[1]);
}

/* --- the chain ---------------------------------------------------------------- */

/* Finds the evidence that takes part, and begins a chain for it. */
static void begin_evidence(Sampler *c)
{
        EvidenceSet *all = &c->j->model->evidence;

        evidence_learn(all, c->j, CHAIN_PARENTS);
        serving_order_begin_chain(&all->order);
        c->order = serving_order_counts(&all->order) ? &all->order : NULL;
        c->n_swap = c->n_ties = 0;
        for (guint i = 0; i < all->n; i++) {
                Evidence *e = all->of[i];

                if (evidence_counts(e) && e->kind->swap)
                        c->swap[c->n_swap++] = e;
                if (evidence_counts(e) && e->kind->block && e->ties)
                        c->ties[c->n_ties++] = e;
        }
}

/* Whether a call is worth drawing. If it is too uncertain, the few drawings would show nothing.
 * Where calls belong together, a drawing decides many calls at once, so all are worth it. */
static gboolean is_worth_drawing(const Sampler *c, guint32 call)
{
        const Problem *p = c->j->problem;
        double squares = 0;

        for (gsize k = p->candidates[call]; k < p->candidates[call + 1]; k++)
                squares += (double)c->chance[k] * c->chance[k];
        return c->n_ties > 0 ||
               squares * squares * tuning.most_prior_drawings >= tuning.prior_drawings;
}

/* Finds the open calls: uncertain calls that are worth drawing; or all uncertain calls. While
 * learning: uncertain calls of training parents. */
static void find_open(Sampler *c, gboolean all)
{
        const Problem *p = c->j->problem;
        const guint32 *parent = c->j->assignment->parent;

        c->n_open = 0;
        for (guint32 i = 0; i < p->node->n_out; i++) {
                float most = 0;

                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++)
                        most = MAX(most, c->chance[k]);
                if (n_candidates(p, i) > 1 && most < tuning.certain &&
                    (c->learns ? parent[i] != NO_PARENT && is_training_parent(p, parent[i])
                               : all || is_worth_drawing(c, i)))
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
        c->log = g_new0(gint32, j->problem->node->n_in);
        c->open = g_new(guint32, j->problem->node->n_out);
        begin_evidence(c);
        find_open(c, FALSE);
        sampler_take_model(c);
        return c;
}

void sampler_open_all(Sampler *c)
{
        find_open(c, TRUE);
}

void sampler_free(Sampler *c)
{
        g_free(c->log);
        g_free(c->open);
        g_free(c);
}

/* Places a family of the assignment in the evidence. */
static void place_family(EvidenceSet *all, const Family *f)
{
        if (all->order.watched)
                serving_order_place(&all->order, f);
        for (guint i = 0; i < all->n; i++)
                if (all->of[i]->watched && all->of[i]->kind->place)
                        all->of[i]->kind->place(all->of[i], f);
}

void sampler_take_model(Sampler *c)
{
        Joint *j = c->j;

        begin_evidence(c);
        for (guint32 p = 0; p < j->problem->node->n_in; p++) {
                Family f;

                if ((c->learns && !is_training_parent(j->problem, p)) || !family_gather(j, p, &f))
                        continue;
                family_walk(j, &f);
                c->log[p] = f.log;
                place_family(&j->model->evidence, &f);
        }
}

void sampler_cool(Sampler *c, guint power)
{
        c->power = power;
}

double sampler_prior(const Joint *j, double squares)
{
        if (evidence_refines(&j->model->evidence))
                return tuning.prior_drawings;
        return tuning.prior_drawings / (squares * squares);
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
                Drawings *d = &drawn[problem_find_candidate(c->j->problem, call,
                                                            c->j->assignment->parent[call])];

                d->warm |= drawing.warm;
                d->cold |= drawing.cold;
        }
}
