/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The calls of a worker, which are cut into jobs (work-in-turn.h, work-in-processes.h).
 */
#pragma once

#include <glib.h>

typedef struct {
        gint64 start, end;  /* ns */
        guint64 kind;       /* callee and operation, in one number */
        guint32 connection; /* 0: unknown */
        const guint32 *identifiers; /* its list: see calls/call-identifiers.h; NULL: none */
} WorkerCall;

/* Numbers kinds in order of first use, from 0 on; from the last of most on all have the same
 * number. kind: n kinds, stride bytes apart; number: set, for each. Returns how many numbers there
 * are. */
guint number_kinds(const guint64 *kind, gsize stride, guint n, guint8 most, guint8 *number);
