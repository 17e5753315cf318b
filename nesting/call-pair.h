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

/* One call pair. */
typedef struct {
        gint64 start, enter, reply, end; /* ns since the epoch */
        NodeId caller, callee;
        guint8 stamps; /* 1 << MessageOp of each stamp observed */
} CallPair;

/* From when to when: a call as it is seen at one of its ends. */
typedef struct {
        gint64 from, to;
} Span;

/* What caused a call. */
typedef struct {
        guint32 parent;    /* index of another call, or NO_PARENT */
        float probability; /* that this is right; unset where there is no parent */
} Cause;

/* All call pairs of a trace, in the order in which they were opened, a column
 * for each thing that a pass needs together. */
typedef struct {
        guint32 n, size;
        gboolean both_ends; /* at_callee is a column of its own */
        Span *at_caller;    /* start to end */
        Span *at_callee;    /* enter to reply; the same as at_caller where one end was seen */
        struct {
                NodeId caller, callee; /* NO_NODE for a callee: a call without a return */
        } * nodes;
        Cause *cause;
        guint8 *stamps;
} CallPairs; /* 33 bytes a call, 49 with both ends */

void call_pairs_clear(CallPairs *pairs);

/* Puts a pair at index, without a parent. Columns grow as needed; places that
 * are skipped have no callee. */
void call_pairs_put(CallPairs *pairs, guint32 index, const CallPair *pair);

#endif
