/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How many workers a node has.
 */
#include "inference/model/workers.h"

static int compare_out_calls(const void *a, const void *b)
{
        const CallOut *x = a, *y = b;

        return (x->start > y->start) - (x->start < y->start);
}

/* Calls of a queue with k workers, by playing it: each is taken when it has come, and a worker is
 * free. */
static void play_queue(CallIn *in, gint64 *taken, guint32 n, guint32 k, guint32 *random)
{
        gint64 free[8] = { 0 }, time = 0;

        for (guint32 i = 0; i < n; i++) {
                guint32 first = 0;

                *random = *random * 1103515245 + 12345;
                time += 1 + (*random >> 8) % (2000000 / k);
                *random = *random * 1103515245 + 12345;
                for (guint32 w = 1; w < k; w++)
                        if (free[w] < free[first])
                                first = w;
                taken[i] = MAX(time, free[first]);
                free[first] = taken[i] + 500000 + (*random >> 8) % 900000;
                in[i] = (CallIn){ .enter = time, .reply = free[first], .call = n + i };
        }
}

static void test_queue(void)
{
        enum { N = 3000 };
        g_autofree CallIn *in = g_new(CallIn, N);
        g_autofree gint64 *taken = g_new(gint64, N), *start = g_new(gint64, N);
        guint32 random = 7;

        for (guint32 k = 1; k <= 8; k++) {
                guint32 n_waited = 0;

                play_queue(in, taken, N, k, &random);
                workers_find_starts(in, N, k, start);
                for (guint32 i = 0; i < N; i++) {
                        g_assert_cmpint(start[i], ==, taken[i]);
                        n_waited += taken[i] > in[i].enter;
                }
                g_assert_cmpuint(n_waited, >, N / 4);
                workers_find_starts(in, N, 0, start);
                for (guint32 i = 0; i < N; i++)
                        g_assert_cmpint(start[i], ==, in[i].enter);
        }
}

/* Each call into a node of k workers makes one call, soon after it was taken; k = 0: after it
 * came, and its reply comes when it likes. All parents are found, and how many workers there are.
 */
static void check_workers(guint32 k, guint32 n_workers)
{
        enum { N = 1500 };
        CallIn *in = g_new(CallIn, N);
        CallOut *out = g_new(CallOut, N);
        g_autofree gint64 *taken = g_new(gint64, N);
        guint32 random = 5, n_right = 0;
        NodeAnswer answer;
        NodeProblem node = { .in = in,
                             .out = out,
                             .n_in = N,
                             .n_out = N,
                             .from = G_MININT64,
                             .decide = G_MAXINT64 };

        play_queue(in, taken, N, k > 0 ? k : 4, &random);
        for (guint32 i = 0; i < N; i++) {
                gint64 start = k > 0 ? taken[i] : in[i].enter;

                random = random * 1103515245 + 12345;
                start += 20000 + (random >> 8) % 60000;
                out[i] = (CallOut){ .start = start, .end = start + 100000, .call = i, .callee = 1 };
        }
        qsort(out, N, sizeof *out, compare_out_calls);
        find_parents_jointly(&node, NULL, &answer);
        g_assert_cmpuint(answer.n_workers, ==, n_workers);
        for (guint32 i = 0; i < N; i++) {
                gsize best = answer.first[i];

                for (gsize c = best; c < answer.first[i + 1]; c++)
                        if (answer.score[c] > answer.score[best])
                                best = c;
                n_right += answer.parent[best] == N + answer.call[i];
        }
        g_assert_cmpuint(n_right, >=, N * 7 / 8);
        node_answer_clear(&answer);
        g_free(in);
        g_free(out);
}

static void test_workers(void)
{
        check_workers(1, 1);
        check_workers(4, 4);
        check_workers(7, 7);
        check_workers(0, 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/workers/queue", test_queue);
        g_test_add_func("/workers/workers", test_workers);
        return g_test_run();
}
