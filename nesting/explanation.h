/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the parent of a call was chosen from, for the calls that shall be explained.
 */
#ifndef RAVEL_EXPLANATION_H
#define RAVEL_EXPLANATION_H

#include <glib.h>

#include "inference/model/weights.h"

/* A call that might be the parent of another. */
typedef struct {
        guint32 call; /* index into the calls */
        double score; /* joint: the share of its belief when all have decided; paper: of its delay's
                         score in those of all candidates, before penalties */
        double penalty; /* paper: what the children that it had leave of it, a factor; joint: 1 */
        double probability; /* that it is the parent */
        gboolean left_out;  /* joint: it was no candidate any more, as evidence ruled it out */
        gboolean weighed;   /* joint: the weights of evidence are known */
        float weight[WEIGHTS_MOST]; /* by source, against the parent that the call has, nats */
} PossibleParent;

typedef struct {
        guint32 call;
        GArray *parents; /* of PossibleParent, by enter, those left out last; empty where it has
                            no candidate */
} Explanation;

/* Of Explanation, without any parents yet. */
GArray *explanations_new(void);
void explanations_add(GArray *explanations, guint32 call);

/* Notes the weights of evidence for one of its parents; adds one that was left out. */
void explanation_weigh(Explanation *e, const CandidateWeights *w);

/* Makes the weights of all parents those against one of them, if they are known. */
void explanation_compare(Explanation *e, guint32 parent);

/* Where the candidates of call go; NULL where it is not to be explained. */
Explanation *explanations_lookup(const GArray *explanations, guint32 call);

#endif
