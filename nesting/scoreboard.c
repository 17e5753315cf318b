/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/scoreboard.h"

#include <math.h>
#include <string.h>

void scoreboard_init(Scoreboard *b)
{
        memset(b, 0, sizeof *b);
        delay_bins_init(&b->bins);
        b->rows_size = b->pieces_size = 64;
        b->rows = g_new0(ScoreRow, b->rows_size);
        b->pieces = g_new0(ScorePiece, b->pieces_size);
        b->n_rows = b->n_pieces = 1;
}

static void free_tables(Scoreboard *b)
{
        for (guint32 c = 0; c < b->n_callees; c++)
                g_free(b->rows_of[c]);
        g_clear_pointer(&b->rows_of, g_free);
        b->n_callees = 0;
}

void scoreboard_clear(Scoreboard *b)
{
        free_tables(b);
        g_free(b->rows);
        g_free(b->pieces);
}

void scoreboard_start(Scoreboard *b, guint32 n_callers, guint32 n_callees)
{
        free_tables(b);
        b->n_callers = n_callers;
        b->n_callees = n_callees;
        b->rows_of = g_new(guint32 *, n_callees);
        /* A large table costs memory only where it is touched. */
        for (guint32 c = 0; c < n_callees; c++)
                b->rows_of[c] = g_new0(guint32, n_callers);
        b->n_rows = b->n_pieces = 1;
}

guint32 scoreboard_add_row(Scoreboard *b, guint32 callee, guint32 caller)
{
        if (b->n_rows == b->rows_size) {
                b->rows_size *= 2;
                b->rows = g_renew(ScoreRow, b->rows, b->rows_size);
        }
        memset(&b->rows[b->n_rows], 0, sizeof *b->rows);
        return b->rows_of[callee][caller] = b->n_rows++;
}

guint32 scoreboard_add_piece(Scoreboard *b, guint32 row, guint piece)
{
        if (b->n_pieces == b->pieces_size) {
                b->pieces_size *= 2;
                b->pieces = g_renew(ScorePiece, b->pieces, b->pieces_size);
        }
        memset(&b->pieces[b->n_pieces], 0, sizeof *b->pieces);
        return b->rows[row].piece[piece] = b->n_pieces++;
}

void scoreboard_smooth(Scoreboard *b, double deviation)
{
        gint reach = ceil(3 * deviation);
        g_autofree double *kernel = g_new(double, 2 * reach + 1);
        double sum = 0;

        for (gint i = -reach; i <= reach; i++)
                sum += kernel[i + reach] = exp(-0.5 * (i / deviation) * (i / deviation));
        for (guint32 row = 1; row < b->n_rows; row++) {
                double out[N_DELAY_BINS] = { 0 };

                for (gint bin = 0; bin < N_DELAY_BINS; bin++) {
                        guint32 piece = b->rows[row].piece[bin / SCORE_PIECE];
                        double in = b->pieces[piece].bin[bin % SCORE_PIECE];

                        if (in == 0)
                                continue;
                        for (gint i = MAX(-reach, -bin); i <= reach && bin + i < N_DELAY_BINS; i++)
                                out[bin + i] += in * kernel[i + reach] / sum;
                }
                for (gint bin = 0; bin < N_DELAY_BINS; bin++) {
                        guint32 piece = b->rows[row].piece[bin / SCORE_PIECE];

                        if (!piece && out[bin] >= 1)
                                piece = scoreboard_add_piece(b, row, bin / SCORE_PIECE);
                        if (piece)
                                b->pieces[piece].bin[bin % SCORE_PIECE] = rint(out[bin]);
                }
        }
}
