/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The own time of a call of each node over many stores, whatever mixture of calls came. What a
 * node does is told by the operation and the nodes that it calls: each such kind of call is a
 * *slot*. A store where more calls are of a slow slot is no slower for that.
 */
#pragma once

#include "tracefmt/node-table.h"

typedef struct OwnTimes OwnTimes;
typedef struct OwnSlot OwnSlot;

/* A node in one store. */
typedef struct {
        guint64 calls;
        double mean;     /* exact, ns; 0 without calls */
        double adjusted; /* as it would be with the mixture of all stores */
        double variance; /* of the logarithm of adjusted, if calls are independent */
} OwnTime;

OwnTimes *own_times_new(void);
void own_times_free(OwnTimes *own); /* NULL is allowed */

/* The slot of calls to node with an operation (NULL: none) that call callees, of NodeId, which is
 * sorted. Borrowed. */
OwnSlot *own_times_slot(OwnTimes *own, NodeId node, const char *label, GArray *callees);

/* Adds the calls of a store: how many, the sum of their own times (ns) and of the squares. */
void own_slot_add(OwnSlot *slot, guint store, guint64 calls, double sum, double square);

/* Makes the points of stores: by store, which; several may be one. Once, after all are added. */
void own_times_move(OwnTimes *own, const guint *point_of);

/* The nodes that have own time, the most first: of NodeId; the caller's to free. */
GArray *own_times_nodes(const OwnTimes *own);

/* By point, n of them; the caller's to free. */
OwnTime *own_times_of(const OwnTimes *own, NodeId node, guint n);
