/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a trace is said to do for, on both sides of each limit.
 */
#include "tracefmt/fitness.h"

static void test_judge(void)
{
        static const struct {
                Fitness fitness;
                const char *expected; /* how it begins, and ends */
                const char *reason;
        } cases[] = {
                { { .calls = 0 }, "not fit for nesting or", "no one-way messages" },
                { { .packets = 10 }, "not fit for nesting or", "no one-way messages" },
                { { .calls = 9, .returns = 9, .packets = 20, .lost = 21 },
                  "not fit for nesting or",
                  "more packets were lost (21) than captured (20)" },
                { { .calls = 9, .returns = 9, .packets = 20, .lost = 20 },
                  "fit for convolution only: ",
                  "(20 dropped or in holes)" },
                { { .calls = 9, .returns = 9, .packets = 20, .lost = 2 },
                  "fit for nesting and convolution",
                  "convolution" },
                { { .one_way = 1 }, "fit for convolution only: ", "only one-way messages" },
                { { .calls = 9 }, "fit for convolution only: ", "no call has a return" },
                { { .calls = 9, .one_sided = TRUE },
                  "fit for convolution only: no call has a return",
                  "connection was captured" },
                { { .calls = 10, .returns = 4 },
                  "fit for convolution only: ",
                  "6 of 10 calls have no return" },
                { { .calls = 10, .returns = 5 },
                  "fit for nesting",
                  "; 5 of 10 calls have no end: capture until they return, in both directions and "
                  "without loss" },
                { { .calls = 299, .returns = 296 }, "fit for nesting", "without loss" },
                { { .calls = 299, .returns = 297 }, "fit for nesting", "convolution" },
                { { .calls = 299, .returns = 299, .late = 30 },
                  "fit for nesting and convolution; 30 of 299 calls outlast",
                  "--ids to be surer of their parents" },
                { { .calls = 299, .returns = 299, .late = 29 }, "fit for nesting", "convolution" },
                { { .calls = 10, .returns = 10, .one_way = 110 },
                  "fit for convolution only: ",
                  "(110) than calls (10)" },
                { { .calls = 10, .returns = 10, .one_way = 109 },
                  "fit for nesting",
                  "convolution" },
                { { .calls = 200, .returns = 200, .both_ends = 200, .too_early = 3 },
                  "fit for nesting and convolution, each",
                  "3 of 200 calls arrived before they were sent, or back" },
                { { .calls = 200, .returns = 200, .both_ends = 200, .too_early = 2 },
                  "fit for nesting",
                  "convolution" },
        };

        for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = fitness_judge(&cases[i].fitness, NULL, NULL, 0, NULL);

                g_test_message("%s", text);
                g_assert_true(g_str_has_prefix(text, cases[i].expected));
                g_assert_true(g_str_has_suffix(text, cases[i].reason));
        }
}

/* More than a tenth of the calls is doubtful, or not, or there is only a remark. */
static void test_doubts(void)
{
        static const struct {
                DoubtReason reason;
                guint64 count, of;
                const char *expected;
        } cases[] = {
                { DOUBT_MULTIPLEXED, 50, 50,
                  "not fit for nesting or convolution: 50 of 150 calls are doubtful; a>b: 50 of "
                  "50 calls: several calls" },
                { DOUBT_INVERTED, 16, 50,
                  "not fit for nesting or convolution: 16 of 150 calls are doubtful; a>b: 16" },
                { DOUBT_INVERTED, 15, 50,
                  "fit for nesting and convolution, but for a>b: 15 of 50 calls: the server" },
                /* Of a longer trace: the share counts. */
                { DOUBT_CUT, 300, 1000, "fit for nesting and convolution, but for a>b: 300 of" },
                { DOUBT_CUT, 310, 1000, "not fit for nesting or convolution: 16 of 150 calls" },
                { DOUBT_UNSEEN, 90, 100, "fit for nesting and convolution, but for a>b: 90 of" },
        };
        g_autoptr(NodeTable) nodes = node_table_new();
        NodeId a = node_table_add(nodes, "a", 1), b = node_table_add(nodes, "b", 1);
        EdgeCalls edges[] = { { a, b, 50 }, { b, a, 100 } };
        Fitness fitness = { .calls = 150, .returns = 150 };

        for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GArray) doubts = g_array_new(FALSE, FALSE, sizeof(Doubt));
                Doubt doubt = { .caller = a,
                                .callee = b,
                                .reason = cases[i].reason,
                                .count = cases[i].count,
                                .of = cases[i].of };
                Doubt remark = { .caller = b,
                                 .callee = a,
                                 .reason = DOUBT_MAY_BE_MULTIPLEXED,
                                 .count = 100,
                                 .of = 100 };

                doubts_add(doubts, &remark);
                g_autofree char *fit = fitness_judge(&fitness, doubts, edges, 2, nodes);
                g_assert_cmpstr(fit, ==, "fit for nesting and convolution");
                g_assert_true(judgement_is_fit_for_nesting(fit));

                doubts_add(doubts, &doubt);
                g_autofree char *text = fitness_judge(&fitness, doubts, edges, 2, nodes);
                g_test_message("%s", text);
                g_assert_true(g_str_has_prefix(text, cases[i].expected));
                g_assert_cmpint(judgement_is_fit_for_convolution(text), ==,
                                g_str_has_prefix(cases[i].expected, "fit"));
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/fitness/judge", test_judge);
        g_test_add_func("/fitness/doubts", test_doubts);
        return g_test_run();
}
