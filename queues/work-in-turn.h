/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Work in turn: a worker that does one job at a time, first come, first served. A job is what one
 * message makes the worker do. Its calls, in order of start, are those of the first job, then those
 * of the second, and so on. Where a job ends may be unknown: nobody acknowledges its message, or
 * several are acknowledged at once.
 *
 * So the sequence of calls is cut into jobs where that is likeliest, by which calls follow each
 * other in a job and how many there are. That is learned from all calls by hard expectation
 * maximisation. The best cut is found by dynamic programming over the most likely states.
 */
#pragma once

#include "queues/worker-calls.h"

typedef struct {
        gint64 earliest, latest; /* ns: all calls of the job lie between them */
        gint64 end; /* set, ns: the end of its last call, or when the worker came to it */
} TurnJob;

/* jobs: by earliest; calls: by start. pause: a worker with something to do pauses no longer, ns.
 * FALSE if calls overlap, so that the worker does several jobs at a time.
 * O((jobs + calls) * states). */
gboolean work_in_turn_find(TurnJob *jobs, guint n_jobs, const WorkerCall *calls, guint n_calls,
                           gint64 pause);
