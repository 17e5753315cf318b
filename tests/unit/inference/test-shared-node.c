/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Several processes find the parents of one node, here one after the other, each with a copy of its
 * calls. The answer is the answer of one process, whatever their number and their shares of work.
 */
#include "inference/shared-node.h"

#include "base/peers.h"

enum { FEW = 300, PARENTS = 17000, EACH = 2, MOST = 3 };

#define MS G_GINT64_CONSTANT(1000000)

typedef struct {
        NodeProblem node;
        GArray *in, *out;
} Problem;

static int compare_outs(const void *a, const void *b)
{
        const CallOut *x = a, *y = b;

        return (x->start > y->start) - (x->start < y->start);
}

/* n parents, about three at a time, each with two calls, one after the other. */
static Problem make_problem(guint32 n)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(7);
        Problem p = { .in = g_array_new(FALSE, FALSE, sizeof(CallIn)),
                      .out = g_array_new(FALSE, FALSE, sizeof(CallOut)) };

        for (guint32 i = 0; i < n; i++) {
                gint64 at = i * MS;
                CallIn in = { .enter = at, .call = i, .caller = i % 2 };

                for (guint32 k = 0; k < EACH; k++) {
                        gint64 start = at + g_rand_int_range(rand, 200000, 800000);

                        at = start + MS + g_rand_int_range(rand, 0, 100000);
                        CallOut out = { .start = start,
                                        .end = at,
                                        .call = n + EACH * i + k,
                                        .callee = k,
                                        .parent = NO_PARENT };

                        g_array_append_val(p.out, out);
                }
                in.reply = at + 100000;
                g_array_append_val(p.in, in);
        }
        g_array_sort(p.out, compare_outs);
        p.node = (NodeProblem){ .in = (CallIn *)p.in->data,
                                .out = (CallOut *)p.out->data,
                                .n_in = p.in->len,
                                .n_out = p.out->len,
                                .decide = 10 * n * MS };
        return p;
}

static void clear_problem(Problem *p)
{
        g_array_free(p->in, TRUE);
        g_array_free(p->out, TRUE);
}

static guint n_early; /* shares of progress below a half */

static void count_early(double share)
{
        n_early += share < 0.5;
}

static GBytes *found_by_one(guint32 n_parents)
{
        Problem p = make_problem(n_parents);
        Work work;
        WorkPart part = { .work = &work, .size = 1 };
        NodeAnswer answer;
        GBytes *bytes;

        n_early = 0;
        work_init(&work, count_early, 1);
        p.node.work = &part;
        find_parents_jointly(&p.node, NULL, &answer);
        bytes = node_answer_to_bytes(&answer);
        node_answer_clear(&answer);
        work_clear(&work);
        clear_problem(&p);
        return bytes;
}

/* One process finds its share, with a crew's threads. */
typedef struct {
        SharedNode *node;
        gboolean keep, taken, done;
        GBytes *share;
} Finding;

static CrewNext take_finding(gpointer data, gpointer *work)
{
        Finding *f = data;

        *work = f;
        if (f->taken)
                return f->done ? CREW_END : CREW_WAIT;
        f->taken = TRUE;
        return CREW_WORK;
}

static void do_finding(gpointer data, gpointer work)
{
        Finding *f = work;

        g_assert_true(data == work);
        f->share = shared_node_find(f->node, f->keep);
}

static void end_finding(gpointer data, gpointer work)
{
        g_assert_true(data == work);
        ((Finding *)work)->done = TRUE;
}

static GBytes *find_share(SharedNode *node, Crew *crew, gboolean keep)
{
        const CrewList list = { take_finding, do_finding, end_finding };
        Finding f = { .node = node, .keep = keep };

        if (!crew)
                return shared_node_find(node, keep);
        crew_run(crew, &list, &f);
        return f.share;
}

/* By n processes, of which one learns, with what each has to do before, and one puts the parts
 * together. Returns the answer; n_finders: how many of the others found something. */
