/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is known of each call beside its call pair: a column of records that are all of one width,
 * in bytes, which is given with each call. A record is zeros where nothing was noted. A long one
 * lies in a temporary file (base/big-memory.h).
 */
#ifndef RAVEL_CALL_COLUMN_H
#define RAVEL_CALL_COLUMN_H

#include <glib.h>

typedef struct {
        gpointer of;     /* by call */
        guint32 n, size; /* records up to the last that was noted; room for so many */
} CallColumn;

void call_column_clear(CallColumn *c, gsize width);

/* The record of a call, below G_MAXUINT32, to be written; until the next call of this. */
gpointer call_column_place(CallColumn *c, gsize width, guint64 call);

/* n records from a number on have become those from another number on, a smaller one. */
void call_column_move(CallColumn *c, gsize width, guint32 to, guint32 from, guint32 n);

/* Forgets the first n records; the others are so much smaller numbers. */
void call_column_drop(CallColumn *c, gsize width, guint32 n);

/* It is not needed now: it takes no memory that others want until it is looked at again. */
void call_column_put_away(const CallColumn *c, gsize width);

#endif
