/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Open stays: the work of messages that nobody acknowledges when it is done (docs/paths.md). A
 * consumer may be sent messages without acknowledgement, and a worker may take jobs from a list. A
 * stay is the time between a message's arrival at the worker and the end of its work.
 *
 * A stay ends where the worker asks for the next message on the same connection. Where it does not
 * ask, the stay ends with the last call of the job: work-in-turn.h finds that for a worker that
 * does one job at a time, work-in-processes.h for several processes. Otherwise the stay lasts at
 * most until a message comes to the idle worker, and the parents that are found later say where it
 * ended.
 *
 * A worker is a node that nobody calls and that passes nothing on. At other nodes a call may be for
 * a message or for another call; there messages have no stay.
 */
#pragma once

#include "calls/known-calls.h"

/* After known_calls_find_links(): makes calls of such messages, sets how long each may last, and
 * marks the calls that ask for work, which are no work themselves. Returns the longest stay, ns.
 * O(calls * log(calls)). */
gint64 open_stays_find(KnownCalls *known);
