/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The calls to each node hour by hour: how many, how long they took, and the node's own time.
 * Counted while paths go to a store, since in SQL it takes sorting all calls.
 */
#pragma once

#include "paths/histogram.h"
#include "paths/path-call.h"

typedef struct {
        gint64 hour; /* its beginning, ns since the epoch: a multiple of 3600 s */
        NodeId node;
        Histogram latency; /* as callers saw it */
        gint128 own;       /* the sum, ns */
} NodeHour;

typedef struct NodeHours NodeHours;

NodeHours *node_hours_new(void);
void node_hours_free(NodeHours *hours);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeHours, node_hours_free)

/* A call whose own time is known, to the hour in which it entered its callee. */
void node_hours_add(NodeHours *hours, const PathCall *call);

/* Of NodeHour *, borrowed, by node and hour; the array is the caller's to free. */
GPtrArray *node_hours_list(const NodeHours *hours);

/* The mean own time, rounded half away from zero. */
gint64 node_hour_own_mean(const NodeHour *hour);
