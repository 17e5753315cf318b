/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Own times add up exactly to the latency, whatever the tree looks like, and
 * agree with a slow implementation that goes back through time one nanosecond
 * after the other.
 */
#include <string.h>

#include "paths/path-own-time.h"

enum { MAX_CALLS = 12 };

static PathCall make_call(guint32 parent, gint64 start, gint64 end)
{
        return (PathCall){
                .parent = parent, .start = start, .enter = start, .reply = end, .end = end
        };
}

static gint64 total(const PathCall *calls, guint32 n)
{
        gint64 sum = 0;

        for (guint32 i = 0; i < n; i++) {
                g_assert_cmpint(calls[i].own, >=, 0);
                g_assert_cmpint(calls[i].network, >=, 0);
                sum += calls[i].own + calls[i].network;
        }
        return sum;
}

static void test_serial(void)
{
        PathCall calls[] = { make_call(NO_PARENT, 0, 100), make_call(0, 10, 30),
                             make_call(1, 15, 20), make_call(0, 50, 90) };

        path_own_times(calls, 4);
        g_assert_cmpint(calls[0].own, ==, 40);
        g_assert_cmpint(calls[1].own, ==, 15);
        g_assert_cmpint(calls[2].own, ==, 5);
        g_assert_cmpint(calls[3].own, ==, 40);
        g_assert_cmpint(total(calls, 4), ==, 100);
}

/* Of calls in parallel, the one that was waited for counts. */
static void test_parallel(void)
{
        PathCall calls[] = { make_call(NO_PARENT, 0, 100), make_call(0, 10, 80),
                             make_call(0, 12, 60), make_call(2, 13, 50), make_call(0, 5, 12) };

        path_own_times(calls, 5);
        g_assert_cmpint(calls[0].own, ==, 30); /* (80, 100] and (0, 10] */
        g_assert_cmpint(calls[1].own, ==, 70);
        g_assert_cmpint(calls[2].own, ==, 0);
        g_assert_cmpint(calls[3].own, ==, 0);
        g_assert_cmpint(calls[4].own, ==, 0); /* still open when the first was called */
}

static void test_late(void)
{
        PathCall calls[] = { make_call(NO_PARENT, 0, 100), make_call(0, 80, 500),
                             make_call(0, 100, 200), make_call(0, 300, 400) };

        path_own_times(calls, 4);
        g_assert_cmpint(calls[0].own, ==, 80);
        g_assert_cmpint(calls[1].own, ==, 20);
        g_assert_cmpint(calls[2].own, ==, 0);
        g_assert_cmpint(calls[3].own, ==, 0);
}

/* Four stamps, the clocks a second apart: what is not at the callee is the
 * network's. */
static void test_two_clocks(void)
{
        PathCall calls[] = {
                { .parent = NO_PARENT, .start = 0, .enter = 1010, .reply = 1090, .end = 100 },
                { .parent = 0, .start = 1020, .enter = 5023, .reply = 5043, .end = 1050 },
        };

        path_own_times(calls, 2);
        g_assert_cmpint(calls[0].network, ==, 20);
        g_assert_cmpint(calls[0].own, ==, 50);
        g_assert_cmpint(calls[1].network, ==, 10);
        g_assert_cmpint(calls[1].own, ==, 20);
}

static void test_backwards(void)
{
        PathCall calls[] = { make_call(NO_PARENT, 100, 50), make_call(0, 60, 70) };

        path_own_times(calls, 2);
        g_assert_cmpint(total(calls, 2), ==, 0);
}

/* The same rule as a person would follow it with a finger on the time line:
 * who has the nanosecond before t? */
typedef struct {
        PathCall *calls;
        guint32 n;
} Tree;

static void slow_walk(const Tree *tree, guint32 call, gint64 lo, gint64 hi)
{
        gint64 t = hi;
        gboolean used[MAX_CALLS] = { FALSE };

        while (TRUE) {
                guint32 best = NO_PARENT;
                gint64 best_start = 0;
                for (guint32 i = 1; i < tree->n; i++) {
                        const PathCall *c = &tree->calls[i];
                        gint64 start = MAX(c->start, lo), end = MIN(c->end, hi);
                        if (c->parent != call || used[i] || c->start >= hi || start > end ||
                            end != t)
                                continue;
                        if (best == NO_PARENT || start >= best_start) {
                                best = i;
                                best_start = start;
                        }
                }
                if (best == NO_PARENT) {
                        if (t == lo)
                                return;
                        tree->calls[call].own++;
                        t--;
                        continue;
                }
                used[best] = TRUE;
                PathCall *c = &tree->calls[best];
                gint64 latency = c->end - c->start;
                gint64 stay = CLAMP(c->reply - c->enter, 0, latency);
                gint64 from = c->start + (latency - stay) / 2, to = from + stay;
                for (gint64 moment = best_start + 1; moment <= t; moment++)
                        if (moment <= from || moment > to)
                                c->network++;
                if (MAX(from, best_start) < MIN(to, t))
                        slow_walk(tree, best, MAX(from, best_start) - from + c->enter,
                                  MIN(to, t) - from + c->enter);
                t = best_start;
        }
}

