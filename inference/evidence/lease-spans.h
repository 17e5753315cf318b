/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Leases of connections, as far as calls show them before any parent is known. A program may open a
 * connection when a call comes in, and close it before it replies, as PHP does. Then one parent
 * made all calls of the connection. Or a parent may hold a connection from the begin of a
 * transaction to its end. Such calls of one parent on one connection are a *lease*. A parent
 * *spans* a lease if it is a candidate of all its calls. So connections are leased if a candidate
 * spans nearly each lease, which seldom is so where connections are dealt at random.
 */
#pragma once

#include "inference/evidence/lease-sequence.h"
#include "inference/model/joint.h"
#include "inference/model/problem.h"

/* The leases with several calls that have candidates, and how many have one that spans them. */
typedef struct {
        guint32 n, spanned;
} SpanCount;

/* Adds the leases, if connections are leased so, to count. callee: by call, from 0. count: by
 * callee. */
void lease_spans_count(const Joint *j, const LeaseSequence *s, const guint32 *callee, Leased leased,
                       SpanCount *count);

/* Whether connections to a callee are leased so, given the counts as captured and with connections
 * dealt at random. Servers report transactions, so less is asked for there. */
gboolean lease_spans_tell(Leased leased, SpanCount seen, SpanCount dealt);

/* Finds by candidate whether it spans the lease of its call, or nothing is known. If nobody spans a
 * lease, all its candidates count as spanning. A parent that entered after the opening of a
 * connection does not span its first lease, if others do. leased: by callee. To be freed with
 * g_free(). */
guint8 *lease_spans_find(const Joint *j, const LeaseSequence *s, const guint32 *callee,
                         const Leased *leased);

/* Whether a call is of the same lease as the call before it on its connection. */
static inline gboolean lease_spans_join(const Joint *j, const LeaseSequence *s, guint32 call,
                                        Leased leased)
{
        return leased != LEASED_NO && s->before[call] != NO_PARENT &&
               (leased == LEASED_WHOLE || lease_before(j->problem->node, s, call) == TRANSACTION);
}
