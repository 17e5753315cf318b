/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Work in processes: a worker has several processes (worker-processes.h), each of which does one
 * job at a time. A job is what one message makes the worker do. Its acknowledgement says roughly
 * when a process began it; which process, and where the job ends, is not known.
 *
 * The calls of each process are therefore cut into jobs where that is likeliest: see the essay in
 * work-in-processes.c. The model is learned from the calls themselves.
 */
#pragma once

#include "queues/worker-processes.h"

typedef struct {
        gint64 earliest; /* ns; no call before it is for the job. May be set later than given */
        gint64 begun;    /* ns; a process began the job at about this time */
        guint64 kind;    /* what the message asks for; all alike where that is unknown */
        gint64 end;      /* set, ns: the end of its last call; earliest where it has none */
} Job;

/* jobs: by begun, and by earliest; calls: by start. FALSE, with no end set, if fewer than two
 * processes are found, or less than one job in four has calls. O((jobs + calls) * processes), with
 * a large factor where the process of a call is unknown. */
gboolean work_in_processes_find(Job *jobs, guint n_jobs, const WorkerCall *calls, guint n_calls);
