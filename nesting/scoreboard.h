/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The scoreboard (paper, section 5.1.1.2): how often each delay between a call
 * into a node and a call out of it was seen, for each (caller, node, callee).
 *
 * Nestings at one node have nothing to do with those at another, so there is one
 * scoreboard at a time, for the node in hand; A and C are given as small numbers
 * that count that node's callers and callees. A histogram is an array of bins
 * in pieces of 64, made where they are first needed. Weights are integers in
 * units that 1 to 16 all divide, so that sums do not depend on their order.
 */
#ifndef RAVEL_SCOREBOARD_H
#define RAVEL_SCOREBOARD_H

#include <glib.h>

#include "nesting/delay-bin.h"

/* One child with N possible parents adds SCORE_UNIT / N for each. */
#define SCORE_UNIT ((guint64)720720 * 4096)

enum { SCORE_PIECE = 64, SCORE_PIECES = N_DELAY_BINS / SCORE_PIECE };

typedef struct {
        guint32 piece[SCORE_PIECES]; /* index into pieces; 0: all zeros */
} ScoreRow;

typedef struct {
        guint64 bin[SCORE_PIECE];
} ScorePiece;

typedef struct {
        DelayBins bins;
        guint32 **rows_of;   /* [callee][caller]: index into rows, 0: none yet */
        guint32 n_callers, n_callees;
        ScoreRow *rows;      /* rows[0] and pieces[0] stay empty */
        ScorePiece *pieces;
        guint32 n_rows, rows_size, n_pieces, pieces_size;
} Scoreboard;

void scoreboard_init(Scoreboard *board);
void scoreboard_clear(Scoreboard *board); /* frees what it holds */

/* Empties it for a node with so many callers and callees. */
void scoreboard_start(Scoreboard *board, guint32 n_callers, guint32 n_callees);

/* Slow paths of the two below. */
guint32 scoreboard_add_row(Scoreboard *board, guint32 callee, guint32 caller);
guint32 scoreboard_add_piece(Scoreboard *board, guint32 row, guint piece);

static inline void scoreboard_add(Scoreboard *board, guint32 caller, guint32 callee, gint64 delay,
                                  guint64 weight)
{
        guint bin = delay_bin(&board->bins, delay);
        guint32 row = board->rows_of[callee][caller], piece;

        if (G_UNLIKELY(!row))
                row = scoreboard_add_row(board, callee, caller);
        piece = board->rows[row].piece[bin / SCORE_PIECE];
        if (G_UNLIKELY(!piece))
                piece = scoreboard_add_piece(board, row, bin / SCORE_PIECE);
        board->pieces[piece].bin[bin % SCORE_PIECE] += weight;
}

static inline guint64 scoreboard_lookup(const Scoreboard *board, guint32 caller, guint32 callee,
                                        gint64 delay)
{
        guint bin = delay_bin(&board->bins, delay);
        guint32 row = board->rows_of[callee][caller];

        return board->pieces[board->rows[row].piece[bin / SCORE_PIECE]].bin[bin % SCORE_PIECE];
}

/* Convolves every histogram with a Gaussian of a standard deviation of so many
 * bins (section 5.1.1.2, last paragraph). */
void scoreboard_smooth(Scoreboard *board, double deviation);

#endif
