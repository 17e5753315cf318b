/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a trace will do for: nesting needs calls with their returns, convolution only
 * messages, and neither works on the remains of a capture that has lost most of it, nor
 * where packets could not tell the calls.
 */
#ifndef RAVEL_FITNESS_H
#define RAVEL_FITNESS_H

#include "tracefmt/doubt.h"

typedef struct {
        guint64 calls;      /* with and without a return */
        guint64 returns;    /* that have their call */
        guint64 one_way;    /* messages that are neither */
        guint64 packets;    /* captured; 0 where that is not known */
        guint64 lost;       /* packets dropped, and holes in connections, at least one each */
        guint64 both_ends;  /* calls that both ends stamped */
        guint64 too_early;  /* of these, those that arrived before they were sent, or back */
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

/* Leaves out doubts of calls that are not in a trace of these edges: of another part of it. */
void doubts_keep_called(GArray *doubts, const EdgeCalls *edges, guint n_edges);

/* One sentence: "fit for nesting and convolution", "fit for nesting and convolution, but for
 * EDGE: ...", "fit for convolution only: ..." or "not fit for nesting or convolution: ...", and
 * why. edges are those of the trace, whose doubtful calls are weighed; not fit where more than
 * a tenth of all calls is doubtful. doubts may be NULL. The caller's to free. */
char *fitness_judge(const Fitness *fitness, const GArray *doubts, const EdgeCalls *edges,
                    guint n_edges, const NodeTable *nodes);

/* Whether a judgement says so. */
gboolean judgement_is_fit_for_nesting(const char *judgement);
gboolean judgement_is_fit_for_convolution(const char *judgement);

#endif
