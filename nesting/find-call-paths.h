/* SPDX-License-Identifier: BSD-2-Clause
 *
 * FindCallPaths (paper, Figure 4, lines 27 to 41): each call without a parent is the root of a path
 * instance. Instances that the capture has cut are counted apart.
 */
#pragma once

#include "base/work.h"
#include "calls/call-tree.h"
#include "calls/find-call-pairs.h"
#include "calls/known-calls.h"
#include "paths/path-set.h"

/* The path instances that the start and the end of the capture cut.
 *
 * An instance is cut if its root may be the child of a call with one end outside the capture.
 * Either the root's caller sent a return after the root's end, and the call of this return lies
 * before the capture's start. Or the root's caller was called before the root's start, and the
 * return of this call lies after the capture's end.
 *
 * A lone message is near the capture's start or end if the longest call on its edge lasts at least
 * as long as the time between. Its other end lies outside the capture then. Otherwise the other end
 * was lost.
 */

/* Calls from a node that may be children of a call with one end outside: they end up to `returned`
 * or start after `called`. */
typedef struct {
        gint64 returned; /* the latest return of a call from before the start */
        gint64 called;   /* the earliest call that outlasts the end */
} Cut;

/* By NodeId, for n_nodes nodes, from the lone messages so far. The caller frees the array. */
Cut *cuts_find(CallMatcher *matcher, guint n_nodes);

static inline gboolean cut_is_in(const Cut *cut, gint64 start, gint64 end)
{
        return end <= cut->returned || start > cut->called;
}

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
