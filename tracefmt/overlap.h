/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What several traces of one system have in common, and so where they do not fit
 * together: clocks that are further apart than they should be, and nodes that have one
 * name in one trace and another in the next.
 *
 * A message is the same in two traces where call, return or one-way message have the same
 * id. Not all are compared: a sample of up to 16,384 ids, by their hash and so the same
 * ones in each trace, of which the first message of each kind, side and trace counts.
 */
#ifndef RAVEL_OVERLAP_H
#define RAVEL_OVERLAP_H

#include "tracefmt/message.h"

typedef struct Overlap Overlap;

Overlap *overlap_new(guint n_traces);
void overlap_free(Overlap *overlap);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Overlap, overlap_free)

/* In any order; trace counts from 0. */
void overlap_add(Overlap *overlap, guint trace, const Message *message);

/* The clock of a trace against that of an earlier one, the one it has most in common
 * with. */
typedef struct {
        guint trace, other;
        gint64 ahead;   /* ns by which trace's stamps of the same messages are later: the median */
        guint messages; /* of the sample that both have */
        gboolean twice; /* some with the same operation: two stamps of one side */
} ClocksApart;

/* Those that are apart by more than window, of ClocksApart, in order of trace. */
GArray *overlap_find_clocks(const Overlap *overlap, gint64 window);

/* One node by two names: node is not in trace other, nor other_node in trace, and where
 * they have a message in common the one stands for the other. The message's other end is
 * the same, or its id of nine bytes or more. */
typedef struct {
        guint trace, other;
        NodeId node, other_node;
        guint messages; /* of the sample that say so */
} NamesApart;

/* Of NamesApart, in order of trace, other and node. */
GArray *overlap_find_names(const Overlap *overlap);

#endif
