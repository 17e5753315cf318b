/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The map in a page. The formats of a path set that are maps are in write/path-write.h.
 */
#pragma once

#include "analysis/map-data.h"
#include "write/json.h"

/* A key and the value into the object that j is in. */
void map_put_page(Json *j, const SystemMap *map);
