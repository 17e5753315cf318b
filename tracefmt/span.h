/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Spans of time: a call as it is seen at one of its ends, and whose clocks its two moments are of.
 */
#pragma once

#include "tracefmt/message.h"

/* From when to when, ns. */
typedef struct {
        gint64 from, to;
} Span;

/* Whose clocks the two moments of a span are of. */
typedef struct {
        NodeId from, to;
} SpanClocks;

/* A moment at one end of a call is of the other end's clock where its own stamp is not there.
 * stamps: 1 << MessageOp of each that is. */
static inline SpanClocks clocks_at_callee(guint8 stamps, NodeId caller, NodeId callee)
{
        const guint8 message = 1 << MSG_RECV;

        return (SpanClocks){ stamps & (1 << CALL_RECV | message) ? callee : caller,
                             stamps & (1 << RET_SENT | message) ? callee : caller };
}

static inline SpanClocks clocks_at_caller(guint8 stamps, NodeId caller, NodeId callee)
{
        const guint8 message = 1 << MSG_SENT;

        return (SpanClocks){ stamps & (1 << CALL_SENT | message) ? caller : callee,
                             stamps & (1 << RET_RECV | message) ? caller : callee };
}
