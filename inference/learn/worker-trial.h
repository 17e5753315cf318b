/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether a node has a few workers, and calls into it wait for one (model/workers.h).
 */
#ifndef RAVEL_WORKER_TRIAL_H
#define RAVEL_WORKER_TRIAL_H

#include "inference/model/joint.h"

/* Tries the possible numbers of workers. Keeps the likeliest if it makes the waiting parents
 * likelier. Needs a first assignment, and leaves another one. */
void workers_try(Joint *j);

#endif
