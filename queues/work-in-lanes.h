/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Work in lanes: a worker has several processes (find-lanes.h), each of which does one thing at a
 * time, and it is known of each message when one of them began it, more or less: it was
 * acknowledged then. Where it ends is not known, nor which process took it.
 *
 * So the calls of each process are cut into parts, one for each message, at the places that are
 * likeliest by what follows what in a part, by the pauses, and by how soon after a message was
 * begun its first call is made. All that is learned from the calls themselves (hard expectation
 * maximisation, as in work-in-turn.h; the best cuts by following the likeliest states of all
 * processes together, call by call). It begins with what needs no parts: calls are more frequent
 * around messages than at other times, by the first ones.
 */
#ifndef RAVEL_WORK_IN_LANES_H
#define RAVEL_WORK_IN_LANES_H

#include "queues/find-lanes.h"

/* A message that a process begins. */
typedef struct {
        gint64 enter; /* ns: nothing is done for it before; later ones than that are set */
        gint64 begun; /* then it was known to be begun */
        guint64 kind; /* what it asks for; alike where that is unknown */
        gint64 until; /* set: when its last call was over; enter where it has none */
} LaneMessage;

/* Messages by begun, and enter; calls by start. FALSE, with no until set, where no two processes
 * are found, or nothing is by them. O((messages + calls) * processes), with a large factor where it
 * is not known of which process a call is. */
gboolean work_in_lanes_find(LaneMessage *messages, guint n_messages, const WorkerCall *calls,
                            guint n_calls);

#endif
