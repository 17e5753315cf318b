/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The methods that a trace is fit for. Nesting needs calls with their returns, convolution only
 * messages. Neither works if the capture lost most of the traffic, or if packets did not show the
 * calls.
 */
#pragma once

#include "tracefmt/doubt.h"

typedef struct {
        guint64 calls;      /* with and without a return */
        guint64 returns;    /* of calls, and ends of calls that nobody answered */
        guint64 late;       /* calls that outlast their parent; 0 where parents are not known */
        guint64 one_way;    /* messages that are neither */
        guint64 packets;    /* captured; 0 where that is not known */
        guint64 lost;       /* packets dropped, and holes in connections, at least one each */
        guint64 both_ends;  /* calls that both ends stamped */
        guint64 too_early;  /* of these, messages that arrived before they were sent */
        gboolean one_sided; /* only one direction of every connection was captured */
} Fitness;

/* The calls of an edge, with and without a return. */
typedef struct {
        NodeId caller, callee;
        guint64 calls;
} EdgeCalls;

/* Makes one of each edge, of those in edges. */
void edge_calls_merge(GArray *edges);

/* Packets and losses as the facts of a trace say, those of all its captures together. */
void fitness_add_facts(Fitness *fitness, char *const *facts, guint n);

/* Drops doubts of calls on edges that the trace does not have: they are of another part. */
void doubts_keep_called(GArray *doubts, const EdgeCalls *edges, guint n_edges);

/* One sentence: "fit for nesting and convolution", "fit for nesting and convolution, but for
 * EDGE: ...", "fit for convolution only: ..." or "not fit for nesting or convolution: ...", and
 * why. edges are those of the trace, whose doubtful calls are weighed; not fit where more than
 * a tenth of all calls is doubtful. Where more than a hundredth of the calls has no end, or more
 * than a tenth is late, it says so, and what to do. doubts may be NULL. The caller's to free. */
char *fitness_judge(const Fitness *fitness, const GArray *doubts, const EdgeCalls *edges,
                    guint n_edges, const NodeTable *nodes);

/* Whether a judgement says so. */
gboolean judgement_is_fit_for_nesting(const char *judgement);
gboolean judgement_is_fit_for_convolution(const char *judgement);
