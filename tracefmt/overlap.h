/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The messages that several traces of one system have in common. They show where the traces do not
 * fit together: clocks that are too far apart, and nodes with different names in two traces.
 *
 * Two messages are the same if they are of one kind (call, return, one-way) and have the same id. A
 * sample of up to 16,384 ids is compared. It is chosen by hash, so each trace has the same sample.
 * The first message of each id, kind, side and trace counts.
 */
#pragma once

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

/* Of ClocksApart: clocks that are apart by more than window, in order of trace. */
GArray *overlap_find_clocks(const Overlap *overlap, gint64 window);

/* One node with two names: node is not in trace other, nor other_node in trace. In common messages
 * the one stands for the other. The other end of such a message is the same, or its id has nine
 * bytes or more. */
typedef struct {
        guint trace, other;
        NodeId node, other_node;
        guint messages; /* of the sample that say so */
} NamesApart;

/* Of NamesApart, in order of trace, other and node. */
GArray *overlap_find_names(const Overlap *overlap);
