/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether a node has a few workers, and calls into it wait for one (model/workers.h).
 */
#ifndef RAVEL_WORKER_TRIAL_H
#define RAVEL_WORKER_TRIAL_H

#include "inference/model/joint.h"

/* Tries the numbers of workers that there may be, and keeps the likeliest, if the parents that wait
 * are likelier by it. There is a first assignment, and there is one again. */
void workers_try(Joint *j);

#endif
