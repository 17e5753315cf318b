/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How the ranks divide a trace: by moments that leave about as much to each, found in a file that
 * can be read from the middle, or by going through it once.
 */
#ifndef RAVEL_SHARES_H
#define RAVEL_SHARES_H

#include "nesting/slice.h"
#include "tracefmt/trace-reader.h"
#include "tracefmt/trace-share.h"

typedef struct {
        char *path;
        TraceIndex *index;  /* NULL: each rank reads all, and leaves out what is not its own */
        TraceReader *whole; /* then, on rank 0, one that has read all, for what it tells */
        GArray *cuts;       /* of gint64: where the slices begin, but for the first */
        GArray *places;     /* of guint64: at which bytes, where there is an index */
        gint64 first, last; /* moments between which messages are, about */
        gint64 halo;        /* to begin with */
} Shares;

/* A matter of all ranks. FALSE with error set, everywhere. halo: 0: as it sees fit. */
gboolean shares_find(Shares *shares, const char *path, gint64 halo, GError **error);
void shares_clear(Shares *shares);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Shares, shares_clear)

/* After RAVEL_ERROR_DISORDER: the same again, with a trace that is put in order by each rank. A
 * matter of all. */
gboolean shares_sort(Shares *shares, GError **error);

/* How many ranks have a slice; the first ones. */
guint shares_n(const Shares *shares);

Slice shares_slice(const Shares *shares, guint rank, gint64 halo);

/* Whether a halo makes each slice the whole trace. */
gboolean shares_halo_is_all(const Shares *shares, gint64 halo);

/* Opens what a slice needs. */
TraceReader *shares_open(Shares *shares, guint rank, const Slice *slice, NodeTable *nodes,
                         GError **error);

#endif
