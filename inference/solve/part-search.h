/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A node's problem part by part, so that memory never holds the beliefs on all calls: the model is
 * learned from some training parents, and each part is then decided by it.
 */
#ifndef RAVEL_PART_SEARCH_H
#define RAVEL_PART_SEARCH_H

#include "inference/model/parts.h"
#include "inference/solve/nouns.h"

/* What a part has found, until those before it are handed out. */
typedef struct {
        NodeAnswer answer; /* of its calls alone */
        float *family;     /* by call into the node from first_in on */
        guint32 first_in, n_in;
        gboolean rejected, done;
} FoundPart;

void found_part_clear(FoundPart *found);

/* A part before it is handed out. */
NodeAnswer found_part_begin(const Part *part);

/* Finds the parents of a part by a model, which notes what is seen. */
FoundPart found_part_find(const Joint *whole, NodeModel *model, const Part *part);

/* Parts go to any thread, and each thread has a copy of the model for itself, which notes what is
 * seen. A part begins with what was learned and no more, so it does not matter which were before.
 */
typedef struct {
        const Joint *whole;
        GArray *parts; /* of Part */
        FoundPart *found;
        GBytes *learned;   /* NULL: no call has a choice */
        NodeModel **model; /* by slot */
        WalkSize *size;    /* likewise: of its walk when it was new */
        NodeAnswer *answer;
        guint32 n_handed; /* of parts */
        GMutex lock;      /* of what follows from parts that are done */
} PartSearch;

/* A model that knows what was learned and no more. */
NodeModel *part_search_model(PartSearch *s, guint slot);

/* Adds what a part has found to the answer. Families are multiplied in the order of parts. */
void part_search_hand_out(PartSearch *s, guint32 number);

/* After all parts: the model of the first slot takes the place of the one that it was copied from.
 */
void part_search_end(PartSearch *s, Joint *j);

/* Finds the parents of calls part by part, by what was learned; NULL: no call has a choice. */
void part_search_run(Joint *j, GArray *parts, GBytes *learned, NodeAnswer *answer);

/* Learns from the training parents. Returns the model. */
GBytes *part_search_learn(Joint *whole, Candidates *open);

/* Where sizes were found to tell kinds apart, the kinds are others than before, and only those of
 * calls that were learned from are known. */
void part_search_number(Joint *j, const NodeModel *model);

/* Adds a part to others. */
void part_search_append(GArray *parts, const Problem *p, Part part);

/* The parts in which the parents of all calls are found. */
GArray *part_search_divide(const Problem *p, const guint32 *n_candidates);

/* Learns from the training parents, then finds the parents of calls part by part. */
void part_search_find(Joint *j, Candidates *open, gboolean choice, NodeAnswer *answer);

#endif
