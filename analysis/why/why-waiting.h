/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who was in the way: each nanosecond in which a call waits for a worker of a node is charged, 1/k
 * each, to the calls that its k workers serve then. Sums are by kinds of calls.
 *
 * A *kind* here is the calls into a node for one kind of request (why.h) with one operation. Calls
 * without an operation are told apart by the nodes that they call.
 */
#pragma once

#include "analysis/why/why-wait.h"
#include "store/store-reader.h"

/* Reads all of the store. NULL and error set where it cannot be read or has no requests. Costs
 * O(n (log n + k)) for n calls into a node, of k kinds. */
WhyWaiting *why_waiting_new(StoreReader *reader, const NodeTable *nodes, GError **error);
void why_waiting_free(WhyWaiting *waiting);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WhyWaiting, why_waiting_free)
