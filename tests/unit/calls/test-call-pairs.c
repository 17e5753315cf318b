/* SPDX-License-Identifier: BSD-2-Clause
 *
 * FindCallPairs as a stream: which pairs come out, and when.
 */
#include "calls/find-call-pairs.h"

#include <string.h>

#define SECOND G_GINT64_CONSTANT(1000000000)

static guint add(CallMatcher *m, gint64 time, MessageOp op, NodeId sender, NodeId receiver,
                 const char *id)
{
        Message message = { .time = time, .op = op, .sender = sender, .receiver = receiver };

        message_set_id(&message, id, strlen(id));
        return call_matcher_add(m, &message);
}

/* Node 0 calls node 1. */
static guint call(CallMatcher *m, gint64 time, MessageOp op, const char *id)
{
        gboolean is_return = op == RET_SENT || op == RET_RECV;

        return add(m, time, op, is_return ? 1 : 0, is_return ? 0 : 1, id);
}

/* How many pairs the latest message, or the end, completed. */
static guint n_done(const CallMatcher *m)
{
        guint n;

        call_matcher_done(m, &n);
        return n;
}

static DoneCall done_at(const CallMatcher *m, guint i)
{
        guint n;
        const DoneCall *done = call_matcher_done(m, &n);

        g_assert_cmpuint(i, <, n);
        return done[i];
}

/* One of them has these moments. */
static void assert_pair(CallMatcher *m, guint i, guint64 number, const char *id, gint64 start,
                        gint64 enter, gint64 reply, gint64 end)
{
        DoneCall done = done_at(m, i);

        g_assert_cmpuint(done.number, ==, number);
        g_assert_cmpmem(done.id, done.id_length, id, strlen(id));
        g_assert_cmpint(done.pair.start, ==, start);
        g_assert_cmpint(done.pair.enter, ==, enter);
        g_assert_cmpint(done.pair.reply, ==, reply);
        g_assert_cmpint(done.pair.end, ==, end);
        g_assert_cmpuint(done.pair.caller, ==, 0);
        g_assert_cmpuint(done.pair.callee, ==, 1);
}

static void test_one_side(void)
{
        g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);
        const MatchCounts *counts;

        g_assert_cmpint(call_matcher_counts(m)->first, ==, NO_TIME);
        g_assert_cmpuint(call(m, 10, CALL_SENT, "a"), ==, MATCH_OPENED);
        g_assert_cmpuint(call(m, 20, CALL_SENT, "b"), ==, MATCH_OPENED);
        g_assert_cmpuint(call(m, 30, RET_SENT, "b") & MATCH_CLOSED, ==, MATCH_CLOSED);
        g_assert_cmpuint(call(m, 40, RET_SENT, "a") & MATCH_CLOSED, ==, MATCH_CLOSED);
        /* They wait for stamps of the other side, which the edge may still show. */
        g_assert_cmpuint(n_done(m), ==, 0);
        g_assert_cmpuint(call_matcher_finish(m), ==, MATCH_DONE);
        g_assert_cmpuint(n_done(m), ==, 2);
        counts = call_matcher_counts(m);
        g_assert_cmpuint(counts->messages, ==, 4);
        g_assert_cmpuint(counts->pairs, ==, 2);
        g_assert_cmpint(counts->first, ==, 10);
        g_assert_cmpint(counts->last, ==, 40);
}

/* Once an edge is known to have one side only, a pair comes out with its return. */
static void test_known_side(void)
{
        g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);

        call(m, 0, CALL_SENT, "a");
        call(m, 10, RET_SENT, "a");
        call(m, 3 * SECOND, CALL_SENT, "b");
        assert_pair(m, 0, 0, "a", 0, 0, 10, 10); /* waited a second */
        g_assert_cmpuint(call(m, 3 * SECOND + 5, RET_SENT, "b"), ==, MATCH_CLOSED | MATCH_DONE);
        assert_pair(m, 0, 1, "b", 3 * SECOND, 3 * SECOND, 3 * SECOND + 5, 3 * SECOND + 5);
        g_assert_cmpuint(n_done(m), ==, 1);
        g_assert_cmpuint(call_matcher_finish(m), ==, 0);
}

