/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a walk has learned, against counting steps by name.
 */
#include "inference/learn/learn.h"
#include "tests/unit/inference/small-node.h"

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
                guint32 step = parent_walk_get(&w, w.first[0], i % 4 == 0).number - 1;

                parent_walk_count(&w, step, 10, 1);
                parent_walk_count(&w, parent_walk_get(&w, w.steps[step].next, reply).number - 1, 20,
                                  1);
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

                        step = &walk.steps[parent_walk_get(&walk, at.state, event).number - 1];
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

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/parent-walk/walk", test_walk);
        g_test_add_func("/parent-walk/foresee", test_foresee);
        g_test_add_func("/parent-walk/keep", test_keep);
        g_test_add_func("/parent-walk/places", test_places);
        return g_test_run();
}
