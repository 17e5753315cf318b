/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ScoreNestings (paper, Figure 4, lines 13 to 16): records how often each delay
 * between a candidate parent's call and the child's was seen.
 */
#include "nesting/nesting.h"

void score_nestings(Nesting *n, const NodeCalls *node, Candidates *candidates, Scoreboard *board)
{
        scoreboard_start(board, node->n_callers, node->n_callees);
        candidates_start(candidates, node->in, node->n_in, node->caller_of);
        for (guint32 i = 0; i < node->n_out; i++) {
                const CallPair *child = &n->calls[node->out[i]];
                guint32 callee = node->callee_of[child->callee];
                gint64 start = child->start + n->options.window;
                guint64 weight;

                candidates_find(candidates, node->out[i]);
                n->candidates[node->out[i]] = candidates->n_found;
                if (!candidates->n_found)
                        continue;
                weight = SCORE_UNIT / candidates->n_found;
                for (guint32 k = 0; k < candidates->n_found; k++) {
                        const ActiveCall *p = &candidates->active[candidates->found[k]];

                        scoreboard_add(board, p->caller, callee, start - p->enter, weight);
                }
        }
        if (n->options.smooth > 0)
                scoreboard_smooth(board, n->options.smooth);
}
