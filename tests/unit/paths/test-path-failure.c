/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls that were tried again, and when callers went on, agree with slow implementations that look
 * at all siblings.
 */
#include "paths/missed-calls.h"

#include <time.h>

#include "paths/path-failure.h"

enum { MAX_CALLS = 24 };

static const gint64 ms = 1000000;

/* Siblings are in the order of their starts. */
static guint32 random_calls(GRand *rand, PathCall *calls, CallDelays *delays)
{
        guint32 n = (guint32)g_rand_int_range(rand, 1, MAX_CALLS + 1);
        Outcome error = outcome_http(503);
        gboolean opens = g_rand_boolean(rand);

        for (guint32 i = 0; i < n; i++) {
                guint32 parent = i == 0 ? NO_PARENT : (guint32)g_rand_int_range(rand, 0, 3) % i;
                gint64 start =
                        i == 0 ? 0 : calls[i - 1].start + g_rand_int_range(rand, 0, 5) * ms / 2;

                delays[i] = (CallDelays){ .opened = g_rand_int_range(rand, 0, 8) * ms / 2 };
                calls[i] = (PathCall){ .parent = parent,
                                       .callee = (NodeId)g_rand_int_range(rand, 0, 2),
                                       .start = start,
                                       .enter = start,
                                       .end = start + g_rand_int_range(rand, 0, 6) * ms / 2,
                                       .label = (guint16)g_rand_int_range(rand, 0, 3),
                                       .call_bytes = g_rand_int_range(rand, 0, 3),
                                       .outcome = g_rand_boolean(rand) ? error : OUTCOME_OK,
                                       .continues = (guint8)g_rand_int_range(rand, 0,
                                                                             WORK_UNANSWERED + 1),
                                       .delays = opens ? &delays[i] : NULL };
                calls[i].reply = calls[i].end;
        }
        return n;
}

static gboolean slow_asks_same(const PathCall *a, const PathCall *b)
{
        return a->parent == b->parent && a->label == b->label &&
               (a->label != 0 || a->callee == b->callee) &&
               work_goes_on(a->continues) == work_goes_on(b->continues) &&
               (a->call_bytes == b->call_bytes || a->call_bytes == 0 || b->call_bytes == 0);
}

static guint32 slow_retried(const PathCall *calls, guint32 i)
{
        for (guint32 k = i; k-- > 0;)
                if (slow_asks_same(&calls[k], &calls[i]))
                        return outcome_is_error(calls[k].outcome) && calls[k].end <= calls[i].start
                                       ? k
                                       : NO_PARENT;
        return NO_PARENT;
}

static void test_retried(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(3);

        for (int round = 0; round < 5000; round++) {
                PathCall calls[MAX_CALLS];
                CallDelays delays[MAX_CALLS];
                guint32 n = random_calls(rand, calls, delays);
                g_autofree guint32 *retried = path_find_retried(calls, n);
                g_autoptr(GArray) retries = path_retries(calls, n);

                for (guint32 i = 0; i < n; i++)
                        g_assert_cmpuint(retried[i], ==, slow_retried(calls, i));
                for (guint i = 0; i < retries->len; i++) {
                        const PathRetry *r = &g_array_index(retries, PathRetry, i);
                        guint attempts = 1, errors = outcome_is_error(calls[r->last].outcome);
                        guint32 first = r->last;

                        for (; retried[first] != NO_PARENT; attempts++, errors++)
                                first = retried[first];
                        g_assert_cmpuint(r->first, ==, first);
                        g_assert_cmpuint(r->attempts, ==, attempts);
                        g_assert_cmpuint(r->errors, ==, errors);
                        g_assert_cmpint(r->lost, ==, calls[r->last].start - calls[first].start);
                        g_assert_true(r->outcome == outcome_http(503));
                }
        }
}

static gint64 slow_next_asked(const PathCall *calls, guint32 n, guint32 call)
{
        gint64 start = calls[call].start, beside = start;

        for (guint32 i = call + 1; i < n; i++) {
                gint64 asked = calls[i].start;

                if (calls[i].parent != calls[call].parent || calls[i].start <= start ||
                    calls[i].label != calls[call].label || !path_call_has_time(&calls[i]))
                        continue;
                if (calls[i].delays && calls[i].start - calls[i].delays->opened > start)
                        asked -= calls[i].delays->opened;
                if (asked - beside >= LEAST_SPAN)
                        return asked;
                beside = MAX(asked, beside);
        }
        return G_MAXINT64;
}

static void test_next_asked(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(4);
        guint found = 0;

        for (int round = 0; round < 5000; round++) {
                PathCall calls[MAX_CALLS];
                CallDelays delays[MAX_CALLS];
                guint32 n = random_calls(rand, calls, delays);
                g_autofree gint64 *asked = path_find_next_asked(calls, n);

                for (guint32 i = 0; i < n; i++) {
                        if (!work_is_missed(calls[i].continues))
                                continue;
                        g_assert_cmpint(asked[i], ==, slow_next_asked(calls, n, i));
                        found += asked[i] != G_MAXINT64;
                }
        }
        g_assert_cmpuint(found, >, 1000);
}

/* n calls without an answer, each on a connection of its own. Returns seconds of
 * CPU time. */
static double time_next_asked(guint32 n)
{
        g_autofree PathCall *calls = g_new0(PathCall, n);
        CallDelays delays = { .opened = ms / 4 };

        for (guint32 i = 0; i < n; i++)
                calls[i] = (PathCall){ .parent = i == 0 ? NO_PARENT : 0,
                                       .start = i * ms / 2,
                                       .continues = WORK_UNANSWERED,
                                       .delays = &delays };
        clock_t start = clock();
        g_autofree gint64 *asked = path_find_next_asked(calls, n);
        g_assert_cmpint(asked[1], ==, G_MAXINT64);
        return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* Eight times as many calls take at most 24 times as long, not 64 times. */
static void test_many_missed(void)
{
        double few = G_MAXDOUBLE, many = G_MAXDOUBLE;

        for (guint round = 0; round < 3; round++) {
                few = MIN(few, time_next_asked(4000));
                many = MIN(many, time_next_asked(32000));
        }
        g_assert_cmpfloat(many, <, 24 * few);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/path-failure/retried", test_retried);
        g_test_add_func("/path-failure/next-asked", test_next_asked);
        g_test_add_func("/path-failure/many-missed", test_many_missed);
        return g_test_run();
}
