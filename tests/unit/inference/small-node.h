/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A small node with random calls, and what its parents do, by walks and by name. Parts of the joint
 * method are compared with plain recomputation on it.
 */
#pragma once

#include "inference/evidence/evidence-table.h"
#include "inference/learn/calibrate.h"
#include "inference/learn/learn.h"
#include "inference/learn/rounds.h"
#include "inference/model/kinds.h"
#include "inference/search/assignment.h"
#include "inference/search/beliefs.h"
#include "inference/search/family.h"

#include <math.h>

static inline double mass(DelayDensities *d, guint32 row, guint from, guint to)
{
        double sum = 0;

        for (guint bin = from; bin < to; bin++)
                sum += delay_densities_row(d, row)[bin] * density_bin_width(bin);
        return sum;
}

typedef struct {
        GHashTable *seen; /* "STATE" and "STATE EVENT" to the number of times */
} Names;

static inline double seen(const Names *n, const char *name)
{
        return GPOINTER_TO_UINT(g_hash_table_lookup(n->seen, name));
}

static inline void see(Names *n, const char *name)
{
        gpointer times = g_hash_table_lookup(n->seen, name);

        g_hash_table_replace(n->seen, g_strdup(name),
                             GUINT_TO_POINTER(GPOINTER_TO_UINT(times) + 1));
}

typedef struct {
        gint64 time;
        guint32 child;
        gboolean is_return;
} Moment;

static inline int compare_moments(const void *a, const void *b)
{
        const Moment *x = a, *y = b;

        if (x->time != y->time)
                return x->time < y->time ? -1 : 1;
        return x->is_return < y->is_return ? 1 : x->is_return > y->is_return ? -1 : 0;
}

/* A parent's walk from the definition: each step to visit, as "STATE EVENT" in full, by
 * caller and latest event alone, and by nothing. */
static inline void name_steps(const CallIn *in, const WalkCall *calls, const guint32 *which,
                              guint32 n, guint32 n_callees,
                              void (*visit)(gpointer data, const char *const *states,
                                            const char *event, guint32 number, gint64 delay),
                              gpointer data)
{
        g_autofree Moment *moments = g_new(Moment, 2 * n + 1);
        g_autofree guint *returned = g_new0(guint, n_callees), *open = g_new0(guint, n_callees);
        g_autofree char *latest = g_strdup("start");
        gint64 at = in->enter;

        for (guint32 i = 0; i < n; i++) {
                moments[2 * i] = (Moment){ calls[which[i]].start, which[i], FALSE };
                moments[2 * i + 1] = (Moment){ calls[which[i]].end, which[i], TRUE };
        }
        qsort(moments, 2 * n, sizeof *moments, compare_moments);
        for (guint32 i = 0; i <= 2 * n; i++) {
                g_autoptr(GString) full = g_string_new(NULL);
                g_autofree char *general = g_strdup_printf("%u %s", in->caller, latest);
                const char *states[3] = { NULL, general, "any" };
                const Moment *m = i < 2 * n ? &moments[i] : NULL;
                guint32 callee = m ? calls[m->child].callee : 0;
                char *event = !m             ? g_strdup("reply")
                              : m->is_return ? g_strdup_printf("return %u", callee)
                                             : g_strdup_printf("call %u", callee);
                gint64 time = m ? m->time : in->reply;

                g_string_printf(full, "%s:", general);
                for (guint32 k = 0; k < n_callees; k++)
                        g_string_append_printf(full, " %u/%u", MIN(returned[k], 3),
                                               MIN(open[k], 3));
                states[0] = full->str;
                visit(data, states, event,
                      m ? callee + (m->is_return ? n_callees : 0) : 2 * n_callees,
                      m && m->is_return ? -1 : time - at);
                if (m && m->is_return) {
                        open[callee] = MAX(MIN(open[callee], 3), 1) - 1;
                        returned[callee]++;
                } else if (m) {
                        open[callee]++;
                }
                at = time;
                g_free(latest);
                latest = event;
        }
}

