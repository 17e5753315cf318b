/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Processes told by the connections that parents use.
 */
#include "inference/evidence/processes.h"
#include "inference/model/problem.h"

enum { MOST = 80 };

/* Connections of processes, in turns: first the ones into the node, then the ones out of the node,
 * then one that is hardly used. */
typedef struct {
        guint processes, in, out;
        double wrong; /* of the uses: any connection's */
} System;

static guint32 n_out(const System *s)
{
        return s->out + 1;
}

static void count(const System *s, float *pairs, guint32 one, guint32 other)
{
        if (other >= s->in)
                pairs[(gsize)one * n_out(s) + other - s->in]++;
        if (one >= s->in)
                pairs[(gsize)other * n_out(s) + one - s->in]++;
}

static guint32 connection_of(const System *s, GRand *rand, guint process, gboolean in)
{
        guint n = in ? s->in : s->out;
        guint32 one = (guint32)g_rand_int_range(rand, 0, (gint32)(n / s->processes));

        if (g_rand_double(rand) < s->wrong)
                process = (guint)g_rand_int_range(rand, 0, (gint32)s->processes);
        return (in ? 0 : s->in) + one * s->processes + process;
}

/* Pairs of connections, by parent: the connection that it came by, and two of its process. */
static void use(const System *s, GRand *rand, guint parents, gboolean dealt, float *pairs)
{
        for (guint i = 0; i < parents; i++) {
                guint process = (guint)g_rand_int_range(rand, 0, (gint32)s->processes);
                guint32 used[3];
                guint n = 0;

                for (guint k = s->in ? 0 : 1; k < 3; k++) {
                        if (dealt)
                                process = (guint)g_rand_int_range(rand, 0, (gint32)s->processes);
                        used[n++] = connection_of(s, rand, process, k == 0);
                }
                for (guint k = 0; k < n; k++)
                        for (guint m = 0; m < k; m++)
                                if (used[k] != used[m] && (used[k] >= s->in || used[m] >= s->in))
                                        count(s, pairs, used[k], used[m]);
        }
}

/* Pairs of 2,000 parents and of 700 others, and of as many whose connections are dealt. */
typedef struct {
        float *seen[2], *dealt[2];
} Pairs;

static Pairs pairs_new(gsize n)
{
        return (Pairs){ { g_new0(float, n), g_new0(float, n) },
                        { g_new0(float, n), g_new0(float, n) } };
}

static void pairs_free(Pairs *p)
{
        for (guint i = 0; i < 2; i++) {
                g_free(p->seen[i]);
                g_free(p->dealt[i]);
        }
}

static const guint parents[] = { 2000, 700 };

/* Finds processes, or none where connections are dealt. */
static void find(const System *s, gboolean dealt, Processes *p)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(7);
        guint32 n = s->in + n_out(s), end[MOST];
        gsize n_pairs = (gsize)n * n_out(s);
        Pairs of = pairs_new(n_pairs);

        g_assert_cmpuint(n, <=, MOST);
        for (guint i = 0; i < 2; i++) {
                use(s, rand, parents[i], dealt, of.seen[i]);
                use(s, rand, 4 * parents[i], TRUE, of.dealt[i]);
                for (gsize k = 0; k < n_pairs; k++)
                        of.dealt[i][k] /= 4;
        }
        count(s, of.seen[0], s->in, n - 1);
        for (guint32 i = 0; i < n; i++)
                end[i] = i >= s->in;
        processes_find(p, &(ConnectionPairs){ s->in, n, 2, end, of.seen[0], of.dealt[0], of.seen[1],
                                              of.dealt[1] });
        pairs_free(&of);
}

static void check(const System *s, const Processes *p)
{
        guint32 n = s->in + s->out;
        float sum = 0;

        g_assert_cmpuint(p->n, ==, s->processes);
        for (guint32 i = 0; i < n; i++) {
                guint32 like = i < s->in ? i % s->processes : (i - s->in) % s->processes;

                g_assert_cmpuint(p->of[i], <, p->n);
                g_assert_cmpuint(p->of[i], ==, p->of[s->in + like]);
        }
        g_assert_cmpuint(p->of[n], ==, NO_PARENT);
        for (guint32 k = 0; k < p->n; k++) {
                sum += p->share[k];
                for (guint32 i = 0; i < n; i++)
                        g_assert_true((process_ratio(p, k, i, p->strange) > 1) == (p->of[i] == k));
        }
        g_assert_cmpfloat_with_epsilon(sum, 1, 1e-5);
}

