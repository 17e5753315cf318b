/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The clocks of a trace's nodes, estimated from the messages that both ends stamped
 * (paper, section 7.5.6: "to remove the mean per-node skews from a multi-point trace").
 *
 * Nodes are the vertices of a graph. An edge joins two nodes if messages in both directions were
 * seen at both ends; its ClockLine says how the one clock runs against the other.
 *
 * Round a circle of edges the lines do not quite add up. So drifts, and then offsets, are found by
 * weighted least squares over all edges.
 *
 * The bound of a node is the least sum of edges' bounds over all ways from the reference node. The
 * true offset is within it if every clock runs evenly and no message arrives before it was sent.
 */
#pragma once

#include "tracefmt/message.h"

typedef struct Clocks Clocks;

Clocks *clocks_new(void);
void clocks_free(Clocks *clocks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Clocks, clocks_free)

/* Messages in any order. Memory grows with the number of edges and, up to a limit (see
 * both-ends.h), with what only one end has seen. */
void clocks_add(Clocks *clocks, const Message *message);

/* What ties a node to the reference. */
typedef enum {
        CLOCK_TIED,
        CLOCK_UNSEEN,  /* no message of the node was seen at both ends */
        CLOCK_ONE_WAY, /* such messages went one way only, with each other node */
        CLOCK_APART,   /* it is tied to nodes, but they are not tied to the reference */
        N_CLOCK_TIES,
} ClockTie;

/* Where the clock of the reference shows t, a node's clock shows
 * t + offset + drift * (t - since). Drift in the units of Skew.drift. */
typedef struct {
        ClockTie tie;         /* where it is not CLOCK_TIED, the rest is 0 */
        gint64 offset, drift; /* ns; 10^-15 */
        gint64 offset_bound;  /* the true offset is at most so far from offset */
        gint64 drift_bound;   /* and the true drift from drift */
} ClockEstimate;

/* Two nodes whose messages no two clocks that run evenly could have stamped. */
typedef struct {
        NodeId a, b;
        gint64 by; /* ns; the bounds hold so much more */
} UnevenPair;

typedef struct {
        NodeId reference;         /* NO_NODE where no two nodes are tied */
        gint64 since;             /* when the reference's clock showed the earliest stamp; ns */
        ClockEstimate *estimates; /* by NodeId, n_nodes of them */
        guint n_nodes;
        UnevenPair worst; /* a = NO_NODE where all pairs run evenly */
        guint n_uneven;
        guint64 matched;  /* messages seen at both ends */
        guint64 given_up; /* observations: see both_ends_given_up() */
} ClockEstimates;

/* reference: NO_NODE takes, of the largest set of nodes that are tied to each other, the
 * one with the median offset. nodes has all the nodes of the messages. */
ClockEstimates *clocks_estimate(const Clocks *clocks, const NodeTable *nodes, NodeId reference);

void clock_estimates_free(ClockEstimates *estimates);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ClockEstimates, clock_estimates_free)
