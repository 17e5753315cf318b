/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What latencies would be after a change: all requests of a store replayed with it
 * (analysis/whatif/replay.h). And the table of what each node would bring.
 *
 * An *entry* is a client, the node that it calls, and the operation, where the store has any.
 */
#pragma once

#include "analysis/whatif/alter.h"
#include "analysis/whatif/figures.h"
#include "analysis/whatif/replay.h"

#define WHATIF_FEWEST 100 /* requests of an entry that has figures */

#define WHATIF_QUICKER 0.9 /* own times of the table, of those now */

typedef struct {
        NodeId client, root;
        const char *label; /* borrowed from the requests; NULL: none */
        guint64 count;     /* requests */
        gboolean has_figures;
        WhatIfFigure figures[N_FIGURES];
        guint64 slower; /* requests that take longer than in a replay without the change */
        GArray *gains;  /* of WhatIfGain, the greatest first; NULL: changes were asked for */
} WhatIfEntry;

/* A node whose own time is shorter by a tenth. now - then are what it brings. */
typedef struct {
        NodeId node;
        WhatIfFigure figures[N_FIGURES];
} WhatIfGain;

typedef struct {
        ReplayRequests *requests; /* with the changes */
        GPtrArray *entries;       /* of WhatIfEntry, the one with most requests first */
        ReplayLoad *now, *then;   /* by node */
        NodeId full;              /* whose workers are too busy for figures; NO_NODE: none */
        guint64 waiting;          /* requests of clients that wait for an answer before the next */
        GArray *notes;            /* of WhatIfNote, one for each change */
} WhatIf;

/* What a change met in the requests. */
typedef struct {
        const WhatIfChange *change; /* borrowed */
        guint64 n;                  /* calls dropped, visits made parallel */
        gint64 after;               /* of CHANGE_HEDGE: when the second call is sent, ns */
        guint32 workers;            /* of CHANGE_WORKERS: before; 0: no queue was known */
        CacheUse cache;             /* of CHANGE_HIT */
} WhatIfNote;

/* changes, of WhatIfChange, is borrowed; empty: the table. NULL and error set where the store is
 * corrupt or has no requests, or a change has nothing to change (RAVEL_ERROR_USAGE). */
WhatIf *whatif_new(StoreReader *reader, const NodeTable *nodes, const GArray *changes,
                   GError **error);
void whatif_free(WhatIf *whatif);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WhatIf, whatif_free)
