/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The shares of calls by a trellis, against all sets of children.
 */
#include "inference/learn/learn.h"
#include "tests/unit/inference/small-node.h"

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

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/trellis/trellis", test_trellis);
        return g_test_run();
}
