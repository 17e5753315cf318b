/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Weights of evidence (Good, 1950): how strongly each source of evidence supports a candidate of a
 * call. They are for people who ask why the call has another parent. The weight, in nats, is the
 * change of the assignment's log likelihood if one move of the Markov chain gives the candidate the
 * call (moves.h). The move is the likeliest one: the call alone, or with an exchange of other calls
 * between candidate and parent. All other parents keep their calls. So a source makes the candidate
 * e^weight times as likely as the parent. A move of the call alone mostly leaves two improbable
 * families, which is no evidence about the candidate.
 *
 * The sources are the delays and the events of walks, workers, serving order, and from WEIGHT_ROWS
 * on the rows of the evidence table. Their weights add up to the ratio that the chain uses.
 */
#pragma once

#include <glib.h>

enum {
        WEIGHT_DELAYS,
        WEIGHT_EVENTS,
        WEIGHT_WORKERS,
        WEIGHT_ORDER,
        WEIGHT_ROWS,
        WEIGHTS_MOST = WEIGHT_ROWS + 4
};

typedef struct {
        guint32 call, parent; /* their numbers */
        gboolean left_out;    /* evidence ruled it out before all else; then there are no weights */
        float weight[WEIGHTS_MOST]; /* by source, nats; of the parent that the call has 0 */
} CandidateWeights;

/* The source with this name: one of the first four, or a row of the table. */
guint weight_source(const char *name);
