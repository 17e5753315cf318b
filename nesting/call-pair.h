/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A call pair: a call from one node to another and its matching return (paper,
 * section 5.1.1), with the four moments that a call has.
 *
 * A trace gives between two and four of them: a tap or a mirror port one of the
 * call and one of the return, captures at the hosts all four. What was not
 * observed is taken over from the other end of the same message, so that
 * everything at a node can be compared on that node's own clock where it has one:
 *
 *     at the caller   start  CALL_SENT, else CALL_RECV     end    RET_RECV, else RET_SENT
 *     at the callee   enter  CALL_RECV, else CALL_SENT     reply  RET_SENT, else RET_RECV
 */
#ifndef RAVEL_CALL_PAIR_H
#define RAVEL_CALL_PAIR_H

#include "paths/path-set.h"
#include "tracefmt/message.h"

typedef struct {
        gint64 start, enter, reply, end; /* ns since the epoch */
        NodeId caller, callee;
        guint32 parent;    /* index into the same array, or NO_PARENT */
        float probability; /* that the parent is right; 1 where there was no choice */
} CallPair;                /* 48 bytes: 24 a message */

#endif
