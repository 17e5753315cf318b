/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a map keeps while patterns are added, and what becomes one once all are there: nodes that
 * are alike, contexts, and patterns. Within analysis/map*.c only.
 */
#pragma once

#include "analysis/map-data.h"

typedef struct {
        guint32 parent;
        NodeId node;
        guint32 continues;
} MapPlace;

/* A pattern: n places from first on. */
typedef struct {
        guint32 first, n;
        NodeId client;
        guint64 count; /* requests */
        const char *label;
} MapRoot;

typedef struct MapLoading {
        GHashTable *edges;    /* from caller << 32 | callee to MapEdge */
        GHashTable *before;   /* from MapEdge to a GArray of what came before */
        GHashTable *beside;   /* of a << 32 | b, a < b: one place calls both */
        GHashTable *contexts; /* from "node caller operation" to MapContext */
        GArray *shapes;       /* of MapPlace */
        GArray *roots;        /* of MapRoot */
} MapLoading;

static inline MapNode *map_node_of(const SystemMap *map, NodeId id)
{
        return map->nodes->pdata[id];
}

/* Adds to the branch of the same callee, or as a new one. */
void map_branch_add(GArray *branches, const MapBranch *more);

/* Adds branches with callees that are alike as one, by callee. into: NULL for a new array. */
GArray *map_branches_merge(const SystemMap *map, const GArray *branches, GArray *into);

/* Sets alike of nodes, states, patterns and abstract_paths. Edges are in order. */
void map_merge(SystemMap *map);
