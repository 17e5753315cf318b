/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The calls of each connection, one after the other: as captured, or as they would be if the
 * connections were dealt at random.
 */
#pragma once

#include "inference/evidence/lease-table.h"
#include "inference/inference.h"

typedef struct {
        guint32 *connection; /* by call: its connection, from 0; NO_PARENT: unknown */
        guint32 *before;     /* by call: the call before it on its connection, or NO_PARENT */
        gint64 *lead;        /* by call: as CallOut.lead */
        guint32 n_connections;
} LeaseSequence;

/* Makes the sequence as captured. */
void lease_sequence_init(LeaseSequence *s, const NodeProblem *node);
LeaseSequence lease_sequence_copy(const LeaseSequence *s, guint32 n_out);
void lease_sequence_clear(LeaseSequence *s);

/* Deals the connections of calls again, by callee and second. callee: by call, from 0. */
void lease_sequence_deal(LeaseSequence *s, const NodeProblem *node, const guint32 *callee,
                         guint32 n_callees, guint64 *random);

/* What came before a call on its connection. */
static inline Before lease_before(const NodeProblem *node, const LeaseSequence *s, guint32 call)
{
        guint32 before = s->before[call];

        if (s->connection[call] == NO_PARENT || (before == NO_PARENT && s->lead[call] == 0))
                return NOT_KNOWN;
        if (before == NO_PARENT)
                return OPENED;
        if (node->out[before].end > node->out[call].start)
                return OVERLAP;
        return node->out[before].flags & OUT_TRANSACTION ? TRANSACTION : IDLE;
}
