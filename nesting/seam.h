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
        guint64 *node;           /* by NodeId: a digest of its name */
} Seams;

Seams seams_new(const KnownCalls *calls, gint64 window);
void seams_clear(Seams *seams); /* frees what it holds */

/* A digest of a call, with its nodes, id and stamps. */
guint64 seams_call(const Seams *seams, guint32 call);

/* A digest of the calls that are open at a moment. */
guint64 seams_open(const Seams *seams, gint64 at);

/* The same with their parents, and the children that they had until then: all that later parents
 * depend on. */
guint64 seams_parents(const Seams *seams, gint64 at);

#endif
