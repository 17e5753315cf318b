/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whose calls the connections to a callee hold, as far as the calls alone tell, before any parent
 * is known. A program may open a connection when a call comes in, and close it before it replies,
 * as PHP does: one parent made all calls of the connection. Or a parent may hold a connection from
 * the begin of a transaction to its end. Calls of one connection that one parent made so are a
 * *lease*, and their parent *spans* it: it is a candidate of all of them. So connections are leased
 * if each lease has a candidate that spans it, as the leases of connections that are dealt at
 * random have not.
 */
#ifndef RAVEL_LEASE_SPANS_H
#define RAVEL_LEASE_SPANS_H

#include "inference/evidence/lease-sequence.h"
#include "inference/model/joint.h"
#include "inference/model/problem.h"

/* How many leases of several calls with candidates there are, and how many of them have a candidate
 * that spans them. */
typedef struct {
        guint32 n, spanned;
} SpanCount;

/* Counts the leases if connections are leased so. callee: by call, from 0. count: by callee; added
 * to. */
void lease_spans_count(const Joint *j, const LeaseSequence *s, const guint32 *callee, Leased leased,
                       SpanCount *count);

/* Whether connections to a callee are leased so, given the counts as captured and of connections
 * dealt at random. Of transactions, which servers tell of, it is hardly in doubt that one parent makes
 * their calls, and less is asked for, unless the node passes on each call that it gets, one by one. */
gboolean lease_spans_tell(const NodeProblem *node, Leased leased, SpanCount seen, SpanCount dealt);

/* By candidate: whether it spans the lease of its call, or nothing is known. Of a lease that nobody
 * spans all candidates do. A parent that entered after a connection was opened does not span its
 * first lease, where others do. leased: by callee. To be freed with g_free(). */
guint8 *lease_spans_find(const Joint *j, const LeaseSequence *s, const guint32 *callee,
                         const Leased *leased);

/* Whether a call is of the same lease as the call before it on its connection. */
static inline gboolean lease_spans_join(const Joint *j, const LeaseSequence *s, guint32 call,
                                        Leased leased)
{
        return leased != LEASED_NO && s->before[call] != NO_PARENT &&
               (leased == LEASED_WHOLE || lease_before(j->problem->node, s, call) == TRANSACTION);
}

#endif
