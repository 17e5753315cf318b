/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is said of waits, as rows: who waited, for what, and who held it.
 */
#pragma once

#include <glib.h>

/* What calls wait for. */
typedef enum { WAIT_WORKER, WAIT_LOCK, WAIT_CONNECTION } WaitFor;

/* How long calls of one kind waited at a node while those of another, or the same, were served.
 * Also while a transaction was open, or all connections of a pool were in use. */
typedef struct {
        const char *what;    /* "worker", "lock" or "connection" */
        WaitFor type;        /* the same */
        const char *node;    /* as written */
        const char *of;      /* the table, or the node that connections lead to; NULL of workers */
        guint workers;       /* of the node, or connections; 0 of a lock */
        const char *waiting; /* "batch > GET /report", or "batch > app(db)" without operations: with
                                client, entry and its operation where these differ at the node */
        guint64 calls;       /* of the waiting kind */
        guint64 waited;      /* calls with a wait */
        double mean;         /* wait of a call of this kind, ns */
        const char *holding; /* the kind in service; NULL: in no path of the store */
        gboolean own;        /* both are one kind */
        double open;         /* how long a holder had it, in the mean, ns; 0 of workers */
        double time;         /* charged, in all, ns */
        double share;        /* of the time that the waiting kind waited */
} WhyWait;

typedef struct {
        guint nodes;        /* with a queue before workers */
        guint64 waited;     /* calls, for a worker */
        double time;        /* that they waited, ns */
        double held;        /* waits for locks and connections, ns */
        GArray *waits;      /* of WhyWait: by waiting kind, the most time first; in it by time */
        GStringChunk *text; /* of these */
} WhyWaiting;
