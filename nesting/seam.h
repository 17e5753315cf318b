/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The seam between two slices: what the one knows at its end, and the other at its beginning. Both
 * find it of the calls that they read; only where it is the same in both do they fit together.
 */
#ifndef RAVEL_SEAM_H
#define RAVEL_SEAM_H

#include "calls/known-calls.h"
#include "nesting/slice.h"

typedef struct {
        const KnownCalls *calls; /* borrowed */
        gint64 window;           /* the skew window, ns */
        guint64 *edge;           /* by number of an edge: a digest of the names of its nodes */
        const Slice *slice;      /* borrowed */
        guint64 parents[2];      /* seams_note_parent() at the two ends of the slice */
        gint64 longest;          /* that a call lasts, ns; UNKNOWN_LONGEST */
        Span quiet;              /* calls that start in it are open at neither end */
        guint32 first_quiet;     /* from this one */
        guint32 end_quiet;       /* until this one, all calls do */
        GHashTable *keys;        /* index of a call to its key; NULL: the calls have them */
} Seams;

/* Calls may be of any length, or are not in the order of their first stamps: all must be looked at
 * for those that are open. */
#define UNKNOWN_LONGEST G_MAXINT64

Seams seams_new(const KnownCalls *calls, const Slice *slice, gint64 window, gint64 longest);
void seams_clear(Seams *seams); /* frees what it holds */

/* A digest of a call, with its nodes, id or key, and stamps. */
guint64 seams_call(const Seams *seams, guint32 call);

/* The same without id or key. */
guint64 seams_times(const Seams *seams, guint32 call);

/* Before seams_note_parent(), with all calls. Keeps the keys of those that are open at the two
 * ends, and forgets all others: a call that is over by then can be told from another with the same
 * nodes and stamps no more, and makes no difference to what follows. */
void seams_begin(Seams *seams, CallPairs *pairs);

/* A digest of the calls that are open at a moment. */
guint64 seams_open(const Seams *seams, gint64 at);

/* Adds up the same with their parents, and the children that they had until then: all that later
 * parents depend on. parent: NO_PARENT: none. */
void seams_note_parent(Seams *seams, guint32 call, guint32 parent, double probability);

#endif
