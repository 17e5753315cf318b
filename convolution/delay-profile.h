/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A first histogram of the delays in a trace: how often a message leaves a node some time after
 * another has arrived. Bins go from the resolution of the stamps up. It chooses the quantum and the
 * greatest delay, if the user gives none, and the roots.
 *
 * Accidental pairs of messages have the effect before the cause as often as after. So the excess of
 * `after` over `before`, in a bin of delays, is causal. Each bin reaches 1.25 times as far as the
 * one before. A sample of the messages is enough.
 */
#pragma once

#include "convolution/edge-trace.h"

enum { DELAY_BINS = 220 };

typedef struct {
        guint n;                      /* bins */
        gint64 edges[DELAY_BINS + 1]; /* ns; bin i has delays from edges[i] to edges[i + 1] - 1 */
        double after[DELAY_BINS];     /* effects after a cause */
        double before[DELAY_BINS];    /* effects before a cause */
        double squares[DELAY_BINS];   /* sum over the causes of (after - before) squared */
        double stretches[DELAY_BINS]; /* the same over stretches of the trace */
} DelayProfile;

/* The resolution of the stamps, in ns: the greatest power of ten, up to a second, that divides most
 * differences of successive stamps. */
gint64 delay_resolution(const EdgeTraces *traces);

/* When a node sent its messages, in order: an array of gint64, ns. The caller frees it. */
GArray *delay_profile_sent(const EdgeTraces *traces, NodeId node);

/* Finds the delays from messages of an edge, at most `sample`, to the messages that its receiver
 * sent. */
void delay_profile_find(const EdgeTraces *traces, const EdgeTrace *in, const GArray *sent,
                        gint64 resolution, guint sample, DelayProfile *profile);

/* The excess of after over before in a bin, in standard deviations. These are estimated from the
 * differences among causes, since messages come in bursts. */
double delay_profile_excess(const DelayProfile *profile, guint bin);

/* Chooses, for whichever is 0:
 *
 *   max_delay  a hundred times the longest delay that stands out all through the trace, but at
 *              most the time in which the busiest node that is no root sends 300 messages. A
 *              longer delay is as good as accident; the lags up to there measure accident.
 *   quantum    a tenth of the delay that nine in ten delays exceed, so that the shortest hops have
 *              a shape. At least the resolution of the stamps, and max_delay / 500,000.
 *
 * Both are in ns, 1, 2 or 5 times a power of ten, and max_delay is at least 100 quanta. */
void delay_profile_choose(const EdgeTraces *traces, const GArray *roots, gint64 *quantum,
                          gint64 *max_delay);