static inline void count_step(gpointer data, const char *const *states, const char *event,
                              guint32 number, gint64 delay)
{
        (void)delay;
        (void)number;
        for (guint i = 0; i < 3; i++) {
                g_autofree char *step = g_strdup_printf("%s > %s", states[i], event);

                see(data, states[i]);
                see(data, step);
        }
}

/* The product of the probabilities of steps, as their backoff is defined. */
typedef struct {
        Names *names;
        guint32 n_callees;
        double log;
        ParentWalk *walk;
        guint32 state;
        double delays_log; /* of those, by the walk's own densities */
} Likelihood;

static inline void add_step_log(gpointer data, const char *const *states, const char *event,
                                guint32 number, gint64 delay)
{
        Likelihood *l = data;
        double p = 1.0 / (2 * l->n_callees + 1);

        for (gint i = 2; i >= 0; i--) {
                g_autofree char *step = g_strdup_printf("%s > %s", states[i], event);
                double n = seen(l->names, step), all = seen(l->names, states[i]);
                double lean[] = { 2, 0.5, 1 };

                if (i == 0)
                        n = MAX(0, n - 1 - 0.02 * all);
                p = (n + lean[i] * p) / (all + lean[i]);
        }
        l->log += log(p);
        if (l->walk) {
                const WalkStep *known =
                        &l->walk->steps[parent_walk_get(l->walk, l->state, number).number - 1];

                if (delay >= 0)
                        l->delays_log += log(delay_densities_row(&l->walk->delays,
                                                                 known->row)[density_bin(delay)]);
                l->state = known->next;
        }
}

/* A node with random calls in and out. */
typedef struct {
        NodeProblem node;
        CallIn in[40];
        CallOut out[80];
        guint32 parent[80];
} SmallNode;

static inline void make_node(SmallNode *s, GRand *rand, guint n_in, guint n_out, gint64 span)
{
        s->node = (NodeProblem){
                .in = s->in,
                .out = s->out,
                .n_in = n_in,
                .n_out = n_out,
        };
        for (guint i = 0; i < n_in; i++)
                s->in[i] = (CallIn){ .enter = 1000000 * (gint64)i,
                                     .reply = span + 1000000 * (gint64)i,
                                     .call = i,
                                     .caller = g_rand_int_range(rand, 0, 2) };
        for (guint i = 0; i < n_out; i++) {
                gint64 start = 1000000 * (gint64)n_in + (gint64)i * 700001;

                s->out[i] = (CallOut){ .start = start,
                                       .end = start + g_rand_int_range(rand, 1000, 3000000),
                                       .call = 1000 + i,
                                       .callee = g_rand_int_range(rand, 0, 3) };
                s->parent[i] = g_rand_int_range(rand, 0, n_in);
        }
}

static inline guint32 children_of(const SmallNode *s, guint32 parent, guint32 *which)
{
        guint32 n = 0;

        for (guint32 i = 0; i < s->node.n_out; i++)
                if (s->parent[i] == parent)
                        which[n++] = i;
        return n;
}

/* What a parent did, if these are all its calls: the logarithm of how likely that is. */
static inline gint64 run_walk(ParentWalk *walk, Trellis *trellis, const CallIn *in,
                              const WalkCall *calls, const guint32 *which, guint32 n,
                              gboolean count)
{
        TrellisParent parent = {
                .kind = in->caller, .enter = in->enter, .start = in->enter, .reply = in->reply
        };
        TrellisCall offered[80];

        for (guint32 i = 0; i < n; i++)
                offered[i] = (TrellisCall){ .call = calls[which[i]], .total = 1, .taken = 1 };
        g_assert_true(trellis_run(trellis, walk, &parent, offered, n, count));
        for (guint32 i = 0; i < n; i++)
                g_assert_cmpfloat_with_epsilon(offered[i].share, 1, 1e-9);
        return trellis->log;
}

/* Learns from all parents of a node, by a walk and by name. */
static inline void learn_small(const SmallNode *s, const WalkCall *calls, ParentWalk *walk,
                               Trellis *trellis, Names *names)
{
        guint32 which[80];

        parent_walk_init(walk, 2, 3);
        trellis_init(trellis, 3);
        names->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (guint p = 0; p < s->node.n_in; p++) {
                guint32 n = children_of(s, p, which);

                run_walk(walk, trellis, &s->in[p], calls, which, n, TRUE);
                name_steps(&s->in[p], calls, which, n, 3, count_step, names);
        }
        parent_walk_learn(walk);
}

