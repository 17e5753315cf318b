/* SPDX-License-Identifier: BSD-2-Clause
 *
 * FindCallPaths (paper, Figure 4, lines 27 to 41): each call without a parent is the root of a path
 * instance. Instances that the capture has cut (cuts.h) are counted apart.
 */
#pragma once

#include "base/work.h"
#include "calls/call-tree.h"
#include "calls/known-calls.h"
#include "nesting/cuts.h"
#include "paths/path-set.h"

/* An instance is about to go to the set: n calls, its root first. FALSE with error set stops. */
typedef gboolean (*InstanceBegins)(gpointer data, const PathCall *path, guint32 n, GError **error);

typedef struct {
        KnownCalls *calls; /* borrowed */
        CallTrees trees;
        PathSet *set;          /* where instances go; borrowed */
        Cut *cuts;             /* by NodeId */
        GArray *roots;         /* takes the root of each instance, guint32; NULL: not wanted */
        guint64 number;        /* of the next instance */
        InstanceBegins begins; /* may be NULL */
        gpointer data;         /* given to begins */
        PathCall *path;        /* the instance in hand */
        guint32 path_size;
} CallPaths;

/* families: see CallTrees. The path set may change until the end. */
void call_paths_init(CallPaths *paths, KnownCalls *calls, gint64 window, gboolean families);
void call_paths_clear(CallPaths *paths); /* frees what it holds */

/* From now on, instances go to set, clients folded as the roles of edges say. */
void call_paths_set(CallPaths *paths, PathSet *set);

/* Finds the cuts again, from the messages so far. */
void call_paths_find_cuts(CallPaths *paths);

/* What a call is to its parent, with late and unanswered calls; NO_PARENT: to its caller. */
WorkContinues call_paths_continues(const CallPaths *paths, guint32 call, guint32 parent);

/* Visits calls in order and builds the trees of calls whose parents are known. progress may be
 * NULL. FALSE with error set if the set's sink fails. */
gboolean call_paths_place(CallPaths *paths, CallOrder *order, WorkShow progress, GError **error);

/* Builds the trees of all calls, and keeps them until call_trees_hand_on(). */
gboolean call_paths_place_all(CallPaths *paths, CallOrder *order, WorkShow progress,
                              GError **error);
