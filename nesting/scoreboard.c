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
        big_free(b->cells, b->room * sizeof *b->cells);
}

void scoreboard_start(Scoreboard *b, guint32 n_callers, guint32 n_callees, gint64 longest)
{
        free_tables(b);
        b->n_callers = n_callers;
        b->n_callees = n_callees;
        b->n_bins = delay_bin(&b->bins, longest) + 1;
        b->rows_of = g_new(gsize *, n_callees);
        /* A large table costs memory only where it is touched. */
        for (guint32 c = 0; c < n_callees; c++)
                b->rows_of[c] = g_new0(gsize, n_callers);
        b->n_cells = b->n_bins;
}

gsize scoreboard_add_row(Scoreboard *b, guint32 callee, guint32 caller)
{
        gsize row = b->n_cells;

        b->n_cells += b->n_bins;
        if (b->n_cells > b->room) {
                gsize room = MAX(2 * b->n_cells, 1 << 14);

                b->cells = big_renew(b->cells, b->room * sizeof *b->cells, room * sizeof *b->cells);
                b->room = room;
        }
        memset(b->cells + row, 0, b->n_bins * sizeof *b->cells);
        return b->rows_of[callee][caller] = row;
}

void scoreboard_smooth(Scoreboard *b, double deviation)
{
        gint reach = ceil(3 * deviation), n = b->n_bins;
        g_autofree double *kernel = g_new(double, 2 * reach + 1);
        double sum = 0;

        for (gint i = -reach; i <= reach; i++)
                sum += kernel[i + reach] = exp(-0.5 * (i / deviation) * (i / deviation));
        for (gsize row = b->n_bins; row < b->n_cells; row += b->n_bins) {
                guint64 *in = b->cells + row;
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
