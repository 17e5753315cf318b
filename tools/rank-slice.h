/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a rank has of a trace: its slice, and what all ranks have learned of theirs together.
 */
#ifndef RAVEL_RANK_SLICE_H
#define RAVEL_RANK_SLICE_H

#include "nesting/slices.h"
#include "tools/shares.h"

typedef struct {
        /* To be set first. */
        LearnedHow how;
        SliceKeeps keeps;
        gboolean counts; /* only slice_run_count() */

        Shares shares;
        Slice slice;
        NodeTable *nodes;    /* as this rank met them; on rank 0 as one process does */
        TraceReader *reader; /* that learned: it knows what there is to say of the trace */
        SliceRun *run;
        gboolean digested; /* learned has slice_run_digest() of this slice, of the run that learned
                            */
        Learned *learned;  /* of all, the same everywhere; on rank 0 with the facts of the trace */
} RankSlice;

/* Frees what it holds. */
void rank_slice_clear(RankSlice *of);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RankSlice, rank_slice_clear)

/* Divides the trace, and learns: a matter of all. halo: of the slices, ns; 0: as it sees fit. FALSE
 * with error set, the same everywhere: as SLICE_ERROR where one process can do it. */
gboolean rank_slice_learn(RankSlice *of, const char *path, gint64 halo, GError **error);

/* Whether this rank has a slice. */
gboolean rank_slice_is_there(const RankSlice *of);

/* Reads the slice again, with the halo that it has by now, to decide. nodes: those of learned. */
gboolean rank_slice_read(RankSlice *of, NodeTable *nodes, GError **error);

/* On rank 0: the reader that tells of the whole trace, borrowed; or the caller's to free, with its
 * nodes, which last as long. */
TraceReader *rank_slice_reader(const RankSlice *of);
TraceReader *rank_slice_take_reader(RankSlice *of);

/* Says that this is for one process, which is rank 0, and why. The others have nothing to do: TRUE.
 */
gboolean ranks_leave_it(const char *why);

#endif
