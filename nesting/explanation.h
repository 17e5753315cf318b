/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the parent of a call was chosen from, for the calls that shall be explained.
 */
#ifndef RAVEL_EXPLANATION_H
#define RAVEL_EXPLANATION_H

#include <glib.h>

/* A call that might be the parent of another. */
typedef struct {
        guint32 call; /* index into the calls */
        double score; /* joint: the share of its belief when all have decided; paper: of its delay's
                         score in those of all candidates, before penalties */
        double penalty; /* paper: what the children that it had leave of it, a factor; joint: 1 */
        double probability; /* that it is the parent */
} PossibleParent;

typedef struct {
        guint32 call;
        GArray *parents; /* of PossibleParent, by enter; empty where it has no candidate */
} Explanation;

/* Of Explanation, without any parents yet. */
GArray *explanations_new(void);
void explanations_add(GArray *explanations, guint32 call);

/* Where the candidates of call go; NULL where it is not to be explained. */
Explanation *explanations_lookup(const GArray *explanations, guint32 call);

#endif
