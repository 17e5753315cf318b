/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Clocks that a run took for off: what it put right of the stamps, and what only looks like a
 * clock, in the words of all outputs.
 */
#ifndef RAVEL_PATH_CLOCKS_H
#define RAVEL_PATH_CLOCKS_H

#include "tracefmt/node-table.h"

typedef struct {
        NodeId node;
        gboolean doubtful;  /* it was not proven, and nothing was moved */
        gint64 by;          /* ns that were, or would be, added to the node's stamps */
        gint64 least, most; /* these would do as well, ns; G_MININT64 and G_MAXINT64: no bound */
} PathClock;

/* "web by +2.71 ms (between +2.4 ms and +7.1 ms), db by ...", of the clocks that were put right, or
 * of the doubtful ones, those without their bounds; the first few by name. NULL where there are
 * none. clocks, of PathClock, may be NULL. The caller's to free. */
char *path_clocks_text(const GArray *clocks, const NodeTable *nodes, gboolean doubtful);

/* Appends them as lines of a run's parameters: skew_ns=NODE=NS, by how much the clock was ahead,
 * and skew_bounds_ns=NODE=LEAST,MOST; of doubtful ones skew_doubtful_ns=NODE=NS. */
void path_clocks_append_parameters(GString *out, const GArray *clocks, const NodeTable *nodes);

#endif
