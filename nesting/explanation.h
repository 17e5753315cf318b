/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The candidate parents of a call that shall be explained, and what spoke for each.
 */
#pragma once

#include <glib.h>

#include "inference/model/weights.h"

/* A call that might be the parent of another. */
typedef struct {
        guint32 call;   /* index into the calls */
        double score;   /* joint: its share of the beliefs after the last round; paper: the share of
                           its delay's score in the scores of all candidates, before penalties */
        double penalty; /* paper: the factor by which earlier children lower its score; joint: 1 */
        double probability;         /* of being the parent */
        gboolean left_out;          /* joint: evidence had ruled it out as a candidate */
        gboolean weighed;           /* joint: the weights of evidence are known */
        float weight[WEIGHTS_MOST]; /* by source, against the parent that the call has, nats */
} PossibleParent;

typedef struct {
        guint32 call;
        GArray *parents; /* of PossibleParent, by enter, the ruled out ones last; empty: no
                            candidate */
} Explanation;

/* An array of Explanation, which has no parents yet. */
GArray *explanations_new(void);
void explanations_add(GArray *explanations, guint32 call);

/* Notes the weights of evidence for one of the parents. Adds a parent that was ruled out. */
void explanation_weigh(Explanation *e, const CandidateWeights *w);

/* Subtracts the weights of one parent from the weights of all, if they are known. */
void explanation_compare(Explanation *e, guint32 parent);

/* The explanation of a call; NULL: it shall not be explained. */
Explanation *explanations_lookup(const GArray *explanations, guint32 call);