static GBytes *found_by(guint n, guint learner, guint gatherer, const double *before, Crew *crew,
                        guint *n_finders)
{
        Problem p[MOST];
        SharedNode *node[MOST];
        double load[MOST][MOST];
        g_autoptr(GBytes) learned = NULL;
        NodeAnswer answer;
        GBytes *bytes;

        for (guint i = 0; i < n; i++) {
                p[i] = make_problem(PARENTS);
                p[i].node.crew = crew;
                node[i] = shared_node_new(&p[i].node);
        }
        learned = shared_node_learn(node[learner]);
        g_assert_nonnull(learned);
        *n_finders = 0;
        for (guint i = 0; i < n; i++)
                if (i != learner)
                        shared_node_take(node[i], learned);
        for (guint i = 0; i < n; i++) {
                g_autoptr(GBytes) share = NULL;

                memcpy(load[i], before, n * sizeof *before);
                shared_node_assign(node[i], i, load[i], n);
                share = find_share(node[i], crew, i == gatherer);
                *n_finders += g_bytes_get_size(share) > 0;
                g_assert_cmpmem(load[i], n * sizeof **load, load[0], n * sizeof **load);
                g_assert_true(i != gatherer || g_bytes_get_size(share) == 0);
                if (i != gatherer)
                        shared_node_add(node[gatherer], share);
        }
        shared_node_end(node[gatherer], &answer);
        bytes = node_answer_to_bytes(&answer);
        node_answer_clear(&answer);
        for (guint i = 0; i < n; i++) {
                shared_node_free(node[i]);
                clear_problem(&p[i]);
        }
        return bytes;
}

static void assert_found(GBytes *expected, guint n, guint learner, guint gatherer,
                         const double *before, guint expected_finders, guint n_threads)
{
        Crew *crew = n_threads > 1 ? crew_new(n_threads) : NULL;
        guint n_finders;
        g_autoptr(GBytes) found = found_by(n, learner, gatherer, before, crew, &n_finders);

        g_assert_true(g_bytes_equal(found, expected));
        g_assert_cmpuint(n_finders, ==, expected_finders);
        crew_free(crew);
}

static void test_parts(void)
{
        g_autoptr(GBytes) expected = found_by_one(PARENTS);
        const double none[MOST] = { 0 }, busy[MOST] = { 1e18, 0, 1e18 }, two[MOST] = { 0, 1e18, 0 };

        g_assert_cmpuint(n_early, >=, 20); /* while it learned, too */
        if (g_getenv("RAVEL_LONG")) {
                assert_found(expected, 2, 1, 1, none, 1, 1);
                assert_found(expected, 3, 0, 1, busy, 0, 1);
                assert_found(expected, 3, 0, 0, busy, 1, 1);
        }
        assert_found(expected, 3, 1, 0, two, 1, 1);
        assert_found(expected, 3, 1, 0, two, 1, 3);
}

/* Few calls are not divided: who learns has found all. */
static void test_few(void)
{
        g_autoptr(GBytes) expected = found_by_one(FEW), found = NULL;
        Problem p = make_problem(FEW);
        g_autoptr(SharedNode) node = shared_node_new(&p.node);
        NodeAnswer answer;

        g_assert_null(shared_node_learn(node));
        shared_node_end(node, &answer);
        found = node_answer_to_bytes(&answer);
        g_assert_true(g_bytes_equal(found, expected));
        node_answer_clear(&answer);
        clear_problem(&p);
}

static void test_least_loaded(void)
{
        const double load[] = { 1, 2, 1, 3 };
        const gboolean not_last[] = { FALSE, FALSE, TRUE, FALSE },
                       first_two[] = { TRUE, FALSE, TRUE, TRUE };

        g_assert_cmpuint(peers_least_loaded(load, NULL, 4), ==, 2);
        g_assert_cmpuint(peers_least_loaded(load, not_last, 4), ==, 0);
        g_assert_cmpuint(peers_least_loaded(load, first_two, 4), ==, 1);
        g_assert_cmpuint(peers_least_loaded(load, NULL, 1), ==, 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/shared-node/parts", test_parts);
        g_test_add_func("/shared-node/few", test_few);
        g_test_add_func("/shared-node/least-loaded", test_least_loaded);
        return g_test_run();
}
