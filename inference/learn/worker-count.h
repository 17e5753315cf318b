/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How many workers a node has (model/workers.h), and whether the parents found with them fit.
 *
 * The number is found before any parent is known. Each call that has been taken and has not replied
 * is supposed to make calls at a learned rate. The rate depends on its kind, on its age since it
 * was taken, and on the time until its reply. The queue may not be strict, so a waiting call has a
 * rate, too. The likelihood of a call out of the node is the sum of the rates of its candidates.
 * With the right k the rates are sharp. Each half of the calls is judged by the rates of the other
 * half, and compared with a model without a queue.
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

/* The numbers of workers that the node may have, up to the likeliest. It is an array of
 * WorkersGuess, each number once. NULL: even the likeliest gains too little over no bound. Needs
 * the candidates of j. The caller owns the array. */
GArray *workers_find(const Joint *j);

/* Whether the assignment is consistent with the supposed queue, if there is one: few parents make
 * calls before a worker takes them. */
gboolean workers_are_consistent(const Joint *j);

#endif
