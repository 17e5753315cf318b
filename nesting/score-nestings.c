/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ScoreNestings (paper, Figure 4, lines 13 to 16): records how often each delay
 * between a candidate parent's call and the child's was seen.
 */
#include "nesting/nesting.h"

void score_nestings(Nesting *n, const NodeCalls *node, Candidates *candidates, Scoreboard *board)
{
        scoreboard_start(board, node->n_callers, node->n_callees);
        candidates_start(candidates, node->in, node->n_in);
        for (guint32 i = 0; i < node->n_out; i++) {
                const CallOut *child = &node->out[i];
                /* Shifted by the skew window, a delay stays positive. */
                gint64 start = child->start + n->options.window;
                guint64 weight;

                candidates_find(candidates, child->start, child->end, child->call);
                if (n->candidates)
                        n->candidates[child->call] = candidates->n_found;
                if (!candidates->n_found)
                        continue;
                n->children++;
                n->nestings += candidates->n_found;
                weight = SCORE_UNIT / candidates->n_found;
                for (guint32 k = 0; k < candidates->n_found; k++) {
                        const CallIn *p = &candidates->active[candidates->found[k]];

                        scoreboard_add(board, p->caller, child->callee, start - p->enter, weight);
                }
        }
        if (n->options.smooth > 0)
                scoreboard_smooth(board, n->options.smooth);
}
