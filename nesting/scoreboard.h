/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The scoreboard (paper, section 5.1.1.2): how often each delay between a call
 * into a node and a call out of it was seen, for each (caller, node, callee).
 *
 * Nestings at one node have nothing to do with those at another, so there is one
 * scoreboard at a time, for the node in hand; A and C are given as small numbers
 * that count that node's callers and callees. A histogram is a row of bins, made
 * where it is first needed. Weights are integers in units that 1 to 16 all
 * divide, so that sums do not depend on their order.
 */
#ifndef RAVEL_SCOREBOARD_H
#define RAVEL_SCOREBOARD_H

#include <glib.h>

#include "nesting/delay-bin.h"

/* One child with N possible parents adds SCORE_UNIT / N for each. */
#define SCORE_UNIT ((guint64)720720 * 4096)

typedef struct {
        DelayBins bins;
        guint32 n_callers, n_callees;
        guint32 n_bins;  /* in a row */
        gsize **rows_of; /* [callee][caller]: where in cells the row begins, 0: none yet */
        guint64 *cells;  /* the first row stays empty */
        gsize n_cells, room;
} Scoreboard;

void scoreboard_init(Scoreboard *board);
void scoreboard_clear(Scoreboard *board); /* frees what it holds */

/* Empties it for a node with so many callers and callees, at which no delay is
 * longer than longest (ns). */
void scoreboard_start(Scoreboard *board, guint32 n_callers, guint32 n_callees, gint64 longest);

/* Makes a row; returns where it begins. */
gsize scoreboard_add_row(Scoreboard *board, guint32 callee, guint32 caller);

/* row: board->rows_of[callee][caller], not 0; delay: at least 1. */
static inline guint64 *scoreboard_cell(const Scoreboard *board, gsize row, gint64 delay)
{
        return &board->cells[row + delay_bin_positive(&board->bins, delay)];
}

/* Convolves every histogram with a Gaussian of a standard deviation of so many
 * bins (section 5.1.1.2, last paragraph). */
void scoreboard_smooth(Scoreboard *board, double deviation);

#endif
