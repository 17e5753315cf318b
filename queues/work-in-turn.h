/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Work in turn: where a worker does one thing at a time, first come, first served, its calls, in
 * the order of time, are those for the first message that came to it, then those for the second,
 * and so on. When each was done with may not be known: nobody acknowledges it, or several at once.
 *
 * So the sequence is cut into one part for each message, at the places that are likeliest by what
 * calls follow each other in a part, and how many, which is learned from all of them (hard
 * expectation maximisation; the best cuts by dynamic programming over the most likely 256 states).
 */
#ifndef RAVEL_WORK_IN_TURN_H
#define RAVEL_WORK_IN_TURN_H

#include "queues/worker-calls.h"

/* A message that came to the worker. */
typedef struct {
        gint64 enter, most; /* ns: nothing is done for it before, and nothing after */
        gint64 until;       /* set: when its last call was over, or the worker came to it */
} TurnMessage;

/* Messages by enter, calls by start. pause: longer than this, in ns, a worker that has something to
 * do does not pause. FALSE where calls overlap, so that it does not do one thing at
 * a time. O((messages + calls) * 256). */
gboolean work_in_turn_find(TurnMessage *messages, guint n_messages, const WorkerCall *calls,
                           guint n_calls, gint64 pause);

#endif
