/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The requests of a store, as what follows what. A call is sent a gap after the event that it
 * followed, so a request can be walked forward again with other gaps, calls and waits
 * (analysis/whatif/replay.h). Times are ns.
 */
#pragma once

#include "store/store-reader.h"

/* What a call or a reply follows at its node. */
typedef enum {
        AFTER_ALL,   /* the last return of all calls before it; where there is none, the start of
                        service */
        AFTER_START, /* a call that was sent before it, while a return is awaited */
        AFTER_END,   /* the return of one call, while another is awaited */
        AFTER_REPLY  /* the node's own reply; never of a reply */
} ReplayAfter;

/* Gaps and ways longer than 13 days are limited to this, so that sums do not overflow. ns */
#define REPLAY_TIME_LIMIT ((gint64)1 << 50)

/* A call of a request. Calls lie in pre-order, so the next sister is size further. Indices are
 * relative to the call that has them. */
typedef struct {
        gint64 gap;          /* from what it follows at its caller until it is sent */
        gint64 there;        /* on the way to the callee */
        gint64 last;         /* from what the reply follows, at the callee, until the reply */
        gint64 back;         /* on the way back; of a missed call: from its start until its caller
                                went on */
        NodeId node;         /* the callee */
        guint32 size;        /* calls in its subtree, itself included */
        guint32 up;          /* its caller's call is this number before it; 0: a root */
        guint32 after;       /* the sister that it follows is this number before it */
        guint32 reply_after; /* the call that its reply follows is this number behind it */
        guint8 follows;      /* ReplayAfter */
        guint8 reply_follows;
        guint8 label;         /* of its operation, by which visits are compared; 255: any other */
        guint8 loose : 1;     /* its caller does not wait for it: it ends as it starts */
        guint8 missed : 1;    /* its caller waited for back, whatever its callee did */
        guint8 dropped : 1;   /* it is not made any more */
        guint8 unordered : 1; /* a call below it may be sent before one that lies before it */
} ReplayCall;

typedef struct {
        gint64 start;       /* of one that waits: since the answer that its client waited for */
        gint64 latency;     /* as observed */
        guint32 first_call; /* in calls */
        guint32 entry;      /* in entries */
        guint32 next;      /* the request that its client makes after its answer; NO_PARENT: none */
        float probability; /* that its calls are right */
        gboolean waits;    /* for another request, which has it as next */
        guint32 number;    /* of its path in the store, from 0 */
} ReplayRequest;

typedef struct {
        NodeId client, root;
        char *label; /* NULL: none */
        guint64 count;
} ReplayEntry;

typedef struct {
        GArray *calls;    /* of ReplayCall */
        GArray *requests; /* of ReplayRequest, by start */
        GArray *entries;  /* of ReplayEntry, by number */
        guint32 *workers; /* by NodeId: its workers; 0: no queue before it */
        Histogram *took;  /* by NodeId: what callers waited for calls into it */
        guint n_nodes;
        guint32 most_calls; /* of a request */
        guint64 n_waiting;  /* requests whose client waited for an answer before it made them */
} ReplayRequests;

/* Called for the n calls of each request as they are read. The first has the number of first in
 * calls. */
typedef void (*ReplayCallsSink)(gpointer data, guint32 first, const PathCall *calls, guint32 n);

/* Reads all of the store. sink: NULL: none. NULL and error set where it has no requests or is
 * corrupt. 56 bytes a call and 40 a request. */
ReplayRequests *replay_requests_load(StoreReader *reader, const NodeTable *nodes,
                                     ReplayCallsSink sink, gpointer data, GError **error);
void replay_requests_free(ReplayRequests *requests);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ReplayRequests, replay_requests_free)

/* Appends the n calls of one request, as what follows what. */
void replay_calls_append(GArray *calls, const PathCall *request, guint32 n);

static inline ReplayCall *replay_call_at(const ReplayRequests *r, guint32 i)
{
        return &g_array_index(r->calls, ReplayCall, i);
}

static inline ReplayRequest *replay_request_at(const ReplayRequests *r, guint32 i)
{
        return &g_array_index(r->requests, ReplayRequest, i);
}
