/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The concurrency at a node while each call into it was open. Where it was low there is little to
 * mistake, so learning begins there (learn.c).
 */
#ifndef RAVEL_CONCURRENCY_H
#define RAVEL_CONCURRENCY_H

#include "inference/inference.h"

/* Finds the concurrency of each call into a node: the mean number of calls open while it was,
 * itself included, times 256. O(n log n). */
void concurrency_find(const NodeProblem *node, guint64 *concurrency);

#endif
