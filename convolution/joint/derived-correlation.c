/* SPDX-License-Identifier: BSD-2-Clause */
#include "convolution/joint/derived-correlation.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"

enum { SIDES = 8 }; /* ranges before, and again after, that measure accident */

static const double CERTAIN = 4, /* deviations of accident that messages must exceed to be tested */
        SEEN = 0.25;             /* share of the messages that must be seen */

/* Counts pairs of a cause and an effect with a delay from `from` to to - 1. */
static double count_pairs_in_delay(const EdgeTrace *in, const EdgeTrace *out, gint64 from,
                                   gint64 to)
{
        guint32 low = 0, high = 0;
        guint64 n = 0;

        for (guint32 i = 0; i < in->n; i++) {
                while (low < out->n && out->sent[low] < in->received[i] + from)
                        low++;
                high = MAX(high, low);
                while (high < out->n && out->sent[high] < in->received[i] + to)
                        high++;
                n += high - low;
        }
        return (double)n;
}

/* The first message on the path of this one that arrived at its sender; NO_MESSAGE if that is its
 * cause. */
static guint32 first_visit(const MessageCauses *c, guint32 message)
{
        const EdgeTrace *edges = c->traces->edges;
        NodeId node = edges[c->edge[message]].from;
        guint32 found = NO_MESSAGE;

        if (c->cause[message] == NO_MESSAGE)
                return NO_MESSAGE;
        for (guint32 m = c->cause[c->cause[message]]; m != NO_MESSAGE; m = c->cause[m])
                if (edges[c->edge[m]].to == node)
                        found = m;
        return found;
}

gboolean derived_correlation_fits(const MessageCauses *c, const guint32 *messages, guint32 n)
{
        guint32 visit = first_visit(c, messages[0]), edge;
        const EdgeTrace *in, *out = &c->traces->edges[c->edge[messages[0]]];
        double around[2 * SIDES], off[2 * SIDES], usual, spread, pairs;
        g_autofree gint64 *delay = NULL;
        gint64 from, width;

        if (visit == NO_MESSAGE)
                return TRUE;
        edge = c->edge[visit];
        in = &c->traces->edges[edge];
        delay = g_new(gint64, n);
        for (guint32 i = 0; i < n; i++) {
                guint32 m = messages[i];

                visit = first_visit(c, m);
                delay[i] = out->sent[m - c->first[c->edge[m]]] -
                           in->received[edge_trace_arrival(in, visit - c->first[edge])];
        }
        qsort(delay, n, sizeof *delay, compare_int64s);
        from = delay[n / 10];
        width = delay[n - 1 - n / 10] - from + 1;
        for (gint64 i = 0; i < SIDES; i++) {
                around[2 * i] = count_pairs_in_delay(in, out, from - (i + 2) * width,
                                                     from - (i + 1) * width);
                around[2 * i + 1] = count_pairs_in_delay(in, out, from + (i + 2) * width,
                                                         from + (i + 3) * width);
        }
        qsort(around, 2 * SIDES, sizeof *around, compare_doubles);
        usual = (around[SIDES - 1] + around[SIDES]) / 2;
        for (guint i = 0; i < 2 * SIDES; i++)
                off[i] = fabs(around[i] - usual);
        qsort(off, 2 * SIDES, sizeof *off, compare_doubles);
        spread = MAX(1.4826 * (off[SIDES - 1] + off[SIDES]) / 2, sqrt(MAX(usual, 1)));
        pairs = count_pairs_in_delay(in, out, from, from + width);
        return 0.8 * n < CERTAIN * spread || pairs - usual >= SEEN * 0.8 * n;
}