/* Each end on its own clock; the callee's is half a second behind. */
static void test_four_stamps(void)
{
        g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);

        g_assert_cmpuint(call(m, 510, CALL_RECV, "a"), ==, MATCH_OPENED);
        g_assert_cmpuint(call(m, 530, RET_SENT, "a"), ==, MATCH_CLOSED);
        g_assert_cmpuint(call(m, 1000, CALL_SENT, "a"), ==, 0);
        g_assert_cmpuint(call(m, 1040, RET_RECV, "a"), ==, MATCH_DONE | MATCH_OTHER_END);
        assert_pair(m, 0, 0, "a", 1000, 510, 530, 1040);
        g_assert_cmpuint(done_at(m, 0).pair.stamps, ==, 15);
}

/* A stamp that was lost is waited for a second, then the other end's stands in. */
static void test_lost_stamp(void)
{
        g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);

        call(m, 0, CALL_SENT, "a");
        call(m, 1, CALL_RECV, "a");
        call(m, 2, RET_SENT, "a");
        call(m, 3, RET_RECV, "a");
        call(m, 10, CALL_SENT, "b");
        call(m, 12, RET_SENT, "b");
        call(m, 13, RET_RECV, "b");
        g_assert_cmpuint(call(m, SECOND, CALL_SENT, "c"), ==, MATCH_OPENED);
        g_assert_cmpuint(call(m, SECOND + 100, CALL_RECV, "c"), ==, MATCH_DONE);
        assert_pair(m, 0, 1, "b", 10, 10, 12, 13);
}

/* A stamp that comes after that comes too late, whether or not anything came meanwhile. A pair that
 * the same message opens does not take the id of the pair that is handed out. */
static void test_other_edges(void)
{
        for (gint between = 0; between < 2; between++) {
                g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);

                call(m, 0, CALL_SENT, "a");
                call(m, 3, RET_RECV, "a");
                if (between)
                        g_assert_cmpuint(add(m, SECOND + 4, CALL_SENT, 5, 6, "z"), ==,
                                         MATCH_OPENED | MATCH_DONE);
                g_assert_cmpuint(call(m, SECOND + 5, CALL_RECV, "a"), ==,
                                 between ? MATCH_OPENED : MATCH_OPENED | MATCH_DONE);
                if (!between)
                        assert_pair(m, 0, 0, "a", 0, 0, 3, 3);
                call(m, SECOND + 6, RET_SENT, "a");
                call_matcher_finish(m);
                assert_pair(m, 0, between ? 2 : 1, "a", SECOND + 5, SECOND + 5, SECOND + 6,
                            SECOND + 6);
        }
}

static void test_kept_ids(void)
{
        enum { CALLS = 300 };
        g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);

        for (guint i = 0; i < CALLS; i++) {
                g_autofree char *id = g_strdup_printf("%s%u", i % 2 ? "" : "longer than fits ", i);

                call(m, i, CALL_SENT, id);
                call(m, i, RET_RECV, id);
        }
        g_assert_cmpuint(call(m, 2 * SECOND, CALL_SENT, "b"), ==, MATCH_OPENED | MATCH_DONE);
        g_assert_cmpuint(n_done(m), ==, CALLS);
        for (guint i = 0; i < CALLS; i++) {
                g_autofree char *id = g_strdup_printf("%s%u", i % 2 ? "" : "longer than fits ", i);

                assert_pair(m, i, i, id, i, i, i, i);
        }
}

/* Repeated ids and none: the earliest call that lacks the stamp. */
static void test_first_in_first_out(void)
{
        static const char *const ids[] = { "", "x", "an id that is longer than most ids are" };

        for (guint i = 0; i < G_N_ELEMENTS(ids); i++) {
                g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);

                for (gint64 t = 0; t < 3; t++)
                        call(m, t, CALL_SENT, ids[i]);
                for (gint64 t = 0; t < 3; t++)
                        call(m, 10 + t, CALL_RECV, ids[i]);
                for (gint64 t = 0; t < 3; t++)
                        call(m, 20 + t, RET_SENT, ids[i]);
                for (gint64 t = 0; t < 3; t++) {
                        g_assert_cmpuint(call(m, 30 + t, RET_RECV, ids[i]), ==,
                                         MATCH_DONE | MATCH_OTHER_END);
                        assert_pair(m, 0, t, ids[i], t, 10 + t, 20 + t, 30 + t);
                }
        }
}

