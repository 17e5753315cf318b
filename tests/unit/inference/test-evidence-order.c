/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Order of first calls is found where it is, and only there.
 */
#include "tests/unit/inference/crowd.h"

/* Each parent makes one call, when it is its turn: the oldest that waits, or any. What it does
 * after the call takes long and varies, so parents end in no order. */
static void make_dispatched(Crowd *p, GRand *rand, gboolean in_order)
{
        guint32 waiting[MANY], n_waiting = 0, n_in = 0;
        gint64 at = 0;

        memset(p, 0, sizeof *p);
        for (guint32 i = 0; i < MANY; i++) {
                at += g_rand_int_range(rand, 0, 2 * MS);
                p->in[i] = (CallIn){ .enter = at, .call = i };
        }
        at = p->in[3].enter;
        for (guint32 k = 0; k < MANY; k++) {
                guint32 which, parent;

                at += g_rand_int_range(rand, 1, 8 * MS / 5);
                at = MAX(at, p->in[k].enter + 1);
                while (n_in < MANY && p->in[n_in].enter < at)
                        waiting[n_waiting++] = n_in++;
                which = in_order ? 0 : (guint32)g_rand_int_range(rand, 0, n_waiting);
                parent = waiting[which];
                n_waiting--;
                memmove(waiting + which, waiting + which + 1,
                        (n_waiting - which) * sizeof *waiting);
                p->out[k] = (CallOut){ .start = at,
                                       .end = at + MS / 10,
                                       .call = PARENTS + k,
                                       .callee = 1,
                                       .parent = NO_PARENT };
                p->made_by[k] = parent;
                p->in[parent].reply = at + g_rand_int_range(rand, 5 * MS, 30 * MS);
        }
        p->node = (NodeProblem){ .in = p->in,
                                 .out = p->out,
                                 .n_in = MANY,
                                 .n_out = MANY,
                                 .from = G_MININT64,
                                 .decide = G_MAXINT64 };
}

/* Order of first calls is not found where there is none. */
static void test_dispatch(void)
{
        guint in_order = 0, at_random = 0;

        for (guint seed = 40; seed < 43; seed++) {
                g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
                g_autofree Crowd *p = g_new(Crowd, 1);

                make_dispatched(p, rand, TRUE);
                if (is_long())
                        in_order += count_right(p);
                make_dispatched(p, rand, FALSE);
                at_random += count_right(p);
        }
        g_test_message("in order %u, at random %u", in_order, at_random);
        if (is_long())
                g_assert_cmpuint(in_order, >, 2550);
        /* 2466 if order is always supposed where it shows. */
        g_assert_cmpuint(at_random, >, 2500);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/evidence-order/dispatch", test_dispatch);
        return g_test_run();
}
