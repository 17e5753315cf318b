/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The candidate parents of each call that a node makes (paper, Figure 4, lines
 * 11 and 12): found by a sweep over the node's calls in time order, each time
 * they are needed, and never stored.
 *
 * A candidate of child c is a call into c's caller that entered it before c
 * started and was not replied to before c ended, on that node's own clock; both
 * within the skew window (section 7.5.6). Line 12's t3 < t2 is strict. A call
 * without a return is no candidate.
 */
#ifndef RAVEL_CANDIDATES_H
#define RAVEL_CANDIDATES_H

#include "nesting/call-pair.h"

/* A call into a node. */
typedef struct {
        gint64 enter, reply;
        guint32 call;     /* index into the calls */
        guint32 caller;   /* the number of its caller among the node's callers */
        guint32 children; /* the latest it was given, an index into the calls out; NO_PARENT: none
                           */
} CallIn;

/* Before all stamps, and after G_MININT64. */
#define NEVER_BUSY (G_MININT64 + 1)

typedef struct {
        const CallIn *in; /* by enter */
        guint32 n_in, next_in;
        gint64 window;
        gboolean cycles; /* clocks may disagree, so that a call may lie within itself */

        /* The active calls: those that some later child may have as its parent, by
         * enter. A column for each thing that a sweep goes through. */
        gint64 *enter, *reply; /* reply is G_MININT64 after the last */
        gint64 *busy_until;    /* the user's; the latest end of its children, */
        gint64 *crowded_until; /* the latest but one, */
        gint64 *jammed_until;  /* and the latest but two; NEVER_BUSY: none yet */
        guint32 *caller;
        guint32 *which;           /* index into in */
        guint32 first, end, size; /* they are first to end - 1, of room for size */
        guint32 sweep_at;         /* so many active calls, and those that are over are forgotten */

        guint32 *found; /* indices of active calls: the candidates, earliest first */
} Candidates;

void candidates_init(Candidates *c, gint64 window, gboolean cycles);
void candidates_clear(Candidates *c);

/* Begins with the calls into one node; borrowed. */
void candidates_start(Candidates *c, const CallIn *in, guint32 n_in);

/* Finds those of a call from start to end, the index of which is child; returns
 * how many. Children must come in order of start. Linear in the calls that are
 * open at the node then. */
guint32 candidates_find(Candidates *c, gint64 start, gint64 end, guint32 child);

#endif