static void test_found(void)
{
        static const System systems[] = { { 2, 12, 24, 0 },
                                          { 2, 0, 24, 0.2 },
                                          { 4, 16, 24, 0.4 },
                                          { 24, 0, 72, 0.2 },
                                          { 3, 9, 9, 0.3 } };

        for (guint i = 0; i < G_N_ELEMENTS(systems); i++) {
                guint32 of[MOST];
                float share[MOST];
                Processes p = { .of = of, .share = share };

                g_test_message("system %u", i);
                find(&systems[i], FALSE, &p);
                g_test_message("%u processes, strange %.2f", p.n, p.strange);
                check(&systems[i], &p);
        }
}

/* Of connections dealt at random nothing is said, or little. */
static void test_dealt(void)
{
        static const System systems[] = { { 2, 12, 24, 0 }, { 4, 0, 24, 0 } };

        for (guint i = 0; i < G_N_ELEMENTS(systems); i++) {
                guint32 of[MOST];
                float share[MOST];
                Processes p = { .of = of, .share = share };

                find(&systems[i], TRUE, &p);
                g_test_message("%u processes, strange %.2f", p.n, p.strange);
                g_assert_true(p.n == 0 || p.strange > 0.8F);
        }
}

enum { THREADS = 8, POOL = 6 };

/* Parents of threads, each with a connection to one node and to another, that take one to a third
 * out of a pool, mostly its first ones. */
static void use_threads(GRand *rand, guint n, gboolean dealt, float *pairs)
{
        const System s = { 1, 0, 2 * THREADS + POOL - 1, 0 };

        for (guint i = 0; i < n; i++) {
                guint32 thread = (guint32)g_rand_int_range(rand, 0, THREADS);
                guint32 other = dealt ? (guint32)g_rand_int_range(rand, 0, THREADS) : thread;
                guint32 pooled = (guint32)(POOL * g_rand_double(rand) * g_rand_double(rand));

                count(&s, pairs, thread, THREADS + other);
                count(&s, pairs, thread, 2 * THREADS + pooled);
                count(&s, pairs, THREADS + other, 2 * THREADS + pooled);
        }
}

/* Connections that threads keep are told, and those of a pool are nobody's. */
static void test_threads_and_pool(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(7);
        enum { N = 2 * THREADS + POOL };
        guint32 end[N], of[N];
        float share[N];
        Processes p = { .of = of, .share = share };
        Pairs pairs = pairs_new(N * N);

        for (guint i = 0; i < 2; i++) {
                use_threads(rand, parents[i], FALSE, pairs.seen[i]);
                use_threads(rand, 4 * parents[i], TRUE, pairs.dealt[i]);
                for (gsize k = 0; k < N * N; k++)
                        pairs.dealt[i][k] /= 4;
        }
        for (guint32 i = 0; i < N; i++)
                end[i] = 1 + i / THREADS;
        processes_find(&p, &(ConnectionPairs){ 0, N, 4, end, pairs.seen[0], pairs.dealt[0],
                                               pairs.seen[1], pairs.dealt[1] });
        pairs_free(&pairs);
        g_assert_cmpuint(p.n, ==, THREADS);
        for (guint32 i = 0; i < THREADS; i++) {
                g_assert_cmpuint(of[i], <, THREADS);
                g_assert_cmpuint(of[i], ==, of[THREADS + i]);
        }
        for (guint32 i = 2 * THREADS; i < N; i++)
                g_assert_cmpuint(of[i], ==, NO_PARENT);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/processes/found", test_found);
        g_test_add_func("/processes/dealt", test_dealt);
        g_test_add_func("/processes/threads and a pool", test_threads_and_pool);
        return g_test_run();
}
