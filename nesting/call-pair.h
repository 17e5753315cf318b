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

/* All call pairs of a trace, in the order in which they were opened, a column
 * for each field: most passes need few of them. */
typedef struct {
        guint32 n, size;
        gboolean both_ends;      /* enter and reply are columns of their own */
        gint64 *start, *end;
        gint64 *enter, *reply;   /* the same as start and end where only one end was seen */
        NodeId *caller, *callee; /* NO_NODE for a callee: a call without a return */
        guint32 *parent;         /* index of the call that caused it, or NO_PARENT */
        float *probability;      /* that the parent is right; unset where there is none */
        guint8 *stamps;
} CallPairs; /* 33 bytes a call, 49 with both ends */

void call_pairs_clear(CallPairs *pairs);

/* Puts a pair at index, without a parent. Columns grow as needed; places that
 * are skipped have no callee. */
void call_pairs_put(CallPairs *pairs, guint32 index, const CallPair *pair);

#endif
