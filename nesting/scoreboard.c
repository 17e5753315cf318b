/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/scoreboard.h"

#include <math.h>
#include <string.h>

#include "tracefmt/big-memory.h"

void scoreboard_init(Scoreboard *b)
{
        memset(b, 0, sizeof *b);
        delay_bins_init(&b->bins);
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
        big_free(b->rows, b->n_cells * sizeof *b->rows);
}

void scoreboard_start(Scoreboard *b, guint32 n_callers, guint32 n_callees, gint64 longest)
{
        free_tables(b);
        b->n_callers = n_callers;
        b->n_callees = n_callees;
        b->n_bins = delay_bin(&b->bins, longest) + 1;
        b->rows_of = g_new(guint32 *, n_callees);
        /* A large table costs memory only where it is touched. */
        for (guint32 c = 0; c < n_callees; c++)
                b->rows_of[c] = g_new0(guint32, n_callers);
        b->n_rows = 1;
}

guint32 scoreboard_add_row(Scoreboard *b, guint32 callee, guint32 caller)
{
        gsize cells = (b->n_rows + (gsize)1) * b->n_bins;

        if (cells > b->n_cells) {
                gsize size = MAX(2 * cells, 1 << 14);

                b->rows = big_renew(b->rows, b->n_cells * sizeof *b->rows, size * sizeof *b->rows);
                b->n_cells = size;
        }
        memset(b->rows + (gsize)b->n_rows * b->n_bins, 0, b->n_bins * sizeof *b->rows);
        return b->rows_of[callee][caller] = b->n_rows++;
}

void scoreboard_smooth(Scoreboard *b, double deviation)
{
        gint reach = ceil(3 * deviation), n = b->n_bins;
        g_autofree double *kernel = g_new(double, 2 * reach + 1);
        double sum = 0;

        for (gint i = -reach; i <= reach; i++)
                sum += kernel[i + reach] = exp(-0.5 * (i / deviation) * (i / deviation));
        for (guint32 row = 1; row < b->n_rows; row++) {
                guint64 *in = b->rows + (gsize)row * n;
                double out[N_DELAY_BINS] = { 0 };

                for (gint bin = 0; bin < n; bin++) {
                        if (in[bin] == 0)
                                continue;
                        for (gint i = MAX(-reach, -bin); i <= reach && bin + i < n; i++)
                                out[bin + i] += in[bin] * kernel[i + reach] / sum;
                }
                for (gint bin = 0; bin < n; bin++)
                        in[bin] = rint(out[bin]);
        }
}