static void slow_own_times(PathCall *calls, guint32 n)
{
        Tree tree = { calls, n };
        gint64 latency = MAX(calls[0].end - calls[0].start, 0);
        gint64 stay = CLAMP(calls[0].reply - calls[0].enter, 0, latency);

        for (guint32 i = 0; i < n; i++)
                calls[i].own = calls[i].network = 0;
        calls[0].network = latency - stay;
        if (stay > 0)
                slow_walk(&tree, 0, calls[0].enter, calls[0].enter + stay);
}

/* A random tree in pre-order, siblings by start. Some calls lie in their
 * parent's stay, some hang over its ends, some have two clocks, some broken ones. */
static guint32 random_tree(GRand *rand, PathCall *calls)
{
        guint32 n = (guint32)g_rand_int_range(rand, 1, MAX_CALLS + 1);
        guint32 open[MAX_CALLS], depth = 0;
        gboolean two_clocks = g_rand_boolean(rand);

        for (guint32 i = 0; i < n; i++) {
                while (depth > 1 && g_rand_int_range(rand, 0, 3) == 0)
                        depth--;
                guint32 parent = i == 0 ? NO_PARENT : open[depth - 1];
                gint64 lo = i == 0 ? 0 : calls[parent].enter;
                gint64 hi = i == 0 ? 60 : calls[parent].reply;
                gint64 span = MAX(hi - lo, 1);
                gint64 start = lo + g_rand_int_range(rand, -3, (gint32)span + 3);
                gint64 end = start + g_rand_int_range(rand, -1, (gint32)span + 2);
                calls[i] = make_call(parent, start, end);
                if (two_clocks && g_rand_boolean(rand)) {
                        gint64 skew = g_rand_int_range(rand, -1000, 1000);
                        calls[i].enter = start + skew + g_rand_int_range(rand, 0, 6);
                        calls[i].reply = end + skew - g_rand_int_range(rand, -1, 6);
                }
                open[depth++] = i;
        }
        return n;
}

static void test_random(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(5);

        for (int round = 0; round < 100000; round++) {
                PathCall calls[MAX_CALLS], slow[MAX_CALLS];
                guint32 n = random_tree(rand, calls);
                path_own_times(calls, n);
                g_assert_cmpint(total(calls, n), ==, MAX(calls[0].end - calls[0].start, 0));
                memcpy(slow, calls, sizeof slow);
                slow_own_times(slow, n);
                for (guint32 i = 0; i < n; i++) {
                        g_assert_cmpint(calls[i].own, ==, slow[i].own);
                        g_assert_cmpint(calls[i].network, ==, slow[i].network);
                }
        }
}

