/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Weights of evidence (Good, 1950): what each source of evidence says of a candidate of a call, for
 * people who ask why the call has another parent. The weight is by how many nats the log likelihood
 * of the assignment changes if the candidate gets the call by one move of the Markov chain
 * (moves.h), the likeliest: the call alone, or with an exchange of other calls between it and the
 * parent. All others keep their calls. So a source makes the candidate e^weight times as likely as
 * the parent. A call that moves alone mostly leaves two families that no parent has, which says
 * nothing of the candidate.
 *
 * Sources are the delays and the events of walks, workers, serving order, and from WEIGHT_ROWS on
 * the rows of the evidence table. What they say adds up to what the chain goes by.
 */
#ifndef RAVEL_WEIGHTS_H
#define RAVEL_WEIGHTS_H

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

/* The source with this name: one of the first four, or a row, which the table has. */
guint weight_source(const char *name);

#endif
