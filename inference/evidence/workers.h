/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Workers: a node has k threads or processes, and calls into it wait in a queue, first in first
 * out, until one of them is free. A reply frees a worker. Who has replied is known from the
 * packets, so the queue is known, too, whoever made which call out of the node: call i (of all, by
 * enter, from 0) is taken when it enters or at the reply with number i - k (of all, by time),
 * whichever is later.
 *
 * How many workers there are is found before any parent is known. Let each call that has been taken
 * and has not replied make calls at a rate that is learned: by its kind, by how long ago it was
 * taken, and by how soon it will reply; and a call that waits at another rate, as the queue may not
 * be as strict. A call out of the node is then as likely as the rates of its candidates together.
 * With the right k the rates are sharp. Each half of the calls is judged by the rates of the other
 * half, and compared with what they are worth without a queue.
 */
#ifndef RAVEL_WORKERS_H
#define RAVEL_WORKERS_H

#include "inference/inference.h"
#include "inference/model/joint.h"

/* Sets when each of n calls into the node is taken by one of k workers. k = 0: no bound, and each
 * is taken when it enters. A call that was taken out of turn may have replied before. O(n log n).
 */
void workers_find_starts(const CallIn *in, guint32 n, guint32 k, gint64 *start);

/* A number of workers, and the log likelihood by it of the calls out of the node, in nats. */
typedef struct {
        guint32 k;
        double log;
} WorkersGuess;

/* The numbers of workers that the node may have, up to the likeliest, an array of WorkersGuess, each once;
 * NULL if even the likeliest gains too little over no bound. Needs the candidates of j. The caller owns
 * it. */
GArray *workers_find(const Joint *j);

#endif
