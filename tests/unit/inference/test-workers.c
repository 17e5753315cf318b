/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How many workers a node has.
 */
#include "inference/model/workers.h"

#include <math.h>
#include <stdlib.h>

#include "inference/learn/worker-count.h"

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

/* --- numbers of workers, by replies alone --------------------------------------------- */

enum { COUNTED = 2000 };

typedef enum { EXPONENTIAL, LOGNORMAL, LAWS } Law;

static double draw_uniform(GRand *random)
{
        return 1 - g_rand_double(random); /* above 0 */
}

/* ns; operation 1 takes four times as long as operation 0. */
static double draw_work(GRand *random, Law law, guint operation)
{
        double mean = operation ? 48e6 : 12e6;

        if (law == EXPONENTIAL)
                return -mean * log(draw_uniform(random));
        return mean * exp(0.6 * sqrt(-2 * log(draw_uniform(random))) *
                                  cos(2 * G_PI * draw_uniform(random)) -
                          0.18);
}

/* Calls at the load of k workers; their replies are still to come, and work is how long each
 * takes. */
static void draw_calls(GRand *random, CallIn *in, double *work, guint32 k, double load, Law law,
                       guint n_operations)
{
        double mean = n_operations == 1 ? 12e6 : 0.7 * 12e6 + 0.3 * 48e6, time = 0;

        for (guint32 i = 0; i < COUNTED; i++) {
                guint operation = n_operations > 1 && draw_uniform(random) > 0.7;

                time -= mean / (load * k) * log(draw_uniform(random));
                work[i] = draw_work(random, law, operation);
                in[i] = (CallIn){ .enter = (gint64)time, .call = i, .label = (guint16)operation };
        }
}

/* First in, first out. Returns the mean wait. */
static double serve_in_order(CallIn *in, const double *work, guint32 k)
{
        double free[64] = { 0 }, waited = 0;

        for (guint32 i = 0; i < COUNTED; i++) {
                guint32 first = 0;
                double start;

                for (guint32 w = 1; w < k; w++)
                        if (free[w] < free[first])
                                first = w;
                start = MAX((double)in[i].enter, free[first]);
                waited += start - (double)in[i].enter;
                free[first] = start + work[i];
                in[i].reply = (gint64)free[first];
        }
        return waited / COUNTED;
}

/* All at once, with k processors for them. */
static void share_processors(CallIn *in, const double *work, guint32 k)
{
        g_autofree double *left = g_memdup2(work, COUNTED * sizeof *work);
        guint32 first = 0, n = 0; /* calls that came; those before first have left */
        double now = 0;

        while (first < COUNTED) {
                guint32 n_open = 0, next = COUNTED;
                double rate, until;

                for (guint32 i = first; i < n; i++) {
                        n_open += left[i] > 0;
                        if (left[i] > 0 && (next == COUNTED || left[i] < left[next]))
                                next = i;
                }
                rate = n_open > k ? (double)k / n_open : 1;
                until = next < COUNTED ? now + left[next] / rate : G_MAXDOUBLE;
                if (n < COUNTED && (double)in[n].enter <= until) {
                        until = (double)in[n].enter;
                        next = COUNTED;
                }
                for (guint32 i = first; i < n; i++)
                        left[i] -= left[i] > 0 ? (until - now) * rate : 0;
                now = until;
                if (next < COUNTED) {
                        left[next] = 0;
                        in[next].reply = MAX((gint64)now, in[next].enter + 1);
                } else {
                        n++;
                }
                while (first < n && left[first] <= 0)
                        first++;
        }
}

/* The number is right where calls wait for long enough to tell: 1 % of a mean call. Below, no
 * number may be given, but no wrong one. */
static void test_count(void)
{
        static const guint32 numbers[] = { 1, 2, 4, 16 };
        g_autofree CallIn *in = g_new(CallIn, COUNTED);
        g_autofree double *work = g_new(double, COUNTED);
        g_autoptr(GRand) random = g_rand_new_with_seed(3);
        guint n = 0, n_right = 0;

        for (guint law = 0; law < LAWS; law++)
                for (guint operations = 1; operations <= 2; operations++)
                        for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
                                for (double load = 0.3; load < 1; load += 0.3) {
                                        guint32 k = numbers[i], found;
                                        double wait;

                                        draw_calls(random, in, work, k, load, law, operations);
                                        wait = serve_in_order(in, work, k);
                                        found = workers_count(in, COUNTED);
                                        if (wait < 0.12e6) {
                                                g_assert_true(found == 0 ||
                                                              ABS((int)found - (int)k) <= 2);
                                                continue;
                                        }
                                        n++;
                                        n_right += found == k;
                                }
        g_assert_cmpuint(n, >=, 38);
        g_assert_cmpuint(n_right, >=, n - 1);
}

/* Nodes without a queue: calls share processors, or do not meet at all. */
static void test_no_queue(void)
{
        static const guint32 numbers[] = { 1, 2, 4, 16, COUNTED };
        g_autofree CallIn *in = g_new(CallIn, COUNTED);
        g_autofree double *work = g_new(double, COUNTED);
        g_autoptr(GRand) random = g_rand_new_with_seed(4);

        for (guint law = 0; law < LAWS; law++)
                for (guint operations = 1; operations <= 2; operations++)
                        for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
                                for (double load = 0.3; load < 1; load += 0.3) {
                                        guint32 k = numbers[i];

                                        draw_calls(random, in, work, MIN(k, 8), load, law,
                                                   operations);
                                        share_processors(in, work, k);
                                        g_assert_cmpuint(workers_count(in, COUNTED), ==, 0);
                                }
        g_assert_cmpuint(workers_count(in, 0), ==, 0);
        g_assert_cmpuint(workers_count(in, 1), ==, 0);
}

/* No number is told from the few calls that happen to wait if all are served at once. */
static void test_few_waits(void)
{
        g_autofree CallIn *in = g_new(CallIn, COUNTED);
        g_autofree double *work = g_new(double, COUNTED);
        g_autoptr(GRand) random = g_rand_new_with_seed(5);
        guint n_found = 0;

        for (guint run = 0; run < 400; run++) {
                draw_calls(random, in, work, 8, 0.5, run % LAWS, 1 + run % 2);
                share_processors(in, work, COUNTED);
                n_found += workers_count(in, COUNTED) != 0;
        }
        g_assert_cmpuint(n_found, <=, 1);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/workers/queue", test_queue);
        g_test_add_func("/workers/workers", test_workers);
        g_test_add_func("/workers/count", test_count);
        g_test_add_func("/workers/no-queue", test_no_queue);
        g_test_add_func("/workers/few-waits", test_few_waits);
        return g_test_run();
}
