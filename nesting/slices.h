/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The paper's method over slices of time, each in a process of its own: the first step learns the
 * scoreboard of each slice, the second decides by the sum of all. It is the door beside nesting.h
 * and windows.h for that.
 *
 * In both steps a process reads its slice with a halo, and goes through all of that as if it were
 * the trace. So the parents of calls at the end of the slice are found with what follows in view,
 * and those at its beginning by what came before, as far as that is in the halo: nearly always far
 * enough to be right, and where it is not, the seams (seam.h) tell.
 */
#ifndef RAVEL_SLICES_H
#define RAVEL_SLICES_H

#include "calls/known-calls.h"
#include "nesting/find-call-paths.h"
#include "nesting/learned.h"
#include "nesting/nesting-options.h"
#include "nesting/slice.h"

typedef struct SliceRun SliceRun;

/* Why a slice cannot be told from the rest. */
#define SLICE_ERROR (slice_error_quark())
GQuark slice_error_quark(void);

typedef enum {
        SLICE_ERROR_HALO,  /* a longer halo might do */
        SLICE_ERROR_WHOLE, /* only the whole trace in one process does */
} SliceError;

/* What is kept of calls, besides what finds their parents: nothing; what a database has; and the
 * order of calls of the same moment. */
typedef enum { SLICE_KEEPS_LITTLE, SLICE_KEEPS_FACTS, SLICE_KEEPS_ALL } SliceKeeps;

/* learned: of the whole trace, to decide by; borrowed, and its nodes are the first of nodes. NULL:
 * to learn. */
SliceRun *slice_run_new(NodeTable *nodes, const LearnedHow *how, const Slice *slice,
                        SliceKeeps keeps, const Learned *learned);
void slice_run_free(SliceRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SliceRun, slice_run_free)

/* Messages of the slice with its halo, in time order. FALSE with error set past 2^32 - 2 calls. */
gboolean slice_run_add(SliceRun *run, const Message *message, GError **error);

/* After the last message: what was learned, but for the trace's name and facts, and
 * slice_run_digest(). NULL with error set
 * where slices cannot add up to what one process finds: calls with no id or one that is in use,
 * links between messages, or too many lone messages. */
Learned *slice_run_learn(SliceRun *run, GError **error);

/* The same, but for the scoreboard and what it is found by. */
Learned *slice_run_count(SliceRun *run, GError **error);

/* A digest of the calls of the slice, for a run that decides on calls that are read again. */
guint64 slice_run_digest(const SliceRun *run);

/* After slice_run_learn(): goes on as a run that decides, with the calls that it has. nodes begin
 * with those of learned; both are borrowed. FALSE: which messages are of one call may depend on
 * what came before them, so they must be read again, by a new run. */
gboolean slice_run_turn(SliceRun *run, NodeTable *nodes, const Learned *learned);

/* After the last message: hands on the instances that begin in the slice, in order of start. seam
 * becomes the digests of parents at its two ends. FALSE with error set as above, where calls are
 * others than those that were learned from, or a path lasts longer than half the halo, or take
 * fails. */
gboolean slice_run_decide(SliceRun *run, InstanceTaken take, gpointer data, guint64 seam[2],
                          GError **error);

/* Messages of the slice, by MessageOp. */
const guint64 *slice_run_ops(const SliceRun *run);

/* Which edge of what was learned each edge of a run is, from 1, by its number from 1; to be freed.
 */
guint32 *slice_run_place_edges(const SliceRun *run, const Learned *learned);

/* How many messages of the same moment came before the first of a call; 0 where that is not kept.
 */
guint32 slice_run_ordinal(const SliceRun *run, guint32 call);

const KnownCalls *slice_run_calls(const SliceRun *run);

#endif
