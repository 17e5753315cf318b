/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The time of a pattern that belongs to the ways between its nodes, by edge and cause.
 */
#pragma once

#include "paths/collapsed-tree.h"

/* Time on the way to a vertex and back. */
typedef struct {
        const CollapsedCall *call;
        WayCause cause;
        gint128 sum; /* of all paths, ns */
} WayTime;

/* Of all vertices (of WayTime), the longest first. tree is borrowed. */
GArray *way_times_find(const CollapsedTree *tree);

/* Whether a time is a part of the pattern that is worth a row. */
gboolean way_time_is_shown(const PathPattern *pattern, WayCause cause, gint128 sum);

/* Bits of the causes with such times: 1 << WayCause. */
guint way_times_shown(const PathPattern *pattern);

/* "web > db x3 (resent)", the names shortened to width. */
char *way_time_format(const WayTime *time, const PathSet *set, const PathPattern *pattern,
                      const CollapsedTree *tree, guint width);
