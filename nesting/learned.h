/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What was learned of a slice of time, or of all slices of a trace, to find parents by: the nodes
 * and edges, the scoreboard, and what is known of calls that lie across the ends of slices. It adds
 * up to exactly what one process learns of the whole trace, or is refused.
 *
 * docs/states.md says what is in the bytes.
 */
#ifndef RAVEL_LEARNED_H
#define RAVEL_LEARNED_H

#include "base/bytes.h"
#include "calls/known-calls.h"
#include "nesting/nesting-options.h"
#include "nesting/scoreboard.h"
#include "nesting/slice.h"

enum { STATE_VERSION = 4, MOST_LONE = 100000 }; /* of each kind, in a slice */

/* What a state is of. */
typedef enum { STATE_LEARNED, STATE_DECIDED, STATE_MODELS } StateKind;

/* How parents are found: the same in all steps. */
typedef struct {
        double overlap, same, any, smooth; /* as in NestingOptions */
        gint64 window, max_call;           /* ns */
        gboolean fold;
        gboolean strict; /* SIBLINGS_STRICT */
} LearnedHow;

typedef struct {
        Slice slice;
        guint64 calls;   /* a digest of those that start in it */
        guint64 seam[2]; /* seams_open() at its two ends */
        GArray *beyond;  /* of LoneMessage: calls that start after it, and found no return */
} LearnedSlice;

/* A histogram of the scoreboard, of delays from a call into a node until one out of it. */
typedef struct {
        guint32 out, in; /* the two edges */
        guint32 n;
        guint32 *bin; /* ascending */
        guint64 *weight;
} LearnedRow;

typedef struct {
        LearnedHow how;
        char *trace;      /* its name */
        GPtrArray *facts; /* that it has, texts */
        GArray *slices;   /* of LearnedSlice */
        NodeTable *nodes;
        GArray *edges; /* of Edge */
        MatchCounts counts;
        gboolean split;               /* calls have moments of their own at both ends */
        guint64 both_ends, too_early; /* see Fitness */
        guint64 children, nestings;   /* see KnownCalls */
        GArray *lone;                 /* of LoneMessage: those of the slice */
        GArray *rows;                 /* of LearnedRow, by edges */
} Learned;

Learned *learned_new(void); /* of nothing */
void learned_free(Learned *learned);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Learned, learned_free)

/* Whether parents are found as here. */
gboolean learned_how_is(const Learned *learned, const LearnedHow *how);

/* Whether it is of a whole trace. */
gboolean learned_is_whole(const Learned *learned);

/* The index of the slice, or -1 with error set. */
gint learned_find_slice(const Learned *learned, const Slice *slice, GError **error);

/* Those of all slices of a trace, in any order, n >= 1, make one. NULL with error set where they
 * are not that, or calls lie across slices in a way that makes the result another than that of one
 * process. They are spent. */
Learned *learned_merge(Learned **parts, guint n, GError **error);

/* To bytes, or from them into one of nothing. rows: with the scoreboard. */
void learned_bytes(Learned *learned, gboolean rows, Bytes *b);

/* The version and the kind, to bytes or from them. */
void state_head_bytes(StateKind *kind, Bytes *b);

/* Lists of texts, and of nodes. */
void state_texts_bytes(GPtrArray *texts, Bytes *b);
void state_nodes_bytes(NodeTable *nodes, Bytes *b);

#endif
