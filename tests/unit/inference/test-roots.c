/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/model/roots.h"

#include "paths/path-set.h"

enum { N_IN = 100, N_OUT = 200 };

#define MS G_GINT64_CONSTANT(1000000)

typedef struct {
        CallIn in[N_IN];
        CallOut out[N_OUT];
        guint32 n_candidates[N_OUT];
        NodeProblem problem;
} Fixture;

/* A call into the node each second, which lasts for a part of the second. The calls out start at
 * random times, or, if within is set, within calls into the node. */
static void make(Fixture *f, GRand *rand, gint64 open, gboolean within)
{
        f->problem = (NodeProblem){ .in = f->in, .out = f->out, .n_in = N_IN, .n_out = N_OUT };
        for (guint i = 0; i < N_IN; i++)
                f->in[i] = (CallIn){ .enter = i * 1000 * MS, .reply = i * 1000 * MS + open };
        for (guint i = 0; i < N_OUT; i++) {
                gint64 start = i * 500 * MS + g_rand_int_range(rand, 0, 500) * MS;

                if (within && i % 2 == 0)
                        start = i * 500 * MS + MS;
                f->out[i] = (CallOut){ .start = start, .end = start + 2 * MS, .parent = NO_PARENT };
                f->n_candidates[i] = 0;
                for (guint k = 0; k < N_IN; k++)
                        f->n_candidates[i] +=
                                f->in[k].enter < start && f->in[k].reply >= f->out[i].end;
        }
}

static guint n_roots(const Fixture *f)
{
        guint n = 0;

        for (guint i = 0; i < N_OUT; i++)
                n += (f->out[i].flags & OUT_ROOT) != 0;
        return n;
}

/* A relay: some of its calls lie in requests by accident. */
static void test_relay(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);
        guint found = 0;

        for (guint round = 0; round < 20; round++) {
                Fixture f;

                make(&f, rand, 100 * MS, FALSE);
                if (roots_find(&f.problem, f.n_candidates))
                        found += n_roots(&f) == N_OUT;
        }
        g_assert_cmpuint(found, ==, 20);
}

/* Half of the calls are made for requests: far more than the node is busy. */
static void test_mixed(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(2);

        for (guint round = 0; round < 20; round++) {
                Fixture f;

                make(&f, rand, 100 * MS, TRUE);
                g_assert_false(roots_find(&f.problem, f.n_candidates));
                g_assert_cmpuint(n_roots(&f), ==, 0);
        }
}

/* Each edge by itself; and one that the capture cut once stays as it is. */
static void test_edges(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(3);
        Fixture f;

        make(&f, rand, 990 * MS, FALSE);
        f.n_candidates[0] = 0;
        g_assert_false(roots_find(&f.problem, f.n_candidates));
        make(&f, rand, 100 * MS, FALSE);
        for (guint i = 0; i < N_OUT; i++) {
                f.out[i].callee = i / 2 % 2;
                if (f.out[i].callee)
                        f.n_candidates[i] = 1;
        }
        g_assert_true(roots_find(&f.problem, f.n_candidates));
        for (guint i = 0; i < N_OUT; i++)
                g_assert_cmpint((f.out[i].flags & OUT_ROOT) != 0, ==, f.out[i].callee == 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/roots/relay", test_relay);
        g_test_add_func("/roots/mixed", test_mixed);
        g_test_add_func("/roots/edges", test_edges);
        return g_test_run();
}
