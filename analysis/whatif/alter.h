/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Changes of requests' own structure: calls that are dropped, or made at the same time, and another
 * share of hits of a cache.
 */
#pragma once

#include "analysis/whatif/changes.h"
#include "analysis/whatif/requests.h"

/* The calls of CHANGE_DROP are not made any more. Own times before and after stay. Returns how many
 * calls that are. */
guint64 replay_requests_drop(ReplayRequests *requests, const WhatIfChange *change);

/* The calls of CHANGE_PARALLEL that one visit of the node makes are all sent with the first. What
 * followed the last of them follows them all; own times between them are gone. Returns the number
 * of visits. */
guint64 replay_requests_join(ReplayRequests *requests, const WhatIfChange *change);

/* What a cache did. */
typedef struct {
        guint64 hits, misses; /* look-ups, before the change */
} CacheUse;

/* Look-ups at the node of CHANGE_HIT become hits or misses until their share is the one wanted. A
 * look-up is a miss if it makes calls below the cache; or if its caller makes more calls than the
 * least that it makes after a look-up. Such a visit becomes a copy of another of its kind, drawn
 * at random from all.
 * FALSE and error set (RAVEL_ERROR_USAGE) where hits or misses that are wanted were never seen. */
gboolean replay_requests_hit(ReplayRequests *requests, const WhatIfChange *change,
                             const NodeTable *nodes, CacheUse *use, GError **error);
