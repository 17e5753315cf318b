/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The concurrency at a node while each call into the node was open. Where it was low, few parents
 * can be mistaken, so learning begins there (learn.c).
 */
#pragma once

#include "inference/inference.h"

/* Finds the concurrency of each call into a node, times 256. It is the mean number of calls that
 * are open during the call, including the call itself. O(n log n). */
void concurrency_find(const NodeProblem *node, guint64 *concurrency);
