/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ScoreNestings (paper, Figure 4, lines 13 to 16): records how often each delay
 * between a candidate parent's call and the child's was seen.
 */
#include "nesting/nesting.h"

void score_nestings(Nesting *n, const NodeCalls *node, Candidates *candidates, Scoreboard *board)
{
        scoreboard_start(board, node->n_callers, node->n_callees,
                         node->longest + 2 * n->options.window);
        candidates_start(candidates, node->in, node->n_in);
        for (guint32 i = 0; i < node->n_out; i++) {
                const CallOut *child = &node->out[i];
                /* Shifted by the skew window, a delay is at least 1. */
                gint64 start = child->start + n->options.window;
                const gsize *rows = board->rows_of[child->callee];
                guint32 n_found =
                        candidates_find(candidates, child->start, child->end, child->call);
                const guint32 *found, *caller;
                const gint64 *enter;
                guint64 weight;

                nesting_note_candidates(n, child->call, n_found);
                if (!n_found)
                        continue;
                weight = SCORE_UNIT / n_found;
                found = candidates->found;
                enter = candidates->enter;
                caller = candidates->caller;
                for (guint32 k = 0; k < n_found; k++) {
                        gsize row = rows[caller[found[k]]];

                        if (G_UNLIKELY(!row))
                                row = scoreboard_add_row(board, child->callee, caller[found[k]]);
                        *scoreboard_cell(board, row, start - enter[found[k]]) += weight;
                }
        }
        if (n->options.smooth > 0)
                scoreboard_smooth(board, n->options.smooth);
}
