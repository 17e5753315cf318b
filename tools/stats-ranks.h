/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel stats over several ranks, on slices of time, one a rank.
 */
#ifndef RAVEL_STATS_RANKS_H
#define RAVEL_STATS_RANKS_H

#include "tools/elsewhere.h"

/* A StatsElsewhere. */
gboolean stats_on_ranks(const char *path, Stats **stats, NodeTable **nodes, TraceReader **reader,
                        int *status);

#endif