/* Late calls and calls without an answer: times still add up, and none is lent twice. */
static void test_missed(void)
{
        /* Times in ms. web asks db at 12, db2 at 22, which answers at 25; web replies at 26, db
         * answers at 90. */
        const gint64 ms = 1000000;
        PathCall hedge[] = { make_call(NO_PARENT, 10 * ms, 26 * ms), make_call(0, 12 * ms, 90 * ms),
                             make_call(0, 22 * ms, 25 * ms) };
        /* web asks three at once, and waits for the first in vain. */
        PathCall scattered[] = { make_call(NO_PARENT, 0, 100 * ms), make_call(0, 2 * ms, 99 * ms),
                                 make_call(0, 2 * ms + 1, 5 * ms),
                                 make_call(0, 2 * ms + 2, 6 * ms) };
        CallDelays delays = { .opened = 3 * ms };
        g_autoptr(GRand) rand = g_rand_new_with_seed(9);

        hedge[1].continues = WORK_LATE;
        path_own_times(hedge, 3);
        g_assert_cmpint(hedge[0].own, ==, 3 * ms);
        g_assert_cmpint(hedge[1].own, ==, 10 * ms);
        g_assert_cmpint(hedge[2].own, ==, 3 * ms);
        hedge[2].delays = &delays; /* web goes on as it asks for a connection */
        path_own_times(hedge, 3);
        g_assert_cmpint(hedge[1].own, ==, 7 * ms);
        g_assert_cmpint(hedge[2].network, ==, 3 * ms);
        delays.opened = 11 * ms; /* which was there before */
        path_own_times(hedge, 3);
        g_assert_cmpint(hedge[1].own, ==, 10 * ms);
        scattered[1].continues = WORK_UNANSWERED;
        path_own_times(scattered, 4);
        g_assert_cmpint(scattered[0].own, ==, 3 * ms);
        g_assert_cmpint(scattered[1].own, ==, 97 * ms);
        for (int round = 0; round < 20000; round++) {
                PathCall calls[MAX_CALLS];
                guint32 n = random_tree(rand, calls);

                for (guint32 i = 0; i < n; i++) {
                        calls[i].label = (guint16)g_rand_int_range(rand, 0, 2);
                        if (g_rand_boolean(rand))
                                calls[i].continues =
                                        g_rand_boolean(rand) ? WORK_LATE : WORK_UNANSWERED;
                }
                path_own_times(calls, n);
                g_assert_cmpint(total(calls, n), ==, MAX(calls[0].end - calls[0].start, 0));
                for (guint32 i = 0; i < n; i++)
                        g_assert_cmpint(calls[i].own, >=, 0);
        }
}

/* Any stamps at all within the limits, any shape, larger than what is kept on
 * the stack. */
