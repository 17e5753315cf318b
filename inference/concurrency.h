/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How crowded a node was while each call into it was open: where few were, there is little to
 * mistake, and that is where learning begins (joint.c).
 */
#ifndef RAVEL_CROWDS_H
#define RAVEL_CROWDS_H

#include "inference/node-problem.h"

/* The crowd of each of n calls into a node: how many of them were open in the mean while it was,
 * itself included, times 256. O(n log n). */
void crowds_find(const CallIn *in, guint32 n, guint64 *crowd);

#endif
