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
                { { .calls = 0 }, "fit for neither", "no one-way messages" },
                { { .packets = 10 }, "fit for neither", "no one-way messages" },
                { { .calls = 9, .returns = 9, .packets = 20, .lost = 21 },
                  "fit for neither",
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
                { { .calls = 10, .returns = 5 }, "fit for nesting", "convolution" },
                { { .calls = 10, .returns = 10, .one_way = 11 },
                  "fit for convolution only: ",
                  "(11) than calls (10)" },
                { { .calls = 10, .returns = 10, .one_way = 10 }, "fit for nesting", "convolution" },
                { { .calls = 200, .returns = 200, .both_ends = 200, .too_early = 3 },
                  "fit for nesting and convolution, each",
                  "3 of 200 calls arrived before they were sent, or back" },
                { { .calls = 200, .returns = 200, .both_ends = 200, .too_early = 2 },
                  "fit for nesting",
                  "convolution" },
        };

        for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = fitness_judge(&cases[i].fitness);

                g_test_message("%s", text);
                g_assert_true(g_str_has_prefix(text, cases[i].expected));
                g_assert_true(g_str_has_suffix(text, cases[i].reason));
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/fitness/judge", test_judge);
        return g_test_run();
}
