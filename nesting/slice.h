/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A slice of time: what one of several processes finds paths in. A path belongs to the slice in
 * which its root starts, a call to that in which it starts. So much of the trace before and after
 * the slice is read as well, its halo, that all that lies across its ends is known.
 */
#ifndef RAVEL_SLICE_H
#define RAVEL_SLICE_H

#include <glib.h>

typedef struct {
        gint64 from, to; /* ns; G_MININT64 and G_MAXINT64: from the start, until the end */
        gint64 halo;     /* ns */
} Slice;

#define SLICE_ALL ((Slice){ G_MININT64, G_MAXINT64, 0 })

static inline gboolean slice_has(const Slice *slice, gint64 time)
{
        return time >= slice->from && time < slice->to;
}

/* The part of the trace that is read. */
static inline gint64 slice_read_from(const Slice *s)
{
        return s->from < G_MININT64 + s->halo ? G_MININT64 : s->from - s->halo;
}

static inline gint64 slice_read_to(const Slice *s)
{
        return s->to > G_MAXINT64 - s->halo ? G_MAXINT64 : s->to + s->halo;
}

#endif
