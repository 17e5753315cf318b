/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The scoreboard (paper, section 5.1.1.2): how often each delay between a call
 * into a node and a call out of it was seen, for each (caller, node, callee).
 *
 * B and C are given as an edge, A as a small number that counts B's callers. A
 * histogram is a row of bins, made where it is first needed. Weights are integers in
 * units that 1 to 16 all divide, so that sums do not depend on their order.
 */
#ifndef RAVEL_SCOREBOARD_H
#define RAVEL_SCOREBOARD_H

#include <glib.h>

#include "nesting/delay-bin.h"

/* One child with N possible parents adds SCORE_UNIT / N for each. */
#define SCORE_UNIT ((guint64)720720 * 4096)

/* Where in cells the rows of an edge begin, by the number of the caller; 0: there is none
 * yet. */
typedef struct {
        gsize *row;
        guint32 n;
} ScoreRows;

typedef struct {
        DelayBins bins;
        guint32 n_bins;  /* in a row */
        ScoreRows *rows; /* by edge */
        guint32 n_edges;
        guint64 *cells; /* the first row stays empty */
        gsize n_cells, room;
        guint64 *smoothed; /* NULL, or as long as n_smoothed says */
        gsize n_smoothed;
        const guint64 *shown; /* cells, or smoothed */
} Scoreboard;

void scoreboard_init(Scoreboard *board);
void scoreboard_clear(Scoreboard *board); /* frees what it holds */

/* For so many edges, where no delay is longer than longest (ns). Keeps what is there. */
void scoreboard_extend(Scoreboard *board, guint32 n_edges, gint64 longest);

/* Where the rows of an edge begin, for callers of the numbers 0 to n_callers - 1;
 * valid until the edge is asked for with more of them, or the board is extended. */
static inline gsize *scoreboard_rows(Scoreboard *board, guint32 edge, guint32 n_callers);

/* Makes a row; returns where it begins. */
gsize scoreboard_add_row(Scoreboard *board, guint32 edge, guint32 caller);

/* Where a score is added. row: not 0; delay: at least 1. */
static inline guint64 *scoreboard_cell(const Scoreboard *board, gsize row, gint64 delay)
{
        return &board->cells[row + delay_bin_positive(&board->bins, delay)];
}

/* The score after scoreboard_show(). */
static inline guint64 scoreboard_score(const Scoreboard *board, gsize row, gint64 delay)
{
        return board->shown[row + delay_bin_positive(&board->bins, delay)];
}

/* Halves all scores. */
void scoreboard_fade(Scoreboard *board);

/* Shows the scores that were added, until more are; convolved with a Gaussian of a standard
 * deviation of so many bins (section 5.1.1.2, last paragraph) where that is not 0. */
void scoreboard_show(Scoreboard *board, double deviation);

/* --- inline ----------------------------------------------------------------- */

void scoreboard_grow_rows(ScoreRows *rows, guint32 n_callers);

static inline gsize *scoreboard_rows(Scoreboard *board, guint32 edge, guint32 n_callers)
{
        ScoreRows *rows = &board->rows[edge];

        if (G_UNLIKELY(rows->n < n_callers))
                scoreboard_grow_rows(rows, n_callers);
        return rows->row;
}

#endif
