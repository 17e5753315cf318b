/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How crowded a node was while each call into it was open: where few were, there is little to
 * mistake, and that is where learning begins (joint.c).
 */
#ifndef RAVEL_CONCURRENCY_H
#define RAVEL_CONCURRENCY_H

#include "inference/node-problem.h"

/* The concurrency of each of n calls into a node: how many of them were open in the mean while it
 * was, itself included, times 256. O(n log n). */
void concurrency_find(const CallIn *in, guint32 n, guint64 *concurrency);

#endif
