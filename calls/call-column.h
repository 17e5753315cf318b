/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A column: one record for each call, beside its call pair. All records of a column have the same
 * width. A record is zeros if nothing was noted for its call. A long column lies in a temporary
 * file (base/big-memory.h).
 */
#pragma once

#include <glib.h>

typedef struct {
        gpointer of;  /* records, by call */
        gsize width;  /* bytes of a record; 0: there is none yet */
        guint32 n;    /* records up to the last that was noted */
        guint32 size; /* records that there is room for */
} CallColumn;

void call_column_clear(CallColumn *c);

/* The record of a call, below G_MAXUINT32, for writing; valid until the next call of this. */
gpointer call_column_place(CallColumn *c, gsize width, guint64 call);

/* The records of n calls move to the place of earlier ones. */
void call_column_move(CallColumn *c, guint32 to, guint32 from, guint32 n);

/* Forgets the first n records; the others move to the front. */
void call_column_drop(CallColumn *c, guint32 n);

/* Gives the memory back until the column is looked at again. */
void call_column_put_away(const CallColumn *c);
