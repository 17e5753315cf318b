/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The sums of a pattern's times, which shares are shown of.
 */
#ifndef RAVEL_PATTERN_ORDER_H
#define RAVEL_PATTERN_ORDER_H

#include "paths/path-set.h"

/* What the shares of a pattern are of: its own, network and queued times, which is its
 * total latency, or completion time. */
gint128 path_pattern_total(const PathPattern *pattern);

/* The network's part of it, and that of queues. */
gint128 path_pattern_network(const PathPattern *pattern);
gint128 path_pattern_queued(const PathPattern *pattern);

/* What of its own times calls waited for workers. */
gint128 path_pattern_own_queued(const PathPattern *pattern);

/* What of the network's time was before the first call of a new connection. */
gint128 path_pattern_connecting(const PathPattern *pattern);

#endif
