/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Work in processes: a worker has several processes (worker-processes.c), each of which does one
 * job at a time. A job is what one message makes the worker do. Its acknowledgement says roughly
 * when a process began it; which process, and where the job ends, is not known.
 *
 * The calls of each process are therefore cut into jobs where that is likeliest: see the essay in
 * work-in-processes.c. The model is learned from the calls themselves.
 */
#pragma once

#include "queues/worker-calls.h"

/* The processes of a worker: each has connections of its own and does one thing at a time. Calls of
 * one process never overlap, although by chance some would. That tells which connections belong to
 * one process.
 *
 * Connections are taken in order of use, the busiest first. A connection belongs to the only
 * process that it never overlaps; if it overlaps all of them, it belongs to a new one. Its process
 * is unknown if chance would make it overlap too seldom to tell, or if it is little used.
 */
enum { MOST_PROCESSES = 64, NO_PROCESS = 0xff /* the process of a call is unknown */ };

/* calls: by start; process: set, for each call. Returns the number of processes; 0 if the process
 * of over half of the calls is unknown, or if more than one call in 100 overlaps another of its
 * process. O(calls * calls at a time + connections^2 * processes). */
guint worker_processes_find(const WorkerCall *calls, guint n_calls, guint8 *process);

typedef struct {
        gint64 earliest; /* ns; no call before it is for the job. May be set later than given */
        gint64 begun;    /* ns; a process began the job at about this time */
        guint64 kind;    /* what the message asks for; all alike where that is unknown */
        gint64 end;      /* set, ns: the end of its last call, or of a job that could have been
                            exchanged with it; earliest where it has no call */
        const guint32 *identifiers; /* of the message: its list; NULL: none */
} Job;

/* jobs: by begun, and by earliest; calls: by start. FALSE, with no end set, if fewer than two
 * processes are found, or less than one job in four has calls. O((jobs + calls) * processes),
 * and calls * processes^2 for calls of unknown processes, times the states that are kept. */
gboolean work_in_processes_find(Job *jobs, guint n_jobs, const WorkerCall *calls, guint n_calls);