/* An id belongs to one direction of one edge. */
static void test_keys(void)
{
        g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);

        add(m, 0, CALL_SENT, 0, 1, "a");
        g_assert_cmpuint(add(m, 1, RET_SENT, 1, 2, "a"), ==, 0);
        g_assert_cmpuint(add(m, 2, RET_SENT, 0, 1, "a"), ==, 0);
        g_assert_cmpuint(add(m, 3, RET_SENT, 1, 0, "b"), ==, 0);
        g_assert_cmpuint(add(m, 4, RET_SENT, 1, 0, "a"), ==, MATCH_CLOSED);
        call_matcher_finish(m);
        g_assert_cmpuint(call_matcher_counts(m)->lone_returns, ==, 3);
        g_assert_cmpuint(call_matcher_counts(m)->pairs, ==, 1);
}

static void test_lone(void)
{
        g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);
        const LoneMessage *lone;
        guint n;

        call(m, 5, RET_SENT, "a");
        call(m, 6, CALL_SENT, "b");
        call(m, 7, CALL_SENT, "c");
        call(m, 8, RET_SENT, "c");
        call(m, 9, MSG_SENT, "d");
        call_matcher_finish(m);
        lone = call_matcher_lone(m, &n);
        g_assert_cmpuint(n, ==, 2);
        for (guint i = 0; i < n; i++) {
                g_assert_cmpint(lone[i].time, ==, lone[i].is_return ? 5 : 6);
                g_assert_cmpuint(lone[i].caller, ==, 0);
                g_assert_cmpuint(lone[i].callee, ==, 1);
        }
        g_assert_cmpuint(call_matcher_counts(m)->lone_calls, ==, 1);
        g_assert_cmpuint(call_matcher_counts(m)->lone_returns, ==, 1);
        g_assert_cmpuint(call_matcher_counts(m)->one_way, ==, 1);
        g_assert_cmpuint(call_matcher_counts(m)->messages, ==, 5);
}

/* Of very many the first returns and the last calls are known, in whatever order they came. */
static void test_many_lone(void)
{
        enum { KNOWN = 100000, ALL = 3 * KNOWN, STRIDE = 7919 };
        g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);
        const LoneMessage *lone;
        guint n, n_returns = 0;

        for (gint64 i = 0; i < ALL; i++) {
                g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, i);

                call(m, i * STRIDE % ALL, RET_SENT, id);
                call(m, i * STRIDE % ALL, CALL_SENT, id);
        }
        call_matcher_finish(m);
        lone = call_matcher_lone(m, &n);
        g_assert_cmpuint(n, ==, 2 * KNOWN);
        for (guint i = 0; i < n; i++) {
                n_returns += lone[i].is_return;
                if (lone[i].is_return)
                        g_assert_cmpint(lone[i].time, <, KNOWN);
                else
                        g_assert_cmpint(lone[i].time, >=, ALL - KNOWN);
        }
        g_assert_cmpuint(n_returns, ==, KNOWN);
        g_assert_cmpuint(call_matcher_counts(m)->lone_calls, ==, ALL);
        g_assert_cmpuint(call_matcher_counts(m)->lone_returns, ==, ALL);
        call_matcher_forget_lone(m, KNOWN - 1);
        call_matcher_lone(m, &n);
        g_assert_cmpuint(n, ==, KNOWN + 1);
}

/* Where an id tells calls apart a return may be made to wait. */
static void test_wait(void)
{
        static const char *const ids[] = { "a", "a-long-id-that-is-not-kept-in-two-words", "" };

        for (guint i = 0; i < G_N_ELEMENTS(ids); i++) {
                g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);
                gboolean told = ids[i][0] != 0;

                call_matcher_wait(m, 10);
                call(m, 100, RET_SENT, ids[i]);
                call(m, 110, CALL_SENT, ids[i]);
                call_matcher_finish(m);
                g_assert_cmpuint(call_matcher_counts(m)->pairs, ==, told);
                g_assert_cmpuint(call_matcher_counts(m)->lone_returns, ==, !told);
                g_assert_cmpint(call_matcher_counts(m)->disorder, ==, told);
        }
}

