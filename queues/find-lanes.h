/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Lanes: processes of one node that have connections of their own and do one thing at a time. Calls
 * of one of them never overlap, however often chance would have it, which tells whose a connection
 * is. The connections that are busiest are looked at first; each is of the one process that it
 * never meets, or, if it meets all of them, of another.
 */
#ifndef RAVEL_FIND_LANES_H
#define RAVEL_FIND_LANES_H

#include "queues/worker-calls.h"

enum { MOST_LANES = 64, NO_LANE = 0xff /* it is not known of which process a call is */ };

/* Calls by start. lane: set, for each. Returns how many there are; 0 where not half of the calls
 * are of processes that are known, or those of one overlap.
 * O(calls * calls at a time + connections^2 * lanes). */
guint find_lanes(const WorkerCall *calls, guint n_calls, guint8 *lane);

#endif
