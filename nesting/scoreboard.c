/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/scoreboard.h"

#include <math.h>
#include <string.h>

#include "base/big-memory.h"

/* --- delay bins -------------------------------------------------------------- */

__extension__ typedef unsigned __int128 Fixed; /* 64 bits before the point, 64 after */

guint delay_bin_slowly(const DelayBins *bins, gint64 delay)
{
        guint low = 0, high = N_DELAY_BINS; /* edge[low] <= delay < edge[high] */

        while (high - low > 1) {
                guint middle = (low + high) / 2;

                if (delay >= bins->edge[middle])
                        low = middle;
                else
                        high = middle;
        }
        return low;
}

void delay_bins_init(DelayBins *bins)
{
        Fixed one = (Fixed)1 << 64, edge = one;

        for (guint b = 0; b <= N_DELAY_BINS; b++) {
                Fixed up = edge + one - 1;

                bins->edge[b] = up >> 127 ? G_MAXINT64 : (gint64)(up >> 64);
                if (!(edge >> 127))
                        edge += edge / 20;
        }
        for (guint i = 0; i < G_N_ELEMENTS(bins->guess); i++) {
                guint octave = i / DELAY_OCTAVE;
                gint64 part = i % DELAY_OCTAVE;

                bins->guess[i] = delay_bin_slowly(bins, ((gint64)1 << octave) +
                                                                ((part << octave) / DELAY_OCTAVE));
        }
}

/* --- scores --------------------------------------------------------------------- */

void scoreboard_init(Scoreboard *b)
{
        memset(b, 0, sizeof *b);
        delay_bins_init(&b->bins);
}

void scoreboard_clear(Scoreboard *b)
{
        for (guint32 i = 0; i < b->n_edges; i++)
                g_free(b->rows[i].row);
        g_free(b->rows);
        big_free(b->cells, b->room * sizeof *b->cells);
        big_free(b->smoothed, b->n_smoothed * sizeof *b->smoothed);
        memset(b, 0, sizeof *b);
}

static void make_room_for_cells(Scoreboard *b, gsize n_cells)
{
        gsize room = MAX(2 * n_cells, 1 << 14);

        if (n_cells <= b->room)
                return;
        b->cells = big_renew(b->cells, b->room * sizeof *b->cells, room * sizeof *b->cells);
        b->room = room;
}

static void widen_rows(Scoreboard *b, guint32 n_bins)
{
        gsize n_rows = b->n_bins ? b->n_cells / b->n_bins : 1;

        make_room_for_cells(b, n_rows * n_bins);
        for (gsize i = n_rows; b->n_bins && i-- > 0;) {
                guint64 *row = b->cells + i * n_bins;

                memmove(row, b->cells + i * b->n_bins, b->n_bins * sizeof *row);
                memset(row + b->n_bins, 0, (n_bins - b->n_bins) * sizeof *row);
        }
        for (guint32 e = 0; e < b->n_edges; e++)
                for (guint32 i = 0; i < b->rows[e].n; i++)
                        b->rows[e].row[i] = b->rows[e].row[i] / b->n_bins * n_bins;
        b->n_bins = n_bins;
        b->n_cells = n_rows * n_bins;
}

void scoreboard_extend(Scoreboard *b, guint32 n_edges, gint64 longest)
{
        guint32 n_bins = delay_bin(&b->bins, longest) + 1;

        if (n_bins > b->n_bins)
                widen_rows(b, n_bins);
        if (n_edges > b->n_edges) {
                b->rows = g_renew(ScoreRows, b->rows, n_edges);
                memset(b->rows + b->n_edges, 0, (n_edges - b->n_edges) * sizeof *b->rows);
                b->n_edges = n_edges;
        }
}

void scoreboard_grow_rows(ScoreRows *rows, guint32 n_callers)
{
        rows->row = g_renew(gsize, rows->row, n_callers);
        memset(rows->row + rows->n, 0, (n_callers - rows->n) * sizeof *rows->row);
        rows->n = n_callers;
}

gsize scoreboard_add_row(Scoreboard *b, guint32 edge, guint32 caller)
{
        gsize row = b->n_cells;

        make_room_for_cells(b, b->n_cells + b->n_bins); /* of zeros */
        b->n_cells += b->n_bins;
        return b->rows[edge].row[caller] = row;
}

void scoreboard_fade(Scoreboard *b)
{
        for (gsize i = 0; i < b->n_cells; i++)
                b->cells[i] /= 2;
}

static void smooth_rows(Scoreboard *b, double deviation)
{
        gint reach = ceil(3 * deviation), n = b->n_bins;
        g_autofree double *kernel = g_new(double, 2 * reach + 1);
        double sum = 0;

        for (gint i = -reach; i <= reach; i++)
                sum += kernel[i + reach] = exp(-0.5 * (i / deviation) * (i / deviation));
        for (gsize row = b->n_bins; row < b->n_cells; row += b->n_bins) {
                const guint64 *in = b->cells + row;
                double out[N_DELAY_BINS] = { 0 };

                for (gint bin = 0; bin < n; bin++) {
                        if (in[bin] == 0)
                                continue;
                        for (gint i = MAX(-reach, -bin); i <= reach && bin + i < n; i++)
                                out[bin + i] += in[bin] * kernel[i + reach] / sum;
                }
                for (gint bin = 0; bin < n; bin++)
                        b->smoothed[row + bin] = rint(out[bin]);
        }
}

void scoreboard_show(Scoreboard *b, double deviation)
{
        b->shown = b->cells;
        if (deviation <= 0)
                return;
        b->smoothed = big_renew(b->smoothed, b->n_smoothed * sizeof *b->smoothed,
                                b->n_cells * sizeof *b->smoothed);
        b->n_smoothed = b->n_cells;
        smooth_rows(b, deviation);
        b->shown = b->smoothed;
}
