/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/delay-bin.h"

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
