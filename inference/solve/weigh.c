/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/solve/weigh.h"

#include "base/each.h"
#include "inference/evidence/evidence-table.h"
#include "inference/learn/calibrate.h"
#include "inference/model/kinds.h"
#include "inference/search/assignment.h"
#include "inference/search/family.h"
#include "inference/search/moves.h"
#include "inference/search/sampler.h"

G_STATIC_ASSERT(WEIGHTS_MOST == WEIGHT_ROWS + EVIDENCE_MOST);

guint weight_source(const char *name)
{
        static const char *const first[WEIGHT_ROWS] = { "delays", "events", "workers", "order" };
        guint row = 0;

        for (guint i = 0; i < WEIGHT_ROWS; i++)
                if (!strcmp(name, first[i]))
                        return i;
        while (strcmp(evidence_table[row]->name, name) != 0)
                row++;
        return WEIGHT_ROWS + row;
}

GArray *weigh_list(const Problem *p, guint32 first, guint32 end)
{
        GArray *list = NULL;

        for (guint32 i = first; i < end; i++) {
                if (!(p->node->out[i].flags & OUT_EXPLAIN))
                        continue;
                if (!list)
                        list = g_array_new(FALSE, FALSE, sizeof(CandidateWeights));
                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++) {
                        CandidateWeights w = { .call = i, .parent = p->candidate[k] };

                        g_array_append_val(list, w);
                }
        }
        return list;
}

/* --- what sources say ----------------------------------------------------------- */

/* Log likelihoods, in 1/LOG_UNIT. */
typedef struct {
        gint64 by[WEIGHTS_MOST]; /* source */
        gint64 sum;
} Logs;

/* The weight of one kind of evidence on a family by itself. */
static gint64 log_of_kind(Joint *j, const Evidence *e, const Family *f)
{
        gint64 log = 0;

        for (guint32 i = 0; e->kind->call && !e->kind->swap && i < f->n; i++)
                log += fixed_log(e->kind->call(e, j, f->parent, f->child[i], BY_ASSIGNMENT));
        return log;
}

/* Adds sign times the log likelihood of two families by each source that needs no others. */
static void add_families(Joint *j, Family f[2], gint64 sign, Logs *l)
{
        const EvidenceSet *all = &j->model->evidence;

        for (guint m = 0; m < 2; m++) {
                gint64 delays, start, events;

                family_walk(j, &f[m]);
                delays = family_log_of_delays(j, &f[m]);
                start = family_log_of_start(j, &f[m]);
                events = f[m].log - delays - start;
                for (guint i = 0; i < all->n; i++) {
                        gint64 log =
                                evidence_counts(all->of[i]) ? log_of_kind(j, all->of[i], &f[m]) : 0;

                        l->by[WEIGHT_ROWS + i] += sign * log;
                        events -= log;
                }
                l->by[WEIGHT_DELAYS] += sign * delays;
                l->by[WEIGHT_WORKERS] += sign * start;
                l->by[WEIGHT_EVENTS] += sign * events;
                l->sum += sign * f[m].log;
        }
}

/* Adds the log likelihood by the kinds of evidence that also depend on other families. */
static void add_ties(const Joint *j, const Family f[2], Logs *l)
{
        EvidenceSet *all = &j->model->evidence;

        for (guint i = 0; i < all->n; i++) {
                Evidence *e = all->of[i];
                gint64 log;

                if (!evidence_counts(e) || !e->kind->swap)
                        continue;
                log = e->kind->swap(e, f);
                e->kind->undo(e);
                l->by[WEIGHT_ROWS + i] += log;
                l->sum += log;
        }
        if (serving_order_counts(&all->order)) {
                gint64 log = serving_order_swap(&all->order, f);

                serving_order_undo(&all->order);
                l->by[WEIGHT_ORDER] += log;
                l->sum += log;
        }
}

/* --- the likeliest move ----------------------------------------------------------- */

/* The families of a call's parent and of another candidate, and the likeliest move that gives the
 * call to that candidate. */
typedef struct {
        Joint *j;
        guint32 call;
        Family was[2];
        Logs less; /* the logs of the families before a move, negated */
        Logs best; /* the logs that the move gains */
        gboolean any;
} MoveSearch;

