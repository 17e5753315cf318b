/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A call pair: a call from one node to another and its matching return (paper, section 5.1.1), with
 * the four stamps of a call.
 *
 * A trace has between two and four of the stamps: a tap or a mirror port has one of the call and
 * one of the return, captures at the hosts have all four. A missing stamp is taken from the other
 * end of the same message. So all times at a node can be compared, on the node's own clock if it
 * has one:
 *
 *     at the caller   start  CALL_SENT, else CALL_RECV     end    RET_RECV, else RET_SENT
 *     at the callee   enter  CALL_RECV, else CALL_SENT     reply  RET_SENT, else RET_RECV
 */
#pragma once

#include "tracefmt/parent.h"
#include "tracefmt/span.h"

/* One call pair. */
typedef struct {
        gint64 start, enter, reply, end; /* ns since the epoch */
        NodeId caller, callee;
        guint8 stamps; /* 1 << MessageOp of each stamp observed; MSG_: nobody answers it */
} CallPair;

/* What caused a call. */
typedef struct {
        guint32 parent;    /* index of another call, or NO_PARENT */
        float probability; /* that the parent is right; unset where there is none */
} Cause;

/* Where a call ended up. */
typedef struct {
        guint64 instance; /* counts path instances from 0; NOT_PLACED */
        guint32 pattern;  /* in the path set; NO_PATTERN: its instance was cut */
} CallPlace;

#define NO_PATTERN G_MAXUINT32
#define NOT_PLACED G_MAXUINT64

/* Optional columns; a set of flags. */
enum {
        WANT_CAUSES = 1,
        WANT_CANDIDATES = 2,
        WANT_PLACES = 4,
        WANT_IDS = 8,
        WANT_PROGRESS = 16,
        WANT_TREES = 32,
        WANT_FAMILIES = 128,
};

/* The call pairs of a trace that are still needed, in the order in which they were opened. There is
 * a column for each thing that a pass needs together. */
typedef struct {
        guint32 n, size;
        guint wanted;       /* WANT_ flags; set before the first pair is put */
        gboolean both_ends; /* at_callee is a column of its own */
        Span *at_caller;    /* start to end */
        Span *at_callee;    /* enter to reply; the same as at_caller where one end was seen */
        guint32 *edge;      /* index of an edge, plus one; 0: a call without a return */
        guint8 *stamps;

        /* NULL where not wanted. */
        Cause *cause;
        guint32 *candidates; /* how many candidate parents it had */
        CallPlace *place;
        guint64 *id_at;   /* where its id ends << 32 | its length */
        guint8 *progress; /* the user's flags */
        guint32 *tree;    /* the tree it is in, plus one; 0: none */
        float *family;    /* the probability that its list of children is complete and right */
} CallPairs;              /* 21 bytes a call; 16 more with both ends */

void call_pairs_clear(CallPairs *pairs);

/* Puts a pair at an index, without a parent. edge: the index of its edge. Columns grow as needed;
 * skipped places have no edge. */
static inline void call_pairs_put(CallPairs *pairs, guint32 index, const CallPair *pair,
                                  guint32 edge);

/* Sets what caused a call; causes are wanted. */
static inline void call_pairs_set_cause(CallPairs *pairs, guint32 call, Cause cause);

/* Moves n pairs to a place before them. */
void call_pairs_move(CallPairs *pairs, guint32 to, guint32 from, guint32 n);

/* Adds columns of zeros that were not wanted from the start: WANT_PROGRESS, WANT_TREES. */
void call_pairs_want(CallPairs *pairs, guint wanted);

/* Gives back the memory of columns that lie in files, until they are looked at again. */
void call_pairs_put_away(const CallPairs *pairs);

/* Forgets the first pairs; the others move to the front. */
void call_pairs_drop(CallPairs *pairs, guint32 n);

/* --- inline ----------------------------------------------------------------- */

void call_pairs_make_room(CallPairs *pairs, guint32 index);
void call_pairs_split_ends(CallPairs *pairs);

static inline void call_pairs_put(CallPairs *p, guint32 i, const CallPair *c, guint32 edge)
{
        if (G_UNLIKELY(i >= p->size))
                call_pairs_make_room(p, i);
        p->n = MAX(p->n, i + 1);
        if (G_UNLIKELY(!p->both_ends && ((c->enter ^ c->start) | (c->reply ^ c->end))))
                call_pairs_split_ends(p);
        p->at_caller[i] = (Span){ c->start, c->end };
        if (p->both_ends)
                p->at_callee[i] = (Span){ c->enter, c->reply };
        p->edge[i] = edge + 1;
        p->stamps[i] = c->stamps;
        if (p->cause)
                p->cause[i].parent = NO_PARENT;
        if (p->place)
                p->place[i].instance = NOT_PLACED;
        if (p->family)
                p->family[i] = 1;
}

static inline void call_pairs_set_cause(CallPairs *p, guint32 call, Cause cause)
{
        p->cause[call] = cause;
}
