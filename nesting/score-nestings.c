/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ScoreNestings (paper, Figure 4, lines 13 to 16): records how often each delay
 * between a candidate parent's call and the child's was seen.
 */
#include "nesting/nesting.h"

/* Drops the call itself, at a node that calls itself. */
static guint32 drop_itself(Candidates *at, guint32 n_found, guint32 call)
{
        guint32 kept = 0;

        for (guint32 k = 0; k < n_found; k++) {
                at->found[kept] = at->found[k];
                kept += at->active[at->found[k]].which != call;
        }
        return kept;
}

static inline void score(Nesting *n, Candidates *at, guint32 n_callers, guint32 call)
{
        Span child = n->calls.at_caller[call];
        /* Shifted by the skew window, a delay is at least 1. */
        gint64 start = child.from + n->options.window;
        guint32 n_found = candidates_find(at, child.from, child.to), edge;
        const guint32 *found = at->found;
        guint64 weight;
        gsize *rows;

        if (G_UNLIKELY(n->cycles))
                n_found = drop_itself(at, n_found, call);
        nesting_note_candidates(n, call, n_found);
        if (!n_found)
                return;
        weight = SCORE_UNIT / n_found;
        edge = n->calls.edge[call] - 1;
        rows = scoreboard_rows(&n->board, edge, n_callers);
        for (guint32 k = 0; k < n_found; k++) {
                const ActiveCall *parent = &at->active[found[k]];
                gsize row = rows[parent->caller];

                if (G_UNLIKELY(!row))
                        row = scoreboard_add_row(&n->board, edge, parent->caller);
                *scoreboard_cell(&n->board, row, start - parent->enter) += weight;
        }
}

void score_nestings(Nesting *n)
{
        gboolean starts, enters;
        guint32 call;

        while (call_order_next(&n->order, &call, &starts, &enters)) {
                const EdgeRole *role = &n->roles[n->calls.edge[call] - 1];

                if (starts && role->at_caller)
                        score(n, &role->at_caller->scoring, role->at_caller->n_callers, call);
                if (enters && role->at_callee) {
                        Span span = n->calls.at_callee[call];

                        candidates_add(&role->at_callee->scoring, span.from, span.to, role->number,
                                       call);
                }
        }
        scoreboard_show(&n->board, n->options.smooth);
}
