/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Workers: a node has n threads or processes. Calls into the node wait in a queue, first in first
 * out, until a worker is free. A reply frees a worker. The packets show the replies, so they
 * determine the queue, whatever the parents of the calls out are. Call i (of all, by enter, from 0)
 * starts when it enters, or at reply i - n (of all, by time), whichever is later.
 */
#pragma once

#include "base/bytes.h"
#include "inference/inference.h"

typedef struct {
        guint32 n;     /* 0: no bound, or not known */
        gint64 *start; /* by call into the node: when a worker takes it, ns; NULL: no bound */
} Workers;

/* Supposes this number of workers; 0: no bound. */
void workers_suppose(Workers *w, const NodeProblem *node, guint32 n);

/* The problem has ended: the number stays. */
void workers_end(Workers *w);
void workers_bytes(Workers *w, Bytes *b);

/* When call i into the node is taken by one of k workers; k = 0: no bound, so when it enters.
 * replies: the times of all replies, in order. */
static inline gint64 workers_start(const CallIn *in, const gint64 *replies, guint32 i, guint32 k)
{
        return k > 0 && i >= k ? MAX(in[i].enter, replies[i - k]) : in[i].enter;
}

/* Sets when each of n calls into the node is taken by one of k workers. k = 0: no bound, and each
 * is taken when it enters. A call that was taken out of turn may have replied before. O(n log n).
 */
void workers_find_starts(const CallIn *in, guint32 n, guint32 k, gint64 *start);

/* The times of all replies, in order; to be freed with g_free(). */
gint64 *workers_sort_replies(const CallIn *in, guint32 n);