/* A return that was stamped before its call is paired at the end, if its id is unique. */
static void test_early(void)
{
        static const char *const ids[] = { "a", "a-long-id-that-is-not-kept-in-two-words", "" };

        for (guint i = 0; i < G_N_ELEMENTS(ids); i++)
                for (guint keep = 0; keep <= 1; keep++) {
                        g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);
                        gboolean paired = keep && ids[i][0] != 0;

                        call_matcher_keep_early(m, keep);
                        call(m, 100, RET_SENT, ids[i]);
                        call(m, 100 + 9 * SECOND, CALL_SENT, ids[i]);
                        call_matcher_finish(m);
                        g_assert_cmpuint(call_matcher_counts(m)->pairs, ==, paired);
                        g_assert_cmpuint(call_matcher_counts(m)->lone_returns, ==, !paired);
                        g_assert_cmpuint(call_matcher_counts(m)->lone_calls, ==, !paired);
                        if (paired)
                                assert_pair(m, 0, 1, ids[i], 100 + 9 * SECOND, 100 + 9 * SECOND,
                                            100, 100);
                }
}

/* If another call of the id is complete, the early return is nobody's. */
static void test_early_repeated(void)
{
        g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);

        call_matcher_keep_early(m, TRUE);
        call(m, 100, RET_SENT, "a");
        call(m, 110, CALL_SENT, "a");
        call(m, 120, RET_SENT, "a");
        call(m, 130, CALL_SENT, "a");
        call_matcher_finish(m);
        g_assert_cmpuint(call_matcher_counts(m)->pairs, ==, 1);
        g_assert_cmpuint(call_matcher_counts(m)->lone_returns, ==, 1);
        g_assert_cmpuint(call_matcher_counts(m)->lone_calls, ==, 1);
}

/* With a skew window, and only then, a return waits for its call. */
static void test_window(void)
{
        for (gint64 window = 0; window <= 10; window += 5) {
                g_autoptr(CallMatcher) m = call_matcher_new(window, G_MAXINT64);

                call(m, 100, RET_SENT, "a");
                call(m, 110, CALL_SENT, "a");
                call_matcher_finish(m);
                g_assert_cmpuint(call_matcher_counts(m)->pairs, ==, window == 10);
                g_assert_cmpuint(call_matcher_counts(m)->lone_returns, ==, window != 10);
                g_assert_cmpuint(call_matcher_counts(m)->lone_calls, ==, window != 10);
                if (window == 10)
                        assert_pair(m, 0, 0, "a", 110, 110, 100, 100);
        }
}

/* The window is inclusive, however many messages bear the stamp at its end. */
static void test_long_window(void)
{
        g_autoptr(CallMatcher) m = call_matcher_new(2 * SECOND, G_MAXINT64);

        call(m, 0, RET_SENT, "a");
        call(m, 0, RET_SENT, "b");
        call(m, 2 * SECOND, CALL_SENT, "a");
        call(m, 2 * SECOND, CALL_SENT, "b");
        call_matcher_finish(m);
        g_assert_cmpuint(call_matcher_counts(m)->pairs, ==, 2);
}

/* A call may last so long, and no ns longer; the return of one that has is lone, and the
 * next call of its key has its own. */
static void test_max_call(void)
{
        for (guint late = 0; late < 2; late++) {
                g_autoptr(CallMatcher) m = call_matcher_new(0, 10 * SECOND);
                const MatchCounts *counts;

                for (gint64 i = 1; i <= 5; i++) { /* until the edge is known well */
                        call(m, i * SECOND, CALL_SENT, "a");
                        call(m, i * SECOND + 1, RET_SENT, "a");
                }
                call(m, 100 * SECOND, CALL_SENT, "a");
                call(m, 110 * SECOND + late, RET_SENT, "a");
                g_assert_cmpuint(n_done(m), ==, !late);
                call(m, 200 * SECOND, CALL_SENT, "b"); /* never returns */
                call(m, 220 * SECOND, CALL_SENT, "b");
                call(m, 221 * SECOND, RET_SENT, "b");
                assert_pair(m, 0, 7, "b", 220 * SECOND, 220 * SECOND, 221 * SECOND, 221 * SECOND);
                call_matcher_finish(m);
                counts = call_matcher_counts(m);
                g_assert_cmpuint(counts->lone_calls, ==, 1 + late);
                g_assert_cmpuint(counts->lone_returns, ==, late);
                g_assert_cmpuint(counts->pairs, ==, 7 - late);
        }
}

/* Without ids, and some returns lost: once it is known how long calls last, each loss costs one
 * call where there is a pause after it, and not all the others. */
