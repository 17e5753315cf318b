/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parts of the joint method against plain recomputation on small cases: what a walk
 * has learned, against counting by name; the shares of calls by a trellis, and what becomes of
 * beliefs, against all sets and assignments that there are.
 */
#include "inference/evidence/evidence-table.h"
#include "inference/evidence/serving-order.h"
#include "inference/evidence/workers.h"
#include "inference/learn/calibrate.h"
#include "inference/learn/learn.h"
#include "inference/learn/rounds.h"
#include "inference/model/kinds.h"
#include "inference/model/parts.h"
#include "inference/search/assignment.h"
#include "inference/search/beliefs.h"
#include "inference/search/family.h"
#include "inference/search/stretches.h"
#include "inference/solve/families.h"
#include "inference/solve/weigh.h"

#include <math.h>

/* --- logarithms and densities ---------------------------------------------- */

static void test_log(void)
{
        for (double x = 1e-300; x < 1e300; x *= 1.0137)
                g_assert_cmpfloat_with_epsilon(fixed_log(x), log(x) * LOG_UNIT, 0.5001);
        g_assert_cmpint(fixed_log(1), ==, 0);
}

static void test_density_bins(void)
{
        gint64 edge = 0;

        for (guint bin = 0; bin < DENSITY_BINS; bin++) {
                g_assert_cmpuint(density_bin(edge), ==, bin);
                edge += density_bin_width(bin);
                g_assert_cmpuint(density_bin(edge - 1), ==, bin);
        }
        g_assert_cmpint(edge, ==, (gint64)1 << 44);
        g_assert_cmpuint(density_bin(edge), ==, DENSITY_BINS - 1);
        g_assert_cmpuint(density_bin(G_MAXINT64), ==, DENSITY_BINS - 1);
        g_assert_cmpuint(density_bin(-1), ==, 0);
}

static double mass(DelayDensities *d, guint32 row, guint from, guint to)
{
        double sum = 0;

        for (guint bin = from; bin < to; bin++)
                sum += delay_densities_row(d, row)[bin] * density_bin_width(bin);
        return sum;
}

static void test_density(void)
{
        DelayDensities d;
        guint32 general, rare, often;
        guint slow = density_bin(50000000), fast = density_bin(20000);

        delay_densities_init(&d);
        general = delay_densities_add_row(&d, 0);
        rare = delay_densities_add_row(&d, general);
        often = delay_densities_add_row(&d, general);
        for (guint i = 0; i < 5000; i++)
                delay_densities_count(&d, often, slow, DENSITY_COUNT);
        delay_densities_count(&d, rare, fast, DENSITY_COUNT);
        delay_densities_learn(&d);
        for (guint32 row = 0; row < d.n; row++)
                g_assert_cmpfloat_with_epsilon(mass(&d, row, 0, DENSITY_BINS), 1, 0.01);
        /* What was seen often is nearly all; what was seen once leans on the others. */
        g_assert_cmpfloat(mass(&d, often, slow - 4, slow + 5), >, 0.95);
        g_assert_cmpfloat(mass(&d, rare, slow - 4, slow + 5), >, 0.6);
        g_assert_cmpfloat(mass(&d, rare, fast - 20, fast + 21), >, 0.15);
        /* Halved thirteen times, 5,000 delays are less than one. */
        for (guint i = 0; i < 20; i++)
                delay_densities_fade(&d);
        delay_densities_learn(&d);
        g_assert_cmpfloat_with_epsilon(mass(&d, often, slow - 4, slow + 5),
                                       mass(&d, 0, slow - 4, slow + 5), 0.01);
        delay_densities_clear(&d);
}

/* --- walks, by name -------------------------------------------------------- */

typedef struct {
        GHashTable *seen; /* "STATE" and "STATE EVENT" to the number of times */
} Names;

static double seen(const Names *n, const char *name)
{
        return GPOINTER_TO_UINT(g_hash_table_lookup(n->seen, name));
}

static void see(Names *n, const char *name)
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

static int compare_moments(const void *a, const void *b)
{
        const Moment *x = a, *y = b;

        if (x->time != y->time)
                return x->time < y->time ? -1 : 1;
        return x->is_return < y->is_return ? 1 : x->is_return > y->is_return ? -1 : 0;
}

/* A parent's walk from the definition: each step to visit, as "STATE EVENT" in full, by
 * caller and latest event alone, and by nothing. */
