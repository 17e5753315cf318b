/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Makes the map of a system (analysis/map-data.h).
 */
#pragma once

#include "analysis/map-data.h"

/* Add every pattern, then finish. nodes and the labels
 * of patterns are borrowed; the latter until map_finish(). Memory: 12 bytes a place of each pattern
 * until then. */
SystemMap *map_new(const NodeTable *nodes);
void map_add(SystemMap *map, const PathPattern *pattern);
void map_finish(SystemMap *map);
void map_free(SystemMap *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SystemMap, map_free)

/* All of a set, with its workers and time. */
SystemMap *map_new_of_set(const PathSet *set);
