/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/delay-bin.h"

__extension__ typedef unsigned __int128 Fixed; /* 64 bits before the point, 64 after */

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
                guint exponent = i >> 5;
                guint64 least = G_GUINT64_CONSTANT(1) << exponent |
                                ((guint64)(i & 31) << exponent) >> 5;
                guint b = 0;

                while (b + 1 < N_DELAY_BINS && (guint64)bins->edge[b + 1] <= least)
                        b++;
                bins->guess[i] = b;
        }
}
