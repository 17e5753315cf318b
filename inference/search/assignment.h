/* SPDX-License-Identifier: BSD-2-Clause
 *
 * An assignment: each call out of a node gets one parent at most.
 */
#pragma once

#include "inference/model/problem.h"

typedef struct Assignment {
        guint32 n_in, n_out;
        guint32 *parent; /* by call out: index of a call into the node, or NO_PARENT */
        guint32 *next;   /* by call out: the next child of the same parent, or NO_PARENT */
        guint32 *first;  /* by call into the node: its first child, or NO_PARENT */
} Assignment;

/* Without links: next and first are NULL until children are linked. */
void assignment_init(Assignment *a, guint32 n_in, guint32 n_out);
void assignment_clear(Assignment *a);

/* Links the children of each parent, by a->parent. */
void assignment_link(Assignment *a);

/* Gives each call this parent. Links the children. */
void assignment_take(Assignment *a, const guint32 *parent);

/* Gives each call the candidate with the best score, of equal ones the earliest. second: the second
 * best, if there is one. */
void assignment_take_best(Assignment *a, const Problem *p, const float *score, gboolean second);

/* Gives each call its true parent, if that is a candidate. */
void assignment_take_truth(Assignment *a, const Problem *p);

/* Takes over the parents of the calls from first to end - 1 of a part, as its calls from `at` on.
 * The part's parents are numbered from first_in. Links nothing. */
void assignment_take_part(Assignment *a, const Assignment *part, guint32 first, guint32 end,
                          guint32 at, guint32 first_in);

/* Gives a parent these children, in order of start. Other parents keep their lists. */
void assignment_set_children(Assignment *a, guint32 parent, const guint32 *child, guint32 n);
