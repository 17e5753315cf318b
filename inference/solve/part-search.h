/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A node's problem part by part, so that memory never holds the beliefs on all calls. The model is
 * learned from some training parents, and then decides each part.
 */
#pragma once

#include "inference/model/parts.h"
#include "inference/solve/nouns.h"

/* The results of a part, until all parts before it are in the answer. */
typedef struct {
        NodeAnswer answer; /* of its calls alone */
        float *family;     /* by call into the node from first_in on */
        guint32 first_in, n_in;
        gboolean done;
} FoundPart;

void found_part_clear(FoundPart *found);

/* Prepares the answer of a part. */
NodeAnswer found_part_begin(const Part *part);

/* Finds the parents of a part by a model. The model keeps notes meanwhile. */
FoundPart found_part_find(const Joint *whole, NodeModel *model, const Part *part);

/* A part goes to any thread. Each thread has its own copy of the model, in which it keeps notes. A
 * part begins only with what was learned, so the order of parts does not matter. */
typedef struct {
        const Joint *whole;
        GArray *parts; /* of Part */
        FoundPart *found;
        GBytes *learned;   /* NULL: no call has a choice */
        NodeModel **model; /* by slot */
        WalkSize *size;    /* by slot: the size of its walk when it was new */
        NodeAnswer *answer;
        guint32 n_handed; /* of parts */
        GMutex lock;      /* guards the handing out of finished parts */
} PartSearch;

/* Gets the model of a slot, which holds only what was learned. */
NodeModel *part_search_model(PartSearch *s, guint slot);

/* Adds what a part has found to the answer. Families are multiplied in the order of parts. */
void part_search_hand_out(PartSearch *s, guint32 number);

/* Ends the search after all parts. The first slot's model replaces the one it was copied from. */
void part_search_end(PartSearch *s, Joint *j);

/* Finds the parents of calls part by part. learned: the model; NULL: no call has a choice. */
void part_search_run(Joint *j, GArray *parts, GBytes *learned, NodeAnswer *answer);

/* Learns from the training parents. Returns the model. */
GBytes *part_search_learn(Joint *whole, Candidates *open);

/* Numbers the kinds again where sizes were found to tell them apart. Before that only the kinds of
 * learned calls are known. */
void part_search_number(Joint *j, const NodeModel *model);

/* Adds a part to others. */
void part_search_append(GArray *parts, const Problem *p, Part part);

/* Divides a problem into parts, in which the parents of all calls are found. */
GArray *part_search_divide(const Problem *p, const guint32 *n_candidates);

/* Learns from the training parents, then finds the parents of calls part by part. */
void part_search_find(Joint *j, Candidates *open, gboolean choice, NodeAnswer *answer);
