/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Two clocks, i and j, and the messages between their nodes that both ends stamped.
 *
 * The stamps of a message from i to j differ by delay + (j - i), from j to i by delay - (j - i). No
 * delay is negative. So j - i, as a line over the time of i, lies below every message from i to j,
 * and above the negative of every message back. The lower convex hull of each direction keeps all
 * of that in a few dozen points.
 *
 * Any line between the two hulls is possible, which gives the bounds whatever the delays are. The
 * estimate is the middle, where the smallest delays of both directions are equal. The hulls as a
 * whole hang on a few messages. So time is cut into up to 64 stretches, and a line is fitted
 * through the middles of their smallest delays. A stretch with a longer shortest round trip weighs
 * less.
 */
#pragma once

#include <glib.h>

/* Larger drifts between two clocks are not considered: 1 %, a hundred times what a bad
 * oscillator has. */
#define CLOCK_PAIR_MAX_DRIFT 0.01

typedef struct ClockPair ClockPair;

ClockPair *clock_pair_new(void);
void clock_pair_free(ClockPair *pair);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ClockPair, clock_pair_free)

/* A message from i to j (forward) or from j to i, by the clocks of who sent and who
 * received it; ns. In any order. */
void clock_pair_add(ClockPair *pair, gboolean forward, gint64 sent, gint64 received);

/* What is known of j - i: apart + slope * (t - at) where the clock of i shows t. */
typedef struct {
        gint64 at;           /* ns; the middle of what it was found from */
        gint64 apart;        /* ns, at that time; and */
        double rest;         /* ns, what is to be added to apart */
        double slope;        /* ns for each ns */
        double least, most;  /* bounds of slope */
        double weight;       /* of apart: 1 / variance in 1/ns^2 */
        double slope_weight; /* of slope: 1 / variance */
        double round_trip;   /* the smallest, ns */
        double uneven;       /* ns that no line fits the messages by; 0 where one does */
} ClockLine;

/* FALSE where messages went one way only, which says nothing of where the line is. */
gboolean clock_pair_fit(const ClockPair *pair, ClockLine *line);

/* The bounds of j - i where the clock of i shows t, as what is to be added to apart;
 * ns. Where no line fits they are as wide as one needs to fit. */
void clock_pair_bounds(const ClockPair *pair, const ClockLine *line, gint64 t, double *least,
                       double *most);
