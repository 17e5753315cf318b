/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The processes of a worker: each has connections of its own and does one thing at a time. Calls of
 * one process never overlap, although by chance some would. That tells which connections belong to
 * one process.
 *
 * Connections are taken in order of use, the busiest first. A connection belongs to the only
 * process that it never overlaps; if it overlaps all of them, it belongs to a new one.
 */
#pragma once

#include "queues/worker-calls.h"

enum { MOST_PROCESSES = 64, NO_PROCESS = 0xff /* the process of a call is unknown */ };

/* calls: by start; process: set, for each call. Returns the number of processes; 0 if the process
 * of over half of the calls is unknown, or if calls of one process overlap. O(calls * calls at a
 * time + connections^2 * processes). */
guint worker_processes_find(const WorkerCall *calls, guint n_calls, guint8 *process);
