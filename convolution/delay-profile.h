/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A first look at the delays of a trace, before anything is known of them: how often
 * messages leave a node so long after one has arrived, for delays of every size from the
 * resolution of the stamps up. From it come the quantum and the greatest delay, where the
 * user names none, and the roots.
 *
 * Accident makes as many effects before their causes as after. What there is more after
 * than before, in bins of which each is a fourth wider than the one before it, is causal.
 * A sample of the messages is enough.
 */
#ifndef RAVEL_DELAY_PROFILE_H
#define RAVEL_DELAY_PROFILE_H

#include "convolution/edge-trace.h"

enum { DELAY_BINS = 220 };

typedef struct {
        guint n; /* bins */
        gint64 edges[DELAY_BINS +
                     1];            /* ns; bin i has the delays from edges[i] to edges[i + 1] - 1 */
        double after[DELAY_BINS];   /* effects so long after a cause */
        double before[DELAY_BINS];  /* and before one */
        double squares[DELAY_BINS]; /* sum over the causes of (after - before) squared */
        double stretches[DELAY_BINS]; /* the same over stretches of the trace */
} DelayProfile;

/* The resolution of the stamps: the greatest power of ten, up to a second, that divides most steps
 * from one stamp of an edge to the next, in a sample of them: ns. */
gint64 delay_resolution(const EdgeTraces *traces);

/* The delays from the messages of an edge to those that leave its receiver, for up to
 * sample of the former. */
void delay_profile_find(const EdgeTraces *traces, const EdgeTrace *in, gint64 resolution,
                        guint sample, DelayProfile *profile);

/* By how many standard deviations bin has more after than before, going by how much that
 * differs from cause to cause: messages come in bursts. */
double delay_profile_excess(const DelayProfile *profile, guint bin);

/* Picks
 *   max_delay  a hundred times the longest delay that stands out all through the trace, but no more
 *              than the time in which the busiest node that is no root sends 300 messages: so long
 * a delay is as good as accident. The lags up to there tell what accident makes; quantum    a tenth
 * of the delay that nine in ten are longer than, so that the shortest hops have a shape, but no
 * less than the resolution of the stamps, and at most 500,000 to max_delay. Both in ns, 1, 2 or 5
 * times a power of ten, max_delay at least 100 quanta. One that is not 0 is kept. */
void delay_profile_choose(const EdgeTraces *traces, const GArray *roots, gint64 *quantum,
                          gint64 *max_delay);

#endif
