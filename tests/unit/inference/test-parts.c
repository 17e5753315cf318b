/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How a node is cut in parts.
 */
#include "inference/model/parts.h"
#include "inference/search/stretches.h"

/* Calls with few candidates: parts are as long as that takes; with many: as long as they must be in
 * time; at one moment: as long as they may be; far between: parts have fewer. */
static void test_parts(void)
{
        enum { N = 100 };
        static const gint64 life = 2000000;
        const struct {
                gint64 apart;
                gsize each;   /* candidates */
                guint32 part; /* calls, at least */
        } cases[] = { { 1000000, PART_BELIEFS / 32, 32 },
                      { 1000000, PART_BELIEFS / 8, 2 * tuning.part_lives },
                      { 1, MOST_IN_PART / 32, 32 },
                      { 20000000, LONG_BELIEFS / 32, 32 } };
        CallOut out[N];
        NodeProblem node = { .out = out, .n_out = N };
        guint32 n_candidates[N];

        for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
                guint32 least = cases[c].part,
                        context = tuning.context_lives * life / cases[c].apart;
                Part part = { 0 };

                for (guint32 i = 0; i < N; i++) {
                        out[i].start = cases[c].apart * i;
                        n_candidates[i] = (guint32)cases[c].each;
                }
                for (guint32 at = 0; at < N; at = part.before) {
                        part = part_find(&node, n_candidates, life, at);
                        g_assert_cmpuint(part.at, ==, at);
                        g_assert_cmpuint(part.before, >=, MIN(at + least, N));
                        g_assert_cmpuint(part.before, <=, MIN(at + least + 1, N));
                        g_assert_cmpuint(part.first, ==, MAX(at, context) - context);
                        g_assert_cmpuint(part.end, ==, MIN(part.before + context, N));
                }
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/parts/parts", test_parts);
        return g_test_run();
}