static void test_lost_returns(void)
{
        g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);
        guint n = 0;

        for (gint64 i = 0; i < 1000; i++) {
                gint64 start = i * SECOND, lasts = SECOND / 100 + i % 7 * SECOND / 1000;

                call(m, start, CALL_SENT, "-");
                if (i >= 200 && i % 50 == 0)
                        continue; /* lost */
                call(m, start + lasts, RET_SENT, "-");
                n++;
                if (i < 3)
                        continue; /* the edge is not known well yet */
                g_assert_cmpuint(n_done(m), ==, 1);
                assert_pair(m, 0, i, "", start, start, start + lasts, start + lasts);
        }
        call_matcher_finish(m);
        g_assert_cmpuint(call_matcher_counts(m)->pairs, ==, n);
        g_assert_cmpuint(call_matcher_counts(m)->lone_calls, ==, 16);
}

/* What is still open, and giving up on it. */
static void test_oldest(void)
{
        g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);
        gint64 time;
        guint64 number;
        guint n;

        call_matcher_oldest(m, &time, &number);
        g_assert_cmpint(time, ==, G_MAXINT64);
        g_assert_cmpuint(number, ==, G_MAXUINT64);
        for (gint64 i = 0; i < 4; i++) { /* until the edge is known well */
                call(m, i * SECOND, CALL_SENT, "a");
                call(m, i * SECOND + 1, RET_SENT, "a");
        }
        call(m, 9 * SECOND + 1, CALL_SENT, "a");
        call(m, 9 * SECOND + 2, CALL_SENT, "b");
        call(m, 9 * SECOND + 3, CALL_SENT, "c");
        call(m, 9 * SECOND + 4, RET_SENT, "a");
        call_matcher_oldest(m, &time, &number);
        g_assert_cmpint(time, ==, 9 * SECOND + 2);
        g_assert_cmpuint(number, ==, 5);
        g_assert_cmpuint(call_matcher_expire(m, 10 * SECOND + 2, SECOND), ==, 0);
        call_matcher_oldest(m, &time, &number);
        g_assert_cmpuint(number, ==, 5);
        call_matcher_expire(m, 10 * SECOND + 3, SECOND);
        call_matcher_oldest(m, &time, &number);
        g_assert_cmpint(time, ==, 9 * SECOND + 3);
        g_assert_cmpuint(number, ==, 6);
        call_matcher_lone(m, &n);
        g_assert_cmpuint(n, ==, 1);
        call_matcher_forget_lone(m, 9 * SECOND + 2);
        call_matcher_lone(m, &n);
        g_assert_cmpuint(n, ==, 1);
        call_matcher_forget_lone(m, 9 * SECOND + 3);
        call_matcher_lone(m, &n);
        g_assert_cmpuint(n, ==, 0);
        g_assert_cmpuint(call_matcher_counts(m)->lone_calls, ==, 1);
}

static void test_edges(void)
{
        g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);
        const Edge *edges;
        guint n;

        call(m, 0, CALL_SENT, "a");
        add(m, 1, CALL_SENT, 1, 2, "a");
        add(m, 4, RET_SENT, 2, 1, "a");
        call(m, 10, RET_SENT, "a");
        call(m, 20, CALL_SENT, "b");
        call_matcher_finish(m);
        edges = call_matcher_edges(m, &n);
        g_assert_cmpuint(n, ==, 2);
        g_assert_cmpuint(edges[0].caller, ==, 0);
        g_assert_cmpuint(edges[0].callee, ==, 1);
        g_assert_cmpuint(edges[0].messages, ==, 3);
        g_assert_cmpuint(edges[0].pairs, ==, 1);
        g_assert_cmpuint(edges[0].lone_calls, ==, 1);
        g_assert_cmpint(edges[0].longest, ==, 10);
        g_assert_cmpuint(edges[1].caller, ==, 1);
        g_assert_cmpuint(edges[1].callee, ==, 2);
        g_assert_cmpint(edges[1].longest, ==, 3);
        g_assert_cmpuint(edges[1].kinds, ==, 1 << CALL_SENT | 1 << RET_SENT);
}

