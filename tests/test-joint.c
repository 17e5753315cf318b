/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parts of the joint method against plain recomputation on small cases: what a walk
 * has learned, against counting by name; the assignments that are drawn, against all
 * that there are. Its sources are a part of this file, so that it can look inside.
 */
#include "nesting/joint.c"

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

static double mass(const DelayDensities *d, guint32 row, guint from, guint to)
{
        double sum = 0;

        for (guint bin = from; bin < to; bin++)
                sum += d->density[row][bin] * density_bin_width(bin);
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
                                     gint64 delay),
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
                visit(data, states, event, m && m->is_return ? -1 : time - at);
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

static void count_step(gpointer data, const char *const *states, const char *event, gint64 delay)
{
        (void)delay;
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
        GArray *delays;
} Likelihood;

static void add_step_log(gpointer data, const char *const *states, const char *event, gint64 delay)
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
        g_array_append_val(l->delays, delay);
}

/* A node with random calls in and out. */
typedef struct {
        NodeCalls node;
        CallIn in[40];
        CallOut out[80];
        guint32 parent[80];
} SmallNode;

static void make_node(SmallNode *s, GRand *rand, guint n_in, guint n_out, gint64 span)
{
        s->node = (NodeCalls){ .in = s->in,
                               .out = s->out,
                               .n_in = n_in,
                               .n_out = n_out,
                               .n_callers = 2,
                               .n_callees = 3 };
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

static void test_walk(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(5);

        for (guint round = 0; round < 20; round++) {
                Names names = { g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) };
                SmallNode s;
                WalkCall calls[80];
                WalkEvent events[161];
                guint32 which[80];
                ParentWalk walk;

                make_node(&s, rand, g_rand_int_range(rand, 1, 40), 80, 100000000);
                for (guint i = 0; i < 80; i++)
                        calls[i] = (WalkCall){ s.out[i].start, s.out[i].end, s.out[i].callee };
                parent_walk_init(&walk, 2, 3);
                for (guint p = 0; p < s.node.n_in; p++) {
                        const CallIn *in = &s.in[p];
                        guint32 n = children_of(&s, p, which);

                        parent_walk_count(&walk, events,
                                          parent_walk_run(&walk, in->caller, in->enter, in->reply,
                                                          calls, which, n, events));
                        name_steps(in, calls, which, n, 3, count_step, &names);
                }
                parent_walk_learn(&walk);
                for (guint p = 0; p < s.node.n_in; p++) {
                        const CallIn *in = &s.in[p];
                        guint32 n = children_of(&s, p, which), n_events, n_delays = 0;
                        g_autoptr(GArray) delays = g_array_new(FALSE, FALSE, sizeof(gint64));
                        Likelihood l = { &names, 3, 0, delays };
                        gint32 steps_log = 0;

                        name_steps(in, calls, which, n, 3, add_step_log, &l);
                        n_events = parent_walk_run(&walk, in->caller, in->enter, in->reply, calls,
                                                   which, n, events);
                        g_assert_cmpuint(n_events, ==, delays->len);
                        for (guint32 i = 0; i < n_events; i++) {
                                gint64 delay = g_array_index(delays, gint64, i);

                                steps_log += walk.steps[events[i].step].log;
                                n_delays += events[i].bin != NO_DELAY;
                                g_assert_cmpuint(events[i].bin, ==,
                                                 delay < 0 ? NO_DELAY : (gint)density_bin(delay));
                        }
                        g_assert_cmpuint(n_delays, ==, n + 1);
                        g_assert_cmpfloat_with_epsilon(steps_log, l.log * LOG_UNIT, n_events);
                }
                parent_walk_clear(&walk);
                g_hash_table_unref(names.seen);
        }
}

/* Step by step, a parent comes to the same states as in a run; what a step is more likely than
 * its state to have lasted so long is what the densities of all its steps say. */