static void test_any_times(void)
{
        enum { N = 500 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(6);
        g_autofree PathCall *calls = g_new0(PathCall, N);

        for (int round = 0; round < 300; round++) {
                int shift = g_rand_int_range(rand, 1, 62);
                for (guint32 i = 0; i < N; i++) {
                        gint64 t[4];
                        for (int k = 0; k < 4; k++) {
                                guint64 bits = (guint64)g_rand_int(rand) << 32 | g_rand_int(rand);
                                t[k] = (gint64)bits >> shift;
                        }
                        calls[i] = (PathCall){
                                .start = t[0], .enter = t[1], .reply = t[2], .end = t[3]
                        };
                        calls[i].parent =
                                i == 0 ? NO_PARENT : (guint32)g_rand_int_range(rand, 0, (gint32)i);
                }
                if (calls[0].end < calls[0].start)
                        calls[0].end = PATH_TIME_LIMIT;
                path_own_times(calls, N);
                g_assert_cmpint(total(calls, N), ==, calls[0].end - calls[0].start);
        }
}

/* A node with 100,000 calls at once, and calls nested 100,000 deep. */
static void test_large(void)
{
        enum { N = 100001 };
        g_autofree PathCall *calls = g_new0(PathCall, N);

        calls[0] = make_call(NO_PARENT, 0, 10 * N);
        for (guint32 i = 1; i < N; i++)
                calls[i] = make_call(0, i, 10 * N - (i * 7919) % N);
        path_own_times(calls, N);
        g_assert_cmpint(total(calls, N), ==, 10 * N);
        for (guint32 i = 1; i < N; i++)
                calls[i] = make_call(i - 1, i, 10 * N - i);
        path_own_times(calls, N);
        g_assert_cmpint(total(calls, N), ==, 10 * N);
        g_assert_cmpint(calls[N / 2].own, ==, 2);
}

/* A message that nobody answers: sent at one moment, there at another. */
static PathCall make_message(guint32 parent, gint64 sent, gint64 came, WorkContinues continues)
{
        return (PathCall){ .parent = parent,
                           .start = sent,
                           .enter = came,
                           .reply = came,
                           .end = sent,
                           .stamps = 1 << MSG_SENT,
                           .continues = (guint8)continues };
}

static PathCall make_delivery(guint32 parent, gint64 start, gint64 end)
{
        PathCall c = make_call(parent, start, end);

        c.continues = WORK_QUEUED;
        return c;
}

/* The drawing in docs/paths.md, with a query and a message that the worker sends on the way. */
static void test_goes_on(void)
{
        PathCall calls[] = {
                make_call(NO_PARENT, 0, 10), /* producer>rabbit, confirmed */
                make_delivery(0, 20, 60),    /* the worker, */
                make_call(1, 25, 45),        /* a query */
                make_message(1, 60, 60, WORK_GOES_ON),
                make_delivery(3, 70, 100), /* the mailer */
                make_call(4, 80, 90),
        };

        path_own_times(calls, 6);
        g_assert_cmpint(calls[0].own, ==, 10);
        g_assert_cmpint(calls[1].queued, ==, 10);
        g_assert_cmpint(calls[1].own, ==, 20);
        g_assert_cmpint(calls[2].own, ==, 20);
        g_assert_cmpint(calls[3].own + calls[3].queued, ==, 0);
        g_assert_cmpint(calls[4].queued, ==, 10);
        g_assert_cmpint(calls[4].own, ==, 20);
        g_assert_cmpint(calls[5].own, ==, 10);
        g_assert_cmpint(path_completion(calls, 6), ==, 100);
}

/* Work that was done before the root's return takes nothing of its latency. */
static void test_goes_on_beside(void)
{
        PathCall calls[] = { make_call(NO_PARENT, 0, 50), make_delivery(0, 10, 30),
                             make_delivery(0, 20, 70) };

        path_own_times(calls, 3);
        g_assert_cmpint(calls[0].own, ==, 50);
        g_assert_cmpint(calls[1].own + calls[1].queued, ==, 0);
        g_assert_cmpint(calls[2].own, ==, 20);
        g_assert_cmpint(calls[2].queued, ==, 0);
}

/* Calls after the reply are the node's, and so is the time between them. */
static void test_goes_on_late(void)
{
        PathCall calls[] = { make_call(NO_PARENT, 0, 10), make_call(0, 20, 30),
                             make_call(0, 50, 80) };

        calls[1].continues = calls[2].continues = WORK_GOES_ON;
        path_own_times(calls, 3);
        g_assert_cmpint(calls[0].own, ==, 10 + 10 + 20);
        g_assert_cmpint(calls[1].own, ==, 10);
        g_assert_cmpint(calls[2].own, ==, 30);
}

/* A message that nobody confirms, seen at both ends, and its delivery. */
static void test_message_root(void)
{
        PathCall calls[] = { make_message(NO_PARENT, 0, 7, WORK_GOES_ON),
                             make_message(0, 20, 24, WORK_QUEUED) };

        path_own_times(calls, 2);
        g_assert_cmpint(calls[0].network, ==, 7);
        g_assert_cmpint(calls[1].queued, ==, 13);
        g_assert_cmpint(calls[1].network, ==, 4);
        g_assert_cmpint(path_completion(calls, 2), ==, 24);
}

/* When the last of what goes on ends, on the clock of the root's caller; nothing is cut off. */
static gint64 find_end(const PathCall *calls, guint32 n)
{
        gint64 shift[MAX_CALLS], last = calls[0].start;

        for (guint32 i = 0; i < n; i++) {
                const PathCall *c = &calls[i];
                gint64 before = i == 0 ? 0 : shift[c->parent], latency = MAX(c->end - c->start, 0);
                gint64 stay = CLAMP(c->reply - c->enter, 0, latency);
                gint64 way = path_call_is_message(c) ? MAX(c->enter - c->start, 0)
                                                     : (latency - stay) / 2;

                shift[i] = c->start + before + way - c->enter;
                if (i == 0 || c->continues != WORK_NESTED)
                        last = MAX(last,
                                   c->start + before + (path_call_is_message(c) ? way : latency));
        }
        return last;
}

/* Own, network and queued times of any tree add up to its completion time, and nobody has less
 * than nothing; without what goes on, they are those of its nested part. */
static void test_goes_on_random(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(19);

        for (guint run = 0; run < 200000; run++) {
                PathCall calls[MAX_CALLS];
                guint32 n = g_rand_int_range(rand, 1, MAX_CALLS + 1);
                gboolean clocks = g_rand_boolean(rand);
                gint64 sum = 0;

                for (guint32 i = 0; i < n; i++) {
                        gint64 start = g_rand_int_range(rand, 0, 60);
                        gint64 latency = g_rand_int_range(rand, i == 0 ? 0 : -3, 50);
                        guint32 parent =
                                i == 0 ? NO_PARENT : (guint32)g_rand_int_range(rand, 0, (gint32)i);

                        calls[i] = make_call(parent, start, start + latency);
                        calls[i].continues = (guint8)g_rand_int_range(rand, 0, 3);
                        if (i == 0)
                                calls[i].continues = WORK_NESTED;
                        if (g_rand_int_range(rand, 0, 4) == 0)
                                calls[i] = make_message(
                                        parent, start, start,
                                        i == 0 ? WORK_GOES_ON
                                               : (WorkContinues)g_rand_int_range(rand, 1, 3));
                        if (clocks) {
                                calls[i].enter += g_rand_int_range(rand, -4, 9);
                                calls[i].reply =
                                        path_call_is_message(&calls[i])
                                                ? calls[i].enter
                                                : calls[i].reply + g_rand_int_range(rand, -4, 9);
                        }
                }
                path_own_times(calls, n);
                for (guint32 i = 0; i < n; i++) {
                        g_assert_cmpint(calls[i].own, >=, 0);
                        g_assert_cmpint(calls[i].network, >=, 0);
                        g_assert_cmpint(calls[i].queued, >=, 0);
                        g_assert_true(calls[i].queued == 0 || calls[i].continues == WORK_QUEUED);
                        sum += calls[i].own + calls[i].network + calls[i].queued;
                }
                g_assert_cmpint(sum, ==, find_end(calls, n) - calls[0].start);
                g_assert_cmpint(sum, ==, path_completion(calls, n));
        }
}

/* The wait of a call for a worker is a part of its own time: the part of its window before the wait
 * is over. The test finds it by going through the moments one by one. No other time changes. */
static void test_own_queued(void)
{
        PathCall calls[] = { make_call(NO_PARENT, 0, 100), make_call(0, 10, 90),
                             make_call(1, 20, 30), make_call(1, 50, 80) };

        calls[1].wait = 35; /* until 45; its first call was out of turn */
        calls[3].wait = 30; /* all its time */
        path_own_times(calls, 4);
        g_assert_cmpint(calls[0].own_queued, ==, 0);
        g_assert_cmpint(calls[1].own, ==, 40);
        g_assert_cmpint(calls[1].own_queued, ==, 25); /* (10, 20] and (30, 45] */
        g_assert_cmpint(calls[2].own_queued, ==, 0);
        g_assert_cmpint(calls[3].own, ==, 30);
        g_assert_cmpint(calls[3].own_queued, ==, 30);
}

/* Call i of a random path: of an earlier one, or that goes on after it. */
static PathCall random_call(GRand *rand, guint32 i)
{
        gint64 start = g_rand_int_range(rand, 0, 60);
        guint32 parent = i == 0 ? NO_PARENT : (guint32)g_rand_int_range(rand, 0, (gint32)i);
        PathCall call = make_call(parent, start, start + g_rand_int_range(rand, -3, 50));

        call.label = (guint16)g_rand_int_range(rand, 0, 2);
        if (g_rand_boolean(rand))
                call.enter += g_rand_int_range(rand, -4, 9);
        if (i > 0 && g_rand_int_range(rand, 0, 5) == 0)
                call.continues = (guint8)g_rand_int_range(rand, 1, WORK_UNANSWERED + 1);
        return call;
}

static void test_own_queued_random(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(23);

        for (guint run = 0; run < 200000; run++) {
                PathCall calls[MAX_CALLS], without[MAX_CALLS];
                guint32 n = g_rand_int_range(rand, 1, MAX_CALLS + 1);
                gboolean goes_on = FALSE; /* then a call may be at work after its reply */

                for (guint32 i = 0; i < n; i++) {
                        calls[i] = random_call(rand, i);
                        goes_on |= calls[i].continues != WORK_NESTED;
                }
                memcpy(without, calls, n * sizeof *calls);
                for (guint32 i = 0; i < n; i++)
                        calls[i].wait = g_rand_int_range(
                                rand, 0, (gint32)MAX(calls[i].reply - calls[i].enter, 0) + 1);
                path_own_times(calls, n);
                path_own_times(without, n);
                for (guint32 i = 0; i < n; i++) {
                        g_assert_cmpint(calls[i].own, ==, without[i].own);
                        g_assert_cmpint(calls[i].network, ==, without[i].network);
                        g_assert_cmpint(calls[i].queued, ==, without[i].queued);
                        g_assert_cmpint(without[i].own_queued, ==, 0);
                        g_assert_cmpint(calls[i].own_queued, >=, 0);
                        g_assert_cmpint(calls[i].own_queued, <=, MIN(calls[i].own, calls[i].wait));
                        if (!goes_on && calls[i].wait == calls[i].reply - calls[i].enter)
                                g_assert_cmpint(calls[i].own_queued, ==, calls[i].own);
                }
        }
}

/* Since its connection was opened a call's caller waits for the network, but for other calls. */
static void test_connecting(void)
{
        PathCall calls[] = { make_call(NO_PARENT, 0, 100), make_call(0, 30, 40),
                             make_call(0, 60, 80) };

        CallDelays delays = { .opened = 40 }; /* since 20 */

        calls[2].delays = &delays;
        path_own_times(calls, 3);
        g_assert_cmpint(calls[0].own, ==, 40); /* (80, 100] and (0, 20] */
        g_assert_cmpint(calls[1].own, ==, 10);
        g_assert_cmpint(calls[2].own, ==, 20);
        g_assert_cmpint(calls[2].connecting, ==, 30); /* (40, 60] and (20, 30] */
        g_assert_cmpint(calls[2].network, ==, 30);
        g_assert_cmpint(total(calls, 3), ==, 100);
        g_assert_cmpint(calls[2].cause[WAY_TCP], ==, 30);
        delays = (CallDelays){ .opened = 40, .tcp = 8, .tls = 4, .login = 20, .syn_again = 6 };
        path_own_times(calls, 3);
        g_assert_cmpint(calls[2].cause[WAY_RESENT], ==, 6);
        g_assert_cmpint(calls[2].cause[WAY_TCP], ==, 2);
        g_assert_cmpint(calls[2].cause[WAY_TLS], ==, 2); /* the other call took the rest */
        g_assert_cmpint(calls[2].cause[WAY_LOGIN], ==, 12);
        g_assert_cmpint(calls[0].own, ==, 48); /* with (52, 60], after the login */
        g_assert_cmpint(total(calls, 3), ==, 100);
        delays = (CallDelays){ .opened = 61 }; /* before anybody asked for it */
        path_own_times(calls, 3);
        g_assert_cmpint(calls[0].own, ==, 70);
        g_assert_cmpint(calls[2].connecting, ==, 0);
}

/* While the network holds a call up, the callee does not have it yet. While the network holds the
 * return up, the callee is done. */
static void test_stalls(void)
{
        PathCall calls[] = { make_call(NO_PARENT, 0, 100), make_call(0, 10, 90),
                             make_call(1, 40, 60) };

        CallDelays delays = { .call = { .stall = 20, .shut = 5 },
                              .ret = { .stall = 25, .ack = 26 } };

        calls[1].delays = &delays;
        path_own_times(calls, 3);
        g_assert_cmpint(calls[0].own, ==, 20);
        g_assert_cmpint(calls[1].own, ==, 14); /* (30, 40] and (60, 64] */
        g_assert_cmpint(calls[1].network, ==, 46);
        g_assert_cmpint(calls[1].cause[WAY_SHUT], ==, 5);
        g_assert_cmpint(calls[1].cause[WAY_RESENT], ==, 15);
        g_assert_cmpint(calls[1].cause[WAY_DELAYED_ACK], ==, 26);
        g_assert_cmpint(total(calls, 3), ==, 100);
}

/* A call is received, served, and its return sent; neither part is its callee's. */
static void test_parts(void)
{
        PathCall calls[] = { make_call(NO_PARENT, 0, 100), make_call(0, 50, 90) };
        CallDelays root = { .call = { .span = { 30, 0 } }, .ret = { .again = 1000 } };
        CallDelays child = { .call = { .span = { 5, 0 }, .again = 10 },
                             .ret = { .span = { 8, 0 }, .again = 3 } };

        calls[0].delays = &root;
        calls[1].delays = &child;
        path_own_times(calls, 2);
        g_assert_cmpint(calls[0].cause[WAY_RECEIVING], ==, 30);
        g_assert_cmpint(calls[0].own, ==, 20 + 7);
        g_assert_cmpint(calls[1].cause[WAY_RECEIVING], ==, 5);
        g_assert_cmpint(calls[1].cause[WAY_RESENT], ==, 10 + 3);
        g_assert_cmpint(calls[1].cause[WAY_SENDING], ==, 8);
        g_assert_cmpint(calls[1].own, ==, 17);
        g_assert_cmpint(total(calls, 2), ==, 100);
        child.call.span[AT_SENDER] = 39; /* the return begins before the call is there */
        path_own_times(calls, 2);
        g_assert_cmpint(calls[1].cause[WAY_RECEIVING], ==, 39);
        g_assert_cmpint(calls[1].own, ==, 0);
        g_assert_cmpint(total(calls, 2), ==, 100);
}

/* In the pauses of a message its sender works: at a call its caller, at a return its callee. */
static void test_pauses(void)
{
        PathCall calls[] = { make_call(NO_PARENT, 0, 100), make_call(0, 40, 90),
                             make_call(1, 72, 80) };
        CallDelays root = { .call = { .span = { 30, 0 }, .pause = 20 } };
        CallDelays child = { .call = { .span = { 10, 0 }, .pause = 6 },
                             .ret = { .span = { 25, 0 }, .stall = 2, .pause = 20 } };

        calls[0].delays = &root;
        calls[1].delays = &child;
        path_own_times(calls, 3);
        g_assert_cmpint(calls[0].cause[WAY_RECEIVING], ==, 30); /* its caller is no node */
        g_assert_cmpint(calls[0].own, ==, 20 + 6);
        g_assert_cmpint(calls[1].cause[WAY_RECEIVING], ==, 4);
        g_assert_cmpint(calls[1].cause[WAY_RESENT], ==, 2);
        g_assert_cmpint(calls[1].cause[WAY_SENDING], ==, 3);
        g_assert_cmpint(calls[1].own, ==, 15 + 7 + 5);
        g_assert_cmpint(calls[2].own, ==, 8);
        g_assert_cmpint(total(calls, 3), ==, 100);
        calls[1].start = calls[1].enter = 12; /* its caller receives, too: both pause at once */
        child.call.span[AT_SENDER] = 20;
        path_own_times(calls, 3);
        g_assert_cmpint(calls[0].cause[WAY_RECEIVING], ==, 30);
        g_assert_cmpint(calls[0].own, ==, 10);
        g_assert_cmpint(calls[1].cause[WAY_RECEIVING], ==, 2);
        g_assert_cmpint(total(calls, 3), ==, 100);
}

/* A proxy passes on what it receives: both calls come from its own caller. */
static void test_proxy(void)
{
        PathCall calls[] = { make_call(NO_PARENT, 0, 100), make_call(0, 10, 90),
                             make_call(1, 20, 80) };
        CallDelays delays[] = { { .call = { .span = { 50, 0 }, .ack = 40 } },
                                { .call = { .span = { 45, 0 } } },
                                { .call = { .span = { 36, 0 } } } };

        for (guint i = 0; i < 3; i++)
                calls[i].delays = &delays[i];
        path_own_times(calls, 3);
        g_assert_cmpint(calls[0].cause[WAY_DELAYED_ACK], ==, 40);
        g_assert_cmpint(calls[0].cause[WAY_RECEIVING], ==, 10);
        g_assert_cmpint(calls[1].cause[WAY_RECEIVING], ==, 0);
        g_assert_cmpint(calls[2].cause[WAY_RECEIVING], ==, 6);
        g_assert_cmpint(calls[2].own, ==, 24);
        g_assert_cmpint(calls[1].own, ==, 10);
        g_assert_cmpint(calls[0].own, ==, 10);
        g_assert_cmpint(total(calls, 3), ==, 100);
}

/* Seen at both ends, the time on the way has causes, too. */
static void test_parts_at_both_ends(void)
{
        PathCall calls[] = {
                { .parent = NO_PARENT, .start = 0, .enter = 1010, .reply = 1090, .end = 200 },
        };
        CallDelays delays = { .call = { .span = { 3, 10 }, .again = 5 },
                              .ret = { .span = { 20, 110 }, .stall = 70 } };

        calls[0].stamps = 1 << CALL_SENT | 1 << CALL_RECV | 1 << RET_SENT | 1 << RET_RECV;
        calls[0].delays = &delays;
        path_own_times(calls, 1);
        g_assert_cmpint(calls[0].own, ==, 50);
        g_assert_cmpint(calls[0].network, ==, 150);
        g_assert_cmpint(calls[0].cause[WAY_RECEIVING], ==, 10);
        g_assert_cmpint(calls[0].cause[WAY_RESENT], ==, 5 + 70);
        g_assert_cmpint(calls[0].cause[WAY_SENDING], ==, 20 + 20);
        g_assert_cmpint(calls[0].cause[WAY_ROUND_TRIP], ==, 25);
}

static gint64 random_delay(GRand *rand)
{
        gint64 delay = g_rand_int_range(rand, -40, 30);

        return MAX(delay, 0);
}

static CallDelays random_delays(GRand *rand)
{
        CallDelays d = { .opened = g_rand_int_range(rand, 0, 40) };

        for (guint i = 0; i < 2; i++) {
                LegDelays *leg = i ? &d.call : &d.ret;

                leg->span[AT_SENDER] = random_delay(rand);
                leg->span[AT_RECEIVER] = random_delay(rand);
                leg->stall = random_delay(rand);
                leg->shut = leg->stall / 3;
                leg->ack = random_delay(rand);
                leg->again = random_delay(rand);
                leg->pause = random_delay(rand);
        }
        d.tcp = random_delay(rand);
        d.tls = random_delay(rand);
        d.login = random_delay(rand);
        d.syn_again = random_delay(rand);
        return d;
}

/* Whatever the network is charged with, all adds up. Nobody else gets more, but for a caller that
 * pauses in a call. */
static void test_network_random(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(29);

        for (guint run = 0; run < 200000; run++) {
                PathCall calls[MAX_CALLS], without[MAX_CALLS];
                CallDelays delays[MAX_CALLS];
                guint32 n = g_rand_int_range(rand, 1, MAX_CALLS + 1);
                gint64 network = 0, paused[MAX_CALLS] = { 0 };

                for (guint32 i = 0; i < n; i++) {
                        calls[i] = random_call(rand, i);
                        calls[i].stamps = (guint8)g_rand_int_range(rand, 0, 16);
                        calls[i].wait = g_rand_int_range(
                                rand, 0, (gint32)MAX(calls[i].reply - calls[i].enter, 0) + 1);
                }
                memcpy(without, calls, n * sizeof *calls);
                for (guint32 i = 0; i < n; i++) {
                        delays[i] = random_delays(rand);
                        if (!g_rand_int_range(rand, 0, 3))
                                continue;
                        calls[i].delays = &delays[i];
                        if (i > 0)
                                paused[calls[i].parent] += delays[i].call.pause;
                }
                path_own_times(calls, n);
                path_own_times(without, n);
                g_assert_cmpint(path_completion(calls, n), ==, path_completion(without, n));
                for (guint32 i = 0; i < n; i++) {
                        g_assert_cmpint(calls[i].own, >=, 0);
                        g_assert_cmpint(calls[i].own, <=, without[i].own + paused[i]);
                        g_assert_cmpint(calls[i].own_queued, >=, 0);
                        g_assert_cmpint(calls[i].own_queued, <=, without[i].own_queued);
                        g_assert_cmpint(calls[i].own_queued, <=, calls[i].own);
                        g_assert_cmpint(calls[i].queued, ==, without[i].queued);
                        for (guint cause = 0; calls[i].network && cause < N_WAY_CAUSES; cause++) {
                                g_assert_cmpint(calls[i].cause[cause], >=, 0);
                                network += calls[i].cause[cause];
                        }
                        network -= calls[i].network;
                        g_assert_cmpint(calls[i].network, >=, without[i].network);
                }
                g_assert_cmpint(network, ==, 0);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/own-time/serial", test_serial);
        g_test_add_func("/own-time/parallel", test_parallel);
        g_test_add_func("/own-time/late", test_late);
        g_test_add_func("/own-time/two-clocks", test_two_clocks);
        g_test_add_func("/own-time/backwards", test_backwards);
        g_test_add_func("/own-time/random", test_random);
        g_test_add_func("/own-time/missed", test_missed);
        g_test_add_func("/own-time/any-times", test_any_times);
        g_test_add_func("/own-time/large", test_large);
        g_test_add_func("/own-time/goes-on", test_goes_on);
        g_test_add_func("/own-time/goes-on-beside", test_goes_on_beside);
        g_test_add_func("/own-time/goes-on-late", test_goes_on_late);
        g_test_add_func("/own-time/message-root", test_message_root);
        g_test_add_func("/own-time/goes-on-random", test_goes_on_random);
        g_test_add_func("/own-time/own-queued", test_own_queued);
        g_test_add_func("/own-time/own-queued-random", test_own_queued_random);
        g_test_add_func("/own-time/connecting", test_connecting);
        g_test_add_func("/own-time/stalls", test_stalls);
        g_test_add_func("/own-time/parts", test_parts);
        g_test_add_func("/own-time/pauses", test_pauses);
        g_test_add_func("/own-time/proxy", test_proxy);
        g_test_add_func("/own-time/parts-at-both-ends", test_parts_at_both_ends);
        g_test_add_func("/own-time/network-random", test_network_random);
        return g_test_run();
}
