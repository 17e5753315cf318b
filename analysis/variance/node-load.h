/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How own time goes with load: how many other calls a node was serving when a call came: calls that
 * came before and were there after that moment. That needs no parent, so it is exact however
 * parents were inferred.
 *
 * Calls are put in *cells*, such as a node in its place in the paths of an entry. The own times of
 * a cell are compared by the number of other calls: eta squared is the share of the variance
 * between the means by that number.
 */
#pragma once

#include "paths/path-call.h"

typedef struct NodeLoad NodeLoad;

/* Its cells are numbered from 0 to n_cells - 1. */
NodeLoad *node_load_new(guint32 n_cells);
void node_load_free(NodeLoad *load);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeLoad, node_load_free)

enum { NO_CELL = -1 }; /* of a call that only makes the node busy */

/* A call that is at a node from enter to reply, with its own time there; all in ns. Calls come in
 * any order, but requests in order of their starts: see node_load_advance(). O(log of the calls
 * open). */
void node_load_add(NodeLoad *load, gint64 cell, NodeId node, gint64 enter, gint64 reply,
                   gint64 own);

/* No call that comes begins before now, but by clocks that disagree by up to a second: what came
 * before is counted, and takes no more memory. One that comes later is counted as if it came then.
 */
void node_load_advance(NodeLoad *load, gint64 now);
void node_load_finish(NodeLoad *load); /* no more calls come */

/* Of some cells together, each about its own mean. */
typedef struct {
        guint64 calls;
        double explained; /* eta squared less what it is by chance, (bins - 1) / calls: 0 to 1 */
        double slope;     /* own time for each other call, ns: of the regression line */
        double idle;      /* mean own time with no other, ns; -1 where there always is one */
        double others;    /* how many others in the mean */
} LoadEffect;

/* After node_load_finish(). cells: n numbers. */
LoadEffect node_load_effect(const NodeLoad *load, const guint32 *cells, guint n);

/* The quantile q of the number of other calls, over the calls of a cell. From 16 on it is rounded
 * down to half an octave; the quantile of 1, the most, is exact. 0 where there are no calls. After
 * node_load_finish().
 */
guint32 node_load_quantile(const NodeLoad *load, guint32 cell, double q);
