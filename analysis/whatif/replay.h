/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Walks all requests forward again: with other own times, workers, arrivals or second calls
 * (hedges). A call that comes to a node with workers waits in one queue, first come, first served,
 * and holds its worker until its reply. A call is sent as soon as what it follows has happened.
 *
 * Calls with no queue below them take a time that does not depend on other requests, so only the
 * others are events. O(n log n) of these, else O(n).
 */
#pragma once

#include "analysis/whatif/requests.h"

typedef struct {
        double factor;   /* of its own time, after less */
        gint64 less;     /* taken from its own time of each call, ns; below 0: added */
        guint32 workers; /* 0: no queue before it */
        gint64 hedge;    /* a caller sends a second call after this time, ns; 0: it does not */
} ReplayNode;

/* How busy the workers of a node were. */
typedef struct {
        guint32 workers; /* 0: none, and busy is 0 */
        double busy;     /* the mean share that served, from the first start to the last */
        gboolean stuck;  /* calls wait for ever: each worker waits for another call into its node */
} ReplayLoad;

typedef struct {
        ReplayNode *nodes; /* by NodeId */
        guint n_nodes;
        double rate; /* times between requests, or from an answer to the next, are divided by it */
} ReplaySettings;

/* Everything as it was. */
ReplaySettings *replay_settings_new(const ReplayRequests *requests);
void replay_settings_free(ReplaySettings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ReplaySettings, replay_settings_free)

/* Fills latency, by request (0: it waits for ever), and loads, by node; ns. Memory: 8 bytes a call,
 * and 40 for each call of the requests that are under way at one time. */
void replay_run(const ReplayRequests *requests, const ReplaySettings *settings, gint64 *latency,
                ReplayLoad *loads);
