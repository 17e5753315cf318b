/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The scoreboard: histograms by caller and callee, and what smoothing makes of them.
 */
#include "nesting/scoreboard.h"

#include <math.h>

static void test_unit(void)
{
        for (guint n = 1; n <= 16; n++)
                g_assert_cmpuint(SCORE_UNIT % n, ==, 0);
}

/* A row of its own for each edge and caller, all empty at first; they stay as they are
 * when there are more of them, or longer ones. */
static void test_rows(void)
{
        enum { CALLERS = 20, EDGES = 30 };
        gsize rows[2 * EDGES][CALLERS];
        Scoreboard board;

        scoreboard_init(&board);
        for (guint round = 0; round < 2; round++) {
                gint64 longest = round ? G_GINT64_CONSTANT(3600000000000) : 1000000;
                guint32 n_edges = (round + 1) * EDGES;

                scoreboard_extend(&board, n_edges, longest);
                for (guint32 edge = round * EDGES; edge < n_edges; edge++)
                        for (guint32 caller = 0; caller < CALLERS; caller++) {
                                gsize row;

                                g_assert_cmpuint(scoreboard_rows(&board, edge, caller + 1)[caller],
                                                 ==, 0);
                                row = scoreboard_add_row(&board, edge, caller);
                                g_assert_cmpuint(row, >, 0);
                                g_assert_cmpuint(*scoreboard_cell(&board, row, 1), ==, 0);
                                g_assert_cmpuint(*scoreboard_cell(&board, row, longest), ==, 0);
                                *scoreboard_cell(&board, row, 1) = rows[edge][caller] = row;
                                *scoreboard_cell(&board, row, 1000000) = row + 1;
                        }
                for (guint32 i = 0; i < n_edges * CALLERS; i++) {
                        gsize row = scoreboard_rows(&board, i / CALLERS, CALLERS)[i % CALLERS];

                        g_assert_cmpuint(row, >, 0);
                        g_assert_cmpuint(*scoreboard_cell(&board, row, 1), ==,
                                         rows[i / CALLERS][i % CALLERS]);
                        g_assert_cmpuint(*scoreboard_cell(&board, row, 1000000), ==,
                                         rows[i / CALLERS][i % CALLERS] + 1);
                        if (round > 0 && i < EDGES * CALLERS)
                                g_assert_cmpuint(*scoreboard_cell(&board, row, longest), ==, 0);
                }
        }
        scoreboard_clear(&board);
        scoreboard_init(&board);
        scoreboard_extend(&board, 1, 0); /* nothing takes any time */
        scoreboard_rows(&board, 0, 1);
        g_assert_cmpuint(*scoreboard_cell(&board, scoreboard_add_row(&board, 0, 0), 1), ==, 0);
        scoreboard_clear(&board);
}

/* A single score becomes the bell curve: symmetrical, falling, of the same sum. */
static void test_smooth(void)
{
        Scoreboard board;
        const guint64 *bins;
        guint64 sum = 0;
        gsize row, other;
        guint peak;

        scoreboard_init(&board);
        scoreboard_extend(&board, 2, G_GINT64_CONSTANT(10000000000));
        scoreboard_rows(&board, 0, 1);
        scoreboard_rows(&board, 1, 1);
        row = scoreboard_add_row(&board, 0, 0);
        other = scoreboard_add_row(&board, 1, 0);
        *scoreboard_cell(&board, row, 1000000) = SCORE_UNIT;
        peak = delay_bin(&board.bins, 1000000);
        scoreboard_show(&board, 2);

        bins = board.shown + row;
        for (guint bin = 0; bin < board.n_bins; bin++) {
                sum += bins[bin];
                g_assert_cmpuint(board.shown[other + bin], ==, 0);
        }
        for (guint i = 1; i <= 6; i++) {
                g_assert_cmpuint(bins[peak - i], ==, bins[peak + i]);
                g_assert_cmpuint(bins[peak + i], <, bins[peak + i - 1]);
                g_assert_cmpfloat_with_epsilon((double)bins[peak + i] / bins[peak],
                                               exp(-(double)(i * i) / 8), 1e-6);
        }
        g_assert_cmpuint(bins[peak + 7], ==, 0);
        g_assert_cmpuint(sum, >=, SCORE_UNIT - 13); /* each bin is rounded */
        g_assert_cmpuint(sum, <=, SCORE_UNIT + 13);
        scoreboard_clear(&board);
}

/* At the first and the last bin the curve is cut off, and nothing else is touched. */
static void test_smooth_at_ends(void)
{
        Scoreboard board;
        const guint64 *bins;
        gsize row, next;

        scoreboard_init(&board);
        scoreboard_extend(&board, 2, 1000);
        scoreboard_rows(&board, 0, 1);
        scoreboard_rows(&board, 1, 1);
        row = scoreboard_add_row(&board, 0, 0);
        next = scoreboard_add_row(&board, 1, 0);
        *scoreboard_cell(&board, row, 1) = SCORE_UNIT;
        *scoreboard_cell(&board, row, 1000) = SCORE_UNIT;
        scoreboard_show(&board, 3);
        bins = board.shown + row;
        for (guint i = 0; i < 10; i++)
                g_assert_cmpuint(bins[i], ==, bins[board.n_bins - 1 - i]);
        g_assert_cmpuint(bins[0], >, bins[1]);
        for (guint bin = 0; bin < board.n_bins; bin++)
                g_assert_cmpuint(board.shown[next + bin], ==, 0);
        scoreboard_clear(&board);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/scoreboard/unit", test_unit);
        g_test_add_func("/scoreboard/rows", test_rows);
        g_test_add_func("/scoreboard/smooth", test_smooth);
        g_test_add_func("/scoreboard/smooth-at-ends", test_smooth_at_ends);
        return g_test_run();
}
