/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages that start a node's work, and that nobody acknowledges (docs/paths.md): what a consumer
 * is sent without acknowledgement, what a worker took from a list. The packets do not say where
 * that work ends, but where the worker asks for the next: there it does. Else it ends with the last
 * call that was made for it, and until parents are known it lasts, at most, until something comes
 * to the node after it was idle.
 *
 * A worker that does one thing at a time does what came first first, so its calls are cut into one
 * part for each message (work-in-turn.h), also where several are acknowledged at once.
 *
 * This is so at nodes that nobody calls, and that pass nothing on: of others it is not known
 * whether a call is for a message or for another call.
 */
#ifndef RAVEL_OPEN_STAYS_H
#define RAVEL_OPEN_STAYS_H

#include "calls/known-calls.h"

/* After known_calls_find_links(): makes calls of such messages, sets how long each may last, and
 * marks the calls that ask for work, which are no work themselves. Returns the longest stay, ns.
 * O(calls * log(calls)). */
gint64 open_stays_find(KnownCalls *known);

#endif
