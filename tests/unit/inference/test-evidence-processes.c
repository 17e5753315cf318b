/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Connections that processes keep reveal parents.
 */
#include "tests/unit/inference/crowd.h"

typedef enum { DEALT, BY_CALLER, BY_CALLEE, POOLS, POOLS_DEALT } Kept;

enum { WORKERS = 8, PROCESSES = 2, POOL = 6 };

/* Gives all calls connections of pools, to each callee one of each process; parents come by one of
 * a few connections of their process; or any of all. */
static void add_pools(Crowd *p, GRand *rand, gboolean dealt)
{
        guint8 process[PARENTS];

        for (guint32 i = 0; i < p->node.n_in; i++) {
                process[i] = (guint8)g_rand_int_range(rand, 0, PROCESSES);
                p->in[i].connection =
                        1 + process[i] + PROCESSES * (guint)g_rand_int_range(rand, 0, POOL);
        }
        for (guint32 i = 0; i < p->node.n_out; i++) {
                guint of = dealt ? (guint)g_rand_int_range(rand, 0, PROCESSES)
                                 : process[p->made_by[p->out[i].call - PARENTS]];
                guint one = (guint)g_rand_int_range(rand, 0, POOL);

                p->out[i].connection = 1 + PROCESSES * (POOL * p->out[i].callee + one) + of;
        }
}

/* Gives all calls connections, as workers keep them that take parents at random: one to each
 * callee; and one that parents come by; or dealt at random. */
static void add_connections(Crowd *p, GRand *rand, Kept kept)
{
        guint8 worker[PARENTS];

        if (kept == POOLS || kept == POOLS_DEALT) {
                add_pools(p, rand, kept == POOLS_DEALT);
                return;
        }
        for (guint32 i = 0; i < p->node.n_in; i++) {
                worker[i] = (guint8)g_rand_int_range(rand, 0, WORKERS);
                p->in[i].connection = kept == BY_CALLER ? 1 + worker[i] : 0;
        }
        for (guint32 i = 0; i < p->node.n_out; i++) {
                guint of = kept == DEALT ? (guint)g_rand_int_range(rand, 0, WORKERS)
                                         : worker[p->made_by[p->out[i].call - PARENTS]];

                p->out[i].connection = 1 + WORKERS * p->out[i].callee + of;
        }
}

/* A connection into the node, or one to another callee, reveals parents if a worker keeps it, or
 * one of two processes with pools. If connections are dealt at random nothing changes. */
static void test_processes(void)
{
        guint right[6] = { 0 }, seeds = is_long() ? 2 : 1;

        for (guint seed = 51; seed < 51 + seeds; seed++)
                for (guint kept = 0; kept < 6; kept++) {
                        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
                        g_autofree Crowd *p = g_new(Crowd, 1);

                        make_crowd(p, rand, 0, MS / 3);
                        for (guint32 i = 0; i < p->node.n_out; i++)
                                p->out[i].connection = 0;
                        if (kept > 0)
                                add_connections(p, rand, kept - 1);
                        right[kept] += count_right(p);
                }
        g_test_message("without %u, dealt %u, by caller %u, by callee %u, pools %u, dealt %u",
                       right[0], right[1], right[2], right[3], right[4], right[5]);
        g_assert_cmpuint(right[1 + DEALT], ==, right[0]);
        g_assert_cmpuint(right[1 + POOLS_DEALT], ==, right[0]);
        g_assert_cmpuint(right[1 + POOLS], >, right[0] + 50 * seeds);
        g_assert_cmpuint(right[1 + BY_CALLER], >, right[0] + 150 * seeds);
        g_assert_cmpuint(right[1 + BY_CALLEE], >, right[0] + 100 * seeds);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/evidence-processes/processes", test_processes);
        return g_test_run();
}