/* More open calls, keys and edges than any table begins with. */
static void test_many(void)
{
        enum { N = 30000, EDGES = 1000 };
        g_autoptr(CallMatcher) m = call_matcher_new(0, G_MAXINT64);
        guint n;

        for (guint i = 0; i < N; i++) {
                g_autofree char *id = g_strdup_printf("call %u of very many", i);

                add(m, i, CALL_SENT, i % EDGES, EDGES, id);
        }
        for (guint i = 0; i < N; i++) {
                guint k = (gsize)i * 7919 % N;
                g_autofree char *id = g_strdup_printf("call %u of very many", k);

                g_assert_cmpuint(add(m, N + i, RET_SENT, EDGES, k % EDGES, id), ==, MATCH_CLOSED);
        }
        call_matcher_finish(m);
        g_assert_cmpuint(n_done(m), ==, N);
        for (guint i = 0; i < N; i++) {
                DoneCall done = done_at(m, i);

                g_assert_cmpint(done.pair.start, ==, done.number);
                g_assert_cmpuint(done.pair.caller, ==, done.number % EDGES);
                g_assert_cmpint((done.pair.end - N) * 7919 % N, ==, done.number);
        }
        call_matcher_edges(m, &n);
        g_assert_cmpuint(n, ==, EDGES);
}

/* --- the columns of call pairs ---------------------------------------------- */

static void test_columns(void)
{
        CallPairs pairs = { .wanted = WANT_CAUSES };
        CallPair one_end = {
                .start = 1, .enter = 1, .reply = 4, .end = 4, .caller = 7, .callee = 8
        };
        CallPair both_ends = { .start = 1, .enter = 2, .reply = 3, .end = 4, .stamps = 15 };

        call_pairs_put(&pairs, 100000, &one_end, 7);
        g_assert_cmpuint(pairs.n, ==, 100001);
        g_assert_cmpuint(pairs.edge[99999], ==, 0);
        g_assert_cmpuint(pairs.edge[100000], ==, 8);
        g_assert_cmpuint(pairs.cause[100000].parent, ==, NO_PARENT);
        g_assert_false(pairs.both_ends);
        g_assert_true(pairs.at_callee == pairs.at_caller);

        call_pairs_put(&pairs, 3, &both_ends, 0);
        g_assert_cmpuint(pairs.n, ==, 100001);
        g_assert_true(pairs.both_ends);
        g_assert_cmpint(pairs.at_caller[3].from, ==, 1);
        g_assert_cmpint(pairs.at_callee[3].from, ==, 2);
        g_assert_cmpint(pairs.at_callee[3].to, ==, 3);
        g_assert_cmpint(pairs.at_caller[3].to, ==, 4);
        g_assert_cmpint(pairs.at_callee[100000].from, ==, 1); /* unchanged */
        g_assert_cmpint(pairs.at_callee[100000].to, ==, 4);
        call_pairs_put(&pairs, 300000, &both_ends, 0);
        g_assert_cmpint(pairs.at_callee[3].from, ==, 2);
        g_assert_cmpint(pairs.at_callee[300000].from, ==, 2);
        call_pairs_move(&pairs, 2, 100000, 1);
        g_assert_cmpuint(pairs.edge[2], ==, 8);
        g_assert_cmpint(pairs.at_caller[2].to, ==, 4);
        g_assert_cmpint(pairs.at_callee[2].from, ==, 1);
        g_assert_cmpuint(pairs.cause[2].parent, ==, NO_PARENT);
        call_pairs_clear(&pairs);
        g_assert_cmpuint(pairs.n, ==, 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/call-pairs/one-side", test_one_side);
        g_test_add_func("/call-pairs/known-side", test_known_side);
        g_test_add_func("/call-pairs/four-stamps", test_four_stamps);
        g_test_add_func("/call-pairs/lost-stamp", test_lost_stamp);
        g_test_add_func("/call-pairs/other-edges", test_other_edges);
        g_test_add_func("/call-pairs/kept-ids", test_kept_ids);
        g_test_add_func("/call-pairs/many-lone", test_many_lone);
        g_test_add_func("/call-pairs/first-in-first-out", test_first_in_first_out);
        g_test_add_func("/call-pairs/keys", test_keys);
        g_test_add_func("/call-pairs/lone", test_lone);
        g_test_add_func("/call-pairs/max-call", test_max_call);
        g_test_add_func("/call-pairs/lost-returns", test_lost_returns);
        g_test_add_func("/call-pairs/oldest", test_oldest);
        g_test_add_func("/call-pairs/wait", test_wait);
        g_test_add_func("/call-pairs/window", test_window);
        g_test_add_func("/call-pairs/early", test_early);
        g_test_add_func("/call-pairs/early-repeated", test_early_repeated);
        g_test_add_func("/call-pairs/long-window", test_long_window);
        g_test_add_func("/call-pairs/edges", test_edges);
        g_test_add_func("/call-pairs/many", test_many);
        g_test_add_func("/call-pairs/columns", test_columns);
        return g_test_run();
}
