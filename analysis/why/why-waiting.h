/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who was in the way: each nanosecond in which a call waits for a worker of a node is charged, 1/k
 * each, to the calls that its k workers serve then. Sums are by kinds of calls.
 *
 * A *kind* here is the calls into a node for one kind of request (why.h) with one operation. Calls
 * without an operation are told apart by the nodes that they call.
 */
#pragma once

#include "store/store-reader.h"

/* How long calls of one kind waited at a node while calls of another, or the same, were served. */
typedef struct {
        const char *node;    /* as written */
        guint workers;       /* of the node */
        const char *waiting; /* "batch > GET /report", or "batch > app(db)" without operations: with
                                client, entry and its operation where these differ at the node */
        guint64 calls;       /* of the waiting kind */
        guint64 waited;      /* calls with a wait */
        double mean;         /* wait of a call of this kind, ns */
        const char *holding; /* the kind in service; NULL: in no path of the store */
        gboolean own;        /* both are one kind */
        double time;         /* charged, in all, ns */
        double share;        /* of the time that the waiting kind waited */
} WhyWait;

typedef struct {
        guint nodes;        /* with a queue before workers */
        guint64 waited;     /* calls */
        double time;        /* that they waited, ns */
        GArray *waits;      /* of WhyWait: by waiting kind, the most time first; in it by time */
        GStringChunk *text; /* of these */
} WhyWaiting;

/* Reads all of the store. NULL and error set where it cannot be read or has no requests. Costs
 * O(n (log n + k)) for n calls into a node, of k kinds. */
WhyWaiting *why_waiting_new(StoreReader *reader, const NodeTable *nodes, GError **error);
void why_waiting_free(WhyWaiting *waiting);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WhyWaiting, why_waiting_free)