static void name_steps(const CallIn *in, const WalkCall *calls, const guint32 *which, guint32 n,
                       guint32 n_callees,
                       void (*visit)(gpointer data, const char *const *states, const char *event,
                                     guint32 number, gint64 delay),
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

static void count_step(gpointer data, const char *const *states, const char *event, guint32 number,
                       gint64 delay)
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

static void add_step_log(gpointer data, const char *const *states, const char *event,
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
                        &l->walk->steps[parent_walk_step(l->walk, l->state, number)];

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

static void make_node(SmallNode *s, GRand *rand, guint n_in, guint n_out, gint64 span)
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

static guint32 children_of(const SmallNode *s, guint32 parent, guint32 *which)
{
        guint32 n = 0;

        for (guint32 i = 0; i < s->node.n_out; i++)
                if (s->parent[i] == parent)
                        which[n++] = i;
        return n;
}

/* What a parent did, if these are all its calls: the logarithm of how likely that is. */
static gint64 run_walk(ParentWalk *walk, Trellis *trellis, const CallIn *in, const WalkCall *calls,
                       const guint32 *which, guint32 n, gboolean count)
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
static void learn_small(const SmallNode *s, const WalkCall *calls, ParentWalk *walk,
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

/* What is kept and what comes later teach the same as both together; what comes in between and is
 * forgotten, nothing. */
static void test_keep(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(15);
        Names names;
        SmallNode s;
        WalkCall calls[80];
        guint32 which[80];
        ParentWalk at_once, kept;
        Trellis trellis, other;

        make_node(&s, rand, 30, 80, 100000000);
        for (guint i = 0; i < 80; i++)
                calls[i] = (WalkCall){ s.out[i].start, s.out[i].end, s.out[i].callee };
        learn_small(&s, calls, &at_once, &trellis, &names);
        parent_walk_init(&kept, 1, 3);
        parent_walk_add_callers(&kept, 2);
        trellis_init(&other, 3);
        for (guint p = 0; p < 30; p++) {
                guint32 n = children_of(&s, p, which);

                run_walk(&kept, &other, &s.in[p], calls, which, n, TRUE);
                if (p == 14)
                        parent_walk_keep(&kept, FALSE);
        }
        parent_walk_forget(&kept);
        for (guint p = 15; p < 30; p++) {
                guint32 n = children_of(&s, p, which);

                run_walk(&kept, &other, &s.in[p], calls, which, n, TRUE);
        }
        parent_walk_learn(&kept);
        g_assert_cmpuint(kept.n_steps, ==, at_once.n_steps);
        for (guint32 i = 0; i < kept.n_steps; i++) {
                const WalkStep *a = &at_once.steps[i], *b = &kept.steps[i];

                g_assert_cmpuint(a->count, ==, b->count);
                g_assert_cmpfloat(a->probability, ==, b->probability);
                for (guint bin = 0; bin < DENSITY_BINS; bin++)
                        g_assert_cmpint(delay_densities_log(&at_once.delays, a->row, bin), ==,
                                        delay_densities_log(&kept.delays, b->row, bin));
        }
        /* Forget half, and half again, until nothing is left. */
        for (guint i = 0; i < 32; i++) {
                parent_walk_keep(&kept, TRUE);
                parent_walk_forget(&kept);
        }
        for (guint32 i = 0; i < kept.n_states; i++)
                g_assert_cmpuint(kept.states[i].count, ==, 0);
        trellis_clear(&trellis);
        trellis_clear(&other);
        parent_walk_clear(&at_once);
        parent_walk_clear(&kept);
        g_hash_table_unref(names.seen);
}

/* What no parent ever did is foreseen as it is when it has become a step. */
static void test_foresee(void)
{
        ParentWalk w;
        WalkEntry foreseen, known;
        guint32 reply;

        parent_walk_init(&w, 1, 2);
        reply = 2 * w.n_callees;
        for (guint i = 0; i < 400; i++) {
                guint32 step = parent_walk_step(&w, w.first[0], i % 4 == 0);

                parent_walk_count(&w, step, 10, 1);
                parent_walk_count(&w, parent_walk_step(&w, w.steps[step].next, reply), 20, 1);
        }
        parent_walk_learn(&w);
        g_assert_cmpuint(parent_walk_find(&w, w.first[0], reply)->number, ==, 0);
        foreseen = parent_walk_foresee(&w, w.first[0], reply);
        known = parent_walk_get(&w, w.first[0], reply);
        g_assert_cmpuint(known.number, >, 0);
        g_assert_cmpfloat_with_epsilon(foreseen.probability, known.probability, 1e-6);
        g_assert_cmpuint(foreseen.row, ==, known.row);
        parent_walk_clear(&w);
}

/* A kind is a node and a label that was not rare until then, or without one. */
static void test_kinds(void)
{
        enum { N = 1000 };
        static const guint16 labels[][2] = { { 1, 2 }, { 2, 1 } }; /* often, and five times */
        guint32 kind[2][N];
        CallKinds k;

        call_kinds_init(&k);
        for (guint round = 0; round < 2; round++) {
                guint16 label[N];

                for (guint i = 0; i < N; i++) {
                        kind[round][i] = 7;
                        label[i] = labels[round][i % 200 == 199];
                }
                call_kinds_find(&k, kind[round], label, NULL, N);
        }
        g_assert_cmpuint(k.n, ==, 3);
        g_assert_cmpuint(kind[0][0], ==, 0);
        g_assert_cmpuint(kind[0][199], ==, 1); /* the node without a label */
        g_assert_cmpuint(kind[1][0], ==, 2);
        g_assert_cmpuint(kind[1][199], ==, 0);
        call_kinds_clear(&k);
}

static void test_walk(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(5);

        for (guint round = 0; round < 20; round++) {
                Names names;
                SmallNode s;
                WalkCall calls[80];
                guint32 which[80];
                ParentWalk walk;
                Trellis trellis;

                make_node(&s, rand, g_rand_int_range(rand, 1, 40), 80, 100000000);
                for (guint i = 0; i < 80; i++)
                        calls[i] = (WalkCall){ s.out[i].start, s.out[i].end, s.out[i].callee };
                learn_small(&s, calls, &walk, &trellis, &names);
                for (guint p = 0; p < s.node.n_in; p++) {
                        const CallIn *in = &s.in[p];
                        guint32 n = children_of(&s, p, which);
                        Likelihood l = { &names, 3, 0, &walk, walk.first[in->caller], 0 };
                        gint64 found = run_walk(&walk, &trellis, in, calls, which, n, FALSE);

                        name_steps(in, calls, which, n, 3, add_step_log, &l);
                        /* A float's precision a step. */
                        g_assert_cmpfloat_with_epsilon(found, (l.log + l.delays_log) * LOG_UNIT, 2);
                }
                trellis_clear(&trellis);
                parent_walk_clear(&walk);
                g_hash_table_unref(names.seen);
        }
}

/* The shares of calls, against all sets of five, where nothing is left out. */
static void test_trellis(void)
{
        enum { OFFERED = 5 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(8);

        for (guint round = 0; round < 200; round++) {
                Names names;
                SmallNode s;
                WalkCall calls[80];
                ParentWalk walk;
                Trellis trellis;
                TrellisCall offered[OFFERED];
                TrellisParent parent;
                CallIn in;
                double share[OFFERED] = { 0 }, all = 0;

                make_node(&s, rand, 20, 80, 100000000);
                for (guint i = 0; i < 80; i++)
                        calls[i] = (WalkCall){ s.out[i].start, s.out[i].end, s.out[i].callee };
                learn_small(&s, calls, &walk, &trellis, &names);
                trellis.least = 0;
                in = (CallIn){ .enter = calls[20].start - 500000,
                               .reply = calls[20].start + 9000000,
                               .caller = 1 };
                for (guint i = 0; i < OFFERED; i++) {
                        double taken = i == 3 && round % 3 == 0
                                               ? 1
                                               : g_rand_double_range(rand, 0.05, 0.95);

                        offered[i] = (TrellisCall){ .call = calls[20 + i],
                                                    .total = g_rand_double_range(rand, 1e-7, 1e-5),
                                                    .taken = taken };
                }
                parent = (TrellisParent){
                        .kind = 1, .enter = in.enter, .start = in.enter, .reply = in.reply
                };
                g_assert_true(trellis_run(&trellis, &walk, &parent, offered, OFFERED, FALSE));
                for (guint set = 0; set < 1 << OFFERED; set++) {
                        Likelihood l = { &names, 3, 0, &walk, walk.first[in.caller], 0 };
                        guint32 which[OFFERED], n = 0;
                        double likely = 1;

                        for (guint32 i = 0; i < OFFERED; i++)
                                if (set >> i & 1) {
                                        which[n++] = 20 + i;
                                        likely /= offered[i].total;
                                } else {
                                        likely *= 1 - offered[i].taken;
                                }
                        run_walk(&walk, &trellis, &in, calls, which, n,
                                 FALSE); /* makes its steps */
                        name_steps(&in, calls, which, n, 3, add_step_log, &l);
                        likely *= exp(l.log + l.delays_log);
                        all += likely;
                        for (guint32 i = 0; i < OFFERED; i++)
                                share[i] += set >> i & 1 ? likely : 0;
                }
                for (guint i = 0; i < OFFERED; i++)
                        g_assert_cmpfloat_with_epsilon(offered[i].share, share[i] / all, 1e-4);
                trellis_clear(&trellis);
                parent_walk_clear(&walk);
                g_hash_table_unref(names.seen);
        }
}

/* Step by step, a parent comes to the same states as in a run. The odds of a step, against its
 * state lasting on, are what the densities of all its steps say. */
static void test_places(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(6);
        SmallNode s;
        WalkCall calls[80];
        ParentWalk walk;
        Trellis trellis;
        Names names;
        guint32 n_known;

        make_node(&s, rand, 30, 80, 100000000);
        for (guint i = 0; i < 80; i++)
                calls[i] = (WalkCall){ s.out[i].start, s.out[i].end, s.out[i].callee };
        learn_small(&s, calls, &walk, &trellis, &names);
        parent_walk_learn_survival(&walk);
        n_known = walk.n_steps;
        for (guint p = 0; p < 30; p++) {
                const CallIn *in = &s.in[p];
                WalkPlace at = parent_walk_start(&walk, in->caller, in->enter);

                for (guint32 i = 0; i < 10; i++) {
                        guint32 event = g_rand_int_range(rand, 0, 6);
                        const WalkStep *step;
                        gint64 time = at.latest + 3000000;
                        double lasts = 0;

                        parent_walk_step(&walk, at.state, event);
                        step = &walk.steps[parent_walk_step(&walk, at.state, event)];
                        if (!walk.states[at.state].survival)
                                break; /* a state that was not seen before */
                        for (guint32 k = 0; k < n_known; k++) {
                                const WalkStep *other = &walk.steps[k];
                                guint bin = density_bin(3000000);
                                double longer =
                                        mass(&walk.delays, other->row, bin, DENSITY_BINS) +
                                        mass(&walk.delays, other->row, bin + 1, DENSITY_BINS);

                                if (other->state == at.state)
                                        lasts += other->probability *
                                                 (other->event / 3 == 1 ? 1 : longer / 2);
                        }
                        if (event < 3) {
                                double likely =
                                        log(step->probability) +
                                        log(delay_densities_row(&walk.delays,
                                                                step->row)[density_bin(3000000)]);

                                g_assert_cmpfloat_with_epsilon(
                                        parent_walk_hazard(&walk, at, event, time),
                                        (likely - log(lasts)) * LOG_UNIT, 3);
                                at = parent_walk_call(&walk, at, event, 50000000);
                        } else {
                                at = parent_walk_return(&walk, at, event - 3, 50000000);
                        }
                        g_assert_cmpuint(at.state, ==, step->next);
                        g_assert_cmpint(at.latest, ==, 50000000);
                }
        }
        trellis_clear(&trellis);
        parent_walk_clear(&walk);
        g_hash_table_unref(names.seen);
}

/* --- beliefs ---------------------------------------------------------------- */

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

static void begin_small(SmallJoint *small, GRand *rand, guint n_in, guint n_out,
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
        evidence_begin(&j->model->evidence, j);
        joint_find_starts(j);
        j->trellis->least = 0;
        assignment_link(j->assignment);
        joint_learn_from_assigned(j, G_MAXUINT64);
}

static void end_small(SmallJoint *small)
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
static double ratio_of_call(const Evidence *e, const Joint *j, guint32 parent, guint32 call,
                            EvidenceBasis basis)
{
        g_assert_true(e->in_use && parent < j->problem->node->n_in && basis != BY_EARLIER_CALLS);
        return (parent + call) % 3 + 0.5;
}

static const EvidenceKind by_number = { .name = "number", .call = ratio_of_call };
static const EvidenceKind *const table_of_one[] = { &by_number, NULL };

/* Puts it in place of the real kinds of evidence. */
static void add_small_evidence(SmallJoint *small)
{
        EvidenceSet *evidence = &small->model->evidence;

        evidence_end(evidence);
        evidence_set_clear(evidence);
        evidence_set_make(evidence, table_of_one, small->model);
        evidence->of[0]->watched = evidence->of[0]->in_use = TRUE;
}

/* How likely the assignment is of each call to its first candidate, but those of choices to the
 * second. */
static double likelihood_of(Joint *j, guint choices)
{
        const Problem *p = j->problem;

        for (guint i = 0; i < p->node->n_out; i++)
                j->assignment->parent[i] = p->candidate[p->candidates[i] + (choices >> i & 1)];
        assignment_link(j->assignment);
        return exp(joint_log_of_assignment(j));
}

/* Three calls into a node and five calls out. Two have a choice, so there are four assignments.
 * Where choices make no cycle, belief propagation is exact. */
static void test_beliefs(void)
{
        static const gsize candidates[] = { 0, 2, 3, 5, 6, 7 };
        static const guint32 candidate[] = { 0, 1, 1, 1, 2, 2, 0 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(9);

        for (guint round = 0; round < 50; round++) {
                SmallJoint small;
                double likely[4], all = 0, first, second;
                float found[7];

                begin_small(&small, rand, 3, 5, candidates, candidate);
                if (round % 2)
                        add_small_evidence(&small);
                for (guint a = 0; a < 4; a++)
                        all += likely[a] = likelihood_of(&small.j, (a & 1) | (a >> 1) << 2);
                joint_start_beliefs(&small.j);
                for (guint i = 0; i < 30; i++)
                        if (round % 2)
                                joint_update_to_learn(&small.j, 0); /* gives up no belief */
                        else
                                joint_update_all(&small.j, FALSE);
                joint_get_shares(&small.j, found);
                first = (likely[0] + likely[2]) / all;
                second = (likely[0] + likely[1]) / all;
                g_assert_cmpfloat_with_epsilon(found[0], first, 0.01);
                g_assert_cmpfloat_with_epsilon(found[1], 1 - first, 0.01);
                g_assert_cmpfloat_with_epsilon(found[3], second, 0.01);
                g_assert_cmpfloat(found[2], ==, 1);
                end_small(&small);
        }
}

/* How often a chain visits each of eight assignments, next to their likelihoods. Three calls have
 * two candidates each. Two of the calls are to the same callee, so that all steps are made. */
static void test_chain(void)
{
        enum { RUN = 300000 };
        static const gsize candidates[] = { 0, 2, 4, 6, 7, 8 };
        static const guint32 candidate[] = { 0, 1, 0, 1, 1, 2, 2, 0 };
        static const float chance[] = { 0.7, 0.3, 0.7, 0.3, 0.7, 0.3, 1, 1 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(11);

        for (guint round = 0; round < 20; round++) {
                SmallJoint small;
                Sampler *chain;
                double likely[8], all = 0;
                guint drawn[8] = { 0 };
                Drawings seen[8] = { { 0 } };

                begin_small(&small, rand, 3, 5, candidates, candidate);
                if (round % 2)
                        add_small_evidence(&small);
                for (guint a = 0; a < 8; a++)
                        all += likely[a] = likelihood_of(&small.j, a);
                chain = sampler_new(&small.j, chance, FALSE);
                for (guint i = 0; i < RUN; i++) {
                        guint a = 0;

                        sampler_run(chain, 1);
                        if (i < JOINT_DRAWN)
                                sampler_note(chain, seen, (Drawings){ .cold = 1ULL << i });
                        for (guint k = 0; k < 3; k++)
                                a |= (small.assignment.parent[k] != candidate[candidates[k]]) << k;
                        drawn[a]++;
                }
                for (guint a = 0; a < 8; a++)
                        g_assert_cmpfloat_with_epsilon((double)drawn[a] / RUN, likely[a] / all,
                                                       0.03);
                for (guint i = 0; i < 3; i++)
                        g_assert_cmpuint(seen[2 * i].cold ^ seen[2 * i + 1].cold, ==,
                                         (1ULL << JOINT_DRAWN) - 1);
                g_assert_cmpuint(seen[6].cold | seen[7].cold, ==, 0); /* they have no choice */
                sampler_free(chain);
                end_small(&small);
        }
}

/* --- weights of evidence ------------------------------------------------------ */

/* Evidence that goes by both families: the more children one parent has, the less likely. */
typedef struct {
        Evidence evidence;
        guint32 n[3]; /* by parent: children */
        Family before[2];
} BySize;

static Evidence *make_by_size(const NodeModel *model G_GNUC_UNUSED)
{
        return (Evidence *)g_new0(BySize, 1);
}

static void seat_size(Evidence *e, const Family *f)
{
        ((BySize *)e)->n[f->parent] = f->n;
}

static gint64 put_sizes(Evidence *e, const Family f[2])
{
        BySize *s = (BySize *)e;
        gint64 log = 0;

        for (guint m = 0; m < 2; m++) {
                guint32 *n = &s->n[f[m].parent];

                s->before[m] = (Family){ .parent = f[m].parent, .n = *n };
                log += ((gint64)*n * *n - (gint64)f[m].n * f[m].n) * LOG_UNIT;
                *n = f[m].n;
        }
        return log;
}

static void take_sizes_back(Evidence *e)
{
        BySize *s = (BySize *)e;

        for (guint m = 0; m < 2; m++)
                s->n[s->before[m].parent] = s->before[m].n;
}

static const EvidenceKind by_size = { .name = "size",
                                      .make = make_by_size,
                                      .seat = seat_size,
                                      .put = put_sizes,
                                      .back = take_sizes_back };
static const EvidenceKind *const table_of_two[] = { &by_number, &by_size, NULL };

/* Log likelihoods of one assignment: of walks, and by each of the two. */
typedef struct {
        double walks, number, size;
} SmallLog;

static SmallLog small_log(SmallJoint *small, guint choices)
{
        Joint *j = &small->j;
        EvidenceSet *evidence = &small->model->evidence;
        SmallLog l = { 0 };

        evidence_unwatch(evidence);
        l.walks = log(likelihood_of(j, choices));
        evidence_watch_used(evidence);
        for (guint32 p = 0; p < 3; p++) {
                guint n = 0;

                for (guint32 k = j->assignment->first[p]; k != NO_PARENT;
                     k = j->assignment->next[k], n++)
                        l.number += log((p + k) % 3 + 0.5);
                l.size -= n * n;
        }
        return l;
}

static double sum_of_logs(SmallLog l)
{
        return l.walks + l.number + l.size;
}

/* The weights on a call's other candidate: those of the likelier one of two moves. */
static void check_weights(const CandidateWeights *w, SmallLog was, SmallLog alone,
                          SmallLog exchanged)
{
        SmallLog best = sum_of_logs(alone) >= sum_of_logs(exchanged) ? alone : exchanged;

        g_assert_cmpfloat_with_epsilon((double)w->weight[WEIGHT_DELAYS] +
                                               (double)w->weight[WEIGHT_EVENTS],
                                       best.walks - was.walks, 0.1);
        g_assert_cmpfloat_with_epsilon((double)w->weight[WEIGHT_ROWS], best.number - was.number,
                                       0.1);
        g_assert_cmpfloat_with_epsilon((double)w->weight[WEIGHT_ROWS + 1], best.size - was.size,
                                       0.1);
}

/* The first of n children that has returned by a time, and has not before; n: none. */
static guint32 next_return(const Joint *j, const Family *f, guint32 n, gint64 time,
                           const gboolean *returned)
{
        const WalkCall *calls = j->kinds->calls;
        guint32 next = n;

        for (guint32 k = 0; k < n; k++)
                if (!returned[k] && calls[f->child[k]].end <= time &&
                    (next == n || calls[f->child[k]].end < calls[f->child[next]].end))
                        next = k;
        return next;
}

static double take_step(ParentWalk *w, guint32 *state, guint32 event)
{
        WalkEntry step = parent_walk_get(w, *state, event);

        *state = step.next;
        return log(step.probability);
}

/* The log of the probabilities of the events of a family, without their delays. */
static double log_of_events(Joint *j, const Family *f)
{
        ParentWalk *w = &j->model->walk;
        guint32 state = parent_walk_start(w, j->kinds->kind[f->parent], 0).state, k;
        gboolean returned[MOST_CHILDREN] = { FALSE };
        double sum = 0;

        for (guint32 i = 0; i <= f->n; i++) {
                const WalkCall *call = i < f->n ? &j->kinds->calls[f->child[i]] : NULL;

                while ((k = next_return(j, f, i, call ? call->start : G_MAXINT64, returned)) < i) {
                        returned[k] = TRUE;
                        sum += take_step(w, &state,
                                         w->n_callees + j->kinds->calls[f->child[k]].callee);
                }
                sum += take_step(w, &state, call ? call->callee : 2 * w->n_callees);
        }
        return sum;
}

/* The likelihood of a family is that of its events and that of its delays. */
static void test_delays_of_families(void)
{
        static const gsize candidates[] = { 0, 2, 4, 6, 7, 8 };
        static const guint32 candidate[] = { 0, 1, 0, 1, 1, 2, 2, 0 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(13);

        for (guint round = 0; round < 40; round++) {
                SmallJoint small;

                begin_small(&small, rand, 3, 5, candidates, candidate);
                likelihood_of(&small.j, round % 8);
                for (guint32 p = 0; p < 3; p++) {
                        Family f;

                        g_assert_true(family_gather(&small.j, p, &f));
                        family_walk(&small.j, &f);
                        g_assert_cmpfloat_with_epsilon(
                                (double)(f.log - family_log_of_delays(&small.j, &f)) / LOG_UNIT,
                                log_of_events(&small.j, &f), 0.05);
                }
                end_small(&small);
        }
}

/* The weights of the sources add up to the likelihood, in each of the eight assignments. The parent
 * that a call has weighs nothing. Of the moves to the other candidate the likeliest counts. The
 * first two calls may be exchanged. */
static void test_weights(void)
{
        static const gsize candidates[] = { 0, 2, 4, 6, 7, 8 };
        static const guint32 candidate[] = { 0, 1, 0, 1, 1, 2, 2, 0 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(12);

        for (guint round = 0; round < 80; round++) {
                guint a = round % 8;
                SmallJoint small;
                SmallLog logs[8];
                g_autoptr(GArray) listed = NULL;

                begin_small(&small, rand, 3, 5, candidates, candidate);
                evidence_end(&small.model->evidence);
                evidence_set_clear(&small.model->evidence);
                evidence_set_make(&small.model->evidence, table_of_two, small.model);
                for (guint i = 0; i < 2; i++)
                        small.model->evidence.of[i]->in_use = TRUE;
                for (guint i = 0; i < 8; i++)
                        logs[i] = small_log(&small, i);
                likelihood_of(&small.j, a);
                for (guint i = 0; i < 3; i++)
                        small.s.node.out[i].flags |= OUT_EXPLAIN;
                listed = weigh_list(&small.problem, 0, 5);
                g_assert_cmpuint(listed->len, ==, 6);
                weigh(&small.j, listed);
                for (guint k = 0; k < 6; k++) {
                        const CandidateWeights *w = &g_array_index(listed, CandidateWeights, k);
                        guint i = k / 2, moved = a ^ 1U << i;
                        gboolean faces = i < 2 && (a & 1) != (a >> 1 & 1);

                        g_assert_false(w->left_out);
                        if ((a >> i & 1) == k % 2)
                                check_weights(w, logs[a], logs[a], logs[a]);
                        else
                                check_weights(w, logs[a], logs[moved], logs[faces ? a ^ 3 : moved]);
                }
                end_small(&small);
        }
}

/* --- families ---------------------------------------------------------------- */

/* The families of calls into a small node, as they are found with these shares by candidate. */
static void find_small_families(SmallJoint *small, const float *share, float *family)
{
        NodeProblem *node = &small->s.node;

        node->decide = G_MAXINT64;
        for (guint32 p = 0; p < node->n_in; p++)
                family[p] = 1;
        memcpy(small->scores.share, share, problem_n_all(&small->problem) * sizeof *share);
        joint_find_families(&small->j, 0, node->n_out, family);
}

/* Three parents that enter one after the other, and five children. */
static void begin_three(SmallJoint *small, GRand *rand, const gsize *candidates,
                        const guint32 *candidate)
{
        begin_small(small, rand, 3, 5, candidates, candidate);
        for (guint32 p = 0; p < 3; p++)
                small->s.in[p].enter = 1000 + p;
}

/* Nothing drawn: the product over what a parent has of p, and of 1 - p over what it might have. A
 * call's parent was taken for less than its share: the others have the rest. */
static void test_families_by_product(void)
{
        static const gsize candidates[] = { 0, 2, 4, 6, 7, 8 };
        static const guint32 candidate[] = { 0, 1, 0, 1, 1, 2, 2, 0 };
        static const float share[] = { 0.75f, 0.25f, 0.5f, 0.25f, 0.875f, 0.25f, 1, 1 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(12);
        SmallJoint small;
        float family[3];

        begin_three(&small, rand, candidates, candidate);
        find_small_families(&small, share, family);
        g_assert_cmpfloat_with_epsilon(family[0], 0.75 * 0.5, 1e-6);
        g_assert_cmpfloat_with_epsilon(family[1], 0.75 * 0.5 * 0.875, 1e-6);
        g_assert_cmpfloat_with_epsilon(family[2], 0.875, 1e-6); /* it has one for certain */
        end_small(&small);
}

/* Two calls that are drawn together or not at all are as likely as one of them; two that are drawn
 * one or the other are hardly ever together. */
static void test_families_by_drawings(void)
{
        static const gsize candidates[] = { 0, 2, 4, 5, 6, 7 };
        static const guint32 candidate[] = { 0, 1, 0, 1, 1, 2, 2 };
        static const float share[] = { 0.5f, 0.5f, 0.5f, 0.5f, 1, 1, 1 };
        const guint64 all = (1ULL << JOINT_DRAWN) - 1, half = (1ULL << JOINT_DRAWN / 2) - 1;
        const Drawings first = { half, half }, last = { all ^ half, all ^ half };
        g_autoptr(GRand) rand = g_rand_new_with_seed(13);

        for (guint together = 0; together < 2; together++) {
                SmallJoint small;
                float family[3];

                begin_three(&small, rand, candidates, candidate);
                small.scores.drawn = g_new0(Drawings, 7);
                small.scores.drawn[0] = first;
                small.scores.drawn[1] = last;
                small.scores.drawn[2] = together ? first : last;
                small.scores.drawn[3] = together ? last : first;
                find_small_families(&small, share, family);
                g_assert_cmpfloat_with_epsilon(family[0], together ? 0.5 : 0.00530964, 1e-6);
                g_assert_cmpfloat_with_epsilon(family[1], together ? 0.5 : 0.00530964, 1e-6);
                g_assert_cmpfloat(family[2], ==, 1);
                end_small(&small);
        }
}

/* Calls that are drawn together are doubted together, too, where calibration doubts each more than
 * the drawings do; and what may have gone astray whatever the drawings say is so once. */
static void test_families_doubted(void)
{
        static const gsize candidates[] = { 0, 2, 4, 5, 6, 7 };
        static const guint32 candidate[] = { 0, 1, 0, 1, 1, 2, 2 };
        static const float share[] = { 0.8f, 0.2f, 0.8f, 0.2f, 1, 1, 1 };
        static const float astray[] = { 0.77f, 0.23f, 0.77f, 0.23f, 1, 1, 1 };
        const guint64 all = (1ULL << JOINT_DRAWN) - 1, most = (1ULL << JOINT_DRAWN * 9 / 10) - 1;
        const Drawings first = { most, most }, last = { all ^ most, all ^ most };
        g_autoptr(GRand) rand = g_rand_new_with_seed(13);
        SmallJoint small;
        float family[3];

        begin_three(&small, rand, candidates, candidate);
        small.scores.drawn = g_new0(Drawings, 7);
        small.scores.drawn[0] = small.scores.drawn[2] = first;
        small.scores.drawn[1] = small.scores.drawn[3] = last;
        find_small_families(&small, share, family);
        g_assert_cmpfloat_with_epsilon(family[0], 0.8, 0.01);
        g_assert_cmpfloat_with_epsilon(family[1], 0.8, 0.01);
        g_assert_cmpfloat(family[2], ==, 1);
        small.scores.astray = 0.1;
        find_small_families(&small, astray, family);
        g_assert_cmpfloat_with_epsilon(family[0], 0.9 * 0.8, 0.01);
        g_assert_cmpfloat(family[2], ==, 1);
        end_small(&small);
}

/* Two calls into a node that nothing tells apart: whatever is said of one, it may as well be the
 * other that made them all. */
static void test_families_of_twins(void)
{
        static const gsize candidates[] = { 0, 2, 4, 5, 6, 7 };
        static const guint32 candidate[] = { 0, 1, 0, 1, 2, 2, 2 };
        static const float share[] = { 1, 0, 1, 0, 1, 1, 1 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(14);
        SmallJoint small;
        float family[3];

        begin_small(&small, rand, 3, 5, candidates, candidate);
        for (guint32 p = 0; p < 3; p++) {
                small.s.in[p].enter = 1000;
                small.s.in[p].reply = p == 2 ? 3000 : 2000;
                small.kinds.kind[p] = 0;
        }
        find_small_families(&small, share, family);
        g_assert_cmpfloat_with_epsilon(family[0], 0.5, 1e-6);
        g_assert_cmpfloat_with_epsilon(family[1], 0.5, 1e-6);
        g_assert_cmpfloat(family[2], ==, 1);
        end_small(&small);
}

/* Calls with few candidates: parts are as long as that takes; with many: as long as they must be in
 * time; far between: parts have fewer. */
static void test_parts(void)
{
        enum { N = 100 };
        static const gint64 life = 2000000;
        static const struct {
                gint64 apart;
                gsize each;   /* candidates */
                guint32 part; /* calls, at least */
        } cases[] = { { 1000000, PART_BELIEFS / 32, 32 },
                      { 1000000, PART_BELIEFS, 2 * tuning.part_lives },
                      { 20000000, LONG_BELIEFS / 32, 32 } };
        CallOut out[N];
        NodeProblem node = { .out = out, .n_out = N };
        guint32 n_candidates[N];

        for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
                guint32 least = cases[c].part,
                        context = tuning.context_lives * life / cases[c].apart;
                Part part = { 0 };

                for (guint32 i = 0; i < N; i++) {
                        out[i].start = cases[c].apart * i;
                        n_candidates[i] = (guint32)cases[c].each;
                }
                for (guint32 at = 0; at < N; at = part.before) {
                        part = part_find(&node, n_candidates, life, at);
                        g_assert_cmpuint(part.at, ==, at);
                        g_assert_cmpuint(part.before, >=, MIN(at + least, N));
                        g_assert_cmpuint(part.before, <=, MIN(at + least + 1, N));
                        g_assert_cmpuint(part.first, ==, MAX(at, context) - context);
                        g_assert_cmpuint(part.end, ==, MIN(part.before + context, N));
                }
        }
}

/* A parent each millisecond, open for a bit more than two, which makes one call; but one in n_long
 * is open for the whole time. */
static void make_stretches(NodeProblem *node, guint32 n, guint32 n_long)
{
        *node = (NodeProblem){ .in = g_new0(CallIn, n),
                               .out = g_new0(CallOut, n),
                               .n_in = n,
                               .n_out = n,
                               .decide = G_MAXINT64 };
        for (guint32 i = 0; i < n; i++) {
                gint64 at = i * (gint64)1000000;

                node->in[i] = (CallIn){ .enter = at, .reply = at + 2100000, .call = i };
                if (n_long && i % n_long == 0)
                        node->in[i].reply = n * (gint64)1000000;
                node->out[i] = (CallOut){ .start = at + 500000, .end = at + 600000, .call = n + i };
        }
}

/* The candidates of calls that are learned from: the user's numbers of call and candidate. */
static GArray *list_candidates(Problem *p)
{
        GArray *list = g_array_new(FALSE, FALSE, sizeof(guint32));
        Candidates open;

        candidates_init(&open, 0);
        problem_find_candidates(p, &open, 0, 0, p->node->n_out, TRUE);
        for (guint32 i = 0; i < p->node->n_out; i++)
                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++) {
                        g_array_append_val(list, p->node->out[i].call);
                        g_array_append_val(list, p->node->in[p->candidate[k]].call);
                }
        candidates_clear(&open);
        return list;
}

/* Of stretches and their margins the same is learned as of all calls; where parents are open for
 * longer than any margin, all calls are taken. */
static void test_stretches(void)
{
        enum { N = 39 * STRETCH + 7, EACH = 8 };

        for (guint long_ones = 0; long_ones < 2; long_ones++) {
                NodeProblem node;
                Problem all = {
                        .node = &node, .from = G_MININT64, .before = G_MAXINT64, .n_stretches = EACH
                };
                Stretches s;
                Problem p;
                g_autoptr(GArray) of_all = NULL, of_stretches = NULL;

                make_stretches(&node, N, long_ones ? 100 : 0);
                stretches_find(&s, &all);
                p = stretches_problem(&s, &all);
                g_assert_cmpint(s.whole, ==, long_ones);
                g_assert_cmpuint(p.node->n_in, ==, long_ones ? N : 14 * STRETCH);
                of_all = list_candidates(&all);
                of_stretches = list_candidates(&p);
                g_assert_cmpmem(of_stretches->data, of_stretches->len * sizeof(guint32),
                                of_all->data, of_all->len * sizeof(guint32));
                problem_clear(&p);
                problem_clear(&all);
                stretches_clear(&s);
                g_free(node.in);
                g_free(node.out);
        }
}

/* --- order -------------------------------------------------------------------- */

/* A queue that serves one after the other, in order or at random, is told from one that does not.
 */
static void test_order(void)
{
        enum { N = 400 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(10);

        for (guint in_order = 0; in_order < 2; in_order++) {
                Output *outputs = g_new(Output, N);
                gint64 waiting[4];
                DelayDensities delays;
                guint32 row;
                ServingOrder order;

                for (guint i = 0; i < 4; i++)
                        waiting[i] = 1000000 * (gint64)i;
                for (guint i = 0; i < N; i++)
                        outputs[i].time = 1000000 * (gint64)(i + 4);
                delay_densities_init(&delays);
                row = delay_densities_add_row(&delays, 0);
                serving_order_init(&order, 2);
                serving_order_take(&order, outputs, N);
                for (guint i = 0; i < N; i++) {
                        guint next = in_order ? i % 4 : (guint)g_rand_int_range(rand, 0, 4);

                        outputs[i].class = 1;
                        outputs[i].parent = i;
                        outputs[i].row = row;
                        outputs[i].share = 1;
                        outputs[i].trigger = waiting[next];
                        delay_densities_count(&delays, row,
                                              density_bin(outputs[i].time - waiting[next]),
                                              DENSITY_COUNT);
                        waiting[next] = outputs[i].time;
                }
                delay_densities_learn(&delays);
                /* Where all waited for as long, the other way round is hardly as likely. */
                for (guint bin = 0; bin < DENSITY_BINS; bin++)
                        if (in_order && delay_densities_row(&delays, row))
                                delays.density[row][bin] = 1;
                serving_order_learn(&order, &delays);
                g_assert_cmpint(order.in_use, ==, in_order);
                if (in_order) {
                        gint64 early = outputs[100].trigger - 1, late = outputs[102].trigger + 1;

                        g_assert_cmpfloat(order.factor[1], <, 0.1);
                        g_assert_cmpfloat(order.factor[0], ==, 1);
                        g_assert_cmpfloat(serving_order_factor(&order, 100, 0, late, N), ==, 1);
                        /* A call of another parent, which is served before parents that wait
                         * longer, or after. */
                        g_assert_cmpfloat_with_epsilon(
                                serving_order_factor(&order, 100, 1, late, N),
                                order.factor[1] * order.factor[1], 1e-9);
                        g_assert_cmpfloat(serving_order_factor(&order, 100, 1, early, 100), ==, 1);
                }
                /* Order that is not ruled out can be supposed, and given up. */
                serving_order_suppose(&order, &delays);
                g_assert_cmpfloat(order.factor[0], ==, 1);
                g_assert_cmpfloat(order.factor[1], <=, 0.05);
                g_assert_true(order.in_use);
                serving_order_drop(&order);
                g_assert_cmpfloat(order.factor[1], ==, 1);
                g_assert_false(order.in_use);
                serving_order_learn(&order, &delays);
                serving_order_forget(&order);
                g_assert_cmpfloat(serving_order_factor(&order, 100, 1, 0, N), ==, 1);
                /* Kept counts are used without outputs, until they are too few. */
                serving_order_take(&order, NULL, 0);
                for (guint i = 0; i < 10; i++) {
                        double factor = order.factor[1];

                        serving_order_keep(&order, i > 0);
                        serving_order_learn(&order, &delays);
                        g_assert_true(i > 0 || order.factor[1] == factor);
                }
                g_assert_cmpfloat(order.factor[1], ==, 1);
                serving_order_clear(&order);
                delay_densities_clear(&delays);
        }
}

/* Outputs of two kinds of a queue that serves in order, and of one that serves at random: what is
 * learned of inversions, and what these cost, pair by pair. */
static void test_mixed_order(void)
{
        enum { N = 3000, WAITING = 4 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(12);

        for (guint in_order = 0; in_order < 2; in_order++) {
                Output *outputs = g_new0(Output, N);
                gint64 waiting[WAITING], sum = 0;
                DelayDensities delays;
                guint32 row;
                ServingOrder order;
                g_autofree ServedPairs *pairs = NULL;
                g_autofree gint32 *logs = NULL;
                double odds;

                for (guint i = 0; i < WAITING; i++)
                        waiting[i] = 1000000 * (gint64)i;
                delay_densities_init(&delays);
                row = delay_densities_add_row(&delays, 0);
                serving_order_init(&order, 2);
                for (guint i = 0; i < N; i++) {
                        guint next = in_order ? 0 : (guint)g_rand_int_range(rand, 0, WAITING);

                        outputs[i] = (Output){
                                1000000 * (gint64)(i + WAITING), waiting[next], 0, i, row, 0
                        };
                        /* Delays differ enough for the order to show. */
                        delay_densities_count(&delays, row,
                                              density_bin(1000000 * g_rand_int_range(rand, 1, 8)),
                                              DENSITY_COUNT);
                        memmove(waiting + next, waiting + next + 1,
                                (WAITING - 1 - next) * sizeof *waiting);
                        waiting[WAITING - 1] = outputs[i].time;
                }
                delay_densities_learn(&delays);
                serving_order_take(&order, outputs, N);
                for (guint i = 0; i < N; i++) {
                        outputs[i].class = i % 2;
                        outputs[i].share = 1;
                }
                pairs = g_new0(ServedPairs, serving_order_n_counts(&order));
                serving_order_count(&order, &delays, pairs);
                odds = serving_order_odds(&order, pairs);
                serving_order_fit(&order, pairs);
                if (in_order) {
                        g_assert_cmpfloat(odds, <, 0.1);
                        g_assert_cmpfloat(order.factor[0], <, 0.2);
                        g_assert_cmpfloat(order.mixed[1], <, 0.2);
                        g_assert_cmpfloat(order.mixed[1], ==, order.mixed[2]);
                } else {
                        g_assert_cmpfloat(odds, >, 0.5);
                        order.mixed[1] = order.mixed[2] = 0.5;
                        order.factor[0] = 0.25;
                }
                logs = g_new(gint32, serving_order_n_counts(&order));
                serving_order_get_logs(&order, logs);
                for (guint i = 100; i < 200; i++) {
                        sum = 0;
                        for (guint k = i - 20; k < i + 20; k++) {
                                const Output *a = &outputs[MIN(i, k)], *b = &outputs[MAX(i, k)];
                                double factor = a->class != b->class ? order.mixed[1]
                                                                     : order.factor[a->class];

                                if (a->trigger > b->trigger)
                                        sum += fixed_log(factor);
                        }
                        g_assert_cmpint(serving_order_log(&order, i, logs), ==, sum);
                        g_assert_cmpfloat_with_epsilon(
                                log(serving_order_factor(&order, i, outputs[i].class,
                                                         outputs[i].trigger, i)) *
                                        LOG_UNIT,
                                sum, 20);
                }
                serving_order_clear(&order);
                delay_densities_clear(&delays);
        }
}

static int compare_out_calls(const void *a, const void *b)
{
        const CallOut *x = a, *y = b;

        return (x->start > y->start) - (x->start < y->start);
}

/* Calls of a queue with k workers, by playing it: each is taken when it has come, and a worker is
 * free. */
static void play_queue(CallIn *in, gint64 *taken, guint32 n, guint32 k, guint32 *random)
{
        gint64 free[8] = { 0 }, time = 0;

        for (guint32 i = 0; i < n; i++) {
                guint32 first = 0;

                *random = *random * 1103515245 + 12345;
                time += 1 + (*random >> 8) % (2000000 / k);
                *random = *random * 1103515245 + 12345;
                for (guint32 w = 1; w < k; w++)
                        if (free[w] < free[first])
                                first = w;
                taken[i] = MAX(time, free[first]);
                free[first] = taken[i] + 500000 + (*random >> 8) % 900000;
                in[i] = (CallIn){ .enter = time, .reply = free[first], .call = n + i };
        }
}

static void test_queue(void)
{
        enum { N = 3000 };
        g_autofree CallIn *in = g_new(CallIn, N);
        g_autofree gint64 *taken = g_new(gint64, N), *start = g_new(gint64, N);
        guint32 random = 7;

        for (guint32 k = 1; k <= 8; k++) {
                guint32 n_waited = 0;

                play_queue(in, taken, N, k, &random);
                workers_find_starts(in, N, k, start);
                for (guint32 i = 0; i < N; i++) {
                        g_assert_cmpint(start[i], ==, taken[i]);
                        n_waited += taken[i] > in[i].enter;
                }
                g_assert_cmpuint(n_waited, >, N / 4);
                workers_find_starts(in, N, 0, start);
                for (guint32 i = 0; i < N; i++)
                        g_assert_cmpint(start[i], ==, in[i].enter);
        }
}

/* Each call into a node of k workers makes one call, soon after it was taken; k = 0: after it
 * came, and its reply comes when it likes. All parents are found, and how many workers there are.
 */
static void check_workers(guint32 k, guint32 n_workers)
{
        enum { N = 1500 };
        CallIn *in = g_new(CallIn, N);
        CallOut *out = g_new(CallOut, N);
        g_autofree gint64 *taken = g_new(gint64, N);
        guint32 random = 5, n_right = 0;
        NodeAnswer answer;
        NodeProblem node = { .in = in,
                             .out = out,
                             .n_in = N,
                             .n_out = N,
                             .from = G_MININT64,
                             .decide = G_MAXINT64 };

        play_queue(in, taken, N, k > 0 ? k : 4, &random);
        for (guint32 i = 0; i < N; i++) {
                gint64 start = k > 0 ? taken[i] : in[i].enter;

                random = random * 1103515245 + 12345;
                start += 20000 + (random >> 8) % 60000;
                out[i] = (CallOut){ .start = start, .end = start + 100000, .call = i, .callee = 1 };
        }
        qsort(out, N, sizeof *out, compare_out_calls);
        find_parents_jointly(&node, NULL, &answer);
        g_assert_cmpuint(answer.n_workers, ==, n_workers);
        for (guint32 i = 0; i < N; i++) {
                gsize best = answer.first[i];

                for (gsize c = best; c < answer.first[i + 1]; c++)
                        if (answer.score[c] > answer.score[best])
                                best = c;
                n_right += answer.parent[best] == N + answer.call[i];
        }
        g_assert_cmpuint(n_right, >=, N * 7 / 8);
        node_answer_clear(&answer);
        g_free(in);
        g_free(out);
}

static void test_workers(void)
{
        check_workers(1, 1);
        check_workers(4, 4);
        check_workers(7, 7);
        check_workers(0, 0);
}

/* An input of an event loop: a call into the node, or the return of a call that it made. */
typedef struct {
        gint64 time;
        guint32 parent;
        guint32 returned; /* calls of the parent that have returned */
} LoopInput;

static int compare_in_calls(const void *a, const void *b)
{
        const CallIn *x = a, *y = b;

        return (x->enter > y->enter) - (x->enter < y->enter);
}

static gint compare_loop_inputs(gconstpointer a, gconstpointer b)
{
        const LoopInput *x = a, *y = b;

        return (x->time > y->time) - (x->time < y->time);
}

static guint32 draw_below(guint32 *random, guint32 n)
{
        *random = *random * 1103515245 + 12345;
        return (*random >> 8) % n;
}

/* One thread takes its inputs as they come, from 16 clients that ask again when they are answered.
 * A call makes one call; when that has returned, two more, or one in a quarter of cases; and
 * replies when all have returned. */
static guint32 play_loop(CallIn *in, CallOut *out, guint32 n, guint32 *random)
{
        g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(LoopInput));
        g_autofree guint8 *due = g_new0(guint8, n);
        guint32 n_in = 16, n_out = 0;
        gint64 time = 0;

        for (guint32 p = 0; p < n_in; p++) {
                LoopInput first = { 1000 * (p + 1), p, 0 };

                g_array_append_val(queue, first);
                in[p] = (CallIn){ .enter = first.time, .call = 4 * n + p };
        }
        while (queue->len > 0) {
                LoopInput at = g_array_index(queue, LoopInput, 0);
                guint32 calls = 0;

                g_array_remove_index(queue, 0);
                time = MAX(time, at.time) + 60000 + draw_below(random, 150000);
                if (at.returned == 0)
                        calls = 1;
                else if (at.returned == 1)
                        calls = due[at.parent] = draw_below(random, 4) ? 2 : 1;
                else
                        due[at.parent]--;
                for (guint32 i = 0; i < calls; i++) {
                        LoopInput back = { time + 300000 + draw_below(random, 3000000), at.parent,
                                           at.returned + 1 };

                        out[n_out] = (CallOut){ .start = time,
                                                .end = back.time,
                                                .callee = 1 + at.returned + i };
                        out[n_out++].parent = at.parent;
                        time += 10000;
                        g_array_append_val(queue, back);
                }
                if (at.returned == 2 && due[at.parent] == 0) {
                        in[at.parent].reply = time;
                        if (n_in < n) {
                                LoopInput next = { time + 100000 + draw_below(random, 400000), n_in,
                                                   0 };

                                in[n_in] = (CallIn){ .enter = next.time, .call = 4 * n + n_in };
                                n_in++;
                                g_array_append_val(queue, next);
                        }
                }
                g_array_sort(queue, compare_loop_inputs);
        }
        qsort(in, n, sizeof *in, compare_in_calls);
        return n_out;
}

/* The parents at an event loop that is always busy are found by the order of its inputs. */
static void test_event_loop(void)
{
        enum { N = 1000 };
        CallIn *in = g_new(CallIn, N);
        CallOut *out = g_new(CallOut, 3 * N);
        g_autofree guint32 *truth = g_new(guint32, 3 * N);
        guint32 random = 3, n_right = 0, n_out = play_loop(in, out, N, &random);
        NodeAnswer answer;
        NodeProblem node = { .in = in,
                             .out = out,
                             .n_in = N,
                             .n_out = n_out,
                             .from = G_MININT64,
                             .decide = G_MAXINT64 };

        for (guint32 i = 0; i < n_out; i++) {
                truth[i] = 4 * N + out[i].parent;
                out[i].call = i;
        }
        find_parents_jointly(&node, NULL, &answer);
        for (guint32 i = 0; i < n_out; i++) {
                gsize best = answer.first[i];

                for (gsize c = best; c < answer.first[i + 1]; c++)
                        if (answer.score[c] > answer.score[best])
                                best = c;
                n_right += answer.parent[best] == truth[answer.call[i]];
        }
        g_test_message("%u of %u right", n_right, n_out);
        g_assert_cmpuint(n_right, >=, n_out * 9 / 10);
        node_answer_clear(&answer);
        g_free(in);
        g_free(out);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/joint/log", test_log);
        g_test_add_func("/joint/density-bins", test_density_bins);
        g_test_add_func("/joint/density", test_density);
        g_test_add_func("/joint/walk", test_walk);
        g_test_add_func("/joint/foresee", test_foresee);
        g_test_add_func("/joint/keep", test_keep);
        g_test_add_func("/joint/kinds", test_kinds);
        g_test_add_func("/joint/places", test_places);
        g_test_add_func("/joint/trellis", test_trellis);
        g_test_add_func("/joint/beliefs", test_beliefs);
        g_test_add_func("/joint/parts", test_parts);
        g_test_add_func("/joint/stretches", test_stretches);
        g_test_add_func("/joint/chain", test_chain);
        g_test_add_func("/joint/delays-of-families", test_delays_of_families);
        g_test_add_func("/joint/weights", test_weights);
        g_test_add_func("/joint/families/product", test_families_by_product);
        g_test_add_func("/joint/families/drawings", test_families_by_drawings);
        g_test_add_func("/joint/families/doubted", test_families_doubted);
        g_test_add_func("/joint/families/twins", test_families_of_twins);
        g_test_add_func("/joint/order", test_order);
        g_test_add_func("/joint/mixed-order", test_mixed_order);
        g_test_add_func("/joint/queue", test_queue);
        g_test_add_func("/joint/workers", test_workers);
        g_test_add_func("/joint/event-loop", test_event_loop);
        return g_test_run();
}
