/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How many workers a node has (model/workers.h), and whether the parents found with them fit.
 *
 * The number is found before any parent is known. Let each call that has been taken
 * and has not replied make calls at a rate that is learned: by its kind, by how long ago it was
 * taken, and by how soon it will reply; and a call that waits at another rate, as the queue may not
 * be as strict. A call out of the node is then as likely as the rates of its candidates together.
 * With the right k the rates are sharp. Each half of the calls is judged by the rates of the other
 * half, and compared with what they are worth without a queue.
 */
#ifndef RAVEL_WORKER_COUNT_H
#define RAVEL_WORKER_COUNT_H

#include "inference/model/joint.h"

#include <glib.h>

/* A number of workers, and the log likelihood by it of the calls out of the node, in nats. */
typedef struct {
        guint32 k;
        double log;
} WorkersGuess;

/* The numbers of workers that the node may have, up to the likeliest, an array of WorkersGuess,
 * each once; NULL if even the likeliest gains too little over no bound. Needs the candidates of j.
 * The caller owns it. */
GArray *workers_find(const Joint *j);

/* Whether the assignment is consistent with the queue that is supposed, if one is: few parents make
 * calls before a worker takes them. */
gboolean workers_are_consistent(const Joint *j);

#endif
