/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Learning from stretches of a node.
 */
#include "inference/search/stretches.h"

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

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/stretches/stretches", test_stretches);
        return g_test_run();
}