static void test_places(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(6);
        SmallNode s;
        WalkCall calls[80];
        WalkEvent events[161];
        guint32 which[80];
        ParentWalk walk;

        make_node(&s, rand, 30, 80, 100000000);
        for (guint i = 0; i < 80; i++)
                calls[i] = (WalkCall){ s.out[i].start, s.out[i].end, s.out[i].callee };
        parent_walk_init(&walk, 2, 3);
        for (guint p = 0; p < 30; p++)
                parent_walk_count(&walk, events,
                                  parent_walk_run(&walk, s.in[p].caller, s.in[p].enter,
                                                  s.in[p].reply, calls, which,
                                                  children_of(&s, p, which), events));
        parent_walk_learn(&walk);
        parent_walk_learn_patience(&walk);
        for (guint p = 0; p < 30; p++) {
                const CallIn *in = &s.in[p];
                guint32 n = children_of(&s, p, which);
                WalkPlace at = parent_walk_start(&walk, in->caller, in->enter);

                n = parent_walk_run(&walk, in->caller, in->enter, in->reply, calls, which, n,
                                    events);
                for (guint32 i = 0; i + 1 < n; i++) {
                        const WalkStep *step = &walk.steps[events[i].step];
                        guint32 event = step->event;
                        gint64 time = at.latest + 3000000;
                        double lasts = 0;

                        g_assert_cmpuint(step->state, ==, at.state);
                        for (guint32 k = 0; k < walk.n_steps; k++) {
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
                                        log(walk.delays.density[step->row][density_bin(3000000)]);

                                g_assert_cmpfloat_with_epsilon(
                                        parent_walk_urge(&walk, at, event, time),
                                        (likely - log(lasts)) * LOG_UNIT, 3);
                                at = parent_walk_call(&walk, at, event, 50000000);
                        } else {
                                at = parent_walk_return(&walk, at, event - 3, 50000000);
                        }
                        g_assert_cmpint(at.latest, ==, 50000000);
                }
        }
        parent_walk_clear(&walk);
}

/* --- what is drawn --------------------------------------------------------- */

static void joint_start(Joint *j, Nesting *n, const SmallNode *s, Candidates *candidates)
{
        *j = (Joint){ .node = &s->node, .random = { 1 } };
        joint_init(j);
        find_candidates(n, j, candidates);
        list_choices(j);
        assign_first(j);
        parent_walk_init(&j->walk, s->node.n_callers, s->node.n_callees);
        memset(j->crowd, 0, s->node.n_in * sizeof *j->crowd);
        learn(j, G_MAXUINT64);
        measure_all(j);
        weigh_candidates(j);
}

/* The logarithm of how likely an assignment is, as all its parents' walks. */
static gint64 log_of_all(Joint *j, SmallNode *s)
{
        gint64 sum = 0;

        for (guint32 p = 0; p < s->node.n_in; p++) {
                guint32 which[80], n = children_of(s, p, which);
                Children c = { which, n, n };

                sum += log_of(j, p, &c);
        }
        return sum;
}

/* Three calls into a node and five out of it: of all 243 assignments, each is drawn as often
 * as it is likely. */
static void test_distribution(void)
{
        enum { N_IN = 3, N_OUT = 5, ALL = 243, DRAWN = 400000 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(9);

        for (guint round = 0; round < 4; round++) {
                g_autoptr(NodeTable) nodes = node_table_new();
                NestingOptions options = NESTING_DEFAULTS;
                g_autoptr(Nesting) nesting = nesting_new(nodes, &options);
                Candidates candidates;
                SmallNode s;
                Joint j;
                double likely[ALL], sum = 0, apart = 0;
                guint drawn[ALL] = { 0 };

                make_node(&s, rand, N_IN, N_OUT, 20000000);
                candidates_init(&candidates, 0);
                joint_start(&j, nesting, &s, &candidates);
                g_assert_cmpuint(j.n_choice, ==, N_OUT);
                for (guint a = 0; a < ALL; a++) {
                        guint rest = a;

                        for (guint i = 0; i < N_OUT; i++, rest /= N_IN)
                                s.parent[i] = rest % N_IN;
                        sum += likely[a] = exp(log_of_all(&j, &s) / (double)LOG_UNIT);
                }
                for (guint t = 0; t < DRAWN; t++) {
                        guint a = 0;

                        sweep(&j, 1);
                        for (guint i = N_OUT; i-- > 0;)
                                a = a * N_IN + j.parent[i];
                        drawn[a]++;
                }
                for (guint a = 0; a < ALL; a++)
                        apart += fabs(likely[a] / sum - (double)drawn[a] / DRAWN) / 2;
                g_test_message("round %u: %g apart", round, apart);
                g_assert_cmpfloat(apart, <, 0.02);
                joint_clear(&j);
                candidates_clear(&candidates);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/joint/log", test_log);
        g_test_add_func("/joint/density-bins", test_density_bins);
        g_test_add_func("/joint/density", test_density);
        g_test_add_func("/joint/walk", test_walk);
        g_test_add_func("/joint/places", test_places);
        g_test_add_func("/joint/distribution", test_distribution);
        return g_test_run();
}
