/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Coarse stamps, and calls without a choice on several threads.
 */
#include "tests/unit/inference/crowd.h"

/* Parents of 20 ms, one after the other, each with one child that starts and ends when it does;
 * of stamps that are multiples of unit. */
static void make_ties(Crowd *p, gint64 unit)
{
        p->node.n_in = p->node.n_out = 20;
        for (guint32 i = 0; i < 20; i++) {
                gint64 at = i * 30 * MS / unit * unit, end = at + 20 * MS / unit * unit;

                p->in[i] = (CallIn){ .enter = at, .reply = end, .call = 2 * i, .caller = 1 };
                p->out[i] = (CallOut){ .start = at, .end = end, .call = 2 * i + 1, .callee = 2 };
        }
}

/* What has the same coarse stamp as its parent may have come after it; of exact stamps it did not.
 */
static void test_ties(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(6);
        g_autofree Crowd *p = g_new(Crowd, 1);

        for (guint exact = 0; exact < 2; exact++) {
                NodeAnswer answer;

                make_problem(p, rand, 0);
                make_ties(p, MS);
                if (exact)
                        p->in[0].reply++;
                find_parents_jointly(&p->node, NULL, &answer);
                for (guint32 i = 0; i < answer.n_out; i++) {
                        g_assert_cmpuint(answer.n_candidates[i], ==, !exact);
                        g_assert_cmpuint(answer.first[i + 1] - answer.first[i], ==, !exact);
                }
                node_answer_clear(&answer);
        }
}

enum { LONG = 1 << 19 }; /* some parts */

/* The same problem again and again, one at a time, so that all threads do its parts. */
typedef struct {
        NodeProblem node;
        guint n;
        gboolean under_way;
} Repeated;

static CrewNext take_again(gpointer data, gpointer *work)
{
        Repeated *r = data;

        if (r->under_way)
                return CREW_WAIT;
        if (r->n == 0)
                return CREW_END;
        r->n--;
        r->under_way = TRUE;
        *work = r;
        return CREW_WORK;
}

static void find_again(gpointer data G_GNUC_UNUSED, gpointer work)
{
        NodeProblem node = ((const Repeated *)work)->node;
        NodeAnswer answer;

        find_parents_jointly(&node, NULL, &answer);
        for (guint32 i = 0; i < node.n_out; i++)
                g_assert_cmpuint(answer.parent[answer.first[i]], ==, i);
        node_answer_clear(&answer);
}

static void end_again(gpointer data, gpointer work G_GNUC_UNUSED)
{
        Repeated *r = data;

        r->under_way = FALSE;
}

/* One parent at a time, on connections: nothing is learned, and parts go to several threads. */
static void test_without_choice(void)
{
        g_autofree CallIn *in = g_new0(CallIn, LONG);
        g_autofree CallOut *out = g_new0(CallOut, LONG);
        const CrewList list = { take_again, find_again, end_again };
        Repeated r = { .node = { .in = in, .out = out, .n_in = LONG, .n_out = LONG }, .n = 10 };

        for (guint32 i = 0; i < LONG; i++) {
                gint64 at = i * 3 * MS;

                in[i] = (CallIn){ .enter = at, .reply = at + 2 * MS, .call = i };
                out[i] = (CallOut){ .start = at + MS / 2,
                                    .end = at + MS,
                                    .call = LONG + i,
                                    .parent = NO_PARENT,
                                    .connection = 1 + i % 8 };
        }
        r.node.decide = G_MAXINT64;
        r.node.crew = crew_new(4);
        crew_run(r.node.crew, &list, &r);
        crew_free(r.node.crew);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/solve/ties", test_ties);
        g_test_add_func("/solve/without-choice", test_without_choice);
        return g_test_run();
}
