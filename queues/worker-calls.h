/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The calls of a worker, as its work is cut into parts by them (work-in-turn.h, work-in-lanes.h).
 */
#ifndef RAVEL_WORKER_CALLS_H
#define RAVEL_WORKER_CALLS_H

#include <glib.h>

typedef struct {
        gint64 start, end;  /* ns */
        guint64 kind;       /* callee and operation, in one number */
        guint32 connection; /* 0: unknown */
} WorkerCall;

/* number: set, for each of n kinds, stride bytes apart, its number, in order of first use; of all
 * from the last of most on the same. How many numbers there are. */
guint number_kinds(const guint64 *kind, gsize stride, guint n, guint8 most, guint8 *number);

#endif
