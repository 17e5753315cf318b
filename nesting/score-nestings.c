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
                /* Shifted by the skew window, a delay stays positive. */
                gint64 start = child->start + n->options.window;
                guint32 *rows = board->rows_of[child->callee];
                guint32 n_found =
                        candidates_find(candidates, child->start, child->end, child->call);
                guint64 weight;

                if (n->candidates)
                        n->candidates[child->call] = n_found;
                if (!n_found)
                        continue;
                n->children++;
                n->nestings += n_found;
                weight = SCORE_UNIT / n_found;
                for (guint32 k = 0; k < n_found; k++) {
                        const CallIn *p = &candidates->active[candidates->found[k]];
                        guint32 row = rows[p->caller];

                        if (G_UNLIKELY(!row))
                                row = scoreboard_add_row(board, child->callee, p->caller);
                        *scoreboard_cell(board, row, start - p->enter) += weight;
                }
        }
        if (n->options.smooth > 0)
                scoreboard_smooth(board, n->options.smooth);
}
