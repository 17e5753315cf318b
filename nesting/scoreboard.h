/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The scoreboard (paper, section 5.1.1.2). For each (caller A, node B, callee C) it counts the
 * delays between a call from A to B and a call from B to C.
 *
 * B and C are given as an edge, A as a small number among B's callers. A histogram is a row of
 * bins, made when it is first needed. Weights are integers in units that 1 to 16 all divide, so
 * sums do not depend on their order.
 */
#pragma once

#include "base/log-bins.h"
#include "calls/known-calls.h"

/* The bins of the scoreboard's delays: floor(ln delay / ln 1.05), delay in ns (paper, section
 * 5.1.1.2, which starts at a millisecond; calls have become shorter). Bin 0 also takes every delay
 * below 1 ns. A delay is compared with integer edges, so it falls into the same bin on every
 * machine.
 */
enum {
        N_DELAY_BINS = 896, /* 1.05^896 ns is over 300 years */
        DELAY_OCTAVE_BITS = 5,
        DELAY_OCTAVE = 1 << DELAY_OCTAVE_BITS, /* parts of an octave; none is wider than a bin */
};

typedef struct {
        gint64 edge[N_DELAY_BINS + 1];    /* the least delay of each bin */
        guint16 guess[54 * DELAY_OCTAVE]; /* by part of an octave: the bin, or the one below */
} DelayBins;

void delay_bins_init(DelayBins *bins);

/* The bin of any delay, by a binary search. */
guint delay_bin_slowly(const DelayBins *bins, gint64 delay);

/* The bin of a delay of at least 1. */
static inline gsize delay_bin_positive(const DelayBins *bins, gint64 delay)
{
        gsize guess;

        if (G_UNLIKELY(delay > LOG_BIN_EXACT))
                return delay_bin_slowly(bins, delay);
        guess = bins->guess[log_bin(delay, DELAY_OCTAVE_BITS)];
        return guess + (delay >= bins->edge[guess + 1]);
}

static inline guint delay_bin(const DelayBins *bins, gint64 delay)
{
        return delay_bin_positive(bins, MAX(delay, 1));
}

/* A child with N possible parents adds SCORE_UNIT / N for each parent. */
#define SCORE_UNIT ((guint64)720720 * 4096)

/* By number of the caller: the index in cells where its row of the edge begins; 0: no row yet. */
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
        guint64 *smoothed; /* of length n_smoothed; NULL: none */
        gsize n_smoothed;
        const guint64 *shown; /* cells, or smoothed */
} Scoreboard;

void scoreboard_init(Scoreboard *board);
void scoreboard_clear(Scoreboard *board); /* frees what it holds */

/* Makes room for n_edges edges and delays up to longest (ns). Keeps all scores. */
void scoreboard_extend(Scoreboard *board, guint32 n_edges, gint64 longest);

/* The beginnings of an edge's rows, for the callers 0 to n_callers - 1. Valid until a call with
 * more callers, or until the board is extended. */
static inline gsize *scoreboard_rows(Scoreboard *board, guint32 edge, guint32 n_callers);

/* Makes a row and returns its beginning. */
gsize scoreboard_add_row(Scoreboard *board, guint32 edge, guint32 caller);

/* The cell of a delay, to add a score to. row: not 0; delay: at least 1. */
static inline guint64 *scoreboard_cell(const Scoreboard *board, gsize row, gint64 delay)
{
        return &board->cells[row + delay_bin_positive(&board->bins, delay)];
}

/* The score of a delay after scoreboard_show(). */
static inline guint64 scoreboard_score(const Scoreboard *board, gsize row, gint64 delay)
{
        return board->shown[row + delay_bin_positive(&board->bins, delay)];
}

/* Halves all scores. */
void scoreboard_fade(Scoreboard *board);

/* Shows the scores so far, until more are added. A deviation other than 0, in bins, convolves them
 * with a Gaussian (section 5.1.1.2, last paragraph). */
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

/* ScoreNestings (paper, Figure 4, lines 13 to 16). Counts the delays between a candidate parent's
 * call and the child's. */

/* Visits calls in order. smooth: see scoreboard_show(). cycles: a call may be its own candidate,
 * and is left out then. */
void score_nestings(KnownCalls *calls, CallOrder *order, Scoreboard *board, double smooth,
                    gboolean cycles);