/* Keeps the families after a move if they are the likeliest so far. */
static void judge(MoveSearch *s, Family f[2])
{
        Logs l = s->less;

        add_families(s->j, f, 1, &l);
        add_ties(s->j, f, &l);
        if (!s->any || l.sum > s->best.sum)
                s->best = l;
        s->any = TRUE;
}

/* Whether a call of the other candidate has the same callee. */
static gboolean is_same(const MoveSearch *s, guint32 other)
{
        const Joint *j = s->j;

        return kinds_same_callee(j->kinds, j->model, j->problem->node, other, s->call);
}

static void try_exchanges(MoveSearch *s)
{
        for (guint32 i = 0; i < s->was[1].n; i++) {
                Family f[2] = { s->was[0], s->was[1] };
                guint32 other = f[1].child[i];

                if (!is_same(s, other) || !move_may(s->j, f[0].parent, other))
                        continue;
                move_exchange(f, s->call, other);
                judge(s, f);
        }
}

/* Tries to move the rest of a family, from the call on or from an earlier one. */
static void try_rests(MoveSearch *s)
{
        for (guint32 i = 0; i < s->was[0].n && s->was[0].child[i] <= s->call; i++) {
                Family f[2] = { s->was[0], s->was[1] };

                if (move_rest(s->j, f, f[0].child[i]))
                        judge(s, f);
        }
}

/* Tries to move all calls that hang together with the call, alone or in exchange. */
static void try_blocks(MoveSearch *s, Evidence *e)
{
        Block of_call, of_other;
        Family f[2] = { s->was[0], s->was[1] };

        block_find(s->j, e, f, s->call, &of_call);
        if (!move_block(s->j, f, &of_call))
                return;
        judge(s, f);
        for (guint32 i = 0; i < s->was[1].n; i++) {
                Family both[2] = { f[0], f[1] };

                if (!is_same(s, s->was[1].child[i]))
                        continue;
                block_find(s->j, e, s->was, s->was[1].child[i], &of_other);
                if (blocks_face(&of_call, &of_other) && move_block(s->j, both, &of_other))
                        judge(s, both);
        }
}

static void try_all(MoveSearch *s)
{
        const EvidenceSet *all = &s->j->model->evidence;
        Family f[2] = { s->was[0], s->was[1] };

        if (move_alone(f, s->call))
                judge(s, f);
        try_exchanges(s);
        try_rests(s);
        for (guint i = 0; i < all->n; i++)
                if (evidence_counts(all->of[i]) && all->of[i]->kind->block && all->of[i]->ties)
                        try_blocks(s, all->of[i]);
}

/* Weighs one candidate. FALSE if a family is too large, or there is no such move. */
static gboolean weigh_one(Joint *j, CandidateWeights *w)
{
        guint32 parent = j->assignment->parent[w->call];
        MoveSearch s = { .j = j, .call = w->call };

        if (!family_gather(j, parent, &s.was[0]) || !family_gather(j, w->parent, &s.was[1]))
                return FALSE;
        if (w->parent == parent)
                return TRUE;
        add_families(j, s.was, -1, &s.less);
        try_all(&s);
        for (guint i = 0; i < WEIGHTS_MOST; i++)
                w->weight[i] = (float)s.best.by[i] / LOG_UNIT;
        return s.any;
}

/* Weighs the candidates that evidence has not left out. */
static void weigh_all(Joint *j, GArray *listed)
{
        WalkSize size = parent_walk_size(&j->model->walk);
        Sampler *sampler = sampler_new(j, j->scores->share, FALSE); /* takes no step */

        for (guint i = listed->len; i-- > 0;) {
                CandidateWeights *w = &g_array_index(listed, CandidateWeights, i);

                if (!w->left_out && !weigh_one(j, w))
                        g_array_remove_index(listed, i);
        }
        sampler_free(sampler);
        parent_walk_take_back(&j->model->walk, size);
}

void weigh(Joint *j, GArray *listed)
{
        EACH (CandidateWeights, w, listed) {
                w->left_out = !move_may(j, w->parent, w->call);
        }
        if (j->problem->n_choice > 0)
                weigh_all(j, listed);
        EACH (CandidateWeights, w, listed) {
                w->call = j->problem->node->out[w->call].call;
                w->parent = j->problem->node->in[w->parent].call;
        }
}