/* A small node whose calls out have the given candidates. Its walks are learned from anything. */
typedef struct {
        SmallNode s;
        NodeModel *model;
        Problem problem;
        Kinds kinds;
        Assignment assignment;
        Trellis trellis;
        Beliefs beliefs;
        Scores scores;
        Learning learning;
        Joint j;
} SmallJoint;

static inline void begin_small(SmallJoint *small, GRand *rand, guint n_in, guint n_out,
                               const gsize *candidates, const guint32 *candidate)
{
        Joint *j = &small->j;
        Problem *p = &small->problem;

        *small = (SmallJoint){ .model = node_model_new() };
        make_node(&small->s, rand, n_in, n_out, 20000000);
        *j = (Joint){ p,
                      small->model,
                      &small->kinds,
                      &small->assignment,
                      &small->trellis,
                      &small->beliefs,
                      &small->scores,
                      &small->learning };
        *p = (Problem){
                .node = &small->s.node, .from = G_MININT64, .before = G_MAXINT64, .n_stretches = 1
        };
        problem_init(p);
        assignment_init(j->assignment, n_in, n_out);
        small->s.out[1].callee = small->s.out[0].callee;
        kinds_find(j->kinds, p, j->model);
        node_model_start(j->model, 0, evidence_table);
        p->candidates = g_memdup2(candidates, (n_out + 1) * sizeof *candidates);
        p->candidate = g_memdup2(candidate, candidates[n_out] * sizeof *candidate);
        for (guint i = 0; i < n_out; i++) {
                j->assignment->parent[i] = candidate[candidates[i]];
                p->n_choice += n_candidates(p, i) > 1;
        }
        scores_init(j->scores, p);
        joint_make_beliefs(j);
        problem_order_outputs(p);
        trellis_begin(j->trellis, j->model);
        j->trellis->budget = G_MAXUINT64;
        evidence_begin(&j->model->evidence, j);
        joint_find_starts(j);
        j->trellis->least = 0;
        assignment_link(j->assignment);
        joint_learn_from_assigned(j, G_MAXUINT64);
}

static inline void end_small(SmallJoint *small)
{
        evidence_end(&small->model->evidence);
        problem_clear(&small->problem);
        kinds_clear(&small->kinds);
        assignment_clear(&small->assignment);
        trellis_clear(&small->trellis);
        beliefs_clear(&small->beliefs);
        scores_clear(&small->scores);
        node_model_free(small->model);
}

/* Evidence that favours a parent, by the number of the call. */
static inline double ratio_of_call(const Evidence *e, const Joint *j, guint32 parent, guint32 call,
                                   EvidenceBasis basis)
{
        g_assert_true(e->in_use && parent < j->problem->node->n_in && basis != BY_EARLIER_CALLS);
        return (parent + call) % 3 + 0.5;
}

static const EvidenceKind by_number = { .name = "number", .call = ratio_of_call };

static const EvidenceKind *const table_of_one[] = { &by_number, NULL };

/* Puts it in place of the real kinds of evidence. */
static inline void add_small_evidence(SmallJoint *small)
{
        EvidenceSet *evidence = &small->model->evidence;

        evidence_end(evidence);
        evidence_set_clear(evidence);
        evidence_set_make(evidence, table_of_one, small->model->n_callees);
        evidence->of[0]->watched = evidence->of[0]->in_use = TRUE;
}

/* How likely the assignment is of each call to its first candidate, but those of choices to the
 * second. */
static inline double likelihood_of(Joint *j, guint choices)
{
        const Problem *p = j->problem;

        for (guint i = 0; i < p->node->n_out; i++)
                j->assignment->parent[i] = p->candidate[p->candidates[i] + (choices >> i & 1)];
        assignment_link(j->assignment);
        return exp(joint_log_of_assignment(j));
}
