/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Clocks that a run took for off: what it put right of the stamps, and what only looks like a
 * clock, in the words of all outputs.
 */
#pragma once

#include "tracefmt/clock-offset.h"

/* "web by +2.71 ms (between +2.4 ms and +7.1 ms), db by ...": the clocks that were put right, or
 * the doubtful ones without bounds; the first few by name. NULL where there are none. clocks, of
 * ClockOffset, may be NULL. The caller's to free. */
char *path_clocks_text(const GArray *clocks, const NodeTable *nodes, gboolean doubtful);

/* Appends them as lines of a run's parameters: skew_ns=NODE=NS, by how much the clock was ahead,
 * and skew_bounds_ns=NODE=LEAST,MOST; of doubtful ones skew_doubtful_ns=NODE=NS. */
void path_clocks_append_parameters(GString *out, const GArray *clocks, const NodeTable *nodes);

/* The ClockOffsets in the lines of a run's parameters, in that order. Other lines, and nodes that
 * are not in nodes, are left out. */
GArray *path_clocks_from_parameters(const char *parameters, const NodeTable *nodes);

/* By how much a node's stamps were, or would be, moved, ns, and the bounds of that; G_MININT64 and
 * G_MAXINT64: none. */
static inline gint64 path_clock_by(const ClockOffset *c)
{
        return -c->offset;
}

static inline gint64 path_clock_least(const ClockOffset *c)
{
        return c->most == G_MAXINT64 ? G_MININT64 : -c->most;
}

static inline gint64 path_clock_most(const ClockOffset *c)
{
        return c->least == G_MININT64 ? G_MAXINT64 : -c->least;
}
