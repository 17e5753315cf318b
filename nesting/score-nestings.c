/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/scoreboard.h"

/* Drops the call itself from its candidates, at a node that calls itself. */
static guint32 drop_itself(Candidates *at, guint32 n_found, guint32 call)
{
        guint32 kept = 0;

        for (guint32 k = 0; k < n_found; k++) {
                at->found[kept] = at->found[k];
                kept += at->active[at->found[k]].which != call;
        }
        return kept;
}

static inline void score_call(KnownCalls *calls, Scoreboard *board, CallingNode *node, guint32 call,
                              gboolean cycles)
{
        Candidates *at = &node->scoring;
        Span child = calls->pairs.at_caller[call];
        /* Shifted by the skew window, a delay is at least 1. */
        gint64 start = child.from + at->window;
        guint32 n_found = candidates_find(at, child.from, child.to), edge;
        const guint32 *found = at->found;
        guint64 weight;
        gsize *rows;

        if (G_UNLIKELY(cycles))
                n_found = drop_itself(at, n_found, call);
        known_calls_note_candidates(calls, call, n_found);
        if (!n_found)
                return;
        weight = SCORE_UNIT / n_found;
        edge = calls->pairs.edge[call] - 1;
        rows = scoreboard_rows(board, edge, node->n_callers);
        for (guint32 k = 0; k < n_found; k++) {
                const ActiveCall *parent = &at->active[found[k]];
                gsize row = rows[parent->caller];

                if (G_UNLIKELY(!row))
                        row = scoreboard_add_row(board, edge, parent->caller);
                *scoreboard_cell(board, row, start - parent->enter) += weight;
        }
}

void score_nestings(KnownCalls *calls, CallOrder *order, Scoreboard *board, double smooth,
                    gboolean cycles)
{
        gboolean starts, enters;
        guint32 call;

        while (call_order_next(order, &call, &starts, &enters)) {
                const EdgeRole *role = known_calls_edge(calls, call);

                known_calls_pass(calls, call);
                if (starts && role->at_caller &&
                    call_links_parent(&calls->links, call) == NO_PARENT &&
                    !call_links_is_turn(&calls->links, call))
                        score_call(calls, board, role->at_caller, call, cycles);
                if (enters && role->at_callee) {
                        Span span = call_links_stay(&calls->links, &calls->pairs, call);

                        candidates_add(&role->at_callee->scoring, span.from, span.to, role->number,
                                       call);
                }
        }
        scoreboard_show(board, smooth);
}
