/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages seen at both ends: finds the two stamps of one message, the sender's and
 * the receiver's, in a trace of captures from several hosts.
 *
 * Two observations are of one message where operation, sender, receiver and id are the
 * same; of several such the first goes with the first. Messages without an id are not
 * matched: after one that only one end has seen, all that follow would be off by one.
 *
 * Clocks may lie apart by anything, so the other stamp may come much later in the
 * trace, or never. Up to a million observations wait for theirs; then the oldest is
 * given up. Constant time for each message.
 */
#pragma once

#include "tracefmt/message.h"

typedef struct BothEnds BothEnds;

BothEnds *both_ends_new(void);
void both_ends_free(BothEnds *ends);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BothEnds, both_ends_free)

/* TRUE where this message's other stamp was seen before: it is put into *other. */
gboolean both_ends_add(BothEnds *ends, const Message *message, gint64 *other);

/* How many observations were given up to make room. */
guint64 both_ends_given_up(const BothEnds *ends);
